output "o" {
  value = "main"
}
