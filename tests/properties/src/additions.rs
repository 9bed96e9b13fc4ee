//! Additions to an input: another document hides no error.
//!
//! An absence is at most a warning where the input may be incomplete, so an error never rests on what is missing, and no document
//! removes it. An error that only a complete input has may be about an absence: the document that was missing removes it.

use std::collections::BTreeMap;

use karpwarden::answers::report::{Report, ReportedPin};
use karpwarden::karpenter::release::Release;
use karpwarden::rule::classification::Severity;

use crate::input::Input;

/// The newest release of Karpenter, which a text is checked against if nothing pins another one.
pub fn newest_release() -> String {
    Release::NEWEST.to_string()
}

/// Number of errors of each rule in each document of the first file.
type Errors = BTreeMap<(&'static str, usize), usize>;

/// A text, and the errors that it has alone.
pub struct Alone<'t> {
    text: &'t str,
    errors: Errors,
    pins: Vec<ReportedPin>,
}

impl<'t> Alone<'t> {
    /// Checks a text alone, as an input that may be incomplete.
    pub fn check(text: &'t str) -> Self {
        let report = Input::parse(text).check();
        Self { text, errors: errors(&report), pins: report.pins }
    }

    /// Whether the text has any error.
    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// The errors that the text has alone and not beside another text, in an input that may be incomplete, and in a complete one.
    /// Empty if the other text pins another release of Karpenter than the one that the text is checked against. A line of the other
    /// text that begins with `#== ` names a further file.
    pub fn hidden_by(&self, added: &str) -> Vec<String> {
        let mut input = Input::parse(&format!("{}\n#== b.yaml\n{added}", self.text));
        let mut hidden = Vec::new();
        for is_complete in [false, true] {
            input.settings.complete_inventory = is_complete;
            let report = input.check();
            let is_newest = |pin: &ReportedPin| pin.checked_as == Release::NEWEST.to_string();
            if report.pins != self.pins && !report.pins.iter().all(is_newest) {
                return Vec::new();
            }
            let beside = errors(&report);
            let is_hidden = |(key, count): &(&(&'static str, usize), &usize)| {
                beside.get(*key).is_none_or(|after| after < *count)
            };
            let lost = self.errors.iter().filter(is_hidden);
            hidden.extend(lost.map(|((rule, document), _)| {
                format!("{rule} in document {document}, complete: {is_complete}")
            }));
        }
        hidden
    }
}

/// Counts the errors of a report in the first file.
fn errors(report: &Report) -> Errors {
    let mut errors = Errors::new();
    let all = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
    for finding in all.filter(|finding| finding.file == "a.yaml") {
        *errors.entry((finding.rule, finding.document)).or_default() += 1;
    }
    errors
}
