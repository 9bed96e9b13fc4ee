#![doc = include_str!("../README.md")]
//!
//! ## Modules
//!
//! | module | views of |
//! |---|---|
//! | [`object`] | every object: kind, name, operation, the pod template within |
//! | [`wrapper`] | objects of other controllers around objects that these apply |
//! | [`metadata`], [`status`], [`workload`] | fields that many kinds share |
//! | [`node_pool`], [`node_claim`], [`node_overlay`], [`node_class`] | Karpenter's kinds |
//! | [`requirement`], [`requirement_holder`], [`taint`] | requirements and taints within them |
//! | [`pod`] | pods and pod templates |
//! | [`pod_disruption_budget`], [`autoscaler`], [`priority_class`] | kinds that decide how many pods run, and which may be evicted |
//! | [`storage`] | StorageClass, PersistentVolume, PersistentVolumeClaim, and the claims of a cluster |
//! | [`controller`], [`chart_values`] | the Deployment of Karpenter's controller, and the values of its chart |
//! | [`feature_gates`], [`identity`], [`zones`] | conclusions from the objects of a cluster |
//! | [`iam_policy`] | IAM policy documents |
//! | [`node_agents`] | the DaemonSets of network plugins and CSI drivers, and the taints that they remove |
//! | [`node_access`] | the roles whose nodes may join the cluster: `aws-auth` and access entries |
//! | [`addon`] | the VPC CNI plugin as an add-on of EKS |
//! | [`interruption_queue`], [`event_rule`], [`instance_profile`], [`network_tags`], [`terraform_module`], [`eksctl`], [`node_group`] | what CloudFormation, Terraform and eksctl create in AWS |
//! | [`embedded`] | documents within strings, such as the values of a chart |
//! | [`pod_identity`] | the roles of service accounts: EKS Pod Identity, and the service accounts of eksctl |
//! | [`placeholders`] | placeholders in a part of an object |
//! | [`metric_queries`] | alerts and dashboards |
//! | [`type_meta`] | `apiVersion` and `kind` where one of them is missing or misspelt |
//! | [`version_pin`] | the version of Karpenter that a document pins |
//! | [`node_config`] | NodeConfig and cloud-config documents within user data |
//! | [`conversion`] | objects of removed versions as objects of v1 |
//!
//! Facts, such as the labels that a release knows or the keys of a chart, are in the crate `karpenter`; grammars of values,
//! such as quantities and durations, are in the crate `values`.

pub mod addon;
pub mod autoscaler;
pub mod budget;
pub mod chart_values;
pub mod controller;
pub mod conversion;
pub mod device_plugins;
pub mod eks_cluster;
pub mod eksctl;
pub mod embedded;
pub mod event_rule;
pub mod feature_gates;
pub mod iam_policy;
pub mod identity;
pub mod instance_profile;
pub mod interruption_queue;
pub mod job;
pub mod location;
pub mod metadata;
pub mod metric_queries;
pub mod network_tags;
pub mod node_access;
pub mod node_agents;
pub mod node_claim;
pub mod node_class;
pub mod node_config;
pub mod node_group;
pub mod node_overlay;
pub mod node_pool;
pub mod object;
pub mod placeholders;
pub mod pod;
pub mod pod_disruption_budget;
pub mod pod_identity;
pub mod priority_class;
pub mod provider;
pub mod requirement;
pub mod requirement_holder;
pub mod status;
pub mod storage;
pub mod taint;
pub mod terraform_module;
pub mod type_meta;
pub mod validation;
pub mod version_pin;
pub mod workload;
pub mod wrapper;
pub mod zones;
