//! Reports of Kubewarden's audit scanner → the findings of this project's policy in them.
//!
//! A report has the verdicts of all policies on one object: `Report` and `ClusterReport` of openreports.io, `PolicyReport` and
//! `ClusterPolicyReport` of wgpolicyk8s.io. Sources: internal/audit-scanner/report/openreports.go and policyreports.go of
//! kubewarden/kubewarden-controller at 1088e929447c20683172e4af719b4cb0c7a6fd72. A policy has any name, so the text of a verdict shows whose it
//! is: `refusal` in policies/karpenter/src/response.rs writes it. The scanner keeps no warnings.

use std::collections::{BTreeMap, BTreeSet};

use answers::report::{Confidence, Evidence, ReportedFinding, TextRange, url};
use cluster::Cluster;
use manifest::tree::Node;
use manifest::{Document, File};
use objects::object::Object;
use rule::Rule;
use rule::finding::Severity;
use rule::registry::Registry;
use rule::settings::{Exception, ObjectName, RuleSelector, Settings};

/// API groups and kinds of reports.
const KINDS: [(&str, &str); 4] = [
    ("openreports.io", "Report"),
    ("openreports.io", "ClusterReport"),
    ("wgpolicyk8s.io", "PolicyReport"),
    ("wgpolicyk8s.io", "ClusterPolicyReport"),
];

/// Characters of a text that a finding quotes.
const MAX_QUOTE: usize = 400;

/// Whether a kind is one of the reports.
pub fn is_audit_report(group: &str, kind: &str) -> bool {
    KINDS.contains(&(group, kind))
}

/// Whether the text of a verdict is a rejection by this project's policy.
pub fn is_rejection(text: &str) -> bool {
    !refusals(text).is_empty()
}

/// Result of reading the reports among the manifests.
#[derive(Debug, Default)]
pub(super) struct AuditedReports {
    pub(super) found: Vec<ReportedFinding>,
    /// Number of findings that an exception accepts.
    pub(super) suppressed: usize,
    /// Numbers of reports and of errors in them, by cluster.
    pub(super) counts: BTreeMap<String, AuditCounts>,
    /// Files and documents in which every object is a report.
    pub(super) documents: BTreeSet<(String, usize)>,
}

/// Numbers of a cluster.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AuditCounts {
    pub(super) reports: usize,
    /// Errors of this project's policy, whether or not they are repeated or accepted.
    pub(super) errors: usize,
}

/// Reads the reports among the manifests.
pub(super) fn read<'a>(
    registry: &Registry,
    clusters: &[Cluster],
    settings: &Settings,
    known: impl Iterator<Item = &'a ReportedFinding>,
) -> AuditedReports {
    let seen = known.map(Identity::of).collect();
    let mut audit = Audit { registry, settings, seen, result: AuditedReports::default() };
    for cluster in clusters {
        let objects = cluster.files.iter().flat_map(objects_of);
        let present: BTreeSet<[&str; 3]> =
            objects.map(|(_, object)| [object.kind(), object.namespace(), object.name()]).collect();
        for file in &cluster.files {
            let mut others = BTreeSet::new();
            let mut documents = BTreeSet::new();
            for (document, object) in objects_of(file) {
                if is_audit_report(object.group(), object.kind()) {
                    audit.report(&cluster.name, file, document, object, &present);
                    documents.insert(document);
                } else {
                    others.insert(document);
                }
            }
            let name = file.source.name();
            let alone = documents.difference(&others).map(|document| (name.to_owned(), *document));
            audit.result.documents.extend(alone);
        }
    }
    audit.result
}

fn objects_of(file: &File) -> impl Iterator<Item = (usize, Object<'_>)> {
    file.documents.iter().enumerate().flat_map(|(index, document)| {
        let objects = match document {
            Document::Read(tree) => Object::all(tree),
            _ => Vec::new(),
        };
        objects.into_iter().map(move |object| (index, object))
    })
}

/// Cluster, rule, object and path: two findings with the same ones are the same.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Identity([String; 6]);

impl Identity {
    fn of(finding: &ReportedFinding) -> Self {
        let texts = [&finding.cluster, &finding.kind, &finding.namespace, &finding.name, &finding.path];
        let [cluster, kind, namespace, name, path] = texts.map(Clone::clone);
        Self([cluster, finding.rule.to_owned(), kind, namespace, name, path])
    }
}

struct Audit<'a> {
    registry: &'a Registry,
    settings: &'a Settings,
    /// The findings that are not repeated: a finding in a manifest has its line, and two policies may report the same.
    seen: BTreeSet<Identity>,
    result: AuditedReports,
}

impl Audit<'_> {
    fn report(
        &mut self,
        cluster: &str,
        file: &File,
        document: usize,
        report: Object<'_>,
        present: &BTreeSet<[&str; 3]>,
    ) {
        let scope = |field: &str| report.str_at(&["scope", field]).unwrap_or_default();
        let about = ObjectName { kind: scope("kind"), namespace: scope("namespace"), name: scope("name") };
        // The object may have changed since the scan.
        let is_present = present.contains(&[about.kind, about.namespace, about.name]);
        let confidence = if is_present { Confidence::Likely } else { Confidence::Certain };
        let mut errors = 0;
        for result in report.at(&["results"]).into_iter().flat_map(Node::items) {
            if result.str_at(&["result"]) != Some("fail") {
                continue;
            }
            let Some(node) = result.get("message") else { continue };
            let text = node.as_str().unwrap_or_default();
            for refusal in refusals(text) {
                let Some(rule) = self.registry.find(refusal.rule) else { continue };
                errors += 1;
                let Some(severity) = self.settings.severity(rule, Severity::Error) else { continue };
                let (start, end) = (node.span().start, node.span().end);
                let (start, end) = (file.source.position(start), file.source.position(end));
                let quote = format!("{}: {text}", result.str_at(&["policy"]).unwrap_or_default());
                let finding = ReportedFinding {
                    rule: rule.name,
                    family: rule.family,
                    severity,
                    caught_by: rule.caught_by,
                    releases: rule.releases.set().to_string(),
                    boundary: None,
                    phase: None,
                    cluster: cluster.to_owned(),
                    file: file.source.name().to_owned(),
                    document,
                    api_version: scope("apiVersion").to_owned(),
                    kind: about.kind.to_owned(),
                    namespace: about.namespace.to_owned(),
                    name: about.name.to_owned(),
                    path: refusal.path.to_owned(),
                    position: TextRange {
                        line: Some(start.line),
                        column: Some(start.column),
                        end_line: Some(end.line),
                        end_column: Some(end.column),
                        offset: None,
                        end_offset: None,
                    },
                    message: refusal.message.to_owned(),
                    help: refusal.help.to_owned(),
                    url: url(rule.name),
                    has_page: true,
                    related: Vec::new(),
                    fix: None,
                    confidence: Some(confidence),
                    evidence: Some(vec![Evidence {
                        file: file.source.name().to_owned(),
                        line: Some(start.line),
                        text: quote.lines().next().unwrap_or_default().chars().take(MAX_QUOTE).collect(),
                    }]),
                    seen: None,
                };
                if self.seen.insert(Identity::of(&finding)) {
                    if self.is_accepted(rule, about) {
                        self.result.suppressed += 1;
                    } else {
                        self.result.found.push(finding);
                    }
                }
            }
        }
        let counts = self.result.counts.entry(cluster.to_owned()).or_default();
        counts.reports += 1;
        counts.errors += errors;
    }

    /// Whether an exception of the settings covers a finding of a rule about an object.
    fn is_accepted(&self, rule: &Rule, about: ObjectName<'_>) -> bool {
        self.settings.exceptions.iter().filter(|one| one.rule.selects(rule.names())).any(|one| {
            let of_any_rule = Exception { rule: RuleSelector::All, ..one.clone() };
            of_any_rule.covers_symptom(rule.name, &[about], self.settings.today)
        })
    }
}

/// One error of a rejection.
#[derive(Debug, PartialEq)]
struct AuditedError<'t> {
    rule: &'t str,
    /// Empty for a finding about the whole object.
    path: &'t str,
    message: &'t str,
    help: &'t str,
}

/// Parses the message of a rejection; empty if another policy wrote it.
fn refusals(text: &str) -> Vec<AuditedError<'_>> {
    let mut lines = text.lines();
    let title = lines.next().unwrap_or_default();
    let is_own = title.split_once(' ').is_some_and(|(count, rest)| {
        is_number(count) && ["error in ", "errors in "].iter().any(|words| rest.starts_with(words))
    });
    if !is_own || !title.contains(" (Karpenter ") {
        return Vec::new();
    }
    let mut errors: Vec<AuditedError<'_>> = Vec::new();
    for line in lines {
        if let Some(rest) = line.strip_prefix("   ") {
            let Some(error) = errors.last_mut() else { continue };
            if let Some(help) = rest.strip_prefix("help: ") {
                error.help = help;
            } else if error.message.is_empty() {
                error.message = rest;
            }
        } else if let Some((number, name)) = line.split_once(". ")
            && is_number(number)
        {
            let (rule, path) = name.split_once(" at ").unwrap_or((name, ""));
            errors.push(AuditedError { rule, path, message: "", help: "" });
        }
    }
    errors
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_a_rejection_with_several_errors() {
        let text = "2 errors in EC2NodeClass/default (Karpenter 1.14)\n\
            1. one-rule at spec.instanceProfile\n   `spec.instanceProfile` is an ARN\n   help: write `nodes`\n   explain: karpwarden explain one-rule\n\
            2. other-rule\n   the server refuses it\n   explain: karpwarden explain other-rule\n   see https://rules.example/rules/other-rule";
        let expected = [
            AuditedError {
                rule: "one-rule",
                path: "spec.instanceProfile",
                message: "`spec.instanceProfile` is an ARN",
                help: "write `nodes`",
            },
            AuditedError { rule: "other-rule", path: "", message: "the server refuses it", help: "" },
        ];
        assert_eq!(refusals(text), expected);
    }

    #[test]
    fn reads_nothing_from_the_messages_of_other_policies() {
        for text in [
            "",
            "The following mandatory labels are missing: cost-center",
            "1. one-rule at spec\n   x",
            "2 errors in the manifest\n1. one-rule\n   x",
        ] {
            assert_eq!(refusals(text), [], "{text}");
        }
    }
}
