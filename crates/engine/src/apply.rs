//! Applies the safe fixes of findings to their texts, and reverts fixes that do not work.
//!
//! A fix works if the text still parses as the same documents, the finding is gone, and no new error appears. Fixes that
//! overlap wait for the next pass.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use manifest::File;
use manifest::edit::{TextEdit, apply};
use manifest::limits::Limits;
use manifest::source::{Source, Span};

use crate::check::check_within;
use crate::tally::Tally;
use answers::report::{Report, ReportedFinding, SkippedFix};
use cluster::Cluster;
use rule::registry::Registry;
use rule::settings::Settings;

/// Maximum number of passes. Each pass applies all fixes that do not overlap.
const PASSES: usize = 10;

/// Maximum number of sets of fixes that a pass tries if some fixes do not work.
const TRIALS: usize = 100;

/// Result of applying fixes.
#[derive(Debug, Default)]
pub struct AppliedFixes {
    /// Number of applied fixes.
    pub applied: usize,
    /// Safe fixes that were not applied, with the reasons.
    pub skipped: Vec<SkippedFix>,
}

/// Index of a cluster, and index of a file in the cluster.
type Slot = (usize, usize);

/// Rule, cluster, file and document of findings. Findings of a group differ only in location, which a fix can move.
type Group = (&'static str, String, String, usize);

/// A fix that can be applied.
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

    /// Key of the fix in every pass.
    fn key(&self) -> (Group, String) {
        (self.group.clone(), self.path.clone())
    }

    fn skipped(&self, reason: &str) -> SkippedFix {
        let (rule, _, file, _) = self.group.clone();
        SkippedFix { rule, file, line: self.line, reason: reason.to_owned() }
    }
}

fn group(finding: &ReportedFinding) -> Group {
    (finding.rule, finding.cluster.clone(), finding.file.clone(), finding.document)
}

/// Applies the safe fixes to the files of the clusters until no pass finds more.
pub fn apply_fixes(
    registry: &Registry,
    clusters: &mut [Cluster],
    settings: &Settings,
    limits: &Limits,
) -> AppliedFixes {
    let mut result = AppliedFixes::default();
    let mut given_up: BTreeSet<(Group, String)> = BTreeSet::new();
    for _ in 0..PASSES {
        let before = check_within(registry, clusters, settings, usize::MAX);
        let candidates: Vec<Candidate> = {
            let slots = slots(clusters);
            let all = before.findings.iter().filter_map(|finding| Candidate::of(finding, &slots, clusters));
            without_overlaps(all.filter(|candidate| !given_up.contains(&candidate.key())).collect())
        };
        if candidates.is_empty() {
            break;
        }
        let source = |slot: Slot| Some(Arc::clone(&clusters.get(slot.0)?.files.get(slot.1)?.source));
        let texts = candidates.iter().filter_map(|candidate| Some((candidate.slot, source(candidate.slot)?)));
        let texts = texts.collect();
        let (applied, skipped) = (Vec::new(), Vec::new());
        let mut pass =
            Pass { registry, before: &before, texts, settings, limits, trials: 0, applied, skipped };
        pass.apply_working(clusters, &candidates);
        if !pass.skipped.is_empty() {
            // The last trial can have failed; write only the fixes that worked.
            pass.write(clusters, &pass.applied);
        }
        result.applied += pass.applied.len();
        given_up.extend(pass.skipped.iter().map(|(candidate, _)| candidate.key()));
        result.skipped.extend(pass.skipped.iter().map(|(candidate, reason)| candidate.skipped(reason)));
    }
    result
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

/// The fixes that do not overlap an earlier fix.
fn without_overlaps(candidates: Vec<Candidate>) -> Vec<Candidate> {
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
    /// The texts to which the fixes apply.
    texts: BTreeMap<Slot, Arc<Source>>,
    settings: &'p Settings,
    limits: &'p Limits,
    trials: usize,
    applied: Vec<Candidate>,
    skipped: Vec<(Candidate, &'static str)>,
}

impl Pass<'_> {
    /// Applies fixes in addition to the fixes of this pass. If they do not work together, tries each half.
    fn apply_working(&mut self, clusters: &mut [Cluster], some: &[Candidate]) {
        let wanted: Vec<Candidate> = self.applied.iter().chain(some).cloned().collect();
        self.trials += 1;
        let result = if self.trials > TRIALS {
            Err("too many other fixes in this run failed")
        } else {
            self.write(clusters, &wanted);
            self.judge(&check_within(self.registry, clusters, self.settings, usize::MAX), &wanted)
        };
        match (result, some) {
            (Ok(()), _) => self.applied = wanted,
            (Err(reason), [only]) => self.skipped.push((only.clone(), reason)),
            (Err(_), _) => {
                let (left, right) = some.split_at(some.len() / 2);
                self.apply_working(clusters, left);
                self.apply_working(clusters, right);
            }
        }
    }

    /// Writes the files of this pass with some fixes applied.
    fn write(&self, clusters: &mut [Cluster], fixes: &[Candidate]) {
        for (slot, source) in &self.texts {
            let here = fixes.iter().filter(|fix| fix.slot == *slot);
            let edits: Vec<TextEdit> = here.flat_map(|fix| fix.edits.iter().cloned()).collect();
            let text = apply(source.text(), &edits);
            let file = clusters.get_mut(slot.0).and_then(|cluster| cluster.files.get_mut(slot.1));
            if let Some(file) = file {
                let read = File::read(source.name(), text, self.limits);
                *file = File { kind: file.kind, is_relevant: file.is_relevant, ..read };
            }
        }
    }

    /// Whether the findings of the fixes are gone and no new problem appears.
    fn judge(&self, after: &Report, fixes: &[Candidate]) -> Result<(), &'static str> {
        let counts = |report: &Report| (report.summary.documents, report.unreadable.len());
        if counts(after) != counts(self.before) {
            return Err("it would make the file unreadable");
        }
        let tally = |report: &Report| {
            Tally::of(report.findings.iter().map(|finding| (group(finding), finding.severity)))
        };
        tally(self.before).allows(&tally(after), fixes.iter().map(|fix| fix.group.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{REGISTRY, class, cluster};
    use manifest::FileKind;

    const CLASS: &str = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec:\n  instanceProfile: ";

    #[test]
    fn refuses_fix_that_does_not_work_or_breaks_the_file() {
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
            applied: Vec::new(),
            skipped: Vec::new(),
        };
        let judged =
            |text: &str| pass.judge(&check_within(&REGISTRY, &files(text), &settings, usize::MAX), &offered);
        assert_eq!(judged(&good), Ok(()));
        assert_eq!(judged(&bad), Err("it would not resolve the finding"));
        assert_eq!(judged(&format!("{good}  instanceProfile: b\n")), Err("it would introduce another error"));
        assert_eq!(judged(&format!("{good}  a: [\n")), Err("it would make the file unreadable"));
    }

    /// The text of a file with its safe fixes, the number of applied fixes, and the line and reason of each skipped fix.
    fn fixed(text: &str) -> (String, usize, Vec<(usize, String)>) {
        let mut clusters = [cluster(&[("a.yaml", text)])];
        let result = apply_fixes(&REGISTRY, &mut clusters, &Settings::default(), &Limits::DEFAULT);
        let skipped = result.skipped.into_iter().map(|fix| (fix.line, fix.reason)).collect();
        (clusters[0].files[0].source.text().to_owned(), result.applied, skipped)
    }

    #[test]
    fn applies_any_number_of_fixes_that_do_not_overlap() {
        let bad = class("a", "instanceProfile: 'arn:a/b'");
        let good = class("a", "instanceProfile: 'b'");
        let (text, applied, skipped) = fixed(&vec![bad; 12].join("---\n"));
        assert_eq!((text, applied, skipped), (vec![good; 12].join("---\n"), 12, Vec::new()));
    }

    #[test]
    fn keeps_working_fixes_beside_one_that_breaks_another_object() {
        let documents = |words: &str, profile: &str| {
            let guard = class("guard", "forbids: b");
            [
                guard,
                class("a", &format!("words: '{words}'")),
                class("b", &format!("instanceProfile: '{profile}'")),
            ]
            .join("---\n")
        };
        let (text, applied, skipped) = fixed(&documents("old1 fine old2", "arn:a/b"));
        assert_eq!(text, documents("fine", "arn:a/b"));
        assert_eq!((applied, skipped), (2, vec![(14, "it would introduce another error".to_owned())]));
    }

    #[test]
    fn gives_up_after_a_hundred_trials() {
        // Half of a set of fixes is tried next, down to single fixes: 51 fixes that fail take 101 trials.
        let bad = class("a", "instanceProfile: 'arn:a/b'");
        let text = [vec![class("guard", "forbids: b")], vec![bad; 51]].concat().join("---\n");
        let (unchanged, applied, skipped) = fixed(&text);
        assert_eq!((unchanged.as_str(), applied, skipped.len()), (text.as_str(), 0, 51));
        let untried = skipped.iter().filter(|(_, reason)| reason.starts_with("too many"));
        assert_eq!(untried.map(|(line, _)| *line).collect::<Vec<_>>(), [259]);
    }

    #[test]
    fn keeps_what_the_caller_knows_about_a_fixed_file() {
        let mut cluster = cluster(&[("a.yaml", "spec:\n  set: old\n")]);
        let file = &mut cluster.files[0];
        (file.kind, file.is_relevant) = (FileKind::Values, Some(true));
        let mut clusters = [cluster];
        apply_fixes(&REGISTRY, &mut clusters, &Settings::default(), &Limits::DEFAULT);
        let file = &clusters[0].files[0];
        assert_eq!(file.source.text(), "spec:\n  set: new\n");
        assert_eq!((file.kind, file.is_relevant), (FileKind::Values, Some(true)));
    }
}
