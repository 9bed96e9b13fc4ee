//! The parts of the hash of an object, by release.
//!
//! Source: kubernetes-sigs/karpenter pkg/apis/v1/nodepool.go `Hash`, aws/karpenter-provider-aws pkg/apis/v1/ec2nodeclass.go
//! `Hash`, v1.0.9 to v1.14.1, and 88f489914 (between 1.14.1 and 1.15.0) for 1.15.

use core::fmt;

use karpenter::api::stored::StoredValue;
use karpenter::api::{SchemaType, kind_schema};
use karpenter::kind::Kind;
use karpenter::release::{Release, Releases};
use manifest::tree::Node;
use objects::object::Object;

use crate::error::{HashError, HashProblem};
use crate::go::{GoStruct, GoType};
use crate::hasher::{Hasher, Typed};
use crate::{fnv, json, node_class, node_pool};

/// The world outside of the object on which its hash depends.
#[derive(Clone, Debug)]
pub struct HashOptions {
    /// Karpenter's release.
    pub release: Release,
    /// Whether the object comes from the API server, which has filled in its defaults.
    pub is_stored: bool,
    /// The cluster's CA bundle in Base64, which is a part of the hash of an EC2NodeClass since 1.12.
    pub ca_bundle: String,
}

impl HashOptions {
    /// Options for an object as written, without a CA bundle.
    pub const fn new(release: Release) -> Self {
        Self { release, is_stored: false, ca_bundle: String::new() }
    }

    pub(crate) fn hasher(&self) -> Hasher {
        Hasher { release: self.release, fills_defaults: !self.is_stored }
    }
}

/// A kind whose objects have a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashedKind {
    /// `karpenter.sh/v1` NodePool.
    NodePool,
    /// `karpenter.k8s.aws/v1` EC2NodeClass.
    NodeClass,
}

/// A static hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticHash {
    /// The version of the way to compute it. Hashes of two versions say nothing about each other.
    pub version: &'static str,
    /// The hash.
    pub value: u64,
}

impl fmt::Display for StaticHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl HashedKind {
    /// The kind of an object, if its objects have a hash.
    pub fn of(object: Object<'_>) -> Option<Self> {
        if object.is(Kind::NODE_POOL) {
            Some(Self::NodePool)
        } else if object.is(Kind::NODE_CLASS) {
            Some(Self::NodeClass)
        } else {
            None
        }
    }

    /// The version of the hashes that a release computes.
    pub fn version(self, release: Release) -> &'static str {
        const OF_NODE_CLASSES: [(Releases, &str); 4] = [
            (Releases::until(0), "v3"),
            (Releases::between(1, 11), "v4"),
            (Releases::between(12, 14), "v5"),
            (Releases::since(15), "v6"),
        ];
        match self {
            Self::NodePool => "v3",
            Self::NodeClass => {
                let row = OF_NODE_CLASSES.iter().find(|(releases, _)| releases.contains(release));
                row.map_or("", |(_, version)| version)
            }
        }
    }

    /// The annotation in which Karpenter keeps the hash.
    pub const fn annotation(self) -> &'static str {
        match self {
            Self::NodePool => "karpenter.sh/nodepool-hash",
            Self::NodeClass => "karpenter.k8s.aws/ec2nodeclass-hash",
        }
    }

    /// The annotation in which Karpenter keeps the version of the hash.
    pub const fn version_annotation(self) -> &'static str {
        match self {
            Self::NodePool => "karpenter.sh/nodepool-hash-version",
            Self::NodeClass => "karpenter.k8s.aws/ec2nodeclass-hash-version",
        }
    }
}

/// The hash of a NodePool or an EC2NodeClass; `None` for other objects.
///
/// # Errors
///
/// The first value that Karpenter cannot decode.
pub fn hash<'d>(object: Object<'d>, options: &HashOptions) -> Option<Result<StaticHash, HashError<'d>>> {
    let version = HashedKind::of(object)?.version(options.release);
    let value = decode_rest(object, options).and_then(|()| {
        elements(object, options).iter().try_fold(0, |all, one| Ok(all ^ one.hash(options.hasher())?))
    });
    Some(value.map(|value| StaticHash { version, value }))
}

/// Whether the hash of an object in a release was not compared with the hash that Karpenter computes. 1.15 was not run
/// (crates/drift/tests/recorded); the hash of a NodePool is the same as in 1.14.
pub fn has_unrecorded_hash(object: Object<'_>, release: Release) -> bool {
    Releases::since(15).contains(release) && HashedKind::of(object) == Some(HashedKind::NodeClass)
}

/// The assumption about the hashes of EC2NodeClasses in such a release.
pub fn unrecorded_hash(release: Release) -> String {
    format!("Karpenter {release} hashes an EC2NodeClass as its source between 1.14.1 and 1.15.0 does")
}

/// The releases in which the kubelet configuration has a separate hash.
pub(crate) const HAS_KUBELET_HASH: Releases = Releases::until(0);

/// The hash of a kubelet configuration in 1.0, which is apart from the hash of the EC2NodeClass. No configuration has the hash of an
/// empty one.
///
/// # Errors
///
/// The first value that Karpenter cannot decode.
pub fn kubelet_hash_of_1_0(kubelet: Option<Node<'_>>) -> Result<u64, HashError<'_>> {
    let nothing = fnv::text(node_class::KUBELET.name);
    let class = kind_schema(Kind::NODE_CLASS.group, Kind::NODE_CLASS.version, Kind::NODE_CLASS.name);
    let (Some(kubelet), Some(class), Some(first)) = (kubelet, class, Release::all().next()) else {
        return Ok(nothing);
    };
    let SchemaType::Object(fields) = class.spec.schema.shape else { return Ok(nothing) };
    let field = fields.iter().find(|field| field.name == "kubelet" && field.releases.contains(first));
    let Some(field) = field else { return Ok(nothing) };
    let value = Typed { value: StoredValue::Given(kubelet), schema: &field.schema };
    Ok(HashOptions::new(first).hasher().hash_struct(&node_class::KUBELET, value)?.hash)
}

/// A part of a hash. The hash of an object is the exclusive or of its parts.
#[derive(Clone, Debug)]
pub(crate) struct Element<'d> {
    /// The path of the part in the object.
    pub(crate) path: &'static str,
    pub(crate) value: ElementValue<'d>,
}

#[derive(Clone, Debug)]
pub(crate) enum ElementValue<'d> {
    /// A struct; `None` is its zero value.
    Struct(&'static GoStruct, Option<Typed<'d>>),
    /// A text that Karpenter makes of a value.
    Text(String, Option<Node<'d>>),
    /// A value of which Karpenter makes no text.
    Undecodable(HashError<'d>),
}

impl<'d> Element<'d> {
    pub(crate) fn hash(&self, hasher: Hasher) -> Result<u64, HashError<'d>> {
        match &self.value {
            ElementValue::Struct(go, Some(value)) => Ok(hasher.hash_struct(go, *value)?.hash),
            ElementValue::Struct(go, None) => Ok(fnv::text(go.name)),
            ElementValue::Text(text, _) => Ok(fnv::text(text)),
            ElementValue::Undecodable(error) => Err(error.clone()),
        }
    }
}

/// The parts of the hash of a NodePool or an EC2NodeClass.
pub(crate) fn elements<'d>(object: Object<'d>, options: &HashOptions) -> Vec<Element<'d>> {
    let hasher = options.hasher();
    let spec = object.at(&["spec"]).zip(object.table());
    let spec = spec.map(|(node, kind)| Typed { value: StoredValue::Given(node), schema: &kind.spec.schema });
    if object.is(Kind::NODE_POOL) {
        let template = spec.and_then(|spec| hasher.member(spec, "template"));
        let value = ElementValue::Struct(&node_pool::TEMPLATE, template);
        return vec![Element { path: "spec.template", value }];
    }
    let spec_of_class = ElementValue::Struct(&node_class::SPEC, spec);
    let mut elements = vec![Element { path: "spec", value: spec_of_class }, ami_family(object)];
    if Releases::since(12).contains(options.release) {
        let value = ElementValue::Text(options.ca_bundle.clone(), None);
        elements.push(Element { path: "", value });
    }
    if Releases::since(15).contains(options.release) {
        // `KubeletConfiguration.String` in pkg/apis/v1/kubeletconfiguration.go at 1d927085: none and an empty one are alike.
        let is_empty = |kubelet: &Node<'_>| kubelet.is_null() || kubelet.is_mapping() && kubelet.is_empty();
        let kubelet = object.at(&["spec", "kubelet"]).filter(|kubelet| !is_empty(kubelet));
        let text = kubelet.map_or_else(|| "null".to_owned(), json::text);
        elements.push(Element { path: "spec.kubelet", value: ElementValue::Text(text, kubelet) });
    }
    elements
}

/// Decodes what is no part of the hash: Karpenter reads the whole object or nothing of it.
fn decode_rest<'d>(object: Object<'d>, options: &HashOptions) -> Result<(), HashError<'d>> {
    let hasher = options.hasher();
    if HAS_KUBELET_HASH.contains(options.release) {
        kubelet_hash_of_1_0(object.at(&["spec", "kubelet"]))?;
    }
    let disruption = object.at(&["spec", "disruption"]);
    let after = disruption.and_then(|disruption| disruption.get("consolidateAfter"));
    let budgets = disruption.and_then(|disruption| disruption.get("budgets"));
    let durations = budgets.into_iter().flat_map(Node::items).filter_map(|budget| budget.get("duration"));
    hasher.decode(&GoType::NillableDuration, after)?;
    durations.into_iter().try_for_each(|duration| hasher.decode(&GoType::Duration, Some(duration)))
}

/// The AMI family: as written, else the one of the first alias, else `Custom`.
fn ami_family(object: Object<'_>) -> Element<'_> {
    const FAMILIES: [&str; 6] =
        ["AL2", "AL2023", "Bottlerocket", "Windows2019", "Windows2022", "Windows2025"];
    let element = |family: &str, node| Element {
        path: "spec.amiFamily",
        value: ElementValue::Text(family.to_owned(), node),
    };
    if let Some(node) = object.at(&["spec", "amiFamily"]).filter(|node| !node.is_null()) {
        return element(node.as_str().unwrap_or_default(), Some(node));
    }
    let terms = object.at(&["spec", "amiSelectorTerms"]);
    let alias = terms.into_iter().flat_map(Node::items).find_map(|term| {
        let node = term.get("alias")?;
        node.as_str().filter(|alias| !alias.is_empty()).map(|alias| (node, alias))
    });
    let Some((node, alias)) = alias else { return element("Custom", None) };
    let parts: Vec<&str> = alias.split('@').collect();
    let known =
        FAMILIES.into_iter().find(|family| parts.first() == Some(&family.to_ascii_lowercase().as_str()));
    match known.filter(|_| parts.len() == 2) {
        Some(family) => element(family, Some(node)),
        None => Element {
            path: "spec.amiFamily",
            value: ElementValue::Undecodable(HashError { node, problem: HashProblem::Alias }),
        },
    }
}
