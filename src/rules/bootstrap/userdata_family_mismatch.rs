use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::source::Span;
use objects::node_class::{Ec2NodeClass, SelectorField, SelectorTerm, TermField};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::fix::Fix;
use rule::{Fixes, On, Runs};
use userdata::format::{UserDataFormat as Format, only_comments, tag};
use userdata::image_family::ImageFamily as Image;
use userdata::powershell::parameters;
use userdata::registration::{Join, Registration};
use userdata::shell::ShellCommand;
use userdata::toml::TomlDocument;

use super::user_data::UserData;

rule! {
    /// ## What it does
    ///
    /// Checks that the user data has a format that the AMI family accepts, and that it calls only programs that the
    /// images of the family have.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter adds its own part to your user data in the format of the AMI family. Each family treats your part
    /// differently:
    ///
    /// - **AL2** accepts a MIME archive or a shell script. Karpenter calls `/etc/eks/bootstrap.sh` itself. Your own
    ///   call runs before it, and Karpenter's call overwrites its settings.
    /// - **AL2023** accepts a MIME archive, a NodeConfig or a shell script. Karpenter treats every YAML mapping as a
    ///   NodeConfig: it passes `#cloud-config` to nodeadm, which stops, and the node never joins.
    ///   `/etc/eks/bootstrap.sh` always fails there.
    /// - **Bottlerocket** accepts TOML. With any other format Karpenter launches no node.
    /// - **Windows** accepts PowerShell without tags. Karpenter adds the tags, and a script inside nested tags does
    ///   not run.
    /// - **Custom** accepts every format. The rule only warns about a script or a NodeConfig that the selected image
    ///   cannot run.
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
    ///   userData: |
    ///     #cloud-config
    ///     packages: [jq]
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
    ///     MIME-Version: 1.0
    ///     Content-Type: multipart/mixed; boundary="BOUNDARY"
    ///
    ///     --BOUNDARY
    ///     Content-Type: text/cloud-config
    ///
    ///     packages: [jq]
    ///     --BOUNDARY--
    /// ```
    ///
    /// Kubelet limits belong in `spec.kubelet` and labels in the NodePool, where Karpenter's scheduler sees them too.
    ///
    /// ## Fix safety
    ///
    /// Safe: the fix removes the tags around a Windows script. The other findings have no fix.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws pkg/providers/amifamily/bootstrap at v1.14.1; #7889, #5494, #4008, #2273
    /// - awslabs/amazon-eks-ami#2318
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "the user data has a format, or calls a program, that the AMI family does not support",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(data) = UserData::of(object) else { return };
    let format = Format::detect(data.text);
    match data.family {
        Image::Al2 => al2(data, format, context, findings),
        Image::Al2023 => al2023(data, format, context, findings),
        Image::Bottlerocket => findings.extend(bottlerocket(data, format)),
        Image::Windows => windows(data, format, findings),
        Image::Custom => findings.extend(custom(data, object, context)),
    }
}

/// Message that names the format of the user data and its effect.
fn this_is(format: Format, effect: &str) -> String {
    let name = match format {
        Format::Mime => "a MIME archive",
        Format::Script => "a shell script",
        Format::CloudConfig => "cloud-config",
        Format::CloudInit => "cloud-init data",
        Format::Tagged => "a Windows script",
        Format::Toml => "TOML",
        Format::NodeConfig => "a NodeConfig",
        _ => "something else",
    };
    ["this is ", name, effect].concat()
}

fn finding<'d>(data: UserData<'d>, span: Span, message: impl Into<String>, help: &str) -> Finding<'d> {
    data.finding(&RULE, span, message).help(help)
}

fn al2<'d>(data: UserData<'d>, format: Format, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    const HELP: &str = "write a shell script that starts with `#!`, or a MIME archive";
    match format {
        Format::NodeConfig | Format::Toml | Format::Tagged => {
            let message = this_is(format, ", but AL2 nodes run it as a shell script");
            return findings.push(finding(data, data.first_line(), message, HELP));
        }
        Format::CloudConfig | Format::CloudInit => {
            let message = this_is(format, ", but Karpenter passes it to AL2 nodes as a shell script");
            let help = "put it into a MIME archive, as a part with its own `Content-Type`, such as `text/cloud-config`";
            return findings
                .push(finding(data, data.first_line(), message, help).severity(Severity::Warning));
        }
        _ => {}
    }
    let found = data.registration(context);
    for span in eks_calls(data, found, context) {
        let message =
            "Karpenter calls bootstrap.sh on AL2 nodes itself after this call and overwrites its settings";
        let help = "remove the call and write labels and taints in the NodePool and limits in `spec.kubelet`; with `amiFamily: Custom` instead, let the call register the taint `karpenter.sh/unregistered:NoExecute`";
        findings.push(finding(data, span, message, help).severity(Severity::Warning));
    }
    if format == Format::Mime {
        let parts = data.archive(context).parts.iter();
        for part in parts.filter(|part| part.media_type() == "application/node.eks.aws") {
            let span = part.header("Content-Type").map_or(part.delimiter, |header| header.value.span);
            let message = "no program on an AL2 node reads a NodeConfig";
            let help = "remove the part and write its settings in `spec.kubelet`, or use AL2023";
            findings.push(finding(data, span, message, help).severity(Severity::Warning));
        }
    }
}

fn al2023<'d>(
    data: UserData<'d>,
    format: Format,
    context: &Context<'_, 'd>,
    findings: &mut Vec<Finding<'d>>,
) {
    let mapping = || data.yaml(context, Span::whole(data.text)).is_mapping();
    match format {
        Format::CloudConfig => {
            let treated_as = if mapping() {
                "a NodeConfig that nodeadm cannot read, so the node never joins"
            } else {
                "a shell script"
            };
            let help = "put it into a MIME archive, as a part of type `text/cloud-config`";
            findings.push(finding(
                data,
                data.first_line(),
                format!("Karpenter treats cloud-config on AL2023 as {treated_as}"),
                help,
            ));
        }
        Format::Toml | Format::Tagged => {
            let message = this_is(format, ", but AL2023 nodes run it as a shell script");
            findings.push(finding(
                data,
                data.first_line(),
                message,
                "write a shell script, a NodeConfig or a MIME archive",
            ));
        }
        Format::Unmarked if mapping() => {
            let message = "Karpenter treats this YAML on AL2023 as a NodeConfig that nodeadm cannot read, so the node never joins";
            let help = "start it with `apiVersion: node.eks.aws/v1alpha1` and `kind: NodeConfig`, or put it into a MIME archive";
            findings.push(finding(data, data.first_line(), message, help));
        }
        Format::Script | Format::Comments if only_comments(data.text) && !is_one_long_line(data.text) => {
            let message = "the user data contains only comments, which Karpenter treats on AL2023 as a NodeConfig without content";
            findings.push(
                finding(data, data.first_line(), message, "write a command, or omit `userData`")
                    .severity(Severity::Warning),
            );
        }
        _ => {}
    }
    let found = data.registration(context);
    for span in eks_calls(data, found, context) {
        let message = "AL2023 has no working bootstrap.sh: the script at this path prints an error and fails";
        let help = "remove the call, because Karpenter joins the node itself; write labels and taints in the NodePool and limits in `spec.kubelet`";
        findings.push(finding(data, span, message, help));
    }
}

/// Whether a script has lost its line breaks, which `userdata-script-header` reports.
fn is_one_long_line(text: &str) -> bool {
    text.trim().lines().count() == 1 && text.split_whitespace().count() > 2
}

/// Calls of the EKS images' bootstrap.sh; none if the user data tests whether that script exists.
fn eks_calls<'d>(data: UserData<'d>, found: &Registration, context: &Context<'_, 'd>) -> Vec<Span> {
    let is_test = |command: &ShellCommand| {
        command.words.first().is_some_and(|word| matches!(word.value.as_str(), "[" | "[[" | "test"))
            && command.words.iter().any(|word| word.value == "/etc/eks/bootstrap.sh")
    };
    if data.scripts(context).iter().any(|shell| shell.commands.iter().any(is_test)) {
        return Vec::new();
    }
    found.bootstraps().filter(|call| data.is_eks(call)).map(|call| call.program).collect()
}

fn bottlerocket(data: UserData<'_>, format: Format) -> Option<Finding<'_>> {
    let other = matches!(
        format,
        Format::Script
            | Format::Mime
            | Format::CloudConfig
            | Format::CloudInit
            | Format::NodeConfig
            | Format::Tagged
    );
    if !other || TomlDocument::parse(data.text).is_ok() {
        return None;
    }
    let message = this_is(format, ", but Bottlerocket accepts only TOML, so Karpenter launches no node");
    let help =
        "write settings such as `[settings.kernel.sysctl]`; Bottlerocket runs no scripts from user data";
    Some(finding(data, data.first_line(), message, help).caught_by(CaughtBy::Controller))
}

fn windows<'d>(data: UserData<'d>, format: Format, findings: &mut Vec<Finding<'d>>) {
    let line = data.first_line();
    match format {
        Format::Tagged => {
            let message = "Karpenter puts `<powershell>` tags around the user data of Windows nodes, and a script inside nested tags does not run";
            let finding =
                finding(data, tag(data.text).unwrap_or(line), message, "write the script without tags");
            findings.push(match without_tags(data) {
                Some(fix) => finding.fix(fix),
                None => finding,
            });
        }
        // PowerShell reads `#!` and the markers of cloud-init as comments.
        Format::Script
            if line.text(data.text).contains("pwsh") || line.text(data.text).contains("powershell") => {}
        Format::Mime | Format::Script | Format::CloudConfig | Format::CloudInit | Format::NodeConfig => {
            let message = this_is(format, ", but Windows nodes run it as PowerShell");
            findings.push(finding(data, line, message, "write PowerShell without tags"));
        }
        _ => {
            for parameter in parameters(data.text, Span::whole(data.text), "EKSClusterName") {
                let message =
                    "Karpenter calls Start-EKSBootstrap.ps1 on Windows nodes itself after this call";
                let help = "remove the call and write labels and taints in the NodePool and limits in `spec.kubelet`";
                findings.push(finding(data, parameter.name, message, help).severity(Severity::Warning));
            }
        }
    }
}

/// Fix that removes the tags, if they open and close the whole text.
fn without_tags(data: UserData<'_>) -> Option<Fix<'_>> {
    let open = tag(data.text)?;
    let trimmed = data.text.trim_end();
    let close = "</powershell>";
    let start = trimmed.len().checked_sub(close.len())?;
    let closes = trimmed.get(start..)?.eq_ignore_ascii_case(close);
    let between = data.text.get(open.end..start)?;
    let plain = open.text(data.text).eq_ignore_ascii_case("<powershell>") && closes;
    let line = usize::from(between.starts_with('\n'));
    let last_line = usize::from(between.len() > line && between.ends_with('\n'));
    (plain && !between.contains("</")).then(|| {
        let changes = vec![
            data.remove(Span::new(open.start, open.end + line)),
            data.remove(Span::new(start - last_line, trimmed.len())),
        ];
        Fix::safe("remove the tags", changes)
    })
}

/// AMI family that every selector term names in its alias, name or SSM parameter.
fn image(object: Object<'_>) -> Option<Image> {
    let terms = Ec2NodeClass::of(object)?.terms(SelectorField::Amis);
    let of = |term: SelectorTerm<'_>| {
        let fields = [TermField::Alias, TermField::Name, TermField::SsmParameter];
        let text = fields.into_iter().find_map(|field| term.text(field))?;
        if text.contains("al2023") || text.contains("amazon-linux-2023") {
            Some(Image::Al2023)
        } else if text.starts_with("al2@") || text.contains("/amazon-linux-2/") {
            Some(Image::Al2)
        } else {
            None
        }
    };
    let first = of(terms.items().next()?)?;
    terms.items().all(|term| of(term) == Some(first)).then_some(first)
}

fn custom<'d>(data: UserData<'d>, object: Object<'d>, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    let image = image(object)?;
    let found = data.registration(context);
    match image {
        Image::Al2023 => {
            let span = eks_calls(data, found, context).into_iter().next()?;
            let message = "the selected images are AL2023, which has no working bootstrap.sh";
            let help =
                "write a NodeConfig, or use `amiFamily: AL2023`, with which Karpenter joins the node itself";
            Some(finding(data, span, message, help).severity(Severity::Warning))
        }
        Image::Al2 => {
            let config = |join: &Join| if let Join::NodeConfig(span) = join { Some(*span) } else { None };
            let span = found.joins.iter().find_map(config)?;
            let message = "the selected images are AL2, where no program reads a NodeConfig";
            Some(finding(data, span, message, "call `/etc/eks/bootstrap.sh`").severity(Severity::Warning))
        }
        _ => None,
    }
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

    const CALL: &str = "#!/bin/bash\n/etc/eks/bootstrap.sh demo --kubelet-extra-args '--max-pods=20'\n";

    #[test]
    fn reports_cloud_config_on_al2023() {
        insta::assert_snapshot!(findings(&super::RULE, &class("AL2023", "#cloud-config\npackages: [jq]\n")), @"
          7 |     #cloud-config
            |     ^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          Karpenter treats cloud-config on AL2023 as a NodeConfig that nodeadm cannot read, so the node never joins
          help: put it into a MIME archive, as a part of type `text/cloud-config`
        ");
    }

    #[test]
    fn reports_calls_of_bootstrap_sh_on_al2023_and_al2() {
        insta::assert_snapshot!(findings(&super::RULE, &class("AL2023", CALL)), @"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args '--max-pods=20'
            |     ^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          AL2023 has no working bootstrap.sh: the script at this path prints an error and fails
          help: remove the call, because Karpenter joins the node itself; write labels and taints in the NodePool and limits in `spec.kubelet`
        ");
        insta::assert_snapshot!(findings(&super::RULE, &class("AL2", CALL)), @"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args '--max-pods=20'
            |     ^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          Karpenter calls bootstrap.sh on AL2 nodes itself after this call and overwrites its settings
          help: remove the call and write labels and taints in the NodePool and limits in `spec.kubelet`; with `amiFamily: Custom` instead, let the call register the taint `karpenter.sh/unregistered:NoExecute`
        ");
    }

    #[test]
    fn reports_shell_script_on_bottlerocket() {
        insta::assert_snapshot!(findings(&super::RULE, &class("Bottlerocket", "#!/bin/bash\necho hi\n")), @"
          7 |     #!/bin/bash
            |     ^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          this is a shell script, but Bottlerocket accepts only TOML, so Karpenter launches no node
          help: write settings such as `[settings.kernel.sysctl]`; Bottlerocket runs no scripts from user data
        ");
    }

    #[test]
    fn reports_and_removes_powershell_tags() {
        let text = class("Windows2022", "<powershell>\nWrite-Host x\n</powershell>\n");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          7 |     <powershell>
            |     ^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          Karpenter puts `<powershell>` tags around the user data of Windows nodes, and a script inside nested tags does not run
          help: write the script without tags
          fix: remove the tags: "", ""
        "#);
        silent(&super::RULE, &fixed(&super::RULE, &text));
        assert!(fixed(&super::RULE, &text).contains("  userData: |\n    Write-Host x\n"));
        let persistent =
            class("Windows2022", "<powershell>\nWrite-Host x\n</powershell>\n<persist>true</persist>\n");
        assert_eq!(fixed(&super::RULE, &persistent), persistent);
    }

    #[test]
    fn checks_formats_of_each_family() {
        let config = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n";
        let archive = r#"MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="B"

--B
Content-Type: application/node.eks.aws

kind: NodeConfig
--B--
"#;
        let toml = "[settings.kubernetes]\nmax-pods = 1\n";
        let tagged = "<powershell>\nx\n</powershell>\n";
        let script = "#!/bin/bash\necho hi\n";
        for (family, text, expected) in [
            ("AL2", config, &["error"][..]),
            ("AL2", archive, &["warning"]),
            ("AL2", "#cloud-config\nx: y\n", &["warning"]),
            ("AL2", toml, &["error"]),
            ("AL2", script, &[]),
            ("AL2023", config, &[]),
            ("AL2023", archive, &[]),
            ("AL2023", script, &[]),
            ("AL2023", toml, &["error"]),
            ("AL2023", tagged, &["error"]),
            ("AL2023", "foo: bar\n", &["error"]),
            ("AL2023", "#!/bin/bash\n# later\n", &["warning"]),
            ("Bottlerocket", archive, &["error"]),
            ("Bottlerocket", config, &["error"]),
            ("Bottlerocket", toml, &[]),
            ("Bottlerocket", "#!/bin/bash\n# later\n", &[]),
            ("Windows2022", script, &["error"]),
            ("Windows2022", "Write-Host x\n", &[]),
            ("Windows2022", "[CmdletBinding()]\nparam()\n", &[]),
            ("Windows2022", "& $x -EKSClusterName 'a'\n", &["warning"]),
        ] {
            assert_eq!(severities(&class(family, text)), expected, "{family}\n{text}");
        }
    }

    #[test]
    fn checks_custom_only_against_the_selected_image() {
        let al2023 =
            |text: &str| format!("{}  amiSelectorTerms: [{{name: 'hardened-al2023-*'}}]\n", custom(text));
        assert_eq!(severities(&al2023(CALL)), ["warning"]);
        silent(&super::RULE, &al2023("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n"));
        for text in
            [CALL, "#cloud-config\nx: y\n", "<powershell>\nx\n</powershell>\n", "[settings]\n", "foo: bar\n"]
        {
            silent(&super::RULE, &custom(text));
        }
    }

    #[test]
    fn accepts_script_that_tests_for_bootstrap_sh_or_calls_another_one() {
        let asks = "#!/bin/bash\nif [ -x /etc/eks/bootstrap.sh ]; then\n  /etc/eks/bootstrap.sh demo\nfi\n";
        silent(&super::RULE, &class("AL2023", asks));
        silent(&super::RULE, &class("AL2023", "#!/bin/bash\n/opt/agent/bootstrap.sh --token=x\n"));
        silent(&super::RULE, &class("AL2023", "#!/bin/bash\n# /etc/eks/bootstrap.sh demo\necho hi\n"));
    }

    #[test]
    fn reads_the_family_from_the_alias() {
        let text = class("AL2023", "#cloud-config\nx: y\n")
            .replace("amiFamily: AL2023", "amiSelectorTerms: [{alias: al2023@latest}]");
        assert_eq!(severities(&text), ["error"]);
    }

    #[test]
    fn names_the_format() {
        let mime = r#"MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="B"

--B
Content-Type: text/x-shellscript

#!/bin/sh
--B--
"#;
        let config = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n";
        for (family, text, expected) in [
            ("Windows2022", mime, "this is a MIME archive, but"),
            ("Windows2022", "#!/bin/bash\necho hi\n", "this is a shell script, but"),
            ("Windows2022", "#cloud-config\npackages: [jq]\n", "this is cloud-config, but"),
            ("Windows2022", "#include\nhttps://example.net/a\n", "this is cloud-init data, but"),
            ("Windows2022", config, "this is a NodeConfig, but"),
            ("AL2023", "<powershell>\nGet-Date\n</powershell>\n", "this is a Windows script, but"),
            ("AL2023", "[settings.kernel]\nlockdown = \"none\"\n", "this is TOML, but"),
        ] {
            assert!(findings(&super::RULE, &class(family, text)).contains(expected), "{family} {text}");
        }
    }

    #[test]
    fn powershell_may_start_with_its_interpreter() {
        for shell in ["#!/usr/bin/env pwsh", "#!powershell"] {
            silent(&super::RULE, &class("Windows2022", &format!("{shell}\nGet-Date\n")));
        }
    }

    #[test]
    fn removes_tags_only_around_the_whole_script() {
        let fixable = class("Windows2022", "<powershell>\nGet-Date\n</powershell>\n");
        assert_ne!(fixed(&super::RULE, &fixable), fixable);
        let quoted = |text: &str| {
            format!(
                r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
spec:
  amiFamily: Windows2022
  userData: {text:?}
"
            )
        };
        for (text, expected) in
            [("<powershell>Get-Date</powershell>\n", "Get-Date\n"), ("<powershell>\n</powershell>\n", "\n")]
        {
            assert_eq!(fixed(&super::RULE, &quoted(text)), quoted(expected));
        }
        for text in [
            "<powershell>\nGet-Date\n</powershell>\n<persist>true</persist>\n",
            "<powershell>\nGet-Date\n</powershell>\n<powershell>\nGet-Item a\n</powershell>\n",
            "<script>\ndir\n</powershell>\n",
            "<powershell>\nGet-Date\n",
        ] {
            let text = class("Windows2022", text);
            assert!(!findings(&super::RULE, &text).is_empty(), "{text}");
            assert_eq!(fixed(&super::RULE, &text), text);
        }
    }

    #[test]
    fn only_a_test_for_the_script_excuses_its_call() {
        let call = |test: &str| {
            let text = format!("#!/bin/bash\nif [ -f {test} ]; then /etc/eks/bootstrap.sh demo; fi\n");
            severities(&class("AL2023", &text))
        };
        assert_eq!(call("/etc/eks/bootstrap.sh"), [""; 0]);
        assert_eq!(call("/etc/flag"), ["error"]);
    }

    #[test]
    fn reports_comments_in_place_of_a_script_on_al2023() {
        for text in ["#!/bin/bash\n", "#!/bin/bash -e\n", "#!/bin/bash\n# Nothing to do here yet\n"] {
            assert_eq!(severities(&class("AL2023", text)), ["warning"], "{text}");
        }
        for text in ["#!/bin/bash yum install\n", "echo hi\n"] {
            silent(&super::RULE, &class("AL2023", text));
        }
    }

    #[test]
    fn reads_the_family_of_custom_images() {
        let with = |terms: &str, text: &str| {
            custom(text).replace("  userData", &format!("  amiSelectorTerms: [{terms}]\n  userData"))
        };
        let config = r"apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec: {cluster: {name: a}}
";
        let al2 = "{ssmParameter: /aws/service/eks/optimized-ami/1.30/amazon-linux-2/recommended/image_id}";
        assert!(findings(&super::RULE, &with(al2, config)).contains("the selected images are AL2, where"));
        silent(&super::RULE, &with("{name: mine}", config));
        for al2023 in
            ["{name: amazon-linux-2023-a}", "{name: my-al2023}", "{name: my-al2023}, {name: other-al2023}"]
        {
            assert!(
                findings(&super::RULE, &with(al2023, CALL)).contains("the selected images are AL2023"),
                "{al2023}"
            );
        }
        silent(&super::RULE, &with("{name: my-al2023}, {name: mine}", CALL));
    }
}
