//! A finding: what a rule reports, where, and how to fix it.

use karpenter::release::ReleaseSet;
use manifest::edit::Change;
use manifest::tree::Node;
use values::cropping::cropped;

use crate::Rule;
pub use crate::classification::{CaughtBy, Family, Severity};
use crate::fix::Fix;
pub use objects::location::{Place, path_of};

/// Maximum size of a message and of a help text, in bytes. Both may quote values of the input.
const MAX_TEXT: usize = 4_000;
/// Maximum size of a name or a path in an output, in bytes. Names in Kubernetes have at most 253.
const MAX_NAME: usize = 1_000;

/// A name or a path, as an output shows it.
pub fn shown_name(name: &str) -> String {
    cropped(name, MAX_NAME).into_owned()
}

fn text(text: impl Into<String>) -> String {
    let text = text.into();
    if text.len() > MAX_TEXT { cropped(&text, MAX_TEXT).into_owned() } else { text }
}

/// A finding of a rule.
#[derive(Debug)]
pub struct Finding<'d> {
    /// The rule that found it.
    pub rule: &'static Rule,
    /// The place it is reported at.
    pub place: Place<'d>,
    /// The problem, in one sentence without a full stop.
    pub message: String,
    /// The remedy, in one or two sentences; empty if unknown.
    pub help: String,
    /// The severity.
    pub severity: Severity,
    /// The component that would otherwise report the problem.
    pub caught_by: CaughtBy,
    /// The releases for which the finding holds.
    pub releases: ReleaseSet,
    /// Related places, each with its message.
    pub related: Vec<(Place<'d>, String)>,
    /// The fix.
    pub fix: Option<Fix<'d>>,
    /// Further nodes at which the finding explains the refusals that its rule supersedes.
    pub explains: Vec<Node<'d>>,
    /// Whether the finding says that the rule could not decide. No level makes it an error.
    pub is_undecided: bool,
}

impl<'d> Finding<'d> {
    /// A finding with the severity, the releases and the reporting component of its rule.
    pub fn new(rule: &'static Rule, place: Place<'d>, message: impl Into<String>) -> Self {
        Self {
            rule,
            place,
            message: text(message),
            help: String::new(),
            severity: rule.severity,
            caught_by: rule.caught_by,
            releases: rule.releases.set(),
            related: Vec::new(),
            fix: None,
            explains: Vec::new(),
            is_undecided: false,
        }
    }

    /// A finding at a value.
    pub fn at(rule: &'static Rule, node: Node<'d>, message: impl Into<String>) -> Self {
        Self::new(rule, Place::value(node), message)
    }

    /// Sets the help.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = text(help);
        self
    }

    /// Sets the help to ``write `text` ``.
    pub fn write(self, text: &str) -> Self {
        self.help(format!("write `{text}`"))
    }

    /// Sets the severity.
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Turns the finding into a warning that the rule could not decide, which no level makes an error.
    pub fn undecided(self) -> Self {
        Self { is_undecided: true, severity: Severity::Warning, ..self }
    }

    /// Sets the component that would otherwise report the problem.
    pub fn caught_by(mut self, caught_by: CaughtBy) -> Self {
        self.caught_by = caught_by;
        self
    }

    /// Sets the releases for which the finding holds.
    pub fn releases(mut self, releases: impl Into<ReleaseSet>) -> Self {
        self.releases = releases.into();
        self
    }

    /// Adds a related place.
    pub fn related(mut self, place: Place<'d>, message: impl Into<String>) -> Self {
        self.related.push((place, text(message)));
        self
    }

    /// Adds a node at which the finding explains the refusals that its rule supersedes.
    pub fn explains(mut self, node: Node<'d>) -> Self {
        self.explains.push(node);
        self
    }

    /// Sets the fix.
    pub fn fix(mut self, fix: Fix<'d>) -> Self {
        self.fix = Some(fix);
        self
    }

    /// Sets a safe fix with one change.
    pub fn safe_fix(self, title: &str, change: Change<'d>) -> Self {
        self.fix(Fix::safe(title, vec![change]))
    }

    /// Sets an unsafe fix with one change.
    pub fn unsafe_fix(self, title: &str, change: Change<'d>) -> Self {
        self.fix(Fix::for_review(title, vec![change]))
    }

    /// Sets help and a safe fix that writes a value.
    pub fn set(self, node: Node<'d>, text: &str) -> Self {
        let finding = self.write(text);
        let title = finding.help.clone();
        finding.safe_fix(&title, Change::Set(node, text.to_owned()))
    }

    /// Sets help and an unsafe fix that renames a key.
    pub fn rename(self, node: Node<'d>, key: &str) -> Self {
        let finding = self.write(key);
        let title = finding.help.clone();
        finding.unsafe_fix(&title, Change::Rename(node, key.to_owned()))
    }
}
