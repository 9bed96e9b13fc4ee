//! The option `SCHEDULER_CONFIG` of the controller.
//!
//! Source: kubernetes-sigs/karpenter#3205 and designs/default-topology-spread-awareness.md there: a document with
//! `podTopologySpread.defaultConstraints`, as kube-scheduler has them.

use manifest::limits::Limits;
use manifest::tree::{Node, items_of};
use manifest::{Document, File};
use scheduling::simulation::DefaultSpread;

/// Parses the default topology spread constraints; `None` if the text is no such document, such as the path of a file.
pub(super) fn parse(text: &str) -> Option<Vec<DefaultSpread>> {
    let file = File::read("SCHEDULER_CONFIG", text, &Limits::DEFAULT);
    let Some(Document::Read(tree)) = file.documents.first() else { return None };
    let root = Some(tree.root()).filter(|root| root.is_mapping())?;
    let constraints = root.at_path(&["podTopologySpread", "defaultConstraints"]);
    items_of(constraints).map(constraint).collect()
}

fn constraint(item: Node<'_>) -> Option<DefaultSpread> {
    Some(DefaultSpread {
        key: item.str_at(&["topologyKey"])?.to_owned(),
        max_skew: item.get("maxSkew")?.as_int()?,
        is_preference: item.str_at(&["whenUnsatisfiable"]) == Some("ScheduleAnyway"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_default_constraints() {
        let text = r"podTopologySpread:
  defaultConstraints:
    - {maxSkew: 3, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}
";
        let spread = DefaultSpread { key: "zone".to_owned(), max_skew: 3, is_preference: true };
        assert_eq!(parse(text), Some(vec![spread]));
        assert_eq!(parse("{}"), Some(Vec::new()));
    }

    #[test]
    fn refuses_paths_and_incomplete_constraints() {
        assert_eq!(parse("/etc/karpenter/scheduler.yaml"), None);
        assert_eq!(parse("podTopologySpread: {defaultConstraints: [{maxSkew: 1}]}"), None);
    }
}
