//! Applies the fixes of findings to their texts, and reverts fixes that do not work.
//!
//! A fix works if the text still parses as the same documents, the finding is gone, and no new error or warning appears. Fixes that
//! overlap wait for the next pass.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use manifest::edit::{TextEdit, apply};
use manifest::limits::Limits;
use manifest::source::{Source, Span};
use manifest::{File, ReadOptions};
use objects::embedded::READ_OPTIONS;
use terraform_objects::NoFilesBeside;

use crate::check::check_within;
use crate::tally::{FindingTally, FixFailure};
use answers::report::{Report, ReportedFinding, SkippedFix};
use cluster::Cluster;
use cluster::files::{all_files, file, file_mut};
use cluster::ids::FileId;
use rule::registry::Registry;
use rule::settings::Settings;

/// Maximum number of passes. Each pass applies all fixes that do not overlap.
const MAX_PASSES: usize = 10;

/// Maximum number of sets of fixes that a pass tries if some fixes do not work.
const MAX_TRIALS: usize = 100;

/// Fixes to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedFixes {
    /// The safe fixes.
    Safe,
    /// The fixes that an author has to review, too.
    All,
}

/// Result of applying fixes.
#[derive(Debug, Default)]
pub struct AppliedFixes {
    /// Number of applied fixes.
    pub applied: usize,
    /// For each applied fix that changes several files, these files. One without the others would lose settings.
    pub together: Vec<BTreeSet<FileId>>,
    /// Fixes that were not applied, with the reasons.
    pub skipped: Vec<SkippedFix>,
}

/// Key of findings that differ only in location, which a fix can move.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    rule: &'static str,
    cluster: String,
    file: String,
    /// The position of the document in the file.
    document: usize,
}

impl Group {
    fn of(finding: &ReportedFinding) -> Self {
        Self {
            rule: finding.rule,
            cluster: finding.cluster.clone(),
            file: finding.file.clone(),
            document: finding.document,
        }
    }
}

/// Ids of the files by the names of their cluster and of themselves.
type FileIds<'c> = BTreeMap<(&'c str, &'c str), FileId>;

/// A fix of a report that is to be applied.
#[derive(Clone, Debug)]
struct ChosenFix {
    group: Group,
    path: String,
    line: usize,
    /// The edits by file.
    edits: BTreeMap<FileId, Vec<TextEdit>>,
}

impl ChosenFix {
    fn of(
        finding: &ReportedFinding,
        wanted: WantedFixes,
        files: &FileIds<'_>,
        clusters: &[Cluster],
    ) -> Option<Self> {
        let fix = finding.fix.as_ref().filter(|fix| fix.safe || wanted == WantedFixes::All)?;
        if fix.edits.is_empty() {
            return None;
        }
        let mut edits = BTreeMap::<FileId, Vec<TextEdit>>::new();
        for edit in &fix.edits {
            let id = *files.get(&(finding.cluster.as_str(), edit.file.as_str()))?;
            let source = &file(clusters, id)?.source;
            let span = Span::new(source.byte_at(edit.offset), source.byte_at(edit.end_offset));
            edits.entry(id).or_default().push(TextEdit { span, text: edit.text.clone() });
        }
        for of_file in edits.values_mut() {
            of_file.sort_by_key(|edit| edit.span);
            of_file.dedup();
        }
        let line = finding.position.line.unwrap_or_default();
        Some(Self { group: Group::of(finding), path: finding.path.clone(), line, edits })
    }

    /// The places of the edits.
    fn spans(&self) -> impl Iterator<Item = (FileId, Span)> {
        self.edits.iter().flat_map(|(file, edits)| edits.iter().map(|edit| (*file, edit.span)))
    }

    /// Key of the fix in every pass.
    fn key(&self) -> (Group, String) {
        (self.group.clone(), self.path.clone())
    }

    fn skipped(&self, reason: FixFailure) -> SkippedFix {
        let Group { rule, file, .. } = self.group.clone();
        SkippedFix { rule, file, line: self.line, reason: reason.to_string() }
    }
}

/// Applies the wanted fixes to the files of the clusters until no pass finds more.
pub fn apply_fixes(
    registry: &Registry,
    clusters: &mut [Cluster],
    settings: &Settings,
    limits: &Limits,
    wanted: WantedFixes,
) -> AppliedFixes {
    let mut result = AppliedFixes::default();
    let mut given_up: BTreeSet<(Group, String)> = BTreeSet::new();
    for _ in 0..MAX_PASSES {
        let before = check_within(registry, clusters, settings, usize::MAX);
        let fixes: Vec<ChosenFix> = {
            let ids = file_ids(clusters);
            let all =
                before.findings.iter().filter_map(|finding| ChosenFix::of(finding, wanted, &ids, clusters));
            without_overlaps(all.filter(|fix| !given_up.contains(&fix.key())).collect())
        };
        if fixes.is_empty() {
            break;
        }
        let text = |id: &FileId| Some((*id, Arc::clone(&file(clusters, *id)?.source)));
        let texts = fixes.iter().flat_map(|fix| fix.edits.keys()).filter_map(text).collect();
        let (applied, skipped) = (Vec::new(), Vec::new());
        let mut pass =
            Pass { registry, before: &before, texts, settings, limits, trials: 0, applied, skipped };
        pass.apply_working(clusters, &fixes);
        if !pass.skipped.is_empty() {
            // The last trial can have failed; write only the fixes that worked.
            pass.write(clusters, &pass.applied);
        }
        result.applied += pass.applied.len();
        let changed = pass.applied.iter().map(|fix| fix.edits.keys().copied().collect::<BTreeSet<FileId>>());
        result.together.extend(changed.filter(|changed| changed.len() > 1));
        given_up.extend(pass.skipped.iter().map(|(fix, _)| fix.key()));
        result.skipped.extend(pass.skipped.iter().map(|(fix, reason)| fix.skipped(*reason)));
    }
    result
}

fn file_ids(clusters: &[Cluster]) -> FileIds<'_> {
    all_files(clusters).map(|(cluster, id, file)| ((cluster, file.source.name()), id)).collect()
}

/// The fixes that do not overlap an earlier fix.
fn without_overlaps(fixes: Vec<ChosenFix>) -> Vec<ChosenFix> {
    let mut taken: BTreeSet<(FileId, Span)> = BTreeSet::new();
    let meets = |taken: &BTreeSet<(FileId, Span)>, (file, span): (FileId, Span)| {
        let before = taken.range(..=(file, Span::new(span.end, usize::MAX))).next_back();
        before.is_some_and(|(other, before)| *other == file && before.end >= span.start)
    };
    let mut apart = Vec::new();
    for fix in fixes {
        if fix.spans().any(|place| meets(&taken, place)) {
            continue;
        }
        taken.extend(fix.spans());
        apart.push(fix);
    }
    apart
}

/// One pass over the fixes of a report.
struct Pass<'p> {
    registry: &'p Registry,
    before: &'p Report,
    /// The texts to which the fixes apply.
    texts: BTreeMap<FileId, Arc<Source>>,
    settings: &'p Settings,
    limits: &'p Limits,
    trials: usize,
    applied: Vec<ChosenFix>,
    skipped: Vec<(ChosenFix, FixFailure)>,
}

impl Pass<'_> {
    /// Applies fixes in addition to the fixes of this pass. If they do not work together, tries each half.
    fn apply_working(&mut self, clusters: &mut [Cluster], some: &[ChosenFix]) {
        let wanted: Vec<ChosenFix> = self.applied.iter().chain(some).cloned().collect();
        self.trials += 1;
        let result = if self.trials > MAX_TRIALS {
            Err(FixFailure::TooManyTrials)
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
    fn write(&self, clusters: &mut [Cluster], fixes: &[ChosenFix]) {
        for (id, source) in &self.texts {
            let here = fixes.iter().filter_map(|fix| fix.edits.get(id));
            let edits: Vec<TextEdit> = here.flatten().cloned().collect();
            let text = apply(source.text(), &edits);
            if let Some(file) = file_mut(clusters, *id) {
                let read =
                    File::read(source.name(), text, ReadOptions { limits: *self.limits, ..READ_OPTIONS });
                *file = File { kind: file.kind, is_relevant: file.is_relevant, ..read };
            }
        }
        // A text of a configuration can have a part in the documents of other files.
        for cluster in clusters {
            terraform_objects::evaluate(&mut cluster.files, &NoFilesBeside, self.limits);
        }
    }

    /// Whether the findings of the fixes are gone and no new problem appears.
    fn judge(&self, after: &Report, fixes: &[ChosenFix]) -> Result<(), FixFailure> {
        let counts = |report: &Report| (report.summary.documents, report.unreadable.len());
        if counts(after) != counts(self.before) {
            return Err(FixFailure::Unreadable);
        }
        let tally = |report: &Report| {
            FindingTally::of(report.findings.iter().map(|finding| (Group::of(finding), finding.severity)))
        };
        tally(self.before).allows(&tally(after), fixes.iter().map(|fix| fix.group.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{REGISTRY, class, cluster};
    use manifest::FileKind;

    const CLASS: &str = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  instanceProfile: ";

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
        let offered: Vec<ChosenFix> = all
            .filter_map(|finding| ChosenFix::of(finding, WantedFixes::Safe, &file_ids(&clusters), &clusters))
            .collect();
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
        assert_eq!(judged(&bad), Err(FixFailure::NotResolved));
        assert_eq!(judged(&format!("{good}  instanceProfile: b\n")), Err(FixFailure::NewError));
        assert_eq!(judged(&format!("{good}  a: [\n")), Err(FixFailure::Unreadable));
    }

    /// The text of a file with its safe fixes, the number of applied fixes, and the line and reason of each skipped fix.
    fn fixed(text: &str) -> (String, usize, Vec<(usize, String)>) {
        let mut clusters = [cluster(&[("a.yaml", text)])];
        let result =
            apply_fixes(&REGISTRY, &mut clusters, &Settings::default(), &Limits::DEFAULT, WantedFixes::Safe);
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
        apply_fixes(&REGISTRY, &mut clusters, &Settings::default(), &Limits::DEFAULT, WantedFixes::Safe);
        let file = &clusters[0].files[0];
        assert_eq!(file.source.text(), "spec:\n  set: new\n");
        assert_eq!((file.kind, file.is_relevant), (FileKind::Values, Some(true)));
    }
}
