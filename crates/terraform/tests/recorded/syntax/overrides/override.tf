locals {
  c = "override"
}

resource "terraform_data" "counted" {
  count = 3
  input = "n${count.index}"
}
