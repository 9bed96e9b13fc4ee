//! The requirements of a NodePool that together leave no instance type.

use std::rc::Rc;

use super::catalog::{Catalog, TypeSet};
use super::pool::Pool;
use super::reason::{Disagreement, PoolReason, ReasonKind};

/// The last requirement of the smallest part that excludes all instance types of a NodePool.
pub(super) fn excluding_requirement<'d>(pool: &Pool<'d>) -> Option<&'d str> {
    match without_types(pool).unmet.first()? {
        Disagreement::OwnRequirement(key) => Some(key),
        _ => None,
    }
}

/// Explains why a NodePool has no instance types: the smallest part of its requirements that excludes all of them, or the zones and
/// capacity types in which none is sold.
pub(super) fn without_types<'d>(pool: &Pool<'d>) -> PoolReason<'d> {
    let accepted = |(key, requirement): (&'d str, _)| Some((key, pool.catalog.accepted(key, requirement)?));
    let mut excluding: Vec<_> = pool.written.iter().filter_map(accepted).collect();
    let leaves_types = |all: &[(&str, Rc<TypeSet>)], without: Option<usize>| {
        let mut types = Catalog::all(&pool.catalog);
        for (index, (_, accepted)) in all.iter().enumerate() {
            if Some(index) != without {
                types.intersect_with(accepted);
            }
        }
        !types.is_empty()
    };
    let unusable = |message: &str| PoolReason::unusable(pool.object, ReasonKind::NoInstanceTypes, message);
    if leaves_types(&excluding, None) {
        return unusable(
            "no instance type that meets the requirements is sold in the zones and capacity types of the NodePool",
        );
    }
    for index in (0..excluding.len()).rev() {
        if !leaves_types(&excluding, Some(index)) {
            excluding.remove(index);
        }
    }
    let written = |(key, _): &(&'d str, _)| {
        let requirement = pool.written.get(key).map(|requirement| requirement.written(true));
        format!("`{key} {}`", requirement.unwrap_or_default())
    };
    let texts: Vec<String> = excluding.iter().map(written).collect();
    let message = match texts.as_slice() {
        [] => "its node class leaves no instance type".to_owned(),
        [one] => format!("no instance type meets the requirement {one}"),
        all => format!("no instance type meets the requirements {} together", all.join(" and ")),
    };
    match excluding.last() {
        Some((key, _)) => PoolReason { unmet: vec![Disagreement::OwnRequirement(key)], ..unusable(&message) },
        None => unusable(&message),
    }
}

#[cfg(test)]
mod tests {
    use karpenter::release::Release;
    use manifest::limits::Limits;
    use manifest::{Document, File};
    use objects::object::Object;

    use super::super::pools::read_pools;
    use super::super::resources::ResourceNames;
    use super::super::settings::SimulationSettings;
    use super::without_types;

    fn message(requirements: &str) -> String {
        let text = format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: b}}
      requirements: [{requirements}]
"
        );
        let file = File::read("-", text, &Limits::DEFAULT);
        let Document::Read(tree) = &file.documents[0] else { panic!("{requirements}") };
        let objects = Object::all(tree);
        let mut settings = SimulationSettings::new(Release::NEWEST);
        settings.assumes_node_classes = true;
        let pools = read_pools(&objects, &ResourceNames::new(), &settings);
        without_types(&pools[0]).message
    }

    #[test]
    fn names_the_requirements_that_exclude_each_other() {
        let family = "{key: karpenter.k8s.aws/instance-family, operator: In, values: [t3]}";
        let size = "{key: karpenter.k8s.aws/instance-size, operator: In, values: [24xlarge]}";
        let os = "{key: kubernetes.io/os, operator: In, values: [linux]}";
        assert_eq!(
            message(&format!("{family}, {os}, {size}")),
            "no instance type meets the requirements `karpenter.k8s.aws/instance-family In t3` and `karpenter.k8s.aws/instance-size In 24xlarge` together"
        );
        let unknown = "{key: node.kubernetes.io/instance-type, operator: In, values: [m5.lage]}";
        assert_eq!(
            message(&format!("{os}, {unknown}")),
            "no instance type meets the requirement `node.kubernetes.io/instance-type In m5.lage`"
        );
        let zone = "{key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a]}";
        assert!(message(&format!("{family}, {zone}")).contains("zone"));
    }
}
