//! Objects by the resource that makes them, and the objects that a provider deletes and creates again when the resource changes.

use std::collections::{BTreeMap, BTreeSet};

use manifest::Document;
use manifest::limits::Limits;
use manifest::tree::{ModuleInstance, Node, Tree, Value};
use objects::object::Object;
use objects::placeholders::has_placeholder_below;
use terraform::{BlockBody, EvaluatedBlock, EvaluatedConfiguration, EvaluatedValue, Texts};

use crate::draft::DocumentDraft;
use crate::input::name_of;
use crate::{text, value};

/// Object of a resource in a configuration.
#[derive(Debug)]
pub struct ManagedObject {
    /// The module of the resource.
    module: ModuleInstance,
    /// The address of the resource.
    address: String,
    /// The document.
    tree: Tree,
    /// The kind and the name.
    name: (String, String),
    /// The text of the document, if the resource has it as a string.
    body: Option<String>,
    settings: RecreationSettings,
    /// The condition on which the resource exists, if only Terraform knows it.
    existence: Option<String>,
    /// Whether Terraform forgets the object when the resource goes.
    ///
    /// Sources: opentofu/opentofu#3409, since 1.12; hashicorp/terraform#38784, since 1.16.
    is_kept: bool,
}

/// Arguments of a resource that say whether a change creates its object again.
///
/// Source: `docs/resources/kubectl_manifest.md`, and `CustomizeDiff` and the schema in `kubernetes/resource_kubectl_manifest.go`, of
/// gavinbunney/terraform-provider-kubectl and alekc/terraform-provider-kubectl.
#[derive(Clone, Copy, Debug, Default)]
struct RecreationSettings {
    /// `force_new`: every change of the text creates the object again.
    is_forced: bool,
    /// `apply_only`: the provider never deletes the object.
    is_never_deleted: bool,
    /// `upgrade_api_version` (alekc/terraform-provider-kubectl#244): another version of the API is applied to the same object.
    upgrades: bool,
}

impl RecreationSettings {
    fn of(block: &EvaluatedBlock) -> Self {
        let is_on = |name: &str| {
            let value = block.body.get(name);
            value.is_some_and(|value| value.as_bool() == Some(true) || value.as_str() == Some("true"))
        };
        Self {
            is_forced: is_on("force_new"),
            is_never_deleted: is_on("apply_only"),
            upgrades: is_on("upgrade_api_version"),
        }
    }
}

/// The resources that install charts, such as the one with the custom resource definitions.
const RELEASE: &str = "helm_release";

/// The objects of a resource, if a change can create them again or Terraform can forget them.
pub(crate) fn objects_of(
    module: &ModuleInstance,
    block: &EvaluatedBlock,
    drafts: &[DocumentDraft],
    texts: &Texts,
    limits: &Limits,
) -> Vec<ManagedObject> {
    let kind = block.labels.first().filter(|_| block.kind == "resource");
    let settings = match kind.map(String::as_str) {
        Some("kubectl_manifest") => RecreationSettings::of(block),
        Some("kubernetes_manifest" | RELEASE) => RecreationSettings::default(),
        _ => return Vec::new(),
    };
    let body = block.body.get("yaml_body").and_then(EvaluatedValue::as_str);
    let mut found = Vec::new();
    for draft in drafts {
        let trees: Vec<Tree> = match draft {
            DocumentDraft::Text(text, used) => {
                let documents = text::documents(text, *used, texts, limits).into_iter();
                documents
                    .filter_map(|placed| match placed.document {
                        Document::Read(tree) => Some(tree),
                        _ => None,
                    })
                    .collect()
            }
            DocumentDraft::Document(part) => {
                value::document(part, texts, limits.nodes, true).into_iter().collect()
            }
            _ => Vec::new(),
        };
        for tree in trees {
            let objects: Vec<(String, String)> = if block.labels.first().is_some_and(|kind| kind == RELEASE) {
                vec![(RELEASE.to_owned(), block.labels.get(1).cloned().unwrap_or_default())]
            } else {
                let named = |object: &Object<'_>| (object.kind().to_owned(), object.name().to_owned());
                Object::all(&tree).iter().map(named).collect()
            };
            if let [name] = objects.as_slice() {
                found.push(ManagedObject {
                    module: module.clone(),
                    address: block.address.clone(),
                    name: name.clone(),
                    body: body.map(str::to_owned),
                    settings,
                    existence: block.existence.clone(),
                    is_kept: keeps(&block.body),
                    tree,
                });
            }
        }
    }
    found
}

impl ManagedObject {
    /// The kind of the object.
    pub fn kind(&self) -> &str {
        &self.name.0
    }

    /// The name of the object.
    pub fn name(&self) -> &str {
        &self.name.1
    }

    /// The name of the file that has the text of the object, and the byte at which the text starts.
    pub fn start(&self) -> (&str, usize) {
        let root = self.tree.root();
        (root.source().name(), root.span().start)
    }

    /// The module of the resource.
    pub fn module(&self) -> &ModuleInstance {
        &self.module
    }

    /// Whether the provider deletes the object, to create it again as `new`.
    ///
    /// Sources: besides the ones of [`RecreationSettings`], `RequiresReplace` in `manifest/provider/plan.go` of
    /// hashicorp/terraform-provider-kubernetes, for another version of the API.
    fn is_recreated_as(&self, new: &Self) -> bool {
        if self.settings.is_never_deleted {
            return false;
        }
        let version = |object: &Self| object.tree.root().str_at(&["apiVersion"]).map(str::to_owned);
        let has_other_version = version(self) != version(new) && !new.settings.upgrades;
        has_other_version || (new.settings.is_forced && self.differs_from(new))
    }

    /// Whether the text is another one for certain. A value with a placeholder may be the same.
    fn differs_from(&self, new: &Self) -> bool {
        let (old_root, new_root) = (self.tree.root(), new.tree.root());
        let is_certain = || !has_placeholder_below(old_root) && !has_placeholder_below(new_root);
        differ(old_root, new_root) || (self.body != new.body && is_certain())
    }
}

/// Whether two nodes differ in values without placeholders.
fn differ(old: Node<'_>, new: Node<'_>) -> bool {
    let is_collection = |node: Node<'_>| matches!(node.value(), Value::Mapping | Value::Sequence);
    if !is_collection(old) || !is_collection(new) {
        return !has_placeholder_below(old) && !has_placeholder_below(new) && old.to_json() != new.to_json();
    }
    if old.is_mapping() != new.is_mapping() || old.children().count() != new.children().count() {
        return true;
    }
    old.children().zip(new.children()).any(|(old_child, new_child)| {
        let new_child = if old.is_mapping() { new.get(old_child.key()) } else { Some(new_child) };
        new_child.is_none_or(|new_child| differ(old_child, new_child))
    })
}

/// The objects of the resources of configurations.
#[derive(Debug, Default)]
pub struct ManagedObjects {
    pub(crate) objects: Vec<ManagedObject>,
    /// The names of the folders of the root modules, each with the names of the root modules with a file of variables that were evaluated apart.
    pub(crate) roots: BTreeMap<String, BTreeSet<String>>,
    moves: Vec<MovedAddress>,
}

/// Address that a block `moved` or `removed` names.
#[derive(Debug)]
struct MovedAddress {
    /// The name of the folder of the root module.
    root: String,
    from: String,
    /// The new address; `None` for a block `removed` that keeps the object.
    to: Option<String>,
}

impl ManagedObjects {
    /// Adds the addresses that a configuration moves, or removes without destroying their objects.
    ///
    /// Source: language/moved and language/block/removed in the documentation of Terraform.
    pub(crate) fn add_moves(&mut self, root: &str, configuration: &EvaluatedConfiguration) {
        for block in &configuration.blocks {
            let address = |name: &str| {
                let key = block.body.attributes.iter().find(|attribute| attribute.name == name)?.key;
                let rest = configuration.texts.get(key.text)?.text().get(key.span().end..)?;
                let value = rest.lines().next()?.trim_start().strip_prefix('=')?;
                let value = value.split(['#', '}']).next()?.split("//").next()?.trim();
                Some(without_first_key(&format!("{}{value}", block.module)))
            };
            let to = match block.kind.as_str() {
                "moved" => address("to"),
                "removed" if keeps(&block.body) => None,
                _ => continue,
            };
            let root = name_of(root);
            self.moves.extend(address("from").map(|from| MovedAddress { root, from, to }));
        }
    }

    /// The address of a resource after the moves; `None` if its object is kept without a resource.
    fn address_of(&self, root: &str, folder: &str, address: &str) -> Option<String> {
        let mut address = without_first_key(address);
        for _ in 0..=self.moves.len().min(MAX_MOVES) {
            let rest = |one: &MovedAddress| {
                let rest = address.strip_prefix(one.from.as_str())?;
                let is_there =
                    within(&one.root, folder) == root && (rest.is_empty() || rest.starts_with(['.', '[']));
                is_there.then(|| rest.to_owned())
            };
            let Some((one, rest)) = self.moves.iter().find_map(|one| Some((one, rest(one)?))) else { break };
            address = format!("{}{rest}", one.to.as_ref()?);
        }
        Some(address)
    }
}

/// Whether a block has `lifecycle { destroy = false }`.
///
/// Source: `Destroy` in `internal/configs/removed.go` of hashicorp/terraform and of opentofu/opentofu.
fn keeps(body: &BlockBody) -> bool {
    let mut nested = body.blocks.iter().filter(|nested| nested.kind == "lifecycle");
    nested.any(|nested| nested.body.get("destroy").and_then(EvaluatedValue::as_bool) == Some(false))
}

/// Whether a text may have a block `removed` that keeps objects.
pub(crate) fn may_forget(text: &str) -> bool {
    text.contains("removed") && text.contains("destroy")
}

/// Number of blocks `moved` that are followed one after the other.
const MAX_MOVES: usize = 16;

/// An address without the key of single instances: Terraform moves them between `a` and `a[0]` without a block.
///
/// Source: "Enabling `count` or `for_each`" in language/moved of the documentation of Terraform.
fn without_first_key(address: &str) -> String {
    address.replace("[0]", "")
}

/// An address without the keys of its instances.
fn without_keys(address: &str) -> String {
    address.split('[').map(|part| part.rsplit_once(']').map_or(part, |(_, rest)| rest)).collect()
}

/// The certainty with which Terraform deletes an object that the other side may have again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// The same resource, or one of another address in the same root module, creates the object again.
    Certain,
    /// Another root module or another file has the object: the order of both decides.
    ByOrder,
    /// Only Terraform knows whether the resource still exists, because its `count` or `for_each` is another one, or whether a resource that goes
    /// ever existed.
    ByCount,
    /// A command may have deleted the objects of a file of variables before the file went. Without one, they stay.
    ByCommand,
}

/// The objects that Terraform deletes although the other side may have them again. Each side has the start of the names of its files.
pub fn recreated<'o>(
    old: (&'o ManagedObjects, &str),
    new: (&ManagedObjects, &str),
) -> Vec<(&'o ManagedObject, Deletion)> {
    type Place<'n> = (&'n str, String, &'n ManagedObject);
    let root = |object: &'o ManagedObject| within(&object.module.root, old.1);
    let mut news: BTreeMap<&(String, String), Vec<Place<'_>>> = BTreeMap::new();
    for one in &new.0.objects {
        let entry = (within(&one.module.root, new.1), without_first_key(&one.address), one);
        news.entry(&one.name).or_default().push(entry);
    }
    let roots: BTreeSet<&str> = new.0.objects.iter().map(|one| within(&one.module.root, new.1)).collect();
    let old_roots: BTreeSet<&str> = old.0.objects.iter().map(root).collect();
    let without_variables = without_variables(old, new);
    let deletion = |one: &'o ManagedObject| -> Option<Deletion> {
        let root = root(one);
        let address = new.0.address_of(root, new.1, &one.address)?;
        let named = news.get(&one.name).map(Vec::as_slice).unwrap_or_default();
        // The folder of a root module that goes may have another name, which is new.
        let is_same_root =
            |other: &str| other == root || !(roots.contains(root) || old_roots.contains(other));
        let same = named.iter().find(|(other, place, _)| is_same_root(other) && *place == address);
        if let Some((.., same)) = same {
            if one.is_recreated_as(same) {
                return Some(Deletion::Certain);
            }
            let may_go = same.existence.is_some() && same.existence != one.existence;
            return (may_go && !one.settings.is_never_deleted).then_some(Deletion::ByCount);
        }
        if one.settings.is_never_deleted || one.is_kept {
            return None;
        }
        if without_variables.contains(root) {
            return Some(Deletion::ByCommand);
        }
        if named.is_empty() && one.existence.is_some() {
            return Some(Deletion::ByCount);
        }
        // The keys of instances may not be known.
        let is_other = |place: &str| without_keys(place) != without_keys(&address);
        let is_certain = named.iter().any(|(other, place, _)| *other == root && is_other(place));
        Some(if is_certain { Deletion::Certain } else { Deletion::ByOrder })
    };
    old.0.objects.iter().filter_map(|one| Some((one, deletion(one)?))).collect()
}

/// Whether files of variables that a command names tell the clusters of a root module apart on one side only. Each side has the start of the names of
/// its files.
pub fn variables_differ(old: (&ManagedObjects, &str), new: (&ManagedObjects, &str)) -> bool {
    let news = apart_by_root(new);
    apart_by_root(old)
        .iter()
        .any(|(root, apart)| news.get(root).is_some_and(|one| one.is_empty() != apart.is_empty()))
}

/// The names of the root modules with a file of variables, by the folder of the root module.
fn apart_by_root<'o>((objects, side): (&'o ManagedObjects, &str)) -> BTreeMap<&'o str, BTreeSet<&'o str>> {
    let roots = objects.roots.iter();
    roots
        .map(|(root, apart)| (within(root, side), apart.iter().map(|name| within(name, side)).collect()))
        .collect()
}

/// The names of the root modules whose file of variables is gone, although the root module has others.
fn without_variables<'o>(old: (&'o ManagedObjects, &str), new: (&ManagedObjects, &str)) -> BTreeSet<&'o str> {
    let news = apart_by_root(new);
    let mut gone = BTreeSet::new();
    for (root, apart) in apart_by_root(old) {
        let left = news.get(root).filter(|left| !left.is_empty());
        gone.extend(
            left.into_iter().flat_map(|left| apart.iter().filter(|name| !left.contains(*name)).copied()),
        );
    }
    gone
}

/// The objects that stay in the cluster when Terraform drops their resources from its state. Each side has the start of the names of its files.
pub fn forgotten<'o>(
    old: (&'o ManagedObjects, &str),
    new: (&ManagedObjects, &str),
) -> Vec<&'o ManagedObject> {
    let place = |one: &ManagedObject, side| (within(&one.module.root, side).to_owned(), one.address.clone());
    let known: BTreeSet<(String, String)> = new.0.objects.iter().map(|one| place(one, new.1)).collect();
    let is_forgotten = |one: &&ManagedObject| {
        let address = new.0.address_of(within(&one.module.root, old.1), new.1, &one.address);
        address.is_none() || (one.is_kept && !known.contains(&place(one, old.1)))
    };
    old.0.objects.iter().filter(is_forgotten).collect()
}

/// The folder of a root module from the start of its side: the empty text for a side that is one file.
fn within<'n>(root: &'n str, side: &str) -> &'n str {
    let root = if root == "." { "" } else { root };
    match root.strip_prefix(side) {
        Some(rest) => rest.trim_start_matches('/'),
        None if side.rsplit_once('/').map_or("", |(folder, _)| folder) == root => "",
        None => root,
    }
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn root_modules_of_both_sides_have_the_same_folder() {
        for (root, side, folder) in [
            ("old/live", "old", "live"),
            ("old", "old", ""),
            ("live", "", "live"),
            (".", "", ""),
            (".", "old.tf", ""),
            ("old", "old/main.tf", ""),
            ("../modules", "old", "../modules"),
        ] {
            assert_eq!(within(root, side), folder, "{root} {side}");
        }
    }
}
