//! Resources of the provider `kubernetes`.

use insta::assert_snapshot;

use crate::shown;

const DEPLOYMENT: &str = r#"resource "kubernetes_deployment_v1" "web" {
  metadata {
    name      = "web"
    namespace = kubernetes_namespace.web.metadata[0].name
    labels    = { app = "web", version = 2 }
  }
  wait_for_rollout = false
  timeouts {
    create = "5m"
  }
  lifecycle {
    ignore_changes = [spec]
  }
  spec {
    replicas = "3"
    selector {
      match_labels = { app = "web" }
    }
    strategy {
      rolling_update {
        max_surge       = "25%"
        max_unavailable = "1"
      }
    }
    template {
      metadata {
        annotations = { "karpenter.sh/do-not-disrupt" = true }
      }
      spec {
        service_account_name             = "web"
        termination_grace_period_seconds = 30
        node_selector                    = { "karpenter.sh/capacity-type" = "spot" }
        dynamic "toleration" {
          for_each = ["a", "b"]
          content {
            key   = toleration.value
            value = true
          }
        }
        affinity {
          node_affinity {
            required_during_scheduling_ignored_during_execution {
              node_selector_term {
                match_expressions {
                  key      = "kubernetes.io/arch"
                  operator = "In"
                  values   = ["arm64"]
                }
              }
            }
          }
          pod_anti_affinity {
            required_during_scheduling_ignored_during_execution {
              topology_key = "kubernetes.io/hostname"
            }
          }
        }
        container {
          name  = "web"
          image = "web:1"
          env {
            name  = "PORT"
            value = 8080
          }
          port {
            container_port = 8080
            host_ip        = "127.0.0.1"
          }
          resources {
            requests = { cpu = 1, memory = "1Gi" }
          }
          liveness_probe {
            http_get {
              port = 8080
            }
          }
          security_context {
            run_as_user     = "1000"
            run_as_non_root = true
          }
        }
        volume {
          name = "data"
          ephemeral {
            volume_claim_template {
              spec {
                access_modes = ["ReadWriteOnce"]
              }
            }
          }
        }
        security_context {
          fs_group = 1000
        }
      }
    }
  }
}
"#;

#[test]
fn resources_of_the_provider_kubernetes_have_the_names_of_the_api() {
    assert_snapshot!(shown(&[("main.tf", DEPLOYMENT)], &[]), @r#"
    --- main.tf:1
    .apiVersion = "apps/v1" @1:1 from "resource \"kubernetes_deployment_v1\" \"web\""
    .kind = "Deployment" @1:1 from "resource \"kubernetes_deployment_v1\" \"web\""
    .metadata.name = "web" @3:17
    .metadata.namespace = "${kubernetes_namespace.web.metadata[0].name}" @4:17 from "kubernetes_namespace.web.metadata[0].name"
    .metadata.labels.app = "web" @5:25
    .metadata.labels.version = "2" @5:42
    .spec.replicas = 3 @15:16
    .spec.selector.matchLabels.app = "web" @17:30
    .spec.strategy.rollingUpdate.maxSurge = "25%" @21:27
    .spec.strategy.rollingUpdate.maxUnavailable = 1 @22:27
    .spec.template.metadata.annotations.karpenter.sh/do-not-disrupt = "true" @27:57
    .spec.template.spec.serviceAccountName = "web" @30:44
    .spec.template.spec.terminationGracePeriodSeconds = 30 @31:44
    .spec.template.spec.nodeSelector.karpenter.sh/capacity-type = "spot" @32:77
    .spec.template.spec.tolerations.0.key = "a" @36:21 from "toleration.value"
    .spec.template.spec.tolerations.0.value = "true" @37:21
    .spec.template.spec.tolerations.1.key = "b" @36:21 from "toleration.value"
    .spec.template.spec.tolerations.1.value = "true" @37:21
    .spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.0.matchExpressions.0.key = "kubernetes.io/arch" @45:30
    .spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.0.matchExpressions.0.operator = "In" @46:30
    .spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.0.matchExpressions.0.values.0 = "arm64" @47:31
    .spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.0.topologyKey = "kubernetes.io/hostname" @54:30
    .spec.template.spec.containers.0.name = "web" @59:19
    .spec.template.spec.containers.0.image = "web:1" @60:19
    .spec.template.spec.containers.0.env.0.name = "PORT" @62:21
    .spec.template.spec.containers.0.env.0.value = "8080" @63:21
    .spec.template.spec.containers.0.ports.0.containerPort = 8080 @66:30
    .spec.template.spec.containers.0.ports.0.hostIP = "127.0.0.1" @67:30
    .spec.template.spec.containers.0.resources.requests.cpu = "1" @70:32
    .spec.template.spec.containers.0.resources.requests.memory = "1Gi" @70:44
    .spec.template.spec.containers.0.livenessProbe.httpGet.port = 8080 @74:22
    .spec.template.spec.containers.0.securityContext.runAsUser = 1000 @78:31
    .spec.template.spec.containers.0.securityContext.runAsNonRoot = true @79:31
    .spec.template.spec.volumes.0.name = "data" @83:18
    .spec.template.spec.volumes.0.ephemeral.volumeClaimTemplate.spec.accessModes.0 = "ReadWriteOnce" @87:33
    .spec.template.spec.securityContext.fsGroup = 1000 @93:22
    "#);
}

#[test]
fn storage_budgets_and_daemons_have_their_own_names() {
    let text = r#"resource "kubernetes_storage_class" "gp3" {
  metadata {
    name = "gp3"
  }
  storage_provisioner = "ebs.csi.aws.com"
  parameters          = { iops = 3000 }
  allowed_topologies {
    match_label_expressions {
      key    = "topology.kubernetes.io/zone"
      values = ["eu-west-1a"]
    }
  }
}
resource "kubernetes_pod_disruption_budget_v1" "a" {
  metadata { name = "a" }
  spec {
    max_unavailable = "0"
    selector { match_labels = { app = "web" } }
  }
}
resource "kubernetes_daemonset" "a" {
  spec {
    strategy { type = "OnDelete" }
  }
}
resource "kubernetes_stateful_set_v1" "a" {
  spec {
    volume_claim_template {
      metadata { name = "data" }
    }
  }
}
resource "kubernetes_persistent_volume_v1" "a" {
  spec {
    persistent_volume_source {
      csi { driver = "ebs.csi.aws.com" }
    }
  }
}
resource "kubernetes_priority_class_v1" "a" {
  metadata { name = "a" }
  value = 1000
}
resource "kubernetes_secret_v1" "a" {
  data = { password = "secret" }
}
"#;
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:1
    .apiVersion = "storage.k8s.io/v1" @1:1 from "resource \"kubernetes_storage_class\" \"gp3\""
    .kind = "StorageClass" @1:1 from "resource \"kubernetes_storage_class\" \"gp3\""
    .provisioner = "ebs.csi.aws.com" @5:25
    .parameters.iops = "3000" @6:34
    .metadata.name = "gp3" @3:12
    .allowedTopologies.0.matchLabelExpressions.0.key = "topology.kubernetes.io/zone" @9:16
    .allowedTopologies.0.matchLabelExpressions.0.values.0 = "eu-west-1a" @10:17
    --- main.tf:14
    .apiVersion = "policy/v1" @14:1 from "resource \"kubernetes_pod_disruption_budget_v1\" \"a\""
    .kind = "PodDisruptionBudget" @14:1 from "resource \"kubernetes_pod_disruption_budget_v1\" \"a\""
    .metadata.name = "a" @15:21
    .spec.maxUnavailable = 0 @17:23
    .spec.selector.matchLabels.app = "web" @18:39
    --- main.tf:21
    .apiVersion = "apps/v1" @21:1 from "resource \"kubernetes_daemonset\" \"a\""
    .kind = "DaemonSet" @21:1 from "resource \"kubernetes_daemonset\" \"a\""
    .spec.updateStrategy.type = "OnDelete" @23:23
    --- main.tf:26
    .apiVersion = "apps/v1" @26:1 from "resource \"kubernetes_stateful_set_v1\" \"a\""
    .kind = "StatefulSet" @26:1 from "resource \"kubernetes_stateful_set_v1\" \"a\""
    .spec.volumeClaimTemplates.0.metadata.name = "data" @29:25
    --- main.tf:33
    .apiVersion = "v1" @33:1 from "resource \"kubernetes_persistent_volume_v1\" \"a\""
    .kind = "PersistentVolume" @33:1 from "resource \"kubernetes_persistent_volume_v1\" \"a\""
    .spec.csi.driver = "ebs.csi.aws.com" @36:22
    --- main.tf:40
    .apiVersion = "scheduling.k8s.io/v1" @40:1 from "resource \"kubernetes_priority_class_v1\" \"a\""
    .kind = "PriorityClass" @40:1 from "resource \"kubernetes_priority_class_v1\" \"a\""
    .value = 1000 @42:11
    .metadata.name = "a" @41:21
    "#);
}

#[test]
fn blocks_in_json_are_objects_too() {
    let text = r#"{"resource": {"kubernetes_deployment_v1": {"web": {
  "metadata": {"name": "web", "labels": {"app": "web"}},
  "spec": [{"selector": {"match_labels": {"app": "web"}}, "template": {"spec": {
    "node_selector": {"a_b": "c"},
    "container": [{"name": "web", "env": {"name": "A", "value": 1}}],
    "toleration": [{"key": "a"}, {"key": "b"}]
  }}}]
}}}}
"#;
    assert_snapshot!(shown(&[("main.tf.json", text)], &[]), @r#"
    --- main.tf.json:1
    .apiVersion = "apps/v1" @1:44 from "\"web\""
    .kind = "Deployment" @1:44 from "\"web\""
    .metadata.name = "web" @2:24
    .metadata.labels.app = "web" @2:49
    .spec.selector.matchLabels.app = "web" @3:50
    .spec.template.spec.nodeSelector.a_b = "c" @4:30
    .spec.template.spec.containers.0.name = "web" @5:28
    .spec.template.spec.containers.0.env.0.name = "A" @5:51
    .spec.template.spec.containers.0.env.0.value = "1" @5:65
    .spec.template.spec.tolerations.0.key = "a" @6:28
    .spec.template.spec.tolerations.1.key = "b" @6:42
    "#);
}
