//! Removed objects that may stay in the cluster, because Flux, Argo CD or Helm does not delete them.

use cluster::appliers::Applier;
use drift::{Effect, ObjectChangeKind};
use manifest::tree::{Node, items_of};
use objects::object::Object;

use super::applied_objects::{AppliedObjects, name_of};
use super::change::PlanChange;

/// Label or annotation of an object that Flux does not delete.
///
/// Source: "Prune" in docs/spec/v1/kustomizations.md of fluxcd/kustomize-controller.
const PRUNE_OF_FLUX: &str = "kustomize.toolkit.fluxcd.io/prune";

/// Annotation with options of Argo CD, such as `Prune=false`.
///
/// Source: "No Prune Resources" and "No Resource Deletion" in docs/user-guide/sync-options.md of argoproj/argo-cd.
const OPTIONS_OF_ARGO: &str = "argocd.argoproj.io/sync-options";

/// Finalizer without which Argo CD leaves the objects of a deleted Application.
///
/// Source: docs/user-guide/app_deletion.md of argoproj/argo-cd.
const FINALIZER_OF_ARGO: &str = "resources-finalizer.argocd.argoproj.io";

/// The start of the message about a removed object that may stay.
const MAY_STAY: &str = "it may stay in the cluster: ";

/// Whether a message says that a removed object may stay.
pub(super) fn says_that_it_may_stay(message: &str) -> bool {
    message.starts_with(MAY_STAY)
}

/// Weakens the removals of objects that may stay.
pub(super) fn weaken(changes: &mut [PlanChange<'_>], old: &AppliedObjects<'_>, new: &AppliedObjects<'_>) {
    for change in changes.iter_mut().filter(|change| change.change.change == ObjectChangeKind::Removed) {
        let Some(object) = change.change.old else { continue };
        let reason = of_object(object).or_else(|| {
            let of_applier = |applier: &Applier<'_>| match new.counterpart(applier, old) {
                Some(after) => of_kept(after),
                None => of_removed(applier),
            };
            // One that deletes is enough.
            let reasons: Option<Vec<String>> = old.appliers_of(object).map(of_applier).collect();
            reasons?.into_iter().next()
        });
        if let Some(reason) = reason {
            change.change.effect = change.change.effect.min(Effect::Unknown);
            change.message = format!("{MAY_STAY}{reason}");
        }
    }
}

/// The reason in an object itself.
pub(super) fn of_object(object: Object<'_>) -> Option<String> {
    let metadata = |map: &str, key: &str| object.at(&["metadata", map, key]).and_then(Node::as_str);
    if ["labels", "annotations"].iter().any(|map| metadata(map, PRUNE_OF_FLUX) == Some("disabled")) {
        return Some(format!("`{PRUNE_OF_FLUX}: disabled`"));
    }
    let options = metadata("annotations", OPTIONS_OF_ARGO)?;
    options.split(',').any(is_kept).then(|| format!("`{OPTIONS_OF_ARGO}: {options}`"))
}

/// Whether an option of Argo CD keeps objects, or waits for somebody who confirms that they go.
fn is_kept(option: &str) -> bool {
    matches!(option.trim(), "Prune=false" | "Delete=false" | "Prune=confirm" | "Delete=confirm")
}

/// The reason in an object that stays, and that no longer finds the removed object in its source.
///
/// Source: "Prune" and "Suspend" in docs/spec/v1/kustomizations.md of fluxcd/kustomize-controller; "Automatic Pruning" in
/// docs/user-guide/auto_sync.md of argoproj/argo-cd.
fn of_kept(applier: &Applier<'_>) -> Option<String> {
    let (kind, _, name) = name_of(applier);
    let flag = |keys: &[&str]| applier.root.at_path(keys).and_then(Node::as_bool);
    let reason = match kind {
        "Kustomization" if flag(&["spec", "suspend"]) == Some(true) => "is suspended",
        "Kustomization" if flag(&["spec", "prune"]) == Some(false) => "has `prune: false`",
        "Application" | "ApplicationSet" => {
            // Without a policy, somebody synchronises by hand, and may leave out what goes.
            let policy = spec_of_argo(applier)?.get("syncPolicy");
            let options = items_of(policy.and_then(|policy| policy.get("syncOptions")));
            let mut options = options.filter_map(Node::as_str);
            if let Some(option) = options.find(|option| is_kept(option)) {
                return Some(format!("{kind}/{name} has the option `{option}`"));
            }
            let prunes = policy.and_then(|policy| policy.at_path(&["automated", "prune"]));
            if prunes.and_then(Node::as_bool) == Some(true) {
                return None;
            }
            "is synchronised without `prune: true`"
        }
        _ => return None,
    };
    Some(format!("{kind}/{name} {reason}"))
}

/// The reason in an object that is removed too.
///
/// Source: `finalizerShouldDeleteResources` and `finalize` in `internal/controller/kustomization_controller.go` of
/// fluxcd/kustomize-controller; `reconcileDelete` in `internal/controller/helmrelease_controller.go` of fluxcd/helm-controller;
/// docs/user-guide/app_deletion.md of argoproj/argo-cd.
pub(super) fn of_removed(applier: &Applier<'_>) -> Option<String> {
    let (kind, _, name) = name_of(applier);
    let root = applier.root;
    let flag = |keys: &[&str]| root.at_path(keys).and_then(Node::as_bool);
    let policy = root.str_at(&["spec", "deletionPolicy"]).unwrap_or("MirrorPrune");
    let reason = match kind {
        "Kustomization" | "HelmRelease" if flag(&["spec", "suspend"]) == Some(true) => {
            "is removed while it is suspended"
        }
        "Kustomization" if policy == "Orphan" => "is removed with `deletionPolicy: Orphan`",
        "Kustomization" if policy == "MirrorPrune" && flag(&["spec", "prune"]) == Some(false) => {
            "is removed with `prune: false`"
        }
        "Application" => {
            let mut finalizers = items_of(root.at_path(&["metadata", "finalizers"])).filter_map(Node::as_str);
            if finalizers.any(|finalizer| finalizer.starts_with(FINALIZER_OF_ARGO)) {
                return None;
            }
            "is removed without the finalizer of Argo CD"
        }
        _ => return None,
    };
    Some(format!("{kind}/{name} {reason}"))
}

fn spec_of_argo<'d>(applier: &Applier<'d>) -> Option<Node<'d>> {
    let spec = applier.root.get("spec")?;
    spec.at_path(&["template", "spec"]).or(Some(spec))
}
