//! The reference: a page for each rule and symptom and an index, made from what they say of themselves.

pub mod catalog;
#[cfg(feature = "symptoms")]
pub mod symptoms;

use std::fmt::Write as _;

use lint::finding::{CaughtBy, Family};
use lint::rule::{Fixes, Rule};

use crate::rules::documentation;
use catalog::Entry;

/// A page of the reference: its file name, and its text as Markdown.
pub type Page = (String, String);

/// The page of a rule: its title, its facts, its documentation.
pub fn page(rule: &Rule) -> String {
    format!("# {}\n\n{}.\n\n{}\n{}", rule.name, sentence(rule.summary), facts(rule), documentation(rule))
}

/// The facts of a rule as a list.
fn facts(rule: &Rule) -> String {
    let mut list = String::new();
    let _ = writeln!(list, "- Family: `{}`", rule.family.name());
    let _ = writeln!(list, "- Severity: {}", rule.severity);
    let _ = writeln!(list, "- Caught otherwise by: {}", caught_by(rule.caught_by));
    let _ = writeln!(list, "- Releases: {}", rule.releases);
    let fix = match rule.fix {
        Fixes::None => "none",
        Fixes::Safe => "safe, made by `karpwarden check --fix`",
        Fixes::Unsafe => "offered, to be looked at first",
    };
    let _ = writeln!(list, "- Fix: {fix}");
    if rule.upgrade_only {
        list.push_str("- Asked only by: `karpwarden upgrade`\n");
    }
    list
}

fn caught_by(who: CaughtBy) -> &'static str {
    match who {
        CaughtBy::ApiServer => "the API server, which refuses the object",
        CaughtBy::Controller => "the controller, which fails after the object was accepted",
        CaughtBy::Nobody => "nobody",
    }
}

fn sentence(summary: &str) -> String {
    let mut letters = summary.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The index of some entries, by family.
pub fn index(entries: &[Entry]) -> String {
    let mut text = String::from(
        "# Rules\n\nMade from the rules' own documentation; `UPDATE_DOCS=1 cargo test --test docs` writes it anew.\n",
    );
    for family in Family::ALL {
        let of_family: Vec<&Entry> = entries.iter().filter(|entry| entry.family == family).collect();
        if of_family.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n## {}\n", family.name());
        text.push_str("| rule | severity | releases | fix | what is wrong |\n|---|---|---|---|---|\n");
        for Entry { name, severity, releases, fix, summary, .. } in of_family {
            let summary = summary.replace('|', "\\|");
            let _ = writeln!(text, "| [{name}]({name}.md) | {severity} | {releases} | {fix} | {summary} |");
        }
    }
    text
}
