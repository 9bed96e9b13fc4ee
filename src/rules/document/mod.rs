//! The text itself.

family! {}
