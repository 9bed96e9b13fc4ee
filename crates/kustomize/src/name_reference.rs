//! References by name, which follow a changed name. Custom resources such as a NodePool have none that kustomize knows.
//!
//! Source: api/internal/konfig/builtinpluginconsts/namereference.go and api/filters/nameref/nameref.go of kustomize v5.5.0.

use std::collections::BTreeMap;

use manifest::tree::Node;

use crate::resource::Resource;
use crate::value::{BuiltValue, Shape};

/// Kinds with a pod spec, with the path of the pod spec.
const POD_SPECS: [(&str, &str); 9] = [
    ("Pod", "spec"),
    ("PodTemplate", "template/spec"),
    ("Deployment", "spec/template/spec"),
    ("ReplicaSet", "spec/template/spec"),
    ("ReplicationController", "spec/template/spec"),
    ("DaemonSet", "spec/template/spec"),
    ("StatefulSet", "spec/template/spec"),
    ("Job", "spec/template/spec"),
    ("CronJob", "spec/jobTemplate/spec/template/spec"),
];

/// References in a pod spec: the kind and the path.
const IN_POD_SPECS: [(&str, &str); 16] = [
    ("ConfigMap", "volumes/configMap/name"),
    ("ConfigMap", "containers/env/valueFrom/configMapKeyRef/name"),
    ("ConfigMap", "initContainers/env/valueFrom/configMapKeyRef/name"),
    ("ConfigMap", "containers/envFrom/configMapRef/name"),
    ("ConfigMap", "initContainers/envFrom/configMapRef/name"),
    ("ConfigMap", "volumes/projected/sources/configMap/name"),
    ("Secret", "volumes/secret/secretName"),
    ("Secret", "containers/env/valueFrom/secretKeyRef/name"),
    ("Secret", "initContainers/env/valueFrom/secretKeyRef/name"),
    ("Secret", "containers/envFrom/secretRef/name"),
    ("Secret", "initContainers/envFrom/secretRef/name"),
    ("Secret", "imagePullSecrets/name"),
    ("Secret", "volumes/projected/sources/secret/name"),
    ("ServiceAccount", "serviceAccountName"),
    ("PersistentVolumeClaim", "volumes/persistentVolumeClaim/claimName"),
    ("PriorityClass", "priorityClassName"),
];

/// References in other places: the kind, the kind that refers to it and the path.
const ELSEWHERE: [(&str, &str, &str); 24] = [
    ("Deployment", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ("ReplicationController", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ("ReplicaSet", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ("StatefulSet", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name"),
    ("ConfigMap", "Role", "rules/resourceNames"),
    ("ConfigMap", "ClusterRole", "rules/resourceNames"),
    ("Secret", "Role", "rules/resourceNames"),
    ("Secret", "ClusterRole", "rules/resourceNames"),
    ("Secret", "Ingress", "spec/tls/secretName"),
    ("Secret", "ServiceAccount", "imagePullSecrets/name"),
    ("Secret", "StorageClass", "parameters/secretName"),
    ("Service", "StatefulSet", "spec/serviceName"),
    ("Service", "Ingress", "spec/rules/http/paths/backend/service/name"),
    ("Service", "Ingress", "spec/defaultBackend/service/name"),
    ("Service", "APIService", "spec/service/name"),
    ("Service", "ValidatingWebhookConfiguration", "webhooks/clientConfig/service"),
    ("Service", "MutatingWebhookConfiguration", "webhooks/clientConfig/service"),
    ("Role", "RoleBinding", "roleRef/name"),
    ("ClusterRole", "RoleBinding", "roleRef/name"),
    ("ClusterRole", "ClusterRoleBinding", "roleRef/name"),
    ("ServiceAccount", "RoleBinding", "subjects"),
    ("ServiceAccount", "ClusterRoleBinding", "subjects"),
    ("PersistentVolume", "PersistentVolumeClaim", "spec/volumeName"),
    ("PersistentVolume", "ClusterRole", "rules/resourceNames"),
];

/// References to a StorageClass: the kind that refers to it and the path.
const TO_STORAGE_CLASS: [(&str, &str); 3] = [
    ("PersistentVolume", "spec/storageClassName"),
    ("PersistentVolumeClaim", "spec/storageClassName"),
    ("StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName"),
];

/// The paths of the references of a kind, each with the kind that it refers to.
fn references_of(kind: &str) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    for (_, pod) in POD_SPECS.iter().filter(|(holder, _)| *holder == kind) {
        all.extend(IN_POD_SPECS.iter().map(|(target, path)| (*target, format!("{pod}/{path}"))));
    }
    let elsewhere = ELSEWHERE.iter().filter(|(_, holder, _)| *holder == kind);
    all.extend(elsewhere.map(|(target, _, path)| (*target, (*path).to_owned())));
    let classes = TO_STORAGE_CLASS.iter().filter(|(holder, _)| *holder == kind);
    all.extend(classes.map(|(_, path)| ("StorageClass", (*path).to_owned())));
    all
}

/// An object whose name or namespace changed, as references see it.
#[derive(Clone, Debug)]
struct Target<'d> {
    name: String,
    /// The namespace after the build; `None` if the kind has none.
    namespace: Option<String>,
    own_namespace: Option<String>,
    prefixes: Vec<String>,
    suffixes: Vec<String>,
    at: Node<'d>,
}

/// Updates the references to objects whose names changed.
pub(crate) fn update<'d>(resources: &mut [Resource<'d>]) {
    let mut targets: BTreeMap<(String, String), Vec<Target<'d>>> = BTreeMap::new();
    for resource in resources.iter().filter(|resource| !resource.previous.is_empty()) {
        let id = resource.id();
        let mut names: Vec<&str> = resource.previous.iter().map(|id| id.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            targets.entry((id.kind.clone(), name.to_owned())).or_default().push(Target {
                name: id.name.clone(),
                namespace: (!id.is_cluster_scoped()).then(|| id.namespace.clone()),
                own_namespace: resource.value.text_at(&["metadata", "namespace"]),
                prefixes: resource.prefixes.clone(),
                suffixes: resource.suffixes.clone(),
                at: resource.value.get("metadata").map_or(resource.root, |metadata| metadata.node()),
            });
        }
    }
    if targets.is_empty() {
        return;
    }
    for resource in resources {
        let id = resource.id();
        let original = resource.previous.first().map_or(id.kind.clone(), |id| id.kind.clone());
        let (prefixes, suffixes) = (resource.prefixes.clone(), resource.suffixes.clone());
        let mut is_changed = false;
        for (kind, path) in references_of(&original) {
            let find = |name: &str| {
                let all = targets.get(&(kind.to_owned(), name.to_owned()))?;
                let near = all.iter().filter(|target| {
                    id.is_cluster_scoped()
                        || kind == "ServiceAccount"
                        || target.namespace.as_ref().is_none_or(|namespace| *namespace == id.namespace)
                });
                let near: Vec<&Target<'d>> = near.collect();
                match near.as_slice() {
                    [only] => Some(*only),
                    [] => None,
                    _ => near
                        .into_iter()
                        .find(|target| target.prefixes == prefixes && target.suffixes == suffixes),
                }
            };
            let keys: Vec<&str> = path.split('/').collect();
            Resource::visit(&mut resource.value, &keys, None, &mut |value| {
                is_changed |= update_value(value, &find);
            });
        }
        resource.is_changed |= is_changed;
    }
}

/// Updates a name, the names of a list, or the field `name` of an object.
fn update_value<'t, 'd: 't>(
    value: &mut BuiltValue<'d>,
    find: &impl Fn(&str) -> Option<&'t Target<'d>>,
) -> bool {
    match value.shape() {
        Shape::Scalar => {
            let Some(target) = value.text().and_then(find) else { return false };
            if value.text() == Some(target.name.as_str()) {
                return false;
            }
            *value = BuiltValue::Computed(target.name.clone(), value.node());
            true
        }
        Shape::Sequence => {
            let items = value.items().into_iter().flatten();
            items.fold(false, |is_changed, item| is_changed | update_value(item, find))
        }
        Shape::Mapping => {
            let Some(target) = value.text_at(&["name"]).and_then(|name| find(&name)) else { return false };
            let at = value.get("name").map_or(target.at, |name| name.node());
            let name = Resource::set_within(value, "name", BuiltValue::Computed(target.name.clone(), at));
            let namespace = target.own_namespace.clone().is_some_and(|namespace| {
                Resource::set_within(value, "namespace", BuiltValue::Computed(namespace, at))
            });
            name | namespace
        }
        Shape::Null => false,
    }
}
