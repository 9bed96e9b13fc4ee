//! Views of what documents hold: Kubernetes objects, IAM policies, and values of Karpenter's Helm chart.

pub mod chart_values;
pub mod controller;
pub mod feature_gates;
pub mod iam_policy;
pub mod identity;
pub mod kustomize;
pub mod location;
pub mod object;
pub mod storage;
pub mod validation;
pub mod zones;
