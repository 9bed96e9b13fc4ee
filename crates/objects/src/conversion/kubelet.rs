//! The kubelet settings of NodePools and Provisioners, which v1 has in the EC2NodeClass.

use manifest::edit::{Change, Composed};
use manifest::tree::Node;

use super::neighbours::class_name;
use super::value::{filled, same};
use super::{Conversion, Neighbours, converted};
use crate::object::Object;

/// The settings that v1 has: pkg/apis/v1/ec2nodeclass.go of aws/karpenter-provider-aws at v1.0.8.
const SETTINGS: [&str; 12] = [
    "clusterDNS",
    "cpuCFSQuota",
    "evictionHard",
    "evictionMaxPodGracePeriod",
    "evictionSoft",
    "evictionSoftGracePeriod",
    "imageGCHighThresholdPercent",
    "imageGCLowThresholdPercent",
    "kubeReserved",
    "maxPods",
    "podsPerCore",
    "systemReserved",
];

/// Number of objects of one node class that are compared. Each of them is compared with all others.
const MAX_POOLS: usize = 50;

/// Moves `spec.template.spec.kubelet` of a NodePool to its EC2NodeClass, if that is in the same file and every NodePool that
/// uses it has the same settings. The webhook keeps them in an annotation instead, which no release since 1.1 reads.
pub(super) fn convert<'d>(
    pool: Object<'d>,
    template: Node<'d>,
    neighbours: &Neighbours<'d>,
    conversion: &mut Conversion<'d>,
) {
    let Some(kubelet) = filled(template, "kubelet") else {
        if let Some(empty) = template.get("kubelet") {
            conversion.changes.push(Change::Remove(empty));
        }
        return;
    };
    match moved(pool, template, kubelet, neighbours) {
        Ok(changes) => conversion.changes.extend(changes),
        Err(why) => conversion.undecided(format!(
            "move `spec.template.spec.kubelet` to `spec.kubelet` of the EC2NodeClass: {why}"
        )),
    }
}

/// The changes that move the settings, or the reason why only the author can move them.
fn moved<'d>(
    pool: Object<'d>,
    template: Node<'d>,
    kubelet: Node<'d>,
    neighbours: &Neighbours<'d>,
) -> Result<Vec<Change<'d>>, String> {
    let name = class_name(template).unwrap_or_default();
    let class = neighbours.class(name);
    let of_pool = |other: Object<'d>| filled(other.at(&["spec", "template", "spec"])?, "kubelet");
    let others = neighbours.pools(name).iter().map(|other| (*other, of_pool(*other)));
    let others: Vec<_> = others.take(MAX_POOLS + 1).collect();
    let added = added(pool, name, class, kubelet, neighbours, &others)?;
    Ok(core::iter::once(Change::Remove(kubelet)).chain(added).collect())
}

/// Moves `spec.kubeletConfiguration` of a Provisioner to the node class that its `AWSNodeTemplate` becomes.
pub(super) fn convert_provisioner<'d>(
    provisioner: Object<'d>,
    spec: Node<'d>,
    neighbours: &Neighbours<'d>,
    conversion: &mut Conversion<'d>,
) {
    const FIELD: &str = "kubeletConfiguration";
    let Some(kubelet) = filled(spec, FIELD) else { return };
    let name = spec.str_at(&["providerRef", "name"]).unwrap_or_default();
    let class = neighbours.template(name).or_else(|| neighbours.class(name));
    let of_provisioner = |other: Object<'d>| filled(other.spec()?, FIELD);
    let provisioners = neighbours.provisioners(name).iter().map(|other| (*other, of_provisioner(*other)));
    let pools = neighbours.pools(name).iter().map(|other| (*other, None));
    let others: Vec<_> = provisioners.chain(pools).take(MAX_POOLS + 1).collect();
    match added(provisioner, name, class, kubelet, neighbours, &others) {
        Ok(added) => conversion.changes.extend(added),
        Err(why) => {
            conversion.undecided(format!("move `spec.{FIELD}` to `spec.kubelet` of the EC2NodeClass: {why}"));
        }
    }
}

/// The change that adds the settings of a NodePool or a Provisioner to its node class, unless the node class has them.
fn added<'d>(
    holder: Object<'d>,
    name: &str,
    class: Option<Object<'d>>,
    kubelet: Node<'d>,
    neighbours: &Neighbours<'d>,
    others: &[(Object<'d>, Option<Node<'d>>)],
) -> Result<Option<Change<'d>>, String> {
    if name.is_empty() {
        return Err("the object names none".to_owned());
    }
    let Some(class) = class else { return Err(format!("the input does not have exactly one `{name}`")) };
    if settings(kubelet).any(|(key, _)| !SETTINGS.contains(&key)) {
        let all: Vec<_> =
            settings(kubelet).map(|(key, _)| key).filter(|key| !SETTINGS.contains(key)).collect();
        return Err(format!("v1 has no setting `{}`", all.join("`, `")));
    }
    let Some(spec) = class.spec() else { return Err(format!("`{name}` has no `spec`")) };
    if let Some(known) = filled(spec, "kubelet") {
        let is_same = same_settings(known, kubelet);
        return if is_same { Ok(None) } else { Err(format!("`{name}` has other settings there")) };
    }
    if class.version() != "v1" && !converted(class, neighbours).is_some_and(|class| class.is_certain()) {
        return Err(format!("`{name}` has to be converted first"));
    }
    if others.len() > MAX_POOLS {
        return Err(format!("more than {MAX_POOLS} objects use `{name}`"));
    }
    let differs = |own: Option<Node<'d>>| !own.is_some_and(|own| same_settings(own, kubelet));
    if let Some((other, _)) = others.iter().find(|(other, own)| *other != holder && differs(*own)) {
        let (kind, other) = (other.kind(), other.name());
        return Err(format!("the {kind} `{other}` uses `{name}` too, without these settings"));
    }
    let same_file = class.root().tree().source().name() == holder.root().tree().source().name();
    let last = spec.children().last().filter(|_| same_file && spec.get("kubelet").is_none());
    let Some(last) = last else { return Err(format!("`{name}` is in another file")) };
    if settings(kubelet).next().is_none() {
        return Ok(None);
    }
    let copy = if kubelet.get(CONTAINER_RUNTIME).is_some() {
        Composed::Object(
            settings(kubelet).map(|(key, node)| (key.to_owned(), Composed::Copy(node))).collect(),
        )
    } else {
        Composed::Copy(kubelet)
    };
    Ok(Some(Change::AddAfter(last, "kubelet".to_owned(), copy)))
}

/// Field that up to Karpenter 0.32 named the container runtime. Since Kubernetes 1.24 EKS has only `containerd`:
/// website/content/en/preview/upgrading/v1beta1-migration.md of aws/karpenter-provider-aws at v0.32.10.
const CONTAINER_RUNTIME: &str = "containerRuntime";

/// The settings without the container runtime that every node has.
fn settings<'d>(kubelet: Node<'d>) -> impl Iterator<Item = (&'d str, Node<'d>)> {
    let is_default =
        |key: &str, node: Node<'d>| key == CONTAINER_RUNTIME && node.as_str() == Some("containerd");
    kubelet.members().filter(move |(key, node)| !node.is_overridden() && !is_default(key, *node))
}

fn same_settings(one: Node<'_>, other: Node<'_>) -> bool {
    settings(one).count() == settings(other).count()
        && settings(one).all(|(key, value)| other.get(key).is_some_and(|again| same(value, again)))
}
