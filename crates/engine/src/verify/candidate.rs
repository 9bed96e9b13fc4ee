//! A fix as edits of documents, before it is verified.

use std::collections::{BTreeMap, BTreeSet};

use manifest::Document;
use manifest::edit::{Change, TextEdit, differences, replace_alias};
use manifest::limits::Limits;
use manifest::source::{Source, Span};
use manifest::tree::{Node, NodeId, Style, Tree};
use objects::location::{Place, path_of};

use super::evaluated;
use crate::locations::Locations;
use crate::objects::ObjectId;
use crate::offer::{FindingId, Offer};
use answers::report::{RelatedLocation, ReportedEdit, ReportedFix, TextRange};
use cluster::ids::{DocumentId, FileId};

/// Maximum number of other places that a fix changes and that a finding lists.
const MAX_PLACES: usize = 10;

/// A fix as edits of documents.
#[derive(Debug)]
pub(crate) struct FixCandidate<'d> {
    offer: Offer<'d>,
    /// The documents that the edits change, the document of the finding first.
    pub(crate) parts: Vec<FixPart<'d>>,
    /// The objects that the fix changes.
    pub(crate) touched: BTreeSet<ObjectId>,
    /// Whether the fix changes other places, because they copy a value with an anchor.
    pub(crate) changes_copies: bool,
    /// Other places that the fix changes.
    pub(crate) also_changed: Vec<RelatedLocation>,
    /// Whether the fix replaces an alias by its value.
    replaces_alias: bool,
}

/// The edits of a fix in one document.
#[derive(Debug)]
pub(crate) struct FixPart<'d> {
    /// The document that the edits change.
    pub(crate) document: DocumentId,
    /// The file with the text that the edits change.
    pub(crate) file: FileId,
    pub(crate) source: &'d Source,
    pub(crate) tree: &'d Tree,
    /// The changes of the document; none if the text is in a document within a string.
    pub(crate) changes: Vec<Change<'d>>,
    /// The edits, in the order of the changes.
    pub(crate) edits: Vec<TextEdit>,
    /// The built object that the fix changes, whose text is in the document.
    pub(crate) built: Option<BuiltPart<'d>>,
}

/// The changes of an object that a kustomization builds.
#[derive(Debug)]
pub(crate) struct BuiltPart<'d> {
    pub(crate) object: ObjectId,
    /// The changes, as the rule declares them.
    pub(crate) declared: Vec<Change<'d>>,
    /// The string that holds the changed document, such as a patch in a kustomization.
    pub(crate) held_in: Option<Node<'d>>,
}

impl<'d> FixCandidate<'d> {
    /// Returns `None` if no edits make the changes.
    pub(crate) fn of(offer: Offer<'d>, locations: &Locations<'d>) -> Option<Self> {
        let (parts, replaces_alias) = parts(&offer, locations)?;
        if parts.iter().all(|part| part.edits.is_empty()) {
            return None;
        }
        let mut copies: Vec<Node<'d>> = Vec::new();
        let changes = parts.iter().flat_map(|part| &part.changes);
        for copy in changes.flat_map(|change| change.node().copies(MAX_PLACES)) {
            if copies.len() < MAX_PLACES && !copies.contains(&copy) {
                copies.push(copy);
            }
        }
        let also_changed = copies.iter().filter_map(|copy| also_changed(*copy, locations)).collect();
        let own_changes = offer.fix.changes.iter().filter_map(|change| locations.id_with(change.node()));
        let made = parts.iter().filter(|part| part.is_evaluated());
        let siblings = made.flat_map(|part| locations.objects_made_of_text_of(part.document));
        let touched = own_changes.chain([offer.id]).chain(siblings).collect();
        Some(Self { offer, parts, touched, changes_copies: !copies.is_empty(), also_changed, replaces_alias })
    }

    /// The finding in the report.
    pub(crate) fn finding(&self) -> FindingId {
        self.offer.finding
    }

    pub(crate) fn object(&self) -> ObjectId {
        self.offer.id
    }

    pub(crate) fn rule(&self) -> &'static str {
        self.offer.rule
    }

    /// The fix in the report. A fix that changes other places, or that replaces an alias, needs a review.
    pub(crate) fn reported(&self) -> ReportedFix {
        let title = &self.offer.fix.title;
        let title = if self.replaces_alias { format!("{title}, only here") } else { title.clone() };
        let safe = self.offer.fix.safe && !self.changes_copies && !self.replaces_alias;
        ReportedFix { title, safe, edits: self.parts.iter().flat_map(FixPart::reported).collect() }
    }
}

impl FixPart<'_> {
    /// Whether a configuration makes the document.
    pub(crate) fn is_evaluated(&self) -> bool {
        self.tree.is_evaluated()
    }

    /// The places of the edits.
    pub(crate) fn spans(&self) -> impl Iterator<Item = (FileId, Span)> {
        self.edits.iter().map(|edit| (self.file, edit.span))
    }

    /// The edits in the report.
    fn reported(&self) -> impl Iterator<Item = ReportedEdit> {
        let source = self.source;
        self.edits.iter().map(|edit| ReportedEdit {
            file: source.name().to_owned(),
            offset: source.position(edit.span.start).offset,
            end_offset: source.position(edit.span.end).offset,
            text: edit.text.clone(),
        })
    }
}

/// The edits of a fix by document, the document of its object first, and whether one replaces an alias by its value.
fn parts<'d>(offer: &Offer<'d>, locations: &Locations<'d>) -> Option<(Vec<FixPart<'d>>, bool)> {
    let own = offer.object.object.root().tree();
    let mut by_tree: Vec<(&'d Tree, Vec<Change<'d>>)> = vec![(own, Vec::new())];
    for change in &offer.fix.changes {
        let tree = change.node().tree();
        match by_tree.iter_mut().find(|(known, _)| core::ptr::eq(*known, tree)) {
            Some((_, changes)) => changes.push(change.clone()),
            None => by_tree.push((tree, vec![change.clone()])),
        }
    }
    let (mut parts, mut replaces_alias) = (Vec::new(), false);
    for (tree, changes) in by_tree {
        if tree.is_evaluated() {
            let document = locations.document_with(changes.first()?.node())?;
            parts.extend(evaluated::parts(changes, document, tree, locations)?);
            continue;
        }
        let (part, replaces) = if tree.is_assembled() {
            part_of_built(changes, locations)?
        } else {
            let is_own = core::ptr::eq(own, tree);
            let document = if is_own { Some(offer.object.document) } else { None };
            let document = document.or_else(|| locations.document_with(changes.first()?.node()))?;
            let (edits, replaces) = edits(&changes)?;
            let (file, source) = (document.file, tree.source());
            (FixPart { document, file, source, tree, changes, edits, built: None }, replaces)
        };
        parts.push(part);
        replaces_alias |= replaces;
    }
    Some((parts, replaces_alias))
}

/// The edits of the document that has the text of a built object.
fn part_of_built<'d>(declared: Vec<Change<'d>>, locations: &Locations<'d>) -> Option<(FixPart<'d>, bool)> {
    let first = declared.first()?.node();
    let object = locations.id_with(first)?;
    let (document, tree) = locations.document_of_text(first)?;
    let held_in = holder(first, tree);
    let (changes, (edits, replaces_alias)) = if held_in.is_some() {
        let written = declared.iter().map(|change| change.edit().filter(|_| is_written(change)));
        (Vec::new(), (written.collect::<Option<Vec<_>>>()?, false))
    } else {
        let changes: Vec<_> = declared.iter().map(|change| in_text(change, tree)).collect::<Option<_>>()?;
        let edits = edits(&changes)?;
        (changes, edits)
    };
    let built = Some(BuiltPart { object, declared, held_in });
    let (file, source) = (document.file, tree.source());
    Some((FixPart { document, file, source, tree, changes, edits, built }, replaces_alias))
}

/// A place that a fix changes besides the place of its finding.
fn also_changed<'d>(copy: Node<'d>, locations: &Locations<'d>) -> Option<RelatedLocation> {
    let place = Place::value(copy);
    let (document, object) = locations.find(&place)?;
    // The value of an alias has the span of the alias.
    let span = if copy.is_copied() { copy.span() } else { place.span() };
    let range = TextRange::of(copy.source(), span);
    let path = path_of(copy, object.root());
    Some(document.related(path, range, "has the same anchor: the fix changes it too"))
}

/// The edits of changes, and whether one replaces an alias by its value. `None` if a change has no edit.
fn edits(changes: &[Change<'_>]) -> Option<(Vec<TextEdit>, bool)> {
    let mut edits = Vec::new();
    let mut at_alias = BTreeMap::<NodeId, (Node<'_>, Vec<&Change<'_>>)>::new();
    for change in changes {
        let node = change.node();
        let alias = node.alias();
        // A scalar in place of an alias is the usual edit.
        let is_scalar = matches!(change, Change::Set(..)) && alias == Some(node);
        if !node.is_copied() || is_scalar {
            edits.push(change.edit()?);
            continue;
        }
        let alias = alias?;
        let is_within = matches!(change, Change::Replace(..) | Change::Add(..) | Change::Append(..));
        if alias == node && !is_within {
            return None;
        }
        at_alias.entry(alias.id()).or_insert_with(|| (alias, Vec::new())).1.push(change);
    }
    let replaces_alias = !at_alias.is_empty();
    for (alias, changes) in at_alias.into_values() {
        edits.push(replace_alias(alias, changes)?);
    }
    Some((joined(edits), replaces_alias))
}

/// Joins insertions at the same place, such as several members after the last one of an object.
pub(super) fn joined(edits: Vec<TextEdit>) -> Vec<TextEdit> {
    let mut joined: Vec<TextEdit> = Vec::new();
    let mut insertions = BTreeMap::<Span, usize>::new();
    for edit in edits {
        let at = insertions.get(&edit.span).and_then(|index| joined.get_mut(*index));
        if let Some(first) = at.filter(|_| edit.span.is_empty()) {
            first.text.push_str(&edit.text);
        } else {
            insertions.insert(edit.span, joined.len());
            joined.push(edit);
        }
    }
    joined
}

/// Whether a change is a change of a value or a key that the text of its node spells.
fn is_written(change: &Change<'_>) -> bool {
    let node = change.node();
    let is_written = match change {
        Change::Set(..) | Change::Replace(..) => !node.span().is_empty(),
        Change::Rename(..) => node.source().slice(node.key_span()).trim_matches(['"', '\'']) == node.key(),
        _ => false,
    };
    is_written && !node.is_derived()
}

/// The change of a built object as a change of a document. `None` unless the document spells the value or key.
fn in_text<'t>(change: &Change<'_>, tree: &'t Tree) -> Option<Change<'t>> {
    let node = change.node();
    let around = smallest_around(node, tree).filter(|_| is_written(change))?;
    let is_same =
        around.span() == node.span() && (node.key_span().is_empty() || around.key_span() == node.key_span());
    match change {
        _ if !is_same => None,
        Change::Set(_, value) => Some(Change::Set(around, value.clone())),
        Change::Replace(_, span, value) => Some(Change::Replace(around, *span, value.clone())),
        Change::Rename(_, key) => Some(Change::Rename(around, key.clone())),
        _ => None,
    }
}

/// The literal block scalar of a document that holds another document with the text of a node.
fn holder<'d>(node: Node<'_>, tree: &'d Tree) -> Option<Node<'d>> {
    let around = smallest_around(node, tree)?;
    (around.style() == Style::Literal && around.span() != node.span()).then_some(around)
}

/// The smallest value of a document whose text contains the text of a node.
fn smallest_around<'t>(node: Node<'_>, tree: &'t Tree) -> Option<Node<'t>> {
    let value = node.span();
    let holds = |child: &Node<'_>| {
        let own = child.key_span();
        let start = if own.is_empty() { child.span().start } else { own.start };
        start <= value.start && value.end <= child.span().end.max(own.end)
    };
    let mut around = core::ptr::eq(node.source(), tree.source()).then(|| tree.root())?;
    while let Some(child) = around.children().find(holds) {
        around = child;
    }
    Some(around)
}

/// Whether documents in a string have the declared changes, and no other ones. `after` is the document with the string after
/// the edits.
pub(crate) fn changes_held_documents(string: Node<'_>, after: Node<'_>, declared: &[&Change<'_>]) -> bool {
    let above =
        core::iter::successors(Some(string), |node| node.parent()).filter(|node| node.parent().is_some());
    let mut path: Vec<usize> = above.map(Node::index).collect();
    path.reverse();
    let Some(after) = path.into_iter().try_fold(after, |node, index| node.children().nth(index)) else {
        return false;
    };
    let (before, after) =
        (Document::within(string, &Limits::DEFAULT), Document::within(after, &Limits::DEFAULT));
    let mut left = declared.len();
    let is_expected = before.iter().zip(&after).all(|documents| {
        let (Document::Read(before), Document::Read(after)) = documents else { return false };
        let changes: Vec<_> = declared.iter().filter_map(|change| in_text(change, before)).collect();
        left = left.saturating_sub(changes.len());
        differences(before.root(), after.root(), &changes.iter().collect::<Vec<_>>()).is_empty()
    });
    is_expected && left == 0 && before.len() == after.len()
}

#[cfg(test)]
mod tests {
    use crate::check::check;
    use crate::testing::{OLD, class, cluster, registry_of, report, with_fix};
    use answers::report::ReportedFinding;
    use rule::settings::Settings;

    fn findings(files: &[(&str, &str)]) -> Vec<ReportedFinding> {
        report(files).findings
    }

    /// The text of each file in which the only finding has its fix; `None` without a fix.
    fn fixed(files: &[(&str, &str)]) -> Option<String> {
        let findings = findings(files);
        let [finding] = findings.as_slice() else { panic!("{findings:?}") };
        with_fix(files, finding)
    }

    #[test]
    fn lists_other_places_that_a_fix_changes_once_and_at_most_ten() {
        let related = |both: &str, copies: &str| {
            let text = format!("{}status: {copies}\n", class("a", &format!("both: {both}")));
            findings(&[("a.yaml", &text)])[0].related.len()
        };
        assert_eq!(related("&b [old, old]", "{copy: *b}"), 1);
        assert_eq!(related("[&b old, &c old]", "{b: *b, c: *c}"), 2);
        let many = "[*b, *b, *b, *b, *b, *b, *c, *c, *c, *c, *c, *c]";
        assert_eq!(related("[&b old, &c old]", many), 10);
    }

    #[test]
    fn replaces_alias_by_its_value_to_add_a_member() {
        let item = |name: &str, spec: &str| {
            format!(
                r"- apiVersion: karpenter.k8s.aws/v1
  kind: EC2NodeClass
  metadata: {{name: {name}}}
  spec: {spec}
"
            )
        };
        let list = |first: &str, second: &str| {
            format!("apiVersion: v1\nkind: List\nitems:\n{}{}", item("a", first), item("b", second))
        };
        let text = list("&spec {add: yes}", "*spec");
        let files = [("a.yaml", text.as_str())];
        let fixed: Vec<_> = findings(&files).iter().map(|finding| with_fix(&files, finding)).collect();
        let expected = list("&spec {add: yes}", "{add: yes, added: new}");
        assert_eq!(fixed[1], Some(expected), "{fixed:?}");
    }

    #[test]
    fn offers_no_fix_that_repeats_a_key_in_an_anchored_object() {
        // No rule of the registry reports the repeated key.
        let is_offered = |other: &str| {
            let spec = format!("{other}: 1, rename: 2");
            let text = class("a", &spec).replace("spec: ", "spec: &spec ") + "status: *spec\n";
            let clusters = [cluster(&[("a.yaml", &text)])];
            let report = check(&registry_of(&OLD), &clusters, &Settings::default());
            report.findings[0].fix.is_some()
        };
        assert!(is_offered("other") && !is_offered("renamed"));
    }

    #[test]
    fn fixes_the_text_of_a_built_object() {
        let base = |name: &str, spec: &str| class(name, "").replace("{}", spec);
        for (name, before, after) in [
            ("a", "\n  set: old", Some("\n  set: new")),
            ("a", "\n  'rename': a", Some("\n  'renamed': a")),
            ("a", "\n  replace: an old value", Some("\n  replace: an new value")),
            (
                "a",
                "\n  replace: |\n    an old: value\n    and: more",
                Some("\n  replace: |\n    an new: value\n    and: more"),
            ),
            // The build adds a prefix to the text of the name.
            ("old", "\n  other: a", None),
        ] {
            let text = base(name, before);
            let files = [
                ("base/class.yaml", text.as_str()),
                ("base/kustomization.yaml", "resources: [class.yaml]\n"),
                ("prod/kustomization.yaml", "resources: [../base]\nnamePrefix: prod-\n"),
            ];
            assert_eq!(fixed(&files), after.map(|after| base(name, after)), "{before}");
        }
    }

    /// The kustomization with the only finding fixed; its patch is the text of a string.
    fn fixed_patch(patch: &str) -> Option<String> {
        let base = class("a", "x: 1");
        let kustomization = kustomization(patch);
        fixed(&[
            ("base/class.yaml", base.as_str()),
            ("base/kustomization.yaml", "resources: [class.yaml]\n"),
            ("prod/kustomization.yaml", &kustomization),
        ])
    }

    fn kustomization(patch: &str) -> String {
        format!(
            r"resources: [../base]
patches:
- target: {{kind: EC2NodeClass}}
  patch: {patch}
"
        )
    }

    #[test]
    fn fixes_a_patch_in_a_literal_string_only_if_nothing_else_changes() {
        let set = "|-\n    - {op: add, path: /spec/set, value: old}";
        assert_eq!(fixed_patch(set), Some(kustomization(&set.replace("old", "new"))));
        let second = "|-\n    - {op: add, path: /spec/x, value: 2}\n    ---\n    - {op: add, path: /spec/both, value: [old]}";
        assert_eq!(fixed_patch(second), Some(kustomization(&second.replace("old", "new"))));
        let anchored = "|-\n    - {op: add, path: /spec/set, value: &v old}\n    - {op: add, path: /spec/other, value: *v}";
        assert_eq!(fixed_patch(anchored), None);
        // Quotes hide where the value is in the text.
        assert_eq!(fixed_patch("'[{op: add, path: /spec/set, value: old}]'"), None);
        assert_eq!(fixed_patch("\"[{op: add, path: /spec/set, value: old}]\""), None);
    }
}
