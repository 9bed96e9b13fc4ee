//! Inputs that are made to cost more than their size, in any size.

use std::fmt::Write as _;

/// A kind of input.
#[derive(Clone, Copy, Debug)]
pub struct InputShape {
    /// Its name.
    pub name: &'static str,
    /// Its files, each after a line `#== NAME`, for a size. The length of the text is proportional to the size.
    pub text: fn(usize) -> String,
}

/// All kinds.
pub const SHAPES: [InputShape; 20] = [
    InputShape { name: "copies in a JSON patch", text: json_patch_copies },
    InputShape { name: "replacements that create fields", text: replacements },
    InputShape { name: "kustomizations that include each other", text: includes },
    InputShape { name: "kustomizations of one base", text: overlays },
    InputShape { name: "disruption budgets and workloads", text: disruption_budgets },
    InputShape { name: "disruption budgets for one of some values", text: |size| budgets_by(size, "In") },
    InputShape { name: "disruption budgets for all but one value", text: |size| budgets_by(size, "NotIn") },
    InputShape { name: "disruption budgets for a common label", text: |size| budgets_by(size, "Exists") },
    InputShape { name: "wildcards in an IAM policy", text: wildcards },
    InputShape { name: "empty lines", text: |size| format!("#== a.yaml\n{}", "\n".repeat(size * 100)) },
    InputShape {
        name: "empty documents",
        text: |size| format!("#== a.yaml\n{}", "---\n# c\n\n".repeat(size * 20)),
    },
    InputShape { name: "a long name behind aliases", text: |size| repeated_name(4_000, size / 5) },
    InputShape { name: "a longer name behind aliases", text: |size| repeated_name(size * 2, 100) },
    InputShape { name: "documents with aliases", text: documents_with_aliases },
    InputShape { name: "parts of user data with aliases", text: user_data },
    InputShape { name: "documents with aliases in strings", text: held_documents },
    InputShape { name: "instances of a resource of Terraform", text: terraform_instances },
    InputShape { name: "calls of a module of Terraform", text: terraform_calls },
    InputShape { name: "locals of Terraform that double", text: terraform_locals },
    InputShape { name: "overridden resources of Terraform", text: terraform_overrides },
];

/// NodePools without faults, of about as many bytes as a text.
pub fn common(bytes: usize) -> String {
    let mut text = "#== a.yaml\n".to_owned();
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        text += &node_pool(&format!("pool-{number}"));
        text += "---\n";
    }
    text
}

fn node_pool(name: &str) -> String {
    format!(
        r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}
      requirements:
      - {{key: kubernetes.io/arch, operator: In, values: [amd64]}}
"
    )
}

/// The text of a number of items.
fn repeat(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect()
}

/// A resource that applies a NodePool, whose name is an expression.
fn terraform_pool(label: &str, arguments: &str, name: &str) -> String {
    let body = node_pool(name).lines().map(|line| format!("    {line}\n")).collect::<Vec<_>>().concat();
    format!(
        "resource \"kubectl_manifest\" \"{label}\" {{\n{arguments}  yaml_body = <<-YAML\n{body}  YAML\n}}\n"
    )
}

/// Each instance evaluates the same here-document. There are as many copies as names, up to the bound on instances.
fn terraform_instances(size: usize) -> String {
    let names = repeat(size, |number| format!("    \"pool-{number}\",\n"));
    let arguments = format!("  for_each = toset([\n{names}  ])\n");
    format!("#== main.tf\n{}", terraform_pool("pool", &arguments, "${each.key}"))
}

/// Each call evaluates the module, which calls another one.
fn terraform_calls(size: usize) -> String {
    let call = |number| {
        format!("module \"m{number}\" {{\n  source = \"./outer\"\n  name   = \"pool-{number}\"\n}}\n")
    };
    let outer = "variable \"name\" {}\nmodule \"inner\" {\n  source = \"../inner\"\n  name   = \"${var.name}-x\"\n}\n";
    let inner = format!("variable \"name\" {{}}\n{}", terraform_pool("pool", "", "${var.name}"));
    format!("#== main.tf\n{}#== outer/main.tf\n{outer}#== inner/main.tf\n{inner}", repeat(size, call))
}

/// Each local has the one before it twice.
fn terraform_locals(size: usize) -> String {
    let local = |number| format!("  l{0} = \"${{local.l{number}}}${{local.l{number}}}\"\n", number + 1);
    let locals = format!("locals {{\n  l0 = \"a\"\n{}}}\n", repeat(size, local));
    format!("#== main.tf\n{locals}{}", terraform_pool("pool", "", &format!("${{local.l{size}}}")))
}

/// Each file of the resource overrides a local and an argument of each.
fn terraform_overrides(size: usize) -> String {
    let pools = repeat(size, |number| terraform_pool(&format!("p{number}"), "", &format!("pool-{number}")));
    let files = repeat(size, |number| {
        format!(
            "#== f{number}_override.tf\nresource \"kubectl_manifest\" \"p{number}\" {{\n  wait = {number}\n}}\n"
        )
    });
    format!("#== main.tf\n{pools}{files}")
}

/// Each copy doubles the object.
fn json_patch_copies(size: usize) -> String {
    let copies = repeat(size, |number| format!("      - {{op: copy, from: /spec, path: /spec/x{number}}}\n"));
    format!(
        "#== kustomization.yaml\nresources: [pool.yaml]\npatches:\n  - target: {{kind: NodePool}}\n    patch: |-\n{copies}#== pool.yaml\n{}",
        node_pool("default")
    )
}

/// Each replacement doubles the object.
fn replacements(size: usize) -> String {
    let one = |number| {
        format!(
            "- source: {{kind: NodePool, fieldPath: spec}}\n  targets: [{{select: {{kind: NodePool}}, fieldPaths: [spec.x{number}], options: {{create: true}}}}]\n"
        )
    };
    let all = repeat(size, one);
    format!(
        "#== kustomization.yaml\nresources: [pool.yaml]\nreplacements:\n{all}#== pool.yaml\n{}",
        node_pool("default")
    )
}

/// Each folder includes the next two, so that the number of ways to the last folder grows exponentially.
fn includes(size: usize) -> String {
    let folder = |number| {
        let (one, two) = (number + 1, number + 2);
        format!("#== d{number}/kustomization.yaml\nresources: [../d{one}, ../d{two}]\n")
    };
    let (last, end) = (size, size + 1);
    let files = repeat(size, folder);
    format!(
        "{files}#== d{last}/kustomization.yaml\nnamePrefix: a-\n#== d{end}/kustomization.yaml\nresources: []\n"
    )
}

/// Each overlay builds the base again, which has one object.
fn overlays(size: usize) -> String {
    let overlay =
        |number| format!("#== o{number}/kustomization.yaml\nresources: [../base]\nnameSuffix: -{number}\n");
    let base = format!(
        "#== base/kustomization.yaml\nresources: [pool.yaml]\n#== base/pool.yaml\n{}",
        node_pool("default")
    );
    base + &repeat(size, overlay)
}

/// Every budget has a label of every workload, and selects one of them.
fn disruption_budgets(size: usize) -> String {
    budgets(size, |number| format!("{{matchLabels: {{app: web, part: p{number}}}}}"))
}

/// Every budget selects one workload, or all but one.
fn budgets_by(size: usize, operator: &str) -> String {
    budgets(size, |number| match operator {
        "Exists" => format!(
            "{{matchExpressions: [{{key: app, operator: Exists}}, {{key: part, operator: NotIn, values: [p{number}]}}]}}"
        ),
        _ => format!(
            "{{matchExpressions: [{{key: part, operator: {operator}, values: [p{number}, q{number}]}}]}}"
        ),
    })
}

fn budgets(size: usize, selector: impl Fn(usize) -> String) -> String {
    let budget = |number| {
        let selector = selector(number);
        format!(
            "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: b{number}, namespace: a}}\nspec: {{minAvailable: 1, selector: {selector}}}\n"
        )
    };
    let workload = |number| {
        let labels = format!("{{app: web, part: p{number}}}");
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: w{number}, namespace: a}}\nspec: {{replicas: 2, selector: {{matchLabels: {labels}}}, template: {{metadata: {{labels: {labels}}}, spec: {{containers: [{{name: a, image: a}}]}}}}}}\n"
        )
    };
    format!("#== a.yaml\n{}{}", repeat(size, budget), repeat(size, workload))
}

/// Patterns that match their text in many ways, except for its last character.
fn wildcards(size: usize) -> String {
    let pattern = "*a".repeat(size);
    let mut text = "#== policy.json\n".to_owned();
    let _ = write!(
        text,
        r#"{{"Version": "2012-10-17", "Statement": [
{{"Effect": "Allow", "Action": ["{pattern}", "ec2:{pattern}"], "Resource": "arn:aws:iam::*:role/{pattern}"}},
{{"Effect": "Allow", "Action": "iam:PassRole", "Resource": "arn:aws:iam::111122223333:role/{}b",
 "Condition": {{"StringLike": {{"iam:PassedToService": "{pattern}", "aws:RequestTag/karpenter.sh/nodepool": "{pattern}"}}}}}}]}}"#,
        "a".repeat(size)
    );
    text
}

/// A name with many aliases, each of which is an error. The readers count the repeated text as work, which bounds the product of length
/// and aliases.
fn repeated_name(length: usize, aliases: usize) -> String {
    let name = "n".repeat(length);
    let requirement = |_| "      - {key: *n, operator: Is, values: [*n]}\n".to_owned();
    let head = node_pool("&n N").replace("&n N", &format!("&n {name}"));
    format!("#== a.yaml\n{head}{}", repeat(aliases, requirement))
}

/// Ten times as many values for each level.
fn levels(depth: usize, indent: &str) -> String {
    let level = |number: usize| {
        let item = number.checked_sub(1).map_or("x".to_owned(), |below| format!("*a{below}"));
        format!("{indent}a{number}: &a{number} [{}]\n", vec![item; 10].join(","))
    };
    repeat(depth, level)
}

fn documents_with_aliases(size: usize) -> String {
    let document = |_| format!("---\n{}", levels(3, ""));
    format!("#== a.yaml\n{}", repeat(size, document))
}

/// EC2NodeClasses whose user data has as many parts as the rules read.
fn user_data(size: usize) -> String {
    let part = format!(
        "    --b\n    Content-Type: application/node.eks.aws\n\n    apiVersion: node.eks.aws/v1alpha1\n    kind: NodeConfig\n    spec:\n{}\n",
        levels(4, "     ")
    );
    let class = |number| {
        format!(
            "---\napiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: c{number}}}\nspec:\n  amiFamily: AL2023\n  role: a\n  userData: |\n    MIME-Version: 1.0\n    Content-Type: multipart/mixed; boundary=b\n\n{}    --b--\n",
            part.repeat(10)
        )
    };
    format!("#== a.yaml\n{}", repeat(size / 50, class))
}

fn held_documents(size: usize) -> String {
    let application = |number| {
        format!(
            "---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: a{number}}}\nspec: {{source: {{chart: karpenter, helm: {{values: \"{}\"}}}}}}\n",
            levels(3, "").replace('\n', "\\n")
        )
    };
    format!("#== a.yaml\n{}", repeat(size, application))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_grow_with_their_size() {
        for InputShape { name, text } in SHAPES {
            let [one, two, four] = [100, 200, 400].map(|size| text(size).len());
            assert!(
                two > one && (four - two).abs_diff(2 * (two - one)) < one / 4,
                "{name}: {one} {two} {four}"
            );
        }
        assert!(common(10_000).len() < 11_000);
    }
}
