//! What the API server asks of several fields together, as the definitions express it in `x-kubernetes-validations`: a named
//! predicate each, with its releases, beside the table. The wording is this project's own.

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

use super::stored::{Stored, present};
use crate::release::{ReleaseSet, Releases};
use manifest::tree::Node;

/// Looks at a value and says how it breaks a relation.
pub type Check = for<'d> fn(Held<'d>, &mut Breaches<'d>);

/// Something asked of the fields of a value together, or of a value before and after a change.
#[derive(Clone, Copy)]
pub struct Relation {
    /// The releases that ask it.
    pub releases: Releases,
    /// Whether it compares with what the cluster holds; without that it is not asked.
    pub compares: bool,
    /// Looks at the value and says how it breaks the relation.
    pub check: Check,
}

impl fmt::Debug for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Relation({})", self.releases)
    }
}

const fn always(check: Check) -> Relation {
    Relation { releases: Releases::ALL, compares: false, check }
}

/// A relation between what is and what was.
const fn compared(check: Check) -> Relation {
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

/// The value that a relation is asked of.
#[derive(Clone, Copy, Debug)]
pub struct Held<'d> {
    /// The value.
    pub node: Node<'d>,
    /// What the cluster holds in its place, where an update compares the two.
    pub old: Option<Stored<'d>>,
}

impl<'d> Held<'d> {
    /// A field that is given, not null.
    fn get(self, field: &str) -> Option<Node<'d>> {
        present(self.node, field)
    }

    fn has(self, field: &str) -> bool {
        self.get(field).is_some()
    }
}

/// How a value breaks a relation.
#[derive(Debug)]
pub struct Breach<'d> {
    /// What to mark; the path is that of the value that the relation is asked of.
    pub at: Node<'d>,
    /// Whether to mark its key.
    pub key: bool,
    /// The releases that refuse it.
    pub releases: ReleaseSet,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// What a relation finds.
#[derive(Debug, Default)]
pub struct Breaches<'d>(Vec<Breach<'d>>);

impl<'d> Breaches<'d> {
    /// All of them.
    pub fn into_inner(self) -> Vec<Breach<'d>> {
        self.0
    }

    fn add(&mut self, at: Node<'d>, message: impl Into<String>, help: impl Into<String>) {
        self.0.push(Breach {
            at,
            key: false,
            releases: ReleaseSet::all(),
            message: message.into(),
            help: help.into(),
        });
    }

    fn add_key(&mut self, at: Node<'d>, message: impl Into<String>, help: impl Into<String>) {
        self.0.push(Breach {
            at,
            key: true,
            releases: ReleaseSet::all(),
            message: message.into(),
            help: help.into(),
        });
    }

    /// The last one holds in these releases only.
    fn only_in(&mut self, releases: ReleaseSet) {
        if let Some(last) = self.0.last_mut() {
            last.releases = releases;
        }
    }
}
