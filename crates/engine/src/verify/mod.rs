//! Verification of the fixes that rules offer. A report has only fixes that work.
//!
//! A fix works if its documents still parse, only the declared values change, the finding is gone, and no new error or
//! warning appears in the objects that the fix changes. The fixes of a document are tried together, and
//! the fixes of documents that a fix changes together. If they do not work together, the fixes of the objects in which they worked
//! are tried without the others, or else each half is tried. The largest sets come first.
//!
//! Cost: a round parses each document with open fixes once, checks their objects once, and indexes all objects once. There
//! are at most [`MAX_ROUNDS`] rounds, and usually one; fewer for documents whose aliases make them longer than their text. So the
//! cost is linear in the size of the input. Fixes that are not verified after the last round are not offered.

mod candidate;
pub(crate) mod evaluated;
#[cfg(test)]
mod pairs;
mod slots;

use std::collections::{BTreeMap, BTreeSet};

use manifest::edit::{TextEdit, differences, reparse, rewrite};
use manifest::source::Span;
use manifest::tree::{Node, NodeId, Tree};
use manifest::{Document, Excerpt, File, FileKind};
use objects::embedded::READ_OPTIONS;
use objects::object::Object;

use answers::report::Report;
use cluster::ids::{DocumentId, FileId};
use cluster::input::Input;

use crate::coverage::objects_in;
use crate::locations::Locations;
use crate::objects::{ObjectId, Objects};
use crate::offer::{Offers, RuleTally};
use crate::surroundings::{Checking, Surroundings};
use crate::tally::FindingTally;
use candidate::{FixCandidate, FixPart, changes_held_documents};
use slots::Slots;

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
    mut offers: Offers<'d>,
    report: &mut Report,
) {
    if offers.all.is_empty() {
        return;
    }
    let candidates = candidates(input, locations, &mut offers, report);
    let mut verification =
        Verification { checking, input, objects, candidates: &candidates, before: offers.before };
    verification.count_other_documents();
    for candidate in verification.candidates(&verification.working()) {
        if let Some(finding) = candidate.finding().finding(report) {
            finding.fix = Some(candidate.reported());
            finding.related.extend(candidate.also_changed.iter().cloned());
        }
    }
}

/// The fixes as edits of documents of the input.
fn candidates<'d>(
    input: Input<'d>,
    locations: &Locations<'d>,
    offers: &mut Offers<'d>,
    report: &mut Report,
) -> Vec<FixCandidate<'d>> {
    let together = offers.of_all_partners(report);
    let candidates = together.into_iter().filter_map(|offer| FixCandidate::of(offer, locations));
    let is_outside =
        |part: &FixPart<'_>| input.file(part.file).is_some_and(|file| file.kind == FileKind::Referenced);
    candidates.filter(|one| !one.parts.iter().any(is_outside)).collect()
}

struct Verification<'v, 'd> {
    checking: Checking<'v>,
    input: Input<'d>,
    objects: &'v Objects<'d>,
    candidates: &'v [FixCandidate<'d>],
    /// The findings of the objects without any fix.
    before: BTreeMap<ObjectId, RuleTally>,
}

/// Fixes that are tried together, with the trees that result.
struct Trial<'d> {
    fixes: Vec<CandidateId>,
    /// The documents after the edits; `None` if one does not parse, or if other values change.
    documents: Option<Vec<ChangedDocument<'d>>>,
    /// The built objects after the changes.
    built: BTreeMap<ObjectId, Option<Tree>>,
}

/// A document before and after edits.
struct ChangedDocument<'d> {
    id: DocumentId,
    before: &'d Tree,
    after: Tree,
    /// Whether rules check the objects of the document itself, and not only objects that are built from it.
    has_objects: bool,
}

/// Result of a trial.
#[derive(Debug, PartialEq, Eq)]
enum TrialResult {
    Works,
    /// The documents are as declared, but in these objects a finding stays, or an error or warning is new.
    FailsIn(BTreeSet<ObjectId>),
    /// A document does not parse, or it is not as declared.
    Fails,
}

/// Removes the largest set; the last one of several.
fn take_largest(sets: &mut Vec<Vec<CandidateId>>) -> Option<Vec<CandidateId>> {
    let (index, _) = sets.iter().enumerate().max_by_key(|(_, set)| set.len())?;
    Some(sets.remove(index))
}

impl<'d> Verification<'_, 'd> {
    /// Counts the findings of the objects that fixes of other objects change.
    fn count_other_documents(&mut self) {
        let touched = self.candidates.iter().flat_map(|candidate| candidate.touched.iter().copied());
        let uncounted: BTreeSet<ObjectId> = touched.filter(|id| !self.before.contains_key(id)).collect();
        if uncounted.is_empty() {
            return;
        }
        let surroundings = Surroundings::of(self.checking, self.input, self.objects);
        for id in uncounted {
            let tally = self.tally(id, self.objects, &surroundings);
            self.before.insert(id, tally);
        }
    }

    /// Counts the findings of an object among others.
    fn tally<'o>(
        &self,
        id: ObjectId,
        objects: &Objects<'o>,
        surroundings: &Surroundings<'_, 'o>,
    ) -> RuleTally {
        let outcome = objects
            .get(id)
            .and_then(|one| surroundings.check(one, &self.checking.registry.rules_on(one.object)));
        FindingTally::by_rule(outcome.as_ref().map_or(&[], |outcome| outcome.findings.as_slice()))
    }

    /// The candidates that work.
    fn working(&self) -> Vec<CandidateId> {
        let mut working = Vec::new();
        let mut open = self.first_sets();
        let most: BTreeMap<DocumentId, usize> =
            open.iter().map(|(slot, sets)| (*slot, self.most_rounds(sets))).collect();
        for number in 0..MAX_ROUNDS {
            let due = open.iter_mut().filter(|(slot, _)| most.get(slot).is_some_and(|most| number < *most));
            let round: Vec<(DocumentId, Vec<CandidateId>)> =
                due.filter_map(|(slot, sets)| Some((*slot, take_largest(sets)?))).collect();
            if round.is_empty() {
                break;
            }
            let trials: Vec<Trial<'d>> = round.iter().map(|(_, fixes)| self.trial(fixes)).collect();
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

    /// The number of rounds in which the documents of fixes take as much work as documents without aliases in [`MAX_ROUNDS`].
    fn most_rounds(&self, sets: &[Vec<CandidateId>]) -> usize {
        let parts = sets.iter().flat_map(|fixes| self.candidates(fixes)).flat_map(|fix| &fix.parts);
        let trees: BTreeMap<DocumentId, &Tree> = parts.map(|part| (part.document, part.tree)).collect();
        let length = |tree: &&Tree| match tree.excerpt() {
            Some(excerpt) => excerpt.span.len(),
            None => tree.source().text().len(),
        };
        let bytes: usize = trees.values().map(length).sum();
        let work: usize = trees.values().map(|tree| tree.work()).sum();
        (bytes.saturating_mul(MAX_ROUNDS) / work.max(1)).clamp(1, MAX_ROUNDS)
    }

    /// Two parts of a set of fixes that do not work together; none if the set has one fix.
    fn smaller_sets(&self, fixes: &[CandidateId], verdict: &TrialResult) -> Vec<Vec<CandidateId>> {
        if let TrialResult::FailsIn(objects) = verdict {
            let is_failed = |candidate: &FixCandidate<'_>| !candidate.touched.is_disjoint(objects);
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

    /// For each set of documents, sets of fixes that do not overlap. Of sets with the same size, the last is tried first.
    fn first_sets(&self) -> BTreeMap<DocumentId, Vec<Vec<CandidateId>>> {
        let mut slots = Slots::of(self.candidates);
        let mut by_slot = BTreeMap::<DocumentId, Vec<CandidateId>>::new();
        for (index, candidate) in self.candidates.iter().enumerate() {
            let Some(first) = candidate.parts.first() else { continue };
            by_slot.entry(slots.slot_of(first.document)).or_default().push(CandidateId(index));
        }
        let mut all = BTreeMap::new();
        for (slot, mut fixes) in by_slot {
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
        let mut taken = BTreeSet::<(FileId, Span)>::new();
        fixes.iter().partition(|id| {
            let parts = self.candidate(**id).map_or(&[][..], |candidate| &candidate.parts);
            let spans = || parts.iter().flat_map(FixPart::spans);
            let overlaps = spans().any(|(file, span)| {
                let before = taken.range(..=(file, Span::new(span.end, usize::MAX))).next_back();
                before.is_some_and(|(other, before)| *other == file && before.end >= span.start)
            });
            if !overlaps {
                taken.extend(spans());
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

    /// Applies fixes.
    fn trial(&self, fixes: &[CandidateId]) -> Trial<'d> {
        let mut by_document = BTreeMap::<DocumentId, Vec<(&FixCandidate<'d>, &FixPart<'d>)>>::new();
        let mut evaluated = Vec::new();
        for candidate in self.candidates(fixes) {
            evaluated.extend(candidate.parts.iter().filter(|part| part.is_evaluated()));
            for part in candidate.parts.iter().filter(|part| !part.is_evaluated()) {
                by_document.entry(part.document).or_default().push((candidate, part));
            }
        }
        let documents = by_document.iter().map(|(id, parts)| self.changed_document(*id, parts, fixes));
        let mut documents: Option<Vec<ChangedDocument<'d>>> = documents.collect();
        if !evaluated.is_empty() {
            let made = self
                .checking
                .stages
                .and_then(|stages| evaluated::changed_documents(&evaluated, self.input, stages.evaluate));
            documents = documents
                .zip(made)
                .map(|(documents, made)| [documents, made].into_iter().flatten().collect());
        }
        let mut of_built = BTreeMap::<ObjectId, Vec<_>>::new();
        let parts = self.candidates(fixes).flat_map(|candidate| &candidate.parts);
        for built in parts.filter_map(|part| part.built.as_ref()) {
            of_built.entry(built.object).or_default().extend(&built.declared);
        }
        let mut built = BTreeMap::new();
        for (id, changes) in of_built {
            let object = self.objects.get(id).map(|checked| checked.object.root());
            let tree = object.and_then(|root| parse(&rewrite(root.tree().root(), changes)));
            built.insert(id, tree);
        }
        Trial { fixes: fixes.to_vec(), documents, built }
    }

    /// Applies the parts of fixes in one document. `None` if it does not parse, or if other values change.
    fn changed_document(
        &self,
        id: DocumentId,
        parts: &[(&FixCandidate<'d>, &FixPart<'d>)],
        fixes: &[CandidateId],
    ) -> Option<ChangedDocument<'d>> {
        let (_, FixPart { tree: before, .. }) = parts.first()?;
        let edits: Vec<TextEdit> = parts.iter().flat_map(|(_, part)| part.edits.iter().cloned()).collect();
        let changes: Vec<_> = parts.iter().flat_map(|(_, part)| &part.changes).collect();
        let changes_copies = parts.iter().any(|(candidate, _)| candidate.changes_copies);
        let after = reparse(before, &edits)?;
        let is_declared = |node: &Node<'d>| {
            (changes_copies && node.is_copied()) || self.is_held_and_declared(fixes, *node, &after)
        };
        if !differences(before.root(), after.root(), &changes).iter().all(is_declared) {
            return None;
        }
        let has_objects = parts.iter().any(|(_, part)| part.built.is_none());
        Some(ChangedDocument { id, before, after, has_objects })
    }

    /// Whether a value is a string with a document that fixes change, and only as they declare.
    fn is_held_and_declared(&self, fixes: &[CandidateId], string: Node<'d>, after: &Tree) -> bool {
        let parts = self.candidates(fixes).flat_map(|candidate| &candidate.parts);
        let here = parts.filter_map(|part| part.built.as_ref()).filter(|built| built.held_in == Some(string));
        let declared: Vec<_> = here.flat_map(|built| &built.declared).collect();
        !declared.is_empty() && changes_held_documents(string, after.root(), &declared)
    }

    /// Checks the objects of trials among all other objects.
    fn judge(&self, trials: &[Trial<'d>]) -> Vec<TrialResult> {
        let mut objects: Objects<'_> = self.objects.clone();
        let replaced: Vec<bool> = trials.iter().map(|trial| self.replace(&mut objects, trial)).collect();
        let surroundings = Surroundings::of(self.checking, self.input, &objects);
        let judged = |(trial, replaced): (&Trial<'d>, bool)| {
            if replaced { self.judge_one(trial, &objects, &surroundings) } else { TrialResult::Fails }
        };
        trials.iter().zip(replaced).map(judged).collect()
    }

    /// Checks the objects of a trial.
    fn judge_one<'o>(
        &self,
        trial: &Trial<'d>,
        objects: &Objects<'o>,
        surroundings: &Surroundings<'_, 'o>,
    ) -> TrialResult {
        let mut by_object = BTreeMap::<ObjectId, Vec<&'static str>>::new();
        for candidate in self.candidates(&trial.fixes) {
            for id in &candidate.touched {
                by_object.entry(*id).or_default();
            }
            by_object.entry(candidate.object()).or_default().push(candidate.rule());
        }
        by_object.retain(|id, fixed| {
            let after = self.tally(*id, objects, surroundings);
            let before = self.before.get(id);
            before.is_none_or(|before| before.allows(&after, fixed.iter().copied()).is_err())
        });
        let failed: BTreeSet<ObjectId> = by_object.into_keys().collect();
        if failed.is_empty() { TrialResult::Works } else { TrialResult::FailsIn(failed) }
    }

    /// Replaces the objects of a trial. Returns `false` if a document has other objects than before.
    fn replace<'t>(&self, objects: &mut Objects<'t>, trial: &'t Trial<'d>) -> bool
    where
        'd: 't,
    {
        for (id, tree) in &trial.built {
            let Some((one, tree)) = objects.get_mut(*id).zip(tree.as_ref()) else { return false };
            let Some(object) = Object::all(tree).into_iter().next() else { return false };
            one.object = object;
        }
        let Some(documents) = &trial.documents else { return false };
        let mut with_objects = documents.iter().filter(|document| document.has_objects);
        with_objects.all(|document| self.replace_document(objects, document))
    }

    /// Replaces the objects of a document. Returns `false` if it has other objects than before.
    fn replace_document<'t>(&self, objects: &mut Objects<'t>, document: &'t ChangedDocument<'d>) -> bool
    where
        'd: 't,
    {
        let Some(file) = self.input.file(document.id.file) else { return false };
        let (before, after) =
            (objects_in(file.kind, document.before), objects_in(file.kind, &document.after));
        if before.len() != after.len() {
            return false;
        }
        let by_root: BTreeMap<NodeId, Object<'t>> =
            before.iter().zip(after).map(|(before, after)| (before.root().id(), after)).collect();
        for one in objects.in_document_mut(document.id) {
            let root = one.object.root();
            if core::ptr::eq(root.tree(), document.before)
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
