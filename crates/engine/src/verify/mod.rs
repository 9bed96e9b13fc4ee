//! Verification of the fixes that rules offer. A report has only fixes that work.
//!
//! A fix works if the document still parses, only the declared values change, the finding is gone, and no new error appears
//! in the object. The fixes of a document are tried together. If they do not work together, the fixes of the objects in which
//! they worked are tried without the others, or else each half is tried. The largest sets come first.
//!
//! Cost: a round parses each document with open fixes once, checks their objects once, and indexes all objects once. There
//! are at most [`MAX_ROUNDS`] rounds, and usually one. So the cost is linear in the size of the input. Fixes that are not
//! verified after the last round are not offered.

mod candidate;

use std::collections::{BTreeMap, BTreeSet};

use manifest::edit::{TextEdit, differences, reparse, rewrite};
use manifest::source::Span;
use manifest::tree::{Node, NodeId, Tree};
use manifest::{Document, Excerpt, File, FileKind};
use objects::embedded::READ_OPTIONS;
use objects::object::Object;

use answers::report::Report;
use cluster::ids::DocumentId;
use cluster::input::Input;

use crate::coverage::objects_in;
use crate::locations::Locations;
use crate::objects::{ObjectId, Objects};
use crate::offer::{Offers, RuleTally};
use crate::surroundings::{Checking, Surroundings};
use crate::tally::FindingTally;
use candidate::{FixCandidate, changes_held_documents};

/// Maximum number of rounds.
const MAX_ROUNDS: usize = 32;

/// A candidate among the candidates of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CandidateId(usize);

/// Adds the fixes that work to the findings of the report.
pub(crate) fn add_fixes<'d>(
    checking: Checking<'_>,
    input: Input<'d>,
    objects: &Objects<'d>,
    locations: &Locations<'d>,
    offers: Offers<'d>,
    report: &mut Report,
) {
    if offers.offers.is_empty() {
        return;
    }
    let candidates = offers.offers.into_iter().filter_map(|offer| FixCandidate::of(offer, locations));
    let is_outside = |candidate: &FixCandidate<'_>| {
        input.file(candidate.document.file).is_some_and(|file| file.kind == FileKind::Referenced)
    };
    let candidates: Vec<FixCandidate<'d>> = candidates.filter(|one| !is_outside(one)).collect();
    let verification =
        Verification { checking, input, objects, candidates: &candidates, before: &offers.before };
    for candidate in verification.candidates(&verification.working()) {
        if let Some(finding) = candidate.finding().finding(report) {
            finding.fix = Some(candidate.reported());
            finding.related.extend(candidate.also_changed.iter().cloned());
        }
    }
}

struct Verification<'v, 'd> {
    checking: Checking<'v>,
    input: Input<'d>,
    objects: &'v Objects<'d>,
    candidates: &'v [FixCandidate<'d>],
    /// The findings of the objects without any fix.
    before: &'v BTreeMap<ObjectId, RuleTally>,
}

/// Fixes of one document that are tried together, with the trees that result.
struct Trial {
    fixes: Vec<CandidateId>,
    /// The document after the edits; `None` if it does not parse, or if other values change.
    document: Option<Tree>,
    /// The built objects after the changes.
    built: BTreeMap<ObjectId, Option<Tree>>,
}

/// Result of a trial.
#[derive(Debug, PartialEq, Eq)]
enum TrialResult {
    Works,
    /// The document is as declared, but in these objects a finding stays or an error is new.
    FailsIn(BTreeSet<ObjectId>),
    /// The document does not parse, or it is not as declared.
    Fails,
}

impl TrialResult {
    fn of(failed: BTreeSet<ObjectId>) -> Self {
        if failed.is_empty() { Self::Works } else { Self::FailsIn(failed) }
    }
}

/// Removes the largest set; the last one of several.
fn take_largest(sets: &mut Vec<Vec<CandidateId>>) -> Option<Vec<CandidateId>> {
    let (index, _) = sets.iter().enumerate().max_by_key(|(_, set)| set.len())?;
    Some(sets.remove(index))
}

impl<'d> Verification<'_, 'd> {
    /// The candidates that work.
    fn working(&self) -> Vec<CandidateId> {
        let mut working = Vec::new();
        let mut open = self.first_sets();
        for _ in 0..MAX_ROUNDS {
            let round: Vec<(DocumentId, Vec<CandidateId>)> =
                open.iter_mut().filter_map(|(slot, sets)| Some((*slot, take_largest(sets)?))).collect();
            if round.is_empty() {
                break;
            }
            let trials: Vec<Trial> = round.iter().map(|(_, fixes)| self.trial(fixes)).collect();
            for ((slot, fixes), verdict) in round.into_iter().zip(self.judge(&trials)) {
                if verdict == TrialResult::Works {
                    working.extend(fixes);
                } else {
                    open.entry(slot).or_default().extend(self.smaller_sets(&fixes, &verdict));
                }
            }
        }
        working
    }

    /// Two parts of a set of fixes that do not work together; none if the set has one fix.
    fn smaller_sets(&self, fixes: &[CandidateId], verdict: &TrialResult) -> Vec<Vec<CandidateId>> {
        if let TrialResult::FailsIn(objects) = verdict {
            let is_failed = |candidate: &FixCandidate<'_>| objects.contains(&candidate.object());
            let (failed, others): (Vec<CandidateId>, Vec<CandidateId>) =
                fixes.iter().partition(|id| self.candidate(**id).is_some_and(is_failed));
            if !others.is_empty() {
                return vec![failed, others];
            }
        }
        if fixes.len() < 2 {
            return Vec::new();
        }
        let (one, other) = fixes.split_at(fixes.len() / 2);
        vec![other.to_vec(), one.to_vec()]
    }

    /// For each document, sets of fixes that do not overlap. Of sets with the same size, the last is tried first.
    fn first_sets(&self) -> BTreeMap<DocumentId, Vec<Vec<CandidateId>>> {
        let mut by_document = BTreeMap::<DocumentId, Vec<CandidateId>>::new();
        for (index, candidate) in self.candidates.iter().enumerate() {
            by_document.entry(candidate.document).or_default().push(CandidateId(index));
        }
        let mut all = BTreeMap::new();
        for (slot, mut fixes) in by_document {
            let mut sets = Vec::new();
            for _ in 0..MAX_ROUNDS {
                let (apart, rest) = self.without_overlaps(&fixes);
                if apart.is_empty() {
                    break;
                }
                sets.push(apart);
                fixes = rest;
            }
            sets.reverse();
            all.insert(slot, sets);
        }
        all
    }

    /// Splits fixes into fixes that do not overlap an earlier one, and the others.
    fn without_overlaps(&self, fixes: &[CandidateId]) -> (Vec<CandidateId>, Vec<CandidateId>) {
        let mut taken = BTreeSet::<Span>::new();
        fixes.iter().partition(|id| {
            let edits = self.candidate(**id).map_or(&[][..], |candidate| &candidate.edits);
            let overlaps = edits.iter().any(|edit| {
                let before = taken.range(..=Span::new(edit.span.end, usize::MAX)).next_back();
                before.is_some_and(|other| other.end >= edit.span.start)
            });
            if !overlaps {
                taken.extend(edits.iter().map(|edit| edit.span));
            }
            !overlaps
        })
    }

    fn candidate(&self, id: CandidateId) -> Option<&FixCandidate<'d>> {
        let candidate = self.candidates.get(id.0);
        debug_assert!(candidate.is_some(), "{id:?} is of another check");
        candidate
    }

    fn candidates<'f>(&'f self, fixes: &'f [CandidateId]) -> impl Iterator<Item = &'f FixCandidate<'d>> {
        fixes.iter().filter_map(|id| self.candidate(*id))
    }

    /// Applies fixes of one document.
    fn trial(&self, fixes: &[CandidateId]) -> Trial {
        let mut trial = Trial { fixes: fixes.to_vec(), document: None, built: BTreeMap::new() };
        let Some(tree) = self.candidates(fixes).next().map(|candidate| candidate.tree) else { return trial };
        let edits: Vec<TextEdit> =
            self.candidates(fixes).flat_map(|candidate| candidate.edits.iter().cloned()).collect();
        let changes: Vec<_> = self.candidates(fixes).flat_map(|candidate| &candidate.changes).collect();
        let changes_copies = self.candidates(fixes).any(|candidate| candidate.changes_copies);
        trial.document = reparse(tree, &edits).filter(|after| {
            let is_declared = |node: &Node<'d>| {
                (changes_copies && node.is_copied()) || self.is_held_and_declared(fixes, *node, after)
            };
            differences(tree.root(), after.root(), &changes).iter().all(is_declared)
        });
        let mut of_built = BTreeMap::<ObjectId, Vec<_>>::new();
        for candidate in self.candidates(fixes).filter(|candidate| candidate.is_built) {
            of_built.entry(candidate.object()).or_default().extend(candidate.declared());
        }
        for (id, changes) in of_built {
            let object = self.objects.get(id).map(|checked| checked.object.root());
            let tree = object.and_then(|root| parse(&rewrite(root.tree().root(), changes)));
            trial.built.insert(id, tree);
        }
        trial
    }

    /// Whether a value is a string with a document that fixes change, and only as they declare.
    fn is_held_and_declared(&self, fixes: &[CandidateId], string: Node<'d>, after: &Tree) -> bool {
        let here = self.candidates(fixes).filter(|candidate| candidate.held_in == Some(string));
        let declared: Vec<_> = here.flat_map(FixCandidate::declared).collect();
        !declared.is_empty() && changes_held_documents(string, after.root(), &declared)
    }

    /// Checks the objects of trials among all other objects.
    fn judge(&self, trials: &[Trial]) -> Vec<TrialResult> {
        let mut objects: Objects<'_> = self.objects.clone();
        let replaced: Vec<bool> = trials.iter().map(|trial| self.replace(&mut objects, trial)).collect();
        let surroundings = Surroundings::of(self.checking, self.input, &objects);
        let failed = |trial: &Trial| {
            let mut by_object = BTreeMap::<ObjectId, Vec<&'static str>>::new();
            for candidate in self.candidates(&trial.fixes) {
                by_object.entry(candidate.object()).or_default().push(candidate.rule());
            }
            by_object.retain(|id, fixed| {
                let outcome = objects
                    .get(*id)
                    .and_then(|one| surroundings.check(one, &self.checking.registry.rules_on(one.object)));
                let after = FindingTally::by_rule(
                    outcome.as_ref().map_or(&[], |outcome| outcome.findings.as_slice()),
                );
                let before = self.before.get(id);
                before.is_none_or(|before| before.allows(&after, fixed.iter().copied()).is_err())
            });
            by_object.into_keys().collect()
        };
        let verdict =
            |(trial, replaced)| if replaced { TrialResult::of(failed(trial)) } else { TrialResult::Fails };
        trials.iter().zip(replaced).map(verdict).collect()
    }

    /// Replaces the objects of a trial. Returns `false` if the document has other objects than before.
    fn replace<'t>(&self, objects: &mut Objects<'t>, trial: &'t Trial) -> bool {
        for (id, tree) in &trial.built {
            let Some((one, tree)) = objects.get_mut(*id).zip(tree.as_ref()) else { return false };
            let Some(object) = Object::all(tree).into_iter().next() else { return false };
            one.object = object;
        }
        let first = self.candidates(&trial.fixes).find(|candidate| !candidate.is_built);
        let (Some(candidate), Some(after)) = (first, &trial.document) else {
            return trial.document.is_some();
        };
        let Some(file) = self.input.file(candidate.document.file) else { return false };
        let (before, after) = (objects_in(file.kind, candidate.tree), objects_in(file.kind, after));
        if before.len() != after.len() {
            return false;
        }
        let by_root: BTreeMap<NodeId, Object<'t>> =
            before.iter().zip(after).map(|(before, after)| (before.root().id(), after)).collect();
        for one in objects.in_document_mut(candidate.document) {
            let root = one.object.root();
            if core::ptr::eq(root.tree(), candidate.tree)
                && let Some(object) = by_root.get(&root.id())
            {
                one.object = *object;
            }
        }
        true
    }
}

/// Parses the text of a built object.
fn parse(text: &str) -> Option<Tree> {
    let whole = Excerpt { span: Span::whole(text), is_json: false };
    let file = File::from_excerpts("-", text, &[whole], READ_OPTIONS);
    match file.documents.into_iter().next() {
        Some(Document::Read(tree)) => Some(tree),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::check::check;
    use crate::testing::{REGISTRY, class, report};
    use cluster::Cluster;
    use manifest::File;
    use objects::embedded::READ_OPTIONS;
    use rule::settings::Settings;

    /// The numbers of findings and of fixes of a list in which every `apart`-th fix does not work.
    fn fixes_of_list(length: usize, apart: usize) -> (usize, usize) {
        let items = (0..length).map(|index| {
            let arn = if index % apart == 0 { "arn:a/stays" } else { "arn:a/b" };
            format!(
                r"- apiVersion: karpenter.k8s.aws/v1
  kind: EC2NodeClass
  metadata: {{name: a{index}}}
  spec: {{instanceProfile: '{arn}'}}
"
            )
        });
        let text = format!("apiVersion: v1\nkind: List\nitems:\n{}", items.collect::<String>());
        let file = File::read("a.yaml", text, READ_OPTIONS);
        let report =
            check(&REGISTRY, &[Cluster { name: String::new(), files: vec![file] }], &Settings::default());
        let fixes = report.findings.iter().filter(|finding| finding.fix.is_some()).count();
        (report.findings.len(), fixes)
    }

    #[test]
    fn offers_every_working_fix_beside_interleaved_fixes_that_fail() {
        assert_eq!(fixes_of_list(48, 6), (48, 40));
        assert_eq!(fixes_of_list(300, 2), (300, 150));
        assert_eq!(fixes_of_list(3, 1), (3, 0));
    }

    /// The numbers of findings and of fixes of a text.
    fn fixes_of(text: &str) -> (usize, usize) {
        let findings = report(&[("a.yaml", text)]).findings;
        (findings.len(), findings.iter().filter(|finding| finding.fix.is_some()).count())
    }

    #[test]
    fn offers_the_fixes_of_an_object_beside_one_that_fails() {
        assert_eq!(fixes_of(&class("a", "profiles: ['arn:a/b', 'arn:a/c', 'arn:a/stays']")), (3, 2));
        assert_eq!(fixes_of(&class("a", "profiles: ['arn:a/stays', 'arn:a/b', 'arn:a/c']")), (3, 2));
    }

    #[test]
    fn offers_fixes_that_overlap() {
        let words: Vec<String> = (0..20).map(|index| format!("old{index}")).collect();
        assert_eq!(fixes_of(&class("a", &format!("words: {}", words.join(" ")))), (20, 20));
    }

    #[test]
    fn offers_the_fixes_of_any_number_of_documents() {
        let text = vec![class("a", "instanceProfile: 'arn:a/b'"); 40].join("---\n");
        assert_eq!(fixes_of(&text), (40, 40));
    }
}
