//! The kubelet settings of a NodePool, which v1 has in the EC2NodeClass.

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

/// Number of NodePools of one node class that are compared. Each of them is compared with all others.
const MOST_POOLS: usize = 50;

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
    let Some(class) = neighbours.class(name) else {
        return Err(format!("the input has no EC2NodeClass `{name}`"));
    };
    let unknown = kubelet.members().find(|(key, _)| !SETTINGS.contains(key));
    if let Some((key, _)) = unknown {
        return Err(format!("v1 has no setting `{key}`"));
    }
    let Some(spec) = class.spec() else { return Err(format!("the EC2NodeClass `{name}` has no `spec`")) };
    if let Some(known) = filled(spec, "kubelet") {
        let is_same = same(known, kubelet);
        return if is_same {
            Ok(vec![Change::Remove(kubelet)])
        } else {
            Err(format!("`{name}` has other settings there"))
        };
    }
    if class.version() != "v1" && !converted(class, neighbours).is_some_and(|class| class.is_certain()) {
        return Err(format!("`{name}` has to be converted first"));
    }
    let pools = neighbours.pools(name);
    if pools.len() > MOST_POOLS {
        return Err(format!("more than {MOST_POOLS} NodePools use `{name}`"));
    }
    if let Some(other) = pools.iter().find(|other| **other != pool && contradicts(**other, kubelet)) {
        return Err(format!("the NodePool `{}` uses `{name}` too, without these settings", other.name()));
    }
    let same_file = class.root().tree().source().name() == pool.root().tree().source().name();
    let last = spec.children().last().filter(|_| same_file && spec.get("kubelet").is_none());
    let Some(last) = last else { return Err(format!("`{name}` is in another file")) };
    let added = Change::AddAfter(last, "kubelet".to_owned(), Composed::Copy(kubelet));
    Ok(vec![Change::Remove(kubelet), added])
}

/// Whether a NodePool of the same node class has other settings.
fn contradicts(other: Object<'_>, kubelet: Node<'_>) -> bool {
    let own = other.at(&["spec", "template", "spec"]).and_then(|template| filled(template, "kubelet"));
    !own.is_some_and(|own| same(own, kubelet))
}
