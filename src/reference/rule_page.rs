//! Page of a rule.

use std::fmt::Write as _;

use render::words::caught_by;
use rule::{Fixes, Rule, Runs};

use crate::rules::documentation;

/// Page of a rule as Markdown: title, facts and documentation.
pub fn page(rule: &Rule) -> String {
    format!("# {}\n\n{}.\n\n{}\n{}", rule.name, sentence(rule.summary), facts(rule), documentation(rule))
}

/// Facts of a rule as a list.
fn facts(rule: &Rule) -> String {
    let mut list = String::new();
    let _ = writeln!(list, "- Family: `{}`", rule.family.name());
    let _ = writeln!(list, "- Severity: {}", rule.severity);
    let _ = writeln!(list, "- Otherwise caught by: {}", caught_by(rule.caught_by));
    let _ = writeln!(list, "- Releases: {}", rule.releases);
    let fix = match rule.fix {
        Fixes::None => "none",
        Fixes::Safe => "safe, applied by `karpwarden check --fix`",
        Fixes::Unsafe => "unsafe, offered for review",
    };
    let _ = writeln!(list, "- Fix: {fix}");
    if rule.opt_in {
        list.push_str("- Runs only if selected: `--select`, or a level under its name in the settings\n");
    }
    if rule.runs == Runs::OnUpgrade {
        list.push_str("- Runs only under: `karpwarden upgrade`\n");
    }
    list
}

/// Text with a capital first letter.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
