variable "on" {}
resource "kubectl_manifest" "pool" {
  for_each  = toset(["a", "b"])
  yaml_body = templatefile("${path.module}/pool.yaml.tftpl", { name = each.key, on = var.on, all = module.a.all, none = null })
}
resource "kubectl_manifest" "inner" {
  yaml_body = "${templatefile("pool.yaml.tftpl", { name = "c", on = var.on, all = module.a.all })}\n---\nkind: A\n"
}
resource "kubectl_manifest" "here" {
  yaml_body = <<-YAML
    apiVersion: v1
    kind: A
    %{~ if var.on ~}
    a: %{ for k, v in module.a.all }${k}=${v},%{ endfor }
    %{~ else ~}
    b: ${yamldecode(templatefile("pool.yaml.tftpl", { name = "d", on = var.on, all = {} })).kind}
    %{~ endif ~}
  YAML
}
#== pool.yaml.tftpl
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: ${name}
%{ if on ~}
  labels: {a: b}
%{ else ~}
  labels: {a: c, "%{ if on }x%{ endif }": y}
%{ endif ~}
spec:
  limits: {cpu: %{ if on }1%{ else }2%{ endif }}
---
%{ for one in all ~}
kind: ${one}
---
%{ endfor ~}
kind: Last
