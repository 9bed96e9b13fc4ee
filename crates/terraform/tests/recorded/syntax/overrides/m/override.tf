output "out" {
  value = "overridden ${var.in}/${var.kept}"
}
