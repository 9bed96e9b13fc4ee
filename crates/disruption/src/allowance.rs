//! Number of nodes that the budgets of a NodePool allow to disrupt at an instant.
//!
//! Source: kubernetes-sigs/karpenter pkg/apis/v1/nodepool.go at v1.14.1, `MustGetAllowedDisruptions`,
//! `GetAllowedDisruptionsByReason`, `GetAllowedDisruptions` and `IsActive`.

use core::fmt;

use ids::{Id, IdVec, ids};
use karpenter::release::{Release, Releases};
use manifest::tree::Node;
use objects::node_pool::{Disruption, NodePool};
use values::cron::{Opening, Schedule, atoi_error};
use values::duration::Duration;
use values::timestamp::Timestamp;

ids! {
    /// Budget of a NodePool.
    pub BudgetId;
}

impl BudgetId {
    /// The position in `spec.disruption.budgets`.
    pub fn index(self) -> usize {
        self.position()
    }
}

/// Value without a limit: Go's `math.MaxInt32`.
pub const UNLIMITED: i64 = i32::MAX as i64;

/// Value that the API server writes for an absent list, and for absent `nodes` (`pkg/apis/crds/karpenter.sh_nodepools.yaml`,
/// 1.0-1.14).
const DEFAULT_NODES: &str = "10%";

/// Releases in which node repair obeys budgets (kubernetes-sigs/karpenter#3311).
const REPAIR_OBEYS_BUDGETS: Releases = Releases::since(15);

/// Reason for disruption that budgets limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub enum DisruptionReason {
    /// The node is empty.
    Empty,
    /// The node has drifted.
    Drifted,
    /// The node costs more than another way to run its pods.
    Underutilized,
    /// The node is repaired.
    Unhealthy,
}

impl DisruptionReason {
    /// Every reason.
    pub const ALL: [Self; 4] = [Self::Empty, Self::Drifted, Self::Underutilized, Self::Unhealthy];

    /// The reasons that budgets limit in a release, in the order in which methods run.
    pub fn of_release(release: Release) -> Vec<Self> {
        let repairs = REPAIR_OBEYS_BUDGETS.contains(release);
        Self::ALL.into_iter().filter(|reason| repairs || *reason != Self::Unhealthy).collect()
    }

    /// The name in `spec.disruption.budgets`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Drifted => "Drifted",
            Self::Underutilized => "Underutilized",
            Self::Unhealthy => "Unhealthy",
        }
    }
}

impl fmt::Display for DisruptionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// State of a budget at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetState {
    /// The window is open, or the budget has none.
    Active,
    /// The window is closed: the budget limits nothing.
    Inactive,
    /// Karpenter cannot evaluate the schedule.
    Broken,
}

/// Number of nodes that all budgets together allow for a reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The number that the controller uses: 0 if any budget has an error.
    pub allowed: i64,
    /// The number that Karpenter computes beside an error.
    pub computed: i64,
    /// Karpenter's texts for the budgets that it cannot evaluate; empty without an error.
    pub error: String,
    /// The budget that decides: the first one with the smallest number, or the first one with an error.
    pub decided_by: Option<BudgetId>,
}

impl Allowance {
    /// Whether no budget limits the reason.
    pub fn is_unlimited(&self) -> bool {
        self.allowed == UNLIMITED
    }
}

/// Refusal of a NodePool by the controller's client, in its words. Nothing in the cluster is disrupted then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RefusedPool(String);

/// Failure of Karpenter to evaluate a budget, in its words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
struct BudgetError(String);

/// Budgets of a NodePool as a release evaluates them.
#[derive(Clone, Debug)]
pub struct PoolBudgets<'d> {
    budgets: IdVec<BudgetId, BudgetTerms<'d>>,
    is_default: bool,
}

/// Budget with its parsed fields.
#[derive(Clone, Debug)]
struct BudgetTerms<'d> {
    nodes: &'d str,
    /// An empty list applies to no reason, an absent one to every reason.
    reasons: Option<Node<'d>>,
    window: BudgetWindow,
}

#[derive(Clone, Debug)]
enum BudgetWindow {
    /// Neither schedule nor duration.
    Always,
    Scheduled(Schedule, Duration),
    /// The error text for a schedule that does not parse.
    Broken(BudgetError),
}

impl<'d> PoolBudgets<'d> {
    /// The budgets of a NodePool with the defaults of the API server. The error is the text with which the controller's
    /// client refuses to read the NodePool.
    pub fn parse(pool: NodePool<'d>, release: Release) -> Result<Self, RefusedPool> {
        let list = pool.disruption().and_then(Disruption::budget_list).filter(|list| !list.is_null());
        if list.is_some() {
            return Self::with_default(pool, DEFAULT_NODES, release);
        }
        let default = BudgetTerms { nodes: DEFAULT_NODES, reasons: None, window: BudgetWindow::Always };
        Ok(Self { budgets: [default].into_iter().collect(), is_default: true })
    }

    /// The budgets of a NodePool as they stand, without the defaults of the API server.
    pub fn as_written(pool: NodePool<'d>, release: Release) -> Result<Self, RefusedPool> {
        Self::with_default(pool, "", release)
    }

    fn with_default(
        pool: NodePool<'d>,
        default_nodes: &'d str,
        release: Release,
    ) -> Result<Self, RefusedPool> {
        let written = |value: &Node<'d>| !value.is_null();
        let text = |node: Node<'d>| node.as_str().unwrap_or_else(|| node.spelling());
        let mut budgets = IdVec::default();
        for item in pool.budgets() {
            let schedule = item.schedule().filter(written).map(text);
            let duration = item.duration().filter(written).map(|node| Duration::parse(text(node)));
            let duration = duration.transpose().map_err(|error| RefusedPool(error.go_text()))?;
            budgets.push(BudgetTerms {
                nodes: item.nodes().filter(written).map_or(default_nodes, text),
                reasons: item.reasons().filter(written),
                window: BudgetWindow::parse(schedule, duration, release),
            });
        }
        Ok(Self { budgets, is_default: false })
    }

    /// The budgets in the order of the list.
    pub fn ids(&self) -> impl Iterator<Item = BudgetId> + use<'d> {
        self.budgets.ids()
    }

    /// Whether the list is empty, so that nothing limits disruption.
    pub fn is_empty(&self) -> bool {
        self.budgets.is_empty()
    }

    /// Whether the NodePool has no list, so that the API server writes one budget of 10 %.
    pub fn is_default(&self) -> bool {
        self.is_default
    }

    /// The path of a budget in its NodePool; empty for the default that the API server writes.
    pub fn path(&self, id: BudgetId) -> String {
        if self.is_default { String::new() } else { format!("spec.disruption.budgets[{}]", id.index()) }
    }

    /// `nodes` of a budget, such as `10%`.
    pub fn nodes(&self, id: BudgetId) -> &'d str {
        self.budgets.get(id).map(|budget| budget.nodes).unwrap_or_default()
    }

    /// Whether a budget has a schedule or a duration.
    pub fn has_window(&self, id: BudgetId) -> bool {
        self.budgets.get(id).is_some_and(|budget| !matches!(budget.window, BudgetWindow::Always))
    }

    /// Whether a budget limits a reason.
    pub fn covers(&self, id: BudgetId, reason: DisruptionReason) -> bool {
        self.budgets.get(id).is_some_and(|budget| budget.covers(reason))
    }

    /// The state of each budget at an instant.
    pub fn states(&self, now: Timestamp) -> IdVec<BudgetId, BudgetState> {
        self.budgets.iter().map(|budget| budget.window.state(now)).collect()
    }

    /// The number of nodes that may be disrupted for a reason at an instant, in a NodePool of some nodes.
    pub fn allowance(&self, now: Timestamp, nodes: usize, reason: DisruptionReason) -> Allowance {
        self.allowance_in(&self.states(now), nodes, reason)
    }

    /// The number of nodes that may be disrupted for a reason while the budgets are in these states.
    pub fn allowance_in(
        &self,
        states: &IdVec<BudgetId, BudgetState>,
        nodes: usize,
        reason: DisruptionReason,
    ) -> Allowance {
        let mut least: Option<(i64, BudgetId)> = None;
        let (mut errors, mut first_error) = (Vec::new(), None);
        for ((id, budget), state) in self.budgets.enumerate().zip(states) {
            let value = budget.value(*state, nodes).unwrap_or_else(|error| {
                errors.push(error.to_string());
                first_error = first_error.or(Some(id));
                0
            });
            let is_less = value < least.map_or(UNLIMITED, |(least, _)| least);
            if is_less && budget.covers(reason) {
                least = Some((value, id));
            }
        }
        let computed = least.map_or(UNLIMITED, |(value, _)| value);
        Allowance {
            allowed: if errors.is_empty() { computed } else { 0 },
            computed,
            error: errors.join("; "),
            decided_by: first_error.or(least.map(|(_, id)| id)),
        }
    }

    /// The intervals between two instants in which a budget is active or broken.
    pub fn openings(&self, id: BudgetId, from: Timestamp, to: Timestamp) -> Vec<Opening> {
        match self.budgets.get(id).map(|budget| &budget.window) {
            Some(BudgetWindow::Scheduled(schedule, duration)) => schedule.openings(from, to, *duration),
            Some(_) => vec![Opening { start: from, end: to }],
            None => Vec::new(),
        }
    }

    /// The first run of a budget's schedule after an instant; `None` without a schedule, or if no run comes.
    pub fn next_run(&self, id: BudgetId, after: Timestamp) -> Option<Timestamp> {
        match self.budgets.get(id).map(|budget| &budget.window) {
            Some(BudgetWindow::Scheduled(schedule, duration)) if *duration > Duration::ZERO => {
                schedule.next_after(after.minute()).map(Timestamp::of_minute)
            }
            _ => None,
        }
    }

    /// The number of a budget while its window is open; `None` if Karpenter cannot evaluate the number.
    pub fn value_when_active(&self, id: BudgetId, nodes: usize) -> Option<i64> {
        self.budgets.get(id)?.value(BudgetState::Active, nodes).ok()
    }

    /// Whether Karpenter cannot evaluate the schedule of a budget.
    pub fn is_broken(&self, id: BudgetId) -> bool {
        self.budgets.get(id).is_some_and(|budget| matches!(budget.window, BudgetWindow::Broken(_)))
    }
}

impl BudgetTerms<'_> {
    fn covers(&self, reason: DisruptionReason) -> bool {
        self.reasons.is_none_or(|list| list.items().any(|item| item.as_str() == Some(reason.name())))
    }

    fn value(&self, state: BudgetState, nodes: usize) -> Result<i64, BudgetError> {
        match (state, &self.window) {
            (_, BudgetWindow::Broken(error)) => Err(error.clone()),
            (BudgetState::Active, _) => scaled(self.nodes, nodes),
            _ => Ok(UNLIMITED),
        }
    }
}

impl BudgetWindow {
    fn parse(schedule: Option<&str>, duration: Option<Duration>, release: Release) -> Self {
        if schedule.is_none() && duration.is_none() {
            return Self::Always;
        }
        let text = schedule.unwrap_or_default();
        match Schedule::parse(text) {
            Ok(schedule) => Self::Scheduled(schedule, duration.unwrap_or_default()),
            Err(error) => Self::Broken(BudgetError(broken_schedule(&error.go_text(text), release))),
        }
    }

    fn state(&self, now: Timestamp) -> BudgetState {
        match self {
            Self::Always => BudgetState::Active,
            Self::Scheduled(schedule, duration) if schedule.is_open(now, *duration) => BudgetState::Active,
            Self::Scheduled(..) => BudgetState::Inactive,
            Self::Broken(_) => BudgetState::Broken,
        }
    }
}

/// Karpenter's error for a schedule that does not parse. It prints the schedule that the parser did not return.
fn broken_schedule(parser: &str, release: Release) -> String {
    if Releases::until(4).contains(release) {
        // pkg/apis/v1/nodepool.go at v1.4.1.
        return "invariant violated, invalid cron %!s(<nil>)".to_owned();
    }
    // The parser's text came with kubernetes-sigs/karpenter#2258.
    let parser = if Releases::since(6).contains(release) { format!(", {parser}") } else { String::new() };
    format!("invariant violated, invalid cron{parser} (cron=<nil>)")
}

/// The number of a budget: an integer, or a percentage of the nodes, rounded up.
///
/// Source: `GetIntStrFromValue` of nodepool.go; `FromInt` and `GetScaledValueFromIntOrPercent` of
/// k8s.io/apimachinery/pkg/util/intstr/intstr.go.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the conversions of Go, whose wrapping and rounding are part of the reference behaviour"
)]
fn scaled(value: &str, nodes: usize) -> Result<i64, BudgetError> {
    if let Ok(number) = value.parse::<i64>() {
        return Ok(i64::from(number as i32));
    }
    let Some(percent) = value.strip_suffix('%') else {
        let text = "invalid value for IntOrString: invalid type: string is not a percentage";
        return Err(BudgetError(text.to_owned()));
    };
    if let Ok(percent) = percent.parse::<i64>() {
        return Ok((percent as f64 * nodes as f64 / 100.0).ceil() as i64);
    }
    let reason = atoi_error(percent);
    Err(BudgetError(format!("invalid value for IntOrString: invalid value {value:?}: {reason}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use manifest::limits::Limits;
    use manifest::{Document, File};
    use objects::object::Object;

    fn with_budgets<T>(disruption: &str, run: impl FnOnce(PoolBudgets<'_>) -> T) -> T {
        let text =
            format!("{{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {{disruption: {disruption}}}}}");
        let file = File::read("-", text, &Limits::DEFAULT);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{disruption}") };
        let pool = NodePool::of(Object::all(tree)[0]).unwrap();
        run(PoolBudgets::parse(pool, Release::NEWEST).unwrap())
    }

    fn now() -> Timestamp {
        Timestamp::parse("2026-03-11T10:30:00Z").unwrap()
    }

    #[test]
    fn a_pool_without_budgets_allows_ten_percent() {
        for text in ["{}", "{budgets: null}"] {
            with_budgets(text, |budgets| {
                assert_eq!(budgets.allowance(now(), 33, DisruptionReason::Empty).allowed, 4, "{text}");
                assert_eq!(
                    (budgets.is_default(), budgets.path(BudgetId::from_position(0)).as_str()),
                    (true, "")
                );
            });
        }
        with_budgets("{budgets: []}", |budgets| {
            assert!(budgets.allowance(now(), 33, DisruptionReason::Empty).is_unlimited());
        });
        with_budgets("{budgets: [{reasons: [Drifted]}]}", |budgets| {
            assert_eq!(budgets.allowance(now(), 33, DisruptionReason::Drifted).allowed, 4);
            assert!(budgets.allowance(now(), 33, DisruptionReason::Empty).is_unlimited());
        });
    }

    #[test]
    fn the_first_of_the_tightest_budgets_decides() {
        with_budgets(
            "{budgets: [{nodes: 50%}, {nodes: '5'}, {nodes: 20%, reasons: [Empty]}, {nodes: '2'}]}",
            |budgets| {
                let decided = |reason| budgets.allowance(now(), 10, reason);
                assert_eq!(
                    (decided(DisruptionReason::Empty).allowed, decided(DisruptionReason::Empty).decided_by),
                    (2, Some(BudgetId::from_position(2)))
                );
                assert_eq!(
                    (
                        decided(DisruptionReason::Drifted).allowed,
                        decided(DisruptionReason::Drifted).decided_by
                    ),
                    (2, Some(BudgetId::from_position(3)))
                );
                assert_eq!(budgets.path(BudgetId::from_position(3)), "spec.disruption.budgets[3]");
            },
        );
        with_budgets(
            "{budgets: [{nodes: '1'}, {nodes: '2', schedule: bad, duration: 1h, reasons: [Empty]}]}",
            |budgets| {
                let drifted = budgets.allowance(now(), 10, DisruptionReason::Drifted);
                assert_eq!(
                    (drifted.allowed, drifted.computed, drifted.decided_by),
                    (0, 1, Some(BudgetId::from_position(1)))
                );
                assert!(drifted.error.starts_with("invariant violated, invalid cron"));
            },
        );
    }

    #[test]
    fn node_repair_obeys_budgets_since_1_15() {
        let reasons = |text: &str| {
            let reasons = DisruptionReason::of_release(Release::parse(text).unwrap());
            reasons.into_iter().map(DisruptionReason::name).collect::<Vec<_>>()
        };
        assert_eq!(reasons("1.14"), ["Empty", "Drifted", "Underutilized"]);
        assert_eq!(reasons("1.15"), ["Empty", "Drifted", "Underutilized", "Unhealthy"]);
    }

    #[test]
    fn older_releases_word_a_broken_schedule_differently() {
        let text = |release: &str| broken_schedule("expected", Release::parse(release).unwrap());
        assert_eq!(text("1.4"), "invariant violated, invalid cron %!s(<nil>)");
        assert_eq!(text("1.5"), "invariant violated, invalid cron (cron=<nil>)");
        assert_eq!(text("1.6"), "invariant violated, invalid cron, expected (cron=<nil>)");
    }
}
