//! A Kubewarden policy server and a cluster in miniature: the policy module runs here as it runs in production.
//!
//! ```text
//! manifest ──▶ admission::Request ──▶ server::Policy::review ──▶ server::AdmissionResponse
//!                                        │          ▲
//!                                        ▼          │ host calls
//!                                  module::Module ──┴── cluster::Cluster
//! ```
//!
//! * [`module`] is the waPC host: one compiled module, a fresh instance for every request, a deadline on each.
//! * [`cluster`] answers what a policy asks of Kubernetes, and records it.
//! * [`admission`] turns a manifest into the request that the API server would send.
//! * [`server`] turns the policy's answer into the response that the API server would get.
//!
//! The same two crates that Kubewarden's own policy-evaluator is built on run the module, so what holds here holds
//! there. Behaviour that the crates leave to the host follows kubewarden/kubewarden-controller
//! `crates/policy-evaluator`; each place names its file.

pub mod admission;
pub mod built;
pub mod cluster;
pub mod kinds;
pub mod metadata;
pub mod module;
pub mod server;

pub use admission::Request;
pub use cluster::Cluster;
pub use module::{Failure, Module};
pub use server::{AdmissionResponse, Policy};
