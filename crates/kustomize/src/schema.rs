//! Lists of built-in kinds that a strategic merge patch merges item by item, with the keys of their items.
//!
//! Source: `x-kubernetes-patch-strategy`, `x-kubernetes-patch-merge-key` and `x-kubernetes-list-map-keys` in
//! `kyaml/openapi/kubernetesapi/v1_21_2/swagger.pb` of kustomize v5.5.0. Lists of `status` are left out. A list that is not
//! here, and every list of a custom resource, is replaced as a whole.

/// Type of a value in a built-in kind, as far as lists within it merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MergeSchema {
    /// Nothing within it merges item by item.
    Plain,
    /// An object of a kind of apps, batch or the core group that has a pod template at `spec.template`.
    Templated,
    CronJob,
    Pod,
    PodTemplate,
    Service,
    ServiceAccount,
    Webhooks,
    /// Any other built-in kind.
    BuiltIn,
    /// `spec` of a templated kind.
    TemplatedSpec,
    CronJobSpec,
    /// `spec.jobTemplate`, whose `spec` is the spec of a templated kind.
    JobTemplate,
    /// An object with `metadata` and the `spec` of a pod.
    PodTemplateSpec,
    PodSpec,
    ServiceSpec,
    Metadata,
    Container,
    /// A list that merges item by item, with the keys of an item. Scalars have the key "".
    List(&'static [&'static str], &'static MergeSchema),
}

impl MergeSchema {
    /// The type of an object.
    pub(crate) fn for_kind(api_version: &str, kind: &str) -> Self {
        match (api_version, kind) {
            ("v1", "Pod") => Self::Pod,
            ("v1", "PodTemplate") => Self::PodTemplate,
            ("v1", "Service") => Self::Service,
            ("v1", "ServiceAccount") => Self::ServiceAccount,
            ("v1", "ReplicationController")
            | ("apps/v1", "Deployment" | "DaemonSet" | "ReplicaSet" | "StatefulSet")
            | ("batch/v1", "Job") => Self::Templated,
            ("batch/v1" | "batch/v1beta1", "CronJob") => Self::CronJob,
            (
                "admissionregistration.k8s.io/v1" | "admissionregistration.k8s.io/v1beta1",
                "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration",
            ) => Self::Webhooks,
            _ if is_built_in(api_version) => Self::BuiltIn,
            _ => Self::Plain,
        }
    }

    /// The type of a member.
    pub(crate) fn field(self, key: &str) -> Self {
        const NAME: &[&str] = &["name"];
        match (self, key) {
            (
                Self::Templated
                | Self::CronJob
                | Self::Pod
                | Self::PodTemplate
                | Self::Service
                | Self::ServiceAccount
                | Self::Webhooks
                | Self::BuiltIn
                | Self::PodTemplateSpec
                | Self::JobTemplate,
                "metadata",
            ) => Self::Metadata,
            (Self::Templated | Self::JobTemplate, "spec") => Self::TemplatedSpec,
            (Self::CronJob, "spec") => Self::CronJobSpec,
            (Self::CronJobSpec, "jobTemplate") => Self::JobTemplate,
            (Self::TemplatedSpec | Self::PodTemplate, "template") => Self::PodTemplateSpec,
            (Self::Pod | Self::PodTemplateSpec, "spec") => Self::PodSpec,
            (Self::Service, "spec") => Self::ServiceSpec,
            (Self::ServiceSpec, "ports") => Self::List(&["port", "protocol"], &Self::Plain),
            (Self::Metadata, "finalizers") => Self::List(&[""], &Self::Plain),
            (Self::Metadata, "ownerReferences") => Self::List(&["uid"], &Self::Plain),
            (Self::PodSpec, "containers" | "initContainers" | "ephemeralContainers") => {
                Self::List(NAME, &Self::Container)
            }
            (Self::PodSpec, "volumes" | "imagePullSecrets")
            | (Self::Container, "env")
            | (Self::ServiceAccount, "secrets")
            | (Self::Webhooks, "webhooks") => Self::List(NAME, &Self::Plain),
            (Self::PodSpec, "hostAliases") => Self::List(&["ip"], &Self::Plain),
            (Self::PodSpec, "topologySpreadConstraints") => {
                Self::List(&["topologyKey", "whenUnsatisfiable"], &Self::Plain)
            }
            (Self::Container, "ports") => Self::List(&["containerPort", "protocol"], &Self::Plain),
            (Self::Container, "volumeMounts") => Self::List(&["mountPath"], &Self::Plain),
            (Self::Container, "volumeDevices") => Self::List(&["devicePath"], &Self::Plain),
            _ => Self::Plain,
        }
    }
}

/// Whether the schema knows the kinds of an API version of Kubernetes, whose names have no dot or end with `.k8s.io`.
fn is_built_in(api_version: &str) -> bool {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    matches!(
        group,
        "" | "apps"
            | "autoscaling"
            | "batch"
            | "policy"
            | "admissionregistration.k8s.io"
            | "apiextensions.k8s.io"
            | "apiregistration.k8s.io"
            | "coordination.k8s.io"
            | "discovery.k8s.io"
            | "events.k8s.io"
            | "networking.k8s.io"
            | "node.k8s.io"
            | "rbac.authorization.k8s.io"
            | "scheduling.k8s.io"
            | "storage.k8s.io"
    )
}
