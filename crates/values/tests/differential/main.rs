//! Readers of values compared with recorded results of the Go libraries that Kubernetes and Karpenter use.
//!
//! `tools/differential` records the results and describes the files.

#![cfg(test)]

#[path = "../../../../tools/differential/compare.rs"]
mod compare;
mod durations;
mod quantities;
mod schedules;
