//! Validation by the API server: everything it refuses in an object, in every release at once.

pub mod response;
mod unknown;
mod walk;

use karpenter::api::pattern::FieldPattern;
use karpenter::api::relations::ServerMessage;
use karpenter::api::{EnumValue, FieldSchema, KUBELET_CONFIGURATION, KindSchema, Limit, SchemaType};
use karpenter::release::{ReleaseSet, Releases};

use crate::location::Place;
use crate::node_class::KubeletConfiguration;
use crate::object::Object;

/// Part of an object that the API server refuses.
#[derive(Debug)]
pub struct Refusal<'d> {
    /// The place of the fault.
    pub place: Place<'d>,
    /// The releases whose API server refuses it.
    pub releases: ReleaseSet,
    /// The reason.
    pub what: What,
}

/// Reason for a refusal.
#[derive(Debug)]
pub enum What {
    /// A value of the wrong type; the expected type.
    Type(SchemaType),
    /// `spec.replicas` is not a whole number, which the scale subresource requires.
    ScaleType,
    /// `spec.replicas` is outside the range of the scale subresource.
    Scale,
    /// A missing required field.
    Required(&'static FieldSchema),
    /// A value outside this enum.
    OneOf(&'static [EnumValue]),
    /// A string that does not match the pattern.
    Form(&'static FieldPattern),
    /// A string that is not a date with a time.
    DateTime,
    /// A number outside a limit.
    Range(Limit),
    /// A string, list or object whose size is outside a limit; its size.
    Length(Limit, usize),
    /// An item that its list already contains.
    Duplicate,
    /// A field that its object does not have; the known fields, and the kind.
    Unknown(&'static [FieldSchema], Option<&'static KindSchema>),
    /// A combination of fields that is not allowed.
    Relation(Explanation),
    /// A change of the stored object that is not allowed.
    Change(Explanation),
    /// A kind in a version that is not served.
    NotServed,
}

/// The words of a rule about several fields.
#[derive(Debug)]
pub struct Explanation {
    /// The fault.
    pub message: String,
    /// The remedy.
    pub help: String,
    /// The message of the API server.
    pub server: ServerMessage,
}

/// Whether the API server accepts an update of a custom resource in which only unchanged values are at fault. It does so by
/// default since Kubernetes 1.30: kubernetes/enhancements keps/sig-api-machinery/4008-crd-ratcheting (beta in 1.30, stable in
/// 1.33). An unknown version counts as a current one.
pub fn keeps_unchanged_faults(kubernetes_minor: Option<u8>) -> bool {
    const ON_BY_DEFAULT: u8 = 30;
    kubernetes_minor.is_none_or(|minor| minor >= ON_BY_DEFAULT)
}

/// Returns everything that the API server refuses in an object. Unknown fields are searched only if the object comes from
/// a text: the API server has removed them from an object that it sends. `keeps_unchanged` is the result of
/// [`keeps_unchanged_faults`].
pub fn refusals(object: Object<'_>, is_text: bool, keeps_unchanged: bool) -> Vec<Refusal<'_>> {
    let mut refusals = Vec::new();
    let Some(served) = object.served_by() else { return refusals };
    if served != Releases::ALL {
        let place = object.at(&["apiVersion"]).map_or(Place::value(object.root()), Place::value);
        refusals.push(Refusal { place, releases: Releases::ALL.without(served), what: What::NotServed });
    }
    if let Some(root) = object.table() {
        walk::walk(root, object, keeps_unchanged, &mut refusals);
        // The API server has already removed unknown fields from an object that it sends.
        if is_text {
            unknown::find(root, object, &mut refusals);
        }
    }
    refusals
}

/// Returns everything that Karpenter's controller refuses in `spec.kubelet` since 1.15, except expressions and fields that
/// an AMI family does not support.
pub fn refusals_of_kubelet(kubelet: KubeletConfiguration<'_>) -> Vec<Refusal<'_>> {
    let mut refusals = Vec::new();
    let releases = Releases::since(15);
    if kubelet.node().is_mapping() {
        walk::value(kubelet.node(), &KUBELET_CONFIGURATION, releases, &mut refusals);
        unknown::find_within(kubelet.node(), &KUBELET_CONFIGURATION, releases, &mut refusals);
    }
    refusals
}
