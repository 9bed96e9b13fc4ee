//! Objects that Terraform deletes although both sides have them: it creates them again, for the same resource or for another one. And objects
//! that it forgets: they stay.

use std::collections::{BTreeMap, BTreeSet};

use answers::plan::PlannedChange;
use drift::{ConcernedPools, Effect, ObjectChangeKind};
use karpenter::kind::Kind;
use manifest::is_terraform;
use manifest::tree::{ModuleInstance, Node};
use objects::object::Object;

use super::change::{PlanChange, stranded, unchanged};
use super::retained;
use super::scope::{ModulesByPlace, PLANNED, PlanScope, place_key};

/// Object of the old side whose resource Terraform removes or replaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TerraformObject {
    /// The name of the file.
    pub file: String,
    /// The byte at which the document starts.
    pub start: usize,
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
    /// The module of the resource in a configuration.
    pub module: Option<ModuleInstance>,
    /// The action of Terraform on the object.
    pub fate: TerraformFate,
}

/// The action of Terraform on an object whose resource it removes or replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TerraformFate {
    /// Deletes the object, before it creates a new one.
    Deletes,
    /// Deletes the object, which another tool or another root module may have created by then: the order of both decides.
    MayDelete,
    /// Deletes the object if its resource no longer exists, or if the removed resource existed. That depends on a `count` or a `for_each` that only
    /// Terraform knows.
    MayLeaveOut,
    /// Deletes the object if a command destroys the resources of a file of variables that is gone.
    MayDestroy,
    /// Drops the resource from its state: the object stays.
    Forgets,
}

/// Start of the consequence for an object that is created again.
const SUBJECT: &str = "Terraform deletes ";

/// The start of the message about a removed object that the cluster may never have had.
const NEVER_MADE: &str = "it may never have been in the cluster: ";

/// Whether a message says that a removed object may not have been in the cluster.
pub(super) fn says_that_it_may_never_have_been(message: &str) -> bool {
    message.starts_with(NEVER_MADE)
}

/// The cause for the verdict, if a change is such a one.
pub(super) fn cause(change: &PlannedChange) -> Option<&str> {
    let is_one = change.change == ObjectChangeKind::Changed && change.message.starts_with(SUBJECT);
    change.message.split(": ").next().filter(|_| is_one)
}

/// Adds the objects of the old side that Terraform deletes.
pub(super) fn add<'d>(
    found: &mut Vec<PlanChange<'d>>,
    scope: &PlanScope<'d>,
    objects: &BTreeSet<TerraformObject>,
) {
    if objects.is_empty() {
        return;
    }
    let pools = ConcernedPools::of(scope.old.iter().chain(&scope.new));
    let left = ConcernedPools::of(&scope.new);
    let name = |object: &Object<'d>| (object.kind(), object.name());
    let is_planned = |object: &&Object<'d>| PLANNED.into_iter().any(|kind| object.is_in_any_version(kind));
    let fate = |object: &Object<'d>| {
        let is_it = |fate: &TerraformFate| has_fate(*object, &scope.modules, *fate, objects);
        let all = [
            TerraformFate::Deletes,
            TerraformFate::MayDelete,
            TerraformFate::MayLeaveOut,
            TerraformFate::MayDestroy,
        ];
        all.into_iter().find(is_it)
    };
    let news: BTreeMap<(&str, &str), Object<'d>> =
        scope.new.iter().filter(is_planned).map(|object| (name(object), *object)).collect();
    let mut positions: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (at, change) in found.iter().enumerate() {
        positions.extend(change.change.object().map(|object| (name(&object), at)));
    }
    for old in scope.old.iter().filter(is_planned) {
        let Some(fate) = fate(old) else { continue };
        let Some(new) = news.get(&name(old)).copied() else {
            if let Some(removal) = positions.get(&name(old)).and_then(|at| found.get_mut(*at)) {
                doubt_removal(removal, *old, fate);
            }
            continue;
        };
        let at = *positions.entry(name(old)).or_insert(found.len());
        if at == found.len() {
            found.push(unchanged(*old, new, &pools));
        }
        if let Some(change) = found.get_mut(at) {
            match fate {
                TerraformFate::Deletes => recreate(change, new, &left),
                TerraformFate::MayLeaveOut => leave_out(change, new),
                TerraformFate::MayDelete | TerraformFate::MayDestroy | TerraformFate::Forgets => {
                    hand_over(change, new);
                }
            }
        }
    }
}

/// Whether Terraform does this to an object of the old side, for one of the modules with which a scope has the object.
fn has_fate(
    object: Object<'_>,
    modules: &ModulesByPlace<'_>,
    fate: TerraformFate,
    objects: &BTreeSet<TerraformObject>,
) -> bool {
    let document = object.root().tree().root();
    let has_fate_in = |module: Option<&ModuleInstance>| {
        objects.contains(&TerraformObject {
            file: document.source().name().to_owned(),
            start: document.span().start,
            kind: object.kind().to_owned(),
            name: object.name().to_owned(),
            module: module.cloned(),
            fate,
        })
    };
    match modules.get(&place_key(object)) {
        Some(modules) => modules.iter().any(|module| has_fate_in(Some(module))),
        None => has_fate_in(None),
    }
}

/// Keeps the objects of the old side that Terraform forgets: the cluster has them still.
pub(super) fn keep_forgotten(scopes: &mut [PlanScope<'_>], objects: &BTreeSet<TerraformObject>) {
    if !objects.iter().any(|object| object.fate == TerraformFate::Forgets) {
        return;
    }
    for PlanScope { old, new, modules, .. } in scopes {
        let known: BTreeSet<(String, String)> =
            new.iter().map(|object| (object.kind().to_owned(), object.name().to_owned())).collect();
        let is_kept = |object: &&Object<'_>| {
            has_fate(**object, modules, TerraformFate::Forgets, objects)
                && !known.contains(&(object.kind().to_owned(), object.name().to_owned()))
        };
        let kept: Vec<_> = old.iter().filter(is_kept).copied().collect();
        new.extend(kept);
    }
}

/// Whether Terraform forgets the resource whose document starts at a node.
pub(super) fn is_forgotten(document: Node<'_>, objects: &BTreeSet<TerraformObject>) -> bool {
    let place = (document.source().name(), document.span().start);
    objects
        .iter()
        .any(|object| object.fate == TerraformFate::Forgets && (object.file.as_str(), object.start) == place)
}

fn recreate<'d>(change: &mut PlanChange<'d>, new: Object<'d>, left: &ConcernedPools<'d>) {
    let (kind, name) = (new.kind(), new.name());
    let subject = format!("{SUBJECT}{kind} {name} and creates it again");
    change.is_recreated = true;
    if new.is_in_any_version(Kind::NODE_POOL) {
        (change.change.effect, change.change.reason) = (Effect::RemovesNodes, None);
        change.message = format!(
            "{subject}: Karpenter drains its nodes at once, without budgets, and makes no replacement first"
        );
        return;
    }
    change.change.effect = change.change.effect.max(Effect::ActsAtOnce);
    let consequence = if new.is_in_any_version(Kind::NODE_CLASS) {
        let launches = stranded(left, name).map(|pools| format!(", and until then {pools}"));
        let launches = launches.unwrap_or_default();
        format!("its finalizer keeps it until the last NodeClaim that uses it is gone{launches}")
    } else {
        "until then, Karpenter launches and consolidates without it".to_owned()
    };
    change.message = format!("{subject}: {consequence}");
}

/// Changes an object whose resource may no longer exist.
fn leave_out<'d>(change: &mut PlanChange<'d>, new: Object<'d>) {
    let what = weaken(change, new);
    change.message = format!(
        "another `count` or `for_each` decides whether {} has the {}, and only Terraform knows it: without an instance, Terraform deletes {what}",
        new.root().source().name(),
        new.kind()
    );
}

/// Weakens the removal of an object that the cluster may never have had, or that stays without a command.
fn doubt_removal<'d>(change: &mut PlanChange<'d>, old: Object<'d>, fate: TerraformFate) {
    let (file, kind) = (old.root().source().name(), old.kind());
    let what = if old.is_in_any_version(Kind::NODE_POOL) { "it and its nodes" } else { "it" };
    match fate {
        TerraformFate::MayLeaveOut => {
            change.change.effect = change.change.effect.min(Effect::Unknown);
            change.message = format!(
                "{NEVER_MADE}a `count` or a `for_each` decides whether {file} had the {kind}, and only Terraform knows it; with an instance, Terraform deletes {what}"
            );
        }
        TerraformFate::MayDestroy => retained::set_open(
            change,
            &format!(
                "the file of variables with which {file} had the {kind} is gone, and Terraform deletes {what} only if a command destroys the resources of that file"
            ),
        ),
        TerraformFate::Deletes | TerraformFate::MayDelete | TerraformFate::Forgets => {}
    }
}

/// Changes an object that Terraform deletes and that something else creates: if Terraform comes last, the object is gone.
fn hand_over<'d>(change: &mut PlanChange<'d>, new: Object<'d>) {
    let file = new.root().source().name();
    let what = weaken(change, new);
    let kind = new.kind();
    change.message = if is_terraform(file) {
        format!(
            "{file} has the {kind} at another address or in another root module: Terraform deletes {what}, unless a block `moved` or `removed` keeps it"
        )
    } else {
        format!(
            "{file} takes the {kind} over from Terraform, which deletes {what} if it runs last, unless a block `removed` makes it forget the resource"
        )
    };
}

/// Gives a change the effect of an object that may be deleted. Returns what would be deleted.
fn weaken<'d>(change: &mut PlanChange<'d>, new: Object<'d>) -> &'static str {
    let (strongest, what) = if new.is_in_any_version(Kind::NODE_POOL) {
        (Effect::Unknown, "it and its nodes")
    } else {
        (Effect::ActsAtOnce, "it")
    };
    if change.change.effect < strongest {
        (change.change.effect, change.change.reason) = (strongest, None);
    }
    what
}
