variable "pools" {
  type    = map(object({ cpu = number, types = optional(list(string), ["m5.large"]) }))
  default = { a = { cpu = "1" }, b = { cpu = 2, types = [] } }
}
locals {
  a = local.b
  b = local.a
  c = "${var.pools.a.cpu} ${module.x.out} %{ for i in range(3) }${i}%{ endfor ~}  z"
  d = [for k, v in var.pools : merge(v, { name = k })]
}
module "x" {
  source = "./x"
  in     = local.c
}
resource "kubectl_manifest" "pool" {
  for_each  = var.pools
  yaml_body = <<-YAML
    kind: NodePool
    spec: {limits: {cpu: ${each.value.cpu}}}
      %{~ if length(each.value.types) > 0 ~}
    types: ${jsonencode(each.value.types)}
    %{ endif }
  YAML
  dynamic "set" {
    for_each = local.d
    content {
      name  = set.value.name
      value = templatefile("${path.module}/t.tftpl", { v = set.value })
    }
  }
}
#== x/main.tf
variable "in" {}
output "out" { value = module.y.out }
module "y" {
  source = "../x"
  count  = 2
}
resource "a" "b" { c = var.in }
#== t.tftpl
a ${v.cpu}
%{ for t in v.types ~}
- ${t}
%{ endfor ~}
