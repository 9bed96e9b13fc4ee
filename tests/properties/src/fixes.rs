//! Fixes: the result parses, the finding is gone, no error is new, and a second run changes nothing.

use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::answers::report::{Report, ReportedFinding};
use karpwarden::engine::apply::{WantedFixes, apply_fixes};
use karpwarden::manifest::edit::{TextEdit, apply};
use karpwarden::manifest::source::Span;

use crate::input::{Input, LIMITS};

/// Maximum number of fixes of an input that are tried alone.
const TRIED: usize = 4;

/// Applies the fixes of the findings in files, one at a time and together.
pub fn assert_fixes(text: &str) {
    let input = Input::parse(text);
    let before = input.check();
    for finding in before.findings.iter().filter(|finding| finding.fix.is_some()).take(TRIED) {
        assert_fix(&input, &before, finding);
    }
    assert_all_safe_fixes(input, &before);
}

/// Applies one fix alone, as an editor does.
fn assert_fix(input: &Input, before: &Report, finding: &ReportedFinding) {
    let fixed = input.with_texts(|file| {
        let edits = finding.fix.iter().flat_map(|fix| &fix.edits);
        let edits = edits.filter(|edit| edit.file == file.source.name()).map(|edit| TextEdit {
            span: Span::new(file.source.byte_at(edit.offset), file.source.byte_at(edit.end_offset)),
            text: edit.text.clone(),
        });
        apply(file.source.text(), &edits.collect::<Vec<_>>())
    });
    let after = fixed.check();
    assert_no_worse(before, &after, &fixed);
    let count =
        |report: &Report| report.findings.iter().filter(|other| group(other) == group(finding)).count();
    let texts = texts(&fixed);
    assert!(count(&after) < count(before), "{finding:?} stays in {texts:?}: {}", after.to_json());
}

/// Applies all safe fixes, as `--fix` does. A second run changes nothing.
fn assert_all_safe_fixes(mut input: Input, before: &Report) {
    let Input { clusters, settings } = &mut input;
    if apply_fixes(&REGISTRY, clusters, settings, &LIMITS, WantedFixes::Safe).applied == 0 {
        return;
    }
    assert_no_worse(before, &input.check(), &input);
    let fixed = texts(&input);
    let Input { clusters, settings } = &mut input;
    let again = apply_fixes(&REGISTRY, clusters, settings, &LIMITS, WantedFixes::Safe);
    assert_eq!((again.applied, texts(&input)), (0, fixed));
}

fn texts(input: &Input) -> Vec<String> {
    input.files().iter().map(|file| file.source.text().to_owned()).collect()
}

/// Checks that the same documents can be read, and that there are not more errors. A fix can uncover an error behind the
/// error that it removes, and another rule can explain the rest of several problems.
fn assert_no_worse(before: &Report, after: &Report, fixed: &Input) {
    let counts = |report: &Report| (report.summary.documents, report.unreadable.len());
    assert_eq!(counts(before), counts(after), "{:?}", texts(fixed));
    let (were, are) = (before.summary.errors, after.summary.errors);
    assert!(are <= were, "{:?}: {} becomes {}", texts(fixed), before.to_json(), after.to_json());
}

/// Rule, file and document of a finding. A fix can move the findings of a document.
fn group(finding: &ReportedFinding) -> (&'static str, &str, usize) {
    (finding.rule, finding.file.as_str(), finding.document)
}
