//! Facts about Karpenter by release: API tables, labels, known values, conventions for names.
//!
//! Everything here is `const` data or a pure function. Nothing here knows about rules, findings or front ends.

pub mod api;
pub mod auto_mode;
pub mod chart;
pub mod cluster_name;
pub mod iam;
pub mod instance_types;
pub mod kind;
pub mod known_values;
pub mod kubernetes;
pub mod labels;
pub mod metrics;
pub mod operator;
pub mod options;
pub mod release;
pub mod startup_taints;
pub mod upgrade_path;
pub mod zones;
