locals {
  a = join("", [for i in range(1000) : "0123456789"])
  b = join("", [for i in range(1000) : local.a])
  c = join("", [for i in range(1000) : local.b])
  d = [for i in range(1000) : [for j in range(1000) : [for k in range(1000) : i]]]
  e = <<EOT
EOT
  f = setproduct(range(1000), range(1000), range(1000))
  g = replace(local.b, "", local.b)
  h = format("%9999s", local.b)
}
resource "a" "b" {
  count = 99999999
  x     = [local.c, local.d, local.e, local.f, local.g, local.h]
  y     = yamldecode(local.b)
}
