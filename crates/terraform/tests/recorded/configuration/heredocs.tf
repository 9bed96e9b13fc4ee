# Here-documents and templates, which an expression of one line cannot have.
locals {
  plain      = <<EOT
  a
    b
EOT
  flush      = <<-EOT
    a
      b

    c
  EOT
  blank      = <<-EOT
      a

    
      b
  EOT
  interp     = <<-EOT
    ${var.cluster_name}
      x: ${var.tags.team}
  EOT
  start      = <<-EOT
      a
    ${var.cluster_name}
        b
  EOT
  escapes    = <<-EOT
    a\nb $${x} %%{y} $$x %%x $$${var.cluster_name} \u00e9 "q"
  EOT
  loop       = <<-EOT
    list:
    %{for z in var.azs~}
      - ${z}
    %{endfor~}
    end
  EOT
  loop_loose = <<-EOT
    %{for i, z in var.azs}
    - ${i}: ${z}
    %{endfor}
  EOT
  choice     = <<EOT
%{if var.cluster_name == "prod-eu-1"}yes%{else}no%{endif}
%{~if length(var.azs) > 5~}
many
%{~else~}
few
%{~endif~}
EOT
  trimmed    = "a ${~"b"~} c ${~1 + 1} d ${3~}   e"
  nested     = <<-EOT
    outer
    ${join("\n", [for z in var.azs : <<-IN
      inner ${z}
    IN
])}
  EOT
  empty      = <<EOT
EOT
  only_blank = <<-EOT

  EOT
  tabs       = <<-EOT
		a
			b
	EOT
  mixed      = <<-EOT
  a
	b
  EOT
  trim_lines = <<-EOT
    a ${~ "x" ~}
      b
    %{~ if true ~}
    c
    %{~ endif ~}
  EOT
  forward    = local.backward
  backward   = "${local.last}!"
  last       = "z"
}
variable "typed" {
  type = object({
    name  = string
    count = optional(number, 3)
    tags  = optional(map(string), {})
    list  = optional(list(string))
    inner = optional(object({ a = optional(string, "x"), b = number }))
  })
  default = { name = 5, inner = { b = "7" }, extra = true }
}
variable "as_list" {
  type    = list(string)
  default = [1, true, "x"]
}
variable "as_set" {
  type    = set(number)
  default = ["3", 1, 2, 1]
}
variable "as_map" {
  type    = map(number)
  default = { b = "2", a = 1 }
}
variable "as_any" {
  type    = any
  default = [1, "a"]
}
variable "as_tuple" {
  type    = tuple([string, number])
  default = [1, "2"]
}
variable "map_any" {
  type    = map(any)
  default = { a = 1, b = "x" }
}
variable "list_any" {
  type    = list(any)
  default = [1, "x"]
}
variable "objects" {
  type    = map(object({ cpu = number, types = optional(list(string), ["m5.large"]) }))
  default = { a = { cpu = "1" }, b = { cpu = 2, types = [] } }
}
variable "not_nullable" {
  nullable = false
  default  = "d"
}
variable "crisp" {
  type    = string
  default = 1.50
}
