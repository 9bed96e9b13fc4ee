//! Facts about Karpenter and the vocabularies it reads: releases, API tables, schedules, quantities.
//!
//! Everything here is `const` data or a pure function on text and values; nothing knows of rules or doors.

pub mod api;
pub mod cron;
pub mod duration;
pub mod iam;
pub mod labels;
pub mod quantity;
pub mod release;
