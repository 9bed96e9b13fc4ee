//! Makes the safe fixes of findings in the texts they were found in, and takes back what does not mend.
//!
//! A fix stands only if the text still parses as the same documents, its finding is gone, and no error is there that was
//! not there before. Fixes that overlap wait for the next pass.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::check::{Cluster, check_within};
use crate::finding::Severity;
use crate::report::{Report, ReportedFinding};
use crate::rule::Registry;
use crate::settings::Settings;
use manifest::File;
use manifest::edit::{TextEdit, apply};
use manifest::limits::Limits;
use manifest::source::{Source, Span};

/// How often fixes are looked for, at most. Each pass makes all that do not overlap.
const PASSES: usize = 10;

/// How many sets of fixes a pass tries, at most, when some do not mend.
const TRIALS: usize = 100;

/// What came of it.
#[derive(Debug, Default)]
pub struct AppliedFixes {
    /// How many fixes were made.
    pub applied: usize,
    /// The fixes that were not made although they are safe, and why.
    pub refused: Vec<Refused>,
}

/// A fix that was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The rule that offers it.
    pub rule: &'static str,
    /// The file.
    pub file: String,
    /// The line of the finding.
    pub line: usize,
    /// Why it was not made.
    pub reason: String,
}

/// A file among the clusters.
type Slot = (usize, usize);

/// Findings that are told apart only by their place, which a fix may move.
type Group = (&'static str, String, String, usize);

/// A fix that may be made.
#[derive(Clone, Debug)]
struct Candidate {
    slot: Slot,
    group: Group,
    path: String,
    line: usize,
    edits: Vec<TextEdit>,
}

impl Candidate {
    fn of(
        finding: &ReportedFinding,
        slots: &BTreeMap<(&str, &str), Slot>,
        clusters: &[Cluster],
    ) -> Option<Self> {
        let fix = finding.fix.as_ref().filter(|fix| fix.safe && !fix.edits.is_empty())?;
        let slot = *slots.get(&(finding.cluster.as_str(), finding.file.as_str()))?;
        let source = &clusters.get(slot.0)?.files.get(slot.1)?.source;
        let edits = fix.edits.iter().map(|edit| {
            let span = Span::new(source.byte_at(edit.offset), source.byte_at(edit.end_offset));
            TextEdit { span, text: edit.text.clone() }
        });
        let mut edits: Vec<TextEdit> = edits.collect();
        edits.sort_by_key(|edit| edit.span);
        edits.dedup();
        let line = finding.position.line.unwrap_or_default();
        Some(Self { slot, group: group(finding), path: finding.path.clone(), line, edits })
    }

    /// What a fix is known by from one pass to the next.
    fn key(&self) -> (Group, String) {
        (self.group.clone(), self.path.clone())
    }

    fn refused(&self, reason: &str) -> Refused {
        let (rule, _, file, _) = self.group.clone();
        Refused { rule, file, line: self.line, reason: reason.to_owned() }
    }
}

fn group(finding: &ReportedFinding) -> Group {
    (finding.rule, finding.cluster.clone(), finding.file.clone(), finding.document)
}

/// Makes the safe fixes in the files of the clusters, as long as there are some.
pub fn apply_fixes(
    registry: &Registry,
    clusters: &mut [Cluster],
    settings: &Settings,
    limits: &Limits,
) -> AppliedFixes {
    let mut mended = AppliedFixes::default();
    let mut given_up: BTreeSet<(Group, String)> = BTreeSet::new();
    for _ in 0..PASSES {
        let before = check_within(registry, clusters, settings, usize::MAX);
        let candidates: Vec<Candidate> = {
            let slots = slots(clusters);
            let all = before.findings.iter().filter_map(|finding| Candidate::of(finding, &slots, clusters));
            apart(all.filter(|candidate| !given_up.contains(&candidate.key())).collect())
        };
        if candidates.is_empty() {
            break;
        }
        let source = |slot: Slot| Some(Arc::clone(&clusters.get(slot.0)?.files.get(slot.1)?.source));
        let texts = candidates.iter().filter_map(|candidate| Some((candidate.slot, source(candidate.slot)?)));
        let texts = texts.collect();
        let (made, refused) = (Vec::new(), Vec::new());
        let mut pass = Pass { registry, before: &before, texts, settings, limits, trials: 0, made, refused };
        pass.settle(clusters, &candidates);
        if !pass.refused.is_empty() {
            // What was tried last may have been refused.
            pass.write(clusters, &pass.made);
        }
        mended.applied += pass.made.len();
        given_up.extend(pass.refused.iter().map(|(candidate, _)| candidate.key()));
        mended.refused.extend(pass.refused.iter().map(|(candidate, reason)| candidate.refused(reason)));
    }
    mended
}

fn slots(clusters: &[Cluster]) -> BTreeMap<(&str, &str), Slot> {
    let mut slots = BTreeMap::new();
    for (index, cluster) in clusters.iter().enumerate() {
        for (file, read) in cluster.files.iter().enumerate() {
            slots.insert((cluster.name.as_str(), read.source.name()), (index, file));
        }
    }
    slots
}

/// The fixes that overlap none before them.
fn apart(candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut taken: BTreeMap<Slot, BTreeSet<Span>> = BTreeMap::new();
    let meets = |taken: &BTreeSet<Span>, span: Span| {
        let before = taken.range(..=Span::new(span.end, usize::MAX)).next_back();
        before.is_some_and(|other| other.end >= span.start)
    };
    let mut apart = Vec::new();
    for candidate in candidates {
        let taken = taken.entry(candidate.slot).or_default();
        if candidate.edits.iter().any(|edit| meets(taken, edit.span)) {
            continue;
        }
        taken.extend(candidate.edits.iter().map(|edit| edit.span));
        apart.push(candidate);
    }
    apart
}

/// One pass over the fixes of a report.
struct Pass<'p> {
    registry: &'p Registry,
    before: &'p Report,
    /// The texts that the fixes are edits of.
    texts: BTreeMap<Slot, Arc<Source>>,
    settings: &'p Settings,
    limits: &'p Limits,
    trials: usize,
    made: Vec<Candidate>,
    refused: Vec<(Candidate, &'static str)>,
}

impl Pass<'_> {
    /// Makes some fixes on top of those made in this pass; where they do not mend, half of them, and the other half.
    fn settle(&mut self, clusters: &mut [Cluster], some: &[Candidate]) {
        let wanted: Vec<Candidate> = self.made.iter().chain(some).cloned().collect();
        self.trials += 1;
        let result = if self.trials > TRIALS {
            Err("too many other fixes in the file failed")
        } else {
            self.write(clusters, &wanted);
            self.judge(&check_within(self.registry, clusters, self.settings, usize::MAX), &wanted)
        };
        match (result, some) {
            (Ok(()), _) => self.made = wanted,
            (Err(reason), [only]) => self.refused.push((only.clone(), reason)),
            (Err(_), _) => {
                let (left, right) = some.split_at(some.len() / 2);
                self.settle(clusters, left);
                self.settle(clusters, right);
            }
        }
    }

    /// Sets the files of this pass to their texts with some fixes made.
    fn write(&self, clusters: &mut [Cluster], fixes: &[Candidate]) {
        for (slot, source) in &self.texts {
            let here = fixes.iter().filter(|fix| fix.slot == *slot);
            let edits: Vec<TextEdit> = here.flat_map(|fix| fix.edits.iter().cloned()).collect();
            let text = apply(source.text(), &edits);
            let file = clusters.get_mut(slot.0).and_then(|cluster| cluster.files.get_mut(slot.1));
            if let Some(file) = file {
                *file = File { kind: file.kind, ..File::read(source.name(), text, self.limits) };
            }
        }
    }

    /// Whether fixes did what they are for, and nothing else went wrong.
    fn judge(&self, after: &Report, fixes: &[Candidate]) -> Result<(), &'static str> {
        let counts = |report: &Report| (report.summary.documents, report.unreadable.len());
        if counts(after) != counts(self.before) {
            return Err("it would make the file unreadable");
        }
        let mut left: BTreeMap<Group, usize> = BTreeMap::new();
        let mut errors = left.clone();
        for finding in &self.before.findings {
            *left.entry(group(finding)).or_default() += 1;
            if finding.severity == Severity::Error {
                *errors.entry(group(finding)).or_default() += 1;
            }
        }
        for fix in fixes {
            let left = left.entry(fix.group.clone()).or_default();
            *left = left.saturating_sub(1);
        }
        for finding in &after.findings {
            let known = errors.get_mut(&group(finding)).filter(|known| **known > 0);
            match known {
                Some(known) => *known -= 1,
                None if finding.severity == Severity::Error => {
                    return Err("it would introduce another error");
                }
                None => {}
            }
        }
        let mended: BTreeSet<&Group> = fixes.iter().map(|fix| &fix.group).collect();
        for finding in &after.findings {
            let group = group(finding);
            if !mended.contains(&group) {
                continue;
            }
            match left.get_mut(&group).filter(|left| **left > 0) {
                Some(left) => *left -= 1,
                None => return Err("it would not resolve the finding"),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::REGISTRY;

    const CLASS: &str = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec:\n  instanceProfile: ";

    #[test]
    fn a_fix_that_mends_nothing_or_breaks_something_is_refused() {
        let limits = Limits::DEFAULT;
        let settings = Settings::default();
        let files =
            |text: &str| [Cluster { name: String::new(), files: vec![File::read("a.yaml", text, &limits)] }];
        let bad = format!("{CLASS}arn:aws:iam::111122223333:instance-profile/b\n");
        let good = format!("{CLASS}b\n");
        let clusters = files(&bad);
        let before = check_within(&REGISTRY, &clusters, &settings, usize::MAX);
        let all = before.findings.iter();
        let offered: Vec<Candidate> =
            all.filter_map(|finding| Candidate::of(finding, &slots(&clusters), &clusters)).collect();
        let pass = Pass {
            registry: &REGISTRY,
            before: &before,
            texts: BTreeMap::new(),
            settings: &settings,
            limits: &limits,
            trials: 0,
            made: Vec::new(),
            refused: Vec::new(),
        };
        let judged =
            |text: &str| pass.judge(&check_within(&REGISTRY, &files(text), &settings, usize::MAX), &offered);
        assert_eq!(judged(&good), Ok(()));
        assert_eq!(judged(&bad), Err("it would not resolve the finding"));
        assert_eq!(judged(&format!("{good}  instanceProfile: b\n")), Err("it would introduce another error"));
        assert_eq!(judged(&format!("{good}  a: [\n")), Err("it would make the file unreadable"));
    }
}
