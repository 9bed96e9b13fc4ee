//! Storage classes and the claims on them: where a provisioner's volumes can be used from, and who asks for them.

use std::collections::BTreeMap;

use crate::object::Object;
use karpenter::kind::Kind;
use manifest::tree::{Node, items_of};

/// From where a volume can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// From the nodes of one availability zone.
    Zone,
    /// From one node.
    Node,
    /// From every node of the cluster's network.
    Network,
    /// The provisioner is not known.
    Unknown,
}

/// The provisioners whose volumes lie in one zone. Source: their own documentation on topology.
const ZONAL: [&str; 7] = [
    "ebs.csi.aws.com",
    "ebs.csi.eks.amazonaws.com",
    "kubernetes.io/aws-ebs",
    "pd.csi.storage.gke.io",
    "kubernetes.io/gce-pd",
    "disk.csi.azure.com",
    "kubernetes.io/azure-disk",
];

/// The provisioners whose volumes lie on one node.
const LOCAL: [&str; 8] = [
    "kubernetes.io/no-provisioner",
    "rancher.io/local-path",
    "openebs.io/local",
    "local.csi.openebs.io",
    "zfs.csi.openebs.io",
    "topolvm.io",
    "topolvm.cybozu.com",
    "local.csi.metal-stack.io",
];

/// The provisioners whose volumes are reached over the network. `.` at the start stands for a suffix.
const NETWORK: [&str; 14] = [
    "efs.csi.aws.com",
    "fsx.csi.aws.com",
    "fsx.openzfs.csi.aws.com",
    "s3.csi.aws.com",
    "file.csi.aws.com",
    "nfs.csi.k8s.io",
    "smb.csi.k8s.io",
    "driver.longhorn.io",
    "csi.trident.netapp.io",
    "csi.juicefs.com",
    "file.csi.azure.com",
    "blob.csi.azure.com",
    "filestore.csi.storage.gke.io",
    ".csi.ceph.com",
];

/// From where the volumes of a provisioner can be used.
pub fn reach(provisioner: &str) -> Reach {
    let network =
        |known: &str| known == provisioner || (known.starts_with('.') && provisioner.ends_with(known));
    if ZONAL.contains(&provisioner) {
        Reach::Zone
    } else if LOCAL.contains(&provisioner) {
        Reach::Node
    } else if NETWORK.iter().any(|known| network(known)) || provisioner.contains("nfs") {
        Reach::Network
    } else {
        Reach::Unknown
    }
}

/// The keys by which a volume's topology names a zone. Karpenter takes all of them for the first one.
///
/// Source: `NormalizedLabels` in pkg/apis/v1/labels.go of kubernetes-sigs/karpenter and of the provider at v1.14.1.
pub const ZONE_KEYS: [&str; 3] = [
    "topology.kubernetes.io/zone",
    "topology.ebs.csi.aws.com/zone",
    "failure-domain.beta.kubernetes.io/zone",
];

/// The zones that `allowedTopologies` of a storage class names; empty where it does not restrict them.
pub fn allowed_zones(class: Object<'_>) -> Vec<Node<'_>> {
    let terms = class.items_at(&["allowedTopologies"]);
    let expressions = terms.filter_map(|term| term.get("matchLabelExpressions")).flat_map(Node::items);
    let of_zones = expressions
        .filter(|expression| expression.str_at(&["key"]).is_some_and(|key| ZONE_KEYS.contains(&key)));
    of_zones.filter_map(|expression| expression.get("values")).flat_map(Node::items).collect()
}

/// How a storage class says when its volumes are made.
#[derive(Clone, Copy, Debug)]
pub enum Binding<'d> {
    /// `Immediate`, in so many words.
    Immediate(Node<'d>),
    /// Not said, which the API server takes for `Immediate`.
    Default,
    /// Anything else.
    Other,
}

impl<'d> Binding<'d> {
    /// Reads `volumeBindingMode`. Source: `SetDefaults_StorageClass` of Kubernetes' storage.k8s.io/v1.
    pub fn of(class: Object<'d>) -> Self {
        match class.at(&["volumeBindingMode"]) {
            None => Self::Default,
            Some(mode) if mode.is_null() => Self::Default,
            Some(mode) if mode.as_str() == Some("Immediate") => Self::Immediate(mode),
            Some(_) => Self::Other,
        }
    }
}

/// Whether claims that name no class get this one.
pub fn is_default_class(class: Object<'_>) -> bool {
    ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"]
        .iter()
        .any(|key| class.annotation(key).and_then(Node::as_str) == Some("true"))
}

/// A claim on a volume, in an object of its own or within a workload.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'d> {
    /// The object it stands in.
    pub object: Object<'d>,
    /// The claim: what holds `spec`.
    pub node: Node<'d>,
    /// What it is.
    pub form: ClaimForm,
}

/// The forms of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimForm {
    /// A PersistentVolumeClaim.
    Object,
    /// An item of a StatefulSet's `volumeClaimTemplates`.
    Template,
    /// The template of an ephemeral volume.
    Ephemeral,
}

impl ClaimForm {
    /// What a reader would call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Object => "claim",
            Self::Template => "claim template",
            Self::Ephemeral => "ephemeral volume",
        }
    }
}

impl<'d> Claim<'d> {
    /// The class it names: `None` where it names none and gets the cluster's default.
    pub fn class(&self) -> Option<&'d str> {
        let field = self.node.at_path(&["spec", "storageClassName"])?;
        if field.is_null() { None } else { field.as_str() }
    }

    /// The node that names the class, or the claim where none is named.
    pub fn place(&self) -> Node<'d> {
        self.node.at_path(&["spec", "storageClassName"]).unwrap_or(self.node)
    }

    /// Whether it names the volume that it is for, so that none is made.
    pub fn names_volume(&self) -> bool {
        self.node.str_at(&["spec", "volumeName"]).is_some_and(|name| !name.is_empty())
    }
}

/// All claims of an object.
pub fn claims_in(object: Object<'_>) -> Vec<Claim<'_>> {
    const CLAIM: Kind = Kind::of("", "v1", "PersistentVolumeClaim");
    if object.is(CLAIM) {
        return vec![Claim { object, node: object.root(), form: ClaimForm::Object }];
    }
    let templates = object.items_at(&["spec", "volumeClaimTemplates"]);
    let templates = templates.map(|node| Claim { object, node, form: ClaimForm::Template });
    let volumes = object.pod().and_then(|pod| pod.at_path(&["spec", "volumes"]));
    let ephemeral = items_of(volumes).filter_map(|volume| {
        let node = volume.at_path(&["ephemeral", "volumeClaimTemplate"])?;
        Some(Claim { object, node, form: ClaimForm::Ephemeral })
    });
    templates.chain(ephemeral).collect()
}

/// The claims of a cluster that name no volume by the class they name, and the workloads by the claims they mount.
#[derive(Debug, Default)]
pub struct Claims<'d> {
    by_class: BTreeMap<&'d str, Vec<Claim<'d>>>,
    without_class: Vec<Claim<'d>>,
    /// By namespace and name, the first workload that mounts a claim.
    mounted: BTreeMap<&'d str, BTreeMap<&'d str, (Object<'d>, Node<'d>)>>,
    default_class: Option<Object<'d>>,
    classes: usize,
}

impl<'d> Claims<'d> {
    /// Gathers the claims of objects.
    pub fn of(objects: &[Object<'d>]) -> Self {
        let mut claims = Self::default();
        for object in objects {
            if object.is(Kind::STORAGE_CLASS) {
                claims.classes += 1;
                claims.default_class =
                    claims.default_class.or(Some(*object).filter(|class| is_default_class(*class)));
            }
            for claim in claims_in(*object).into_iter().filter(|claim| !claim.names_volume()) {
                match claim.class() {
                    Some(class) => claims.by_class.entry(class).or_default().push(claim),
                    None => claims.without_class.push(claim),
                }
            }
            let volumes = object.pod().and_then(|pod| pod.at_path(&["spec", "volumes"]));
            for volume in items_of(volumes) {
                let node = volume.at_path(&["persistentVolumeClaim", "claimName"]);
                if let Some((node, name)) = node.and_then(|node| Some((node, node.as_str()?))) {
                    let mounted = claims.mounted.entry(object.namespace()).or_default();
                    mounted.entry(name).or_insert((*object, node));
                }
            }
        }
        claims
    }

    /// The first few claims on a class, those that get it as the default included, and how many there are in all.
    pub fn on(&self, class: Object<'d>, few: usize) -> (Vec<Claim<'d>>, usize) {
        let mut on: Vec<_> = self.by_class.get(class.name()).cloned().unwrap_or_default();
        if is_default_class(class) {
            on.extend(&self.without_class);
        }
        let total = on.len();
        on.truncate(few);
        (on, total)
    }

    /// The class of claims that name none.
    pub fn default_class(&self) -> Option<Object<'d>> {
        self.default_class
    }

    /// How many storage classes there are.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The first workload that mounts a claim, with the node that names it.
    pub fn mount(&self, claim: Object<'d>) -> Option<(Object<'d>, Node<'d>)> {
        self.mounted.get(claim.namespace())?.get(claim.name()).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provisioners_reach_as_far_as_their_volumes() {
        for (provisioner, expected) in [
            ("ebs.csi.aws.com", Reach::Zone),
            ("kubernetes.io/aws-ebs", Reach::Zone),
            ("kubernetes.io/no-provisioner", Reach::Node),
            ("efs.csi.aws.com", Reach::Network),
            ("rook-ceph.rbd.csi.ceph.com", Reach::Network),
            ("k8s-sigs.io/nfs-subdir-external-provisioner", Reach::Network),
            ("storage.example.net/block", Reach::Unknown),
        ] {
            assert_eq!(reach(provisioner), expected, "{provisioner}");
        }
    }
}
