//! Facts about Karpenter and the vocabularies it reads: releases, API tables, labels, schedules, quantities.
//!
//! Everything here is `const` data, a pure function on text, or a reading of one object; nothing knows of rules or doors.

pub mod api;
pub mod chart_values;
pub mod cluster_name;
pub mod controller;
pub mod cron;
pub mod duration;
pub mod feature_gates;
pub mod iam;
pub mod iam_policy;
pub mod identity;
pub mod known_values;
pub mod labels;
pub mod naming;
pub mod operator;
pub mod placeholder;
pub mod quantity;
pub mod release;
pub mod requirements;
pub mod startup_taints;
pub mod storage;
pub mod taints;
pub mod way;
pub mod zones;
