//! Rules about the text itself, and about suppressions and exceptions.

family! {
    exception_expired,
    suppression_of_unknown_rule,
    suppression_unused,
    suppression_without_reason,
    yaml_duplicate_key,
}
