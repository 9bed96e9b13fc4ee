//! The number of instance types that each requirement of a NodePool leaves.

use karpenter::release::Release;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::requirement::RequirementItem;

use super::behaviour::SchedulerBehaviour;
use super::catalog::{Catalog, Offering, TypeSet};
use super::pools;
use super::resources::ResourceNames;
use super::settings::SimulationSettings;
use crate::requirements::Requirements;
use crate::scalar::text;
use crate::template::{NodeTemplate, known_operator};

/// Requirement of a NodePool with the instance types that it leaves.
#[derive(Clone, Copy, Debug)]
pub struct RequirementTypes<'d> {
    /// The requirement.
    pub item: RequirementItem<'d>,
    /// The number of instance types; `None` if instance types do not have the label.
    pub types: Option<usize>,
}

/// NodePool with the instance types that its requirements leave.
#[derive(Clone, Debug)]
pub struct PoolTypes<'d> {
    /// The NodePool.
    pub pool: Object<'d>,
    /// The number of instance types that its node class can launch in some zone.
    pub all: usize,
    /// The number of instance types that all its requirements and labels together leave.
    pub left: usize,
    /// These instance types with their lowest price in USD per hour, the cheapest first.
    pub cheapest: Vec<(&'static str, f64)>,
    /// The requirements, each alone.
    pub requirements: Vec<RequirementTypes<'d>>,
}

impl<'d> PoolTypes<'d> {
    /// Counts the instance types of the NodePools among objects that Karpenter uses.
    pub fn of(objects: &[Object<'d>], settings: &'d SimulationSettings) -> Vec<Self> {
        let pools = pools::read_pools(objects, &ResourceNames::new(), settings);
        let counted = pools.iter().filter(|pool| pool.is_used).filter_map(|pool| {
            let catalog = &pool.catalog;
            let sold = catalog.offered(&Requirements::default());
            let mut left = catalog.offered(&pool.requirements);
            catalog.retain_compatible(&mut left, &pool.requirements);
            let items = NodePool::of(pool.object)?.requirements().items();
            let with_types =
                |item| RequirementTypes { item, types: types(catalog, &sold, item, settings.release) };
            let cheapest = catalog.by_price(&left, &pool.requirements).into_iter();
            let named = cheapest.filter_map(|(id, price)| Some((*catalog.names.get(id)?, price)));
            Some(Self {
                pool: pool.object,
                all: sold.count(),
                left: left.count(),
                cheapest: named.collect(),
                requirements: items.map(with_types).collect(),
            })
        });
        counted.collect()
    }
}

/// The number of sold types that a requirement leaves: by the label of the types, or by the zones and capacity types in which they
/// are sold.
fn types<'d>(
    catalog: &Catalog<'d>,
    sold: &TypeSet,
    item: RequirementItem<'d>,
    release: Release,
) -> Option<usize> {
    let operator = known_operator(item, SchedulerBehaviour::INCLUSIVE_OPERATORS.holds_in(release));
    let mut template = NodeTemplate::default();
    template.require(item.key()?, operator, item.values().map(text), None);
    let alone = template.requirements;
    let (key, requirement) = alone.iter().next()?;
    if let Some(accepted) = catalog.accepted(key, requirement) {
        return Some(accepted.count_common(sold));
    }
    let is_sold_by = |offering: &Offering<'d>| offering.requirements.get(key).is_some();
    catalog.offerings.iter().any(is_sold_by).then(|| catalog.offered(&alone).count())
}

#[cfg(test)]
mod tests {
    use karpenter::release::Release;
    use manifest::limits::Limits;
    use manifest::{Document, File};

    use super::*;

    /// The NodePool with these requirements.
    fn counted(requirements: &str) -> (usize, usize, Vec<Option<usize>>) {
        let text = format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: b}}
      requirements: {requirements}
"
        );
        let file = File::read("-", text, &Limits::DEFAULT);
        let Document::Read(tree) = &file.documents[0] else { panic!("{requirements}") };
        let objects = Object::all(tree);
        let mut settings = SimulationSettings::new(Release::NEWEST);
        settings.assumes_node_classes = true;
        let pools = PoolTypes::of(&objects, &settings);
        let types = pools[0].requirements.iter().map(|requirement| requirement.types).collect();
        (pools[0].all, pools[0].left, types)
    }

    #[test]
    fn counts_the_types_of_each_requirement_and_of_all() {
        let (all, left, types) = counted(
            "[{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.xlarge, c5.large]}, \
             {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5]}]",
        );
        assert!(all > 500, "{all}");
        assert_eq!((left, types[0]), (2, Some(3)));
        assert!(types[1].is_some_and(|of_family| of_family > 2 && of_family < all));
    }

    #[test]
    fn counts_the_types_that_are_sold_in_a_zone_or_a_capacity_type() {
        let key = "topology.kubernetes.io/zone";
        let (all, left, types) = counted(&format!("[{{key: {key}, operator: In, values: [us-east-1a]}}]"));
        assert_eq!((types[0], left), (Some(all), all));
        let (_, left, types) = counted(&format!("[{{key: {key}, operator: In, values: [eu-west-1a]}}]"));
        assert_eq!((types[0], left), (Some(0), 0));
    }

    #[test]
    fn counts_nothing_for_a_label_of_the_user() {
        let (all, left, types) = counted("[{key: example.com/team, operator: In, values: [blue]}]");
        assert_eq!((left, types[0]), (all, None));
    }
}
