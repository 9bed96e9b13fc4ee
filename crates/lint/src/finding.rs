//! Findings: what a rule says of an object, and where.

use core::fmt::{self, Write as _};
use core::ops::{Deref, DerefMut};

use serde::Serialize;

use crate::fix::Fix;
use manifest::edit::Change;
use objects::iam_policy::At;
use karpenter::release::ReleaseSet;
use manifest::source::Span;
use manifest::tree::Node;
use crate::rule::Rule;
use scheduling::pod::{Expression, Origin};

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

/// Where in an object a finding sits: the field path that the API server would print, and the very place in the text.
#[derive(Clone, Debug)]
pub struct Place<'d> {
    node: Node<'d>,
    part: Part,
    path: PathOf<'d>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Value,
    Key,
    Within(Span),
    /// Bytes of the source that belong to no value, such as a comment.
    Source(Span),
}

#[derive(Clone, Debug)]
enum PathOf<'d> {
    Node,
    Parent,
    Holder(Node<'d>),
    Below(String),
    /// The API server's own spelling, where it is no path of the object.
    Verbatim(&'static str),
}

impl<'d> Place<'d> {
    /// A value.
    pub fn value(node: Node<'d>) -> Self {
        Self { node, part: Part::Value, path: PathOf::Node }
    }

    /// The key of a value.
    pub fn key(node: Node<'d>) -> Self {
        Self { node, part: Part::Key, path: PathOf::Node }
    }

    /// The key of a member of a map such as `labels`: the path names the map, as the API server does.
    pub fn key_of_map(node: Node<'d>) -> Self {
        Self { node, part: Part::Key, path: PathOf::Parent }
    }

    /// A value whose path is that of what holds it, as the API server does for rules over several fields.
    pub fn value_under_parent(node: Node<'d>) -> Self {
        Self { node, part: Part::Value, path: PathOf::Parent }
    }

    /// Some bytes of a string's value, such as a word of a script.
    pub fn within(node: Node<'d>, range: Span) -> Self {
        Self { node, part: Part::Within(range), path: PathOf::Node }
    }

    /// A part of an IAM policy.
    pub fn of_policy(at: At<'d>) -> Self {
        match at {
            At::Value(node) => Self::value(node),
            At::Key(node) => Self::key(node),
            At::Within(node, range) => Self::within(node, range),
        }
    }

    /// The key of a label expression, under the path of its map or its own.
    pub fn of_expression(expression: Expression<'d>) -> Self {
        match (expression.origin, expression.node.get("key")) {
            (Origin::NodeSelector, _) => Self::key_of_map(expression.node),
            (_, Some(key)) => Self::value(key),
            (_, None) => Self::value(expression.node),
        }
    }

    /// A comment: bytes of the source. The path is that of the object whose root is given.
    pub fn comment(root: Node<'d>, span: Span) -> Self {
        Self { node: root, part: Part::Source(span), path: PathOf::Node }
    }

    /// A field that is not there, below a node: `field` may be a path such as `group` or `spec.group`.
    pub fn missing(node: Node<'d>, field: impl Into<String>) -> Self {
        Self { node, part: Part::Value, path: PathOf::Below(field.into()) }
    }

    /// The same place under the API server's own spelling of the path.
    pub fn spelled(mut self, path: &'static str) -> Self {
        self.path = PathOf::Verbatim(path);
        self
    }

    /// The same place under the path of something that holds it, as the API server does for rules over several fields.
    pub fn under(mut self, holder: Node<'d>) -> Self {
        self.path = PathOf::Holder(holder);
        self
    }

    /// The node that the place belongs to.
    pub fn node(&self) -> Node<'d> {
        self.node
    }

    /// The field path within the object whose root is given, in the API server's notation.
    pub fn path(&self, root: Node<'d>) -> String {
        match &self.path {
            PathOf::Node => path_of(self.node, root),
            PathOf::Parent => self.node.parent().map(|parent| path_of(parent, root)).unwrap_or_default(),
            PathOf::Holder(holder) => path_of(*holder, root),
            PathOf::Verbatim(path) => (*path).to_owned(),
            PathOf::Below(field) => {
                let mut path = path_of(self.node, root);
                if !path.is_empty() && !field.starts_with('[') {
                    path.push('.');
                }
                path.push_str(field);
                path
            }
        }
    }

    /// The bytes of the text to mark.
    pub fn span(&self) -> Span {
        match self.part {
            Part::Within(range) => self.node.span_within(range),
            Part::Source(span) => span,
            Part::Key => self.key_span(),
            Part::Value if self.node.is_mapping() || self.node.is_sequence() => self.key_span(),
            Part::Value => {
                let span = self.node.span();
                if span.start == span.end { self.key_span() } else { span }
            }
        }
    }

    /// The key of the node, or of the first member within it where it has none.
    fn key_span(&self) -> Span {
        let own = self.node.key_span();
        if own != Span::default() {
            return own;
        }
        let name = self.node.at_path(&["metadata", "name"]).map(Node::span);
        let first =
            || self.node.children().next().map(Node::key_span).filter(|span| *span != Span::default());
        name.or_else(first).unwrap_or_else(|| self.node.span())
    }

    /// What orders places within a document, with or without a text.
    pub fn order(&self) -> (usize, usize) {
        match self.part {
            Part::Key => (self.node.order(), 0),
            Part::Value => (self.node.order(), 1),
            Part::Within(range) | Part::Source(range) => (self.node.order(), 2 + range.start),
        }
    }

    /// Whether two places mark the same key or value, or one marks a part of the other.
    pub fn meets(&self, other: &Self) -> bool {
        self.node == other.node
    }
}

/// The path of a node within the object whose root is given: `spec.requirements[0].key`; empty for the root itself.
pub fn path_of<'d>(node: Node<'d>, root: Node<'d>) -> String {
    let mut nodes: Vec<Node<'d>> =
        core::iter::successors(Some(node), |node| node.parent()).take_while(|node| *node != root).collect();
    nodes.reverse();
    let mut path = String::new();
    for node in nodes {
        let holder = node.parent();
        if holder.is_some_and(|holder| holder.embedded() == Some(node)) {
            // What a string holds has no key of its own.
        } else if holder.is_some_and(Node::is_sequence) {
            let _ = write!(path, "[{}]", node.index());
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(node.key());
        }
    }
    path
}

/// A finding as a rule makes it: one pointer, for rules hand it from one of the functions below to the next.
#[derive(Debug)]
pub struct Draft<'d>(Box<Said<'d>>);

/// What a finding says.
#[derive(Debug)]
pub struct Said<'d> {
    pub rule: &'static Rule,
    pub place: Place<'d>,
    pub message: String,
    pub help: String,
    pub severity: Severity,
    pub caught_by: CaughtBy,
    pub releases: ReleaseSet,
    pub related: Vec<(Place<'d>, String)>,
    pub fix: Option<Fix<'d>>,
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
