//! `karpwarden hash`.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::folder::Folder;

const POOL: &str = "\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      requirements: []
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
";

const CLASS: &str = "\
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: default
  annotations:
    karpenter.k8s.aws/ec2nodeclass-hash: '6468882521411450633'
    karpenter.k8s.aws/ec2nodeclass-hash-version: v5
spec:
  role: r
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {d: x}}]
  securityGroupSelectorTerms: [{tags: {d: x}}]
";

fn folder() -> Folder {
    Folder::with(&[("class.yaml", CLASS), ("pool.yaml", POOL)])
}

fn json_of(folder: &Folder, further: &[&str]) -> Value {
    let run = folder.run(&[&["hash", "--format", "json"], further].concat());
    assert_eq!(run.status, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn shows_each_hash_with_its_version_and_the_annotation() {
    let run = folder().run(&["hash", "--karpenter-version", "1.14", "."]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    assert_snapshot!(run.stdout, @"
    Karpenter 1.14
      object                version  hash                 place
      EC2NodeClass/default  v5       6468882521411450633  class.yaml:1
        the annotation has the same hash
      NodePool/default      v3       6821555240594823858  pool.yaml:1
    ");
    let run = folder().run(&["hash", "--karpenter-version", "1.11", "class.yaml"]);
    assert_snapshot!(run.stdout, @"
    Karpenter 1.11
      object                version  hash                  place
      EC2NodeClass/default  v4       10535197735019369516  class.yaml:1
        the annotation has version v5: 6468882521411450633
    ");
}

#[test]
fn the_answer_has_the_hashes() {
    let answer = json_of(&folder(), &["--karpenter-version", "1.14", "pool.yaml"]);
    assert_eq!(answer["karpenterVersion"], "1.14");
    assert_eq!(
        answer["objects"],
        json!([{
            "file": "pool.yaml", "document": 0, "line": 1, "kind": "NodePool", "name": "default", "hashVersion": "v3",
            "hash": "6821555240594823858", "annotatedHash": "", "annotatedVersion": "", "hasPlaceholders": false, "error": "",
        }])
    );
}

#[test]
fn the_release_comes_from_the_manifests() {
    let folder = folder();
    folder.write(
        "controller.yaml",
        b"apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: karpenter}
spec: {source: {chart: karpenter, repoURL: public.ecr.aws/karpenter, targetRevision: 1.0.9}}
",
    );
    let answer = json_of(&folder, &["."]);
    assert_eq!(answer["karpenterVersion"], "1.0.9");
    assert_eq!(answer["objects"][0]["hashVersion"], "v3");
}

#[test]
fn the_ca_bundle_is_in_pem_or_base64() {
    let folder = folder();
    let pem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
    folder.write("ca.pem", pem.as_bytes());
    folder.write(
        "ca.b64",
        b"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=\n",
    );
    let hash = |further: &[&str]| {
        json_of(&folder, &[&["--karpenter-version", "1.14", "class.yaml"], further].concat())["objects"][0]["hash"].clone()
    };
    let without = hash(&[]);
    assert_eq!(without, "6468882521411450633");
    assert_ne!(hash(&["--ca-bundle", "ca.pem"]), without);
    assert_eq!(hash(&["--ca-bundle", "ca.pem"]), hash(&["--ca-bundle", "ca.b64"]));
    let run = folder.run(&["hash", "--ca-bundle", "pool.yaml", "class.yaml"]);
    assert_eq!(
        (run.status, run.stderr.as_str()),
        (2, "error: `--ca-bundle pool.yaml`: neither PEM nor Base64\n")
    );
}

#[test]
fn an_object_as_stored_gets_no_default() {
    let hash = |further: &[&str]| {
        json_of(&folder(), &[&["pool.yaml"], further].concat())["objects"][0]["hash"].clone()
    };
    // Without `expireAfter: 720h`.
    assert_ne!(hash(&["--stored"]), hash(&[]));
}

#[test]
fn what_karpenter_cannot_decode_has_no_hash() {
    let folder = Folder::with(&[(
        "pool.yaml",
        &POOL.replace("      requirements", "      expireAfter: 9999999h\n      requirements"),
    )]);
    let run = folder.run(&["hash", "--karpenter-version", "1.14", "pool.yaml"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert_snapshot!(run.stdout, @"
    Karpenter 1.14
      object            version  hash  place
      NodePool/default  v3       none  pool.yaml:1
        no hash: Karpenter cannot decode spec.template.spec.expireAfter: `9999999h` is longer than 292 years, the longest duration
    ");
}

#[test]
fn placeholders_and_input_without_objects_are_told() {
    let folder = Folder::with(&[
        ("pool.yaml", &POOL.replace("EC2NodeClass, name: default", "EC2NodeClass, name: '${name}'")),
        ("other.yaml", "kind: A\n"),
    ]);
    let run = folder.run(&["hash", "--karpenter-version", "1.14", "pool.yaml"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(
        run.stdout.contains("no hash: spec.template.spec.nodeClassRef.name has a placeholder\n"),
        "{run:?}"
    );
    assert_eq!(folder.run(&["hash", "--stored", "pool.yaml"]).status, 0);
    assert_eq!(folder.run(&["hash", "other.yaml"]).status, 3);
    assert_eq!(folder.run(&["hash"]).status, 3);
}

#[test]
fn a_placeholder_is_no_mistake_and_variables_of_a_script_are_no_placeholders() {
    let class = CLASS.replace("al2023@latest", "'${AMI_ALIAS}'");
    let folder = Folder::with(&[("class.yaml", &class)]);
    let run = folder.run(&["hash", "class.yaml"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.stdout.contains("no hash: spec.amiSelectorTerms[0].alias has a placeholder\n"), "{run:?}");
    let script = CLASS.replace("  role: r\n", "  role: r\n  userData: 'echo ${TOKEN} $HOME <foo>'\n");
    let answer = json_of(&Folder::with(&[("class.yaml", &script)]), &["class.yaml"]);
    assert_eq!(answer["objects"][0]["hasPlaceholders"], false);
}

#[test]
fn only_placeholders_that_the_hash_depends_on_hide_it() {
    let last_line = |name: &str, text: &str| {
        let run = Folder::with(&[(name, text)]).run(&["hash", "--karpenter-version", "1.14", name]);
        run.stdout.lines().last().unwrap_or_default().trim().to_owned()
    };
    let pool = POOL.replace("requirements: []", "requirements: [{key: a, operator: In, values: ['${b}']}]");
    let pool = last_line("pool.yaml", &(pool + "  weight: '${w}'\n"));
    assert_eq!(pool, "NodePool/default  v3       6821555240594823858  pool.yaml:1");
    let of_class = |from: &str, to: &str| last_line("class.tftpl", &CLASS.replace(from, to));
    let same = "the annotation has the same hash";
    for (from, to, expected) in [
        ("[{tags: {d: x}}]", "'${terms}'", same),
        ("al2023@latest", "'al2023@${version}'", same),
        ("{alias: al2023@latest}", "'${term}'", "no hash: spec.amiSelectorTerms[0] has a placeholder"),
        ("[{alias: al2023@latest}]", "'${terms}'\n  amiFamily: AL2023", same),
        ("role: r", "role: r\n  tags: {'${key}': a}", "no hash: spec.tags.${key} has a placeholder"),
        (
            "role: r",
            "role: r\n  userData: '%{ if x }a%{ endif }'",
            "no hash: spec.userData has a placeholder",
        ),
    ] {
        assert_eq!(of_class(from, to), expected, "{to}");
    }
    let script = of_class("role: r", "role: r\n  userData: 'echo $${TOKEN}'");
    assert!(script.starts_with("the annotation has another hash"), "{script}");
}

#[test]
fn a_missing_ca_bundle_and_overlays_that_are_left_out_are_told() {
    let stored = CLASS.replace("6468882521411450633", "1");
    let run =
        Folder::with(&[("class.yaml", &stored)]).run(&["hash", "--karpenter-version", "1.14", "class.yaml"]);
    let expected =
        "the annotation has another hash, 1; its cluster's CA bundle is a part of it (`--ca-bundle`)";
    assert!(run.stdout.contains(expected), "{run:?}");
    let folder = Folder::with(&[
        ("base/kustomization.yaml", "resources: [class.yaml]\n"),
        ("base/class.yaml", CLASS),
        (
            "overlays/a/kustomization.yaml",
            "resources: [../../base]\npatches:\n- {patch: '[{op: replace, path: /spec/role, value: a}]', target: {kind: EC2NodeClass}}\n",
        ),
        (
            "overlays/b/kustomization.yaml",
            "resources: [../../base]\npatches:\n- {patch: '[{op: replace, path: /spec/role, value: b}]', target: {kind: EC2NodeClass}}\n",
        ),
    ]);
    let answer = json_of(&folder, &["--karpenter-version", "1.14", "."]);
    let assumptions = answer["assumptions"].to_string();
    assert!(assumptions.contains("overlays/b"), "{assumptions}");
}
