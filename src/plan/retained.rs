//! Removed objects that may stay in the cluster, because Flux, Argo CD or Helm does not delete them.

use std::collections::BTreeSet;

use cluster::appliers::Applier;
use drift::{ConcernedPools, Effect, ObjectChangeKind};
use karpenter::kind::Kind;
use manifest::tree::{Node, items_of};
use objects::object::Object;
use objects::wrapper::{Wrapper, WrapperKind};

use super::applied::OpenObject;
use super::applied_objects::{AppliedObjects, name_of};
use super::change::{PlanChange, unchanged};
use super::elsewhere::GainedSources;
use super::scope::PlanScope;

/// Labels or annotations of an object that Flux does not delete, if the value is `disabled`.
///
/// Source: "Prune" in docs/spec/v1/kustomizations.md and `prune` in `internal/controller/kustomization_controller.go` of
/// fluxcd/kustomize-controller.
const MARKS_OF_FLUX: [&str; 2] =
    ["kustomize.toolkit.fluxcd.io/prune", "kustomize.toolkit.fluxcd.io/reconcile"];

/// Annotation with options of Argo CD, such as `Prune=false`.
///
/// Source: "No Prune Resources" and "No Resource Deletion" in docs/user-guide/sync-options.md of argoproj/argo-cd.
const OPTIONS_OF_ARGO: &str = "argocd.argoproj.io/sync-options";

/// Annotation of an object that Helm does not delete with its release or chart, nor Argo CD with its Application, if the value is `keep`.
///
/// Sources: "Tell Helm Not To Uninstall a Resource" in `docs/howto/charts_tips_and_tricks.md` of helm/helm-www, and `filterManifestsToKeep` in
/// `pkg/action/resource_policy.go` of helm/helm; "Helm Hooks" in docs/user-guide/helm.md of argoproj/argo-cd.
const POLICY_OF_HELM: &str = "helm.sh/resource-policy";

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
pub(super) fn weaken(
    changes: &mut [PlanChange<'_>],
    (old, new): (&AppliedObjects<'_>, &AppliedObjects<'_>),
    gained: &GainedSources,
) {
    for change in changes.iter_mut().filter(|change| change.change.change == ObjectChangeKind::Removed) {
        let Some(object) = change.change.old else { continue };
        let of_appliers = || {
            let file = object.root().source().name();
            of_appliers((old, new), file, &old.overlays_of(object))
        };
        let from_elsewhere = || {
            let overlays = old.plain_overlays_of(object);
            gained.reason_for(old.file_of_object(object), &overlays).map(str::to_owned)
        };
        if let Some(reason) = of_object(object).or_else(of_appliers).or_else(from_elsewhere) {
            set_open(change, &reason);
        }
    }
}

/// The reason in what applied a removed object of a file, which some overlays built. One that deletes is enough.
pub(super) fn of_appliers<'p>(
    (old, new): (&AppliedObjects<'p>, &AppliedObjects<'_>),
    file: &str,
    overlays: &BTreeSet<&'p str>,
) -> Option<String> {
    let of_applier = |applier: &Applier<'_>| match new.counterpart(applier, old) {
        Some(after) => of_kept(after).or_else(|| of_moved(applier, after)).or_else(|| {
            let is_left = new.has_files_beside(old.plain(file));
            of_generator(after).filter(|_| !is_left)
        }),
        None => of_removed(applier),
    };
    let reasons: Option<Vec<String>> = old.appliers_at(file, overlays).into_iter().map(of_applier).collect();
    reasons?.into_iter().next()
}

/// The changes of objects of a cluster for which the input does not say whether they change.
pub(super) fn in_cluster<'d>(open: &[OpenObject<'d>], scope: &PlanScope<'d>) -> Vec<PlanChange<'d>> {
    let pools = ConcernedPools::of(&scope.old);
    let change = |one: &OpenObject<'d>| {
        let mut change = unchanged(one.object, one.object, &pools);
        let is_removed = one.change == ObjectChangeKind::Removed;
        change.change.change = one.change;
        change.change.new = change.change.new.filter(|_| !is_removed);
        // A removed EC2NodeClass waits for its nodes.
        let is_open = !is_removed || one.object.is_in_any_version(Kind::NODE_POOL);
        change.change.effect = if is_open { Effect::Unknown } else { Effect::ActsAtOnce };
        let start = if is_removed { MAY_STAY } else { "it may change: " };
        change.message = format!("{start}{}", one.reason);
        change
    };
    open.iter().map(change).collect()
}

/// Weakens the removal of an object that may stay.
pub(super) fn set_open(change: &mut PlanChange<'_>, reason: &str) {
    change.change.effect = change.change.effect.min(Effect::Unknown);
    change.message = format!("{MAY_STAY}{reason}");
}

/// The reason in an object itself.
pub(super) fn of_object(object: Object<'_>) -> Option<String> {
    if let Some(reason) = of_wrapper(object) {
        return Some(reason);
    }
    let metadata = |map: &str, key: &str| object.at(&["metadata", map, key]).and_then(Node::as_str);
    let is_disabled =
        |mark: &&&str| ["labels", "annotations"].iter().any(|map| metadata(map, mark) == Some("disabled"));
    if let Some(mark) = MARKS_OF_FLUX.iter().find(is_disabled) {
        return Some(format!("`{mark}: disabled`"));
    }
    if metadata("annotations", POLICY_OF_HELM)
        .is_some_and(|policy| policy.trim().eq_ignore_ascii_case("keep"))
    {
        return Some(format!("`{POLICY_OF_HELM}: keep`"));
    }
    let options = metadata("annotations", OPTIONS_OF_ARGO)?;
    options.split(',').any(is_kept).then(|| format!("`{OPTIONS_OF_ARGO}: {options}`"))
}

/// The reason in the object of another controller around an object, which leaves it in the cluster.
///
/// Sources: docs/enhanced-provider-k8s.md of crossplane-contrib/provider-kubernetes; `ManagementPolicies` and `DeletionPolicy` in
/// apis/common/v1/policies.go of crossplane/crossplane-runtime; `DeleteOption` in work/v1/types.go of open-cluster-management-io/api; "Garbage
/// collection" in docs/api/v1/resourceset.md of controlplaneio-fluxcd/flux-operator.
fn of_wrapper(object: Object<'_>) -> Option<String> {
    let wrapper = Wrapper::around(object)?;
    let text = |path: &[&str]| wrapper.root.str_at(path);
    match wrapper.kind {
        WrapperKind::CrossplaneObject => {
            if text(&["spec", "deletionPolicy"]) == Some("Orphan") {
                return Some("`deletionPolicy: Orphan`".to_owned());
            }
            let policies = wrapper.root.at_path(&["spec", "managementPolicies"])?;
            let is_deleted = |policy: Node<'_>| matches!(policy.as_str(), Some("*" | "Delete"));
            let is_kept = policies.is_sequence() && !policies.items().any(is_deleted);
            is_kept.then(|| "`managementPolicies` without `Delete`".to_owned())
        }
        WrapperKind::ManifestWork => {
            let policy = text(&["spec", "deleteOption", "propagationPolicy"])?;
            ["Orphan", "SelectivelyOrphan"]
                .contains(&policy)
                .then(|| format!("`propagationPolicy: {policy}`"))
        }
        WrapperKind::ResourceSet => {
            const MARK: &str = "fluxcd.controlplane.io/prune";
            let common = text(&["spec", "commonMetadata", "annotations", MARK]);
            let own = object.at(&["metadata", "annotations", MARK]).and_then(Node::as_str);
            (common.or(own) == Some("disabled")).then(|| format!("`{MARK}: disabled`"))
        }
    }
}

/// Whether an option of Argo CD keeps objects, or waits for somebody who confirms that they go.
fn is_kept(option: &str) -> bool {
    matches!(option.trim(), "Prune=false" | "Delete=false" | "Prune=confirm" | "Delete=confirm")
}

/// The reason in an object that stays, and that no longer finds the removed object in its source.
///
/// Source: "Prune" and "Suspend" in docs/spec/v1/kustomizations.md of fluxcd/kustomize-controller; "Suspend" in docs/spec/v2/helmreleases.md of
/// fluxcd/helm-controller; "Automatic Pruning" in
/// docs/user-guide/auto_sync.md of argoproj/argo-cd.
pub(super) fn of_kept(applier: &Applier<'_>) -> Option<String> {
    let (kind, _, name) = name_of(applier);
    let flag = |keys: &[&str]| applier.root.at_path(keys).and_then(Node::as_bool);
    let reason = match kind {
        "Kustomization" | "HelmRelease" if flag(&["spec", "suspend"]) == Some(true) => "is suspended",
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

/// The reason in an object that applies what is not in the input instead.
fn of_moved(before: &Applier<'_>, after: &Applier<'_>) -> Option<String> {
    let (kind, _, name) = name_of(after);
    let is_moved = after.is_outside && !before.is_outside;
    is_moved.then(|| format!("{kind}/{name} now applies what is not in the input"))
}

/// The reason in an `ApplicationSet` that no longer generates the Application of the removed object.
///
/// Source: Application-Deletion.md and Controlling-Resource-Modification.md in docs/operator-manual/applicationset of argoproj/argo-cd.
fn of_generator(applier: &Applier<'_>) -> Option<String> {
    let (kind, _, name) = name_of(applier);
    let policy = applier.root.at_path(&["spec", "syncPolicy"]).filter(|_| kind == "ApplicationSet")?;
    let what = match policy.str_at(&["applicationsSync"]) {
        _ if preserves(applier) => PRESERVES.to_owned(),
        Some(sync @ ("create-only" | "create-update")) => format!("applicationsSync: {sync}"),
        _ => return None,
    };
    Some(format!("{kind}/{name} has `{what}`"))
}

/// The option of an `ApplicationSet` whose Applications leave their objects when they are deleted.
const PRESERVES: &str = "preserveResourcesOnDeletion: true";

fn preserves(applier: &Applier<'_>) -> bool {
    let option = applier.root.at_path(&["spec", "syncPolicy", "preserveResourcesOnDeletion"]);
    option.and_then(Node::as_bool) == Some(true)
}

/// The reason in an object that is removed too.
///
/// Source: `finalizerShouldDeleteResources` and `finalize` in `internal/controller/kustomization_controller.go` of
/// fluxcd/kustomize-controller; `reconcileDelete` in `internal/controller/helmrelease_controller.go` of fluxcd/helm-controller;
/// docs/user-guide/app_deletion.md and docs/operator-manual/applicationset/Application-Deletion.md of argoproj/argo-cd.
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
        "ApplicationSet" if preserves(applier) => "is removed with `preserveResourcesOnDeletion: true`",
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
