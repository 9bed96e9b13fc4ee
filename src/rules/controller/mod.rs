//! Mistakes that the API server accepts and that fail later, in Karpenter's controller.

pub(crate) mod bdm_missing_fields;
pub(crate) mod budget_cron_unparseable;
pub(crate) mod duplicate_taint;
pub(crate) mod kubelet_config_invalid;
pub(crate) mod kubelet_expression_invalid;
pub(crate) mod kubelet_expressions_disabled;
pub(crate) mod kubelet_field_unknown;
pub(crate) mod kubelet_field_unsupported;
pub(crate) mod kubernetes_version_unsupported;
pub(crate) mod limit_never_enforced;
pub(crate) mod malformed_label;
pub(crate) mod malformed_taint;
pub(crate) mod min_values_impossible;
pub(crate) mod name_too_long;
pub(crate) mod nodeclass_ref_unmanaged;
pub(crate) mod not_in_without_values;
pub(crate) mod overlay_conflict;
pub(crate) mod overlay_of_known_capacity;
pub(crate) mod requirement_value_unknown;
pub(crate) mod too_many_requirements;
pub(crate) mod undecodable_value;
