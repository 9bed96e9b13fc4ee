//! The fixes that rules offer for the findings in a report.

use std::collections::BTreeMap;

use answers::report::{Report, ReportedFinding};
use cluster::input_object::InputObject;
use rule::finding::Finding;
use rule::fix::Fix;

use crate::objects::ObjectId;
use crate::tally::FindingTally;

/// Counts of the findings of an object, by rule.
pub(crate) type RuleTally = FindingTally<&'static str>;

/// A finding in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FindingId(usize);

impl FindingId {
    /// The finding that the caller adds to a report next.
    pub(crate) fn next(report: &Report) -> Self {
        Self(report.findings.len())
    }

    /// The finding.
    pub(crate) fn finding(self, report: &mut Report) -> Option<&mut ReportedFinding> {
        let finding = report.findings.get_mut(self.0);
        debug_assert!(finding.is_some(), "{self:?} is of another report");
        finding
    }
}

/// A fix of a finding in the report.
#[derive(Debug)]
pub(crate) struct Offer<'d> {
    pub(crate) finding: FindingId,
    pub(crate) id: ObjectId,
    pub(crate) object: InputObject<'d>,
    pub(crate) rule: &'static str,
    pub(crate) fix: Fix<'d>,
}

/// The fixes of a check, and the findings of the objects with fixes.
#[derive(Debug, Default)]
pub(crate) struct Offers<'d> {
    pub(crate) offers: Vec<Offer<'d>>,
    /// The findings of the objects without any fix.
    pub(crate) before: BTreeMap<ObjectId, RuleTally>,
}

impl<'d> Offers<'d> {
    /// Counts the findings of an object, if any of them has a fix.
    pub(crate) fn count(&mut self, object: ObjectId, findings: &[Finding<'d>]) {
        if findings.iter().any(|finding| finding.fix.is_some()) {
            self.before.insert(object, FindingTally::by_rule(findings));
        }
    }

    pub(crate) fn add(&mut self, offer: Offer<'d>) {
        self.offers.push(offer);
    }
}
