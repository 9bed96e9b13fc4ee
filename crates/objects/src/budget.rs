//! Disruption budgets of a NodePool, as far as they can be parsed.

use manifest::tree::Node;
use values::cron::{BudgetWindows, Schedule};
use values::duration::Duration;
use values::placeholder::has_placeholder;

use crate::location::Place;
use crate::node_pool::{DisruptionBudget, NodePool};

/// Reasons for disruption that budgets limit (kubernetes-sigs/karpenter `pkg/apis/v1/nodepool.go`, 1.0-1.14).
pub const REASONS: [&str; 3] = ["Drifted", "Underutilized", "Empty"];

/// Largest number of budgets that the API server accepts (`MaxItems` of `Budgets` in kubernetes-sigs/karpenter
/// `pkg/apis/v1/nodepool.go`, 1.0-1.14).
const MAX_BUDGETS: usize = 50;

/// A budget whose fields all parse.
#[derive(Clone, Copy, Debug)]
pub struct Budget<'d> {
    /// Item of the list.
    pub item: DisruptionBudget<'d>,
    /// Number or percentage of nodes that Karpenter may disrupt at a time.
    pub nodes: &'d str,
    /// Reasons that the budget limits; without a list it limits every reason.
    reasons: Option<Node<'d>>,
    /// Schedule and duration; without them the budget is always active.
    pub window: Option<(Schedule, Duration)>,
}

impl<'d> Budget<'d> {
    /// Location of the budget, with the span of its `nodes`.
    pub fn place(self) -> Place<'d> {
        self.item.nodes().map_or_else(|| Place::value(self.item.node()), Place::value_under_parent)
    }

    /// Whether the budget limits a reason.
    pub fn covers(self, reason: &str) -> bool {
        self.reasons.is_none_or(|list| list.items().any(|item| item.as_str() == Some(reason)))
    }

    /// Whether the budget allows no disruption while it is active.
    pub fn blocks(self) -> bool {
        let digits = self.nodes.strip_suffix('%').unwrap_or(self.nodes);
        !digits.is_empty() && digits.bytes().all(|byte| byte == b'0')
    }
}

/// Returns the budgets of a NodePool. `None` if there is no list, or if a budget does not parse: another rule reports
/// that budget, and the combined effect of all budgets is unknown. `None` also if the API server refuses the number of
/// budgets: a schedule takes long to evaluate.
pub fn parse(pool: NodePool<'_>) -> Option<Vec<Budget<'_>>> {
    let list = pool.disruption()?.budget_list()?;
    if list.len() > MAX_BUDGETS {
        return None;
    }
    pool.budgets().map(parse_item).collect()
}

fn parse_item(item: DisruptionBudget<'_>) -> Option<Budget<'_>> {
    let written = |value: &Node<'_>| !value.is_null();
    let reasons = item.reasons().filter(written);
    let window = match (item.schedule().filter(written), item.duration().filter(written)) {
        (None, None) => None,
        (Some(schedule), Some(duration)) => {
            Some((Schedule::parse(schedule.as_str()?).ok()?, Duration::parse(duration.as_str()?).ok()?))
        }
        _ => return None,
    };
    // The default that the API server writes.
    let nodes = item.nodes().filter(written).map_or(Some("10%"), Node::as_str)?;
    (!has_placeholder(nodes)).then_some(Budget { item, nodes, reasons, window })
}

/// Returns the budgets that forbid disruption for a reason at all times: all budgets without a schedule, or else all
/// budgets with a schedule if their windows together cover the whole week.
pub fn blocking_always<'b, 'd>(all: &'b [Budget<'d>], reason: &str) -> Vec<&'b Budget<'d>> {
    let (mut unscheduled, mut scheduled, mut windows) = (Vec::new(), Vec::new(), Vec::new());
    for budget in all {
        if !budget.blocks() || !budget.covers(reason) {
            continue;
        }
        match budget.window {
            None => unscheduled.push(budget),
            Some(window) => {
                scheduled.push(budget);
                windows.push(window);
            }
        }
    }
    let together = unscheduled.is_empty() && BudgetWindows::cover_every_minute(&windows);
    if together { scheduled } else { unscheduled }
}
