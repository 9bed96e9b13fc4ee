//! Releases of charts.

use insta::assert_snapshot;

use crate::shown;

#[test]
fn helm_release_of_karpenter_has_merged_values_and_parameters() {
    let text = r#"resource "helm_release" "karpenter" {
  repository = "oci://public.ecr.aws/karpenter"
  chart      = "karpenter"
  version    = "1.6.2"
  values = [
    <<-EOT
      settings:
        clusterName: ${module.eks.cluster_name}
        interruptionQueue: a
    EOT
    ,
    yamlencode({ settings = { interruptionQueue = "b" }, replicas = 2 }),
    file("absent.yaml"),
  ]
  set {
    name  = "settings.x"
    value = "y"
  }
  dynamic "set" {
    for_each = { "controller.a" = 1 }
    content {
      name  = set.key
      value = set.value
    }
  }
}
resource "helm_release" "nginx" {
  chart = "nginx"
}
"#;
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:1
    .resource.helm_release.karpenter.chart = "karpenter" @3:16
    .resource.helm_release.karpenter.repository = "oci://public.ecr.aws/karpenter" @2:16
    .resource.helm_release.karpenter.version = "1.6.2" @4:16
    .resource.helm_release.karpenter.values.settings.clusterName = "${module.eks.cluster_name}" @8:22
    .resource.helm_release.karpenter.values.settings.interruptionQueue = "b" @12:51
    .resource.helm_release.karpenter.values.replicas = 2 @12:69
    .resource.helm_release.karpenter.set.0.name = "settings.x" @16:13
    .resource.helm_release.karpenter.set.0.value = "y" @17:13
    .resource.helm_release.karpenter.set.1.name = "controller.a" @22:15 from "set.key"
    .resource.helm_release.karpenter.set.1.value = 1 @23:15 from "set.value"
    .resource.helm_release.karpenter.unevaluated.0 = "${file(\"absent.yaml\")}" @13:5 from "file(\"absent.yaml\")"
    "#);
}

#[test]
fn sensitive_parameters_of_a_release_are_placeholders() {
    let text = r#"resource "helm_release" "a" {
  chart = "karpenter"
  set_sensitive {
    name  = "a"
    value = "secret"
  }
}
resource "helm_release" "b" {
  chart         = "karpenter"
  set_sensitive = [{ name = "b", value = "secret" }]
}
"#;
    let shown = shown(&[("main.tf", text)], &[]);
    assert_eq!(shown.matches(".value = \"${sensitive}\"").count(), 2, "{shown}");
    assert!(!shown.contains("= \"secret\""), "{shown}");
}
