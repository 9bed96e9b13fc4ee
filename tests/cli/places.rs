//! Manifests in code blocks of Markdown, in scripts that are strings of a file, and in templates of Terraform.

use insta::assert_snapshot;

use crate::folder::{BAD, Folder, GOOD};

/// A guide with a manifest in a code block of a list. The form of userdocs/src/usage/eksctl-karpenter.md of eksctl-io/eksctl, with a part
/// of an object, and of `KARPENTER_README-starthere.md` of shlapolosa/idp, which applies manifests in here-documents.
fn guide(manifest: &str) -> String {
    let indented = indented(&whole(manifest), "   ");
    format!(
        "# Nodes\n\n1. Apply:\n\n   ```bash\n   kubectl apply -f - <<EOF\n{indented}   EOF\n   ```\n\n2. Or:\n\n   ```yaml\n{indented}   ```\n\n\
         ```yaml\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: default}}\nspec:\n  template:\n    ...\n```\n\n\
         ```yaml\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: default}}\nspec: {{weight: high}}\n```\n"
    )
}

fn indented(text: &str, spaces: &str) -> String {
    text.lines().flat_map(|line| [spaces, line, "\n"]).collect()
}

/// An EC2NodeClass with the fields that every complete one has.
fn whole(class: &str) -> String {
    let terms = "[{tags: {karpenter.sh/discovery: prod}}]";
    format!(
        "{class}  amiSelectorTerms: [{{alias: al2023@v20250807}}]\n  subnetSelectorTerms: {terms}\n  securityGroupSelectorTerms: {terms}\n"
    )
}

#[test]
fn checks_code_blocks_of_markdown_that_is_named_or_asked_for() {
    let folder = Folder::with(&[("README.md", &guide(BAD)), ("docs/a.mdx", &guide(GOOD)), ("a.yaml", GOOD)]);
    let run = folder.check(&["."]);
    assert_eq!(run.status, 0);
    assert_snapshot!(run.stdout, @"no findings in 1 document (2 files not read; see --verbose); checked against Karpenter 1.14");
    let run = folder.check(&["--include-docs", "--verbose", "."]);
    assert_eq!(run.status, 1);
    assert_snapshot!(run.stdout, @"
    error[instance-profile-is-arn]: `spec.instanceProfile` is an ARN, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready
      --> README.md:12:23
       |
    11 |    spec:
    12 |      instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes/Nodes-prod # the nodes' own
       |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    13 |      amiSelectorTerms: [{alias: al2023@v20250807}]
       |
       = object: EC2NodeClass/default, spec.instanceProfile
       = help: write `Nodes-prod`
       = otherwise caught by: nothing; accepted silently
       = explain: karpwarden explain instance-profile-is-arn
    fix: write the profile's name (applied by `--fix`)
       |
    12 -      instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes/Nodes-prod # the nodes' own
    12 +      instanceProfile: Nodes-prod # the nodes' own
       |

    error[instance-profile-is-arn]: `spec.instanceProfile` is an ARN, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready
      --> README.md:27:23
       |
    26 |    spec:
    27 |      instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes/Nodes-prod # the nodes' own
       |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    28 |      amiSelectorTerms: [{alias: al2023@v20250807}]
       |
       = object: EC2NodeClass/default, spec.instanceProfile
       = help: write `Nodes-prod`
       = otherwise caught by: nothing; accepted silently
       = explain: karpwarden explain instance-profile-is-arn
    fix: write the profile's name (applied by `--fix`)
       |
    27 -      instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes/Nodes-prod # the nodes' own
    27 +      instanceProfile: Nodes-prod # the nodes' own
       |

    skipped: part of an object in a code block, not checked: README.md:34, README.md:43, docs/a.mdx:34 and 1 more
    2 errors in 9 documents (4 skipped); checked against Karpenter 1.14
    ");
    let run = folder.check(&["--quiet", "README.md"]);
    assert_eq!(run.status, 1);
}

#[test]
fn fixes_inside_of_code_blocks() {
    let folder = Folder::with(&[("README.md", &guide(BAD))]);
    let run = folder.check(&["--fix", "README.md"]);
    assert_eq!(run.status, 0);
    assert_eq!(folder.read("README.md"), guide(GOOD));
}

#[test]
fn markdown_without_a_manifest_is_no_mistake() {
    let folder = Folder::with(&[("README.md", "# Title\n\n```yaml\na: [1\n```\n"), ("b.md", "text\n")]);
    let run = folder.check(&["--include-docs", "."]);
    assert_eq!(run.status, 0);
    assert_snapshot!(run.stdout, @"nothing to check: no Karpenter document and no related object in 1 document (1 skipped; see --verbose)");
    let run = folder.check(&["--verbose", "README.md", "b.md"]);
    assert_eq!(run.status, 0);
    assert_snapshot!(run.stdout, @"
    skipped: code block, not checked: not valid YAML: this `[` is never closed; add `]`: README.md:4
    skipped: Markdown, not checked: no manifest in a code block: b.md:1
    nothing to check: no Karpenter document and no related object in 2 documents (2 skipped)
    ");
}

#[test]
fn examples_in_markdown_are_no_objects_of_the_cluster() {
    let overlay = |name: &str| {
        format!(
            "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {{name: {name}}}\nspec:\n  requirements: []\n  price: '1'\n"
        )
    };
    // blueprints/node-overlay/README.md of aws-samples/karpenter-blueprints shows alternatives.
    let text = format!("```yaml\n{}```\n```yaml\n{}```\n", overlay("a"), overlay("b"));
    let folder = Folder::with(&[("README.md", &text), ("c.yaml", &overlay("c"))]);
    let run = folder.check(&["--include-docs", "--select", "overlay-conflict", "."]);
    assert_eq!(run.status, 0);
    assert_snapshot!(run.stdout, @"
    info[overlay-conflict]: the NodeOverlay `b` sets a price for the same instances with the same weight (0); this NodeOverlay comes second by name, so it fails Karpenter's validation and Karpenter ignores it
      --> README.md:7:3
       |
     6 |   requirements: []
     7 |   price: '1'
       |   ^^^^^
     8 | ```
     9 | ```yaml
    10 | apiVersion: karpenter.sh/v1alpha1
    11 | kind: NodeOverlay
    12 | metadata: {name: b}
       |                  - the NodeOverlay that Karpenter applies
    13 | spec:
       |
       = object: NodeOverlay/a, spec.price
       = help: give one of the two a greater `weight`, or requirements that do not overlap
       = otherwise caught by: the controller; accepted, then fails at run time
       = applies to: Karpenter since 1.7
       = explain: karpwarden explain overlay-conflict

    1 info in 3 documents; checked against Karpenter 1.14
    ");
}

/// The form of .github/actions/e2e/setup-cluster/action.yaml of aws/karpenter-provider-aws.
#[test]
fn checks_manifests_that_the_steps_of_a_workflow_apply() {
    let workflow = |manifest: &str| {
        let indented = indented(manifest, "        ");
        format!(
            "name: e2e\non: push\njobs:\n  apply:\n    steps:\n    - run: |\n        cat <<EOF | kubectl apply -f -\n{indented}        EOF\n"
        )
    };
    let folder = Folder::with(&[("workflow.yaml", &workflow(BAD))]);
    let run = folder.check(&["--quiet", "workflow.yaml"]);
    assert_eq!(run.status, 1);
    assert_snapshot!(run.stdout, @"
    error[instance-profile-is-arn]: `spec.instanceProfile` is an ARN, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready
      --> workflow.yaml:13:28
       |
    12 |         spec:
    13 |           instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes/Nodes-prod # the nodes' own
       |                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    14 |         EOF
       |
       = object: EC2NodeClass/default, spec.instanceProfile
       = help: write `Nodes-prod`
       = otherwise caught by: nothing; accepted silently
       = explain: karpwarden explain instance-profile-is-arn
    fix: write the profile's name (applied by `--fix`)
       |
    13 -           instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes/Nodes-prod # the nodes' own
    13 +           instanceProfile: Nodes-prod # the nodes' own
       |
    ");
    folder.check(&["--fix", "workflow.yaml"]);
    assert_eq!(folder.read("workflow.yaml"), workflow(GOOD));
}

/// The forms of `modules/karpenter/templates/nodepool_runners.tpl` of minasaeedbasta/terraform-eks-karpenter, of
/// helm/karpenter/templates/node-pool.yaml.tpl of msfidelis/eks-with-istio, and of user data.
#[test]
fn checks_templates_of_a_folder_and_says_which_line_it_cannot_read() {
    let pool = |values: &str| {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n      requirements:\n      - key: \
             node.kubernetes.io/instance-type\n        operator: is\n        values: {values}\n"
        )
    };
    let directive = pool("\n        %{ for type in types ~}\n        - ${type}\n        %{ endfor ~}");
    let folder = Folder::with(&[
        ("templates/pool.tpl", &pool("[${instance_type}, \"${other}\"]")),
        ("templates/types.yaml.tftpl", &pool("${jsonencode({a: types})}")),
        ("templates/loop.yaml.tpl", &directive),
        ("templates/user-data.sh.tpl", "#!/bin/bash\necho karpenter ${x}\n"),
        ("chart/_helpers.tpl", "{{- define \"karpenter\" }}apiVersion: v1\nkind: x{{ end }}\n"),
    ]);
    let run = folder.check(&["--select", "api-enum", "--verbose", "."]);
    assert_eq!(run.status, 1);
    assert_snapshot!(run.stdout, @r#"
    error[api-enum]: `operator` is `is`, which is not a supported value; the API server refuses the NodePool
      --> templates/pool.tpl:9:19
       |
     8 |       - key: node.kubernetes.io/instance-type
     9 |         operator: is
       |                   ^^
    10 |         values: [${instance_type}, "${other}"]
       |
       = object: NodePool/a, spec.template.spec.requirements[0].operator
       = help: write `In`; the supported values are `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`, `Gte`, `Lte`
       = otherwise caught by: the API server; refused on apply
       = explain: karpwarden explain api-enum
    unsafe fix: write `In` (review it, then apply it with `--unsafe-fixes`)
       |
     9 -         operator: is
     9 +         operator: In
       |

    error[api-enum]: `operator` is `is`, which is not a supported value; the API server refuses the NodePool
      --> templates/types.yaml.tftpl:9:19
       |
     8 |       - key: node.kubernetes.io/instance-type
     9 |         operator: is
       |                   ^^
    10 |         values: ${jsonencode({a: types})}
       |
       = object: NodePool/a, spec.template.spec.requirements[0].operator
       = help: write `In`; the supported values are `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`, `Gte`, `Lte`
       = otherwise caught by: the API server; refused on apply
       = explain: karpwarden explain api-enum
    unsafe fix: write `In` (review it, then apply it with `--unsafe-fixes`)
       |
     9 -         operator: is
     9 +         operator: In
       |

    skipped: template, not checked: it has directives of Terraform, whose variables only `templatefile` gives; render it first: templates/loop.yaml.tpl:11
    not read: extension `tpl`: chart/_helpers.tpl
    2 errors in 3 documents (1 skipped, 1 file not read); checked against Karpenter 1.14
    "#);
}
