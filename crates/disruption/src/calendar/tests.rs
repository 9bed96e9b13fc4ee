use ids::Id;
use karpenter::release::Release;
use manifest::limits::Limits;
use manifest::{Document, File};
use objects::node_pool::NodePool;
use objects::object::Object;
use proptest::prelude::*;

use super::*;
use crate::allowance::DisruptionReason;

const FROM: &str = "2026-03-11T10:30:00Z";

fn time(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn budget(position: usize) -> BudgetId {
    BudgetId::from_position(position)
}

fn with_budgets<T>(budgets: &str, run: impl FnOnce(&PoolBudgets<'_>) -> T) -> T {
    let text = format!(
        "{{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {{disruption: {{budgets: {budgets}}}}}}}"
    );
    let file = File::read("-", text, &Limits::DEFAULT);
    let Some(Document::Read(tree)) = file.documents.first() else { panic!("{budgets}") };
    let pool = NodePool::of(Object::all(tree)[0]).unwrap();
    run(&PoolBudgets::parse(pool, Release::NEWEST).unwrap())
}

/// The intervals of a week as `start allowed by`.
fn week(budgets: &str, reason: DisruptionReason, nodes: usize) -> Vec<String> {
    with_budgets(budgets, |budgets| {
        let all = Calendar::of_week(budgets, time(FROM)).intervals(reason, nodes);
        let end = all.last().map(|interval| interval.end);
        assert_eq!(end, Some(time(FROM).plus(WEEK)));
        all.iter()
            .map(|interval| {
                let allowed = interval.allowance.allowed;
                let by = interval.allowance.decided_by.map_or("-".to_owned(), |by| by.index().to_string());
                let allowed =
                    if interval.allowance.is_unlimited() { "all".into() } else { allowed.to_string() };
                format!("{} {allowed} {by}", interval.start)
            })
            .collect()
    })
}

fn remarks(budgets: &str, nodes: usize, pace: Option<Pace>) -> Vec<Remark> {
    with_budgets(budgets, |budgets| {
        Calendar::of_week(budgets, time(FROM)).remarks(
            &DisruptionReason::of_release(Release::parse("1.14").unwrap()),
            nodes,
            pace,
        )
    })
}

#[test]
fn windows_make_intervals_with_the_deciding_budget() {
    let budgets = "[{nodes: 10%}, {nodes: '0', schedule: '0 9 * * thu', duration: 8h, reasons: [Drifted]}]";
    assert_eq!(week(budgets, DisruptionReason::Empty, 33), ["2026-03-11T10:30:00Z 4 0"]);
    assert_eq!(
        week(budgets, DisruptionReason::Drifted, 33),
        ["2026-03-11T10:30:00Z 4 0", "2026-03-12T09:00:00Z 0 1", "2026-03-12T17:00:00Z 4 0"]
    );
}

#[test]
fn nothing_limits_outside_the_windows() {
    let budgets = "[{nodes: 35%, schedule: '0 1 * * mon', duration: 4h}]";
    assert_eq!(
        week(budgets, DisruptionReason::Empty, 10),
        ["2026-03-11T10:30:00Z all -", "2026-03-16T01:00:00Z 4 0", "2026-03-16T05:00:00Z all -"]
    );
    assert_eq!(week("[]", DisruptionReason::Empty, 10), ["2026-03-11T10:30:00Z all -"]);
}

#[test]
fn a_broken_schedule_blocks_the_whole_week_and_a_broken_number_its_window() {
    let broken = "[{nodes: '5'}, {nodes: '5', schedule: '0 9 * * 7', duration: 1h, reasons: [Empty]}]";
    assert_eq!(week(broken, DisruptionReason::Drifted, 10), ["2026-03-11T10:30:00Z 0 1"]);
    let number = "[{nodes: '5'}, {nodes: 'x', schedule: '0 9 * * thu', duration: 1h}]";
    assert_eq!(
        week(number, DisruptionReason::Drifted, 10),
        ["2026-03-11T10:30:00Z 5 0", "2026-03-12T09:00:00Z 0 1", "2026-03-12T10:00:00Z 5 0"]
    );
}

#[test]
fn finds_the_instant_at_which_the_number_changes() {
    let change = |budgets: &str| {
        with_budgets(budgets, |budgets| {
            first_change(&Calendar::of_week(budgets, time(FROM)).intervals(DisruptionReason::Empty, 10))
                .map(|time| time.to_string())
        })
    };
    assert_eq!(change("[{nodes: '1'}]"), None);
    assert_eq!(
        change("[{nodes: '1', schedule: '@daily', duration: 12h}]").as_deref(),
        Some("2026-03-11T12:00:00Z")
    );
    // Another budget decides at midnight, for the same number.
    let same = "[{nodes: '2'}, {nodes: '2', schedule: '@daily', duration: 1h}, {nodes: '0', schedule: '0 0 13 * *', duration: 1h}]";
    assert_eq!(change(same).as_deref(), Some("2026-03-13T00:00:00Z"));
}

#[test]
fn remarks_on_windows_that_never_open_and_windows_that_never_close() {
    let next = Some(time("2026-04-01T00:00:00Z"));
    assert_eq!(
        remarks("[{nodes: '1', schedule: '@monthly', duration: 1h}]", 5, None),
        [Remark::NeverOpens { budget: budget(0), next }]
    );
    assert_eq!(
        remarks("[{nodes: '1', schedule: '@daily', duration: 0s}]", 5, None),
        [Remark::NeverOpens { budget: budget(0), next: None }]
    );
    assert_eq!(
        remarks("[{nodes: '1', schedule: '@daily', duration: 24h}]", 5, None),
        [Remark::AlwaysOpen { budget: budget(0) }]
    );
    assert_eq!(remarks("[{nodes: '1', schedule: '@daily', duration: 23h}]", 5, None), []);
}

#[test]
fn remarks_on_budgets_without_effect() {
    let budgets = "[{nodes: 10%}, {nodes: 50%, schedule: '0 1 * * *', duration: 4h}]";
    assert_eq!(remarks(budgets, 100, None), [Remark::NeverDecides { budget: budget(1) }]);
    let tighter = "[{nodes: 10%}, {nodes: 5%, schedule: '0 1 * * *', duration: 4h}]";
    assert_eq!(remarks(tighter, 100, None), []);
}

#[test]
fn remarks_on_overlapping_windows() {
    let budgets = "[{nodes: '5', schedule: '0 9 * * *', duration: 2h}, {nodes: '2', schedule: '0 10 * * *', duration: 2h}]";
    let (start, end) = (time("2026-03-11T10:30:00Z"), time("2026-03-11T11:00:00Z"));
    assert_eq!(
        remarks(budgets, 20, None),
        [Remark::Overlap { tighter: budget(1), looser: budget(0), start, end }]
    );
    let other_reasons = "[{nodes: '5', schedule: '0 9 * * *', duration: 2h, reasons: [Empty]}, \
                         {nodes: '2', schedule: '0 10 * * *', duration: 2h, reasons: [Drifted]}]";
    assert_eq!(remarks(other_reasons, 20, None), []);
}

#[test]
fn remarks_on_reasons_that_are_blocked_all_week() {
    assert_eq!(
        remarks("[{nodes: '0', reasons: [Drifted]}]", 5, None),
        [Remark::Blocked { reason: DisruptionReason::Drifted }]
    );
}

#[test]
fn remarks_on_windows_that_are_too_short_for_the_nodes() {
    // Disruption is allowed from 1:00 to 2:00 on Saturday only.
    let budgets = "[{nodes: '2'}, {nodes: '0', schedule: '0 2 * * sat', duration: 167h}]";
    let at_once = |minutes| Pace { per_node: Duration::from_minutes(minutes), one_at_a_time: false };
    let short = |possible, pace| {
        [DisruptionReason::Empty, DisruptionReason::Drifted, DisruptionReason::Underutilized].map(|reason| {
            Remark::TooShort {
                reason,
                start: time("2026-03-14T01:00:00Z"),
                end: time("2026-03-14T02:00:00Z"),
                possible,
                pace,
            }
        })
    };
    assert_eq!(remarks(budgets, 6, Some(at_once(20))), []);
    assert_eq!(remarks(budgets, 7, Some(at_once(20))), short(6, at_once(20)));
    assert_eq!(remarks(budgets, 7, Some(at_once(60))), short(2, at_once(60)));
    let one = Pace { per_node: Duration::from_minutes(20), one_at_a_time: true };
    assert_eq!(remarks(budgets, 6, Some(one)), short(3, one));
    assert_eq!(remarks(budgets, 7, None), []);
}

proptest! {
    #[test]
    fn the_calendar_agrees_with_the_budgets_at_every_instant(
        schedules in prop::collection::vec((0_u8..60, 0_u8..24, 1_i64..100_000, 0_u8..20), 0..4),
        offset in 0_i64..604_800,
    ) {
        let items = schedules.iter().map(|(minute, hour, seconds, nodes)| {
            format!("{{nodes: '{nodes}', schedule: '{minute} {hour} * * *', duration: {seconds}s}}")
        });
        let budgets = format!("[{}]", items.collect::<Vec<_>>().join(", "));
        with_budgets(&budgets, |budgets| {
            let now = Timestamp::from_seconds(time(FROM).seconds() + offset);
            let intervals = Calendar::of_week(budgets, time(FROM)).intervals(DisruptionReason::Empty, 10);
            let at = intervals.iter().find(|interval| interval.start <= now && now < interval.end);
            prop_assert_eq!(at.map(|interval| interval.allowance.clone()), Some(budgets.allowance(now, 10, DisruptionReason::Empty)));
            Ok(())
        })?;
    }
}
