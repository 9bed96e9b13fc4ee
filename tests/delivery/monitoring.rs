//! The component `monitoring`: Prometheus itself reads its rules and evaluates them, and each query names a metric that exists.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use karpwarden_generate::{home, kustomize, yaml};
use serde_json::{Value, json};

const COMPONENT: &str = "policies/karpenter/kustomize/components/monitoring";

/// Metrics of the API server, the policy server and kube-state-metrics, without the suffixes of histograms. Sources:
/// staging/src/k8s.io/apiserver/pkg/admission/metrics/metrics.go of kubernetes/kubernetes, crates/policy-server/src/metrics of
/// kubewarden/adm-controller, docs/metrics/workload of kubernetes/kube-state-metrics.
const METRICS: [&str; 7] = [
    "apiserver_admission_webhook_admission_duration_seconds",
    "apiserver_admission_webhook_fail_open_count",
    "apiserver_admission_webhook_rejection_count",
    "kube_deployment_status_replicas_ready",
    "kube_job_failed",
    "kubewarden_policy_evaluation_latency_milliseconds",
    "kubewarden_policy_evaluations_total",
];

fn objects() -> Vec<Value> {
    kustomize::render(COMPONENT).unwrap()
}

fn of_kind(kind: &str) -> Value {
    objects().into_iter().find(|object| object["kind"] == kind).unwrap()
}

fn alerts() -> Vec<Value> {
    of_kind("PrometheusRule")["spec"]["groups"][0]["rules"].as_array().unwrap().clone()
}

fn dashboard() -> Value {
    serde_json::from_str(of_kind("ConfigMap")["data"]["karpwarden.json"].as_str().unwrap()).unwrap()
}

/// The queries of the dashboard for Prometheus, with a duration in the place of the variable.
fn queries() -> Vec<String> {
    let panels = dashboard()["panels"].as_array().unwrap().clone();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap().clone());
    let of_prometheus = targets.filter(|target| target["datasource"]["type"] == "prometheus");
    of_prometheus.map(|target| target["expr"].as_str().unwrap().replace("$__rate_interval", "5m")).collect()
}

/// The names of metrics in a query: the words before a brace.
fn metrics(query: &str) -> BTreeSet<String> {
    let heads = query.split('{').rev().skip(1);
    let name = |head: &str| {
        let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
        head.rsplit(|char: char| !is_part(char)).next().unwrap().to_owned()
    };
    heads.map(name).collect()
}

/// Writes files into a folder, and runs promtool there.
fn promtool(name: &str, files: &[(&str, &Value)], arguments: &[&str]) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("promtool-{name}"));
    fs::create_dir_all(&folder).unwrap();
    for (file, value) in files {
        fs::write(folder.join(file), yaml::text(value).unwrap()).unwrap();
    }
    let output = Command::new("promtool").args(arguments).current_dir(&folder).output();
    let output = output.unwrap_or_else(|error| {
        panic!("promtool does not start: {error}; install what the tests need with `make setup`")
    });
    assert!(output.status.success(), "{output:?}");
}

/// A case of `promtool test rules`: the series, the time, and the alerts that fire then.
fn case(policy: &str, series: &[(&str, &str)], at: &str, firing: &[&str]) -> Value {
    let webhook = format!("{policy}.kubewarden.admission");
    let series: Vec<_> =
        series.iter().map(|(series, values)| json!({"series": series, "values": values})).collect();
    let tests: Vec<_> = alerts()
        .iter()
        .map(|rule| {
            let name = rule["alert"].as_str().unwrap();
            let known = firing.iter().find(|alert| **alert == name);
            let labels = |rule: &Value| {
                let mut labels = rule["labels"].clone();
                let text = rule["expr"].as_str().unwrap();
                for (label, value) in [
                    ("by (name", ("name", webhook.as_str())),
                    ("by (policy_name", ("policy_name", policy)),
                    ("by (cronjob", ("cronjob", "karpwarden-preflight-server")),
                ] {
                    if text.contains(label) {
                        labels[value.0] = value.1.into();
                    }
                }
                labels
            };
            let expected: Vec<_> = known
                .iter()
                .map(|_| {
                    let labels = labels(rule);
                    let annotations = annotations(rule, &labels);
                    json!({"exp_labels": labels, "exp_annotations": annotations})
                })
                .collect();
            json!({"eval_time": at, "alertname": name, "exp_alerts": expected})
        })
        .collect();
    json!({"interval": "1m", "input_series": series, "alert_rule_test": tests})
}

/// The annotations of an alert with these labels.
fn annotations(rule: &Value, labels: &Value) -> Value {
    let mut text = rule["annotations"].to_string();
    for (label, value) in labels.as_object().unwrap() {
        text = text.replace(&format!("{{{{ $labels.{label} }}}}"), value.as_str().unwrap());
    }
    serde_json::from_str(&text).unwrap()
}

#[test]
fn prometheus_reads_the_rules_and_the_queries_of_the_dashboard() {
    let rules = of_kind("PrometheusRule")["spec"].clone();
    promtool("rules", &[("rules.yaml", &rules)], &["check", "rules", "rules.yaml"]);
    let recorded: Vec<_> = queries()
        .iter()
        .enumerate()
        .map(|(at, query)| json!({"record": format!("query:{at}"), "expr": query}))
        .collect();
    assert!(recorded.len() >= 7, "{recorded:?}");
    let groups = json!({"groups": [{"name": "dashboard", "rules": recorded}]});
    promtool("dashboard", &[("rules.yaml", &groups)], &["check", "rules", "rules.yaml"]);
}

#[test]
fn alerts_fire_for_their_cause_only() {
    // The names of a policy and of a group of policies, since 1.37.2 and before.
    for policy in [
        "kw.cap.karpwarden-pods",
        "kw.capg.karpwarden-or-exempt",
        "clusterwide-karpwarden-pods",
        "clusterwide-group-karpwarden-or-exempt",
    ] {
        alerts_fire(policy);
    }
}

fn alerts_fire(policy: &str) {
    let webhook = format!("name=\"{policy}.kubewarden.admission\"");
    let open = format!("apiserver_admission_webhook_fail_open_count{{{webhook},type=\"validating\"}}");
    let of_others =
        "apiserver_admission_webhook_fail_open_count{name=\"other.example.com\",type=\"validating\"}";
    let rejected = |error: &str| {
        format!(
            "apiserver_admission_webhook_rejection_count{{{webhook},error_type=\"{error}\",rejection_code=\"0\"}}"
        )
    };
    let bucket = |le: &str| {
        format!("apiserver_admission_webhook_admission_duration_seconds_bucket{{{webhook},le=\"{le}\"}}")
    };
    let evaluations = |code: &str| {
        format!("kubewarden_policy_evaluations_total{{policy_name=\"{policy}\",error_code=\"{code}\"}}")
    };
    let ready = "kube_deployment_status_replicas_ready{namespace=\"kubewarden\",deployment=\"policy-server-karpwarden\"}";
    let job = "kube_job_failed{namespace=\"kubewarden\",job_name=\"karpwarden-preflight-server-1\",condition=\"true\"}";
    let (up, flat) = ("0+6x30", "5+0x30");
    // The first failure since the API server or the policy server started: the series does not exist before.
    let first = "_x5 1x60";
    let tests = json!([
        case(
            policy,
            &[
                (&open, flat),
                (of_others, up),
                (ready, "2+0x30"),
                (&rejected("no_error"), up),
                (&evaluations(""), up)
            ],
            "20m",
            &[]
        ),
        case(policy, &[(&open, up), (ready, "0+0x30")], "20m", &["KarpwardenRequestsPassUnchecked"]),
        case(policy, &[(&open, first)], "8m", &["KarpwardenRequestsPassUnchecked"]),
        case(policy, &[(&rejected("calling_webhook_error"), first)], "8m", &["KarpwardenRequestsFail"]),
        case(policy, &[(&evaluations("500"), first)], "8m", &["KarpwardenEvaluationErrors"]),
        case(
            policy,
            &[(&open, first), (&rejected("calling_webhook_error"), first), (&evaluations("500"), first)],
            "30m",
            &[]
        ),
        // An old failure, and no scrapes for 20 minutes.
        case(policy, &[(&open, "5x10 _x20 5x30")], "35m", &[]),
        // One short outage.
        case(policy, &[(&open, "0x10 6x40"), (ready, "2+0x50")], "18m", &["KarpwardenRequestsPassUnchecked"]),
        case(
            policy,
            &[(&open, up), (ready, "2+0x30")],
            "20m",
            &["KarpwardenRequestsPassUnchecked", "KarpwardenServerHangs"]
        ),
        case(policy, &[(&rejected("calling_webhook_error"), up)], "20m", &["KarpwardenRequestsFail"]),
        case(
            policy,
            &[(&bucket("1"), "0+90x30"), (&bucket("2.5"), "0+100x30"), (&bucket("+Inf"), "0+100x30")],
            "25m",
            &["KarpwardenSlow"]
        ),
        case(
            policy,
            &[(&bucket("1"), "0+100x30"), (&bucket("2.5"), "0+100x30"), (&bucket("+Inf"), "0+100x30")],
            "25m",
            &[]
        ),
        case(policy, &[(&evaluations("500"), up)], "20m", &["KarpwardenEvaluationErrors"]),
        case(policy, &[(job, "0 1+0x30")], "20m", &["KarpwardenPermissionMissing"]),
    ]);
    let file = json!({"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": tests});
    let rules = of_kind("PrometheusRule")["spec"].clone();
    promtool("alerts", &[("rules.yaml", &rules), ("tests.yaml", &file)], &["test", "rules", "tests.yaml"]);
}

/// The jobs of a CronJob fail every hour while a permission is missing, and each stays for the time that the manifest says.
#[test]
fn alert_about_a_permission_lasts_as_long_as_its_cause() {
    let objects = kustomize::render("policies/karpenter/kustomize/components/preflight").unwrap();
    let cron = objects.iter().find(|one| one["metadata"]["name"] == "karpwarden-preflight-server").unwrap();
    assert_eq!(cron["spec"]["schedule"], "17 * * * *");
    let stays = cron["spec"]["jobTemplate"]["spec"]["ttlSecondsAfterFinished"].as_u64().unwrap() / 60;
    let jobs: Vec<(String, String)> = (0..3)
        .map(|hour| {
            let name = format!("karpwarden-preflight-server-{}", 29_402_177 + 60 * hour);
            let labels = format!("namespace=\"kubewarden\",job_name=\"{name}\",condition=\"true\"");
            // A job fails two minutes after its start.
            (format!("kube_job_failed{{{labels}}}"), format!("_x{} 1x{stays}", 60 * hour + 2))
        })
        .collect();
    let series: Vec<(&str, &str)> =
        jobs.iter().map(|(job, values)| (job.as_str(), values.as_str())).collect();
    let at = |minute: u32, firing: &[&str]| case("-", &series, &format!("{minute}m"), firing);
    let mut test = at(200, &[]);
    for minute in 5..=180 {
        let case = at(minute, &["KarpwardenPermissionMissing"]);
        let expected = case["alert_rule_test"].as_array().unwrap().clone();
        test["alert_rule_test"].as_array_mut().unwrap().extend(expected);
    }
    let file = json!({"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [test]});
    let rules = of_kind("PrometheusRule")["spec"].clone();
    promtool("hours", &[("rules.yaml", &rules), ("tests.yaml", &file)], &["test", "rules", "tests.yaml"]);
}

#[test]
fn every_query_names_a_known_metric() {
    let expressions = alerts().into_iter().map(|rule| rule["expr"].as_str().unwrap().to_owned());
    let mut used = BTreeSet::new();
    for query in expressions.chain(queries()) {
        for metric in metrics(&query) {
            let known = METRICS.iter().find(|known| {
                let rest = metric.strip_prefix(**known);
                rest.is_some_and(|rest| ["", "_bucket", "_count"].contains(&rest))
            });
            used.insert(*known.unwrap_or_else(|| panic!("{metric}: {query}")));
        }
    }
    assert_eq!(used, BTreeSet::from(METRICS));
}

#[test]
fn documentation_lists_every_alert_and_every_object_is_removed_by_its_label() {
    let page = home::text("docs/troubleshooting.md").unwrap();
    for rule in alerts() {
        let name = rule["alert"].as_str().unwrap();
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
        let Some(address) = rule["annotations"]["runbook_url"].as_str() else { continue };
        let (file, anchor) = address.rsplit_once("/blob/main/").unwrap().1.split_once('#').unwrap();
        assert!(home::text(file).unwrap().contains(&format!("<a id=\"{anchor}\"></a>")), "{address}");
    }
    for object in objects() {
        assert_eq!(object["metadata"]["labels"]["app.kubernetes.io/part-of"], "karpwarden", "{object}");
        assert_eq!(object["metadata"]["namespace"], "kubewarden", "{object}");
    }
}
