//! The fixes that rules offer for the findings in a report.

use core::fmt::Write as _;
use std::collections::BTreeMap;

use answers::report::{Report, ReportedFinding};
use cluster::input_object::InputObject;
use objects::object::Object;
use rule::finding::{Finding, shown_name};
use rule::fix::Fix;

use crate::locations::{RootKey, key_of};
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
    pub(crate) all: Vec<Offer<'d>>,
    /// The findings of the objects without any fix.
    pub(crate) before: BTreeMap<ObjectId, RuleTally>,
    /// The objects and rules with a fix that has partners, also if an equal finding is shown, and whether all these fixes are safe.
    paired: BTreeMap<(RootKey, &'static str), bool>,
}

impl<'d> Offers<'d> {
    /// Counts the findings of an object, if any of them has a fix.
    pub(crate) fn count(&mut self, id: ObjectId, object: Object<'d>, findings: &[Finding<'d>]) {
        if findings.iter().any(|finding| finding.fix.is_some()) {
            self.before.insert(id, FindingTally::by_rule(findings));
        }
        for finding in findings {
            let Some(fix) = finding.fix.as_ref().filter(|fix| !fix.partners.is_empty()) else { continue };
            let safe = self.paired.entry((key_of(object.root()), finding.rule.name)).or_insert(true);
            *safe &= fix.safe;
        }
    }

    /// The fixes that the findings of all their partners offer too, each as safe as the least safe one. Says in the other findings why
    /// they have no fix.
    pub(crate) fn of_all_partners(&mut self, report: &mut Report) -> Vec<Offer<'d>> {
        let (offers, paired) = (core::mem::take(&mut self.all), &self.paired);
        let together = |mut offer: Offer<'d>| {
            for partner in &offer.fix.partners {
                let Some(safe) = paired.get(&(key_of(partner.root()), offer.rule)) else {
                    let (kind, name) = (shown_name(partner.kind()), shown_name(partner.name()));
                    let finding = offer.finding.finding(report)?;
                    if !finding.help.is_empty() {
                        finding.help.push_str("; ");
                    }
                    let _ = write!(
                        finding.help,
                        "no fix, because it would also change the {kind} `{name}`, about which `{}` reports nothing",
                        offer.rule
                    );
                    return None;
                };
                offer.fix.safe &= safe;
            }
            Some(offer)
        };
        offers.into_iter().filter_map(together).collect()
    }

    pub(crate) fn add(&mut self, offer: Offer<'d>) {
        self.all.push(offer);
    }
}
