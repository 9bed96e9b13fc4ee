//! Karpwarden checks Karpenter (AWS provider) manifests and the Kubernetes objects around them.
//!
//! ```text
//! text ──▶ manifest ──▶ documents ──▶ check ──▶ findings ──▶ report
//!                                       ▲  ▲
//!                       settings ───────┘  └─────── inventory
//! ```
//!
//! The workspace's crates do the work; this one adds the rules and is the facade that front ends call. A front end
//! translates its input into documents and settings, and findings into its output.
//!
//! # Check a text
//!
//! ```
//! use karpwarden::{Cluster, File, READ_OPTIONS, Settings, Severity, Target, check};
//!
//! let text = "\
//! apiVersion: karpenter.k8s.aws/v1
//! kind: EC2NodeClass
//! metadata: {name: default}
//! spec: {instanceProfile: 'arn:aws:iam::111122223333:instance-profile/KarpenterNodeProfile-prod'}
//! ";
//! let file = File::read("nodeclass.yaml", text, READ_OPTIONS);
//! let cluster = Cluster { name: String::new(), files: vec![file] };
//! let settings = Settings { karpenter: Target::parse("1.8")?, ..Settings::default() };
//!
//! let report = check(&[cluster], &settings);
//! let finding = report.findings.iter().find(|finding| finding.rule == "instance-profile-is-arn");
//! let finding = finding.ok_or("no finding")?;
//! assert_eq!((finding.severity, finding.position.line, finding.path.as_str()), (Severity::Error, Some(4), "spec.instanceProfile"));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # Simulate
//!
//! [`simulate()`] shows where Karpenter would place the pods of a cluster. [`Choices`] say what the input does not show, such as the
//! region: `src/examples/simulate.rs`.
//!
//! # Plug in a cluster
//!
//! [`check_request`] checks one object against the other objects of a cluster, which may come from a client of the API server or from
//! a cache: `src/examples/own_cluster.rs`. [`looked_up`] says which kinds the check reads.
//!
//! # Stable surface
//!
//! The functions and types that this page lists are stable: they change as [Semantic Versioning](https://semver.org) allows. The names
//! of rules never change, and JSON keeps the schemas in `schemas/`. Settings, reports and choices may get fields in a minor
//! version, so write `..Settings::default()`. Everything else is internal and may change in any version: the other modules and the crates that
//! this crate re-exports without documentation, for the front ends in the same repository.

#![allow(
    rustdoc::invalid_codeblock_attributes,
    reason = "the YAML blocks of rules contain settings, such as `yaml,karpenter=1.8`"
)]

#[macro_use(rule)]
#[doc(hidden)]
pub extern crate rule;

#[doc(hidden)]
pub mod disrupt;
#[doc(hidden)]
pub mod hashes;
#[doc(hidden)]
pub mod plan;
#[doc(hidden)]
pub mod reference;
#[doc(hidden)]
pub mod rules;
#[doc(hidden)]
pub mod simulate;

pub use answers::report::{Report, ReportedFinding};
pub use answers::simulation::SimulationAnswer;
pub use cluster::Cluster;
pub use engine::request::RequestCluster;
pub use karpenter::kind::Kind;
pub use manifest::limits::Limits;
pub use manifest::{Document, File, ReadOptions};
pub use objects::embedded::READ_OPTIONS;
pub use objects::object::{Object, Operation};
pub use rule::finding::{Finding, Severity};
pub use rule::registry::Registry;
pub use rule::settings::{Settings, Target, TargetError};
pub use rules::REGISTRY;
pub use simulate::{ChoiceError, Choices, SimulationError};

// The crates and the registries for the front ends in this repository.
#[cfg(feature = "symptoms")]
#[doc(hidden)]
pub use rules::REGISTRY_WITH_SYMPTOMS;
#[doc(hidden)]
pub use rules::{ADMISSION, KARPENTER_OBJECTS};
#[cfg(feature = "symptoms")]
#[doc(hidden)]
pub use symptoms;
#[doc(hidden)]
pub use {
    answers, cluster, disruption, drift, engine, karpenter, manifest, objects, render, scheduling, userdata,
    values,
};

/// Checks the manifests of one or several clusters.
pub fn check(clusters: &[Cluster], settings: &Settings) -> Report {
    engine::check::check(&REGISTRY, clusters, settings)
}

/// Checks like [`check`] if every object is Karpenter's own, all files are in one folder, and none is a review, a kustomization, a chart or of
/// Terraform. It needs much less code, which matters to a page.
pub fn check_karpenter_objects(clusters: &[Cluster], settings: &Settings) -> Option<Report> {
    engine::check::check_karpenter_objects(&KARPENTER_OBJECTS, clusters, settings)
}

/// Checks an object against the other objects of its cluster, as an admission webhook does.
pub fn check_request<'d>(
    object: Object<'d>,
    cluster: &RequestCluster<'d>,
    settings: &Settings,
) -> Vec<Finding<'d>> {
    engine::request::check_request(&ADMISSION, &ADMISSION.rules_on(object), object, cluster, settings)
}

/// The kinds of other objects that [`check_request`] reads for an object.
pub fn looked_up(object: Object<'_>, settings: &Settings) -> Vec<Kind> {
    let rules = ADMISSION.rules_on(object).into_iter();
    let rules = rules.filter(|rule| settings.enables(rule) && (rule.looks_up)(object));
    let mut kinds: Vec<Kind> = Vec::new();
    for kind in rules.flat_map(|rule| rule.inventory).map(|look_up| look_up.kind()) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// Simulates kube-scheduler and Karpenter's provisioner: new nodes for the pods of a cluster, and for each pod without a node the reasons of the
/// NodePools. The answer has no findings of [`check`].
pub fn simulate(
    cluster: &Cluster,
    choices: &Choices,
    settings: &Settings,
) -> Result<SimulationAnswer, SimulationError> {
    simulate::answer(&cluster.files, choices, settings)
}
