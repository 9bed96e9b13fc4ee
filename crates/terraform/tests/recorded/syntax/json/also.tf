locals {
  from_json = local.literal
}
