//! Findings: what a rule says of an object, and where.

use core::fmt;
use core::ops::{Deref, DerefMut};

use serde::Serialize;

use crate::fix::Fix;
use manifest::edit::Change;
use karpenter::release::ReleaseSet;
use manifest::tree::Node;
pub use objects::location::{Place, path_of};
use crate::rule::Rule;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It does not work, or takes something down with it.
    Error,
    /// It is likely not what is wanted.
    Warning,
    /// It is good to know.
    Info,
}

impl Severity {
    /// `error`, `warning` or `info`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// Who else would have told, had this tool not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaughtBy {
    /// The API server refuses the object when it is applied.
    ApiServer,
    /// The object is accepted, and the controller says so in a log or a status.
    Controller,
    /// No component says it in so many words.
    Nobody,
}

impl CaughtBy {
    /// `api-server`, `controller` or `nobody`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ApiServer => "api-server",
            Self::Controller => "controller",
            Self::Nobody => "nobody",
        }
    }
}

/// The family of a rule: the thing that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// What the API server refuses.
    ApiServer,
    /// What the controller refuses later.
    Controller,
    /// Labels that stop nodes.
    Labels,
    /// Nodes that never register.
    Bootstrap,
    /// Clusters that fight.
    Identity,
    /// Volumes that double nodes.
    Storage,
    /// Node classes that look healthy.
    Nodeclass,
    /// Disruption that does not happen, or happens too much.
    Disruption,
    /// Pods and pools that do not meet.
    Scheduling,
    /// The text itself.
    Document,
    /// What logs, events and status tell.
    Symptoms,
}

impl Family {
    /// Every family.
    pub const ALL: [Self; 11] = [
        Self::ApiServer,
        Self::Controller,
        Self::Labels,
        Self::Bootstrap,
        Self::Identity,
        Self::Storage,
        Self::Nodeclass,
        Self::Disruption,
        Self::Scheduling,
        Self::Document,
        Self::Symptoms,
    ];

    /// The name used in settings and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ApiServer => "api-server",
            Self::Controller => "controller",
            Self::Labels => "labels",
            Self::Bootstrap => "bootstrap",
            Self::Identity => "identity",
            Self::Storage => "storage",
            Self::Nodeclass => "nodeclass",
            Self::Disruption => "disruption",
            Self::Scheduling => "scheduling",
            Self::Document => "document",
            Self::Symptoms => "symptoms",
        }
    }
}

/// A finding as a rule makes it: one pointer, for rules hand it from one of the functions below to the next.
#[derive(Debug)]
pub struct Draft<'d>(Box<Said<'d>>);

/// What a finding says.
#[derive(Debug)]
pub struct Said<'d> {
    /// The rule that found it.
    pub rule: &'static Rule,
    /// The place it is reported at.
    pub place: Place<'d>,
    /// The problem, in one sentence without a full stop.
    pub message: String,
    /// The remedy; empty if there is none.
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
    /// Further nodes whose refusals the finding explains.
    pub explains: Vec<Node<'d>>,
}

impl<'d> Draft<'d> {
    /// A finding of a rule: what is wrong, in one sentence without a full stop. Severity, releases and who else tells
    /// are the rule's own until said otherwise.
    pub fn new(rule: &'static Rule, place: Place<'d>, message: impl Into<String>) -> Self {
        Self::of(rule, place, message.into())
    }

    /// A finding at a value, with a message that is put together here rather than at every place that has one.
    pub fn at(rule: &'static Rule, node: Node<'d>, message: fmt::Arguments<'_>) -> Self {
        Self::of(rule, Place::value(node), std::fmt::format(message))
    }

    fn of(rule: &'static Rule, place: Place<'d>, message: String) -> Self {
        Self(Box::new(Said {
            rule,
            place,
            message,
            help: String::new(),
            severity: rule.severity,
            caught_by: rule.caught_by,
            releases: rule.releases.set(),
            related: Vec::new(),
            fix: None,
            explains: Vec::new(),
        }))
    }

    /// The rule that found it.
    pub fn rule(&self) -> &'static Rule {
        self.rule
    }

    /// Where it sits.
    pub fn place(&self) -> &Place<'d> {
        &self.place
    }

    /// How much it weighs.
    pub fn weight(&self) -> Severity {
        self.severity
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do; empty where nothing is said.
    pub fn help_text(&self) -> &str {
        &self.help
    }

    /// The edit that mends it.
    pub fn fix_offered(&self) -> Option<&Fix<'d>> {
        self.fix.as_ref()
    }

    /// What to do, in one sentence or two.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.set_help(help.into());
        self
    }

    fn set_help(&mut self, help: String) {
        self.help = help;
    }

    /// What to do, put together here as the message is in [`Draft::at`].
    pub fn advise(mut self, help: fmt::Arguments<'_>) -> Self {
        self.help = std::fmt::format(help);
        self
    }

    /// What to write in the place of what is there: ``write `text` ``.
    pub fn write(mut self, text: &str) -> Self {
        self.help = format!("write `{text}`");
        self
    }

    /// Another severity than the rule's own.
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Somebody else than the rule says.
    pub fn caught_by(mut self, caught_by: CaughtBy) -> Self {
        self.caught_by = caught_by;
        self
    }

    /// The releases for which the finding holds.
    pub fn releases(mut self, releases: impl Into<ReleaseSet>) -> Self {
        self.releases = releases.into();
        self
    }

    /// Another place that has to do with it.
    pub fn related(mut self, place: Place<'d>, message: impl Into<String>) -> Self {
        self.relate(place, message.into());
        self
    }

    fn relate(&mut self, place: Place<'d>, message: String) {
        self.related.push((place, message));
    }

    /// Another node at which the finding explains the refusals that its rule supersedes.
    pub fn explains(mut self, node: Node<'d>) -> Self {
        self.explains.push(node);
        self
    }

    /// An edit that mends it.
    pub fn fix(mut self, fix: Fix<'d>) -> Self {
        self.set_fix(fix);
        self
    }

    fn set_fix(&mut self, fix: Fix<'d>) {
        self.fix = Some(fix);
    }

    /// A change that mends it and may be made unasked.
    pub fn mend(self, title: &str, change: Change<'d>) -> Self {
        self.fix(Fix::safe(title, vec![change]))
    }

    /// A change that mends it and has to be looked at first.
    pub fn propose(self, title: &str, change: Change<'d>) -> Self {
        self.fix(Fix::to_look_at(title, vec![change]))
    }

    /// What to write in the place of a value, as help and as a change that may be made unasked.
    pub fn set(self, node: Node<'d>, text: &str) -> Self {
        let draft = self.write(text);
        let title = draft.help.clone();
        draft.mend(&title, Change::Set(node, text.to_owned()))
    }

    /// The key to write in the place of another, as help and as a change that has to be looked at first.
    pub fn rename(self, node: Node<'d>, key: &str) -> Self {
        let draft = self.write(key);
        let title = draft.help.clone();
        draft.propose(&title, Change::Rename(node, key.to_owned()))
    }
}

impl<'d> Deref for Draft<'d> {
    type Target = Said<'d>;

    fn deref(&self) -> &Said<'d> {
        &self.0
    }
}

impl<'d> DerefMut for Draft<'d> {
    fn deref_mut(&mut self) -> &mut Said<'d> {
        &mut self.0
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
