//! Documents of a plan of Terraform, compared by the resource that makes them.

use std::collections::{BTreeMap, BTreeSet};

use karpwarden::plan::{TerraformFate, TerraformObject};
use manifest::tree::{Node, Tree};
use manifest::{Document, File};
use objects::object::Object;
use terraform_objects::{Deletion, ManagedObject, ManagedObjects, planned_address};

/// Kinds whose objects a plan compares.
const PLANNED: [&str; 3] = ["NodePool", "EC2NodeClass", "NodeOverlay"];

/// The actions of a change of a resource.
fn actions(change: Node<'_>) -> impl Iterator<Item = &str> {
    change.at_path(&["change", "actions"]).into_iter().flat_map(Node::children).filter_map(Node::as_str)
}

/// The objects of the resources that Terraform deletes, also to create them again.
pub(super) fn deleted(changes: &[Node<'_>], old: &[File]) -> BTreeSet<TerraformObject> {
    let is_deleted = |change: &&Node<'_>| actions(**change).any(|action| action == "delete");
    let deleted: BTreeSet<&str> =
        changes.iter().filter(is_deleted).filter_map(|change| change.str_at(&["address"])).collect();
    let is_of_deleted =
        |tree: &&Tree| planned_address(tree).is_some_and(|address| deleted.contains(address.as_str()));
    let objects = |tree: &Tree| -> Vec<TerraformObject> {
        let root = tree.root();
        let object = |object: &Object<'_>| TerraformObject {
            file: root.source().name().to_owned(),
            start: root.span().start,
            kind: object.kind().to_owned(),
            name: object.name().to_owned(),
            module: tree.modules().first().cloned(),
            fate: TerraformFate::Deletes,
        };
        Object::all(tree).iter().map(object).collect()
    };
    old.iter().flat_map(trees).filter(is_of_deleted).flat_map(objects).collect()
}

/// The objects of resources in configurations that Terraform deletes although the new side may have them again, and the ones that it forgets.
/// Each side has the start of the names of its files.
pub(super) fn removed_or_replaced(
    old: (&ManagedObjects, &str),
    new: (&ManagedObjects, &str),
) -> BTreeSet<TerraformObject> {
    let object = |object: &ManagedObject, fate| {
        let (file, start) = object.start();
        let (kind, name) = (object.kind().to_owned(), object.name().to_owned());
        let module = Some(object.module().clone());
        TerraformObject { file: file.to_owned(), start, kind, name, module, fate }
    };
    let recreated = terraform_objects::recreated(old, new).into_iter().map(|(one, deletion)| {
        let fate = match deletion {
            Deletion::Certain => TerraformFate::Deletes,
            Deletion::ByOrder => TerraformFate::MayDelete,
            Deletion::ByCount => TerraformFate::MayLeaveOut,
            Deletion::ByCommand => TerraformFate::MayDestroy,
        };
        object(one, fate)
    });
    let forgotten = terraform_objects::forgotten(old, new).into_iter();
    recreated.chain(forgotten.map(|one| object(one, TerraformFate::Forgets))).collect()
}

fn trees(file: &File) -> impl Iterator<Item = &Tree> {
    file.trees()
}

/// A resource on one side of a plan, by the place of its address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShownBody {
    /// The body is sensitive, or known only later.
    Hidden,
    /// An object, and whether a plan compares it.
    Object { is_planned: bool },
}

fn shown(files: &[File]) -> BTreeMap<(String, usize), ShownBody> {
    let mut all = BTreeMap::new();
    for file in files {
        for document in &file.documents {
            let name = file.source.name().to_owned();
            match document {
                Document::Read(tree) if planned_address(tree).is_some() => {
                    let is_planned = Object::all(tree).iter().any(|one| PLANNED.contains(&one.kind()));
                    all.insert((name, tree.root().span().start), ShownBody::Object { is_planned });
                }
                Document::Unevaluated { span, .. } => {
                    all.insert((name, span.start), ShownBody::Hidden);
                }
                _ => {}
            }
        }
    }
    all
}

/// Leaves out the hidden bodies that change no node: of a resource that does not change or is new, and of another kind of object. Of a
/// resource that changes and whose body is hidden on both sides, only the new body is left, so that the sides differ.
pub(super) fn leave_out_alike(changes: &[Node<'_>], old: &mut [File], new: &mut [File]) {
    // Terraform drops a resource from its state with `forget`, and its object stays.
    let is_changed =
        |change: &&Node<'_>| actions(**change).any(|action| !matches!(action, "no-op" | "read" | "forget"));
    let addresses = changes.iter().filter(is_changed).filter_map(|change| change.get("address"));
    let touched: BTreeSet<usize> = addresses.map(|address| address.span().start).collect();
    let (olds, news) = (shown(old), shown(new));
    let leave_out = |files: &mut [File], is_left: &dyn Fn(&(String, usize)) -> bool| {
        for file in files {
            let name = file.source.name().to_owned();
            file.documents.retain(|document| match document {
                Document::Unevaluated { span, .. } => is_left(&(name.clone(), span.start)),
                _ => true,
            });
        }
    };
    leave_out(old, &|place| match news.get(place) {
        Some(ShownBody::Hidden) => false,
        Some(ShownBody::Object { is_planned }) => *is_planned,
        None => true,
    });
    leave_out(new, &|place| match olds.get(place) {
        Some(ShownBody::Hidden) => touched.contains(&place.1),
        Some(ShownBody::Object { is_planned }) => *is_planned,
        None => false,
    });
}
