//! Conversion of objects in versions that Karpenter no longer serves to v1, as changes of the author's own text.
//!
//! The result means the same as the conversion webhook of Karpenter 1.0 (`ConvertFrom` in
//! `pkg/apis/v1/nodepool_conversion.go` and `nodeclaim_conversion.go` of kubernetes-sigs/karpenter, and in
//! `pkg/apis/v1/ec2nodeclass_conversion.go` of aws/karpenter-provider-aws, both at v1.0.8), and for the alpha versions the same
//! as `karpenter-convert` (tools/karpenter-convert of aws/karpenter-provider-aws at v0.32.10), followed by that webhook. It
//! lacks the annotations that the webhook adds to convert back, which no release since 1.1 reads.

mod claim;
mod kubelet;
mod neighbours;
mod node_class;
mod node_pool;
mod node_template;
mod provisioner;
mod selector;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod value;

use std::sync::Arc;

use manifest::edit::{Change, rewrite};
use manifest::json;
use manifest::source::{Source, Span};
use manifest::tree::{Node, Value, members_of};
use values::placeholder;

pub use neighbours::Neighbours;

use crate::embedded::READ_OPTIONS;
use crate::object::Object;
use crate::validation::refusals;

/// The conversion of an object to v1.
#[derive(Clone, Debug, Default)]
pub struct Conversion<'d> {
    /// The changes of the text; incomplete if something is undecided.
    pub changes: Vec<Change<'d>>,
    /// Decisions that only the author can make. The object is not converted without them.
    pub undecided: Vec<String>,
    /// Parts of the converted object that the author has to review.
    pub review: Vec<String>,
    /// Differences between Karpenter 1.0 and earlier releases, which no conversion can undo.
    pub notes: Vec<String>,
    /// The objects that the changes convert too, because they belong to the object.
    pub partners: Vec<Object<'d>>,
    /// Whether the converted object selects images that EKS no longer publishes, which is another fault.
    selects_old_images: bool,
}

impl Conversion<'_> {
    /// Whether the converted object certainly means the same.
    pub fn is_certain(&self) -> bool {
        self.is_possible() && self.review.is_empty()
    }

    /// Whether the object can be converted without a decision of the author.
    pub fn is_possible(&self) -> bool {
        self.undecided.is_empty() && !self.changes.is_empty()
    }

    fn undecided(&mut self, what: impl Into<String>) {
        self.undecided.push(what.into());
    }

    fn review(&mut self, what: impl Into<String>) {
        self.review.push(what.into());
    }
}

/// Converts an object to v1. `None` if the object is in no version that has a conversion.
///
/// No release since 1.1 serves a NodePool of v1 beside a node class of an earlier version, so a NodePool and its node class
/// are converted together: the conversion of one is as certain as the conversion of the other, and has the changes of both.
pub fn convert<'d>(object: Object<'d>, neighbours: &Neighbours<'d>) -> Option<Conversion<'d>> {
    let mut conversion = convert_alone(object, neighbours)?;
    if conversion.is_possible() {
        add_partners(object, neighbours, &mut conversion);
    }
    Some(conversion)
}

/// Adds the conversion of the objects that belong to an object, and what is undecided in it.
fn add_partners<'d>(object: Object<'d>, neighbours: &Neighbours<'d>, conversion: &mut Conversion<'d>) {
    /// Number of objects whose conversion is computed for each of them.
    const MAX_PARTNERS: usize = 20;
    let partners = neighbours.partners(object);
    if partners.len() > MAX_PARTNERS {
        conversion.review(format!("more than {MAX_PARTNERS} objects have to be converted together with it"));
        return;
    }
    let mut selects_old_images = conversion.selects_old_images && !partners.is_empty();
    for partner in partners {
        let Some(other) = convert_alone(partner, neighbours) else { continue };
        selects_old_images |= other.selects_old_images;
        let named = format!(
            "the {} `{}`, which has to be converted together with it",
            partner.kind(),
            partner.name()
        );
        if !other.is_possible() {
            conversion.undecided(named);
        } else if !other.is_certain() {
            conversion.review(named);
        }
        add_changes(conversion, other.changes);
        conversion.partners.push(partner);
    }
    if selects_old_images {
        conversion.undecided(
            "the AMI family of the node class, because EKS publishes no more images of Amazon Linux 2",
        );
    }
}

/// Adds changes. Several NodePools move the same settings to the same node class, which gets them once.
fn add_changes<'d>(conversion: &mut Conversion<'d>, changes: Vec<Change<'d>>) {
    let is_same = |one: &Change<'d>, other: &Change<'d>| match (one, other) {
        (Change::AddAfter(one, key, _), Change::AddAfter(other, other_key, _)) => {
            one == other && key == other_key
        }
        _ => false,
    };
    for change in changes {
        if !conversion.changes.iter().any(|own| is_same(own, &change)) {
            conversion.changes.push(change);
        }
    }
}

/// Converts an object whatever happens to the objects that belong to it.
fn convert_alone<'d>(object: Object<'d>, neighbours: &Neighbours<'d>) -> Option<Conversion<'d>> {
    let mut conversion = converted(object, neighbours)?;
    if conversion.is_possible() {
        for path in refused(object, &conversion) {
            conversion.review(format!("the API server refuses `{path}` of the converted object"));
        }
        if has_placeholder(object.root()) {
            conversion.review("the object has placeholders, so check the object that is applied");
        }
    }
    Some(conversion)
}

/// The conversion without a check of its result.
fn converted<'d>(object: Object<'d>, neighbours: &Neighbours<'d>) -> Option<Conversion<'d>> {
    let mut conversion = Conversion::default();
    let served = object.served()?;
    match (served.version, served.kind) {
        ("v1beta1", "NodePool") => node_pool::convert(object, neighbours, &mut conversion),
        ("v1beta1", "NodeClaim") => claim::convert(object, &mut conversion),
        ("v1beta1", "EC2NodeClass") => node_class::convert(object, &mut conversion),
        ("v1alpha5", "Provisioner") => provisioner::convert(object, neighbours, &mut conversion),
        ("v1alpha1", "AWSNodeTemplate") => node_template::convert(object, &mut conversion),
        _ => return None,
    }
    let (api_version, kind) = served.instead?;
    if let Some(node) = object.api_version_node() {
        conversion.changes.insert(0, Change::Set(node, api_version.to_owned()));
    }
    if let Some(node) = object.kind_node().filter(|_| kind != served.kind) {
        conversion.changes.insert(1, Change::Set(node, kind.to_owned()));
    }
    let annotations = members_of(object.metadata().annotation_map());
    let is_kept = annotations.into_iter().any(|(key, _)| key.starts_with(COMPATIBILITY));
    if is_kept {
        conversion.undecided("annotations of an earlier conversion change its meaning; remove them");
    }
    Some(conversion)
}

/// Group of the annotations that the conversion webhook writes and reads: pkg/apis/v1/labels.go of
/// kubernetes-sigs/karpenter at v1.0.8.
const COMPATIBILITY: &str = "compatibility.karpenter.";

/// The paths of the converted object that the API server of some release refuses, a few at most.
fn refused(object: Object<'_>, conversion: &Conversion<'_>) -> Vec<String> {
    /// Number of paths that are worth naming.
    const MAX_NAMED: usize = 4;
    let own = conversion.changes.iter().filter(|change| is_within(change.node(), object.root()));
    let text = rewrite(object.root(), own.collect());
    let source = Arc::new(Source::new("", text));
    let read = json::read(&source, Span::whole(source.text()), READ_OPTIONS);
    let Ok(Some((tree, _))) = read else { return vec!["spec".to_owned()] };
    let mut paths = Vec::new();
    for converted in Object::all(&tree) {
        for refusal in refusals(converted, true, true) {
            let path = refusal.place.path(converted.root());
            if !paths.contains(&path) && paths.len() < MAX_NAMED {
                paths.push(path);
            }
        }
    }
    paths
}

/// Whether a node is in an object. A conversion may also change the node class that a NodePool names.
fn is_within(node: Node<'_>, object: Node<'_>) -> bool {
    core::iter::successors(Some(node), |node| node.parent()).any(|node| node == object)
}

/// Whether a string of the object has a placeholder. User data is left out: its scripts have variables.
fn has_placeholder(node: Node<'_>) -> bool {
    match node.value() {
        Value::String(text) => node.key() != "userData" && placeholder::has_placeholder(text),
        _ => node.children().any(has_placeholder),
    }
}
