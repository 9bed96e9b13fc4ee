//! Counts of findings by rule, to limit their number and to compare them before and after a fix.

use std::collections::BTreeMap;

use rule::classification::Severity;
use rule::finding::Finding;

/// Maximum number of findings of one rule and one severity in the answer to an admission request. Nobody reads more, and an object
/// of 2 MB could have tens of thousands.
const MAX_OF_RULE: usize = 1_000;

/// Keeps the first findings of each rule and severity.
pub(crate) fn keep_first(findings: &mut Vec<Finding<'_>>) {
    let mut numbers = BTreeMap::<(&str, Severity), usize>::new();
    findings.retain(|finding| {
        let number = numbers.entry((finding.rule.name, finding.severity)).or_default();
        *number += 1;
        *number <= MAX_OF_RULE
    });
}

/// Why a fix does not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FixFailure {
    /// The finding of the fix stays.
    #[error("it would not resolve the finding")]
    NotResolved,
    /// Something else has an error that it did not have.
    #[error("it would introduce another error")]
    NewError,
    /// Something else has a warning that it did not have.
    #[error("it would lead to another warning")]
    NewWarning,
    /// The text no longer parses, or as other documents.
    #[error("it would make the file unreadable")]
    Unreadable,
    /// So many other fixes failed that the fix was not tried.
    #[error("too many other fixes in this run failed")]
    TooManyTrials,
}

/// Numbers of findings, of warnings and of errors by key. Findings with the same key differ only in location, which a fix can move.
#[derive(Clone, Debug)]
pub struct FindingTally<K>(BTreeMap<K, Counts>);

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    findings: usize,
    /// Errors and warnings.
    problems: usize,
    errors: usize,
}

impl FindingTally<&'static str> {
    /// Counts the findings of an object by rule.
    pub fn by_rule(findings: &[Finding<'_>]) -> Self {
        Self::of(findings.iter().map(|finding| (finding.rule.name, finding.severity)))
    }
}

impl<K: Ord> FindingTally<K> {
    /// Counts findings.
    pub fn of(findings: impl Iterator<Item = (K, Severity)>) -> Self {
        let mut counts = BTreeMap::<K, Counts>::new();
        for (key, severity) in findings {
            let counts = counts.entry(key).or_default();
            counts.findings += 1;
            counts.problems += usize::from(severity <= Severity::Warning);
            counts.errors += usize::from(severity == Severity::Error);
        }
        Self(counts)
    }

    fn get(&self, key: &K) -> Counts {
        self.0.get(key).copied().unwrap_or_default()
    }

    /// Whether fixes of findings with these keys leave the findings that `after` counts: the fixed findings are gone, and
    /// there is no new error or warning.
    pub fn allows(&self, after: &Self, fixed: impl Iterator<Item = K>) -> Result<(), FixFailure> {
        if after.0.iter().any(|(key, counts)| counts.errors > self.get(key).errors) {
            return Err(FixFailure::NewError);
        }
        if after.0.iter().any(|(key, counts)| counts.problems > self.get(key).problems) {
            return Err(FixFailure::NewWarning);
        }
        let mut expected = BTreeMap::<K, usize>::new();
        for key in fixed {
            *expected.entry(key).or_default() += 1;
        }
        let is_gone =
            |(key, number): (&K, &usize)| after.get(key).findings + number <= self.get(key).findings;
        if expected.iter().all(is_gone) { Ok(()) } else { Err(FixFailure::NotResolved) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ARN, tree};

    #[test]
    fn keeps_as_many_findings_of_a_rule_and_severity_as_somebody_reads() {
        let tree = tree("a: 1\n");
        let finding = |severity| Finding::at(&ARN, tree.root(), "an ARN").severity(severity);
        let mut findings: Vec<_> = (0..=MAX_OF_RULE).map(|_| finding(Severity::Error)).collect();
        findings.push(finding(Severity::Warning));
        keep_first(&mut findings);
        let warnings = findings.iter().filter(|finding| finding.severity == Severity::Warning);
        assert_eq!((findings.len(), warnings.count()), (MAX_OF_RULE + 1, 1));
    }

    #[test]
    fn allows_fixes_whose_findings_are_gone_without_a_new_error() {
        let tally = |rules: &[(&'static str, Severity)]| FindingTally::of(rules.iter().copied());
        let before = tally(&[("a", Severity::Error), ("a", Severity::Warning), ("b", Severity::Info)]);
        let judged = |after: &[(&'static str, Severity)]| before.allows(&tally(after), ["a"].into_iter());
        assert_eq!(judged(&[("a", Severity::Warning), ("b", Severity::Info)]), Ok(()));
        assert_eq!(judged(&[("a", Severity::Warning), ("c", Severity::Info)]), Ok(()));
        assert_eq!(
            judged(&[("a", Severity::Warning), ("a", Severity::Warning)]),
            Err(FixFailure::NotResolved)
        );
        assert_eq!(judged(&[("c", Severity::Error)]), Err(FixFailure::NewError));
        assert_eq!(judged(&[("c", Severity::Warning)]), Err(FixFailure::NewWarning));
        assert_eq!(judged(&[("b", Severity::Error)]), Err(FixFailure::NewError));
    }
}
