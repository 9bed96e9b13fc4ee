//! The calendar of each NodePool for people.

use std::io::{self, Write};

use disruption::allowance::{Allowance, DisruptionReason, PoolBudgets};
use disruption::calendar::{Calendar, CalendarInterval, WEEK};
use karpwarden::disrupt::{ClusterDisruption, PoolDisruption, SharedWeek, words};
use render::human::printable;

use super::clock::Clock;
use super::strip;
use crate::painter::{BAD, BOLD, Painter, WARN};

/// The number of intervals to list. A daily window has two a day.
const MAX_LISTED: usize = 6;

/// Writes the calendars.
pub(super) fn write(
    out: &mut dyn Write,
    answer: &ClusterDisruption<'_>,
    clock: &Clock,
    painter: Painter,
    all: bool,
) -> io::Result<()> {
    let listed = if all { usize::MAX } else { MAX_LISTED };
    for pool in &answer.pools {
        let title = format!("NodePool {}: {}", printable(pool.name), nodes(pool));
        writeln!(out, "\n{}", painter.paint(BOLD, &title))?;
        match &pool.budgets {
            Ok(budgets) => write_pool(out, answer, pool, budgets, (clock, listed), painter)?,
            Err(error) => writeln!(out, "  {}", painter.paint(BAD, &refused(&error.to_string())))?,
        }
    }
    if answer.pools.iter().any(|pool| pool.budgets.is_ok()) {
        writeln!(out, "\n  {}; times in {}", strip::LEGEND, clock.name())?;
    }
    Ok(())
}

fn refused(error: &str) -> String {
    format!("Karpenter cannot read this NodePool and disrupts nothing: {}", printable(error))
}

fn nodes(pool: &PoolDisruption<'_>) -> String {
    let unit = if pool.nodes == 1 { "node" } else { "nodes" };
    let assumed =
        if pool.is_assumed { format!(" assumed (--node-count {}=N)", pool.name) } else { String::new() };
    let unavailable = match pool.unavailable {
        0 => String::new(),
        count => format!(", {count} of them not ready or going"),
    };
    format!("{} {unit}{assumed}{unavailable}", pool.nodes)
}

fn write_pool(
    out: &mut dyn Write,
    answer: &ClusterDisruption<'_>,
    pool: &PoolDisruption<'_>,
    budgets: &PoolBudgets<'_>,
    (clock, listed): (&Clock, usize),
    painter: Painter,
) -> io::Result<()> {
    for SharedWeek { reasons, intervals } in answer.weeks(pool) {
        let Some(now) = intervals.first() else { continue };
        let reasons: Vec<&str> = reasons.into_iter().map(DisruptionReason::name).collect();
        let text = format!("{}: {}", reasons.join(", "), now_text(pool, &now.allowance));
        writeln!(out, "  {text}")?;
        if !now.allowance.error.is_empty() {
            writeln!(out, "    {}", painter.paint(BAD, &printable(&now.allowance.error)))?;
        }
        let strip = strip::strip(&intervals, pool.nodes, answer.at, clock);
        writeln!(out, "    {}\n    {}", strip.days, strip.marks)?;
        for interval in intervals.iter().take(listed) {
            writeln!(out, "    {}", interval_text(interval, budgets, clock))?;
        }
        if intervals.len() > listed {
            writeln!(out, "    and {} more changes (--all)", intervals.len() - listed)?;
        }
    }
    let calendar = Calendar::of_week(budgets, answer.at);
    let print = |time| clock.short(time);
    for remark in calendar.remarks(&answer.reasons(), pool.nodes, pool.pace) {
        let text = words::remark(&remark, budgets, pool.nodes, &print);
        writeln!(out, "  {} {text}", painter.paint(WARN, "note:"))?;
    }
    Ok(())
}

fn now_text(pool: &PoolDisruption<'_>, now: &Allowance) -> String {
    let left = pool.left(now.allowed);
    match () {
        () if now.is_unlimited() => "no limit now".to_owned(),
        () if left == now.allowed => format!("{left} now"),
        () => format!("{left} now: the budgets allow {}, and {} are used up", now.allowed, pool.unavailable),
    }
}

fn interval_text(interval: &CalendarInterval, budgets: &PoolBudgets<'_>, clock: &Clock) -> String {
    let allowance = &interval.allowance;
    let number = if allowance.is_unlimited() { "no limit".to_owned() } else { allowance.allowed.to_string() };
    let by = allowance.decided_by.map_or("no budget is active".to_owned(), |id| words::budget(budgets, id));
    let is_whole = interval.end.since(interval.start) >= WEEK;
    let (start, end) = (clock.short(interval.start), clock.short(interval.end));
    let period = if is_whole { "all week".to_owned() } else { format!("{start} to {end}") };
    format!("{period:<22}  {number:<8}  {by}")
}
