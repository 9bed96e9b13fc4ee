//! Karpwarden checks Karpenter (AWS provider) manifests and the Kubernetes objects around them.

pub mod karpenter;
pub mod userdata;
