//! Clusters whose folder or overlay has another name after the change.

use std::collections::{BTreeMap, BTreeSet};

use karpenter::kind::Kind;
use manifest::tree::Node;
use objects::object::Object;

use super::scope::{PlanScope, is_planned};

/// Largest number of pairs of clusters that are compared.
const MAX_PAIRS: usize = 10_000;

/// The scopes, with one scope for two of which the first has objects only before and the second only after the change, if both have the
/// same NodePools. The objects of the cluster are then compared with one another.
pub(super) fn paired(scopes: Vec<PlanScope<'_>>) -> Vec<PlanScope<'_>> {
    let is_empty = |objects: &[Object<'_>]| !objects.iter().any(|object| is_planned(*object));
    let of = |is_there: &dyn Fn(&PlanScope<'_>) -> bool| -> Vec<usize> {
        let all = scopes.iter().enumerate();
        all.filter(|(_, scope)| is_there(scope)).map(|(index, _)| index).collect()
    };
    let gone = of(&|scope| !is_empty(&scope.old) && is_empty(&scope.new));
    let added = of(&|scope| is_empty(&scope.old) && !is_empty(&scope.new));
    if gone.len().saturating_mul(added.len()) > MAX_PAIRS {
        return scopes;
    }
    let named = |index: &usize, is_old: bool| {
        let scope = scopes.get(*index);
        let objects = scope.map(|scope| if is_old { &scope.old } else { &scope.new });
        (*index, objects.map(|objects| ObjectsByName::of(objects)).unwrap_or_default())
    };
    let gone: Vec<_> = gone.iter().map(|index| named(index, true)).collect();
    let added: Vec<_> = added.iter().map(|index| named(index, false)).collect();
    let mut alike: Vec<(Likeness, usize, usize)> = Vec::new();
    for (old, before) in &gone {
        let compared = added.iter().filter_map(|(new, after)| Some((before.likeness(after)?, *old, *new)));
        let compared: Vec<_> = compared.collect();
        let most = compared.iter().map(|(likeness, ..)| *likeness).max();
        let best: Vec<_> = compared.into_iter().filter(|(likeness, ..)| Some(*likeness) == most).collect();
        // Of several clusters, each may be the old one. Which one makes no difference only if all have the same objects.
        if best.len() == 1 || most.is_some_and(|most| most.equal == before.0.len()) {
            alike.extend(best);
        }
    }
    alike.sort_by_key(|(likeness, old, new)| (std::cmp::Reverse(*likeness), *old, *new));
    let mut pairs: BTreeMap<usize, usize> = BTreeMap::new();
    let mut used = BTreeSet::new();
    for (_, old, new) in alike {
        if !used.contains(&old) && !pairs.contains_key(&new) {
            used.insert(old);
            pairs.insert(new, old);
        }
    }
    let mut all: Vec<Option<PlanScope<'_>>> = scopes.into_iter().map(Some).collect();
    for (new, old) in pairs {
        let Some(before) = all.get_mut(old).and_then(Option::take) else { continue };
        if let Some(after) = all.get_mut(new).and_then(Option::as_mut) {
            after.was = Some(before.name);
            after.old = before.old;
            after.unresolved.extend(before.unresolved);
            for (place, modules) in before.modules {
                after.modules.entry(place).or_default().extend(modules);
            }
            after.is_whole = after.is_whole && before.is_whole;
        }
    }
    all.into_iter().flatten().collect()
}

/// The number of NodePools that two clusters both have, else of other objects, and how many objects are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Likeness {
    shared: usize,
    equal: usize,
}

/// The planned objects of a scope by kind and name, each with its content.
#[derive(Debug, Default)]
struct ObjectsByName<'d>(BTreeMap<(&'d str, &'d str), Option<Node<'d>>>);

impl<'d> ObjectsByName<'d> {
    fn of(objects: &[Object<'d>]) -> Self {
        let planned = objects.iter().filter(|object| is_planned(**object));
        Self(planned.map(|object| ((object.kind(), object.name()), object.at(&["spec"]))).collect())
    }

    /// The likeness of two clusters; `None` if they have nothing in common that tells a cluster.
    fn likeness(&self, other: &Self) -> Option<Likeness> {
        let is_pool = |(kind, _): &(&str, &str)| *kind == Kind::NODE_POOL.name;
        let has_pools = self.0.keys().any(is_pool);
        let counted = self.0.keys().filter(|key| is_pool(key) == has_pools);
        let shared = counted.filter(|key| other.0.contains_key(*key)).count();
        let text = |node: &Option<Node<'d>>| node.map(|node| node.to_json().to_string());
        let is_equal = |(key, spec): &(&(&str, &str), &Option<Node<'d>>)| {
            other.0.get(*key).is_some_and(|one| text(one) == text(spec))
        };
        let equal = self.0.iter().filter(is_equal).count();
        (shared > 0).then_some(Likeness { shared, equal })
    }
}
