//! The other objects of the cluster, looked up through the host.

use std::sync::Arc;

use karpwarden::REGISTRY;
use karpwarden::karpenter::kind::Kind;
use karpwarden::lint::rule::Rule;
use karpwarden::lint::settings::Settings;
use karpwarden::manifest::json;
use karpwarden::manifest::limits::Limits;
use karpwarden::manifest::source::{Source, Span};
use karpwarden::manifest::tree::{Tree, items_of};
use karpwarden::objects::object::Object;

use crate::host::{Host, api_version, list};

/// The kinds that the policy looks up, with the fields that rules read. The host keeps one watch for each set of fields, so each
/// kind has one set. `metadata` is always included.
pub const LOOKED_UP: [(Kind, &[&str]); 3] = [
    (Kind::NODE_POOL, &["spec.template"]),
    (Kind::NODE_CLASS, &["metadata.name"]),
    (Kind::STORAGE_CLASS, &["provisioner", "volumeBindingMode", "allowedTopologies"]),
];

/// The lists that the host returned.
#[derive(Debug, Default)]
pub struct Lists {
    trees: Vec<(Kind, Tree)>,
    /// One warning for each kind that could not be looked up.
    pub warnings: Vec<String>,
}

impl Lists {
    /// Looks up the kinds in the inventory of the enabled rules that apply to this object.
    pub fn fetch(object: Object<'_>, settings: &Settings, host: &dyn Host) -> Self {
        let mut lists = Self::default();
        let wanting: Vec<&Rule> =
            REGISTRY.rules().filter(|rule| settings.enables(rule) && rule.applies(object)).collect();
        for (kind, fields) in LOOKED_UP {
            if !wanting.iter().any(|rule| rule.inventory.contains(&kind)) {
                continue;
            }
            let read = list(host, kind, fields).and_then(|bytes| read(&bytes));
            match read {
                Ok(tree) => lists.trees.push((kind, tree)),
                Err(reason) => lists.warnings.push(format!(
                    "{} {} objects could not be looked up, so nothing was compared with them: {reason}",
                    api_version(kind),
                    kind.name,
                )),
            }
        }
        lists
    }

    /// The objects of the lists, with the reviewed object in place of its stored state.
    pub fn objects<'d>(&'d self, reviewed: Object<'d>) -> Vec<Object<'d>> {
        let same = |object: &Object<'_>| {
            object.kind() == reviewed.kind()
                && object.group() == reviewed.group()
                && object.namespace() == reviewed.namespace()
                && object.name() == reviewed.name()
        };
        let listed = self.trees.iter().flat_map(|(kind, tree)| {
            let items = tree.root().get("items");
            items_of(items).map(|item| Object::of_kind(item, *kind))
        });
        core::iter::once(reviewed).chain(listed.filter(|object| !same(object))).collect()
    }
}

/// Parses a list of the host. The items may lack their kind.
fn read(bytes: &[u8]) -> Result<Tree, String> {
    let text = core::str::from_utf8(bytes).map_err(|_| "the answer is not UTF-8".to_owned())?;
    let source = Arc::new(Source::new("list", text));
    let whole = Span::new(0, text.len());
    let read = json::read(&source, whole, &Limits::DEFAULT).map_err(|error| error.problem.to_string())?;
    read.map(|(tree, _)| tree).ok_or_else(|| "the answer is empty".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kinds in the inventory of rules that the policy does not look up, with the reason.
    const NOT_LOOKED_UP: [(Kind, &str); 1] =
        [(Kind::NODE_OVERLAY, "alpha, and its CRD exists only since Karpenter 1.7")];

    #[test]
    fn looks_up_the_inventory_of_every_rule() {
        for rule in REGISTRY.rules() {
            for kind in rule.inventory {
                let is_looked_up = LOOKED_UP.iter().any(|(one, _)| one == kind);
                let is_exempt = NOT_LOOKED_UP.iter().any(|(one, _)| one == kind);
                assert!(is_looked_up != is_exempt, "{}: {}", rule.name, kind.name);
            }
        }
        let kinds = LOOKED_UP.iter().map(|(kind, _)| kind).chain(NOT_LOOKED_UP.iter().map(|(kind, _)| kind));
        for kind in kinds {
            let is_declared = REGISTRY.rules().any(|rule| rule.inventory.contains(kind));
            assert!(is_declared, "no rule needs {}", kind.name);
        }
    }
}
