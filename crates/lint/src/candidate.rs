//! A fix as edits of one document, before it is verified.

use std::collections::BTreeMap;

use manifest::Document;
use manifest::edit::{Change, TextEdit, differences, replace_alias};
use manifest::limits::Limits;
use manifest::tree::{Node, Style, Tree};
use objects::location::{Place, path_of};

use crate::check::Locations;
use crate::collect::CheckedObject;
use crate::report::{RelatedLocation, ReportedEdit, ReportedFix, TextRange};
use crate::verify::Offer;

/// Indices of a cluster, of a file and of a document.
pub(crate) type Slot = (usize, usize, usize);

/// Maximum number of other places that a fix changes and that a finding lists.
const PLACES: usize = 10;

/// A fix as edits of one document.
#[derive(Debug)]
pub(crate) struct Candidate<'d> {
    offer: Offer<'d>,
    /// The document that the edits change.
    pub(crate) slot: Slot,
    pub(crate) tree: &'d Tree,
    /// The changes of the document; none if the text is in a document within a string.
    pub(crate) changes: Vec<Change<'d>>,
    /// The string that holds the changed document, such as a patch in a kustomization.
    pub(crate) held_in: Option<Node<'d>>,
    /// The edits, in the order of the changes.
    pub(crate) edits: Vec<TextEdit>,
    /// Other places that the fix changes, because they copy a value with an anchor.
    pub(crate) copies: Vec<Node<'d>>,
    /// Whether the fix replaces an alias by its value.
    replaces_alias: bool,
    /// Whether the finding is about a built object, whose text is in other documents.
    pub(crate) is_built: bool,
}

impl<'d> Candidate<'d> {
    /// Returns `None` if no edit of one document makes the changes.
    pub(crate) fn of(
        offer: Offer<'d>,
        checked: &CheckedObject<'d>,
        locations: &Locations<'d>,
    ) -> Option<Self> {
        let own = checked.object.root().tree();
        let is_built = own.is_assembled();
        let declared = &offer.fix.changes;
        let (slot, tree) =
            if is_built { locations.text_of(declared.first()?.node())? } else { (checked.slot(), own) };
        let held_in = declared.first().filter(|_| is_built).and_then(|change| holder(change.node(), tree));
        let (changes, (edits, replaces_alias)) = if held_in.is_some() {
            let written = declared.iter().map(|change| change.edit().filter(|_| is_written(change)));
            (Vec::new(), (written.collect::<Option<Vec<_>>>()?, false))
        } else {
            let changes: Vec<_> = if is_built {
                declared.iter().map(|change| in_text(change, tree)).collect::<Option<_>>()?
            } else {
                declared.clone()
            };
            let is_here = |change: &Change<'_>| core::ptr::eq(change.node().tree(), tree);
            let edits = edits(&changes).filter(|_| changes.iter().all(is_here))?;
            (changes, edits)
        };
        if edits.is_empty() {
            return None;
        }
        let mut copies: Vec<Node<'d>> = Vec::new();
        for copy in changes.iter().flat_map(|change| change.node().copies(PLACES)) {
            if copies.len() < PLACES && !copies.contains(&copy) {
                copies.push(copy);
            }
        }
        Some(Self { offer, slot, tree, changes, held_in, edits, copies, replaces_alias, is_built })
    }

    /// Index of the finding in the report.
    pub(crate) fn finding(&self) -> usize {
        self.offer.finding
    }

    /// Index of the object.
    pub(crate) fn object(&self) -> usize {
        self.offer.object
    }

    pub(crate) fn rule(&self) -> &'static str {
        self.offer.rule
    }

    /// The changes of the object, as the rule declares them.
    pub(crate) fn declared(&self) -> &[Change<'d>] {
        &self.offer.fix.changes
    }

    /// The fix in the report. A fix that changes other places, or that replaces an alias, needs a review.
    pub(crate) fn reported(&self) -> ReportedFix {
        let source = self.tree.source();
        let edits = self.edits.iter().map(|edit| ReportedEdit {
            file: source.name().to_owned(),
            offset: source.position(edit.span.start).offset,
            end_offset: source.position(edit.span.end).offset,
            text: edit.text.clone(),
        });
        let title = &self.offer.fix.title;
        let title = if self.replaces_alias { format!("{title}, only here") } else { title.clone() };
        let safe = self.offer.fix.safe && self.copies.is_empty() && !self.replaces_alias;
        ReportedFix { title, safe, edits: edits.collect() }
    }

    /// The other places that the fix changes.
    pub(crate) fn also_changed(&self, locations: &Locations<'d>) -> Vec<RelatedLocation> {
        let location = |copy: &Node<'d>| {
            let place = Place::value(*copy);
            let (document, object) = locations.find(&place)?;
            // The value of an alias has the span of the alias.
            let span = if copy.is_copied() { copy.span() } else { place.span() };
            let range = TextRange::of(copy.source(), span);
            let path = path_of(*copy, object.root());
            Some(RelatedLocation::new(&document, path, range, "has the same anchor: the fix changes it too"))
        };
        self.copies.iter().filter_map(location).collect()
    }
}

/// The edits of changes, and whether one replaces an alias by its value. `None` if a change has no edit.
fn edits(changes: &[Change<'_>]) -> Option<(Vec<TextEdit>, bool)> {
    let mut edits = Vec::new();
    let mut at_alias = BTreeMap::<usize, (Node<'_>, Vec<&Change<'_>>)>::new();
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
        at_alias.entry(alias.order()).or_insert_with(|| (alias, Vec::new())).1.push(change);
    }
    let replaces_alias = !at_alias.is_empty();
    for (alias, changes) in at_alias.into_values() {
        edits.push(replace_alias(alias, changes)?);
    }
    Some((edits, replaces_alias))
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
