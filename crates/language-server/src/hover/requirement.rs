//! The instance types that a requirement of a NodePool leaves, alone and together with the others.

use objects::node_pool::NodePool;
use objects::object::Object;
use objects::requirement::RequirementItem;

use super::{HoverQuestion, item_at};
use crate::folder::objects;
use crate::outline::EntryStep;
use crate::pool_types::{PoolSurroundings, price};

const REQUIREMENTS: [&str; 4] = ["spec", "template", "spec", "requirements"];

/// The numbers of instance types for the requirement at a path.
pub(super) fn counted(
    question: &HoverQuestion<'_>,
    object: Object<'_>,
    path: &[EntryStep<'_>],
) -> Option<String> {
    let index = item_at(path, &REQUIREMENTS);
    let is_list = path == REQUIREMENTS.map(EntryStep::Key);
    let pool = NodePool::of(object).filter(|_| index.is_some() || is_list)?;
    let folder = question.folder?;
    let surroundings = PoolSurroundings::of(folder, &objects(folder, folder.file_of(question.document)));
    let counts = surroundings.types(pool)?;
    let together = match counts.cheapest.first() {
        Some((name, cheapest)) => {
            format!("all requirements together leave {}, from `{name}` at {}", counts.left, price(*cheapest))
        }
        None => format!("all requirements together leave {}", counts.left),
    };
    let Some(index) = index else {
        return Some(format!("Of {} instance types {together}\n", counts.all));
    };
    let alone = counts.requirements.iter().find(|one| Some(one.item.node()) == item(pool, index));
    Some(match alone.and_then(|one| one.types) {
        Some(types) => {
            format!("This requirement leaves {types} of {} instance types; {together}\n", counts.all)
        }
        None => format!("Instance types do not have this label; of {} {together}\n", counts.all),
    })
}

fn item(pool: NodePool<'_>, index: usize) -> Option<manifest::tree::Node<'_>> {
    pool.requirements().items().nth(index).map(RequirementItem::node)
}
