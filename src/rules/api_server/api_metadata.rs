use std::collections::BTreeMap;

use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::edit::Change;
use manifest::tree::{Members, Node, Style, Value};
use objects::metadata::Metadata;
use objects::object::{Form, Object};
use objects::pod::Pod;
use objects::storage::{PersistentVolume, VolumeClaim};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::naming::{self, SubdomainProblem};
use values::placeholder::{has_placeholder, is_in_capitals};

rule! {
    /// ## What it does
    ///
    /// Checks what the API server checks in the metadata of every object:
    ///
    /// - `metadata.name` and `metadata.generateName` are DNS subdomains: lower-case letters, digits, `-` and `.`, at most
    ///   253 characters. The name of a CronJob has at most 52 characters.
    /// - The keys of labels and annotations are label names such as `example.com/team`, and the values of labels have at
    ///   most 63 letters, digits, `-`, `_` and `.`.
    /// - In Kubernetes' own kinds, the names and values are strings. In Karpenter's kinds, `api-type` checks that.
    ///
    /// The labels and annotations of a pod template and its `nodeSelector` are checked in Kubernetes' own kinds. Custom
    /// resources check their templates themselves, or not at all.
    ///
    /// ## Why it is bad
    ///
    /// The API server refuses the whole object, so `kubectl apply` changes nothing in the cluster. An Argo CD or Flux
    /// application that contains the object stays out of sync.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: General_Purpose
    ///   labels:
    ///     team: data platform
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
    /// ```
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: api
    /// spec:
    ///   selector: {matchLabels: {app: api}}
    ///   template:
    ///     metadata:
    ///       labels: {app: api}
    ///       annotations: {karpenter.sh/do-not-disrupt: true}
    ///     spec:
    ///       containers: [{name: api, image: "example.com/api:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: general-purpose
    ///   labels:
    ///     team: data-platform
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
    /// ```
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: api
    /// spec:
    ///   selector: {matchLabels: {app: api}}
    ///   template:
    ///     metadata:
    ///       labels: {app: api}
    ///       annotations: {karpenter.sh/do-not-disrupt: "true"}
    ///     spec:
    ///       containers: [{name: api, image: "example.com/api:1"}]
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe: the fix puts a boolean or a number in quotes, as it is written. Names are not fixed, because other objects
    /// refer to them.
    ///
    /// ## References
    ///
    /// - k8s.io/apimachinery v0.35 pkg/api/validation/objectmeta.go `ValidateObjectMetaAccessor` and `ValidateAnnotations`,
    ///   pkg/apis/meta/v1/validation/validation.go `ValidateLabels`
    /// - k8s.io/apiextensions-apiserver v0.35 pkg/registry/customresource/validator.go: names of custom resources
    /// - kubernetes/kubernetes v1.35 pkg/apis/core/validation/validation.go `ValidatePodTemplateSpec` and
    ///   `ValidatePodSpec`; pkg/apis/batch/validation/validation.go, on the names of CronJobs
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "a name, label or annotation has a form that the API server refuses",
        runs: Runs::InAdmission,
        on: &[
            On::Group("karpenter.sh"),
            On::Group("karpenter.k8s.aws"),
            On::Workload,
            On::ChartValues,
            On::IamPolicy,
            On::Kind(Kind::STORAGE_CLASS),
            On::Kind(VolumeClaim::KIND),
            On::Kind(PersistentVolume::KIND),
        ],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if object.form() != Form::Api {
        return;
    }
    let is_built_in = is_built_in(object.group());
    let mut checked = Checked { object, is_built_in, repeated: BTreeMap::new(), findings };
    checked.names();
    checked.metadata(object.metadata());
    if let Some(pod) = Pod::of(object).filter(|_| is_built_in) {
        if object.kind() != "Pod" {
            checked.metadata(pod.metadata());
        }
        checked.labels(pod.spec().node_selector(), "node selector");
    }
}

/// Whether Kubernetes itself has the API group of an object that the rule checks.
fn is_built_in(group: &str) -> bool {
    !group.contains('.') || group == "storage.k8s.io"
}

/// A faulty text: its use, such as `value` for the value of a label, and the text.
type Fault<'d> = (&'static str, &'d str);

/// An object whose metadata is checked.
struct Checked<'f, 'd> {
    object: Object<'d>,
    is_built_in: bool,
    /// The finding for each faulty text. A label is usually written several times, and one finding names every place.
    repeated: BTreeMap<Fault<'d>, usize>,
    findings: &'f mut Vec<Finding<'d>>,
}

impl<'d> Checked<'_, 'd> {
    fn names(&mut self) {
        let metadata = self.object.metadata();
        let name = metadata.name().filter(|node| !node.is_null());
        // The API server appends characters to the prefix and cuts it to a length before.
        let prefix = metadata.generate_name().filter(|node| !node.is_null());
        for node in name.into_iter().chain(prefix) {
            let Some(text) = node.as_str() else {
                self.not_a_string(node, "the name");
                continue;
            };
            if text.is_empty() || is_replaced(text) {
                continue;
            }
            let is_prefix = prefix == Some(node);
            let checked = if is_prefix { text.trim_end_matches('-') } else { text };
            let problem = naming::subdomain_problem(checked);
            if let Some(problem) =
                problem.filter(|problem| !is_prefix || *problem == SubdomainProblem::Characters)
            {
                let message = format!("`metadata.{}` is not a DNS subdomain: {problem}", node.key());
                self.report(Place::value(node), ("name", text), &message, valid_name(text));
            } else if self.object.kind() == "CronJob"
                && self.is_built_in
                && !is_prefix
                && text.len() > MAX_CRON_JOB_NAME
            {
                let message = format!(
                    "the name of a CronJob has at most {MAX_CRON_JOB_NAME} characters, because its Jobs add a number, but this \
                     name has {}",
                    text.len()
                );
                self.report(Place::value(node), ("name", text), &message, "write a shorter name");
            }
        }
    }

    fn metadata(&mut self, metadata: Metadata<'d>) {
        self.labels(metadata.labels(), "label");
        for (key, node) in metadata.annotations() {
            // The case of an annotation's key does not matter.
            self.key(key, &key.to_ascii_lowercase(), node, "annotation");
            self.value_type(node, "annotation");
        }
    }

    /// Checks labels, or a node selector, which the API server checks as labels.
    fn labels(&mut self, labels: Members<'d>, what: &'static str) {
        for (key, node) in labels {
            self.key(key, key, node, what);
            self.value_type(node, what);
            let Some(text) = node.as_str().filter(|text| !is_replaced(text)) else { continue };
            if let Some(problem) = naming::label_value_problem(text) {
                let message = format!("`{text}` is not a valid label value: {problem}");
                let help = format!("write a valid value for `{key}`");
                self.report(Place::value_under_parent(node), ("value", text), &message, help);
            }
        }
    }

    fn key(&mut self, key: &'d str, checked: &str, node: Node<'d>, what: &str) {
        if is_replaced(key) {
            return;
        }
        if let Some(problem) = naming::qualified_name_problem(checked) {
            let message = format!("`{key}` is not a valid {what} name: {problem}");
            let help = "write a name such as `team` or `example.com/team`";
            self.report(Place::key_of_map(node), ("key", key), &message, help);
        }
    }

    fn value_type(&mut self, node: Node<'d>, what: &str) {
        if node.as_str().is_none() {
            self.not_a_string(node, &format!("the {what} `{}`", node.key()));
        }
    }

    /// Reports a boolean or a number in place of a string. The rule `api-type` does so for Karpenter's kinds, and other
    /// values come from templates.
    fn not_a_string(&mut self, node: Node<'d>, what: &str) {
        let is_scalar = matches!(node.value(), Value::Bool(_) | Value::Int(_) | Value::Float(_));
        if !self.is_built_in || !is_scalar {
            return;
        }
        let spelling = node.spelling();
        let message = format!("{what} is {} but must be a string", super::shown(node));
        let finding = self.finding(Place::value(node), &message);
        let finding = finding.help(super::in_quotes(node));
        self.findings.push(if node.style() == Style::Alias || spelling.is_empty() {
            finding
        } else {
            finding.safe_fix("put the value in quotes", Change::Set(node, spelling.to_owned()))
        });
    }

    /// Adds a finding, or a place to the finding about the same text.
    fn report(&mut self, place: Place<'d>, fault: Fault<'d>, message: &str, help: impl Into<String>) {
        if let Some(finding) = self.repeated.get(&fault).and_then(|index| self.findings.get_mut(*index)) {
            finding.related.push((place, "also here".to_owned()));
            return;
        }
        self.repeated.insert(fault, self.findings.len());
        let finding = self.finding(place, message).help(help);
        self.findings.push(finding);
    }

    fn finding(&self, place: Place<'d>, message: &str) -> Finding<'d> {
        Finding::new(&RULE, place, format!("{message}; the API server refuses the {}", self.object.kind()))
    }
}

/// The longest name of a `CronJob`: a Job has at most 63 characters, and the controller appends a dash and ten digits.
const MAX_CRON_JOB_NAME: usize = 52;

/// Whether a text is replaced before the object is applied: it has a placeholder, or a word in capitals such as the one in
/// `check-NODE_NAME`.
fn is_replaced(text: &str) -> bool {
    has_placeholder(text) || text.split(['-', '.', '/']).any(is_in_capitals)
}

/// The help for an invalid name: the nearest valid name, where one is easily found.
fn valid_name(text: &str) -> String {
    let lower = text.to_ascii_lowercase().replace(['_', ' ', '/', ':'], "-");
    let near = lower.trim_matches(['-', '.']);
    if naming::subdomain_problem(near).is_none() {
        format!("write `{near}`, also where other objects refer to the name")
    } else {
        "write a name such as `general-purpose`".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, fixed, silent};

    fn pool(metadata: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{{metadata}}}
"
        )
    }

    fn named(name: &str) -> String {
        pool(&format!("name: {name}"))
    }

    const DEPLOYMENT: &str = r"apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  template:
    metadata: {labels: {app: a}}
    spec: {containers: []}
";

    #[test]
    fn reports_name_with_capitals_and_underscores() {
        insta::assert_snapshot!(findings(&RULE, &named("General_Purpose")), @"
          3 | metadata: {name: General_Purpose}
            |                  ^^^^^^^^^^^^^^^
        error NodePool/General_Purpose metadata.name [all]
          `metadata.name` is not a DNS subdomain: it may contain lower-case letters, digits, `-` and `.`, and must start and end with a letter or digit; the API server refuses the NodePool
          help: write `general-purpose`, also where other objects refer to the name
        ");
    }

    #[test]
    fn reports_names_that_are_no_subdomain() {
        for name in ["a_b", "General", "'-a'", "a-", "a..b", "'a b'", "a/b", &"n".repeat(254)] {
            assert!(findings(&RULE, &named(name)).contains("error NodePool/"), "{name}");
        }
        for name in ["a", "gp-3", "a.b", "'9'", &"n".repeat(253)] {
            silent(&RULE, &named(name));
        }
    }

    #[test]
    fn accepts_a_dash_at_the_end_of_a_generated_name() {
        silent(&RULE, &pool("generateName: my-pool-"));
        assert!(findings(&RULE, &pool("generateName: My-pool-")).contains("`metadata.generateName`"));
        silent(&RULE, &pool(&format!("generateName: {}", "n".repeat(254))));
        // The API server does not use the prefix beside a name, but checks it.
        silent(&RULE, &pool("name: a, generateName: my-pool-"));
        assert!(
            findings(&RULE, &pool("name: a, generateName: My-pool-")).contains("`metadata.generateName`")
        );
    }

    #[test]
    fn reports_labels_and_annotations() {
        insta::assert_snapshot!(
            findings(&RULE, &pool("name: a, labels: {'a b': x, team: 'data platform', Ex.com/x: y}, annotations: {'a/b/c': x, Team: y}")),
            @"
          3 | metadata: {name: a, labels: {'a b': x, team: 'data platform', Ex.com/x: y}, annotations: {'a/b/c': x, Team: y}}
            |                              ^^^^^
        error NodePool/a metadata.labels [all]
          `a b` is not a valid label name: it may contain letters, digits, `-`, `_` and `.`, and must start and end with a letter or digit; the API server refuses the NodePool
          help: write a name such as `team` or `example.com/team`
          3 | metadata: {name: a, labels: {'a b': x, team: 'data platform', Ex.com/x: y}, annotations: {'a/b/c': x, Team: y}}
            |                                              ^^^^^^^^^^^^^^^
        error NodePool/a metadata.labels [all]
          `data platform` is not a valid label value: it may contain letters, digits, `-`, `_` and `.`, and must start and end with a letter or digit; the API server refuses the NodePool
          help: write a valid value for `team`
          3 | metadata: {name: a, labels: {'a b': x, team: 'data platform', Ex.com/x: y}, annotations: {'a/b/c': x, Team: y}}
            |                                                               ^^^^^^^^
        error NodePool/a metadata.labels [all]
          `Ex.com/x` is not a valid label name: its prefix is not a DNS subdomain in lower case; the API server refuses the NodePool
          help: write a name such as `team` or `example.com/team`
          3 | metadata: {name: a, labels: {'a b': x, team: 'data platform', Ex.com/x: y}, annotations: {'a/b/c': x, Team: y}}
            |                                                                                           ^^^^^^^
        error NodePool/a metadata.annotations [all]
          `a/b/c` is not a valid annotation name: it has more than one slash; the API server refuses the NodePool
          help: write a name such as `team` or `example.com/team`
        "
        );
        silent(
            &RULE,
            &pool("name: a, labels: {Team: A_b.c, e.com/x: ''}, annotations: {EXAMPLE.com/x: 'any text'}"),
        );
        let value = |length: usize| pool(&format!("name: a, labels: {{team: {}}}", "v".repeat(length)));
        silent(&RULE, &value(63));
        assert!(findings(&RULE, &value(64)).contains("it has 64 characters"));
    }

    #[test]
    fn reports_one_text_once_and_names_every_place() {
        let text = DEPLOYMENT
            .replace("{name: a}", "{name: a, labels: {app: 'my app'}}")
            .replace("{app: a}", "{app: 'my app'}");
        insta::assert_snapshot!(findings(&RULE, &text), @"
          3 | metadata: {name: a, labels: {app: 'my app'}}
            |                                   ^^^^^^^^
        error Deployment/a metadata.labels [all]
          `my app` is not a valid label value: it may contain letters, digits, `-`, `_` and `.`, and must start and end with a letter or digit; the API server refuses the Deployment
          help: write a valid value for `app`
          see line 6 spec.template.metadata.labels: also here
        ");
    }

    #[test]
    fn limits_names_of_cron_jobs() {
        let cron_job = |length: usize| {
            let spec = "spec: {jobTemplate: {spec: {template: {spec: {containers: []}}}}}";
            format!(
                "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: {}}}\n{spec}\n",
                "n".repeat(length)
            )
        };
        silent(&RULE, &cron_job(52));
        assert!(findings(&RULE, &cron_job(53)).contains("at most 52 characters"));
    }

    #[test]
    fn quotes_booleans_and_numbers_in_kinds_of_kubernetes() {
        let text = DEPLOYMENT
            .replace("{app: a}", "{app: a, version: 1.10}")
            .replace("spec: {containers: []}", "spec: {containers: [], nodeSelector: {gpu: true}}");
        insta::assert_snapshot!(findings(&RULE, &text), @r#"
          6 |     metadata: {labels: {app: a, version: 1.10}}
            |                                          ^^^^
        error Deployment/a spec.template.metadata.labels.version [all]
          the label `version` is the number 1.1 but must be a string; the API server refuses the Deployment
          help: put the value in quotes: `"1.10"`
          fix: put the value in quotes: "\"1.10\""
          7 |     spec: {containers: [], nodeSelector: {gpu: true}}
            |                                                ^^^^
        error Deployment/a spec.template.spec.nodeSelector.gpu [all]
          the node selector `gpu` is `true` but must be a string; the API server refuses the Deployment
          help: put the value in quotes: `"true"`
          fix: put the value in quotes: "\"true\""
        "#);
        let quoted = text.replace("1.10", "\"1.10\"").replace("gpu: true", "gpu: \"true\"");
        assert_eq!(fixed(&RULE, &text), quoted);
        let with_alias = r"apiVersion: apps/v1
kind: Deployment
spec: {replicas: &count 2, template: {spec: {containers: []}}}
metadata: {name: a, annotations: {count: *count}}
";
        let found = findings(&RULE, with_alias);
        assert!(found.contains("help: write the value in quotes instead of the alias `*count`\n"), "{found}");
        assert!(!found.contains("fix:"), "{found}");
        // `api-type` reports them in Karpenter's kinds.
        silent(&RULE, &pool("name: a, labels: {gpu: true}"));
    }

    #[test]
    fn leaves_templates_of_custom_resources_alone() {
        let rollout = DEPLOYMENT.replace("apps/v1", "argoproj.io/v1alpha1").replace("Deployment", "Rollout");
        silent(&RULE, &rollout.replace("{app: a}", "{app: 'my app', version: 1.10}"));
        assert!(findings(&RULE, &rollout.replace("name: a", "name: A_a")).contains("error Rollout/A_a"));
    }

    #[test]
    fn ignores_placeholders_empty_values_and_other_kinds() {
        for text in [
            named("'${NAME}'"),
            named("<overlay-name>"),
            named("'{{ .Values.name }}'"),
            named("NODEPOOL_NAME"),
            named("check-NODE_NAME"),
            named("''"),
            pool("labels: {team: '${TEAM}', '<key>': a, x: null}"),
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A_b}\n".to_owned(),
            r"apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: 'system:a'}
"
            .to_owned(),
        ] {
            silent(&RULE, &text);
        }
    }
}
