//! The text itself, values that cannot be decoded, suppressions and exceptions.

pub(crate) mod chart_value_unread;
pub(crate) mod exception_expired;
pub(crate) mod suppression_of_unknown_rule;
pub(crate) mod suppression_unused;
pub(crate) mod suppression_without_reason;
pub(crate) mod terraform_reference_as_text;
pub(crate) mod undecodable_value;
pub(crate) mod yaml_duplicate_key;
