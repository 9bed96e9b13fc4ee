//! A relation, the value that it checks, and its violations.

use core::fmt;
use std::borrow::Cow;

use super::super::stored::{StoredValue, certain, present};
use crate::release::{Release, ReleaseSet, Releases};
use manifest::tree::Node;
use values::placeholder::has_placeholder;

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

pub(super) const fn always(check: RelationCheck) -> Relation {
    Relation { releases: Releases::ALL, compares: false, check }
}

/// A relation between a value and the stored value.
pub(super) const fn compared(check: RelationCheck) -> Relation {
    Relation { releases: Releases::ALL, compares: true, check }
}

impl Relation {
    pub(super) const fn since(mut self, minor: u8) -> Self {
        self.releases = Releases::since(minor);
        self
    }

    pub(super) const fn until(mut self, minor: u8) -> Self {
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
    pub(super) fn get(self, field: &str) -> Option<Node<'d>> {
        present(self.node, field)
    }

    /// A field, unless it is or may be absent or null.
    pub(super) fn certain(self, field: &str) -> Option<Node<'d>> {
        certain(self.node, field)
    }

    pub(super) fn has(self, field: &str) -> bool {
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
    /// The message of the API server.
    pub server: ServerMessage,
}

/// Message of the API server about a violation. Source: `x-kubernetes-validations` in the definitions of each release.
#[derive(Debug, Default)]
pub struct ServerMessage {
    text: Cow<'static, str>,
    /// An earlier message, and the last minor release that has it.
    earlier: Option<(u8, Cow<'static, str>)>,
    /// The error that stops the evaluation of the rule. The server puts it before the message.
    error: Option<Cow<'static, str>>,
}

impl ServerMessage {
    /// The message in a release.
    pub fn text_in(&self, release: Release) -> String {
        let text = match &self.earlier {
            Some((minor, earlier)) if Releases::until(*minor).contains(release) => earlier,
            _ => &self.text,
        };
        match &self.error {
            Some(error) => format!("{error} evaluating rule: {text}"),
            None => text.clone().into_owned(),
        }
    }
}

/// The violations of a relation.
#[derive(Debug, Default)]
pub struct Violations<'d>(Vec<Violation<'d>>);

impl<'d> Violations<'d> {
    /// The violations, in the order in which they were added.
    pub fn into_inner(self) -> Vec<Violation<'d>> {
        self.0
    }

    pub(super) fn add(
        &mut self,
        at: Node<'d>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> &mut Self {
        self.push(at, false, message.into(), help.into())
    }

    pub(super) fn add_key(
        &mut self,
        at: Node<'d>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> &mut Self {
        self.push(at, true, message.into(), help.into())
    }

    fn push(&mut self, at: Node<'d>, key: bool, message: String, help: String) -> &mut Self {
        let server = ServerMessage::default();
        self.0.push(Violation { at, key, releases: ReleaseSet::all(), message, help, server });
        self
    }

    /// Sets the message of the API server for the last violation.
    pub(super) fn says(&mut self, text: impl Into<Cow<'static, str>>) {
        if let Some(last) = self.0.last_mut() {
            last.server.text = text.into();
        }
    }

    /// Sets the message that the API server had for the last violation until 1.`minor`.
    pub(super) fn said_until(&mut self, minor: u8, text: impl Into<Cow<'static, str>>) {
        if let Some(last) = self.0.last_mut() {
            last.server.earlier = Some((minor, text.into()));
        }
    }

    /// Sets the error that stops the API server's evaluation of the rule for the last violation.
    pub(super) fn stops_with(&mut self, error: impl Into<Cow<'static, str>>) {
        if let Some(last) = self.0.last_mut() {
            last.server.error = Some(error.into());
        }
    }

    /// Restricts the last violation to some releases.
    pub(super) fn only_in(&mut self, releases: ReleaseSet) {
        if let Some(last) = self.0.last_mut() {
            last.releases = releases;
        }
    }
}

/// Whether a value is a placeholder in place of any value, such as `${var.names}` in place of a list.
pub(in super::super) fn is_unknown(node: Node<'_>) -> bool {
    node.as_str().is_some_and(has_placeholder)
}
