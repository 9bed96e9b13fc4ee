//! `karpwarden explain NAME…`: prints the pages of rules and symptoms, and the rules of families.

use std::fmt::Write as _;
use std::io::Write as _;

use answers::report::url;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::reference::page;
use karpwarden::reference::symptoms::{page_of_symptom, with_symptoms};
use render::human;
use rule::finding::Family;
use values::spelling::did_you_mean_name;

use super::arguments::ExplainArguments;
use super::error::CommandError;
use super::form::Color;
use super::status::Status;
use super::{markdown, terminal};

pub(crate) fn run(explain: &ExplainArguments, color: Color) -> Result<Status, CommandError> {
    let mut pages = Vec::new();
    let mut is_valid = true;
    for name in &explain.names {
        match page_of(name) {
            Ok(page) => pages.push(page),
            Err(error) => {
                terminal::error(color, &error.to_string());
                is_valid = false;
            }
        }
    }
    if !is_valid {
        return Err(CommandError::Printed);
    }
    let mut out = terminal::stdout(color);
    for (index, page) in pages.iter().enumerate() {
        let gap = if index > 0 { "\n\n" } else { "" };
        write!(out, "{gap}{}", markdown::render(page, terminal::width(), color.on_stdout()))?;
    }
    out.flush()?;
    Ok(Status::Clean)
}

/// Page of a rule, a symptom or a family as Markdown, or an error that suggests the nearest name.
pub(crate) fn page_of(name: &str) -> Result<String, CommandError> {
    if let Some(family) = Family::ALL.into_iter().find(|family| family.name() == name) {
        return Ok(page_of_family(family));
    }
    if REGISTRY.families().contains(&name) {
        return Ok(page_of_former_family(name));
    }
    let page = REGISTRY.find(name).map(page);
    if let Some(page) = page.or_else(|| symptoms::find(name).map(page_of_symptom)) {
        return Ok(with_address(page, name));
    }
    let rules = REGISTRY.rules().map(|rule| rule.name);
    let names: Vec<&str> = rules.chain(symptoms::names()).chain(Family::ALL.map(Family::name)).collect();
    let hint = did_you_mean_name(name, names.iter().copied());
    let name = human::printable(name);
    let text = format!("there is no rule, symptom or family `{name}`{hint}; `karpwarden rules` lists them");
    Err(CommandError::Usage(text))
}

/// A page, and its address on the published site, if there is one.
fn with_address(mut page: String, name: &str) -> String {
    let address = url(name);
    if !address.is_empty() {
        let _ = writeln!(page, "\n{address}");
    }
    page
}

/// List of the rules that belonged to a family that exists no longer.
fn page_of_former_family(name: &str) -> String {
    let mut text = format!(
        "# {name}\n\nA family that exists no longer. Settings that name it still select its rules.\n\n"
    );
    for rule in REGISTRY.rules().filter(|rule| rule.names().is_in(name)) {
        let _ = writeln!(
            text,
            "- `{}` ({}, now `{}`): {}",
            rule.name,
            rule.severity,
            rule.family.name(),
            rule.summary
        );
    }
    with_address(text, "")
}

/// Description of a family, and a list of its members.
fn page_of_family(family: Family) -> String {
    let mut text = format!("# {}\n\n{}.\n\n", family.name(), family.description());
    for entry in with_symptoms().iter().filter(|entry| entry.family == family) {
        let _ = writeln!(text, "- `{}` ({}): {}", entry.name, entry.severity, entry.summary);
    }
    text.push_str(&moved_rules(family.name()));
    with_address(text, "")
}

/// The rules that left a family, which settings that name the family still select.
fn moved_rules(family: &str) -> String {
    let mut text = String::new();
    for rule in REGISTRY.rules().filter(|rule| rule.formerly.contains(&family)) {
        let lead = if text.is_empty() {
            "\nRules that left this family; settings that name it still select them:\n\n"
        } else {
            ""
        };
        let (name, severity, summary) = (rule.name, rule.severity, rule.summary);
        let _ = writeln!(text, "{lead}- `{name}` ({severity}, now `{}`): {summary}", rule.family.name());
    }
    text
}
