//! Rules of Amazon `EventBridge` that send events to the interruption queue.
//!
//! Sources: `AWS::Events::Rule` in the CloudFormation Template Reference; "Event patterns" in the Amazon `EventBridge` User Guide.

use manifest::tree::{Node, items_of};
use values::placeholder::has_placeholder;

use crate::iam_policy::{Truth, text};
use crate::object::{Form, Object};

/// Rule of `EventBridge` in a CloudFormation template or a Terraform configuration.
#[derive(Clone, Copy, Debug)]
pub struct EventRule<'d>(Object<'d>);

impl<'d> EventRule<'d> {
    /// The object as a rule.
    pub fn of(object: Object<'d>) -> Option<Self> {
        (object.form() == Form::StackResource && is_event_rule(object.root())).then_some(Self(object))
    }

    /// The resource.
    pub fn node(self) -> Node<'d> {
        self.0.root()
    }

    /// The ARNs of its targets. `${}` encloses what CloudFormation or Terraform fills in.
    pub fn targets(self) -> Vec<String> {
        let targets = items_of(self.0.at(&["Properties", "Targets"]));
        targets.filter_map(|target| target.get("Arn")).map(text).collect()
    }

    /// Whether the rule sends events with a source and a detail type. Other fields of the pattern count as fulfilled.
    pub fn sends(self, source: &str, detail_type: &str) -> Truth {
        let Some(pattern) = self.pattern() else { return Truth::Maybe };
        if !pattern.is_mapping() || pattern.children().any(|field| has_placeholder(field.key())) {
            return Truth::Maybe;
        }
        Truth::all([matches(pattern.get("source"), source), matches(pattern.get(DETAIL_TYPE), detail_type)])
    }

    /// The source in the pattern of a rule that has a detail type, but is for another source.
    pub fn other_source(self, source: &str, detail_type: &str) -> Option<Node<'d>> {
        let pattern = self.pattern()?;
        let sources = pattern.get("source").filter(|node| matches(Some(*node), source) == Truth::No)?;
        (matches(Some(pattern.get(DETAIL_TYPE)?), detail_type) == Truth::Yes).then_some(sources)
    }

    fn pattern(self) -> Option<Node<'d>> {
        self.0.at(&["Properties", "EventPattern"])
    }
}

/// Field of a pattern with the types of events.
const DETAIL_TYPE: &str = "detail-type";

/// Whether a field of a pattern accepts a value: one of its strings is equal. Other comparisons, such as `prefix`, are not read.
fn matches(field: Option<Node<'_>>, value: &str) -> Truth {
    let Some(field) = field else { return Truth::Yes };
    if !field.is_sequence() {
        return Truth::Maybe;
    }
    Truth::any(field.items().map(|item| match item.as_str() {
        Some(text) if text == value => Truth::Yes,
        Some(text) if !has_placeholder(text) => Truth::No,
        _ => Truth::Maybe,
    }))
}

/// Whether a resource of a CloudFormation template is a rule with a pattern and targets.
pub(crate) fn is_event_rule(resource: Node<'_>) -> bool {
    let has = |name| resource.at_path(&["Properties", name]).is_some_and(|node: Node<'_>| !node.is_null());
    resource.str_at(&["Type"]) == Some("AWS::Events::Rule") && has("EventPattern") && has("Targets")
}
