//! A controller that does not start, or lacks something that it needs.

use super::message::{Detail, Message, Text, When, anywhere, line};
use crate::entry::LogLevel;
use crate::symptom::Symptom;
use answers::report::Confidence;
use karpenter::release::Releases;
use rule::finding::Severity;

/// The symptoms of this file.
pub(super) const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "cluster-endpoint-unknown",
        severity: Severity::Error,
        summary: "the controller cannot determine the endpoint of the cluster",
        says: "the controller cannot determine the endpoint of the cluster, and does not start",
        remedy: "set `settings.clusterName` to the name of the EKS cluster in this account and region and allow `eks:DescribeCluster`, or set `settings.clusterEndpoint`",
        cause: "
Without `settings.clusterEndpoint` the controller asks EKS for the endpoint when it starts. It stops if the name is
wrong, the cluster is in another region, or its role may not call `eks:DescribeCluster`.
",
        rules: &["clustername-empty", "cluster-name-mismatch"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed detecting cluster endpoint"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-06-11T16:20:20.620Z","logger":"controller","message":"failed detecting cluster endpoint","commit":"9458bb5","error":"failed to resolve cluster endpoint, operation error EKS: DescribeCluster, https response error StatusCode: 404, ResourceNotFoundException: No cluster found for name: prod."}"#,
                source: "aws/karpenter-provider-aws v1.5.0 pkg/operator/operator.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/operator/operator.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "ec2-out-of-reach",
        severity: Severity::Error,
        summary: "the controller cannot reach EC2",
        says: "the controller cannot reach EC2 or has no credentials, and does not start",
        remedy: "read the error in the same line, then check the credentials (the ServiceAccount annotation for IRSA, or the Pod Identity association), the region (`AWS_REGION`), and the network route to `ec2.<region>.amazonaws.com`",
        cause: "
Before it starts, the controller sends EC2 a dry-run call, which changes nothing. The call fails without a role,
without a region, and in a network without a route to EC2 and STS. If AWS answers with a denial, other diagnoses tell
whose credentials the controller has and what denies the call.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("ec2 api connectivity check failed"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-10-21T08:27:33.757Z","logger":"controller","message":"ec2 api connectivity check failed","commit":"31fa2ea","error":"operation error EC2: DescribeInstanceTypes, get identity: get credentials: failed to refresh cached credentials, no EC2 IMDS role found, operation error ec2imds: GetMetadata, canceled, context deadline exceeded"}"#,
                source: "aws/karpenter-provider-aws v1.8.0 pkg/operator/operator.go",
            },
            Message {
                pattern: anywhere(Text::Has(&["unable to determine region from IMDS"])),
                releases: Releases::since(9),
                detail: Detail::None,
                example: "panic: unable to determine region from IMDS: operation error ec2imds: GetRegion, canceled, context deadline exceeded",
                source: "aws/karpenter-provider-aws v1.9.0 pkg/operator/operator.go",
            },
            Message {
                pattern: anywhere(Text::Has(&["failed to get region from metadata server"])),
                releases: Releases::until(0),
                detail: Detail::None,
                example: "panic: failed to get region from metadata server: RequestError: send request failed",
                source: "aws/karpenter-provider-aws v1.0.6 pkg/operator/operator.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/operator/operator.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "settings-invalid",
        severity: Severity::Error,
        summary: "a setting of the controller is missing or wrong",
        says: "a setting of the controller is missing or wrong, and the controller does not start",
        remedy: "set `settings.clusterName` and correct the setting that the message names: `clusterEndpoint` is a URL with `https://`, `vmMemoryOverheadPercent` and `reservedENIs` are not negative, intervals are at least one minute",
        cause: "
The controller validates its settings before anything else. The chart passes them as environment variables, and
ignores the keys of older charts.
",
        rules: &["clustername-empty", "helm-values-removed-keys"],
        messages: &[
            Message {
                pattern: anywhere(Text::Has(&["missing field, cluster-name"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "panic: validating options, missing field, cluster-name",
                source: "aws/karpenter-provider-aws v1.14.1 pkg/operator/options/options_validation.go",
            },
            Message {
                pattern: anywhere(Text::Has(&["is not a valid cluster-endpoint URL"])),
                releases: Releases::until(4),
                detail: Detail::None,
                example: r#"panic: validating options, "prod.example" is not a valid cluster-endpoint URL"#,
                source: "aws/karpenter-provider-aws v1.4.0 pkg/operator/options/options_validation.go",
            },
            Message {
                pattern: anywhere(Text::Has(&["cluster endpoint URL is not valid"])),
                releases: Releases::since(5),
                detail: Detail::None,
                example: "panic: validating options, cluster endpoint URL is not valid (cluster-endpoint=prod.example)",
                source: "aws/karpenter-provider-aws v1.14.1 pkg/operator/options/options_validation.go",
            },
            Message {
                pattern: anywhere(Text::Has(&["vm-memory-overhead-percent cannot be negative"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "panic: validating options, vm-memory-overhead-percent cannot be negative",
                source: "aws/karpenter-provider-aws v1.14.1 pkg/operator/options/options_validation.go",
            },
            Message {
                pattern: anywhere(Text::Has(&["reserved-enis cannot be negative"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "panic: validating options, reserved-enis cannot be negative",
                source: "aws/karpenter-provider-aws v1.14.1 pkg/operator/options/options_validation.go",
            },
            Message {
                pattern: anywhere(Text::Has(&["-refresh-interval must be at least 1m"])),
                releases: Releases::since(13),
                detail: Detail::None,
                example: "panic: validating options, subnet-refresh-interval must be at least 1m",
                source: "aws/karpenter-provider-aws v1.14.1 pkg/operator/options/options_validation.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/operator/options/options_validation.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "crds-missing",
        severity: Severity::Error,
        summary: "the API server does not have a kind that the controller needs",
        says: "the API server does not have {a kind} in the version that the controller needs",
        remedy: "install or upgrade the chart `karpenter-crd` of the same release as the controller",
        cause: "
Helm installs the files in `crds/` once and never upgrades them; the chart `karpenter-crd` does. Manifests with
`v1beta1` get the same error from 1.1 on, because the API server then serves only `v1`.
",
        rules: &["removed-api-version"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["no matches for kind \""])),
                releases: Releases::ALL,
                detail: Detail::Between("no matches for kind \"", "\""),
                example: r#"{"level":"ERROR","time":"2025-03-20T09:34:46.894Z","logger":"controller","message":"Reconciler error","commit":"ad71530","controller":"provisioner","namespace":"","name":"","reconcileID":"5a22e7e6-3c5e-4b7a-9d21-7e4c001fa89a","error":"no matches for kind \"NodeClaim\" in version \"karpenter.sh/v1\""}"#,
                source: "aws/karpenter-provider-aws#6973",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Starts("failed to setup node"), Text::Has(&["no matches for kind \""])),
                releases: Releases::since(1),
                detail: Detail::Between("no matches for kind \"", "\""),
                example: r#"{"level":"ERROR","time":"2025-06-11T10:41:59.031Z","logger":"controller","message":"failed to setup nodeclaim provider id indexer","commit":"9458bb5","error":"failed to get restmapping: no matches for kind \"NodeClaim\" in group \"karpenter.sh\""}"#,
                source: "kubernetes-sigs/karpenter v1.5.0 pkg/operator/operator.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("if kind is a CRD, it should be installed before calling Start"), Text::Has(&["no matches for kind \""])),
                releases: Releases::ALL,
                detail: Detail::Between("no matches for kind \"", "\""),
                example: r#"{"level":"ERROR","time":"2025-10-21T11:48:12.168Z","logger":"controller","message":"if kind is a CRD, it should be installed before calling Start","commit":"31fa2ea","kind":"NodeOverlay.karpenter.sh","error":"no matches for kind \"NodeOverlay\" in version \"karpenter.sh/v1alpha1\""}"#,
                source: "sigs.k8s.io/controller-runtime pkg/internal/source/kind.go",
            },
            Message {
                pattern: anywhere(Text::Has(&["no matches for kind \"", "\" in version \""])),
                releases: Releases::ALL,
                detail: Detail::Between("no matches for kind \"", "\""),
                example: r#"error: resource mapping not found for name: "default" namespace: "" from "nodepool.yaml": no matches for kind "NodePool" in version "karpenter.sh/v1beta1""#,
                source: "aws/karpenter-provider-aws#6973",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#6973", "pkg/operator/operator.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "crd-not-migrated",
        severity: Severity::Error,
        summary: "a CRD still stores an old version",
        says: "a CRD still stores an old version, and the controller cannot migrate it",
        remedy: "upgrade the chart `karpenter-crd` to the release of the controller before you upgrade to 1.1",
        cause: "
Release 1.0 migrates stored objects from `v1beta1` to `v1` if the CRD declares `v1` as its storage version. The CRDs
of older releases do not.
",
        rules: &["removed-api-version", "compat-annotation-leftover"],
        messages: &[
            Message {
                pattern: line(LogLevel::Info, Text::Starts("failed to migrate CRD, expected storage version to be v1"), Text::Any),
                releases: Releases::patches_from(0, 4),
                detail: Detail::None,
                example: r#"{"level":"INFO","time":"2024-10-15T12:55:25.305Z","logger":"controller","message":"failed to migrate CRD, expected storage version to be v1 (make sure you've upgraded your CRDs)","commit":"6174c75","controller":"migration.crd","namespace":"","name":"","reconcileID":"5a22f359-3c5e-4b7a-9d21-7e4c00200567"}"#,
                source: "kubernetes-sigs/karpenter v1.0.4 pkg/controllers/migration/crd/controller.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/controllers/migration/crd/controller.go of kubernetes-sigs/karpenter at v1.0.2"],
    },
    Symptom {
        name: "conversion-webhook-fails",
        severity: Severity::Error,
        summary: "the conversion webhook for Karpenter's objects does not answer",
        says: "the conversion webhook for Karpenter's objects does not answer, so that the objects can neither be read nor written",
        remedy: "install the chart `karpenter-crd` of the controller's release, which has no conversion from 1.1 on; on 1.0 set its values `webhook.serviceName`, `webhook.serviceNamespace` and `webhook.port` to the service of the controller",
        cause: "
During the migration to 1.0 the CRDs serve `v1beta1` and `v1`, and the API server calls the controller to convert
objects. If the CRD names another namespace, service or port, or if the controller is not running, every request for
these kinds fails, including `kubectl get` and `helm upgrade`.
",
        rules: &["removed-api-version"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["conversion webhook for karpenter"])),
                releases: Releases::until(1),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2024-10-15T13:02:38.442Z","logger":"controller","message":"Reconciler error","commit":"6174c75","controller":"provisioner","namespace":"","name":"","reconcileID":"5a22f72a-3c5e-4b7a-9d21-7e4c00202456","error":"conversion webhook for karpenter.sh/v1beta1, Kind=NodePool failed: Post \"https://karpenter.kube-system.svc:8443/conversion/karpenter.sh?timeout=30s\": dial tcp 10.0.1.7:8443: connect: connection refused"}"#,
                source: "aws/karpenter-provider-aws#7134",
            },
            Message {
                pattern: anywhere(Text::Has(&["conversion webhook for karpenter"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "Error from server: conversion webhook for karpenter.k8s.aws/v1beta1, Kind=EC2NodeClass failed: the server rejected our request for an unknown reason",
                source: "aws/karpenter-provider-aws#7378",
            },
            Message {
                pattern: anywhere(Text::Has(&["isn't configured for webhook conversion"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"panic: custom resource "nodepools.karpenter.sh" isn't configured for webhook conversion"#,
                source: "aws/karpenter-provider-aws#7276",
            },
            Message {
                pattern: anywhere(Text::Has(&["no service port 8443 found for service \"karpenter\""])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"Error from server: no service port 8443 found for service "karpenter""#,
                source: "aws/karpenter-provider-aws#6544",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["aws/karpenter-provider-aws#7378, #7134, #6544; zalando-incubator/cluster-lifecycle-manager#847"],
    },
    Symptom {
        name: "kubernetes-not-supported",
        severity: Severity::Error,
        summary: "the Karpenter release does not support the Kubernetes version",
        says: "this release of Karpenter does not support the Kubernetes version of the cluster",
        remedy: "upgrade Karpenter to a release that supports the Kubernetes version; upgrade Karpenter before the cluster",
        cause: "
Each release supports a list of Kubernetes versions. On a newer one, images, instance types and the API may differ.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["karpenter version is not compatible with K8s version"])),
                releases: Releases::between(1, 4),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-03-20T14:09:51.579Z","logger":"controller","message":"Reconciler error","commit":"ad71530","controller":"providers.version","namespace":"","name":"","reconcileID":"5a22fafb-3c5e-4b7a-9d21-7e4c00204345","error":"updating version, validating kubernetes version, karpenter version is not compatible with K8s version 1.35"}"#,
                source: "aws/karpenter-provider-aws v1.3.3 pkg/providers/version/version.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["karpenter is not compatible with kubernetes version"])),
                releases: Releases::since(5),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-06-11T15:16:04.716Z","logger":"controller","message":"Reconciler error","commit":"9458bb5","controller":"providers.version","namespace":"","name":"","reconcileID":"5a22fecc-3c5e-4b7a-9d21-7e4c00206234","version":"1.36","error":"updating version, validating kubernetes version, karpenter is not compatible with kubernetes version (version=1.36)"}"#,
                source: "aws/karpenter-provider-aws v1.5.0 pkg/providers/version/version.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed validating kubernetes version"), Text::Any),
                releases: Releases::until(0),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2024-10-15T16:23:17.853Z","logger":"controller","message":"failed validating kubernetes version","commit":"6174c75","error":"karpenter version is not compatible with K8s version 1.33"}"#,
                source: "aws/karpenter-provider-aws v1.0.6 pkg/providers/version/version.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/providers/version/version.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "zonal-shift-unavailable",
        severity: Severity::Error,
        summary: "the cluster is not registered for zonal shift",
        says: "`settings.enableZonalShift` is on, but the cluster is not registered for zonal shift",
        remedy: "register the cluster for zonal shift in EKS and allow the controller `arc-zonal-shift:GetManagedResource`, or turn the setting off",
        cause: "
With this setting the controller looks up the cluster before it starts, and stops if zonal shift does not know the
cluster.
",
        rules: &[],
        messages: &[
            Message {
                pattern: anywhere(Text::Has(&["Unable to find Cluster ", " in Zonal Shift"])),
                releases: Releases::since(12),
                detail: Detail::None,
                example: "panic: Unable to find Cluster arn:aws:eks:eu-west-1:111122223333:cluster/prod in Zonal Shift. Please check that the cluster is enabled for Zonal Shift and roles have appropriate permissions",
                source: "aws/karpenter-provider-aws v1.12.0 pkg/operator/operator.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed to hydrate zonal shift cache"), Text::Any),
                releases: Releases::since(14),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-08-25T08:30:30.990Z","logger":"controller","message":"failed to hydrate zonal shift cache","commit":"85eeae8","error":"getting zonal shifts: AccessDeniedException"}"#,
                source: "aws/karpenter-provider-aws v1.14.0 pkg/providers/arczonalshift/arczonalshift.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/operator/operator.go of aws/karpenter-provider-aws at v1.14.1"],
    },
    Symptom {
        name: "kubelet-annotation-left",
        severity: Severity::Error,
        summary: "a NodePool still has the annotation with old kubelet settings",
        says: "NodePools still have the annotation that holds the kubelet settings of `v1beta1`",
        remedy: "move the settings to `spec.kubelet` of the EC2NodeClass and remove the annotation `compatibility.karpenter.sh/v1beta1-kubelet-conversion` from the NodePool",
        cause: "
Release 1.0 reads the kubelet settings of `v1beta1` NodePools from an annotation. From 1.1 on only the EC2NodeClass
has kubelet settings, and the controller does not start while a NodePool has the annotation.
",
        rules: &["compat-annotation-leftover"],
        messages: &[
            Message {
                pattern: anywhere(Text::Has(&["The kubelet compatibility annotation, ", ", is not supported on Karpenter v1.1+"])),
                releases: Releases::between(1, 5),
                detail: Detail::None,
                example: "panic: The kubelet compatibility annotation, compatibility.karpenter.sh/v1beta1-kubelet-conversion, is not supported on Karpenter v1.1+. Please refer to the upgrade guide in the docs. The following NodePools still have the compatibility annotation: default",
                source: "aws/karpenter-provider-aws v1.1.0 pkg/operator/operator.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/operator/operator.go of aws/karpenter-provider-aws at v1.1.0"],
    },
    Symptom {
        name: "kube-dns-unknown",
        severity: Severity::Warning,
        summary: "the controller does not find the cluster's DNS service",
        says: "the controller does not find the DNS service of the cluster when it starts",
        remedy: "if the cluster runs another DNS server, write its address into `spec.kubelet.clusterDNS` of the node class",
        cause: "
The controller looks for the service `kube-dns` to learn the cluster's IP family. Without the service the controller
continues, and nodes get the DNS address that their image determines.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Debug, Text::Starts("unable to detect the IP of the kube-dns service"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"DEBUG","time":"2025-07-22T09:37:43.127Z","logger":"controller","message":"unable to detect the IP of the kube-dns service, services \"kube-dns\" not found","commit":"c8c45c1"}"#,
                source: "aws/karpenter-provider-aws v1.6.0 pkg/operator/operator.go",
            }
        ],
        when: When::Correlated,
        confidence: Confidence::Possible,
        references: &["aws/karpenter-provider-aws#2787", "pkg/operator/operator.go of aws/karpenter-provider-aws at v1.14.1"],
    },
];
