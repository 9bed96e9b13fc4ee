variable "a" {
  default = 2
}

variable "c" {
  type = list(number)
}

locals {
  c = "a_override"
  d = "${local.c}+${local.e}"
}

module "counted" {
  count = 2
}

module "keyed" {
  for_each = toset(["k"])
}

resource "terraform_data" "one" {
  triggers_replace = "${local.c}-replaced"
}

resource "terraform_data" "both" {
  for_each = toset(["k"])
}
