//! Values of Karpenter's Helm chart, the output of `helm template` and `kustomize build`, and Kustomize patches.
//!
//! `charts/rendered.yaml` is the output of Helm 3.17 for `charts/values.yaml` and the chart of 1.14.1, reduced to the objects
//! that rules read. `charts/built.yaml` is the output of Kustomize 5.5 for `charts/overlays/prod`.

use insta::assert_snapshot;

use crate::folder::{Folder, Run};

const VALUES: &str = include_str!("charts/values.yaml");
const RENDERED: &str = include_str!("charts/rendered.yaml");
const BUILT: &str = include_str!("charts/built.yaml");

/// Folder from which `BUILT` is built.
const OVERLAYS: [(&str, &str); 7] = [
    ("base/kustomization.yaml", include_str!("charts/base/kustomization.yaml")),
    ("base/nodes.yaml", include_str!("charts/base/nodes.yaml")),
    ("components/labels/kustomization.yaml", include_str!("charts/components/labels/kustomization.yaml")),
    ("components/labels/labels.yaml", include_str!("charts/components/labels/labels.yaml")),
    ("overlays/prod/kustomization.yaml", include_str!("charts/overlays/prod/kustomization.yaml")),
    ("overlays/prod/pool.yaml", include_str!("charts/overlays/prod/pool.yaml")),
    ("overlays/prod/volumes.yaml", include_str!("charts/overlays/prod/volumes.yaml")),
];

/// Rule, file, line, column and path of each finding.
fn locations(run: &Run) -> String {
    let line = |finding: &serde_json::Value| {
        let text = |key: &str| finding[key].as_str().unwrap().to_owned();
        format!(
            "{} {}:{}:{} {}",
            text("rule"),
            text("file"),
            finding["line"],
            finding["column"],
            text("path")
        )
    };
    run.json()["findings"].as_array().unwrap().iter().map(line).collect::<Vec<_>>().join("\n")
}

fn check(folder: &Folder, arguments: &[&str], stdin: &str) -> Run {
    let all = [&["check", "--karpenter-version", "1.14", "--format", "json"], arguments].concat();
    folder.run_in("", &all, stdin)
}

#[test]
fn checks_the_output_of_helm_template() {
    let folder = Folder::with(&[]);
    let run = check(&folder, &["-"], RENDERED);
    assert_eq!(run.status, 1, "{run:?}");
    assert_snapshot!(locations(&run), @"interruption-queue-malformed -:135:22 spec.template.spec.containers[0].env[17].value");
    let good = RENDERED.replace("arn:aws:sqs:eu-west-1:111122223333:", "");
    let run = check(&folder, &["--cluster-name", "prod-eu-1", "-"], &good);
    assert_eq!((run.status, locations(&run).as_str()), (0, ""));
}

#[test]
fn recognises_chart_values_by_keys_or_flag() {
    let folder = Folder::with(&[("values.yaml", VALUES), ("prod/karpenter.yaml.gotmpl", "{}")]);
    let run = check(&folder, &["values.yaml"], "");
    assert_snapshot!(locations(&run), @"
    interruption-queue-malformed values.yaml:6:22 settings.interruptionQueue
    helm-values-removed-keys values.yaml:8:5 settings.featureGates.drift
    ");
    // Without the flag, nothing shows that these are values of Karpenter's chart.
    folder.write("prod.conf", b"logLevel: debug\nlogEncoding: console\n");
    let run = check(&folder, &["prod.conf"], "");
    assert_eq!((run.status, locations(&run).as_str()), (0, ""));
    let run = check(&folder, &["--helm-values", "prod.conf"], "");
    assert_snapshot!(locations(&run), @"helm-values-removed-keys prod.conf:2:1 logEncoding");
    let run = check(&folder, &["--helm-values", "prod.conf", "--helm-values", "values.yaml", "."], "");
    assert_eq!(run.json()["summary"]["documents"], 2, "{run:?}");
    let run =
        check(&folder, &["--helm-values", "-", "--stdin-filename", "prod.yaml"], "karpenter: {webhook: {}}");
    assert_snapshot!(locations(&run), @"helm-values-removed-keys prod.yaml:1:13 webhook");
    let run = check(&folder, &["--helm-values", "-"], "- a\n");
    assert_eq!(run.json()["skipped"][0]["reason"], "no chart values: the document has no keys, not checked");
    assert_eq!(check(&folder, &["--helm-values", "missing.yaml"], "").status, 4);
}

#[test]
fn fixes_values_inside_an_argo_cd_application() {
    let folder = Folder::with(&[]);
    let text = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: karpenter}
spec:
  source:
    repoURL: public.ecr.aws/karpenter
    chart: karpenter
    targetRevision: 1.14.1
    helm:
      values: |
        settings:
          clusterName: prod-eu-1
          interruptionQueue: https://sqs.eu-west-1.amazonaws.com/111122223333/prod-eu-1 # é
        logLevel: info
  destination: {server: https://kubernetes.default.svc, namespace: kube-system}
";
    let run = check(&folder, &["-"], text);
    assert_snapshot!(locations(&run), @"interruption-queue-malformed -:13:30 spec.source.helm.values.settings.interruptionQueue");
    let run = folder.run_in("", &["check", "--fix", "-"], text);
    let fixed = text.replace("https://sqs.eu-west-1.amazonaws.com/111122223333/prod-eu-1", "prod-eu-1");
    assert_eq!(run.stdout, fixed);
    // A quoted string is checked, but not fixed.
    let quoted = text.replace("values: |\n        settings:\n          clusterName: prod-eu-1\n          interruptionQueue: https://sqs.eu-west-1.amazonaws.com/111122223333/prod-eu-1 # é\n        logLevel: info\n", "values: \"settings: {clusterName: prod, interruptionQueue: 'arn:aws:sqs:eu-west-1:111122223333:prod'}\"\n");
    let run = check(&folder, &["-"], &quoted);
    assert_snapshot!(locations(&run), @"interruption-queue-malformed -:10:15 spec.source.helm.values.settings.interruptionQueue");
    let run = folder.run_in("", &["check", "--fix", "-"], &quoted);
    assert_eq!(run.stdout, quoted);
}

#[test]
fn checks_argo_cd_applications_in_json() {
    let folder = Folder::with(&[]);
    let values =
        "settings:\\n  clusterName: prod\\n  interruptionQueue: arn:aws:sqs:eu-west-1:111122223333:prod\\n";
    let one = format!(
        r#"{{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {{"name": "karpenter"}},
 "spec": {{"source": {{"chart": "karpenter", "helm": {{
   "values": "{values}"}}}},
  "destination": {{"server": "https://kubernetes.default.svc"}}}}}}"#
    );
    let run = check(&folder, &["-"], &one);
    assert_snapshot!(locations(&run), @"interruption-queue-malformed -:3:14 spec.source.helm.values.settings.interruptionQueue");
    // As `kubectl get applications -o json` prints them.
    let list = format!(r#"{{"apiVersion": "v1", "kind": "List", "items": [{one}]}}"#);
    folder.write("list.json", list.as_bytes());
    let run = check(&folder, &["list.json"], "");
    assert_snapshot!(locations(&run), @"interruption-queue-malformed list.json:3:14 spec.source.helm.values.settings.interruptionQueue");
    // A quoted string is not fixed, and an object inside it is not a document.
    assert_eq!(folder.run_in("", &["check", "--fix", "-"], &one).stdout, one);
    let nested = one.replace("settings:", "apiVersion: v1\\nkind: ConfigMap\\nsettings:");
    assert_eq!(check(&folder, &["-"], &nested).json()["summary"]["documents"], 1);
}

#[test]
fn checks_the_output_of_kustomize_build() {
    let folder = Folder::with(&[]);
    let run = check(&folder, &["--stdin-filename", "overlays/prod", "-"], BUILT);
    assert_eq!(run.status, 1, "{run:?}");
    assert_snapshot!(locations(&run), @"
    restricted-label overlays/prod:30:9 spec.template.metadata.labels
    nodeclass-ref-dangling overlays/prod:35:15 spec.template.spec.nodeClassRef.name
    ");
}

#[test]
fn checks_objects_as_kustomize_builds_them_and_skips_patches() {
    let folder = Folder::with(&OVERLAYS);
    let run = check(&folder, &["."], "");
    assert_snapshot!(locations(&run), @"
    nodeclass-ref-dangling base/nodes.yaml:11:15 spec.template.spec.nodeClassRef.name
    restricted-label components/labels/labels.yaml:9:9 spec.template.metadata.labels
    ");
    let skipped = folder.run(&["check", "--karpenter-version", "1.14", "--verbose", "."]).stdout;
    let skipped = skipped.lines().filter(|line| line.starts_with("skipped")).collect::<Vec<_>>().join("\n");
    assert_snapshot!(skipped, @"
    skipped: no rule reads the kind `Kustomization`: base/kustomization.yaml:1, overlays/prod/kustomization.yaml:1
    skipped: no rule reads the kind `Component`: components/labels/kustomization.yaml:1
    skipped: Kustomize patch: checked as part of `overlays/prod`: components/labels/labels.yaml:1, overlays/prod/pool.yaml:1, overlays/prod/volumes.yaml:1
    ");
    // Hooks name single files, and editors send the text that they show.
    let run = check(&folder, &["overlays/prod/pool.yaml"], "");
    assert_eq!((run.status, run.json()["summary"]["skipped"].as_i64()), (0, Some(1)), "{run:?}");
    let patch = folder.read("overlays/prod/pool.yaml");
    let run = check(&folder, &["--stdin-filename", "overlays/prod/pool.yaml", "-"], &patch);
    assert_eq!((run.status, run.json()["summary"]["skipped"].as_i64()), (0, Some(1)), "{run:?}");
    // Without a kustomization that lists it, a patch looks like an object.
    let run = check(&folder, &["-"], &patch);
    assert_eq!(run.status, 1, "{run:?}");
}

#[test]
fn reports_values_of_a_local_chart_that_no_template_reads() {
    let pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: {{ include \"pools.name\" . }}}\nspec: {weight: {{ .Values.pool.weight }}}\n";
    let helpers = "{{ define \"pools.name\" }}{{ .Values.nameOverride }}{{ end }}\n";
    let files = [
        ("chart/Chart.yaml", "apiVersion: v2\nname: pools\nversion: 1.0.0\n"),
        ("chart/values.yaml", "nameOverride: a\npool:\n  weight: 10\n"),
        ("chart/values-prod.yaml", "nameOverride: b\npool:\n  wieght: 20\n"),
        ("chart/templates/pool.yaml", pool),
        ("chart/templates/_helpers.tpl", helpers),
        ("karpwarden.yaml", "exclude: ['chart/templates/']\n"),
    ];
    let folder = Folder::with(&files);
    assert_snapshot!(locations(&check(&folder, &["."], "")), @"chart-value-unread chart/values-prod.yaml:3:3 pool.wieght");
    // A template that cannot be read may read any value.
    let run = check(&Folder::with(&[&files[..], &[("chart/templates/a.bin", "\0")]].concat()), &["."], "");
    assert!(locations(&run).contains("wieght"), "{run:?}");
    std::fs::write(folder.path("chart/templates/b.bin"), [0xff]).unwrap();
    assert_eq!(locations(&check(&folder, &["."], "")), "");
}
