variable "a" {
  type    = string
  default = 1
}

variable "b" {
  default = ["b"]
}

variable "c" {
  type    = list(any)
  default = ["1", "2"]
}

variable "d" {
  default  = "d"
  nullable = false
}

locals {
  c = "c"
  d = "d"
  e = "e"
}

module "m" {
  source = "./m"
  in     = "main"
  kept   = "main"
}

module "counted" {
  source = "./m"
  count  = 1
  in     = "x"
}

module "keyed" {
  source = "./m"
  count  = 1
  in     = "x"
}

resource "terraform_data" "one" {
  input            = [var.a, var.b, var.c, local.c, local.d]
  triggers_replace = "main"
}

resource "terraform_data" "counted" {
  count = 1
  input = count.index
}

resource "terraform_data" "both" {
  count = 1
  input = "main"
}
