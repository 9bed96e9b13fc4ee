//! `check --render`, with a stand-in for helm on the PATH.
//!
//! The output has the shape that `docs/chart_template_guide/getting_started.md` of helm/helm-www shows for `helm template` and `helm get
//! manifest`: a `---` line and a comment with the template before each document.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::folder::{Folder, Run};

/// The form of charts/tfy-karpenter-config/templates of truefoundry/infra-charts.
const TEMPLATE: &str = r"{{- if .Values.enabled }}
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: {{ .Values.name }}
spec:
  instanceProfile: {{ .Values.profile }}
  amiSelectorTerms:
  - alias: al2@latest
{{- end }}
";

/// A chart, and a helm that answers with the files `output` and `output@VALUES`.
fn chart(outputs: &[(&str, &str)]) -> Folder {
    let folder = Folder::with(&[
        ("pools/Chart.yaml", "apiVersion: v2\nname: node-pools\nversion: 0.1.0\n"),
        ("pools/values.yaml", "enabled: true\n"),
        ("pools/values-prod.yaml", "name: prod\n"),
        ("pools/templates/class.yaml", TEMPLATE),
        (
            "bin/helm",
            "#!/bin/sh\nhere=$(dirname \"$0\")\necho \"$*\" >> \"$here/calls\"\necho \"$HELM_NO_PLUGINS $HELM_PLUGINS $HELM_REPOSITORY_CONFIG $HELM_REGISTRY_CONFIG $KUBECONFIG\" >> \"$here/environment\"\nanswer=\"$here/output\"\nprevious=\nfor word in \"$@\"; do\n\
             [ \"$previous\" = --values ] && answer=\"$here/output@$(basename \"$word\")\"\nprevious=$word\ndone\n\
             [ -e \"$answer\" ] && exec cat \"$answer\"\necho 'Error: execution error at (node-pools/templates/class.yaml:5:11): name is required' >&2\nexit 1\n",
        ),
    ]);
    fs::set_permissions(folder.path("bin/helm"), fs::Permissions::from_mode(0o755)).unwrap();
    for (name, text) in outputs {
        folder.write(&format!("bin/{name}"), text.as_bytes());
    }
    folder
}

fn class(name: &str, profile: &str) -> String {
    format!(
        "---\n# Source: node-pools/templates/class.yaml\napiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: {name}\nspec:\n  \
         instanceProfile: {profile}\n  amiSelectorTerms:\n  - alias: al2@latest\n"
    )
}

fn check(folder: &Folder, path: &str, arguments: &[&str]) -> Run {
    let rules =
        ["check", "--select", "instance-profile-is-arn,al2-end-of-life", "--karpenter-version", "1.14"];
    let arguments: Vec<&str> = rules.into_iter().chain(arguments.iter().copied()).collect();
    folder.run_with("PATH", path, &arguments)
}

fn path(folder: &Folder) -> String {
    format!("{}:/usr/bin:/bin", folder.path("bin").display())
}

#[test]
fn checks_the_objects_of_charts_at_the_lines_of_their_templates() {
    let arn = "arn:aws:iam::111122223333:instance-profile/Nodes-prod";
    let folder =
        chart(&[("output", &class("default", "Nodes")), ("output@values-prod.yaml", &class("prod", arn))]);
    let run = check(&folder, &path(&folder), &["--render", "--kubernetes-version", "1.33", "pools"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert_snapshot!(run.stdout, @"
    error[instance-profile-is-arn]: `spec.instanceProfile` is an ARN, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready
     --> pools/templates/class.yaml:7:3
      |
    6 | spec:
    7 |   instanceProfile: {{ .Values.profile }}
      |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    8 |   amiSelectorTerms:
      |
      = object: EC2NodeClass/prod, spec.instanceProfile
      = help: write `Nodes-prod`
      = otherwise caught by: nothing; accepted silently
      = explain: karpwarden explain instance-profile-is-arn

    error[al2-end-of-life]: EKS publishes no Amazon Linux 2 image for Kubernetes 1.33, so the alias matches no image and no node starts
      --> pools/templates/class.yaml:9:12
       |
     8 |   amiSelectorTerms:
     9 |   - alias: al2@latest
       |            ^^^^^^^^^^
    10 | {{- end }}
       |
       = object: EC2NodeClass/default, spec.amiSelectorTerms[0].alias
       = help: migrate to `al2023` or `bottlerocket`; their `userData` has a different format
       = otherwise caught by: the controller; accepted, then fails at run time
       = explain: karpwarden explain al2-end-of-life

    2 errors in 5 documents (1 skipped; see --verbose); checked against Karpenter 1.14
    ");
    let calls = folder.read("bin/calls");
    let calls: Vec<&str> = calls.lines().collect();
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert!(calls.iter().all(|call| call.starts_with("template node-pools --skip-schema-validation ")
        && call.contains(" --kube-version=1.33 -- ")));
    let environment = folder.read("bin/environment");
    assert!(
        environment.lines().all(|line| line == "1 /dev/null /dev/null /dev/null /dev/null"),
        "{environment}"
    );
    assert!(
        calls.iter().any(|call| call.contains("--values ") && call.contains("values-prod.yaml")),
        "{calls:?}"
    );
}

#[test]
fn renders_only_on_request() {
    let folder = chart(&[("output", &class("default", "Nodes"))]);
    let run = check(&folder, &path(&folder), &["--verbose", "pools"]);
    assert!(
        run.stdout.contains("template, not checked: render it first: pools/templates/class.yaml:1"),
        "{run:?}"
    );
    assert!(!folder.path("bin/calls").exists());
    folder.write("karpwarden.yaml", b"render: true\n");
    let run = check(&folder, &path(&folder), &["--quiet", "pools"]);
    assert!(run.stdout.contains("al2-end-of-life"), "{run:?}");
    fs::remove_file(folder.path("bin/calls")).unwrap();
    let run = check(&folder, &path(&folder), &["--quiet", "--no-render", "pools"]);
    assert!(!run.stdout.contains("al2-end-of-life") && !folder.path("bin/calls").exists(), "{run:?}");
}

#[test]
fn renders_no_chart_that_could_show_other_files() {
    let folder = chart(&[("output", &class("default", "Nodes"))]);
    std::os::unix::fs::symlink("/etc/hostname", folder.path("pools/secret.txt")).unwrap();
    let run = check(&folder, &path(&folder), &["--render", "pools"]);
    assert_snapshot!(run.stderr, @"note: the chart `pools` is not rendered: the link `pools/secret.txt` leads out of its folder, or the folder is too large");
    assert!(!folder.path("bin/calls").exists());
    fs::remove_file(folder.path("pools/secret.txt")).unwrap();
    std::os::unix::fs::symlink("values.yaml", folder.path("pools/linked.yaml")).unwrap();
    let run = check(&folder, &path(&folder), &["--render", "--quiet", "pools"]);
    assert!(run.stdout.contains("al2-end-of-life"), "{run:?}");
}

#[test]
fn helm_gets_no_values_that_it_reads_as_several_files() {
    let folder = chart(&[("output", &class("a", "nodes"))]);
    folder.write("x,/Chart.yaml", b"apiVersion: v2\nname: other\nversion: 0.1.0\n");
    folder.write("x,/values-prod.yaml", b"name: prod\n");
    let run = check(&folder, &path(&folder), &["--render", "--verbose", "."]);
    assert!(run.stderr.contains("takes a path with a comma"), "{}", run.stderr);
    let calls = fs::read_to_string(folder.path("bin/calls")).unwrap();
    assert!(!calls.contains("x,/values-prod.yaml"), "{calls}");
}

#[test]
fn an_old_helm_renders_nothing() {
    let folder = chart(&[]);
    folder
        .write("bin/helm", b"#!/bin/sh\necho 'Error: unknown flag: --skip-schema-validation' >&2\nexit 1\n");
    fs::set_permissions(folder.path("bin/helm"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(folder.path("pools/values-prod.yaml")).unwrap();
    let run = check(&folder, &path(&folder), &["--render", "pools"]);
    assert_snapshot!(run.stderr, @"note: the chart `pools` is not rendered: `helm template pools` fails: helm 3.16 or newer is needed");
}

#[test]
fn says_what_is_not_rendered() {
    let folder = chart(&[("output@values-prod.yaml", &class("prod", "Nodes"))]);
    let run = check(&folder, &path(&folder), &["--render", "pools"]);
    assert_snapshot!(run.stderr, @"note: the chart `pools` is not rendered: `helm template pools` fails: execution error at (node-pools/templates/class.yaml:5:11): name is required");
    let run = check(&folder, "/usr/bin:/bin", &["--render", "pools"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_snapshot!(run.stderr, @"note: no chart is rendered: `helm` is not on the PATH; install it, or render the charts elsewhere: `helm template pools | karpwarden check -`");
    assert_snapshot!(run.stdout, @"no findings in 4 documents (2 skipped; see --verbose); checked against Karpenter 1.14");
}
