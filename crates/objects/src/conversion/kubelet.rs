//! The kubelet settings of NodePools and Provisioners, which v1 has in the EC2NodeClass.

use core::fmt;

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

/// Reason why only the author can move the settings to the node class.
#[derive(Debug)]
enum Unmovable<'d> {
    /// The object names no node class.
    NamesNoClass,
    /// The input has no node class of this name, or several.
    NotOneClass(&'d str),
    /// v1 lacks these settings.
    UnknownSettings(Vec<&'d str>),
    /// The node class of this name has no `spec`.
    NoSpec(&'d str),
    /// The node class of this name has other settings.
    OtherSettings(&'d str),
    /// The node class of this name is not converted.
    NotConverted(&'d str),
    /// Too many objects use the node class of this name.
    ManyUsers(&'d str),
    /// An object without these settings uses the node class too.
    OtherUser { kind: &'d str, user: &'d str, class: &'d str },
    /// The node class of this name has no field after which the settings could be added.
    NoPlace(&'d str),
}

impl fmt::Display for Unmovable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NamesNoClass => f.write_str("the object names none"),
            Self::NotOneClass(name) => write!(f, "the input does not have exactly one `{name}`"),
            Self::UnknownSettings(names) => write!(f, "v1 has no setting `{}`", names.join("`, `")),
            Self::NoSpec(name) => write!(f, "`{name}` has no `spec`"),
            Self::OtherSettings(name) => write!(f, "`{name}` has other settings there"),
            Self::NotConverted(name) => write!(f, "`{name}` has to be converted first"),
            Self::ManyUsers(name) => write!(f, "more than {MAX_POOLS} objects use `{name}`"),
            Self::OtherUser { kind, user, class } => {
                write!(f, "the {kind} `{user}` uses `{class}` too, without these settings")
            }
            Self::NoPlace(name) => write!(f, "`{name}` has no fields, or an empty `kubelet`"),
        }
    }
}

/// Moves `spec.template.spec.kubelet` of a NodePool to its EC2NodeClass, if every NodePool that uses it has the same settings. The webhook keeps them in an annotation instead, which no release since 1.1 reads.
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
) -> Result<Vec<Change<'d>>, Unmovable<'d>> {
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
    name: &'d str,
    class: Option<Object<'d>>,
    kubelet: Node<'d>,
    neighbours: &Neighbours<'d>,
    others: &[(Object<'d>, Option<Node<'d>>)],
) -> Result<Option<Change<'d>>, Unmovable<'d>> {
    if name.is_empty() {
        return Err(Unmovable::NamesNoClass);
    }
    let Some(class) = class else { return Err(Unmovable::NotOneClass(name)) };
    let unknown: Vec<_> =
        settings(kubelet).map(|(key, _)| key).filter(|key| !SETTINGS.contains(key)).collect();
    if !unknown.is_empty() {
        return Err(Unmovable::UnknownSettings(unknown));
    }
    let Some(spec) = class.spec() else { return Err(Unmovable::NoSpec(name)) };
    if let Some(known) = filled(spec, "kubelet") {
        let is_same = same_settings(known, kubelet);
        return if is_same { Ok(None) } else { Err(Unmovable::OtherSettings(name)) };
    }
    if class.version() != "v1" && !converted(class, neighbours).is_some_and(|class| class.is_possible()) {
        return Err(Unmovable::NotConverted(name));
    }
    if others.len() > MAX_POOLS {
        return Err(Unmovable::ManyUsers(name));
    }
    let differs = |own: Option<Node<'d>>| !own.is_some_and(|own| same_settings(own, kubelet));
    if let Some((other, _)) = others.iter().find(|(other, own)| *other != holder && differs(*own)) {
        return Err(Unmovable::OtherUser { kind: other.kind(), user: other.name(), class: name });
    }
    let last = spec.children().last().filter(|_| spec.get("kubelet").is_none());
    let Some(last) = last else { return Err(Unmovable::NoPlace(name)) };
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
