//! Findings as diagnostics.

use answers::report::{RelatedLocation, ReportedFinding, Unreadable};
use lsp_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString,
    Range, Uri,
};
use manifest::source::Span;
use rule::classification::Severity;

use crate::actions::page_address;
use crate::client::Client;
use crate::lines::PositionUnit;
use crate::workspace::{Checked, CheckedFile, ConfigProblem};

/// The name of the program at each diagnostic.
const SOURCE: &str = "karpwarden";

/// The results of a check, as an editor sees them.
#[derive(Clone, Copy)]
pub(crate) struct Results<'s> {
    pub(crate) checked: &'s Checked,
    pub(crate) client: Client,
}

/// A finding in a document.
pub(crate) struct Found<'s> {
    pub(crate) finding: &'s ReportedFinding,
    pub(crate) range: Range,
}

impl<'s> Results<'s> {
    /// The name of a file in the report, and the file.
    pub(crate) fn file(self, uri: &Uri) -> Option<(&'s str, &'s CheckedFile)> {
        let mut files = self.checked.files.iter().map(|(name, file)| (name.as_str(), file));
        files.find(|(_, file)| file.uri == *uri)
    }

    /// The findings in a file.
    pub(crate) fn findings(self, name: &str, file: &CheckedFile) -> impl Iterator<Item = Found<'s>> {
        let own = self.checked.report.findings.iter().filter(move |finding| finding.file == name);
        own.map(move |finding| {
            let start = finding.position.offset.unwrap_or_default();
            let end = finding.position.end_offset.unwrap_or(start);
            Found { finding, range: file.range(start, end, self.client.unit) }
        })
    }

    /// The diagnostics of a file: its findings, and the documents that cannot be read although they may be about Karpenter.
    pub(crate) fn diagnostics(self, uri: &Uri) -> Vec<Diagnostic> {
        let Some((name, file)) = self.file(uri) else { return Vec::new() };
        let found = self.findings(name, file).map(|found| self.diagnostic(&found));
        let unreadable = self.checked.report.unreadable.iter();
        let unreadable = unreadable.filter(|one| one.file == name && one.concerns_karpenter);
        found.chain(unreadable.map(|one| cannot_be_read(one, file, self.client.unit))).collect()
    }

    /// A finding as a diagnostic.
    pub(crate) fn diagnostic(self, found: &Found<'_>) -> Diagnostic {
        let finding = found.finding;
        let page = page_address(&finding.url).filter(|_| self.client.opens_pages);
        let related: Vec<_> = finding.related.iter().filter_map(|place| self.related(place)).collect();
        Diagnostic {
            range: found.range,
            severity: Some(match finding.severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
                Severity::Info => DiagnosticSeverity::INFORMATION,
            }),
            code: Some(NumberOrString::String(finding.rule.to_owned())),
            code_description: page.map(|href| CodeDescription { href }),
            related_information: (self.client.shows_related && !related.is_empty()).then_some(related),
            ..diagnostic(found.range, message(finding))
        }
    }

    fn related(self, place: &RelatedLocation) -> Option<DiagnosticRelatedInformation> {
        let file = self.checked.files.get(&place.file)?;
        let start = place.offset?;
        let range = file.range(start, place.end_offset.unwrap_or(start), self.client.unit);
        let location = Location { uri: file.uri.clone(), range };
        Some(DiagnosticRelatedInformation { location, message: place.message.clone() })
    }
}

/// An error in a config file as a diagnostic.
pub(crate) fn of_config(problem: &ConfigProblem, unit: PositionUnit) -> Diagnostic {
    diagnostic(problem.file.range_of(problem.span, unit), problem.message.clone())
}

fn cannot_be_read(unreadable: &Unreadable, file: &CheckedFile, unit: PositionUnit) -> Diagnostic {
    let byte = file.source.byte_of(unreadable.line, unreadable.column);
    let message = format!("this document is not checked: {}", unreadable.message);
    diagnostic(file.range_of(Span::new(byte, byte), unit), message)
}

/// An error.
fn diagnostic(range: Range, message: String) -> Diagnostic {
    Diagnostic {
        range,
        severity: Some(DiagnosticSeverity::ERROR),
        source: Some(SOURCE.to_owned()),
        message,
        ..Diagnostic::default()
    }
}

fn message(finding: &ReportedFinding) -> String {
    if finding.help.is_empty() {
        finding.message.clone()
    } else {
        format!("{}\n{}", finding.message, finding.help)
    }
}
