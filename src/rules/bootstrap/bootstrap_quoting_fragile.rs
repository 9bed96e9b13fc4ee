use super::user_data::{UserData, calls};
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::source::Span;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use userdata::image_family::ImageFamily as Image;
use userdata::shell::{Script, ShellProblemKind};

rule! {
    /// ## What it does
    ///
    /// Finds quotes around the kubelet's arguments that do not group the words as they seem to: single quotes inside
    /// single quotes, single quotes that reach the systemd unit, words that belong to no flag, and quotes that are
    /// never closed. It also reports whitespace after a backslash at the end of a line, which ends the command there.
    ///
    /// ## Why it is bad
    ///
    /// In `'--node-labels='a=b' --v=2'` the inner quotes end and reopen the outer quotes. This works only while the
    /// text between them contains no space and no dollar sign. The next label with a space splits the argument into
    /// two words, and bootstrap.sh ignores the second.
    ///
    /// bootstrap.sh writes the value to `Environment='KUBELET_EXTRA_ARGS=…'` of a systemd unit. A single quote in the
    /// value ends that string early.
    ///
    /// *Double* quotes inside single quotes are harmless. Karpenter's own user data contains them.
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
    ///     /etc/eks/bootstrap.sh meadow --kubelet-extra-args '--register-with-taints='karpenter.sh/unregistered:NoExecute' --v=2'
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
    ///     /etc/eks/bootstrap.sh meadow --kubelet-extra-args '--register-with-taints="karpenter.sh/unregistered:NoExecute" --v=2'
    /// ```
    ///
    /// ## References
    ///
    /// - awslabs/amazon-eks-ami templates/al2/runtime/bootstrap.sh at v20260304
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "quotes around the kubelet's arguments do not group the words as they seem to",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(data) = UserData::of(object) else { return };
    if !matches!(data.family, Image::Custom | Image::Al2 | Image::Al2023) {
        return;
    }
    for shell in data.scripts(context) {
        script(data, shell, findings);
    }
}

fn script<'d>(data: UserData<'d>, shell: &Script, findings: &mut Vec<Finding<'d>>) {
    let mut finding = |span: Span, message: String, help: &str| {
        findings.push(data.finding(&RULE, span, message).help(help));
    };
    let mut call_spans = Vec::new();
    for (command, call) in calls(shell) {
        call_spans.push(command.span);
        let Some(args) = call.kubelet_extra_args().filter(|_| data.is_eks(&call)) else { continue };
        if let Some(span) = nested(args.span, data.text) {
            finding(
                span,
                "single quotes inside single quotes end and reopen the outer quotes, so this text is not quoted".to_owned(),
                "use double quotes inside the single quotes",
            );
        } else if let Some(span) = call.breaks_drop_in() {
            finding(
                span,
                "bootstrap.sh writes the kubelet's arguments in single quotes to a systemd unit; this single quote ends them early".to_owned(),
                "use double quotes inside the value",
            );
        }
        let flags = call.kubelet_flags();
        if let Some(word) = flags.stray.iter().find(|word| !word.is_dynamic()).filter(|_| !flags.dynamic) {
            finding(
                word.span,
                format!("`{}` belongs to no flag, so the kubelet does not start", word.value),
                "write flags as `--name=value`, with double quotes around a value that contains spaces",
            );
        }
    }
    for problem in &shell.problems {
        let in_call = call_spans.iter().any(|span| (span.start..=span.end).contains(&problem.span.start));
        match problem.kind {
            ShellProblemKind::UnterminatedQuote => finding(
                problem.span,
                "this quote is never closed, so the script stops here with a syntax error".to_owned(),
                "close the quote",
            ),
            // In a call of bootstrap.sh, `bootstrap-argument-ignored` reports this.
            ShellProblemKind::BrokenContinuation if !in_call => finding(
                problem.span,
                "whitespace after the backslash ends the command here, and the shell runs the next line as a separate command".to_owned(),
                "end the line with the backslash",
            ),
            _ => {}
        }
    }
}

/// Span of the unquoted text between two single-quoted parts of one word: `'…'here'…'`.
///
/// `'\''` and `'"$X"'` are common ways to insert a quote and a variable, so they are not reported.
fn nested(word: Span, text: &str) -> Option<Span> {
    let mut quote: Option<char> = None;
    let mut bare: Option<usize> = None;
    let mut escaped = false;
    let content = word.text(text);
    for (at, found) in content.char_indices() {
        if core::mem::take(&mut escaped) {
            continue;
        }
        match (found, quote) {
            ('\'', Some('\'')) => {
                quote = None;
                bare = Some(at + 1);
            }
            ('\'', None) => {
                if let Some(start) = bare.filter(|start| *start < at && is_plain(content.get(*start..at))) {
                    return Some(Span::new(word.start + start, word.start + at));
                }
                quote = Some('\'');
            }
            ('"', Some('"')) => quote = None,
            ('"', None) => {
                quote = Some('"');
                bare = None;
            }
            ('\\', None | Some('"')) => escaped = true,
            _ => {}
        }
    }
    None
}

fn is_plain(bare: Option<&str>) -> bool {
    bare.is_some_and(|bare| !bare.contains(['\\', '"', '$', '`']))
}

#[cfg(test)]
mod tests {
    use super::super::examples::{custom, script};
    use crate::rules::testing::{findings, silent};

    fn call(args: &str) -> String {
        script(&format!("/etc/eks/bootstrap.sh demo --kubelet-extra-args {args}"))
    }

    #[test]
    fn reports_single_quotes_inside_single_quotes() {
        insta::assert_snapshot!(findings(&super::RULE, &call("'--register-with-taints='karpenter.sh/unregistered:NoExecute' --v=2'")), @"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args '--register-with-taints='karpenter.sh/unregistered:NoExecute' --v=2'
            |                                                                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          single quotes inside single quotes end and reopen the outer quotes, so this text is not quoted
          help: use double quotes inside the single quotes
        ");
    }

    #[test]
    fn distinguishes_nested_quotes_from_quotes_in_the_value() {
        let (nested, in_value) = ("end and reopen the outer quotes", "this single quote ends them early");
        for (args, expected) in [
            // The double quotes end before the single quotes start.
            ("\"--a=$B\"' --c='d' --v=2'", nested),
            ("\"--node-labels='a=b','c=d'\"", in_value),
            ("'--node-labels=a='\\''b'\\'' --v=2'", in_value),
        ] {
            let found = findings(&super::RULE, &call(args));
            assert!(found.contains(expected), "{args}\n{found}");
            assert_eq!(found.matches("warning ").count(), 1, "{args}\n{found}");
        }
    }

    #[test]
    fn reports_single_quote_that_ends_the_systemd_value() {
        insta::assert_snapshot!(findings(&super::RULE, &call("\"--node-labels='a=b' --v=2\"")), @r#"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args "--node-labels='a=b' --v=2"
            |                                                                    ^
        warning EC2NodeClass/a spec.userData [all]
          bootstrap.sh writes the kubelet's arguments in single quotes to a systemd unit; this single quote ends them early
          help: use double quotes inside the value
        "#);
    }

    #[test]
    fn reports_word_that_belongs_to_no_flag() {
        insta::assert_snapshot!(findings(&super::RULE, &call("'--node-labels=a=b c=d'")), @"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args '--node-labels=a=b c=d'
            |                                                                        ^^^
        warning EC2NodeClass/a spec.userData [all]
          `c=d` belongs to no flag, so the kubelet does not start
          help: write flags as `--name=value`, with double quotes around a value that contains spaces
        ");
    }

    #[test]
    fn reports_unclosed_quote_at_its_start() {
        insta::assert_snapshot!(findings(&super::RULE, &call("'--v=2")), @"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args '--v=2
            |                                                     ^
        warning EC2NodeClass/a spec.userData [all]
          this quote is never closed, so the script stops here with a syntax error
          help: close the quote
        ");
    }

    #[test]
    fn reports_whitespace_after_a_backslash_in_other_commands() {
        insta::assert_snapshot!(findings(&super::RULE, &script("yum install -y \\ \n  jq")), @r"
          8 |     yum install -y \ 
            |                    ^
        warning EC2NodeClass/a spec.userData [all]
          whitespace after the backslash ends the command here, and the shell runs the next line as a separate command
          help: end the line with the backslash
        ");
        silent(&super::RULE, &script("/etc/eks/bootstrap.sh demo \\ \n  --use-max-pods false"));
    }

    #[test]
    fn accepts_common_quoting() {
        for args in [
            "'--register-with-taints=\"karpenter.sh/unregistered:NoExecute\" --v=2'",
            "\"--node-labels=a=$B --v=2\"",
            "'--node-labels=a='\"$B\"' --v=2'",
            "'--node-labels=a='$B' --v=2'",
            "'--node-labels=a=b --max-pods 58'",
            "'--node-labels=a=b'' --max-pods 58'",
            "\"--node-labels=a=b $MORE\"",
            "--v=2",
        ] {
            silent(&super::RULE, &call(args));
        }
        silent(&super::RULE, &custom("$EKSBootstrapScriptFile = 'x'\nWrite-Host \"a`\"b\"\n"));
        silent(&super::RULE, &script("echo it\\'s fine; cat <<EOF\nit's data\nEOF\n# it's a comment"));
    }
}
