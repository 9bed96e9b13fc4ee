//! The configuration of the kubelet that Karpenter accepts in `spec.kubelet` of an EC2NodeClass since 1.15. The API server
//! does not validate the field any more; the controller does, and reports the first fault in the condition
//! `ValidationSucceeded`.
//!
//! Sources: website/content/en/v1.15/concepts/nodeclasses.md of aws/karpenter-provider-aws; `ValidateKubeletConfig` in
//! `pkg/apis/v1/kubeletconfiguration_validation.go` on the main branch before 1.15, at 88f4899; `KubeletConfiguration` in
//! config/v1beta1/types.go of kubernetes/kubelet at v0.36.3, which has the same fields as v0.37.0-beta.0.

use super::pattern::{GO_DURATION, GO_DURATION_NOT_NEGATIVE, THRESHOLD};
use super::relations::kubelet;
use super::schema::{
    ANY_TEXT, FieldSchema, Schema, SchemaType, boolean, integer, integer_within, list, map, matching,
    minimum, object, optional, text,
};

/// The schema that the controller applies to `spec.kubelet`.
pub const KUBELET_CONFIGURATION: Schema = object(FIELDS).with(kubelet::KUBELET);

/// The fields that Karpenter passes to the nodes of every managed AMI family. Only AL2023 gets the others.
pub const BOOTSTRAP_FIELDS: [&str; 12] = [
    "clusterDNS",
    "maxPods",
    "podsPerCore",
    "systemReserved",
    "kubeReserved",
    "evictionHard",
    "evictionSoft",
    "evictionSoftGracePeriod",
    "evictionMaxPodGracePeriod",
    "imageGCHighThresholdPercent",
    "imageGCLowThresholdPercent",
    "cpuCFSQuota",
];

/// The field that Karpenter sets itself, and refuses in an EC2NodeClass: `karpenterOwnedFields` of the same file.
pub const OWN_KUBELET_FIELD: &str = "registerWithTaints";

/// The schema of the content of a field. `spec.kubelet`, whose content the API server does not validate since 1.15, has the schema that the
/// controller applies.
pub fn content(field: &'static FieldSchema) -> &'static Schema {
    let is_open = matches!(field.schema.shape, SchemaType::Map(Schema { shape: SchemaType::Any, .. }));
    if field.name == "kubelet" && is_open { &KUBELET_CONFIGURATION } else { &field.schema }
}

/// Whether the kubelet's configuration has a field.
pub fn is_kubelet_field(name: &str) -> bool {
    FIELDS.iter().any(|field| field.name == name)
}

/// A value whose inner fields this table does not describe.
const ANYTHING: Schema = Schema::new(SchemaType::Any, &[]);

const DURATION: Schema = text(&[matching(GO_DURATION)]);

const DURATION_NOT_NEGATIVE: Schema = text(&[matching(GO_DURATION_NOT_NEGATIVE)]);

const NOT_NEGATIVE: Schema = integer(&[minimum(0)]);

const THRESHOLDS: Schema = map(&text(&[matching(THRESHOLD)]), &[]).with(kubelet::EVICTION_SIGNALS);

const FIELDS: &[FieldSchema] = &[
    optional("address", ANY_TEXT),
    optional("allowedUnsafeSysctls", list(&ANY_TEXT, &[])),
    optional("apiVersion", ANY_TEXT),
    optional("authentication", ANYTHING),
    optional("authorization", ANYTHING),
    optional("cgroupDriver", ANY_TEXT),
    optional("cgroupRoot", ANY_TEXT),
    optional("cgroupsPerQOS", boolean()),
    optional("clusterDNS", list(&ANY_TEXT, &[])),
    optional("clusterDomain", ANY_TEXT),
    optional("configMapAndSecretChangeDetectionStrategy", ANY_TEXT),
    optional("containerLogMaxFiles", integer(&[])),
    optional("containerLogMaxSize", ANY_TEXT),
    optional("containerLogMaxWorkers", integer(&[])),
    optional("containerLogMonitorInterval", DURATION),
    optional("containerRuntimeEndpoint", ANY_TEXT),
    optional("contentType", ANY_TEXT),
    optional("cpuCFSQuota", boolean()),
    optional("cpuCFSQuotaPeriod", DURATION),
    optional("cpuManagerPolicy", ANY_TEXT),
    optional("cpuManagerPolicyOptions", map(&ANY_TEXT, &[])),
    optional("cpuManagerReconcilePeriod", DURATION),
    optional("crashLoopBackOff", ANYTHING),
    optional("enableContentionProfiling", boolean()),
    optional("enableControllerAttachDetach", boolean()),
    optional("enableDebugFlagsHandler", boolean()),
    optional("enableDebuggingHandlers", boolean()),
    optional("enableProfilingHandler", boolean()),
    optional("enableServer", boolean()),
    optional("enableSystemLogHandler", boolean()),
    optional("enableSystemLogQuery", boolean()),
    optional("enforceNodeAllocatable", list(&ANY_TEXT, &[])),
    optional("eventBurst", integer(&[])),
    optional("eventRecordQPS", integer(&[])),
    optional("evictionHard", THRESHOLDS),
    optional("evictionMaxPodGracePeriod", NOT_NEGATIVE),
    optional("evictionMinimumReclaim", THRESHOLDS),
    optional("evictionPressureTransitionPeriod", DURATION),
    optional("evictionSoft", THRESHOLDS),
    optional("evictionSoftGracePeriod", map(&DURATION_NOT_NEGATIVE, &[]).with(kubelet::EVICTION_SIGNALS)),
    optional("failCgroupV1", boolean()),
    optional("failSwapOn", boolean()),
    optional("featureGates", ANYTHING),
    optional("fileCheckFrequency", DURATION),
    optional("hairpinMode", ANY_TEXT),
    optional("healthzBindAddress", ANY_TEXT),
    optional("healthzPort", integer(&[])),
    optional("httpCheckFrequency", DURATION),
    optional("imageGCHighThresholdPercent", integer_within!(0, 100)),
    optional("imageGCLowThresholdPercent", integer_within!(0, 100)),
    optional("imageMaximumGCAge", DURATION),
    optional("imageMinimumGCAge", DURATION),
    optional("imagePullCredentialsVerificationPolicy", ANY_TEXT),
    optional("imageServiceEndpoint", ANY_TEXT),
    optional("iptablesDropBit", integer(&[])),
    optional("iptablesMasqueradeBit", integer(&[])),
    optional("kernelMemcgNotification", boolean()),
    optional("kind", ANY_TEXT),
    optional("kubeAPIBurst", integer(&[])),
    optional("kubeAPIQPS", integer(&[])),
    optional("kubeletCgroups", ANY_TEXT),
    optional("kubeReserved", map(&ANY_TEXT, &[]).with(kubelet::RESERVED)),
    optional("kubeReservedCgroup", ANY_TEXT),
    optional("localStorageCapacityIsolation", boolean()),
    optional("logging", ANYTHING),
    optional("makeIPTablesUtilChains", boolean()),
    optional("maxOpenFiles", integer(&[])),
    optional("maxParallelImagePulls", integer(&[])),
    optional("maxPods", Schema::new(SchemaType::IntOrText, &[minimum(0)])),
    optional("memoryManagerPolicy", ANY_TEXT),
    optional("memoryReservationPolicy", ANY_TEXT),
    optional("memorySwap", ANYTHING),
    optional("memoryThrottlingFactor", ANYTHING),
    optional("mergeDefaultEvictionSettings", boolean()),
    optional("nodeLeaseDurationSeconds", integer(&[])),
    optional("nodeStatusMaxImages", integer(&[])),
    optional("nodeStatusReportFrequency", DURATION),
    optional("nodeStatusUpdateFrequency", DURATION),
    optional("oomScoreAdj", integer(&[])),
    optional("podCIDR", ANY_TEXT),
    optional("podLogsDir", ANY_TEXT),
    optional("podPidsLimit", integer(&[])),
    optional("podsPerCore", NOT_NEGATIVE),
    optional("port", integer(&[])),
    optional("preloadedImagesVerificationAllowlist", list(&ANY_TEXT, &[])),
    optional("protectKernelDefaults", boolean()),
    optional("providerID", ANY_TEXT),
    optional("qosReserved", map(&ANY_TEXT, &[])),
    optional("readOnlyPort", integer(&[])),
    optional("registerNode", boolean()),
    optional("registerWithTaints", ANYTHING),
    optional("registryBurst", integer(&[])),
    optional("registryPullQPS", integer(&[])),
    optional("reservedMemory", ANYTHING),
    optional("reservedSystemCPUs", ANY_TEXT),
    optional("resolvConf", ANY_TEXT),
    optional("rotateCertificates", boolean()),
    optional("runOnce", boolean()),
    optional("runtimeRequestTimeout", DURATION),
    optional("seccompDefault", boolean()),
    optional("serializeImagePulls", boolean()),
    optional("serverTLSBootstrap", boolean()),
    optional("showHiddenMetricsForVersion", ANY_TEXT),
    optional("shutdownGracePeriod", DURATION),
    optional("shutdownGracePeriodByPodPriority", ANYTHING),
    optional("shutdownGracePeriodCriticalPods", DURATION),
    optional("singleProcessOOMKill", boolean()),
    optional("staticPodPath", ANY_TEXT),
    optional("staticPodURL", ANY_TEXT),
    optional("staticPodURLHeader", ANYTHING),
    optional("streamingConnectionIdleTimeout", DURATION),
    optional("syncFrequency", DURATION),
    optional("systemCgroups", ANY_TEXT),
    optional("systemReserved", map(&ANY_TEXT, &[]).with(kubelet::RESERVED)),
    optional("systemReservedCgroup", ANY_TEXT),
    optional("tlsCertFile", ANY_TEXT),
    optional("tlsCipherSuites", list(&ANY_TEXT, &[])),
    optional("tlsCurvePreferences", ANYTHING),
    optional("tlsMinVersion", ANY_TEXT),
    optional("tlsPrivateKeyFile", ANY_TEXT),
    optional("topologyManagerPolicy", ANY_TEXT),
    optional("topologyManagerPolicyOptions", map(&ANY_TEXT, &[])),
    optional("topologyManagerScope", ANY_TEXT),
    optional("tracing", ANYTHING),
    optional("userNamespaces", ANYTHING),
    optional("volumePluginDir", ANY_TEXT),
    optional("volumeStatsAggPeriod", DURATION),
];
