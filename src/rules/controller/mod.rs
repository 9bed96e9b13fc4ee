//! Mistakes that the API server accepts and that fail later, in Karpenter's controller.

family! {
    bdm_missing_fields,
    budget_cron_unparseable,
    duplicate_taint,
    kubelet_config_invalid,
    kubelet_expression_invalid,
    kubelet_expressions_disabled,
    kubelet_field_unknown,
    kubelet_field_unsupported,
    limit_never_enforced,
    malformed_label,
    malformed_taint,
    min_values_impossible,
    name_too_long,
    nodeclass_ref_unmanaged,
    not_in_without_values,
    overlay_conflict,
    overlay_of_known_capacity,
    requirement_value_unknown,
    too_many_requirements,
    undecodable_value,
}
