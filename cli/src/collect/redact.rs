//! Objects without what may be secret: values of environment variables, arguments, annotations of other tools.
//!
//! The object keeps its shape, so that the commands read it like the original. What has no meaning for any command is removed;
//! elsewhere [`REDACTED`] takes the place of the value.

use karpenter::options::{flags, variable_of};
use manifest::source::certain;
use serde::Serialize;
use serde_json::{Map, Value};

/// Text in the place of a value.
pub(crate) const REDACTED: &str = "REDACTED";

/// Annotation with a copy of the whole object, including what is redacted.
/// Source: `LastAppliedConfigAnnotation` in `staging/src/k8s.io/api/core/v1/annotation_key_constants.go` of kubernetes/kubernetes
/// at v1.33.0.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Ends of the domains whose annotations are kept: Kubernetes, its subprojects, Karpenter, EKS, Helm and Karpwarden define
/// the meaning of these annotations, and none is meant for a secret.
const PUBLIC_DOMAINS: [&str; 7] =
    ["kubernetes.io", "k8s.io", "karpenter.sh", "k8s.aws", "eks.amazonaws.com", "helm.sh", "karpwarden"];

/// Lists of containers in the specification of a pod.
const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Fields of a container that may contain commands and headers, and that no command reads.
const HOOKS: [&str; 4] = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"];

/// Parts of mount options, such as `password=…` of CIFS, that name a secret.
const SECRET_OPTIONS: [&str; 5] = ["pass", "secret", "token", "key", "cred"];

/// Numbers of values that were redacted or removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Redactions {
    /// Values of environment variables.
    pub(super) environment: u64,
    /// Commands, arguments and probes of containers.
    pub(super) commands: u64,
    /// Annotations.
    pub(super) annotations: u64,
    /// Secrets in user data.
    pub(super) user_data: u64,
    /// Attributes and mount options of volumes.
    pub(super) volumes: u64,
    /// Verdicts of other policies in reports of an audit scanner.
    pub(super) verdicts: u64,
}

impl Redactions {
    /// Redacts an object, and counts what was redacted.
    pub(crate) fn redact(&mut self, object: &mut Value) {
        let is_in_chart = object
            .pointer("/metadata/labels/app.kubernetes.io~1name")
            .is_some_and(|name| name == "karpenter");
        self.walk(object, is_in_chart);
    }

    /// Removes the verdicts of other policies from a report of an audit scanner: no command reads them, and their texts may quote
    /// anything. They are most of a report. A page quotes none of them, so [`Self::redact`] leaves them.
    pub(super) fn drop_other_verdicts(&mut self, object: &mut Value) {
        let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
        let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
        if !symptoms::is_audit_report(group, text("kind")) {
            return;
        }
        let Some(results) = object.get_mut("results").and_then(Value::as_array_mut) else { return };
        results.retain(|result| {
            let is_own = result.get("message").and_then(Value::as_str).is_some_and(symptoms::is_rejection);
            self.verdicts += u64::from(!is_own);
            is_own
        });
    }

    fn walk(&mut self, value: &mut Value, is_in_chart: bool) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.walk(item, is_in_chart)),
            Value::Object(fields) => {
                for (key, value) in fields.iter_mut() {
                    self.field(key, value, is_in_chart);
                }
            }
            _ => {}
        }
    }

    fn field(&mut self, key: &str, value: &mut Value, is_in_chart: bool) {
        match (key, &mut *value) {
            ("metadata", Value::Object(metadata)) => {
                metadata.remove("managedFields");
                if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
                    self.annotations(annotations);
                }
                return;
            }
            ("userData", Value::String(text)) => self.user_data += redact_user_data(text),
            ("volumeAttributes" | "options", Value::Object(attributes)) => {
                self.volumes += redact_values(attributes);
            }
            ("mountOptions", Value::Array(options)) => {
                self.volumes += options.iter_mut().map(redact_mount_option).sum::<u64>();
            }
            (_, Value::Array(containers)) if CONTAINERS.contains(&key) => {
                for container in containers.iter_mut().filter_map(Value::as_object_mut) {
                    self.container(container, is_in_chart);
                }
            }
            _ => {}
        }
        self.walk(value, is_in_chart);
    }

    fn annotations(&mut self, annotations: &mut Map<String, Value>) {
        self.annotations += u64::from(annotations.remove(LAST_APPLIED).is_some());
        for (key, value) in annotations.iter_mut() {
            if !is_public(key) {
                *value = REDACTED.into();
                self.annotations += 1;
            }
        }
    }

    fn container(&mut self, container: &mut Map<String, Value>, is_in_chart: bool) {
        let text = |key: &str| container.get(key).and_then(Value::as_str).unwrap_or_default();
        let is_controller = symptoms::is_controller(text("name"), text("image"), is_in_chart);
        for hook in HOOKS {
            self.commands += u64::from(container.remove(hook).is_some());
        }
        // The options of the controller are among its arguments.
        for field in ["command", "args"] {
            if !is_controller {
                self.commands += u64::from(container.remove(field).is_some());
            }
        }
        let variables = container.get_mut("env").and_then(Value::as_array_mut);
        for variable in variables.into_iter().flatten().filter_map(Value::as_object_mut) {
            let name = variable.get("name").and_then(Value::as_str).unwrap_or_default();
            let is_kept = is_controller && is_option(name);
            if let Some(value) = variable.get_mut("value").filter(|_| !is_kept) {
                *value = REDACTED.into();
                self.environment += 1;
            }
        }
    }
}

/// Whether a variable sets an option of the controller, or the region.
fn is_option(name: &str) -> bool {
    name == "AWS_REGION" || flags().any(|flag| variable_of(flag) == name)
}

fn is_public(annotation: &str) -> bool {
    let Some((domain, _)) = annotation.split_once('/') else { return false };
    PUBLIC_DOMAINS
        .iter()
        .any(|public| domain.strip_suffix(public).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

fn redact_values(fields: &mut Map<String, Value>) -> u64 {
    let mut count = 0;
    for value in fields.values_mut().filter(|value| value.is_string()) {
        *value = REDACTED.into();
        count += 1;
    }
    count
}

fn redact_mount_option(option: &mut Value) -> u64 {
    let Some((name, _)) = option.as_str().and_then(|text| text.split_once('=')) else { return 0 };
    let lower = name.to_ascii_lowercase();
    if !SECRET_OPTIONS.iter().any(|secret| lower.contains(secret)) {
        return 0;
    }
    *option = format!("{name}={REDACTED}").into();
    1
}

/// Redacts the secrets that the rule `userdata-secret` reports, and the lines of private keys.
fn redact_user_data(text: &mut String) -> u64 {
    let mut count = 0;
    let mut redacted = String::with_capacity(text.len());
    let mut is_in_key = false;
    for line in text.split_inclusive('\n') {
        if is_in_key {
            is_in_key = !line.contains("-----END ");
            redacted.push_str(if is_in_key { "REDACTED\n" } else { line });
            continue;
        }
        let mut secrets = karpwarden::rules::user_data_secrets(line);
        // A span that another one contains is redacted with it.
        secrets.sort_by_key(|(_, span)| (span.start, std::cmp::Reverse(span.end)));
        let mut done = 0;
        for (_, span) in secrets.iter().filter(|(what, _)| *what != karpwarden::rules::PRIVATE_KEY) {
            if let Some(before) = line.get(done..span.start) {
                redacted.push_str(before);
                redacted.push_str(REDACTED);
                done = span.end;
                count += 1;
            }
        }
        redacted.push_str(certain(line.get(done..)));
        if secrets.iter().any(|(what, _)| *what == karpwarden::rules::PRIVATE_KEY) {
            is_in_key = !line.contains("-----END ");
            count += 1;
        }
    }
    if count > 0 {
        *text = redacted;
    }
    count
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn redacted(mut object: Value) -> (Value, Redactions) {
        let mut redactions = Redactions::default();
        redactions.redact(&mut object);
        (object, redactions)
    }

    #[test]
    fn redacts_the_containers_of_pods_and_templates() {
        let container = json!({
            "name": "web", "image": "nginx", "command": ["sh"], "args": ["--token=abc"],
            "livenessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": "x"}]}},
            "env": [{"name": "PASSWORD", "value": "hunter2"}, {"name": "CLUSTER_NAME", "value": "prod"},
                    {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
            "resources": {"requests": {"cpu": "1"}}});
        let expected = json!({
            "name": "web", "image": "nginx",
            "env": [{"name": "PASSWORD", "value": "REDACTED"}, {"name": "CLUSTER_NAME", "value": "REDACTED"},
                    {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
            "resources": {"requests": {"cpu": "1"}}});
        let (pod, counts) = redacted(json!({"kind": "Pod", "spec": {"initContainers": [container.clone()]}}));
        assert_eq!(pod, json!({"kind": "Pod", "spec": {"initContainers": [expected.clone()]}}));
        assert_eq!(counts, Redactions { environment: 2, commands: 3, ..Redactions::default() });
        let job = |container: &Value| json!({"spec": {"jobTemplate": {"spec": {"template": {"spec": {"containers": [container]}}}}}});
        assert_eq!(redacted(job(&container)).0, job(&expected));
    }

    #[test]
    fn keeps_the_options_of_the_controller_only() {
        let controller = |image: &str, labels: Value| {
            let env = json!([{"name": "FEATURE_GATES", "value": "NodeOverlay=true"}, {"name": "HTTPS_PROXY", "value": "http://u:p@proxy"}]);
            let (object, _) = redacted(json!({
                "metadata": {"labels": labels},
                "spec": {"template": {"spec": {"containers": [
                    {"name": "controller", "image": image, "args": ["--cluster-name=a"], "env": env}]}}}}));
            object["spec"]["template"]["spec"]["containers"][0].clone()
        };
        let kept = controller("public.ecr.aws/karpenter/controller:1.8.2", json!({}));
        assert_eq!(kept["args"], json!(["--cluster-name=a"]));
        assert_eq!(kept["env"][0]["value"], "NodeOverlay=true");
        assert_eq!(kept["env"][1]["value"], "REDACTED");
        let of_chart = controller("mirror.example/x:1", json!({"app.kubernetes.io/name": "karpenter"}));
        assert_eq!(of_chart["env"][0]["value"], "NodeOverlay=true");
        let other = controller("mirror.example/x:1", json!({}));
        assert_eq!((&other["args"], &other["env"][0]["value"]), (&Value::Null, &json!("REDACTED")));
    }

    #[test]
    fn drops_managed_fields_and_copies_of_the_object() {
        let (object, counts) = redacted(json!({"metadata": {
            "name": "a", "managedFields": [{"manager": "kubectl"}],
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": "{\"env\":\"secret\"}",
                "kapp.k14s.io/original": "{\"env\":\"secret\"}",
                "checksum/config": "abc", "notkubernetes.io/a": "b",
                "karpenter.sh/do-not-disrupt": "true", "compatibility.karpenter.k8s.aws/x": "y",
                "cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpwarden/ignore": "x -- y"}}}));
        assert_eq!(
            object,
            json!({"metadata": {
            "name": "a",
            "annotations": {
                "kapp.k14s.io/original": "REDACTED", "checksum/config": "REDACTED", "notkubernetes.io/a": "REDACTED",
                "karpenter.sh/do-not-disrupt": "true", "compatibility.karpenter.k8s.aws/x": "y",
                "cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpwarden/ignore": "x -- y"}}})
        );
        assert_eq!(counts.annotations, 4);
    }

    #[test]
    fn redacts_secrets_in_user_data() {
        let data = r"#!/bin/bash
export DB_PASSWORD=hunter2hunter2
-----BEGIN RSA PRIVATE KEY-----
MIIEow
-----END RSA PRIVATE KEY-----
/etc/eks/bootstrap.sh prod
";
        let (object, counts) = redacted(json!({"spec": {"userData": data}}));
        assert_eq!(
            object["spec"]["userData"],
            r"#!/bin/bash
export DB_PASSWORD=REDACTED
-----BEGIN RSA PRIVATE KEY-----
REDACTED
-----END RSA PRIVATE KEY-----
/etc/eks/bootstrap.sh prod
"
        );
        assert_eq!(counts.user_data, 2);
        let harmless = json!({"spec": {"userData": "#!/bin/bash\n/etc/eks/bootstrap.sh prod\n"}});
        assert_eq!(redacted(harmless.clone()), (harmless, Redactions::default()));
    }

    #[test]
    fn keeps_the_verdicts_of_the_policy_in_reports_only() {
        let verdict = |message: &str| json!({"policy": "a", "result": "fail", "message": message});
        let own = verdict("1 error in NodePool/a (Karpenter 1.14)\n1. some-rule\n   text");
        let other = verdict("the container has the argument --token=hunter2");
        let passed = json!({"policy": "b", "result": "pass"});
        let report = |version: &str, kind: &str, results: &[&Value]| json!({"apiVersion": version, "kind": kind, "results": results});
        for (version, kind) in
            [("openreports.io/v1alpha1", "Report"), ("wgpolicyk8s.io/v1alpha2", "ClusterPolicyReport")]
        {
            let mut object = report(version, kind, &[&other, &own, &passed]);
            let mut counts = Redactions::default();
            counts.drop_other_verdicts(&mut object);
            assert_eq!(object, report(version, kind, &[&own]));
            assert_eq!(counts, Redactions { verdicts: 2, ..Redactions::default() });
        }
        let mut of_another_kind = report("example.com/v1", "Report", &[&other]);
        Redactions::default().drop_other_verdicts(&mut of_another_kind);
        assert_eq!(of_another_kind, report("example.com/v1", "Report", &[&other]));
    }

    #[test]
    fn redacts_attributes_of_volumes() {
        let (object, counts) = redacted(json!({"spec": {
            "csi": {"driver": "smb.csi.k8s.io", "volumeHandle": "vol-1", "volumeAttributes": {"user": "a"}},
            "mountOptions": ["vers=3.0", "password=abc", "noperm"]}}));
        assert_eq!(
            object,
            json!({"spec": {
            "csi": {"driver": "smb.csi.k8s.io", "volumeHandle": "vol-1", "volumeAttributes": {"user": "REDACTED"}},
            "mountOptions": ["vers=3.0", "password=REDACTED", "noperm"]}})
        );
        assert_eq!(counts.volumes, 2);
    }
}
