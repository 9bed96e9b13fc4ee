//! The labels of the pods of a cluster, for selectors of other pods.

use std::collections::BTreeMap;

use cluster::index::Index;
use cluster::inventory::Inventory;
use ids::IdVec;
use manifest::tree::{Node, items_of};
use objects::pod::Pod;
use scheduling::simulation::{LabelSelector, Labels, labels_of};
use values::placeholder::has_placeholder;
use values::spelling::nearest;

use super::{InventoryPodId, Pods};

/// Maximum number of pods or values to compare with a selector, so that many pods with selectors take linear time.
const MAX_COMPARISONS: usize = 250;

/// The labels of the pods of a cluster.
#[derive(Debug)]
pub(crate) struct PodLabels<'d> {
    /// The namespaces and labels of the pods.
    pods: IdVec<InventoryPodId, (&'d str, Labels<'d>)>,
    /// The pods by the keys and values of their labels.
    by_label: BTreeMap<&'d str, BTreeMap<&'d str, Vec<InventoryPodId>>>,
    /// Whether a label has a placeholder.
    has_placeholder: bool,
}

impl Index for PodLabels<'static> {
    type Value<'d> = PodLabels<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> PodLabels<'d> {
        PodLabels::new(inventory.index::<Pods>().as_slice())
    }
}

impl<'d> PodLabels<'d> {
    fn new(pods: &[Pod<'d>]) -> Self {
        let labels = |pod: &Pod<'d>| (pod.object().namespace(), labels_of(pod.metadata().label_map()));
        let mut all = Self {
            pods: pods.iter().map(labels).collect(),
            by_label: BTreeMap::new(),
            has_placeholder: false,
        };
        for (id, (_, labels)) in all.pods.enumerate() {
            for (key, value) in labels {
                all.has_placeholder |= has_placeholder(key) || has_placeholder(value);
                all.by_label.entry(key).or_default().entry(value).or_default().push(id);
            }
        }
        all
    }

    /// Whether a selector may match a pod of a namespace. An object without a namespace may be in any.
    pub(crate) fn may_match(&self, selector: Node<'d>, is_in: impl Fn(&str) -> bool) -> bool {
        let Some(parsed) = LabelSelector::parse(Some(selector)) else { return true };
        let Some(candidates) = self.candidates(selector).filter(|_| !self.has_placeholder) else {
            return true;
        };
        let is_match = |id: &InventoryPodId| {
            let pod = self.pods.get(*id);
            pod.is_some_and(|(namespace, labels)| {
                (namespace.is_empty() || is_in(namespace)) && parsed.matches(labels)
            })
        };
        candidates.len() > MAX_COMPARISONS || candidates.iter().any(is_match)
    }

    /// Whether a pod has a label with a value.
    pub(crate) fn has_label(&self, key: &str, value: &str) -> bool {
        self.by_label.get(key).is_some_and(|values| values.contains_key(value))
    }

    /// The value that pods have for a label and that is nearest to another value.
    pub(crate) fn nearest_value(&self, key: &str, value: &str) -> Option<&'d str> {
        let values = self.by_label.get(key)?.keys().copied();
        nearest(value, values.filter(|other| *other != value).take(MAX_COMPARISONS))
    }

    /// The pods that have one of the labels of a selector: the fewest. `None` if the selector lists no label.
    fn candidates(&self, selector: Node<'d>) -> Option<Vec<InventoryPodId>> {
        let with = |key: &str, value: &str| self.by_label.get(key).and_then(|values| values.get(value));
        let by_label = labels_of(selector.get("matchLabels"))
            .into_iter()
            .map(|(key, value)| with(key, value).cloned().unwrap_or_default());
        let listed = items_of(selector.get("matchExpressions"))
            .filter(|item| item.str_at(&["operator"]) == Some("In"))
            .map(|item| {
                let key = item.str_at(&["key"]).unwrap_or_default();
                let values = items_of(item.get("values")).filter_map(Node::as_str);
                values.filter_map(|value| with(key, value)).flatten().copied().collect()
            });
        by_label.chain(listed).min_by_key(Vec::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manifest::tree::Tree;
    use manifest::{Document, File};
    use objects::embedded::READ_OPTIONS;
    use objects::object::Object;

    fn tree(text: &str) -> Tree {
        match File::read("a.yaml", text, READ_OPTIONS).documents.into_iter().next() {
            Some(Document::Read(tree)) => tree,
            other => panic!("{other:?}\n{text}"),
        }
    }

    /// Whether `app: web` may match a pod of namespace `a`, among pods of these namespaces with these values of `app`.
    fn may_match(pods: &[(&str, &str)]) -> bool {
        let pod = |(namespace, app): &(&str, &str)| {
            format!(
                "- {{apiVersion: v1, kind: Pod, metadata: {{namespace: {namespace}, labels: {{app: {app}}}}}, spec: {{containers: []}}}}\n"
            )
        };
        let pods: String = pods.iter().map(pod).collect();
        let pods = tree(&format!("apiVersion: v1\nkind: List\nitems:\n{pods}"));
        let pods: Vec<Pod<'_>> = Object::all(&pods).into_iter().flat_map(Pod::all).collect();
        let selector = tree("matchLabels: {app: web}\n");
        PodLabels::new(&pods).may_match(selector.root(), |namespace| namespace == "a")
    }

    #[test]
    fn finds_a_pod_at_any_position() {
        assert!(may_match(&[("a", "web"), ("a", "db"), ("a", "db")]));
        assert!(may_match(&[("a", "db"), ("a", "db"), ("a", "web")]));
        assert!(!may_match(&[("a", "db"), ("b", "web"), ("a", "db")]));
    }

    #[test]
    fn assumes_a_match_among_more_pods_than_it_compares() {
        assert!(!may_match(&[("b", "web"); MAX_COMPARISONS]));
        assert!(may_match(&[("b", "web"); MAX_COMPARISONS + 1]));
    }
}
