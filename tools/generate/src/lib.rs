//! What users install: the cluster's manifests, the policy's metadata, the schemas, Artifact Hub's files.
//!
//! What can be derived is derived here, from the settings and the registry of rules; `make generate` writes it, and a test
//! fails where a file has drifted. What cannot is tested: parsed into Kubewarden's own types and run through the module.

pub mod changelog;
pub mod generated;
pub mod home;
pub mod kustomize;
pub mod yaml;
