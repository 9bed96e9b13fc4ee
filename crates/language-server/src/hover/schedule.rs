//! The coming week of a budget.

use disruption::allowance::PoolBudgets;
use disruption::calendar::WEEK;
use objects::node_pool::NodePool;
use objects::object::Object;
use values::cron::Opening;
use values::timestamp::Timestamp;

use super::{HoverQuestion, item_at};
use crate::outline::EntryStep;

const BUDGETS: [&str; 3] = ["spec", "disruption", "budgets"];

/// The number of windows to list.
const LISTED: usize = 14;

const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/// The windows of the budget whose schedule or duration is at a path.
pub(super) fn week(
    question: &HoverQuestion<'_>,
    object: Object<'_>,
    path: &[EntryStep<'_>],
) -> Option<String> {
    let index = item_at(path, &BUDGETS)?;
    if !matches!(path.last(), Some(EntryStep::Key("schedule" | "duration"))) {
        return None;
    }
    let budgets = PoolBudgets::parse(NodePool::of(object)?, question.release).ok()?;
    let budget = budgets.ids().find(|id| id.index() == index).filter(|id| budgets.has_window(*id))?;
    if budgets.is_broken(budget) {
        return Some("Karpenter cannot evaluate this schedule, and disrupts nothing\n".to_owned());
    }
    let (start, end) = (question.now, question.now.plus(WEEK));
    let openings = budgets.openings(budget, start, end);
    let nodes = budgets.nodes(budget);
    if openings.is_empty() {
        let next = budgets.next_run(budget, question.now);
        let next = next.map_or("never".to_owned(), |next| format!("next {}", shown(next)));
        return Some(format!("Not active in the coming week, {next}\n"));
    }
    let mut lines = vec![format!("`nodes: {nodes}` in the coming week (UTC):\n")];
    lines.extend(openings.iter().take(LISTED).map(|opening| window(opening, start, end)));
    if openings.len() > LISTED {
        lines.push(format!("- and {} more", openings.len() - LISTED));
    }
    Some(lines.join("\n") + "\n")
}

fn window(opening: &Opening, start: Timestamp, end: Timestamp) -> String {
    let from = if opening.start <= start { "now".to_owned() } else { shown(opening.start) };
    let to = if opening.end >= end { "beyond the week".to_owned() } else { shown(opening.end) };
    format!("- {from} to {to}")
}

/// `Mon 2026-11-30 09:00`.
fn shown(time: Timestamp) -> String {
    let minute = time.minute();
    let day = minute.day();
    let weekday = WEEKDAYS.get(usize::from(day.weekday())).copied().unwrap_or_default();
    let (hour, rest) = (minute.of_day() / 60, minute.of_day() % 60);
    format!("{weekday} {} {hour:02}:{rest:02}", day.date())
}
