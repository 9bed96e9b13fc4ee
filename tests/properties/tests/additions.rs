//! Pairs of inputs: the errors of one are also errors beside the other.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its inputs fails")]

use std::fs;
use std::path::{Path, PathBuf};

use karpwarden_test_properties::additions::Alone;

/// Number of examples of rules that are added together.
const EXAMPLES_AT_ONCE: usize = 10;

/// Number of texts that are added to each text, one after the other. The next text gets the next ones.
const ADDED_TO_EACH: usize = 8;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The YAML files in a folder and in the folders below it.
fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let of = |path: PathBuf| if path.is_dir() { yaml_files(&path) } else { vec![path] };
    let is_yaml = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "yaml");
    entries.into_iter().flat_map(of).filter(is_yaml).collect()
}

/// The examples, the problems and the public reports, each with its name.
fn inputs() -> Vec<(String, String)> {
    let folders = ["examples", "tests/problems", "tests/field-cases"];
    let paths = folders.into_iter().flat_map(|folder| yaml_files(&repository().join(folder)));
    paths.map(|path| (path.display().to_string(), fs::read_to_string(path).unwrap())).collect()
}

/// The examples on the pages of the rules, each with the name of its page.
fn examples() -> Vec<(String, String)> {
    let mut examples = Vec::new();
    let mut pages: Vec<PathBuf> =
        fs::read_dir(repository().join("docs/rules")).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    for path in pages.into_iter().filter(|path| path.is_file()) {
        let page = fs::read_to_string(&path).unwrap();
        for block in page.split("```yaml").skip(1) {
            let (_settings, rest) = block.split_once('\n').unwrap();
            examples.push((path.display().to_string(), rest.split("```").next().unwrap().to_owned()));
        }
    }
    examples
}

/// Text of several documents.
fn joined(texts: &[(String, String)]) -> String {
    texts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n---\n")
}

#[test]
fn another_document_hides_no_error() {
    let (inputs, examples) = (inputs(), examples());
    let several =
        examples.chunks(EXAMPLES_AT_ONCE).map(|some| ("examples of rules".to_owned(), joined(some)));
    let added: Vec<(String, String)> = inputs.iter().cloned().chain(several).collect();
    let mut next = added.iter().cycle();
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for (name, text) in inputs.iter().chain(&examples) {
        let alone = Alone::check(text);
        if !alone.has_errors() {
            continue;
        }
        for (other, added) in (0..ADDED_TO_EACH).filter_map(|_| next.next()) {
            tried += 1;
            let hidden = alone.hidden_by(added);
            if !hidden.is_empty() {
                wrong.push(format!("{other} hides errors of {name}: {hidden:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried > 500, "only {tried} pairs");
}

/// Files of other kinds than manifests alone, each with a name. None of them changes the objects of the file `a.yaml`.
fn files_of_other_kinds() -> Vec<(&'static str, String)> {
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: karpenter-notes}\ndata: {a: b}\n";
    let indented = object.replace('\n', "\n    ");
    let pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: {{ .Values.name }}}\n";
    let newest = karpwarden_test_properties::additions::newest_release();
    vec![
        (
            "a kustomization of other files",
            format!("#== k/kustomization.yaml\nresources: [other.yaml]\n#== k/other.yaml\n{object}"),
        ),
        ("a kustomization that lists the file", "#== kustomization.yaml\nresources: [a.yaml]\n".to_owned()),
        (
            "a kustomization that adds a label",
            "#== kustomization.yaml\nresources: [a.yaml]\nlabels: [{pairs: {added-by-kustomize: a}}]\n".to_owned(),
        ),
        (
            "two overlays, of which one is empty",
            "#== kustomization.yaml\nresources: [a.yaml]\n#== overlays/x/kustomization.yaml\nresources: [../..]\nlabels: [{pairs: {added-by-kustomize: a}}]\n#== overlays/y/kustomization.yaml\nresources: []\n".to_owned(),
        ),
        (
            "a patch of another object",
            "#== kustomization.yaml\nresources: [a.yaml]\npatches: [{path: patch.yaml, target: {kind: Nothing}}]\n#== patch.yaml\n- {op: add, path: /spec/a, value: b}\n".to_owned(),
        ),
        (
            "a chart",
            format!("#== c/Chart.yaml\napiVersion: v2\nname: c\nversion: 1.0.0\n#== c/values.yaml\nname: a\nother: b\n#== c/templates/pool.yaml\n{pool}"),
        ),
        (
            "values of Karpenter's chart",
            "#== values.yaml\nsettings: {clusterName: prod, interruptionQueue: prod}\nreplicas: 2\n".to_owned(),
        ),
        (
            "a manifest in Terraform",
            format!("#== main.tf\nresource \"kubectl_manifest\" \"a\" {{\n  yaml_body = <<-YAML\n    {indented}\n  YAML\n}}\n"),
        ),
        ("a manifest in a script", format!("#== install.sh\nkubectl apply -f - <<'EOF'\n{object}EOF\n")),
        ("deleted objects in a script", format!("#== remove.sh\nkubectl delete -f - <<'EOF'\n{object}EOF\n")),
        (
            "a pin of the newest release",
            format!("#== chart.yaml\napiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {{name: karpenter}}\nspec: {{chart: karpenter/karpenter, version: {newest}}}\n"),
        ),
        (
            "a pin of the newest release in a script",
            format!("#== install.sh\nhelm upgrade karpenter oci://public.ecr.aws/karpenter/karpenter --version {newest}\n"),
        ),
        ("a text that is not YAML", "#== broken.yaml\na: [\n".to_owned()),
    ]
}

#[test]
fn files_of_other_kinds_hide_no_error() {
    let kinds = files_of_other_kinds();
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for (name, text) in inputs().iter().chain(&examples()) {
        let alone = Alone::check(text);
        if !alone.has_errors() {
            continue;
        }
        for (kind, added) in &kinds {
            tried += 1;
            let hidden = alone.hidden_by(added);
            if !hidden.is_empty() {
                wrong.push(format!("{kind} hides errors of {name}: {hidden:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried > 1000, "only {tried} pairs");
}

/// A Deployment that only nodes with one label can run.
fn deployment(selector: &str) -> String {
    format!(
        r"# for nodes of Karpenter
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      nodeSelector: {{{selector}}}
      containers: [{{name: web, image: 'example.com/web:1', resources: {{requests: {{cpu: 1}}}}}}]
"
    )
}

#[test]
fn a_value_that_no_release_accepts_is_an_error_beside_a_node_pool_with_the_same_value() {
    let pool = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot, ondemand]}
";
    let text = deployment("karpenter.sh/capacity-type: ondemand");
    let alone = Alone::check(&text);
    assert!(alone.has_errors());
    assert_eq!(alone.hidden_by(pool), Vec::<String>::new());
}

#[test]
fn a_selected_hostname_is_an_error_beside_a_file_without_karpenter() {
    let text = deployment("kubernetes.io/hostname: a").replace(
        "nodeSelector: {kubernetes.io/hostname: a}",
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: Exists}]}]}}}",
    );
    for text in [text.clone(), text.replace("# for nodes of Karpenter\n", "")] {
        let hidden = Alone::check(&text).hidden_by("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
        assert_eq!(hidden, Vec::<String>::new(), "{text}");
    }
    assert!(Alone::check(&text).has_errors());
}
