variable "in" {}

variable "kept" {
  default = "default"
}

output "out" {
  value = "${var.in}/${var.kept}"
}

resource "terraform_data" "inner" {
  input = var.in
}
