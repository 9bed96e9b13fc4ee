//! Completions at `^` in texts that people type.

use karpenter::release::Release;
use lsp_types::CompletionTextEdit;

use super::*;
use crate::lines::PositionUnit;
use crate::testing::{REGISTRY, TextFolder};

const POOL: &str = "apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: web
spec:
  template:
    metadata:
      labels:
        team: blue
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1b]}
      taints:
        - {key: dedicated, value: web, effect: NoSchedule}
";
const CLASS: &str = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\n";
const STORAGE: &str = "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: gp3}\n";

const NOTHING: [&str; 0] = [];

/// The offers of the server at `^`, and the text after the choice of an offer.
struct Completed {
    text: String,
    list: CompletionList,
}

impl Completed {
    fn labels(&self) -> Vec<&str> {
        let mut items: Vec<_> = self.list.items.iter().collect();
        items.sort_by_key(|item| (item.sort_text.clone(), item.label.clone()));
        items.iter().map(|item| item.label.as_str()).collect()
    }

    #[track_caller]
    fn chosen(&self, label: &str) -> String {
        let item = self.list.items.iter().find(|item| item.label == label);
        let item = item.unwrap_or_else(|| panic!("{label}: {:?}", self.labels()));
        let Some(CompletionTextEdit::Edit(edit)) = &item.text_edit else { panic!("{item:?}") };
        let mut text = self.text.clone();
        crate::lines::replace(&mut text, edit.range, &edit.new_text, PositionUnit::Utf16);
        text
    }
}

fn complete_in(name: &str, marked: &str, release: &str) -> Completed {
    let release = Release::parse(release).unwrap();
    let folder =
        TextFolder::of(&[("pool.yaml", POOL), ("class.yaml", CLASS), ("storage.yaml", STORAGE)], release);
    complete_with(&folder, name, marked)
}

fn complete_with(folder: &TextFolder, name: &str, marked: &str) -> Completed {
    let release = folder.release_for(None);
    let byte = marked.find('^').unwrap();
    let text = marked.replacen('^', "", 1);
    let lined = LinedText::of(&text, PositionUnit::Utf16);
    let question = Question {
        text: &lined,
        byte,
        name,
        folder: Some(folder),
        file: folder.file_named(name),
        release,
        registry: &REGISTRY,
    };
    Completed { list: at(question), text }
}

fn complete(marked: &str) -> Completed {
    complete_in("a.yaml", marked, "1.14")
}

fn pool(spec: &str) -> String {
    format!("apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec:\n{spec}")
}

fn class(spec: &str) -> String {
    pool(spec).replace("karpenter.sh/v1", "karpenter.k8s.aws/v1").replace("NodePool", "EC2NodeClass")
}

/// The last lines of a text, which a test typed.
fn typed<'t>(text: &'t str, before: &str) -> &'t str {
    text.split_once(before).unwrap().1
}

#[test]
fn offers_the_fields_of_the_release_that_are_not_there() {
    let spec = pool("  weight: 1\n  ^\n");
    let fields = |release| complete_in("a.yaml", &spec, release).labels().join(" ");
    assert_eq!(fields("1.14"), "template disruption limits replicas");
    assert_eq!(fields("1.7"), "template disruption limits");
    let item = &complete(&pool("  ^\n")).list.items[0];
    assert_eq!((item.label.as_str(), item.detail.as_deref()), ("template", Some("an object, required")));
    assert!(item.documentation.is_some());
}

#[test]
fn writes_a_field_with_the_start_of_its_value() {
    let completed = complete(&pool("  disruption:\n    con^\n"));
    assert_eq!(
        typed(&completed.chosen("consolidateAfter"), "spec:\n"),
        "  disruption:\n    consolidateAfter: \n"
    );
    assert_eq!(typed(&completed.chosen("budgets"), "spec:\n"), "  disruption:\n    budgets:\n      - \n");
    let completed = complete(&pool("  ^\n"));
    assert_eq!(typed(&completed.chosen("template"), "spec:\n"), "  template:\n    \n");
    let completed = complete(&pool("  disruption:\n    budgets:\n      - no^\n"));
    assert_eq!(typed(&completed.chosen("reasons"), "budgets:\n"), "      - reasons:\n          - \n");
    let completed = complete(&pool("  disruption:\n    budgets:\n      ^\n"));
    assert_eq!(typed(&completed.chosen("nodes"), "budgets:\n"), "      - nodes: \n");
    let completed = complete(&pool("  disruption: {con^}\n"));
    assert_eq!(
        typed(&completed.chosen("consolidateAfter"), "spec:\n"),
        "  disruption: {consolidateAfter: }\n"
    );
    let completed = complete(&pool("  wei^: 1\n"));
    assert_eq!(typed(&completed.chosen("weight"), "spec:\n"), "  weight: 1\n");
}

#[test]
fn offers_values_of_enums_and_defaults() {
    let policy = |release| {
        let marked = pool("  disruption:\n    consolidationPolicy: ^\n");
        complete_in("a.yaml", &marked, release).labels().join(" ")
    };
    assert_eq!(policy("1.13"), "WhenEmpty WhenEmptyOrUnderutilized");
    assert_eq!(policy("1.14"), "WhenEmpty WhenEmptyOrUnderutilized Balanced");
    assert_eq!(complete(&pool("  disruption:\n    consolidateAfter: ^\n")).labels(), ["Never"]);
    assert_eq!(complete(&pool("  template:\n    spec:\n      expireAfter: ^\n")).labels(), ["720h", "Never"]);
    let reasons = complete(&pool("  disruption:\n    budgets:\n      - reasons: [Empty, ^]\n"));
    assert_eq!(reasons.labels(), ["Underutilized", "Drifted"]);
    let whole = complete(&pool("  disruption:\n    budgets:\n      - reasons: ^\n"));
    assert_eq!(typed(&whole.chosen("Empty"), "budgets:\n"), "      - reasons: [Empty]\n");
    let items =
        complete(&pool("  disruption:\n    budgets:\n      - reasons:\n          - Empty\n          - ^\n"));
    assert_eq!(items.labels(), ["Underutilized", "Drifted"]);
    assert_eq!(complete(&class("  detailedMonitoring:^\n")).labels(), ["false", "true"]);
    let glued = complete(&class("  detailedMonitoring:^\n")).chosen("true");
    assert!(glued.ends_with("detailedMonitoring: true\n"), "{glued}");
    let taint = "  template:\n    spec:\n      taints:\n        - effect: ^\n";
    assert_eq!(complete(&pool(taint)).labels(), ["NoSchedule", "PreferNoSchedule", "NoExecute"]);
    assert_eq!(complete(&class("  instanceStorePolicy: RA^\n")).labels(), ["RAID0"]);
}

#[test]
fn offers_labels_and_their_values() {
    let requirement = |rest: &str| {
        complete(&pool(&format!("  template:\n    spec:\n      requirements:\n        - {rest}\n")))
    };
    let keys = requirement("key: karp^");
    assert!(keys.labels().contains(&"karpenter.k8s.aws/instance-category"));
    assert!(!keys.labels().contains(&"karpenter.sh/nodepool"), "a NodePool cannot require it");
    let values = |key: &str| {
        let line = format!("{{key: {key}, operator: In, values: [^]}}");
        requirement(&line).labels().join(" ")
    };
    assert_eq!(values("karpenter.sh/capacity-type"), "spot on-demand reserved");
    assert_eq!(values("kubernetes.io/arch"), "amd64 arm64");
    assert!(values("karpenter.k8s.aws/instance-category").split(' ').any(|category| category == "m"));
    let quoted = requirement("{key: karpenter.k8s.aws/instance-cpu, operator: In, values: [^]}").chosen("4");
    assert!(quoted.contains("values: [\"4\"]"), "{quoted}");
    let types = requirement("{key: node.kubernetes.io/instance-type, operator: In, values: [m7g.lar^]}");
    assert!(types.list.is_incomplete && types.labels().contains(&"m7g.large"), "{:?}", types.labels());
    let block = "key: kubernetes.io/os\n          operator: In\n          values:\n            - ^";
    assert_eq!(requirement(block).labels(), ["linux", "windows"]);
    assert_eq!(requirement("op^").labels().len(), 4, "the fields of a requirement");
    let operators = requirement("{key: a, operator: ^}");
    assert_eq!(operators.labels(), ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"]);
}

#[test]
fn offers_the_names_and_labels_of_the_folder() {
    let reference = pool("  template:\n    spec:\n      nodeClassRef:\n        name: ^\n");
    assert_eq!(complete(&reference).labels(), ["default"]);
    let pod = |spec: &str| format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n{spec}");
    let selector = complete(&pod("  nodeSelector:\n    ^\n"));
    assert_eq!(selector.labels()[0], "team");
    assert!(selector.labels().contains(&"karpenter.sh/nodepool"));
    assert!(selector.chosen("team").ends_with("    team: \n"));
    assert_eq!(complete(&pod("  nodeSelector:\n    team: ^\n")).labels(), ["blue"]);
    assert_eq!(complete(&pod("  nodeSelector: {karpenter.sh/nodepool: ^}\n")).labels(), ["web"]);
    assert_eq!(complete(&pod("  tolerations:\n  - key: ^\n")).labels(), ["dedicated"]);
    assert_eq!(complete(&pod("  tolerations:\n  - key: dedicated\n    value: ^\n")).labels(), ["web"]);
    let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nspec:\n  storageClassName: ^\n";
    assert_eq!(complete(claim).labels(), ["gp3"]);
    let term = "  affinity:\n    nodeAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n        nodeSelectorTerms:\n        - matchExpressions:\n          - key: topology.kubernetes.io/region\n            operator: ^\n";
    assert_eq!(complete(&pod(term)).labels(), ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]);
}

#[test]
fn offers_aliases_and_families_of_images() {
    let alias = |release| {
        let marked = class("  amiSelectorTerms:\n    - alias: ^\n");
        complete_in("a.yaml", &marked, release).labels().join(" ")
    };
    assert!(
        alias("1.14").starts_with("al2@latest al2023@latest")
            && alias("1.14").ends_with("windows2025@latest")
    );
    assert!(!alias("1.8").contains("windows2025"));
    assert!(complete(&class("  amiFamily: ^\n")).labels().contains(&"Bottlerocket"));
    let signals = complete(&class("  kubelet:\n    evictionHard:\n      ^\n"));
    assert_eq!(signals.labels()[0], "memory.available");
}

#[test]
fn offers_the_start_of_an_object() {
    assert_eq!(complete("^").labels(), ["apiVersion", "kind", "metadata", "spec"]);
    assert_eq!(complete("apiVersion: v1\nkind: ConfigMap\n^").labels(), ["metadata"]);
    assert_eq!(complete("apiVersion: apps/v1\nkind: Deployment\n^").labels(), ["metadata", "spec"]);
    assert_eq!(complete("apiVersion: v1\nkind: ^").labels(), NOTHING);
    assert_eq!(complete("kind: NodePool\napiVersion: ^").labels(), ["karpenter.sh/v1"]);
    assert_eq!(complete("apiVersion: karpenter.sh/v1\nkind: ^").labels(), ["NodePool", "NodeClaim"]);
    let overlay = "apiVersion: karpenter.sh/v1alpha1\nkind: ^";
    assert_eq!(complete(overlay).labels(), ["NodeOverlay"]);
    assert!(complete_in("a.yaml", overlay, "1.6").labels().is_empty());
    let metadata = complete("apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  ^");
    assert_eq!(metadata.labels(), ["name", "labels", "annotations"]);
}

#[test]
fn writes_json_in_json() {
    let json =
        "{\"apiVersion\": \"karpenter.sh/v1\", \"kind\": \"NodePool\", \"spec\": {\"disruption\": {^}}}";
    let chosen = complete_in("a.json", json, "1.14").chosen("consolidateAfter");
    assert!(chosen.contains("{\"consolidateAfter\": }"), "{chosen}");
    let json = json.replace('^', "\"consolidationPolicy\": ^");
    let chosen = complete_in("a.json", &json, "1.14").chosen("WhenEmpty");
    assert!(chosen.contains("\"consolidationPolicy\": \"WhenEmpty\""), "{chosen}");
    let json = json.replace('^', "\"When^\"");
    let chosen = complete_in("a.json", &json, "1.14").chosen("WhenEmpty");
    assert!(chosen.contains("\"consolidationPolicy\": \"WhenEmpty\""), "{chosen}");
}

#[test]
fn offers_keys_and_values_of_the_settings() {
    let settings = |marked: &str| complete_in("folder/karpwarden.yaml", marked, "1.14");
    assert_eq!(settings("^").labels()[..2], ["karpenterVersion", "kubernetesVersion"]);
    let version = settings("karpenterVersion: ^");
    let newest = Release::NEWEST.name_of_minor();
    assert_eq!(version.labels()[0], newest);
    assert_eq!(version.chosen(&newest), format!("karpenterVersion: \"{newest}\""));
    assert!(settings("rules:\n  ^").labels().contains(&"some-rule"));
    assert_eq!(settings("rules:\n  some-rule: ^").labels(), ["deny", "warn", "info", "off"]);
    assert!(settings("rules: {some-rule: warn, ^}").labels().contains(&"disruption"), "a family");
    let exception = settings("exceptions:\n  - rule: some-rule\n    ^");
    assert_eq!(exception.labels(), ["reason", "kind", "name", "namespace", "until"]);
    assert_eq!(settings("exceptions:\n  - rule: ^").labels()[0], "some-rule");
    let exception = |key: &str| settings(&format!("exceptions:\n  - rule: some-rule\n    {key}: ^"));
    assert_eq!(exception("name").labels(), ["default", "gp3", "web"]);
    assert_eq!(settings("overrides:\n  - ^").labels()[0], "paths");
    assert_eq!(settings("overrides:\n  - rules:\n      some-rule: ^").labels().len(), 4);
    assert_eq!(settings("announceErrors: ^").labels(), ["auto", "false", "true"]);
}

#[test]
fn offers_keys_and_values_of_the_chart() {
    let values = |marked: &str| complete_in("karpenter/values.yaml", marked, "1.14");
    let text = "settings:\n  clusterName: a\n  interruptionQueue: a\n";
    let settings = values(&format!("{text}  ^\n"));
    assert!(settings.labels().contains(&"batchMaxDuration") && !settings.labels().contains(&"clusterName"));
    assert!(!settings.labels().contains(&"enableDRA"), "since 1.15");
    let gates = values(&format!("{text}  featureGates:\n    ^\n"));
    assert!(gates.labels().contains(&"nodeOverlay"));
    assert_eq!(values(&format!("{text}  featureGates:\n    nodeOverlay: ^\n")).labels(), ["false", "true"]);
    assert_eq!(values(&format!("logLevel: ^\n{text}")).labels(), ["debug", "info", "error"]);
    assert!(values(&format!("half\n{text}contr^\n")).labels().contains(&"controller"));
    let handed_on = format!("karpenter:\n  {}controller:\n    ^\n", text.replace('\n', "\n  "));
    assert!(complete(&handed_on).labels().contains(&"resources"), "{handed_on}");
}

#[test]
fn offers_the_values_of_the_chart_in_objects_that_install_it() {
    let release = |chart: &str, values: &str| {
        let text = format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: a}}\nspec:\n  {chart}\n  values:\n{values}"
        );
        complete(&text)
    };
    let own = "chart: {spec: {chart: karpenter}}";
    assert!(release(own, "    ^\n").labels().contains(&"serviceMonitor"));
    let settings = release(own, "    settings:\n      clusterName: a\n      batch^\n");
    assert!(settings.labels().contains(&"batchMaxDuration") && !settings.labels().contains(&"clusterName"));
    assert_eq!(release(own, "    logLevel: ^\n").labels(), ["debug", "info", "error"]);
    let reference = "chartRef: {kind: OCIRepository, name: karpenter}";
    assert!(release(reference, "    sett^\n").labels().contains(&"settings"));
    let other = "chart: {spec: {chart: cluster}}";
    assert_eq!(release(other, "    ^\n").labels(), NOTHING);
    assert!(release(other, "    karpenter:\n      ^\n").labels().contains(&"settings"));

    let application = |source: &str| {
        complete(&format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: a}}\nspec:\n{source}"
        ))
    };
    let source = "chart: karpenter\n      helm:\n        valuesObject:\n          settings:\n            ^\n";
    let several = application(&format!("  sources:\n    - {source}"));
    assert!(several.labels().contains(&"interruptionQueue"), "{:?}", several.labels());
    let url = source.replace("chart: karpenter", "repoURL: oci://public.ecr.aws/karpenter/karpenter");
    assert!(application(&format!("  source:\n      {url}")).labels().contains(&"interruptionQueue"));
    let other = source.replace("karpenter", "cluster");
    assert_eq!(application(&format!("  source:\n      {other}")).labels(), NOTHING);
}

#[test]
fn offers_rules_in_comments() {
    let names = complete(&pool("  weight: 1 # karpwarden: ignore[so^]\n"));
    assert_eq!(names.labels()[0], "some-rule");
    assert!(names.chosen("some-rule").ends_with("# karpwarden: ignore[some-rule]\n"));
    let second = complete("# karpwarden: ignore[a, ^\n");
    assert_eq!(second.chosen("some-rule"), "# karpwarden: ignore[a, some-rule\n");
    assert_eq!(complete("# kar^\n").chosen("karpwarden: ignore["), "# karpwarden: ignore[\n");
    assert!(complete("# other^\n").labels().is_empty());
    assert!(complete("## karpwarden: ignore[^\n").labels().is_empty(), "no such comment accepts anything");
    assert!(complete("# karpwarden: ignore[a] because^\n").labels().is_empty());
}

#[test]
fn offers_nothing_where_nothing_fits() {
    for marked in [
        pool("  weight: 1 ^\n"),
        pool("  template: ^\n"),
        pool("  unknown:\n    ^\n"),
        class("  userData: |\n    ec^ho\n"),
        "kind: Deployment\napiVersion: apps/v1\nspec:\n  ^\n".to_owned(),
    ] {
        assert!(complete(&marked).labels().is_empty(), "{marked}: {:?}", complete(&marked).labels());
    }
}

/// The labels at a place of an object of Kubernetes.
fn offered(version: &str, kind: &str, rest: &str) -> String {
    complete(&format!("apiVersion: {version}\nkind: {kind}\n{rest}")).labels().join(" ")
}

#[test]
fn offers_the_resources_that_the_object_has() {
    let container = "spec:\n  containers:\n    - resources:\n        requests:\n          ^\n";
    let requests = offered("v1", "Pod", container);
    assert!(requests.starts_with("cpu memory ephemeral-storage nvidia.com/gpu"), "{requests}");
    assert!(!requests.split(' ').any(|word| word == "pods"), "{requests}");
    assert!(offered("karpenter.sh/v1", "NodePool", "spec:\n  limits:\n    ^\n").contains(" pods "));
    let claim = "spec:\n  resources:\n    requests:\n      ^\n";
    assert_eq!(offered("v1", "PersistentVolumeClaim", claim), "storage");
    let of_set =
        claim.replace('\n', "\n      ").replace("spec:", "spec:\n  volumeClaimTemplates:\n    - spec:");
    assert_eq!(offered("apps/v1", "StatefulSet", &of_set), "storage");
    assert_eq!(offered("v1", "PersistentVolume", "spec:\n  capacity:\n    ^\n"), "storage");
    let overlay = offered("karpenter.sh/v1alpha1", "NodeOverlay", "spec:\n  capacity:\n    ^\n");
    assert!(overlay.starts_with("nvidia.com/gpu"), "{overlay}");
    assert_eq!(offered("example.com/v1", "Machine", "spec:\n  limits:\n    ^\n"), "");
}

#[test]
fn offers_the_annotation_against_disruption_where_karpenter_reads_it() {
    let (accept, keep) = ("karpwarden/ignore", "karpenter.sh/do-not-disrupt");
    let own = "metadata:\n  annotations:\n    ^\n";
    for (version, kind, expected) in [
        ("v1", "Pod", format!("{keep} {accept}")),
        ("v1", "Node", format!("{keep} {accept}")),
        ("apps/v1", "Deployment", accept.to_owned()),
        ("karpenter.sh/v1", "NodePool", accept.to_owned()),
        ("storage.k8s.io/v1", "StorageClass", accept.to_owned()),
    ] {
        assert_eq!(offered(version, kind, own), expected, "{kind}");
    }
    let of_template = "spec:\n  template:\n    metadata:\n      annotations:\n        ^\n";
    assert_eq!(offered("karpenter.sh/v1", "NodePool", of_template), keep);
    assert_eq!(offered("apps/v1", "Deployment", of_template), keep);
    assert_eq!(offered("apps/v1", "DaemonSet", of_template), "");
}

#[test]
fn offers_nothing_in_documents_that_are_no_objects() {
    for marked in [
        "foo: 1\n^",
        "services:\n  web:\n    nodeSelector:\n      ^\n",
        "jobs:\n  build:\n    resources:\n      limits:\n        ^\n",
        "spec:\n  nodeSelector:\n    ^\n",
        "apiVersion: v2\nname: chart\nnodeSelector:\n  ^\n",
    ] {
        assert_eq!(complete(marked).labels(), NOTHING, "{marked}");
    }
    let unrelated = TextFolder::of(&[("a.yaml", STORAGE)], Release::NEWEST);
    let pod = "apiVersion: v1\nkind: Pod\nspec:\n  nodeSelector:\n    ^\n";
    for (name, marked) in [("a.yaml", pod), ("a.yaml", "^"), ("a.yaml", "# karp^\n")] {
        assert_eq!(complete_with(&unrelated, name, marked).labels(), NOTHING, "{marked}");
    }
    assert!(!complete_with(&unrelated, "karpwarden.yaml", "^").labels().is_empty());
}

#[test]
fn offers_in_a_configuration_of_terraform_only_what_its_here_documents_may_have() {
    let offered = |marked: &str| complete_in("main.tf", marked, "1.14").labels().join(" ");
    assert_eq!(offered("^"), "");
    assert_eq!(offered("resource \"a\" \"b\" {\n  ^\n}\n"), "");
    let pool = "  apiVersion: karpenter.sh/v1\n  kind: NodePool\n  spec:\n    disruption:\n      ^\n";
    let yaml = |body: &str| format!("resource \"a\" \"b\" {{\n  yaml_body = <<-EOT\n{body}  EOT\n}}\n");
    assert_eq!(offered(&yaml(pool)), "consolidateAfter budgets consolidationPolicy");
    assert_eq!(offered(&yaml("  ^\n")), "apiVersion kind metadata spec");
    assert_eq!(offered(&yaml(&pool.replace('^', "")).replace("\n}\n", "\n  ^\n}\n")), "");
}

#[test]
fn asks_the_folder_once_for_all_labels() {
    let folder = TextFolder::of(&[("pool.yaml", POOL)], Release::NEWEST);
    let pod = "apiVersion: v1\nkind: Pod\nspec:\n  nodeSelector:\n    ^\n";
    assert!(complete_with(&folder, "a.yaml", pod).labels().len() > 10);
    assert_eq!(folder.simulations.get(), 1);
}

#[test]
fn offers_the_fields_of_the_kubelet_in_every_release() {
    for (release, expected) in [("1.14", false), ("1.15", true)] {
        let kubelet = complete_in("a.yaml", &class("  kubelet:\n    ^\n"), release);
        let labels = kubelet.labels();
        assert!(labels.contains(&"maxPods") && !labels.contains(&"registerWithTaints"), "{labels:?}");
        assert_eq!(labels.contains(&"topologyManagerPolicy"), expected, "{release}");
    }
}

#[test]
fn writes_the_space_and_the_braces_that_give_the_text_its_meaning() {
    let spec = |rest: &str| complete(&pool(&format!("  template:\n    spec:\n      {rest}\n")));
    let group = spec("nodeClassRef: {group:^}").chosen("karpenter.k8s.aws");
    assert!(group.ends_with("{group: karpenter.k8s.aws}\n"), "{group}");
    let item = spec("requirements: [^]").chosen("key");
    assert!(item.ends_with("requirements: [{key: }]\n"), "{item}");
    let within = spec("requirements: [{^}]").chosen("key");
    assert!(within.ends_with("requirements: [{key: }]\n"), "{within}");
    let dash = complete(&pool("  disruption:\n    budgets:\n      -^\n")).chosen("nodes");
    assert!(dash.ends_with("      - nodes: \n"), "{dash}");
    let reason =
        complete(&pool("  disruption:\n    budgets:\n      - reasons:\n        -^\n")).chosen("Empty");
    assert!(reason.ends_with("        - Empty\n"), "{reason}");
}

#[test]
fn offers_the_capacity_types_of_the_release() {
    let requirement = "  template:\n    spec:\n      requirements:\n        - {key: karpenter.sh/capacity-type, operator: In, values: [^]}\n";
    let values = |release| complete_in("a.yaml", &pool(requirement), release).labels().join(" ");
    assert_eq!(values("1.2"), "spot on-demand");
    assert_eq!(values("1.3"), "spot on-demand reserved");
}

#[test]
fn offers_the_names_of_the_own_environment() {
    let other = CLASS.replace("default", "other");
    let files = [("a/dev/class.yaml", CLASS), ("a/prod/class.yaml", &*other), ("a/prod/new.yaml", "")];
    let mut folder = TextFolder::of(&files, Release::NEWEST);
    let reference = pool("  template:\n    spec:\n      nodeClassRef:\n        name: ^\n");
    let names = |folder: &TextFolder| complete_with(folder, "a/prod/new.yaml", &reference).labels().join(" ");
    assert_eq!(names(&folder), "default other");
    folder.environments = vec!["a/dev", "a/prod"];
    assert_eq!(names(&folder), "other");
}

#[test]
fn reads_over_directives_of_terraform_in_a_here_document() {
    let body = "  apiVersion: karpenter.sh/v1\n  kind: NodePool\n  spec:\n    template:\n      spec:\n        requirements:\n";
    for directive in ["%{ if var.x ~}", "        %{ if var.x ~}"] {
        let marked = format!(
            "resource \"a\" \"b\" {{\n  yaml_body = <<-EOT\n{body}{directive}\n          - key: ^\n  EOT\n}}\n"
        );
        let completed = complete_in("main.tf", &marked, "1.14");
        assert!(completed.labels().contains(&"kubernetes.io/arch"), "{directive}: {:?}", completed.labels());
    }
}
