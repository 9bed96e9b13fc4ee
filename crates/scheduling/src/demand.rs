//! The part of a pod that a NodePool has to meet: labels and taints.

use manifest::tree::{Node, items_of};
use objects::pod::Pod;
use objects::requirement::{RequirementItem, RequirementList};

use crate::preferences::Preferences;
use crate::requirements::{Requirement, Requirements};
use crate::scalar::text;
use crate::taints::Toleration;

const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Toleration for every `PreferNoSchedule` taint, which Karpenter adds in the last step of its relaxation.
///
/// Source: `toleratePreferNoScheduleTaints` in pkg/controllers/provisioning/scheduling/preferences.go of
/// kubernetes-sigs/karpenter at v1.14.1.
pub(crate) const PREFER_NO_SCHEDULE: Toleration<'static> =
    Toleration { key: "", operator: "Exists", value: "", effect: "PreferNoSchedule" };

/// Expressions of a term of the node affinity.
pub(crate) type Term<'d> = Vec<(&'d str, Requirement<'d>)>;

/// Labels that a pod requires or prefers, and taints that it tolerates.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Demand<'d> {
    /// `nodeSelector`.
    pub(crate) node_selector: Term<'d>,
    /// The required terms of the node affinity.
    pub(crate) required_terms: Vec<Term<'d>>,
    /// The preferred terms of the node affinity with their weights.
    pub(crate) preferred_terms: Preferences<Term<'d>>,
    /// `tolerations`.
    pub(crate) tolerations: Vec<Toleration<'d>>,
}

impl<'d> Demand<'d> {
    /// Reads a pod, which has the tolerations that an admission plugin added, or a template, which lacks them.
    pub(crate) fn read(pod: Pod<'d>) -> Self {
        let preferred = pod.spec().node_affinity().and_then(|affinity| affinity.get(PREFERRED));
        let mut demand = Self::required(pod);
        demand.preferred_terms = items_of(preferred).map(read_preferred).collect();
        if pod.object().kind() != "Pod" {
            demand.tolerations.extend(added_tolerations(pod));
        }
        demand
    }

    /// Reads the demands of a pod without its preferences.
    fn required(pod: Pod<'d>) -> Self {
        let spec = pod.spec();
        let selector = spec.node_selector_expressions();
        Self {
            node_selector: selector.map(|one| (one.key, Requirement::is(text(one.node)))).collect(),
            required_terms: spec.required_terms().map(|term| read_term(term.match_expressions())).collect(),
            preferred_terms: Preferences::default(),
            tolerations: spec.tolerations().map(Toleration::from_item).collect(),
        }
    }

    /// Reads the demands that remain after Karpenter has relaxed every preference.
    pub(crate) fn relaxed(pod: Pod<'d>) -> Self {
        let mut demand = Self::required(pod);
        demand.tolerations.extend(added_tolerations(pod));
        demand.tolerations.push(PREFER_NO_SCHEDULE);
        demand
    }

    /// The requirements on the node: the node selector, the first required term, and the heaviest preferred term if asked.
    ///
    /// Source: `newPodRequirements` in pkg/scheduling/requirements.go of kubernetes-sigs/karpenter at v1.14.1.
    pub(crate) fn requirements(&self, with_preference: bool) -> Requirements<'d> {
        let mut all = self.selected();
        if let Some((_, term)) = self.preferred_terms.first().filter(|_| with_preference) {
            all.extend(term.iter().cloned());
        }
        all.extend(self.required_terms.first().into_iter().flatten().cloned());
        all
    }

    /// The requirements without preferences, as alternatives: one for each required term, and at least one.
    pub(crate) fn alternatives(&self) -> Vec<Requirements<'d>> {
        let selected = self.selected();
        if self.required_terms.is_empty() {
            return vec![selected];
        }
        let with_term = |term: &Term<'d>| {
            let mut all = selected.clone();
            all.extend(term.iter().cloned());
            all
        };
        self.required_terms.iter().map(with_term).collect()
    }

    fn selected(&self) -> Requirements<'d> {
        let mut all = Requirements::default();
        all.extend(self.node_selector.iter().cloned());
        all
    }
}

/// The tolerations that the admission plugin `ExtendedResourceToleration` adds to a pod: the key is an extended resource that the
/// pod requests. EKS enables the plugin in every version.
///
/// Sources: plugin/pkg/admission/extendedresourcetoleration/admission.go of kubernetes/kubernetes at v1.33.0;
/// latest/ug/clusters/platform-versions.adoc of awsdocs/amazon-eks-user-guide.
fn added_tolerations(pod: Pod<'_>) -> Vec<Toleration<'_>> {
    let spec = pod.spec().node();
    let mut added = Vec::new();
    for container in ["containers", "initContainers"].into_iter().flat_map(|list| items_of(spec.get(list))) {
        for resource in
            container.get("resources").into_iter().flat_map(Node::children).flat_map(Node::children)
        {
            let key = resource.key();
            if key.contains('/') && !key.contains("kubernetes.io/") {
                added.push(Toleration { key, operator: "Exists", value: "", effect: "NoSchedule" });
            }
        }
    }
    added
}

/// Reads the expressions of a term. An expression that the API server refuses is left out.
pub(crate) fn read_term(list: RequirementList<'_>) -> Term<'_> {
    list.items().filter_map(parse_item).collect()
}

fn parse_item(item: RequirementItem<'_>) -> Option<(&str, Requirement<'_>)> {
    let requirement = Requirement::new(item.operator()?, item.values().map(text))?;
    Some((item.key()?, requirement))
}

fn read_preferred(item: Node<'_>) -> (i64, Term<'_>) {
    let weight = item.get("weight").and_then(Node::as_int).unwrap_or_default();
    let expressions = item.at_path(&["preference", "matchExpressions"]);
    (weight, read_term(RequirementList::new(expressions)))
}

#[cfg(test)]
mod tests {
    use super::Demand;
    use manifest::limits::Limits;
    use manifest::{Document, File};
    use objects::object::{Object, Operation};
    use objects::pod::Pod;

    #[test]
    fn templates_get_the_tolerations_for_extended_resources() {
        let spec = "spec: {containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1, cpu: 1}}}]}";
        let pod = format!("apiVersion: v1\nkind: Pod\n{spec}\n");
        let template = format!(
            r"apiVersion: apps/v1
kind: Deployment
spec:
  template: {{{spec}}}
"
        );
        for (text, of_pod, of_relaxed_pod) in [(pod, 0, 2), (template, 1, 2)] {
            let file = File::read("a.yaml", text, &Limits::DEFAULT);
            let Some(Document::Read(tree)) = file.documents.first() else { panic!("not read") };
            let pod = Pod::of(Object::in_request(tree.root(), None, Operation::Create)).unwrap();
            assert_eq!(Demand::read(pod).tolerations.len(), of_pod);
            // A relaxed pod also tolerates `PreferNoSchedule`.
            assert_eq!(Demand::relaxed(pod).tolerations.len(), of_relaxed_pod);
        }
    }
}
