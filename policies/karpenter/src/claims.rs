//! The NodeClaims of a list, cut down to what rules read about the nodes of a NodePool or an EC2NodeClass. A cluster has thousands of
//! NodeClaims, and each has dozens of labels.

use std::collections::BTreeSet;

use karpwarden::drift::HashedKind;
use karpwarden::karpenter::labels::normalised;
use karpwarden::manifest::json::{Cursor, Unexpected};
use karpwarden::objects::node_pool::NodePool;
use karpwarden::objects::object::Object;
use karpwarden::objects::requirement::RequirementItem;

use crate::list::each_item;

/// The label with the NodePool of a NodeClaim.
const POOL: &str = "karpenter.sh/nodepool";

/// The annotations with the hashes of a NodeClaim.
const HASHES: [&str; 4] = [
    HashedKind::NodePool.annotation(),
    HashedKind::NodePool.version_annotation(),
    HashedKind::NodeClass.annotation(),
    HashedKind::NodeClass.version_annotation(),
];

/// The list of the NodeClaims that name an object, as JSON. Each has its name, the time of its deletion, its hashes, its node
/// class, and of its labels the NodePool and those that the object, a NodePool, requires. An error if the text is not a list.
pub(crate) fn cut_down(text: &str, object: Object<'_>) -> Result<String, Unexpected> {
    let requirements = NodePool::of(object).map(NodePool::requirements);
    let keys = requirements.iter().flat_map(|list| list.items()).filter_map(RequirementItem::key);
    let keys: BTreeSet<&str> = keys.map(normalised).chain([POOL]).collect();
    // A name in Kubernetes needs no escapes.
    let name = format!("\"{}\"", object.name());
    let mut list = "{\"items\":[".to_owned();
    let start = list.len();
    each_item(text, |claim| {
        let before = list.len();
        if before > start {
            list.push(',');
        }
        claim.enter_object()?;
        let mut members = Members::of(&mut list);
        while let Some(key) = claim.next_key()? {
            match key {
                "metadata" => metadata(claim, &keys, members.nested(key))?,
                "spec" => Members::of(members.nested(key)).copy(claim, |key| key == "nodeClassRef")?,
                _ => drop(claim.skip()?),
            }
        }
        members.end();
        if !list.get(before..).is_some_and(|claim| claim.contains(&name)) {
            list.truncate(before);
        }
        Ok(true)
    })?;
    list.push_str("]}");
    Ok(list)
}

fn metadata(claim: &mut Cursor<'_>, keys: &BTreeSet<&str>, list: &mut String) -> Result<(), Unexpected> {
    claim.enter_object()?;
    let mut members = Members::of(list);
    while let Some(key) = claim.next_key()? {
        match key {
            "labels" => Members::of(members.nested(key)).copy(claim, |key| keys.contains(normalised(key)))?,
            "annotations" => Members::of(members.nested(key)).copy(claim, |key| HASHES.contains(&key))?,
            "name" | "deletionTimestamp" => members.nested(key).push_str(claim.skip()?),
            _ => drop(claim.skip()?),
        }
    }
    members.end();
    Ok(())
}

/// Writer of an object.
struct Members<'l> {
    list: &'l mut String,
    is_first: bool,
}

impl<'l> Members<'l> {
    fn of(list: &'l mut String) -> Self {
        list.push('{');
        Self { list, is_first: true }
    }

    /// Writes a key, whose value the caller writes.
    fn nested(&mut self, key: &str) -> &mut String {
        if !core::mem::take(&mut self.is_first) {
            self.list.push(',');
        }
        self.list.push('"');
        self.list.push_str(key);
        self.list.push_str("\":");
        self.list
    }

    /// Copies some members of an object, and ends this one.
    fn copy(mut self, object: &mut Cursor<'_>, is_kept: impl Fn(&str) -> bool) -> Result<(), Unexpected> {
        object.enter_object()?;
        while let Some(key) = object.next_key()? {
            let value = object.skip()?;
            if is_kept(key) {
                self.nested(key).push_str(value);
            }
        }
        self.end();
        Ok(())
    }

    fn end(self) {
        self.list.push('}');
    }
}
