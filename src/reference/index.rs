//! Index of the reference.

use std::fmt::Write as _;

use answers::catalog::CatalogEntry;
use rule::finding::Family;

/// Index of rules and symptoms as Markdown, with a table for each family.
pub fn index(entries: &[CatalogEntry]) -> String {
    let mut text = String::from(
        "# Rules\n\nGenerated from the documentation of the rules; `make generate` updates it.\n",
    );
    for family in Family::ALL {
        let members: Vec<&CatalogEntry> = entries.iter().filter(|entry| entry.family == family).collect();
        if members.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n## {}\n", family.name());
        text.push_str("| rule | severity | releases | fix | problem |\n|---|---|---|---|---|\n");
        for CatalogEntry { name, severity, releases, fix, summary, .. } in members {
            let summary = summary.replace('|', "\\|");
            let _ = writeln!(
                text,
                "| [{name}]({name}.md) | {severity} | {releases} | {} | {summary} |",
                fix.name()
            );
        }
    }
    text
}
