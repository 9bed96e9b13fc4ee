//! `karpwarden explain NAME`: prints the page of a rule or a symptom.

use std::io::{self, Write as _};

use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::reference::page;
use karpwarden::reference::symptoms::page_of_symptom;
use lint::report::url;
use report::human;
use values::spelling::did_you_mean;

use super::arguments::{Color, Explain};
use super::status::Status;
use super::{markdown, terminal};

pub(crate) fn run(explain: &Explain, color: Color) -> io::Result<Status> {
    let page = REGISTRY.find(&explain.rule).map(page);
    let Some(page) = page.or_else(|| symptoms::find(&explain.rule).map(page_of_symptom)) else {
        let names = REGISTRY.rules().map(|rule| rule.name).chain(symptoms::names());
        let name = human::printable(&explain.rule);
        let hint = did_you_mean(&explain.rule, names);
        terminal::error(
            color,
            &format!("there is no rule or symptom `{name}`{hint}; `karpwarden rules` lists them"),
        );
        return Ok(Status::Usage);
    };
    let mut out = terminal::stdout(color);
    write!(out, "{}", markdown::render(&page, terminal::width(), color.on_stdout()))?;
    writeln!(out, "\n{}", url(&explain.rule))?;
    out.flush()?;
    Ok(Status::Clean)
}
