//! `karpwarden rules`: lists the rules and symptoms.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use karpwarden::reference::symptoms::with_symptoms;
use rule::Fixes;
use rule::finding::Severity;

use super::arguments::RulesArguments;
use super::form::{Color, ListFormat};
use super::safe_writer::Escaping;
use super::status::Status;
use super::terminal;

pub(crate) fn run(rules: &RulesArguments, color: Color) -> io::Result<Status> {
    let escaping = match rules.format {
        ListFormat::Json => Escaping::Json,
        ListFormat::Human => Escaping::Symbol,
    };
    let mut out = terminal::stdout_as(color, escaping);
    match rules.format {
        ListFormat::Json => writeln!(out, "{}", serde_json::to_string(&with_symptoms())?)?,
        ListFormat::Human => table(&mut out)?,
    }
    out.flush()?;
    Ok(Status::Clean)
}

fn table(out: &mut dyn Write) -> io::Result<()> {
    const HEADER: Style = Style::new().bold();
    const DIM: Style = Style::new().dimmed();
    let entries = with_symptoms();
    let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or_default();
    let releases_width = entries.iter().map(|entry| entry.releases.len()).max().unwrap_or_default();
    let mut family = None;
    for entry in &entries {
        if family != Some(entry.family) {
            let gap = if family.is_some() { "\n" } else { "" };
            writeln!(out, "{gap}{HEADER}{}{HEADER:#}", entry.family.name())?;
            family = Some(entry.family);
        }
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
            "  {name:width$}  {style}{severity:7}{style:#}  {DIM}{releases:releases_width$}{DIM:#}  {fix:3}  {summary}"
        )?;
    }
    Ok(())
}
