//! The disruption budgets of a NodePool, as far as they can be read.

use lint::finding::Place;
use values::cron::Schedule;
use values::duration::Duration;
use manifest::tree::Node;
use objects::object::Object;
use values::placeholder::is_unresolved;

/// Why Karpenter disrupts nodes under a budget (kubernetes-sigs/karpenter `pkg/apis/v1/nodepool.go`, 1.0-1.14).
pub(super) const REASONS: [&str; 3] = ["Drifted", "Underutilized", "Empty"];

/// A budget that can be read, all of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget<'d> {
    /// The item of the list.
    pub(super) node: Node<'d>,
    /// How many nodes it lets go at a time: a number, or a percentage.
    pub(super) nodes: &'d str,
    /// The reasons it is about; all of them where there is no list.
    reasons: Option<Node<'d>>,
    /// When it is active; always where it has none.
    pub(super) window: Option<(Schedule, Duration)>,
}

impl<'d> Budget<'d> {
    /// The budget, marked at its number of nodes.
    pub(super) fn place(self) -> Place<'d> {
        self.node.get("nodes").map_or_else(|| Place::value(self.node), Place::value_under_parent)
    }

    /// Whether it is about a reason.
    pub(super) fn covers(self, reason: &str) -> bool {
        self.reasons.is_none_or(|list| list.items().any(|item| item.as_str() == Some(reason)))
    }

    /// Whether no node may go while it is active.
    pub(super) fn blocks(self) -> bool {
        let digits = self.nodes.strip_suffix('%').unwrap_or(self.nodes);
        !digits.is_empty() && digits.bytes().all(|byte| byte == b'0')
    }
}

/// The budgets of a NodePool; `None` where there is no list, or one of them cannot be read: then it is another rule's
/// to say so, and what they amount to together is not known.
pub(super) fn of(object: Object<'_>) -> Option<Vec<Budget<'_>>> {
    let mut budgets = Vec::new();
    for item in object.at(&["spec", "disruption", "budgets"])?.items() {
        budgets.push(budget(item)?);
    }
    Some(budgets)
}

fn budget(node: Node<'_>) -> Option<Budget<'_>> {
    let reasons = node.get("reasons").filter(|reasons| !reasons.is_null());
    let text = |key: &str| node.get(key).filter(|value| !value.is_null());
    let window = match (text("schedule"), text("duration")) {
        (None, None) => None,
        (Some(schedule), Some(duration)) => {
            Some((Schedule::parse(schedule.as_str()?).ok()?, Duration::parse(duration.as_str()?).ok()?))
        }
        _ => return None,
    };
    // What the API server writes where there is nothing.
    let nodes = text("nodes").map_or(Some("10%"), Node::as_str)?;
    (!is_unresolved(nodes)).then_some(Budget { node, nodes, reasons, window })
}
