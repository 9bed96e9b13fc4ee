//! The policy's response.

use std::fmt::Write as _;

use karpwarden::manifest::json::quote;
use karpwarden::objects::object::Object;
use karpwarden::rule::finding::{Finding, Severity, shown_name};
use karpwarden::rule::settings::{Settings, SettingsProblem};

use crate::warnings::{self, Warning};

/// Answer to `validate`: `ValidationResponse` of kubewarden-policy-sdk 0.17.
#[derive(Debug, Default)]
pub struct ValidationResponse {
    /// Whether the request is accepted.
    pub accepted: bool,
    /// Reason for the rejection.
    pub message: Option<String>,
    /// The object to store instead of the one in the request, as JSON.
    pub mutated_object: Option<String>,
    /// Annotations for the audit log.
    pub audit_annotations: Vec<(&'static str, String)>,
    /// Warnings for the user who made the request.
    pub warnings: Vec<String>,
}

/// Number of findings that a rejection lists.
const MAX_LISTED: usize = 20;
/// Number of problems of the settings that an answer lists.
const MAX_PROBLEMS: usize = 20;
/// The site with the pages of the rules: `homepage` in Cargo.toml. It is empty unless whoever builds the module publishes a site, and
/// then no message names an address.
const HOMEPAGE: &str = env!("CARGO_PKG_HOMEPAGE");
/// Size of an audit annotation and of the message of a rejection, in bytes.
const MAX_TEXT: usize = 16_384;

impl ValidationResponse {
    /// A response that accepts the request, with warnings.
    pub fn accepted(notes: Vec<String>) -> Self {
        let notes: Vec<_> = notes.into_iter().map(Warning::note).collect();
        Self { accepted: true, warnings: warnings::texts(&notes).0, ..Self::default() }
    }

    /// A response that rejects the request for a reason other than findings.
    pub fn rejected(message: String) -> Self {
        Self { message: Some(bounded(message)), ..Self::default() }
    }

    /// A response that rejects an object for a reason other than findings.
    pub fn refused(message: String, settings: &Settings) -> Self {
        let note = Warning::note(format!("would be rejected: {message}"));
        let announced: Vec<_> = Some(note).filter(|_| settings.announce_errors).into_iter().collect();
        Self { warnings: warnings::texts(&announced).0, ..Self::rejected(message) }
    }

    /// The response to findings: an error rejects, a warning becomes a warning, an info goes to the audit log. Warnings that do
    /// not fit are whole in the audit log.
    pub fn of(findings: &[Finding<'_>], object: Object<'_>, settings: &Settings, notes: Vec<String>) -> Self {
        let of = |severity| findings.iter().filter(move |finding| finding.severity == severity);
        let errors: Vec<_> = of(Severity::Error).collect();
        let message = (!errors.is_empty()).then(|| refusal(&errors, object, settings));
        let announced =
            errors.iter().filter(|_| settings.announce_errors).map(|error| announced(error, object));
        let warnings = of(Severity::Warning).map(|finding| warning(finding, object));
        let notes = notes.into_iter().map(Warning::note);
        // The findings of an object may be more than fit.
        let all: Vec<Warning> = notes.chain(announced).chain(warnings).collect();
        let (warnings, is_shortened) = warnings::texts(&all);
        let mut audit_annotations = Vec::new();
        for (key, severity) in
            [("errors", Severity::Error), ("infos", Severity::Info), ("warnings", Severity::Warning)]
        {
            let names: Vec<_> = of(severity).map(|finding| name(finding, object)).collect();
            if !names.is_empty() {
                audit_annotations.push((key, bounded(names.join(", "))));
            }
        }
        if is_shortened {
            let details: Vec<_> = all.iter().map(Warning::whole).collect();
            audit_annotations.push(("details", bounded(details.join("\n"))));
        }
        Self { accepted: message.is_none(), message, mutated_object: None, audit_annotations, warnings }
    }

    /// The response as JSON. The API server chooses the status code of a rejection.
    pub fn to_json(&self) -> String {
        let mut text = format!("{{\"accepted\":{},\"message\":", self.accepted);
        match &self.message {
            Some(message) => quote(message, &mut text),
            None => text.push_str("null"),
        }
        text.push_str(",\"code\":null,\"mutated_object\":");
        text.push_str(self.mutated_object.as_deref().unwrap_or("null"));
        text.push_str(",\"audit_annotations\":");
        let annotations = self.audit_annotations.iter().map(|(key, names)| (Some(*key), names.as_str()));
        collection(['{', '}'], annotations, &mut text);
        text.push_str(",\"warnings\":");
        collection(['[', ']'], self.warnings.iter().map(|warning| (None, warning.as_str())), &mut text);
        text.push('}');
        text
    }
}

/// The start of a text that is too long.
fn bounded(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_TEXT));
    text
}

/// The problems of settings in one text.
pub(crate) fn listed(problems: &[SettingsProblem]) -> String {
    let mut texts: Vec<String> = problems.iter().take(MAX_PROBLEMS).map(ToString::to_string).collect();
    if problems.len() > MAX_PROBLEMS {
        texts.push(format!("and {} more", problems.len() - MAX_PROBLEMS));
    }
    bounded(texts.join("; "))
}

/// Writes strings as a JSON list, or as an object if they have keys; `null` if the list is empty.
fn collection<'s>(
    [open, close]: [char; 2],
    items: impl Iterator<Item = (Option<&'s str>, &'s str)>,
    text: &mut String,
) {
    let mut before = open;
    for (key, item) in items {
        text.push(core::mem::replace(&mut before, ','));
        if let Some(key) = key {
            quote(key, text);
            text.push(':');
        }
        quote(item, text);
    }
    if before == open {
        text.push_str("null");
    } else {
        text.push(close);
    }
}

/// `rule at path`
fn name(finding: &Finding<'_>, object: Object<'_>) -> String {
    let path = shown_name(&finding.place.path(object.root()));
    if path.is_empty() { finding.rule.name.to_owned() } else { format!("{} at {path}", finding.rule.name) }
}

/// Writes where a rule is described: the command, which needs no site, and the page, if there is one.
fn reference(rule: &str, homepage: &str, text: &mut String) {
    let _ = write!(text, "\n   explain: karpwarden explain {rule}");
    if !homepage.is_empty() {
        let _ = write!(text, "\n   see {}/rules/{rule}", homepage.trim_end_matches('/'));
    }
}

/// The message of a rejection. For each error: rule and path, message, help, and where the rule is described.
fn refusal(errors: &[&Finding<'_>], object: Object<'_>, settings: &Settings) -> String {
    let count = if errors.len() == 1 { "1 error".to_owned() } else { format!("{} errors", errors.len()) };
    let mut text = format!(
        "{count} in {}/{} (Karpenter {})",
        shown_name(object.kind()),
        shown_name(object.name()),
        settings.karpenter
    );
    for (index, finding) in errors.iter().take(MAX_LISTED).enumerate() {
        let _ = write!(text, "\n{}. {}\n   {}", index + 1, name(finding, object), &finding.message);
        if !&finding.help.is_empty() {
            let _ = write!(text, "\n   help: {}", &finding.help);
        }
        reference(finding.rule.name, HOMEPAGE, &mut text);
    }
    if errors.len() > MAX_LISTED {
        let _ = write!(text, "\nand {} more", errors.len() - MAX_LISTED);
    }
    bounded(text)
}

fn warning(finding: &Finding<'_>, object: Object<'_>) -> Warning {
    Warning { name: name(finding, object), message: finding.message.clone(), help: finding.help.clone() }
}

/// An error as a warning, for mode `monitor`, in which the message of a rejection is lost.
fn announced(error: &Finding<'_>, object: Object<'_>) -> Warning {
    let warning = warning(error, object);
    Warning { name: format!("would be rejected: {}", warning.name), ..warning }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_an_address_only_if_there_is_a_site() {
        let told = |homepage| {
            let mut text = String::new();
            reference("some-rule", homepage, &mut text);
            text
        };
        assert_eq!(told(""), "\n   explain: karpwarden explain some-rule");
        assert_eq!(
            told("https://rules.example/"),
            "\n   explain: karpwarden explain some-rule\n   see https://rules.example/rules/some-rule"
        );
    }
}
