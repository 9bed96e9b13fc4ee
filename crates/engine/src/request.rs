//! Checks the object of an admission request.

use core::cell::OnceCell;

use cluster::inventory::Inventory;
use karpenter::kind::Kind;
use objects::object::Object;
use rule::Rule;
use rule::context::Context;
use rule::finding::Finding;
use rule::registry::Registry;
use rule::settings::Settings;

use crate::check_one::check_one;
use crate::tally;

/// The cluster of an admission request.
#[derive(Clone, Debug, Default)]
pub struct RequestCluster<'d> {
    /// The objects of the cluster, including the object of the request.
    pub objects: Vec<Object<'d>>,
    /// The number of NodePools that are left out, because the rules that run do not need them.
    pub omitted_pools: usize,
    /// The kinds whose objects were listed, so that none is missing.
    pub listed: Vec<Kind>,
    /// Whether an object that is absent here is absent from the cluster.
    pub is_complete: bool,
}

impl<'d> RequestCluster<'d> {
    fn inventory(self) -> Inventory<'d> {
        Inventory::new("", self.objects, self.is_complete)
            .with_omitted_pools(self.omitted_pools)
            .with_listed(self.listed)
    }

    /// The cluster with another version of an object.
    fn with_stored(&self, object: Object<'d>, stored: Object<'d>) -> Self {
        let objects = self.objects.iter().map(|one| if *one == object { stored } else { *one });
        Self { objects: objects.collect(), ..self.clone() }
    }
}

/// Checks the object of an admission request. `rules` are the [rules on](Registry::rules_on) this object. Of each rule and severity
/// the result has the first 1,000 findings.
pub fn check_request<'d>(
    registry: &Registry,
    rules: &[&'static Rule],
    object: Object<'d>,
    cluster: &RequestCluster<'d>,
    settings: &Settings,
) -> Vec<Finding<'d>> {
    let clusters = [cluster.clone().inventory()];
    let [inventory] = &clusters;
    let context = Context::new(settings, inventory, &clusters, object, false);
    let stored_cluster = OnceCell::new();
    let outcome = check_one(registry, rules, &context, || {
        let stored = object.stored()?;
        let clusters = stored_cluster.get_or_init(|| [cluster.with_stored(object, stored).inventory()]);
        let [inventory] = clusters;
        Some(Context::new(settings, inventory, clusters, stored, false))
    });
    let mut findings = outcome.map_or_else(Vec::new, |outcome| outcome.findings);
    tally::keep_first(&mut findings);
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{REGISTRY, class};
    use manifest::{Document, File};
    use objects::embedded::READ_OPTIONS;
    use objects::object::Operation;
    use rule::finding::Severity;

    #[test]
    fn lowers_an_error_that_another_object_already_caused_before_the_update() {
        let text =
            [class("a", "forbids: b"), class("a", "forbids: b, x: 1"), class("b", "instanceProfile: b")];
        let file = File::read("a.yaml", text.join("---\n"), READ_OPTIONS);
        let trees = file.documents.iter().map(|document| match document {
            Document::Read(tree) => tree.root(),
            other => panic!("{other:?}"),
        });
        let [old, new, other] = trees.collect::<Vec<_>>().try_into().unwrap();
        let object = Object::in_request(new, Some(old), Operation::Update);
        let other = Object::in_request(other, None, Operation::Create);
        let cluster = RequestCluster { objects: vec![object, other], ..RequestCluster::default() };
        let rules = REGISTRY.rules_on(object);
        let findings = check_request(&REGISTRY, &rules, object, &cluster, &Settings::default());
        let severities: Vec<_> = findings.iter().map(|finding| finding.severity).collect();
        assert_eq!(severities, [Severity::Warning]);
    }
}
