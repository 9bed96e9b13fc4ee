//! Constraints on several fields, which the definitions express as CEL in `x-kubernetes-validations`. Each is a function with
//! its releases. The messages are this project's, not the server's.

pub(super) mod immutable;
pub mod keys;
pub(super) mod kubelet;
pub(super) mod network;
pub(super) mod node_class;
pub(super) mod node_overlay;
pub(super) mod node_pool;
pub(super) mod nonempty;
pub(super) mod requirements;
pub(super) mod selector_terms;
pub(super) mod tags;
pub(super) mod volumes;

use core::fmt;

use super::stored::{StoredValue, present};
use crate::release::{ReleaseSet, Releases};
use manifest::tree::Node;

/// Adds the violations of a relation by a value.
pub type RelationCheck = for<'d> fn(CheckedValue<'d>, &mut Violations<'d>);

/// A constraint on several fields of a value, or on a value before and after an update.
#[derive(Clone, Copy)]
pub struct Relation {
    /// The releases that enforce it.
    pub releases: Releases,
    /// Whether the relation compares the value with the stored value. It is then checked on updates only.
    pub compares: bool,
    /// The check.
    pub check: RelationCheck,
}

impl fmt::Debug for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Relation({})", self.releases)
    }
}

const fn always(check: RelationCheck) -> Relation {
    Relation { releases: Releases::ALL, compares: false, check }
}

/// A relation between a value and the stored value.
const fn compared(check: RelationCheck) -> Relation {
    Relation { releases: Releases::ALL, compares: true, check }
}

impl Relation {
    const fn since(mut self, minor: u8) -> Self {
        self.releases = Releases::since(minor);
        self
    }

    const fn until(mut self, minor: u8) -> Self {
        self.releases = Releases::until(minor);
        self
    }
}

/// The value that a relation checks.
#[derive(Clone, Copy, Debug)]
pub struct CheckedValue<'d> {
    /// The value.
    pub node: Node<'d>,
    /// The stored value, if the request is an update.
    pub old: Option<StoredValue<'d>>,
}

impl<'d> CheckedValue<'d> {
    /// A field, unless it is absent or null.
    fn get(self, field: &str) -> Option<Node<'d>> {
        present(self.node, field)
    }

    fn has(self, field: &str) -> bool {
        self.get(field).is_some()
    }
}

/// Violation of a relation.
#[derive(Debug)]
pub struct Violation<'d> {
    /// The node to mark. The path of the finding is the path of the checked value.
    pub at: Node<'d>,
    /// Whether to mark the key of the node.
    pub key: bool,
    /// The releases that refuse the value.
    pub releases: ReleaseSet,
    /// The message.
    pub message: String,
    /// The help.
    pub help: String,
}

/// The violations of a relation.
#[derive(Debug, Default)]
pub struct Violations<'d>(Vec<Violation<'d>>);

impl<'d> Violations<'d> {
    /// The violations, in the order in which they were added.
    pub fn into_inner(self) -> Vec<Violation<'d>> {
        self.0
    }

    fn add(&mut self, at: Node<'d>, message: impl Into<String>, help: impl Into<String>) {
        self.0.push(Violation {
            at,
            key: false,
            releases: ReleaseSet::all(),
            message: message.into(),
            help: help.into(),
        });
    }

    fn add_key(&mut self, at: Node<'d>, message: impl Into<String>, help: impl Into<String>) {
        self.0.push(Violation {
            at,
            key: true,
            releases: ReleaseSet::all(),
            message: message.into(),
            help: help.into(),
        });
    }

    /// Restricts the last violation to some releases.
    fn only_in(&mut self, releases: ReleaseSet) {
        if let Some(last) = self.0.last_mut() {
            last.releases = releases;
        }
    }
}
