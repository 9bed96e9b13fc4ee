use super::user_data::{UserData, calls};
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::edit::Change;
use manifest::source::Span;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::fix::Fix;
use rule::{Fixes, On, Runs};
use userdata::bootstrap::{Bootstrap, BootstrapOption, IgnoredWord, OPTIONS};
use userdata::image_family::ImageFamily as Image;
use userdata::shell::{ShellProblem, ShellProblemKind};
use userdata::word::SourceWord;

rule! {
    /// ## What it does
    ///
    /// Finds arguments of `/etc/eks/bootstrap.sh` in the user data that the script ignores.
    ///
    /// ## Why it is bad
    ///
    /// The script compares each word with the names of its options and takes the *next* word as the value. It does
    /// not recognise `--kubelet-extra-args='…'` as an option: it sets the word aside with all other unknown words and
    /// prints no error. The labels, taints and limits in it never reach the kubelet. The first unknown word becomes
    /// the cluster name, so `bootstrap.sh --kubelet-extra-args='…' meadow` tries to join a cluster called
    /// `--kubelet-extra-args=…`.
    ///
    /// The same happens to arguments without quotes: with `--kubelet-extra-args --node-labels=a=b --max-pods=20` the
    /// kubelet gets only the first word. If an option is given twice, only the last one counts. Spaces after the
    /// backslash at the end of a line end the command there.
    ///
    /// The rule finds calls in scripts, also through a variable that contains the path, and in the commands of a
    /// cloud-config.
    ///
    /// The equals sign is the problem, not the quotes. Double quotes inside the value are harmless, and *inside* the
    /// value `--register-with-taints=…` and `--register-with-taints …` mean the same. Karpenter's own example of a
    /// custom AMI has this mistake.
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
    ///     /etc/eks/bootstrap.sh meadow --kubelet-extra-args='--register-with-taints=karpenter.sh/unregistered:NoExecute'
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
    ///     /etc/eks/bootstrap.sh meadow --kubelet-extra-args '--register-with-taints=karpenter.sh/unregistered:NoExecute'
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe: the fix replaces the equals sign with a space, puts quotes around the words that belong together, and
    /// removes spaces after a backslash. If the option occurs a second time in the call, or the value comes from a
    /// variable without quotes, the fix is unsafe and only offered.
    ///
    /// ## References
    ///
    /// - awslabs/amazon-eks-ami templates/al2/runtime/bootstrap.sh at v20260304
    /// - aws/karpenter-provider-aws#1520, pkg/providers/amifamily/bootstrap/eksbootstrap.go: "parameters should not be
    ///   passed to it with an equal sign"; examples/v1/custom-family.yaml
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "bootstrap.sh silently ignores an argument, such as `--kubelet-extra-args=…`",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(data) = UserData::of(object).filter(|data| data.text.contains("bootstrap.sh")) else { return };
    // Other families have no bootstrap.sh; `userdata-family-mismatch` reports such calls.
    if !matches!(data.family, Image::Custom | Image::Al2) {
        return;
    }
    let cloud_commands = data.cloud_commands(context);
    let scripts = data.scripts(context).iter().map(|script| (&**script, false));
    let of_cloud = cloud_commands.iter().map(|command| (&command.script, command.is_list));
    for (shell, is_list) in scripts.chain(of_cloud) {
        for (command, call) in calls(shell) {
            if !data.is_eks(&call) {
                continue;
            }
            let within = |problem: &&ShellProblem| {
                problem.kind == ShellProblemKind::BrokenContinuation
                    && (command.span.start..=command.span.end).contains(&problem.span.start)
            };
            let broken = shell.problems.iter().find(within);
            Call { data, parsed: &call, is_list, broken }.check(findings);
        }
    }
}

struct Call<'c, 'd> {
    data: UserData<'d>,
    parsed: &'c Bootstrap,
    /// Whether the words are items of a YAML list.
    is_list: bool,
    broken: Option<&'c ShellProblem>,
}

impl<'d> Call<'_, 'd> {
    fn check(&self, findings: &mut Vec<Finding<'d>>) {
        let mut end_of_last: Option<usize> = None;
        for ignored in self.words_to_report() {
            let word = &ignored.word;
            // Words after an ignored word belong to it: one finding for `-kubelet-extra-args '…'` or a run of words.
            let follows = end_of_last.is_some_and(|end| self.is_between(end, word.span.start));
            let misspelt = ignored.resembles.is_some();
            if !follows || misspelt {
                findings.push(self.ignored(&ignored));
            }
            end_of_last = Some(word.span.end);
        }
        for option in &self.parsed.options {
            if is_option(&option.value) {
                findings.push(self.swallowed(option));
            }
        }
        for (option, last) in self.parsed.replaced() {
            if option.value.value != last.value.value {
                findings.push(self.replaced(option, last));
            }
        }
        if let Some(option) = &self.parsed.without_value {
            findings.push(self.without_value(option));
        }
        if let Some(problem) = self.broken {
            findings.push(self.broken(problem));
        }
    }

    /// Ignored words to report, without words that may expand to anything and without the space that a broken line
    /// continuation leaves behind.
    fn words_to_report(&self) -> Vec<IgnoredWord> {
        let call = self.parsed;
        let mut words = Vec::new();
        // A flag that resembles no option can become the cluster name: `--max-pods=20 meadow`.
        if let Some(name) = call.cluster_name.as_ref().filter(|name| name.value.starts_with('-')) {
            let listed = call.ignored.iter().any(|ignored| ignored.word.span == name.span);
            if !listed {
                words.push(IgnoredWord { word: name.clone(), resembles: None, as_cluster_name: true });
            }
        }
        let mut flag_is_name = call.cluster_name.as_ref().is_some_and(|name| name.value.starts_with('-'));
        for ignored in &call.ignored {
            let word = &ignored.word;
            if word.value.trim().is_empty()
                || (ignored.resembles.is_none() && (call.dynamic || word.is_dynamic()))
            {
                continue;
            }
            // After an option that another option takes as its value, this word is the intended value.
            let swallowed = |option: &BootstrapOption| {
                is_option(&option.value) && self.is_between(option.value.span.end, word.span.start)
            };
            if !word.value.starts_with('-') && call.options.iter().any(swallowed) {
                continue;
            }
            // After a flag that became the cluster name, the first plain word is the intended name.
            let is_name = !word.value.starts_with('-') && core::mem::take(&mut flag_is_name);
            if !is_name {
                words.push(ignored.clone());
            }
        }
        words
    }

    /// Whether only whitespace and line continuations, or in a list only item separators, are between two offsets.
    fn is_between(&self, start: usize, end: usize) -> bool {
        let text = Span::new(start, end).text(self.data.text);
        let joins: &[char] = if self.is_list { &[',', '-'] } else { &['\\'] };
        text.chars().all(|found| found.is_whitespace() || joins.contains(&found))
    }

    fn ignored(&self, ignored: &IgnoredWord) -> Finding<'d> {
        let word = &ignored.word;
        let shown = shown(word);
        let fate = match (ignored.as_cluster_name, ignored.resembles) {
            (true, _) => "uses it as the cluster name",
            (false, Some("--kubelet-extra-args")) => "ignores it, so the kubelet never gets these arguments",
            (false, _) => "ignores it",
        };
        let finding = |message: String| self.data.finding(&RULE, word.span, message);
        if let Some(option) = ignored.resembles {
            let finding = if word.value.contains('=') {
                let reason = "reads the value of an option only from the next word";
                let how = if self.is_list { "as two items of the list" } else { "separated by a space" };
                finding(format!("bootstrap.sh {reason}; it does not recognise `{shown}` and {fate}"))
                    .help(format!("write `{option}` and its value {how} instead of `=`"))
            } else {
                finding(format!("bootstrap.sh does not recognise `{shown}` and {fate}"))
                    .help(format!("write `{option}`"))
            };
            return match self.respelled(ignored, option) {
                Some(fix) => finding.fix(fix),
                None => finding,
            };
        }
        if let Some(args) = self.unquoted_args_before(word) {
            let message = format!(
                "the value of `--kubelet-extra-args` is only `{}`; the next word is `{shown}`, and bootstrap.sh {fate}",
                args.value.value
            );
            let fix = self.quoted(args);
            let finding =
                finding(message).help("put quotes around all kubelet arguments").severity(Severity::Warning);
            return if let Some(fix) = fix { finding.fix(fix) } else { finding };
        }
        let message = if word.value.starts_with('-') {
            format!("bootstrap.sh has no option `{shown}` and {fate}")
        } else {
            format!(
                "bootstrap.sh ignores `{shown}`: it accepts only options and one other word, the cluster name"
            )
        };
        let where_to = if self.is_list { "the item" } else { "the quotes" };
        finding(message)
            .help(format!(
                "write kubelet arguments in {where_to} after `--kubelet-extra-args`, and remove anything else"
            ))
            .severity(if ignored.as_cluster_name { Severity::Error } else { Severity::Warning })
    }

    /// Fix that replaces the equals sign with a space and corrects the option's name.
    /// `None` in a list, because a space does not make two items there.
    fn respelled(&self, ignored: &IgnoredWord, option: &str) -> Option<Fix<'d>> {
        if self.is_list {
            return None;
        }
        let word = &ignored.word;
        let equals = word.value.find('=');
        let end = equals.map_or(word.value.len(), |at| at + 1);
        let name = word.value.get(..end).filter(|name| !name.contains([' ', '\t']))?;
        let raw = Span::new(word.span.start, word.span_of(&(0..end)).end);
        let written = raw.text(self.data.text);
        let quote = written.strip_suffix(name)?;
        if !matches!(quote, "" | "'" | "\"") {
            return None;
        }
        let text = if equals.is_some() { format!("{option} {quote}") } else { format!("{quote}{option}") };
        let twice = self.parsed.option(option).is_some()
            || self.parsed.ignored.iter().filter(|other| other.resembles == Some(option)).count() > 1;
        let splits = equals.is_some() && word.is_dynamic() && !word.quoted;
        let changes = vec![self.data.replace(raw, text)];
        let title = "write the option as bootstrap.sh expects it";
        Some(if twice || splits { Fix::for_review(title, changes) } else { Fix::safe(title, changes) })
    }

    /// `--kubelet-extra-args`, if it has an unquoted value that ends right before this word.
    fn unquoted_args_before(&self, word: &SourceWord) -> Option<&BootstrapOption> {
        let args = self.parsed.option("--kubelet-extra-args")?;
        let follows = self.is_between(args.value.span.end, word.span.start);
        (follows && !args.value.quoted && args.value.value.starts_with('-') && word.value.starts_with('-'))
            .then_some(args)
    }

    /// Fix that puts quotes around the option's value and the flags that follow it.
    fn quoted(&self, args: &BootstrapOption) -> Option<Fix<'d>> {
        let mut last = &args.value;
        for ignored in &self.parsed.ignored {
            let word = &ignored.word;
            if self.is_between(last.span.end, word.span.start) && ignored.resembles.is_none() {
                last = word;
            }
        }
        let run = args.value.span.to(last.span).text(self.data.text);
        // Single quotes would change the meaning of these characters, so the author has to quote them.
        if run.contains(['\'', '"', '$', '`', '\\', '\n']) || last.span == args.value.span {
            return None;
        }
        let edge = |word: &SourceWord, text: String| -> Change<'d> { self.data.replace(word.span, text) };
        let changes =
            vec![edge(&args.value, format!("'{}", args.value.value)), edge(last, format!("{}'", last.value))];
        Some(Fix::safe("put quotes around the kubelet arguments", changes))
    }

    fn swallowed(&self, option: &BootstrapOption) -> Finding<'d> {
        let (name, value) = (option.name, &option.value.value);
        let message = format!("bootstrap.sh takes `{value}` as the value of `{name}`, not as an option");
        self.data
            .finding(&RULE, option.value.span, message)
            .help(format!("write the value directly after `{name}`, or remove `{name}`"))
    }

    fn replaced(&self, option: &BootstrapOption, last: &BootstrapOption) -> Finding<'d> {
        let message = format!("bootstrap.sh uses only the last `{}` and ignores this one", option.name);
        self.data
            .finding(&RULE, option.span, message)
            .help("write the option once, with everything in its value")
            .related(self.data.place(last.span), "bootstrap.sh uses this one")
            .severity(Severity::Warning)
    }

    fn without_value(&self, option: &SourceWord) -> Finding<'d> {
        let message = format!(
            "`{}` is the last word and has no value, so bootstrap.sh stops with an error",
            option.value
        );
        self.data.finding(&RULE, option.span, message).help("write the value after it, or remove the option")
    }

    fn broken(&self, problem: &ShellProblem) -> Finding<'d> {
        let message = "whitespace after the backslash ends the command here, and the shell runs the next line as a separate command";
        let fix = Fix::safe_one("remove the whitespace", self.data.replace(problem.span, "\\"));
        self.data.finding(&RULE, problem.span, message).help("end the line with the backslash").fix(fix)
    }
}

fn is_option(word: &SourceWord) -> bool {
    OPTIONS.contains(&word.value.as_str())
}

/// The word, or only the option at its start if the word is long.
fn shown(word: &SourceWord) -> &str {
    if word.value.len() <= 60 {
        return &word.value;
    }
    word.value.find('=').and_then(|at| word.value.get(..=at)).unwrap_or(&word.value)
}

#[cfg(test)]
mod tests {
    use super::super::examples::{class, script};
    use crate::rules::testing::{findings, fixed, report, silent};
    use rule::settings::Settings;

    #[test]
    fn finds_calls_in_cloud_config_and_through_a_variable() {
        let class = |text: &str| {
            format!(
                r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  amiFamily: Custom
  userData: |
    {}
",
                text.replace('\n', "\n    ")
            )
        };
        let cloud = class(
            "#cloud-config\npackages: [jq]\nruncmd:\n  - sysctl -w vm.max_map_count=262144\n  - /etc/eks/bootstrap.sh meadow --kubelet-extra-args='--max-pods=20'\n  - [/etc/eks/bootstrap.sh, meadow]",
        );
        insta::assert_snapshot!(findings(&super::RULE, &cloud), @r#"
         11 |       - /etc/eks/bootstrap.sh meadow --kubelet-extra-args='--max-pods=20'
            |                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          bootstrap.sh reads the value of an option only from the next word; it does not recognise `--kubelet-extra-args=--max-pods=20` and ignores it, so the kubelet never gets these arguments
          help: write `--kubelet-extra-args` and its value separated by a space instead of `=`
          fix: write the option as bootstrap.sh expects it: "--kubelet-extra-args "
        "#);
        assert!(fixed(&super::RULE, &cloud).contains("meadow --kubelet-extra-args '--max-pods=20'\n"));
        let listed = class(
            "#cloud-config\nruncmd:\n  - [sudo, /etc/eks/bootstrap.sh, meadow, --kubelet-extra-args=--max-pods=20]\n  - - /etc/eks/bootstrap.sh\n    - --kubelet-extra-args\n    - \"--v=2\"\n    - --max-pods=20\n    - meadow\n    - --ip-family\n  - \"/etc/eks/bootstrap.sh meadow --kubelet-extra-args='--max-pods=20'\"",
        );
        insta::assert_snapshot!(findings(&super::RULE, &listed), @r#"
          9 |       - [sudo, /etc/eks/bootstrap.sh, meadow, --kubelet-extra-args=--max-pods=20]
            |                                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          bootstrap.sh reads the value of an option only from the next word; it does not recognise `--kubelet-extra-args=--max-pods=20` and ignores it, so the kubelet never gets these arguments
          help: write `--kubelet-extra-args` and its value as two items of the list instead of `=`
         13 |         - --max-pods=20
            |           ^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          bootstrap.sh has no option `--max-pods=20` and uses it as the cluster name
          help: write kubelet arguments in the item after `--kubelet-extra-args`, and remove anything else
         15 |         - --ip-family
            |           ^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          `--ip-family` is the last word and has no value, so bootstrap.sh stops with an error
          help: write the value after it, or remove the option
         16 |       - "/etc/eks/bootstrap.sh meadow --kubelet-extra-args='--max-pods=20'"
            |                                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          bootstrap.sh reads the value of an option only from the next word; it does not recognise `--kubelet-extra-args=--max-pods=20` and ignores it, so the kubelet never gets these arguments
          help: write `--kubelet-extra-args` and its value separated by a space instead of `=`
          fix: write the option as bootstrap.sh expects it: "--kubelet-extra-args "
        "#);
        // The fix cannot split a list item in two.
        assert!(fixed(&super::RULE, &listed).contains("meadow, --kubelet-extra-args=--max-pods=20]"));
        assert!(
            fixed(&super::RULE, &listed)
                .contains("- \"/etc/eks/bootstrap.sh meadow --kubelet-extra-args '--max-pods=20'\"\n")
        );
        for valid in [
            "[/etc/eks/bootstrap.sh, meadow, --use-max-pods, false, --kubelet-extra-args, '--v=2 --max-pods=20']",
            "[/etc/eks/bootstrap.sh, meadow, --use-max-pods, false, --kubelet-extra-args, --v=2 --max-pods=20]",
            "[sh, -c, /etc/eks/bootstrap.sh meadow --kubelet-extra-args=--v=2]",
            "[echo, /etc/eks/bootstrap.sh, --kubelet-extra-args=--v=2]",
            "[/etc/eks/bootstrap.sh, meadow, [--kubelet-extra-args=--v=2]]",
            "[]",
            "{a: b}",
        ] {
            silent(&super::RULE, &class(&format!("#cloud-config\nruncmd:\n  - {valid}")));
        }
        let variable =
            class("#!/bin/bash\nB=/etc/eks/bootstrap.sh\n\"$B\" meadow --kubelet-extra-args='--max-pods=20'");
        assert!(findings(&super::RULE, &variable).contains("--kubelet-extra-args"));
        for other in [
            "B=/opt/join.sh",
            "B=/etc/eks/bootstrap.sh\nB=/opt/join.sh",
            "C=/etc/eks/bootstrap.sh # bootstrap.sh",
        ] {
            silent(
                &super::RULE,
                &class(&format!("#!/bin/bash\n{other}\n$B meadow --kubelet-extra-args='--max-pods=20'")),
            );
        }
    }

    fn call(arguments: &str) -> String {
        script(&format!("/etc/eks/bootstrap.sh {arguments}"))
    }

    #[test]
    fn reports_option_joined_to_its_value_with_an_equals_sign() {
        insta::assert_snapshot!(findings(&super::RULE, &call("demo --kubelet-extra-args='--max-pods=58'")), @r#"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args='--max-pods=58'
            |                                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          bootstrap.sh reads the value of an option only from the next word; it does not recognise `--kubelet-extra-args=--max-pods=58` and ignores it, so the kubelet never gets these arguments
          help: write `--kubelet-extra-args` and its value separated by a space instead of `=`
          fix: write the option as bootstrap.sh expects it: "--kubelet-extra-args "
        "#);
    }

    #[test]
    fn reports_option_that_becomes_the_cluster_name() {
        insta::assert_snapshot!(findings(&super::RULE, &call("--kubelet-extra-args='--max-pods=58' demo")), @r#"
          8 |     /etc/eks/bootstrap.sh --kubelet-extra-args='--max-pods=58' demo
            |                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          bootstrap.sh reads the value of an option only from the next word; it does not recognise `--kubelet-extra-args=--max-pods=58` and uses it as the cluster name
          help: write `--kubelet-extra-args` and its value separated by a space instead of `=`
          fix: write the option as bootstrap.sh expects it: "--kubelet-extra-args "
        "#);
        insta::assert_snapshot!(findings(&super::RULE, &call("--max-pods=58 demo")), @"
          8 |     /etc/eks/bootstrap.sh --max-pods=58 demo
            |                           ^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          bootstrap.sh has no option `--max-pods=58` and uses it as the cluster name
          help: write kubelet arguments in the quotes after `--kubelet-extra-args`, and remove anything else
        ");
    }

    #[test]
    fn reports_kubelet_arguments_without_quotes() {
        insta::assert_snapshot!(findings(&super::RULE, &call("demo --kubelet-extra-args --node-labels=a=b --max-pods=20 --v=2")), @r#"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args --node-labels=a=b --max-pods=20 --v=2
            |                                                                       ^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          the value of `--kubelet-extra-args` is only `--node-labels=a=b`; the next word is `--max-pods=20`, and bootstrap.sh ignores it
          help: put quotes around all kubelet arguments
          fix: put quotes around the kubelet arguments: "'--node-labels=a=b", "--v=2'"
        "#);
    }

    #[test]
    fn reports_option_without_a_value() {
        insta::assert_snapshot!(findings(&super::RULE, &call("demo --kubelet-extra-args --use-max-pods false --ip-family")), @"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args --use-max-pods false --ip-family
            |                                                     ^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          bootstrap.sh takes `--use-max-pods` as the value of `--kubelet-extra-args`, not as an option
          help: write the value directly after `--kubelet-extra-args`, or remove `--kubelet-extra-args`
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args --use-max-pods false --ip-family
            |                                                                          ^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          `--ip-family` is the last word and has no value, so bootstrap.sh stops with an error
          help: write the value after it, or remove the option
        ");
    }

    #[test]
    fn reports_option_that_a_later_one_replaces() {
        insta::assert_snapshot!(findings(&super::RULE, &call("demo --kubelet-extra-args '--v=2' --kubelet-extra-args '--v=4'")), @"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args '--v=2' --kubelet-extra-args '--v=4'
            |                                ^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          bootstrap.sh uses only the last `--kubelet-extra-args` and ignores this one
          help: write the option once, with everything in its value
          see line 8 spec.userData: bootstrap.sh uses this one
        ");
    }

    #[test]
    fn reports_whitespace_after_a_backslash() {
        let text = call("demo \\ \n  --kubelet-extra-args '--v=2'");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          8 |     /etc/eks/bootstrap.sh demo \ 
            |                                ^
        error EC2NodeClass/a spec.userData [all]
          whitespace after the backslash ends the command here, and the shell runs the next line as a separate command
          help: end the line with the backslash
          fix: remove the whitespace: "\\"
        "#);
        assert_eq!(fixed(&super::RULE, &text), text.replace("\\ \n", "\\\n"));
    }

    #[test]
    fn reports_each_run_of_ignored_words_once() {
        let ignored = |arguments: &str| {
            let found = report(&super::RULE, &call(arguments), &Settings::default()).findings;
            found.into_iter().map(|finding| finding.message).collect::<Vec<_>>()
        };
        let extra =
            "bootstrap.sh ignores `extra`: it accepts only options and one other word, the cluster name";
        assert_eq!(ignored("demo --ip-family ipv6 extra"), [extra]);
        assert_eq!(ignored("demo extra more"), [extra]);
        assert_eq!(ignored("demo extra --ip-family ipv6 extra"), [extra, extra]);
        assert_eq!(
            ignored("demo --kubelet-extra-args --v=2 --ip-family ipv6 --max-pods=20"),
            ["bootstrap.sh has no option `--max-pods=20` and ignores it"]
        );
    }

    #[test]
    fn ignores_broken_lines_of_other_commands() {
        silent(&super::RULE, &script("yum install -y \\ \n  jq\n/etc/eks/bootstrap.sh demo"));
    }

    #[test]
    fn fix_keeps_quotes_names_and_lines() {
        for (wrong, right) in [
            ("demo --kubelet-extra-args='--v=2'", "demo --kubelet-extra-args '--v=2'"),
            ("demo \"--kubelet-extra-args=--v=2 --x\"", "demo --kubelet-extra-args \"--v=2 --x\""),
            ("demo --kubelet-extra-args=\"--v=$V\"", "demo --kubelet-extra-args \"--v=$V\""),
            (
                "demo --use-max-pods=false \\\n      --ip-family=ipv6",
                "demo --use-max-pods false \\\n      --ip-family ipv6",
            ),
            ("demo -kubelet-extra-args '--v=2'", "demo --kubelet-extra-args '--v=2'"),
            ("demo --kubelet_extra_args='--v=2'", "demo --kubelet-extra-args '--v=2'"),
            ("--kubelet-extra-args='--v=2' demo", "--kubelet-extra-args '--v=2' demo"),
            (
                "demo --kubelet-extra-args --v=2 --max-pods=20",
                "demo --kubelet-extra-args '--v=2 --max-pods=20'",
            ),
        ] {
            assert_eq!(fixed(&super::RULE, &call(wrong)), call(right));
            silent(&super::RULE, &call(right));
        }
    }

    #[test]
    fn fix_leaves_words_that_are_no_arguments_of_the_kubelet() {
        for (wrong, right) in [
            (
                "demo --kubelet-extra-args --v=2 --max-pods=20 --ip-family ipv6 --v=4",
                "demo --kubelet-extra-args '--v=2 --max-pods=20' --ip-family ipv6 --v=4",
            ),
            (
                "demo --kubelet-extra-args --v=2 --max-pods=20 -ip-family ipv6",
                "demo --kubelet-extra-args '--v=2 --max-pods=20' --ip-family ipv6",
            ),
        ] {
            assert_eq!(fixed(&super::RULE, &call(wrong)), call(right));
        }
    }

    #[test]
    fn does_not_apply_an_ambiguous_fix() {
        for arguments in [
            "demo --kubelet-extra-args='--v=2' --kubelet-extra-args '--v=4'",
            "demo --kubelet-extra-args='--v=2' --kubelet-extra-args '--v=2'",
            "demo --kubelet-extra-args='--v=2' --kubelet-extra-args='--v=2'",
            "demo --kubelet-extra-args=$ARGS",
            "demo --kubelet-extra-args --v=$V --max-pods=20",
        ] {
            assert_eq!(fixed(&super::RULE, &call(arguments)), call(arguments));
            assert!(!report(&super::RULE, &call(arguments), &Settings::default()).findings.is_empty());
        }
    }

    #[test]
    fn fix_edits_the_right_bytes_in_quoted_yaml_scalars() {
        for text in [
            "  userData: \"#!/bin/bash\\n/etc/eks/bootstrap.sh demo --kubelet-extra-args=\\\"--v=2\\\"\\n\"\n",
            "  userData: '#!/bin/bash\n\n    /etc/eks/bootstrap.sh demo --kubelet-extra-args=\"--v=2\"'\n",
        ] {
            let text = format!(
                r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
spec:
  amiFamily: Custom
{text}"
            );
            assert_eq!(fixed(&super::RULE, &text), text.replace("args=", "args "));
        }
    }

    #[test]
    fn accepts_valid_calls_and_words_that_may_expand_to_options() {
        for arguments in [
            "demo $ARGS",
            "$CLUSTER $ARGS --use-max-pods false",
            "\"${ARGS[@]}\" demo",
            "demo --kubelet-extra-args \"$ARGS\" \"$@\"",
            "\"$CLUSTER_NAME\" --b64-cluster-ca \"$CA\" --apiserver-endpoint \"$URL\" --dns-cluster-ip '10.0.0.10'",
            "demo --kubelet-extra-args '--v=2' || true",
            "demo --kubelet-extra-args '--register-with-taints \"karpenter.sh/unregistered:NoExecute\" --max-pods=58'",
        ] {
            silent(&super::RULE, &call(arguments));
        }
        silent(&super::RULE, &script("/opt/agent/bootstrap.sh --cluster-id=demo"));
        silent(&super::RULE, &script("# /etc/eks/bootstrap.sh demo --kubelet-extra-args='--v=2'"));
        silent(&super::RULE, &script("echo /etc/eks/bootstrap.sh demo --kubelet-extra-args='--v=2'"));
        silent(
            &super::RULE,
            &script("cat > /x <<'EOF'\n/etc/eks/bootstrap.sh demo --kubelet-extra-args='--v=2'\nEOF"),
        );
    }

    #[test]
    fn checks_al2_but_not_al2023() {
        silent(&super::RULE, &class("AL2023", "#!/bin/bash\n/etc/eks/bootstrap.sh demo --ip-family=ipv6\n"));
        let al2 = class("AL2", "#!/bin/bash\n/etc/eks/bootstrap.sh demo --ip-family=ipv6\n");
        assert!(findings(&super::RULE, &al2).contains("--ip-family"));
    }

    #[test]
    fn reads_the_scripts_of_an_archive() {
        let part = |header: &str, body: &str| {
            let text = format!(
                "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n--B\n{header}\n\n{body}\n--B--\n"
            );
            class("Custom", &text)
        };
        let script = "#!/bin/bash\n/etc/eks/bootstrap.sh meadow --max-pods=20";
        for header in [
            "Content-Type: text/x-shellscript",
            "Content-Type: text/cloud-boothook",
            "Content-Type: text/plain",
        ] {
            assert!(findings(&super::RULE, &part(header, script)).contains("--max-pods=20"), "{header}");
        }
        let cloud = "#cloud-config\nruncmd:\n- /etc/eks/bootstrap.sh meadow --max-pods=20";
        assert!(
            findings(&super::RULE, &part("Content-Type: text/cloud-config", cloud)).contains("--max-pods=20")
        );
        for (header, body) in [
            ("Content-Type: text/plain", "/etc/eks/bootstrap.sh meadow --max-pods=20"),
            ("Content-Type: text/jinja2", script),
            ("Content-Type: text/x-shellscript\nContent-Transfer-Encoding: base64", script),
            ("Content-Type: text/cloud-config\nContent-Transfer-Encoding: base64", cloud),
        ] {
            silent(&super::RULE, &part(header, body));
        }
    }

    #[test]
    fn ignores_programs_of_the_same_name() {
        for program in ["$DIR/bootstrap.sh", "bootstrap.sh", "/opt/bootstrap.sh"] {
            silent(&super::RULE, &self::script(&format!("{program} meadow --max-pods=20")));
        }
    }

    #[test]
    fn ignores_commands_that_yaml_changes() {
        let cloud = |command: &str| class("Custom", &format!("#cloud-config\nruncmd:\n- {command}\n"));
        assert!(!findings(&super::RULE, &cloud("\"/etc/eks/bootstrap.sh meadow --max-pods=20\"")).is_empty());
        silent(&super::RULE, &cloud("\"/etc/eks/bootstrap.sh meadow --max-pods=\\\"20\\\"\""));
        silent(&super::RULE, &cloud("/etc/eks/bootstrap.sh meadow\n  --max-pods=20"));
        silent(&super::RULE, &cloud("/etc/eks/bootstrap.sh --max-pods=20\n  meadow"));
    }

    #[test]
    fn reads_scripts_without_shebang_but_no_cloud_config_on_al2() {
        let call = "/etc/eks/bootstrap.sh meadow --max-pods=20";
        assert!(findings(&super::RULE, &class("Custom", call)).contains("--max-pods=20"));
        // Karpenter passes cloud-config to AL2 nodes as a shell script, which `userdata-family-mismatch` reports.
        silent(&super::RULE, &class("AL2", &format!("#cloud-config\nruncmd:\n- {call}\n")));
    }
}
