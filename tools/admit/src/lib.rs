//! A Kubewarden policy server and a cluster in memory. The policy module runs here as it runs in a cluster.
//!
//! ```text
//! manifest ──▶ admission::Request ──▶ server::Policy::review ──▶ server::AdmissionResponse
//!                                        │          ▲
//!                                        ▼          │ host calls
//!                            module::PolicyModule ──┴── cluster::FakeCluster
//! ```
//!
//! * [`module`] is the waPC host: one compiled module, a new instance for every request, a deadline for each.
//! * [`cluster`] answers and records the policy's host calls.
//! * [`admission`] turns a manifest into the request that the API server sends.
//! * [`meter`] counts the instructions and the memory of a request.
//! * [`published`] reads the policies that users install, and decides which requests the API server sends to each.
//! * [`server`] turns the policy's answer into the response that the API server gets.
//!
//! The module runs on the same two crates as in Kubewarden's policy-evaluator. Behaviour that these crates leave to the host
//! follows kubewarden/kubewarden-controller `crates/policy-evaluator`; the comments name the file.

pub mod admission;
pub mod built;
pub mod cluster;
pub mod kinds;
pub mod metadata;
pub mod meter;
pub mod module;
pub mod published;
pub mod server;

pub use admission::Request;
pub use cluster::FakeCluster;
pub use meter::{Cost, Meter};
pub use module::{CallFailure, PolicyModule};
pub use server::{AdmissionResponse, Policy};
