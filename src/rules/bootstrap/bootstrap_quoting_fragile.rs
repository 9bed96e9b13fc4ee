use super::user_data::{UserData, calls};
use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Severity};
use karpenter::release::Releases;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};
use userdata::Span;
use userdata::kind::Family as Image;
use userdata::shell::{ProblemKind, Script};

rule! {
    /// ## What it does
    ///
    /// Looks for quotes around the kubelet's arguments that do not hold together what they seem to: single quotes within
    /// single quotes, single quotes that reach the systemd unit, words that belong to no flag, and quotes that are never
    /// closed.
    ///
    /// ## Why it is bad
    ///
    /// In `'--node-labels='a=b' --v=2'` the inner quotes end and reopen the outer ones. It works as long as nothing
    /// between them has a blank or a dollar sign; the next label with a blank breaks the line into two words, and
    /// bootstrap.sh drops the second.
    ///
    /// bootstrap.sh writes the value to `Environment='KUBELET_EXTRA_ARGS=…'` of a systemd unit; a single quote in the
    /// value ends that one early.
    ///
    /// *Double* quotes inside single ones are harmless. Karpenter's own user data has them.
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
        name: "bootstrap-quoting-fragile",
        family: Family::Bootstrap,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "quotes around the kubelet's arguments do not hold together what they seem to",
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(data) = UserData::of(object) else { return };
    if !matches!(data.family, Image::Custom | Image::Al2 | Image::Al2023) {
        return;
    }
    for shell in data.scripts() {
        script(data, &shell, drafts);
    }
}

fn script<'d>(data: UserData<'d>, shell: &Script, drafts: &mut Vec<Draft<'d>>) {
    let mut draft = |span: Span, message: String, help: &str| {
        drafts.push(data.draft(&RULE, span, message).help(help));
    };
    let mut joins = Vec::new();
    for (command, call) in calls(shell) {
        joins.push(command.span);
        let Some(args) = call.kubelet_extra_args().filter(|_| data.is_eks(&call)) else { continue };
        if let Some(span) = nested(args.span, data.text) {
            draft(
                span,
                "these single quotes stand within single quotes: they end and reopen the outer ones, and this is not quoted".to_owned(),
                "write double quotes inside the single ones",
            );
        } else if let Some(span) = call.breaks_drop_in() {
            draft(
                span,
                "bootstrap.sh writes the kubelet's arguments between single quotes into a systemd unit; this one ends them".to_owned(),
                "write double quotes inside the value",
            );
        }
        let flags = call.kubelet_flags();
        if let Some(word) = flags.stray.iter().find(|word| !word.is_dynamic()).filter(|_| !flags.dynamic) {
            draft(
                word.span,
                format!("`{}` belongs to no flag, and the kubelet refuses to start with it", word.value),
                "write flags as `--name=value`, a value with blanks between double quotes",
            );
        }
    }
    for problem in &shell.problems {
        let in_call = joins.iter().any(|span| (span.start..=span.end).contains(&problem.span.start));
        match problem.kind {
            ProblemKind::UnterminatedQuote => draft(
                problem.span,
                "this quote is never closed: the script stops here".to_owned(),
                "close the quote",
            ),
            // Within a call of bootstrap.sh this is `bootstrap-argument-ignored`.
            ProblemKind::BrokenContinuation if !in_call => draft(
                problem.span,
                "blanks after the backslash end the command here; the next line runs as a command of its own".to_owned(),
                "end the line with the backslash",
            ),
            _ => {}
        }
    }
}

/// What stands bare between two single-quoted stretches of one word: `'…'here'…'`.
///
/// `'\''` and `'"$X"'` are the usual ways to write a quote and a variable, and are meant.
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
                if let Some(start) = bare.filter(|start| *start < at && plain(content.get(*start..at))) {
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

fn plain(bare: Option<&str>) -> bool {
    bare.is_some_and(|bare| !bare.contains(['\\', '"', '$', '`']))
}

#[cfg(test)]
mod tests {
    use super::super::examples::script;
    use crate::rules::testing::{findings, silent};

    fn call(args: &str) -> String {
        script(&format!("/etc/eks/bootstrap.sh demo --kubelet-extra-args {args}"))
    }

    #[test]
    fn single_quotes_within_single_quotes_cancel() {
        insta::assert_snapshot!(findings(&super::RULE, &call("'--register-with-taints='karpenter.sh/unregistered:NoExecute' --v=2'")), @"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args '--register-with-taints='karpenter.sh/unregistered:NoExecute' --v=2'
            |                                                                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [1.0-1.14]
          these single quotes stand within single quotes: they end and reopen the outer ones, and this is not quoted
          help: write double quotes inside the single ones
        ");
    }

    #[test]
    fn a_single_quote_in_the_value_ends_the_units() {
        insta::assert_snapshot!(findings(&super::RULE, &call("\"--node-labels='a=b' --v=2\"")), @r#"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args "--node-labels='a=b' --v=2"
            |                                                                    ^
        warning EC2NodeClass/a spec.userData [1.0-1.14]
          bootstrap.sh writes the kubelet's arguments between single quotes into a systemd unit; this one ends them
          help: write double quotes inside the value
        "#);
    }

    #[test]
    fn a_word_without_a_flag_stops_the_kubelet() {
        insta::assert_snapshot!(findings(&super::RULE, &call("'--node-labels=a=b c=d'")), @"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args '--node-labels=a=b c=d'
            |                                                                        ^^^
        warning EC2NodeClass/a spec.userData [1.0-1.14]
          `c=d` belongs to no flag, and the kubelet refuses to start with it
          help: write flags as `--name=value`, a value with blanks between double quotes
        ");
    }

    #[test]
    fn a_quote_that_is_never_closed_is_found_at_its_start() {
        insta::assert_snapshot!(findings(&super::RULE, &call("'--v=2")), @"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args '--v=2
            |                                                     ^
        warning EC2NodeClass/a spec.userData [1.0-1.14]
          this quote is never closed: the script stops here
          help: close the quote
        ");
    }

    #[test]
    fn blanks_after_a_backslash_are_found_in_other_commands_too() {
        insta::assert_snapshot!(findings(&super::RULE, &script("yum install -y \\ \n  jq")), @r"
          8 |     yum install -y \ 
            |                    ^
        warning EC2NodeClass/a spec.userData [1.0-1.14]
          blanks after the backslash end the command here; the next line runs as a command of its own
          help: end the line with the backslash
        ");
        silent(&super::RULE, &script("/etc/eks/bootstrap.sh demo \\ \n  --use-max-pods false"));
    }

    #[test]
    fn usual_quoting_is_left_alone() {
        for args in [
            "'--register-with-taints=\"karpenter.sh/unregistered:NoExecute\" --v=2'",
            "\"--node-labels=a=$B --v=2\"",
            "'--node-labels=a='\"$B\"' --v=2'",
            "'--node-labels=a='$B' --v=2'",
            "'--node-labels=a=b --max-pods 58'",
            "\"--node-labels=a=b $MORE\"",
            "--v=2",
        ] {
            silent(&super::RULE, &call(args));
        }
        silent(&super::RULE, &script("echo it\\'s fine; cat <<EOF\nit's data\nEOF\n# it's a comment"));
    }
}
