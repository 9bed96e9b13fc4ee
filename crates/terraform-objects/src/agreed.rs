//! The document of several strings: the ones to which the directives of a template may lead, such as `%{ if }`, that only Terraform resolves.

use std::collections::BTreeSet;

use manifest::limits::Limits;
use manifest::tree::{Assembly, Node, NodeId, Tree, Value};
use manifest::work::WorkBudget;
use manifest::{Document, File};
use objects::embedded::READ_OPTIONS;
use objects::location::path_of;
use terraform::{AlternativeText, TextPlace, Texts, fingerprint};

use crate::text::{PlacedDocument, Placer, is_annotations, is_metadata, unknown};

/// The texts and bounds for reading strings.
#[derive(Clone, Copy)]
pub(crate) struct TextReading<'t> {
    /// The expression that uses the strings.
    pub(crate) used: TextPlace,
    pub(crate) texts: &'t Texts,
    pub(crate) limits: &'t Limits,
    /// Whether the document is compared with the one of another side.
    pub(crate) is_compared: bool,
}

/// The document that some strings agree on. Each value that is not the same in all of them, or that some of them do not have, is a placeholder.
/// `None` if they do not have one object of the same kind each.
///
/// `conditions` are the conditions and collections of the directives; `why` makes a sentence of the paths of the placeholders.
pub(crate) fn agreed(
    alternatives: &[AlternativeText],
    conditions: &[&str],
    reading: TextReading<'_>,
    why: impl Fn(&[String]) -> String,
) -> Option<PlacedDocument> {
    let TextReading { used, texts, limits, is_compared } = reading;
    let read = |alternative: &AlternativeText| {
        let text = alternative.text.as_str();
        let budget = WorkBudget::of_file(text.len(), limits);
        match <[Document; 1]>::try_from(File::read_yaml("-", text, READ_OPTIONS, &budget).documents) {
            Ok([Document::Read(tree)]) => Some(tree),
            _ => None,
        }
    };
    let trees: Vec<Tree> = alternatives.iter().map(read).collect::<Option<_>>()?;
    let roots: Vec<Node<'_>> = trees.iter().map(Tree::root).collect();
    let root = *roots.first()?;
    let has_same = |key: &str| {
        let value = root.str_at(&[key]);
        value.is_some() && roots.iter().all(|other| other.str_at(&[key]) == value)
    };
    let has_keys = |other: &Node<'_>| keys(*other).eq(keys(root));
    if !root.is_mapping() || !roots.iter().all(has_keys) || !has_same("apiVersion") || !has_same("kind") {
        return None;
    }
    let placers = alternatives.iter().map(|alternative| Placer { text: &alternative.text, texts, used });
    let placers: Vec<Placer<'_>> = placers.collect();
    let branches = alternatives.iter().map(|alternative| alternative.branches.as_slice()).collect();
    let first = placers.first()?;
    let at = first.place(root.span());
    let assembly = Assembly::of_text(texts.get(at.text)?, &READ_OPTIONS, limits.nodes);
    let mut writer =
        AgreedWriter { placers: &placers, branches, conditions, assembly, is_compared, hidden: Vec::new() };
    writer.value(&roots, 0, None)?;
    let AgreedWriter { mut assembly, hidden, .. } = writer;
    first.add_comments(trees.first()?, &mut assembly);
    if !hidden.is_empty() {
        assembly.add_hidden(why(&hidden));
    }
    Some(PlacedDocument { at, document: Document::Read(assembly.finish()) })
}

/// Writes the document. A value has a node in each of the strings, in their order.
struct AgreedWriter<'t> {
    placers: &'t [Placer<'t>],
    /// The branches that each of the strings has.
    branches: Vec<&'t [usize]>,
    conditions: &'t [&'t str],
    assembly: Assembly,
    is_compared: bool,
    /// The paths of the placeholders.
    hidden: Vec<String>,
}

impl AgreedWriter<'_> {
    /// Writes a value at the place that it has in the string with the number `main`.
    fn value<'d>(&mut self, nodes: &[Node<'d>], main: usize, parent: Option<NodeId>) -> Option<()> {
        let Some(whole) = self.whole(nodes, main) else {
            if nodes.iter().all(|node| has_independent_members(*node)) {
                return self.independent(nodes, main, parent);
            }
            let all: Vec<Option<Node<'d>>> = nodes.iter().copied().map(Some).collect();
            return self.hide(*nodes.get(main)?, &all, main, parent);
        };
        let node = *nodes.get(whole)?;
        let id = self.placers.get(whole)?.add(node, parent, &mut self.assembly)?;
        let has_same_keys = nodes.iter().all(|other| keys(*other).eq(keys(node)));
        for (index, child) in node.children().enumerate() {
            let of = |other: &Node<'d>| {
                if has_same_keys { other.children().nth(index) } else { other.get(child.key()) }
            };
            let children: Vec<Option<Node<'d>>> = nodes.iter().map(of).collect();
            match children.iter().copied().collect::<Option<Vec<Node<'d>>>>() {
                Some(children) => self.value(&children, whole, Some(id))?,
                None => self.hide(child, &children, whole, Some(id))?,
            }
        }
        self.assembly.complete(id);
        Some(())
    }

    /// Writes an object whose members do not depend on each other: each member that all strings have, and a placeholder of each other one.
    fn independent<'d>(&mut self, nodes: &[Node<'d>], main: usize, parent: Option<NodeId>) -> Option<()> {
        let id = self.placers.get(main)?.add(*nodes.get(main)?, parent, &mut self.assembly)?;
        let mut written = BTreeSet::new();
        let of_main = nodes.get(main).map(|node| (main, *node)).into_iter();
        for (string, node) in of_main.chain(nodes.iter().copied().enumerate()) {
            for child in node.children().filter(|child| written.insert(child.key())) {
                let children: Vec<Option<Node<'d>>> = nodes.iter().map(|one| one.get(child.key())).collect();
                match children.iter().copied().collect::<Option<Vec<Node<'d>>>>() {
                    Some(children) => self.value(&children, string, Some(id))?,
                    None => self.hide(child, &children, string, Some(id))?,
                }
            }
        }
        self.assembly.complete(id);
        Some(())
    }

    /// Writes a placeholder of a value that is different in some strings, or that some of them do not have.
    fn hide<'d>(
        &mut self,
        node: Node<'d>,
        different: &[Option<Node<'d>>],
        string: usize,
        parent: Option<NodeId>,
    ) -> Option<()> {
        self.hidden.push(path_of(node, node.tree().root()));
        // The name depends on what the value may be, where, and on what decides it.
        let text = |node: &Option<Node<'d>>| node.map_or("", |node| node.source().slice(node.span()));
        let texts = || different.iter().map(text).chain(self.conditions.iter().copied()).collect::<Vec<_>>();
        let placeholder = unknown(self.is_compared, || fingerprint(&texts()));
        self.placers.get(string)?.hide(node, &placeholder, parent, &mut self.assembly)
    }

    /// The number of the string in which a value has all of its items or members: the value is the same in all strings, but for the values in
    /// it. `None` if it is another one, or may be one that no string has.
    fn whole(&self, nodes: &[Node<'_>], main: usize) -> Option<usize> {
        let node = *nodes.get(main)?;
        if !nodes.iter().all(|other| other.value() == node.value()) {
            return None;
        }
        match node.value() {
            Value::Sequence => nodes.iter().all(|other| other.len() == node.len()).then_some(main),
            Value::Mapping => self.whole_object(nodes, main),
            _ => nodes.iter().all(|other| other.spelling() == node.spelling()).then_some(main),
        }
    }

    /// The number of the string with all members of an object. Only one set of members may be optional: of two, no string may have both, such as
    /// `role` and `instanceProfile`.
    fn whole_object(&self, nodes: &[Node<'_>], main: usize) -> Option<usize> {
        let node = *nodes.get(main)?;
        if nodes.iter().all(|other| keys(*other).eq(keys(node))) {
            return Some(main);
        }
        let sets: Vec<BTreeSet<&str>> = nodes.iter().map(|node| keys(*node).collect()).collect();
        let largest = (0..sets.len()).max_by_key(|index| sets.get(*index).map(BTreeSet::len))?;
        let (all, least) = (sets.get(largest)?, sets.iter().min_by_key(|set| set.len())?);
        let is_one_of_two = least.is_subset(all) && sets.iter().all(|set| set == all || set == least);
        let has_duplicates = nodes.iter().zip(&sets).any(|(node, set)| node.len() != set.len());
        // A `%{ for }` may write further members than its first ones.
        let mut by_branches: Vec<(&[usize], &BTreeSet<&str>)> = Vec::new();
        for (branches, set) in self.branches.iter().zip(&sets) {
            match by_branches.iter().find(|(known, _)| known == branches) {
                Some((_, known)) if *known != set => return None,
                Some(_) => {}
                None => by_branches.push((branches, set)),
            }
        }
        (is_one_of_two && !has_duplicates).then_some(largest)
    }
}

/// Whether the members of an object do not exclude each other, as in the metadata of a document and in its annotations. A suppression in an
/// annotation counts whatever the other annotations are.
fn has_independent_members(node: Node<'_>) -> bool {
    node.is_mapping() && (is_metadata(node) || is_annotations(node))
}

fn keys(node: Node<'_>) -> impl Iterator<Item = &str> {
    node.children().map(Node::key)
}
