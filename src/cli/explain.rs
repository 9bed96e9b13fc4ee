//! `karpwarden explain RULE`: a rule's page in the terminal.

use std::io::{self, Write as _};

use karpwarden::report::docs::page;
use karpwarden::report::{human, url};
use karpwarden::rules;
use karpwarden::spelling::did_you_mean;

use super::arguments::{Color, Explain};
use super::{Status, markdown, terminal};

pub(crate) fn run(explain: &Explain, color: Color) -> io::Result<Status> {
    let Some(rule) = rules::find(&explain.rule) else {
        let name = human::printable(&explain.rule);
        let hint = did_you_mean(&explain.rule, rules::all().map(|rule| rule.name));
        terminal::error(color, &format!("there is no rule `{name}`{hint}; `karpwarden rules` lists them"));
        return Ok(Status::Usage);
    };
    let mut out = terminal::stdout(color);
    write!(out, "{}", markdown::render(&page(rule), terminal::width(), color.on_stdout()))?;
    writeln!(out, "\n{}", url(rule.name))?;
    out.flush()?;
    Ok(Status::Clean)
}
