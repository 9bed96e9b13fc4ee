use super::user_data::UserData;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::is_from_terraform;
use manifest::source::{Span, certain};
use manifest::tree::Node;
use objects::object::{Object, Operation};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use userdata::image_family::ImageFamily as Image;
use userdata::shell::Heredoc;
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Finds placeholders that a template engine should have replaced: `${module.eks.cluster_name}`,
    /// `{{ .Values.clusterName }}`, `<no value>`, `<CLUSTER_NAME>`, `__CLUSTER_NAME__`.
    ///
    /// ## Why it is bad
    ///
    /// The placeholder reaches the node unchanged. A shell reports `bad substitution` for
    /// `${module.eks.cluster_name}` and stops the script there. Other placeholders become the name of a cluster that
    /// does not exist.
    ///
    /// The rule does not report `${CLUSTER_NAME}`, because it is a valid shell variable that may be set elsewhere. It
    /// does not report `$${X}` either, which tells Flux and Terraform to leave a variable unchanged. If other fields of the
    /// EC2NodeClass in a file have placeholders too, a template engine still has to render the file, and the finding is an
    /// info.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: hardened
    /// spec:
    ///   amiFamily: Custom
    ///   userData: |
    ///     #!/bin/bash
    ///     /etc/eks/bootstrap.sh ${module.eks.cluster_name} \
    ///       --kubelet-extra-args '--register-with-taints=karpenter.sh/unregistered:NoExecute'
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: hardened
    /// spec:
    ///   amiFamily: Custom
    ///   userData: |
    ///     #!/bin/bash
    ///     /etc/eks/bootstrap.sh meadow \
    ///       --kubelet-extra-args '--register-with-taints=karpenter.sh/unregistered:NoExecute'
    /// ```
    ///
    /// ## References
    ///
    /// - pubs.opengroup.org/onlinepubs/9799919799, "Parameter Expansion": a name contains no dots
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the user data contains placeholders that no template engine replaced",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(data) = UserData::of(object) else { return };
    // cloud-init renders Jinja itself, and tools such as `sed` and `envsubst` may replace placeholders on the node.
    let jinja = data.text.contains("## template:");
    let replaces = ["sed ", "envsubst", "perl ", "awk "].iter().any(|tool| data.text.contains(tool));
    let shells = if data.family == Image::Windows { &[] } else { data.scripts(context) };
    let in_heredoc = |at: usize, literal: bool| {
        let holds = |heredoc: &Heredoc| {
            (heredoc.literal || !literal) && (heredoc.body.start..heredoc.body.end).contains(&at)
        };
        shells.iter().any(|shell| shell.heredocs.iter().any(holds))
    };
    let is_template =
        object.operation() == Operation::Apply && has_other_placeholder(object.root(), data.node);
    let in_terraform = is_from_terraform(data.node);
    let mut at = 0;
    for line in data.text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        // Skip comments, which start with `#` in every format, and text that the script only writes to a file.
        if !line.contains(MARKS) || line.trim_start().starts_with('#') || in_heredoc(start, true) {
            continue;
        }
        for residue in residues(line) {
            let skipped = match residue.kind {
                // Terraform replaces it in its own files.
                Residue::Terraform => in_terraform,
                Residue::NoValue | Residue::Helm => false,
                Residue::Braces => jinja,
                Residue::Placeholder => replaces || in_heredoc(start, false),
            };
            if !skipped {
                let span = Span::new(start + residue.span.start, start + residue.span.end);
                let found = finding(data, residue.kind, span);
                let is_open = is_template && residue.kind != Residue::NoValue;
                findings.push(if is_open { found.severity(Severity::Info) } else { found });
            }
        }
    }
}

/// Whether a string below a node has a placeholder, except in the user data.
fn has_other_placeholder(node: Node<'_>, data: Node<'_>) -> bool {
    let is_open = node.id() != data.id() && node.as_str().is_some_and(has_placeholder);
    is_open || node.children().any(|child| has_other_placeholder(child, data))
}

fn finding(data: UserData<'_>, kind: Residue, span: Span) -> Finding<'_> {
    let shown = span.text(data.text);
    let not_replaced =
        |engine: &str| format!("{engine} did not replace `{shown}`, which reaches the node unchanged");
    let (message, severity) = match kind {
        Residue::Terraform => (not_replaced("Terraform"), Severity::Error),
        Residue::NoValue => (
            "a Go template printed `<no value>` here, because a value was not set".to_owned(),
            Severity::Error,
        ),
        Residue::Helm => (not_replaced("Helm"), Severity::Warning),
        Residue::Braces => (not_replaced("a template engine"), Severity::Warning),
        Residue::Placeholder => (
            format!("the placeholder `{shown}` was not replaced and reaches the node unchanged"),
            Severity::Warning,
        ),
    };
    data.finding(&RULE, span, message)
        .help("write the value, or render the template before you apply the manifest")
        .severity(severity)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Residue {
    /// `${module.x}`
    Terraform,
    /// `{{ .Values.x }}`
    Helm,
    /// `{{ x }}`
    Braces,
    /// `<no value>`
    NoValue,
    /// `<CLUSTER_NAME>`, `__CLUSTER_NAME__`, `@@CLUSTER_NAME@@`
    Placeholder,
}

struct Found {
    kind: Residue,
    span: Span,
}

/// The characters with which placeholders start.
const MARKS: [char; 5] = ['$', '{', '<', '_', '@'];

fn residues(line: &str) -> Vec<Found> {
    let mut found = Vec::new();
    between(
        line,
        "${",
        "}",
        &|content, at| {
            let escaped = line.get(..at).is_some_and(|before| before.ends_with(['$', '\\']));
            (!escaped && is_terraform_reference(content)).then_some(Residue::Terraform)
        },
        &mut found,
    );
    between(line, "{{", "}}", &|content, _| braces(content), &mut found);
    between(
        line,
        "<",
        ">",
        &|content, _| {
            let placeholder = is_upper_case(content)
                || ["your-", "your_", "your ", "my-cluster"]
                    .iter()
                    .any(|mark| content.to_ascii_lowercase().starts_with(mark));
            if content == "no value" {
                Some(Residue::NoValue)
            } else {
                (placeholder && is_cluster_value(content)).then_some(Residue::Placeholder)
            }
        },
        &mut found,
    );
    for mark in ["__", "@@"] {
        between(
            line,
            mark,
            mark,
            &|content, at| {
                let in_a_name = line.get(..at).is_some_and(|before| {
                    before.ends_with(|last: char| last.is_ascii_alphanumeric() || "_${".contains(last))
                });
                (!in_a_name && is_upper_case(content) && is_cluster_value(content))
                    .then_some(Residue::Placeholder)
            },
            &mut found,
        );
    }
    found.sort_by_key(|found| found.span);
    found
}

/// Collects every placeholder between two markers of the line, markers included.
fn between(
    line: &str,
    open: &str,
    close: &str,
    kind: &dyn Fn(&str, usize) -> Option<Residue>,
    found: &mut Vec<Found>,
) {
    let mut from = 0;
    while let Some(at) = line.get(from..).and_then(|rest| rest.find(open)).map(|at| at + from) {
        let start = at + open.len();
        let Some(length) = line.get(start..).and_then(|rest| rest.find(close)) else { return };
        let content = certain(line.get(start..start + length));
        match kind(content, at) {
            Some(kind) => {
                from = start + length + close.len();
                found.push(Found { kind, span: Span::new(at, from) });
            }
            None => from = start,
        }
    }
}

/// Whether the content is a Terraform reference, which contains a dot where a shell allows no dot.
fn is_terraform_reference(content: &str) -> bool {
    const ROOTS: [&str; 6] = ["module", "var", "local", "data", "each", "path"];
    let content = content.trim();
    let Some((root, rest)) = content.split_once('.') else { return false };
    let letters =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.[]\"*".contains(&byte));
    (ROOTS.contains(&root) || root.starts_with("aws_")) && !rest.is_empty() && letters(rest)
}

fn braces(content: &str) -> Option<Residue> {
    const HELM: [&str; 6] = [".Values.", "$.Values.", ".Release.", ".Chart.", "include \"", "tpl "];
    let inner = content.trim_matches(['-', ' ']);
    if HELM.iter().any(|mark| inner.starts_with(mark) || inner.contains(&[" ", mark].concat())) {
        return Some(Residue::Helm);
    }
    // `{{ cluster_name }}`. Docker's formats start with a dot or have no spaces inside the braces.
    let spaced = content.starts_with(' ') && content.ends_with(' ');
    let name =
        inner.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.".contains(&byte));
    let starts = inner.starts_with(|first: char| first.is_ascii_lowercase());
    (spaced && name && starts).then_some(Residue::Braces)
}

/// Whether the content is an upper-case name such as `CLUSTER_NAME` or `CLUSTER-NAME`.
fn is_upper_case(content: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    content.starts_with(|first: char| first.is_ascii_uppercase()) && content.bytes().all(letter)
}

/// Whether a placeholder names a value that a node needs to join a cluster. Others may be part of a printed message.
fn is_cluster_value(content: &str) -> bool {
    let lower = content.to_ascii_lowercase();
    ["cluster", "endpoint", "certificate", "b64", "account", "region"].iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::super::examples::{class, custom, script};
    use crate::rules::testing::{findings, report, silent};
    use rule::settings::Settings;

    fn severities(text: &str) -> Vec<&'static str> {
        let found = report(&super::RULE, text, &Settings::default()).findings;
        found.iter().map(|finding| finding.severity.name()).collect()
    }

    #[test]
    fn reports_terraform_reference() {
        insta::assert_snapshot!(findings(&super::RULE, &script("/etc/eks/bootstrap.sh ${module.eks.cluster_name} --use-max-pods false")), @"
          8 |     /etc/eks/bootstrap.sh ${module.eks.cluster_name} --use-max-pods false
            |                           ^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          Terraform did not replace `${module.eks.cluster_name}`, which reaches the node unchanged
          help: write the value, or render the template before you apply the manifest
        ");
    }

    #[test]
    fn reports_placeholders_of_every_kind() {
        for (text, severity) in [
            ("/etc/eks/bootstrap.sh ${aws_eks_cluster.this.name}", "error"),
            ("/etc/eks/bootstrap.sh ${var.clusters[\"a\"].name}", "error"),
            ("/etc/eks/bootstrap.sh <no value>", "error"),
            ("/etc/eks/bootstrap.sh {{ .Values.clusterName }}", "warning"),
            ("/etc/eks/bootstrap.sh {{- include \"x.name\" . }}", "warning"),
            ("/etc/eks/bootstrap.sh {{ cluster_name }}", "warning"),
            ("/etc/eks/bootstrap.sh <CLUSTER_NAME>", "warning"),
            ("/etc/eks/bootstrap.sh '<your-cluster-name>'", "warning"),
            ("/etc/eks/bootstrap.sh __CLUSTER_NAME__", "warning"),
            ("/etc/eks/bootstrap.sh @@CLUSTER_NAME@@", "warning"),
            // Only a heredoc with quotes keeps the text as it is.
            ("cat > /x <<'EOF'\na\nEOF\n/etc/eks/bootstrap.sh ${module.eks.cluster_name}", "error"),
            ("cat > /x <<EOF\n${module.eks.cluster_name}\nEOF", "error"),
        ] {
            assert_eq!(severities(&script(text)), [severity], "{text}");
        }
        assert_eq!(
            severities(&class(
                "Bottlerocket",
                "[settings.host-containers.admin]\nuser-data = \"${local.admin}\"\n"
            )),
            ["error"]
        );
    }

    #[test]
    fn is_an_info_if_other_fields_wait_for_a_template_engine() {
        let text = script("/etc/eks/bootstrap.sh ${module.eks.cluster_name}");
        assert_eq!(severities(&text), ["error"]);
        for name in ["'${name}'", "'{{ .Values.name }}'", "<name>"] {
            assert_eq!(severities(&text.replace("name: a", &format!("name: {name}"))), ["info"]);
        }
        let rendered = script("/etc/eks/bootstrap.sh <no value>").replace("name: a", "name: '${name}'");
        assert_eq!(severities(&rendered), ["error"]);
    }

    #[test]
    fn accepts_text_that_the_shell_or_another_tool_replaces() {
        for text in [
            "/etc/eks/bootstrap.sh ${CLUSTER_NAME} $CLUSTER \"${CLUSTER:-demo}\" ${A[0]} ${A%.x} ${A//./-}",
            "/etc/eks/bootstrap.sh $${CLUSTER_NAME}",
            "docker ps --format '{{.ID}}'; docker inspect -f '{{range .Mounts}}{{.Source}}{{end}}' x",
            "curl -w '%{http_code}' https://example.com",
            "aws ec2 describe-instances --query 'Reservations[].{Id:InstanceId}'",
            "cat > /main.tf <<'EOF'\nname = \"${var.name}\"\nEOF",
            "# ${module.eks.cluster_name} and <CLUSTER_NAME>",
            "sed -i s/__CLUSTER_NAME__/demo/ /etc/x",
            "echo MY__CLUSTER_NAME__ ${__CLUSTER_NAME__} __FILE__ __cluster_name__",
            "echo 'usage: x <FILE> <NAME> <cluster> <Cluster-Name>'",
            "docker inspect -f '{{ name}}{{name }}' x",
            "cat <<EOF\n<configuration>\n<REGION>eu</REGION>\nEOF",
            "mapUsers: system:node:{{EC2PrivateDNSName}}",
            "DIR=${__DIR__}",
            "python3 -c 'if __name__ == \"__main__\": pass'",
        ] {
            silent(&super::RULE, &script(text));
        }
        silent(&super::RULE, &custom("## template: jinja\n#cloud-config\nhostname: {{ v1.instance_id }}\n"));
    }
}
