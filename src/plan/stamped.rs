//! Whether the hashes of a NodeClaim differ from the hashes that its objects have after a change.
//!
//! The objects of a snapshot have their hashes in annotations; the changed manifest has none. The hash of an EC2NodeClass has a part
//! that is the same for the whole cluster, its CA bundle, which the exclusive or of two hashes drops.
//!
//! Source: kubernetes-sigs/karpenter pkg/controllers/nodepool/hash/controller.go, aws/karpenter-provider-aws
//! pkg/controllers/nodeclass/hash/controller.go and pkg/apis/v1/ec2nodeclass.go at v1.14.1.

use drift::{Effect, FieldChange, HashOptions, HashedKind, hash};
use manifest::tree::Node;
use objects::object::Object;
use objects::status::StatusCondition;

use manifest::tree::items_of;

/// Whether two hashes differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HashDrift {
    No,
    Yes,
    /// A value is not known, such as a placeholder.
    Unknown,
}

/// A NodePool or an EC2NodeClass of a snapshot, and the state that a change leads to.
#[derive(Clone, Debug)]
pub(super) struct StampedObject {
    kind: HashedKind,
    /// The version of the hashes of the release after the change.
    version: &'static str,
    /// The version and the hash in the annotations.
    annotated: Option<(String, String)>,
    /// Whether the change concerns the hash.
    changes: HashDrift,
    /// The hash after the change, if it is known.
    after: Option<u64>,
}

impl StampedObject {
    /// An object before a change, which may have redacted values, and after it with the changed fields.
    pub(super) fn new(
        before: Object<'_>,
        after: Object<'_>,
        fields: &[FieldChange<'_>],
        is_redacted: bool,
        options: &HashOptions,
    ) -> Option<Self> {
        let kind = HashedKind::of(before)?;
        let reason = match kind {
            HashedKind::NodePool => drift::DriftReason::NodePoolDrifted,
            HashedKind::NodeClass => drift::DriftReason::NodeClassDrift,
        };
        let own: Vec<Effect> =
            fields.iter().filter(|field| field.reason == Some(reason)).map(|field| field.effect).collect();
        let changes = if own.contains(&Effect::ReplacesAll) {
            HashDrift::Yes
        } else if own.is_empty() {
            HashDrift::No
        } else {
            HashDrift::Unknown
        };
        let text = |key: &str| before.annotation(key).and_then(Node::as_str).map(str::to_owned);
        let annotated = text(kind.version_annotation()).zip(text(kind.annotation()));
        let version = kind.version(options.release);
        let mut stamped = Self { kind, version, annotated, changes, after: None };
        let (one, other) = (value(before, options), value(after, options));
        stamped.after = match kind {
            _ if changes == HashDrift::Unknown => None,
            HashedKind::NodePool => other,
            HashedKind::NodeClass if is_redacted => None,
            HashedKind::NodeClass => {
                stamped.current().zip(one.zip(other)).map(|(now, (one, other))| now ^ one ^ other)
            }
        };
        Some(stamped)
    }

    /// The hash in the annotation, if it has the version of the release.
    fn current(&self) -> Option<u64> {
        let (version, hash) = self.annotated.as_ref()?;
        if version == self.version { hash.parse().ok() } else { None }
    }

    /// Whether Karpenter writes the hashes of a new version.
    fn is_stamped_again(&self) -> bool {
        self.annotated.as_ref().is_none_or(|(version, _)| version != self.version)
    }

    /// Whether the hash of a NodeClaim differs after the change.
    pub(super) fn drift(&self, claim: Object<'_>) -> HashDrift {
        let text = |key: &str| claim.annotation(key).and_then(Node::as_str);
        let (version, own) = (text(self.kind.version_annotation()), text(self.kind.annotation()));
        if self.is_stamped_again() {
            if version == Some(self.version) {
                // Launched by the new release already.
                return match (self.kind, self.after, own.and_then(|own| own.parse::<u64>().ok())) {
                    (HashedKind::NodePool, Some(after), Some(own)) => yes_if(after != own),
                    _ => HashDrift::Unknown,
                };
            }
            // A NodeClaim that has drifted keeps its hash, every other gets the hash of the object before the change.
            return if is_drifted(claim) { HashDrift::Yes } else { self.changes };
        }
        let (Some(version), Some(own)) = (version, own) else { return HashDrift::No };
        if version != self.version {
            return HashDrift::No;
        }
        let Ok(own) = own.parse::<u64>() else { return HashDrift::Yes };
        match self.changes {
            HashDrift::No => yes_if(self.current() != Some(own)),
            HashDrift::Yes => yes_if(self.after.is_none_or(|after| after != own)),
            HashDrift::Unknown => HashDrift::Unknown,
        }
    }
}

/// Whether a changed NodePool has the hash of the cluster's object; `None` if the two cannot be compared.
pub(super) fn keeps_hash(before: Object<'_>, after: Object<'_>, options: &HashOptions) -> Option<bool> {
    let stamped = StampedObject::new(before, after, &[], false, options)?;
    if stamped.kind != HashedKind::NodePool {
        return None;
    }
    Some(stamped.after? == stamped.current()?)
}

const fn yes_if(is_different: bool) -> HashDrift {
    if is_different { HashDrift::Yes } else { HashDrift::No }
}

fn value(object: Object<'_>, options: &HashOptions) -> Option<u64> {
    hash(object, options)?.ok().map(|hash| hash.value)
}

/// The condition `Drifted` of a NodeClaim, if it is True.
pub(super) fn drifted(claim: Object<'_>) -> Option<StatusCondition<'_>> {
    condition(claim, "Drifted")
}

fn is_drifted(claim: Object<'_>) -> bool {
    drifted(claim).is_some()
}

fn condition<'d>(claim: Object<'d>, kind: &str) -> Option<StatusCondition<'d>> {
    let mut all = items_of(claim.at(&["status", "conditions"])).filter_map(StatusCondition::parse);
    all.find(|condition| condition.kind == kind && condition.status == "True")
}
