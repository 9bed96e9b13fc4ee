//! Volumes that double nodes.

family! {}
