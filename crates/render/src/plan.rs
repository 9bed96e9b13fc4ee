//! Plan of an upgrade: what to do before, with and after each release, in order.

use std::collections::{BTreeMap, BTreeSet};

use answers::plan::ControllerChange;
use answers::report::{Report, ReportedFinding};
use cluster::Cluster;
use drift::Effect;
use karpenter::upgrade_path::{Boundary, UpgradePath};
use manifest::Document;
use objects::instance_profile::CreatedProfile;
use objects::object::{Form, Object};
use objects::{iam_policy, metric_queries};
use rule::Phase;
use rule::finding::Severity;

/// Plan of an upgrade.
#[derive(Debug)]
pub struct UpgradePlan<'r> {
    path: UpgradePath,
    /// Steps in the order of the path. Findings of severity `info` need no step.
    pub steps: Vec<UpgradeStep<'r>>,
    controller: &'r [ControllerChange],
    looked_at: Vec<(usize, &'static str)>,
    missing: Vec<&'static str>,
}

/// Action of a plan.
#[derive(Debug)]
pub struct UpgradeStep<'r> {
    /// The release from which the action is needed.
    pub boundary: Boundary,
    /// The time of the action.
    pub phase: Phase,
    /// The findings with the same rule and the same help.
    pub findings: Vec<&'r ReportedFinding>,
}

impl UpgradeStep<'_> {
    /// The action, in the words of the findings.
    pub fn action(&self) -> &str {
        self.findings.first().map_or("", |finding| &finding.help)
    }

    /// The rule.
    pub fn rule(&self) -> &str {
        self.findings.first().map_or("", |finding| finding.rule)
    }
}

/// Input that an upgrade depends on: the name of one, the name of several, and whether an object is one.
type PlanInput = (&'static str, &'static str, fn(Object<'_>) -> bool);

const EC2_NODE_CLASSES: &str = "EC2NodeClasses";

const INPUTS: [PlanInput; 6] = [
    ("NodePool", "NodePools", |object| object.kind() == "NodePool"),
    ("EC2NodeClass", EC2_NODE_CLASSES, |object| object.kind() == "EC2NodeClass"),
    ("set of Helm values", "sets of Helm values", |object| objects::chart_values::of(object).is_some()),
    ("IAM policy", "IAM policies", |object| iam_policy::holds(object) && holds_no_other(object)),
    ("file of alerts or dashboards", "files of alerts or dashboards", metric_queries::holds),
    ("workload", "workloads", |object| object.pod().is_some()),
];

/// Whether an object that may hold policies is no module, whose policy is not visible, and no resource of AWS for another purpose, such as a
/// queue.
fn holds_no_other(object: Object<'_>) -> bool {
    let is_of_iam = || object.str_at(&["Type"]).is_some_and(|kind| kind.starts_with("AWS::IAM::"));
    match object.form() {
        Form::Module => false,
        Form::StackResource => is_of_iam() && CreatedProfile::of(object).is_none(),
        _ => true,
    }
}

impl<'r> UpgradePlan<'r> {
    /// The plan of a report; `None` if the report is not about an upgrade.
    pub fn of(report: &'r Report, clusters: &[Cluster]) -> Option<Self> {
        let path = report.upgrade_path()?;
        let controller = report.controller.as_deref().unwrap_or_default();
        let mut plan =
            Self { path, steps: steps(report), controller, looked_at: Vec::new(), missing: Vec::new() };
        let mut counts = [0_usize; INPUTS.len()];
        let documents = clusters.iter().flat_map(|cluster| &cluster.files).flat_map(|file| &file.documents);
        let trees = documents.filter_map(Document::tree);
        for object in trees.flat_map(Object::all) {
            for (count, (_, _, is_input)) in counts.iter_mut().zip(INPUTS) {
                *count += usize::from(is_input(object));
            }
        }
        for (count, (one, several, _)) in counts.into_iter().zip(INPUTS) {
            match count {
                0 => plan.missing.push(several),
                1 => plan.looked_at.push((count, one)),
                _ => plan.looked_at.push((count, several)),
            }
        }
        Some(plan)
    }

    /// `upgrade from Karpenter 1.8 to 1.15`.
    pub fn title(&self) -> String {
        let (from, to) = self.path.ends();
        let change = if to < from { "downgrade" } else { "upgrade" };
        format!("{change} from Karpenter {from} to {to}")
    }

    /// The action for every release of an upgrade, whatever the manifests are.
    pub fn always(&self) -> Option<&'static str> {
        let (from, to) = self.path.ends();
        (from < to).then_some(
            "install the custom resource definitions of each release before its controller (chart `karpenter-crd`)",
        )
    }

    /// The effect of the upgrade on nodes: one line for each hash whose version changes and each alias of images, and the command that names
    /// the nodes. Empty if the release stays.
    pub fn nodes(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.controller.iter().map(line).collect();
        if !lines.is_empty() {
            if self.missing.contains(&EC2_NODE_CLASSES) {
                lines.push(
                    "the input has no EC2NodeClass; an AMI alias `@latest` may pick up a newer image"
                        .to_owned(),
                );
            }
            lines.push(
                "with a snapshot of the cluster, `karpwarden plan` says which nodes drift, and when they go"
                    .to_owned(),
            );
        }
        lines
    }

    /// The input that the plan is based on, such as `looked at 1 NodePool, 2 IAM policies; the input has no Helm values`.
    pub fn basis(&self) -> String {
        let seen: Vec<_> = self.looked_at.iter().map(|(count, name)| format!("{count} {name}")).collect();
        let seen = if seen.is_empty() { "nothing".to_owned() } else { seen.join(", ") };
        match self.missing.as_slice() {
            [] => format!("looked at {seen}"),
            missing => format!("looked at {seen}; the input has no {}", missing.join(", no ")),
        }
    }
}

/// A change of the controller in a line. It counts for every cluster if it names none.
fn line(change: &ControllerChange) -> String {
    let ControllerChange { cluster, subject, old, new, effect, message } = change;
    let cluster = if cluster.is_empty() { String::new() } else { format!(" in {cluster}") };
    let old = if old.is_empty() || old == new { String::new() } else { format!("`{old}` → ") };
    let effect = if *effect == Effect::None { String::new() } else { format!("{}: ", effect.words()) };
    format!("{subject}{cluster} {old}`{new}`: {effect}{message}")
}

fn steps(report: &Report) -> Vec<UpgradeStep<'_>> {
    let mut steps: Vec<UpgradeStep<'_>> = Vec::new();
    let mut known = BTreeMap::new();
    for finding in report.findings.iter().filter(|finding| finding.severity != Severity::Info) {
        let (Some(boundary), Some(phase)) = (finding.boundary, finding.phase) else { continue };
        let key = (boundary.release(), finding.rule, finding.help.as_str());
        let index = *known.entry(key).or_insert(steps.len());
        match steps.get_mut(index) {
            Some(step) => step.findings.push(finding),
            None => steps.push(UpgradeStep { boundary, phase, findings: vec![finding] }),
        }
    }
    steps.sort_by(|one, other| one.boundary.cmp(&other.boundary).then(one.phase.cmp(&other.phase)));
    // An earlier release needs the same action at the same place: it is done by then.
    let mut done = BTreeSet::new();
    for step in &mut steps {
        step.findings.retain(|finding| {
            let place = (&finding.file, finding.position.offset, &finding.name, &finding.path);
            done.insert((finding.rule, &finding.help, place))
        });
    }
    steps.retain(|step| !step.findings.is_empty());
    steps
}
