use super::user_data::UserData;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::source::Span;
use manifest::tree::Style;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::fix::Fix;
use rule::{Fixes, On, Runs};
use userdata::format::UserDataFormat as Format;
use userdata::image_family::ImageFamily as Image;
use userdata::mime::MimeProblemKind;
use userdata::registration::Join;

rule! {
    /// ## What it does
    ///
    /// Checks that a script in the user data starts with a line that the node can execute: `#!` and an interpreter,
    /// at the beginning of the text and on a separate line.
    ///
    /// ## Why it is bad
    ///
    /// cloud-init writes the script to a file and executes it. If the first two bytes are not `#!`, for example
    /// because of a blank line, this fails with `Exec format error. Missing #! in script?`, and no command of the
    /// script runs. For `Custom`, cloud-init does not even recognise the text as a script.
    ///
    /// A script without `#!` is a warning: with AL2 and AL2023 Karpenter's own part still joins the node, and only
    /// the script is lost, as in the example of Karpenter's own reference (`echo "Hello world"`). If `#!` is there
    /// but has no effect, the author wanted the script to run, and the finding is an error. Only blank lines before
    /// `#!` are a warning for `Custom`, because the image decides what runs the text.
    ///
    /// `userData: >` folds the lines of a script into one line. Everything after `#!/bin/bash` is then a comment: the
    /// node boots, no command runs, and nothing is logged. Write `|` instead.
    ///
    /// Windows line endings do less harm than many articles claim. Karpenter removes carriage returns for AL2 and
    /// AL2023, and cloud-init removes them from scripts whose first line has one. For `Custom` they are an info. If
    /// only later lines have them, they are a warning, because then they stay in the script.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiFamily: AL2023
    ///   userData: >
    ///     #!/bin/bash
    ///     set -e
    ///     sysctl -w vm.max_map_count=262144
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiFamily: AL2023
    ///   userData: |
    ///     #!/bin/bash
    ///     set -e
    ///     sysctl -w vm.max_map_count=262144
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe: the fix removes blank lines before `#!`. It does not invent a missing first line.
    ///
    /// ## References
    ///
    /// - canonical/cloud-init `cloudinit/handlers/shell_script.py` (`dos2unix`), `cloudinit/handlers/__init__.py`
    ///   (`type_from_starts_with`), cloudinit/subp.py
    /// - aws/karpenter-provider-aws website/content/en/docs/concepts/nodeclasses.md at v1.14.1 (the example)
    /// - aws/karpenter-provider-aws pkg/providers/amifamily/bootstrap/eksbootstrap.go and mime/mime.go at v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "a script in the user data does not start with a line that the node can execute",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(data) = UserData::of(object) else { return };
    if !matches!(data.family, Image::Al2 | Image::Al2023 | Image::Custom) {
        return;
    }
    match Format::detect(data.text) {
        Format::Mime => parts(data, context, findings),
        Format::Script => script(data, findings),
        Format::Unmarked => findings.extend(unmarked(data, context)),
        _ => {}
    }
}

/// Severity of blank lines before `#!`. For `Custom` the image decides what runs the text.
fn severity(data: UserData<'_>) -> Severity {
    if data.family == Image::Custom { Severity::Warning } else { Severity::Error }
}

fn parts<'d>(data: UserData<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let archive = data.archive(context);
    for problem in
        archive.problems.iter().filter(|problem| problem.kind == MimeProblemKind::ShellPartWithoutShebang)
    {
        let part = archive.parts.iter().find(|part| part.body.start == problem.span.start);
        findings.push(match part.and_then(|part| leading_blank(data, part.body)) {
            Some(finding) => finding,
            None => missing(data, problem.span),
        });
    }
    for part in &archive.parts {
        findings.extend(folded(data, part.body));
    }
}

fn script<'d>(data: UserData<'d>, findings: &mut Vec<Finding<'d>>) {
    let whole = Span::whole(data.text);
    findings.extend(leading_blank(data, whole));
    let folded = folded(data, whole);
    let is_folded = folded.is_some();
    findings.extend(folded);
    if data.family == Image::Custom && !is_folded {
        findings.extend(carriage_returns(data));
    }
}

fn missing(data: UserData<'_>, line: Span) -> Finding<'_> {
    data.finding(
        &RULE,
        line,
        "the script does not start with `#!`, so the node cannot execute it and no command in it runs",
    )
    .help("write `#!/bin/bash` as the first line")
    .severity(Severity::Warning)
}

/// Reports spaces or empty lines before `#!`.
fn leading_blank(data: UserData<'_>, body: Span) -> Option<Finding<'_>> {
    let line = body.first_line(data.text);
    if line.start == body.start || !line.text(data.text).starts_with("#!") {
        return None;
    }
    let blank = Span::new(body.start, line.start);
    let fix = Fix::safe_one("remove everything before `#!`", data.remove(blank));
    let message = "there are spaces or empty lines before `#!`, so the node cannot execute the script and no command in it runs";
    Some(
        data.finding(&RULE, line, message)
            .help("start the script with `#!`")
            .severity(severity(data))
            .fix(fix),
    )
}

/// Reports a first line that continues after the interpreter, its options and one argument, such as `bash` after `env`.
fn folded(data: UserData<'_>, body: Span) -> Option<Finding<'_>> {
    let line = body.first_line(data.text);
    let mut first = line.text(data.text).strip_prefix("#!")?;
    while let Some(rest) = first.strip_prefix("#!") {
        first = rest;
    }
    let mut words = first.split_whitespace();
    words.next()?;
    let more = words.filter(|word| !word.starts_with('-')).count();
    let one_line = body.start + body.text(data.text).trim_end().len() <= line.end;
    let folds = data.node.style() == Style::Folded;
    if more < 2 || !(one_line || folds) {
        return None;
    }
    let message =
        "the whole script is on the line of `#!`, so the shell treats it as a comment and no command runs";
    let help =
        if folds { "write `userData: |`; `>` joins the lines" } else { "keep the line breaks of the script" };
    Some(data.finding(&RULE, line, message).help(help))
}

fn carriage_returns(data: UserData<'_>) -> Option<Finding<'_>> {
    let at = data.text.find("\r\n")?;
    let span = Span::new(at, at + 2);
    let first = data.text.find('\n') == Some(at + 1);
    let finding = data.finding(&RULE, span,
        if first {
            "the lines end in carriage returns; cloud-init removes them, but other programs look for an interpreter called `bash\\r`"
        } else {
            "lines after the first end in carriage returns, which stay and become part of the last word of each line"
        },
    );
    let finding = finding.help("save the text with line feeds only");
    Some(finding.severity(if first { Severity::Info } else { Severity::Warning }))
}

/// Reports user data without a format marker that the node runs as a script.
fn unmarked<'d>(data: UserData<'d>, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    let runs = match data.family {
        Image::Al2 => true,
        // Karpenter treats a YAML mapping as a NodeConfig, which `userdata-family-mismatch` reports.
        Image::Al2023 => {
            !data.yaml(context, Span::whole(data.text)).is_mapping()
                && !data.text.trim_start().starts_with("apiVersion:")
        }
        _ => {
            let joins = &data.registration(context).joins;
            joins.iter().any(|join| matches!(join, Join::Bootstrap(_) | Join::Nodeadm(_) | Join::Kubelet(_)))
        }
    };
    runs.then(|| missing(data, data.first_line()))
}

#[cfg(test)]
mod tests {
    use super::super::examples::{class, custom};
    use crate::rules::testing::{findings, fixed, report, silent};
    use rule::settings::Settings;

    fn severities(text: &str) -> Vec<&'static str> {
        let found = report(&super::RULE, text, &Settings::default()).findings;
        found.iter().map(|finding| finding.severity.name()).collect()
    }

    /// EC2NodeClass with the user data in double quotes.
    fn quoted(family: &str, text: &str) -> String {
        format!(
            r#"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
spec:
  amiFamily: {family}
  userData: "{text}"
"#
        )
    }

    #[test]
    fn reports_script_without_shebang() {
        insta::assert_snapshot!(findings(&super::RULE, &class("AL2", "set -e\nyum install -y jq\n")), @"
          7 |     set -e
            |     ^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          the script does not start with `#!`, so the node cannot execute it and no command in it runs
          help: write `#!/bin/bash` as the first line
        ");
        assert_eq!(severities(&class("AL2023", "set -e\nyum install -y jq\n")), ["warning"]);
        assert_eq!(severities(&custom("/etc/eks/bootstrap.sh demo\n")), ["warning"]);
    }

    #[test]
    fn reports_and_removes_blanks_before_the_shebang() {
        let text = quoted("AL2", "\\n \\n#!/bin/bash\\necho hi\\n");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          5 |   userData: "\n \n#!/bin/bash\necho hi\n"
            |                   ^^^^^^^^^^^
        error EC2NodeClass/ spec.userData [all]
          there are spaces or empty lines before `#!`, so the node cannot execute the script and no command in it runs
          help: start the script with `#!`
          fix: remove everything before `#!`: ""
        "#);
        assert_eq!(fixed(&super::RULE, &text), quoted("AL2", "#!/bin/bash\\necho hi\\n"));
        let block = |lead: &str| class("AL2", &format!("{lead}#!/bin/bash\n\n  echo hi\n"));
        assert_eq!(fixed(&super::RULE, &block("\n\n")), block(""));
    }

    #[test]
    fn reports_folded_script() {
        let text = custom("#!/bin/bash\nset -e\n/etc/eks/bootstrap.sh demo\n").replace(": |", ": >");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          7 |     #!/bin/bash
            |     ^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          the whole script is on the line of `#!`, so the shell treats it as a comment and no command runs
          help: write `userData: |`; `>` joins the lines
        ");
        assert_eq!(severities(&quoted("AL2", "#!/bin/bash set -e yum install -y jq")), ["error"]);
        assert_eq!(severities(&quoted("AL2", "#!/bin/bash -e yum update")), ["error"]);
        silent(&super::RULE, &quoted("AL2", "#!/bin/bash -e reboot"));
    }

    #[test]
    fn checks_scripts_in_mime_parts() {
        let archive = |body: &str| {
            format!(
                r#"MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="B"

--B
Content-Type: text/x-shellscript

{body}
--B--
"#
            )
        };
        insta::assert_snapshot!(findings(&super::RULE, &class("AL2", &archive("echo hi"))), @"
         13 |     echo hi
            |     ^^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          the script does not start with `#!`, so the node cannot execute it and no command in it runs
          help: write `#!/bin/bash` as the first line
        ");
        let blank = class("AL2023", &archive("\n#!/bin/bash\necho hi"));
        assert_eq!(severities(&blank), ["error"]);
        assert_eq!(fixed(&super::RULE, &blank), class("AL2023", &archive("#!/bin/bash\necho hi")));
    }

    #[test]
    fn reports_carriage_returns_unless_karpenter_removes_them() {
        assert_eq!(severities(&quoted("Custom", "#!/bin/bash\\r\\necho hi\\r\\n")), ["info"]);
        let later = quoted("Custom", "#!/bin/bash\\necho hi\\r\\nsystemctl restart kubelet\\r\\n");
        assert_eq!(severities(&later), ["warning"]);
        let found = findings(&super::RULE, &later);
        let marked: Vec<&str> = found.lines().take(2).collect();
        insta::assert_snapshot!(marked.join("\n"), @r##"
          5 |   userData: "#!/bin/bash\necho hi\r\nsystemctl restart kubelet\r\n"
            |                                  ^^^^
        "##);
        silent(&super::RULE, &quoted("AL2", "#!/bin/bash\\r\\necho hi\\r\\n"));
        silent(&super::RULE, &quoted("AL2023", "#!/bin/bash\\r\\necho hi\\r\\n"));
    }

    #[test]
    fn accepts_executable_scripts_and_other_formats() {
        for text in [
            "#!/bin/bash\necho hi\n",
            "#!/bin/bash -xe\necho hi\n",
            "#!/usr/bin/env bash\necho hi\n",
            "#!/usr/bin/env -S bash -x -e\necho hi\n",
            "#!/usr/bin/env python3\nprint('hi')\n",
            "#!/bin/bash # prepares the node\necho hi\n",
            "#!/bin/bash\n",
        ] {
            for family in ["AL2", "AL2023", "Custom"] {
                silent(&super::RULE, &class(family, text));
            }
        }
        silent(&super::RULE, &class("AL2023", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n"));
        silent(&super::RULE, &class("AL2023", "packages: [jq]\n"));
        silent(&super::RULE, &custom("machine:\n  type: worker\n"));
        silent(&super::RULE, &custom("{\"ignition\": {\"version\": \"3.4.0\"}}\n"));
        silent(&super::RULE, &class("Windows2022", "Write-Host x\n"));
        silent(&super::RULE, &class("Bottlerocket", "settings.motd = 'x'\n"));
    }

    #[test]
    fn ignores_text_that_a_template_engine_inserts() {
        silent(&super::RULE, &super::super::examples::custom("${user_data}\n"));
        silent(&super::RULE, &super::super::examples::class("AL2", "{{ .Values.userData }}\n"));
    }
}
