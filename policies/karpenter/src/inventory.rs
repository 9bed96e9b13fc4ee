//! The other objects of the cluster, looked up through the host.

use karpwarden::REGISTRY;
use karpwarden::karpenter::kind::Kind;
use karpwarden::lint::rule::Rule;
use karpwarden::lint::settings::Settings;
use karpwarden::manifest::tree::items_of;
use karpwarden::objects::object::Object;

use crate::host::{Host, api_version, list};
use crate::list::List;

/// The kinds that the policy looks up, with the fields that rules read. The host keeps one watch for each set of fields, so each
/// kind has one set. `metadata` is always included.
pub const LOOKED_UP: [(Kind, &[&str]); 3] = [
    (
        Kind::NODE_POOL,
        &[
            "spec.template.metadata.labels",
            "spec.template.spec.nodeClassRef",
            "spec.template.spec.requirements",
            "spec.template.spec.taints",
        ],
    ),
    (Kind::NODE_CLASS, &["metadata.name"]),
    (Kind::STORAGE_CLASS, &["provisioner", "volumeBindingMode", "allowedTopologies"]),
];

/// The lists that the host returned.
#[derive(Debug, Default)]
pub struct Lists {
    by_kind: Vec<(Kind, List)>,
    /// Whether every kind that the rules want was looked up. What was not looked up may exist.
    pub(crate) is_complete: bool,
    /// One warning for each kind that could not be looked up.
    pub warnings: Vec<String>,
}

impl Lists {
    /// Looks up the kinds that the enabled rules want for this object, if the settings allow it.
    pub fn fetch(object: Object<'_>, settings: &Settings, host: &dyn Host) -> Self {
        let mut lists = Self { is_complete: true, ..Self::default() };
        let wants = |rule: &&Rule| {
            !rule.inventory.is_empty()
                && settings.enables(rule)
                && rule.applies(object)
                && (rule.looks_up)(object)
        };
        let wanting: Vec<&Rule> = REGISTRY.rules().filter(wants).collect();
        for (kind, fields) in LOOKED_UP {
            if !wanting.iter().any(|rule| rule.inventory.contains(&kind)) {
                continue;
            }
            if !settings.look_ups.include(kind) {
                lists.is_complete = false;
                continue;
            }
            match list(host, kind, fields).and_then(|bytes| List::read(&bytes, object)) {
                Ok(list) => lists.by_kind.push((kind, list)),
                Err(reason) => {
                    lists.is_complete = false;
                    lists.warnings.push(format!(
                        "{} {} objects could not be looked up, so nothing was compared with them: {reason}",
                        api_version(kind),
                        kind.name,
                    ));
                }
            }
        }
        lists
    }

    /// All objects, with the reviewed object in place of its stored state.
    pub(crate) fn all<'d>(&'d self, reviewed: Object<'d>) -> Vec<Object<'d>> {
        let items = self.by_kind.iter().flat_map(|(kind, list)| {
            let items = items_of(list.whole().and_then(|tree| tree.root().get("items")));
            items.map(|item| Object::of_kind(item, *kind))
        });
        with_reviewed(reviewed, items)
    }

    /// The reviewed object with the few NodePools that probably take its pods; `None` without such NodePools.
    ///
    /// A pod that one of them takes has no finding about NodePools, whatever the other NodePools are. So the other NodePools
    /// matter only if such a finding remains.
    pub(crate) fn few<'d>(&'d self, reviewed: Object<'d>) -> Option<Vec<Object<'d>>> {
        let [(Kind::NODE_POOL, list)] = self.by_kind.as_slice() else { return None };
        let items = list.few().iter().map(|tree| Object::of_kind(tree.root(), Kind::NODE_POOL));
        (!list.few().is_empty()).then(|| with_reviewed(reviewed, items))
    }
}

fn with_reviewed<'d>(reviewed: Object<'d>, listed: impl Iterator<Item = Object<'d>>) -> Vec<Object<'d>> {
    let same = |object: &Object<'_>| {
        object.kind() == reviewed.kind()
            && object.group() == reviewed.group()
            && object.namespace() == reviewed.namespace()
            && object.name() == reviewed.name()
    };
    core::iter::once(reviewed).chain(listed.filter(|object| !same(object))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kinds in the inventory of rules that the policy does not look up, with the reason.
    const NOT_LOOKED_UP: [(Kind, &str); 1] =
        [(Kind::NODE_OVERLAY, "alpha, and its CRD exists only since Karpenter 1.7")];

    #[test]
    fn looks_up_the_inventory_of_every_rule() {
        for rule in REGISTRY.rules() {
            for kind in rule.inventory {
                let is_looked_up = LOOKED_UP.iter().any(|(one, _)| one == kind);
                let is_exempt = NOT_LOOKED_UP.iter().any(|(one, _)| one == kind);
                assert!(is_looked_up != is_exempt, "{}: {}", rule.name, kind.name);
            }
        }
        let kinds = LOOKED_UP.iter().map(|(kind, _)| kind).chain(NOT_LOOKED_UP.iter().map(|(kind, _)| kind));
        for kind in kinds {
            let is_declared = REGISTRY.rules().any(|rule| rule.inventory.contains(kind));
            assert!(is_declared, "no rule needs {}", kind.name);
        }
    }
}
