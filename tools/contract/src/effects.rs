//! The tables of `docs/plan.md`: the effects, and the fields with their effects.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use karpwarden::Kind;
use karpwarden::drift::{Effect, FIELD_EFFECTS};

/// The page.
const PAGE: &str = "docs/plan.md";

const EFFECTS: [Effect; 7] = [
    Effect::ReplacesAll,
    Effect::ReplacesSome,
    Effect::RemovesNodes,
    Effect::Unknown,
    Effect::ActsAtOnce,
    Effect::NewNodes,
    Effect::None,
];

/// The page with its tables.
pub(crate) fn page() -> Result<(String, String), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let text = fs::read_to_string(path).map_err(|error| format!("{PAGE}: {error}"))?.replace("\r\n", "\n");
    let text = with_table(&text, "effects", &effects())?;
    Ok((PAGE.to_owned(), with_table(&text, "fields", &fields())?))
}

/// Replaces the text between the marks of a table.
fn with_table(text: &str, name: &str, table: &str) -> Result<String, String> {
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let missing = || format!("{PAGE} has no table `{name}`");
    let (before, rest) = text.split_once(&start).ok_or_else(missing)?;
    let (_, after) = rest.split_once(&end).ok_or_else(missing)?;
    Ok(format!("{before}{start}\n{table}\n{end}{after}"))
}

fn effects() -> String {
    EFFECTS.iter().fold("| effect | Karpenter |\n|---|---|\n".to_owned(), |mut table, effect| {
        let _ = writeln!(table, "| `{}` | {} |", effect.name(), effect.words());
        table
    })
}

fn fields() -> String {
    let head = "| kind | field | effect | reason | what a change does |\n|---|---|---|---|---|\n";
    FIELD_EFFECTS.iter().fold(head.to_owned(), |mut table, row| {
        let reason = row.reason.map(|reason| format!("`{}`", reason.name())).unwrap_or_default();
        // The last row of a kind has every other field of its spec.
        let is_rest = row.path == "spec" && row.kind != Kind::NODE_OVERLAY;
        let others = if is_rest { " (every other field)" } else { "" };
        let _ = writeln!(
            table,
            "| {} | `{}`{others} | `{}` | {reason} | {} |",
            row.kind.name,
            row.path,
            row.effect.name(),
            row.sentence
        );
        table
    })
}
