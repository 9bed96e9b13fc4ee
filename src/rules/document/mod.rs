//! The text itself, and what is said in it about findings.

family! {
    exception_expired,
    suppression_of_unknown_rule,
    suppression_unused,
    suppression_without_reason,
    yaml_duplicate_key,
}
