//! The resources that a pod requests.
//!
//! Source: pkg/utils/resources/resources.go of kubernetes-sigs/karpenter at v1.14.1, and the defaulting of the API server: a
//! resource that a container only limits is also requested.

use karpenter::release::Release;
use manifest::tree::{Node, items_of, members_of};
use values::quantity::Quantity;

use super::behaviour::Behaviour;
use super::resources::{PODS, ResourceNames, Resources};

/// Returns the requests of a pod with this specification.
pub(crate) fn of_pod<'d>(spec: Node<'d>, names: &ResourceNames<'d>, release: Release) -> Resources {
    let mut total = Resources::default();
    for container in items_of(spec.get("containers")) {
        total.add(&of_container(container, names));
    }
    let mut sidecars = Resources::default();
    let mut during_init = Resources::default();
    for container in items_of(spec.get("initContainers")) {
        let requests = of_container(container, names);
        if container.str_at(&["restartPolicy"]) == Some("Always") {
            total.add(&requests);
            sidecars.add(&requests);
            during_init.raise(&sidecars);
        } else {
            let mut needed = requests;
            needed.add(&sidecars);
            during_init.raise(&needed);
        }
    }
    total.raise(&during_init);
    if Behaviour::POD_LEVEL_RESOURCES.holds_in(release) {
        replace_by_pod_level(&mut total, spec, names);
    }
    total.add(&names.parse(members_of(spec.get("overhead"))));
    total.set(PODS, Quantity::from_units(1));
    total
}

fn of_container<'d>(container: Node<'d>, names: &ResourceNames<'d>) -> Resources {
    let part = |part: &str| names.parse(members_of(container.at_path(&["resources", part])));
    let mut requests = part("limits");
    requests.replace(&part("requests"));
    requests
}

/// The pod may set its own CPU, memory and huge pages.
fn replace_by_pod_level<'d>(total: &mut Resources, spec: Node<'d>, names: &ResourceNames<'d>) {
    let part = |part: &str| names.parse(members_of(spec.at_path(&["resources", part])));
    let (requests, limits) = (part("requests"), part("limits"));
    let counts = |name: &str| matches!(name, "cpu" | "memory") || name.starts_with("hugepages-");
    for (id, amount) in limits.iter().filter(|(id, _)| counts(names.name(*id))) {
        if total.get(id).is_zero() {
            total.set(id, amount);
        }
    }
    for (id, amount) in requests.iter().filter(|(id, _)| counts(names.name(*id))) {
        total.set(id, amount);
    }
}

#[cfg(test)]
mod tests {
    use karpenter::release::Release;
    use manifest::limits::Limits;
    use manifest::{Document, File};

    use super::*;

    fn requests(spec: &str) -> String {
        let file = File::read("-", spec, &Limits::DEFAULT);
        let Document::Read(tree) = &file.documents[0] else { panic!("{spec}") };
        let names = ResourceNames::new();
        of_pod(tree.root(), &names, Release::NEWEST).text(&names)
    }

    #[test]
    fn takes_limits_where_nothing_is_requested() {
        let spec = "containers: [{resources: {requests: {cpu: 100m}, limits: {cpu: 1, memory: 1Gi}}}]";
        assert_eq!(requests(spec), r#"{"cpu":"100m","memory":"1Gi","pods":"1"}"#);
    }

    #[test]
    fn adds_sidecars_and_takes_the_largest_init_container() {
        let spec = "
initContainers:
  - {restartPolicy: Always, resources: {requests: {cpu: 200m}}}
  - {resources: {requests: {cpu: 2}}}
containers: [{resources: {requests: {cpu: 500m}}}]
overhead: {cpu: 50m}";
        assert_eq!(requests(spec), r#"{"cpu":"2250m","pods":"1"}"#);
    }
}
