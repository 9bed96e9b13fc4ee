//! Syntax messages that several modules use. Each says what is wrong and what to write instead.

pub(super) const TAB: &str = "a tab cannot indent; use spaces";

/// For a tab that YAML 1.2 allows, and go-yaml v2 does not.
pub(super) const GO_TAB: &str = "the Kubernetes tools refuse a tab here; use spaces";

pub(super) const DIRECTIVE: &str =
    "not a valid directive; write `%YAML 1.2` or `%TAG !handle! prefix`, each at most once";

pub(super) const ESCAPE: &str = "no such escape; write `\\\\` for a backslash, or use single quotes";

pub(super) const CODE: &str =
    "not a valid character code; `\\x`, `\\u` and `\\U` take 2, 4 and 8 hexadecimal digits";
