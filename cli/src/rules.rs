//! `karpwarden rules`: lists the rules and symptoms.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use answers::catalog::CatalogEntry;
use karpwarden::reference::symptoms::with_symptoms;
use rule::Fixes;
use rule::finding::Severity;
use values::spelling::did_you_mean_name;

use super::arguments::RulesArguments;
use super::explain;
use super::form::{Color, ListFormat};
use super::safe_writer::Escaping;
use super::status::Status;
use super::terminal;

pub(crate) fn run(rules: &RulesArguments, color: Color) -> io::Result<Status> {
    let escaping = match rules.format {
        ListFormat::Json => Escaping::Json,
        ListFormat::Human => Escaping::Symbol,
    };
    let words = rules.search.as_deref();
    let all = with_symptoms();
    let names: Vec<&str> = all.iter().map(|entry| entry.name).collect();
    let entries = match words {
        Some(words) => found(words, all),
        None => all,
    };
    let mut out = terminal::stdout_as(color, escaping);
    match rules.format {
        ListFormat::Json => writeln!(out, "{}", serde_json::to_string(&entries)?)?,
        ListFormat::Human => table(&mut out, &entries, words.is_none())?,
    }
    out.flush()?;
    if let Some(words) = words.filter(|_| entries.is_empty()) {
        let hint = did_you_mean_name(words, names.iter().copied());
        terminal::note(color, &format!("no rule and no symptom has `{words}`{hint}"));
    }
    Ok(Status::Clean)
}

/// The entries that have all words, the best matches first.
fn found(words: &str, entries: Vec<CatalogEntry>) -> Vec<CatalogEntry> {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let mut ranked: Vec<(usize, CatalogEntry)> = entries
        .into_iter()
        .filter_map(|entry| {
            let page = explain::page_of(entry.name).unwrap_or_default().to_lowercase();
            let ranks: Option<Vec<usize>> = words.iter().map(|word| rank(word, &entry, &page)).collect();
            ranks.map(|ranks| (ranks.iter().sum(), entry))
        })
        .collect();
    // Entries of one rank keep the order of the catalogue.
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, entry)| entry).collect()
}

/// Rank of the place where an entry has a word: its whole name, a word of its name, a part of its name, its summary or
/// family, or its page. `None` if the entry does not have the word.
fn rank(word: &str, entry: &CatalogEntry, page: &str) -> Option<usize> {
    let is_in_summary = || entry.summary.to_lowercase().contains(word) || entry.family.name() == word;
    match entry.name {
        name if name == word => Some(0),
        name if name.split('-').any(|part| part == word) => Some(1),
        name if name.contains(word) => Some(2),
        _ if is_in_summary() => Some(3),
        _ => page.contains(word).then_some(4),
    }
}

/// Prints the entries, in groups of their families or in the order of a search.
fn table(out: &mut dyn Write, entries: &[CatalogEntry], is_grouped: bool) -> io::Result<()> {
    const HEADER: Style = Style::new().bold();
    const DIM: Style = Style::new().dimmed();
    let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or_default();
    let releases_width = entries.iter().map(|entry| entry.releases.len()).max().unwrap_or_default();
    let mut family = None;
    for entry in entries {
        if is_grouped && family != Some(entry.family) {
            let gap = if family.is_some() { "\n" } else { "" };
            writeln!(out, "{gap}{HEADER}{}{HEADER:#}", entry.family.name())?;
            family = Some(entry.family);
        }
        let indent = if is_grouped { "  " } else { "" };
        let style = match entry.severity {
            Severity::Error => AnsiColor::Red.on_default(),
            Severity::Warning => AnsiColor::Yellow.on_default(),
            Severity::Info => AnsiColor::Cyan.on_default(),
        };
        let (name, severity, summary) = (entry.name, entry.severity, entry.summary);
        let releases = &entry.releases;
        let fix = if entry.fix == Fixes::Safe { "fix" } else { "" };
        writeln!(
            out,
            "{indent}{name:width$}  {style}{severity:7}{style:#}  {DIM}{releases:releases_width$}{DIM:#}  {fix:3}  {summary}"
        )?;
    }
    Ok(())
}
