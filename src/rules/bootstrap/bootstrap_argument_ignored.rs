use super::user_data::{CloudCommand, UserData, calls};
use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Severity};
use lint::fix::Fix;
use manifest::edit::Change;
use karpenter::release::Releases;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};
use userdata::Span;
use userdata::bootstrap::{Bootstrap, BootstrapOption, IgnoredWord, OPTIONS};
use userdata::kind::Family as Image;
use userdata::shell::{Problem, ProblemKind};
use userdata::word::Word;

rule! {
    /// ## What it does
    ///
    /// Checks that `/etc/eks/bootstrap.sh` in the user data makes something of every argument it gets.
    ///
    /// ## Why it is bad
    ///
    /// The script compares each word with the names of its options and takes the *next* word as the value.
    /// `--kubelet-extra-args='…'` is no option to it: it is put aside with all other words that it does not know, and
    /// nothing is said. Labels, taints and limits in it never reach the kubelet. The first such word becomes the name of
    /// the cluster, so that `bootstrap.sh --kubelet-extra-args='…' meadow` joins a cluster called
    /// `--kubelet-extra-args=…`.
    ///
    /// The same happens to arguments without quotes: of `--kubelet-extra-args --node-labels=a=b --max-pods=20` the kubelet
    /// gets the first word alone. Of an option given twice only the last counts, and blanks after the backslash at the end
    /// of a line end the command there.
    ///
    /// The call is found in a script, also by a variable that holds its path, and among the commands of a cloud-config.
    ///
    /// It is the equals sign, not the quotes: double quotes inside the value are harmless, and *inside* it
    /// `--register-with-taints=…` and `--register-with-taints …` are the same. Karpenter's own example of a custom AMI
    /// has this mistake.
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
    /// Safe: a blank takes the place of the equals sign, quotes go around the words that belong together, blanks after a
    /// backslash go. Where the option stands a second time in the call, or the value comes from a variable without quotes, the
    /// edit is only offered.
    ///
    /// ## References
    ///
    /// - awslabs/amazon-eks-ami templates/al2/runtime/bootstrap.sh at v20260304
    /// - aws/karpenter-provider-aws#1520, pkg/providers/amifamily/bootstrap/eksbootstrap.go: "parameters should not be
    ///   passed to it with an equal sign"; examples/v1/custom-family.yaml
    RULE {
        name: "bootstrap-argument-ignored",
        family: Family::Bootstrap,
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "bootstrap.sh drops an argument without a word, such as `--kubelet-extra-args=…`",
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(data) = UserData::of(object).filter(|data| data.text.contains("bootstrap.sh")) else { return };
    // Other families have no such script: see `userdata-family-mismatch`.
    if !matches!(data.family, Image::Custom | Image::Al2) {
        return;
    }
    let scripts = data.scripts().into_iter().map(|script| CloudCommand { script, is_list: false });
    for CloudCommand { script: shell, is_list } in scripts.chain(data.cloud_commands()) {
        for (command, call) in calls(&shell) {
            if !data.is_eks(&call) {
                continue;
            }
            let within = |problem: &&Problem| {
                problem.kind == ProblemKind::BrokenContinuation
                    && (command.span.start..=command.span.end).contains(&problem.span.start)
            };
            let broken = shell.problems.iter().find(within);
            Call { data, read: &call, is_list, broken }.check(drafts);
        }
    }
}

struct Call<'c, 'd> {
    data: UserData<'d>,
    read: &'c Bootstrap,
    /// The words are items of a YAML list.
    is_list: bool,
    broken: Option<&'c Problem>,
}

impl<'d> Call<'_, 'd> {
    fn check(&self, drafts: &mut Vec<Draft<'d>>) {
        let mut end_of_last: Option<usize> = None;
        for ignored in self.words() {
            let word = &ignored.word;
            // What follows an ignored word belongs to it: one finding for `-kubelet-extra-args '…'` and for a run.
            let follows = end_of_last.is_some_and(|end| self.is_between(end, word.span.start));
            let own = ignored.resembles.is_some();
            if !follows || own {
                drafts.push(self.ignored(&ignored));
            }
            end_of_last = Some(word.span.end);
        }
        for option in &self.read.options {
            if is_option(&option.value) {
                drafts.push(self.swallowed(option));
            }
        }
        for (option, last) in self.read.replaced() {
            if option.value.value != last.value.value {
                drafts.push(self.replaced(option, last));
            }
        }
        if let Some(option) = &self.read.without_value {
            drafts.push(self.without_value(option));
        }
        if let Some(problem) = self.broken {
            drafts.push(self.broken(problem));
        }
    }

    /// The words to speak of: not those that may be anything, nor a blank that a broken line leaves behind.
    fn words(&self) -> Vec<IgnoredWord> {
        let call = self.read;
        let mut words = Vec::new();
        // Not an option that resembles one, and yet the name of the cluster: `--max-pods=20 meadow`.
        if let Some(name) = call.cluster_name.as_ref().filter(|name| name.value.starts_with('-')) {
            let listed = call.ignored.iter().any(|ignored| ignored.word.span == name.span);
            if !listed {
                words.push(IgnoredWord { word: name.clone(), resembles: None, as_cluster_name: true });
            }
        }
        let mut took_the_name = call.cluster_name.as_ref().is_some_and(|name| name.value.starts_with('-'));
        for ignored in &call.ignored {
            let word = &ignored.word;
            if word.value.trim().is_empty() || (ignored.resembles.is_none() && (call.dynamic || word.is_dynamic())) {
                continue;
            }
            // Behind an option that another one took for its value, this is the value.
            let swallowed = |option: &BootstrapOption| {
                is_option(&option.value) && self.is_between(option.value.span.end, word.span.start)
            };
            if !word.value.starts_with('-') && call.options.iter().any(swallowed) {
                continue;
            }
            // Behind a flag that became the cluster's name, this is the name.
            let name = !word.value.starts_with('-') && core::mem::take(&mut took_the_name);
            if !name {
                words.push(ignored.clone());
            }
        }
        words
    }

    /// Whether nothing but blanks and joined lines stands between two places, or what parts the items of a list.
    fn is_between(&self, start: usize, end: usize) -> bool {
        let text = Span::new(start, end).text(self.data.text);
        let joins: &[char] = if self.is_list { &[',', '-'] } else { &['\\'] };
        text.chars().all(|found| found.is_whitespace() || joins.contains(&found))
    }

    fn ignored(&self, ignored: &IgnoredWord) -> Draft<'d> {
        let word = &ignored.word;
        let shown = shown(word);
        let fate = match (ignored.as_cluster_name, ignored.resembles) {
            (true, _) => "takes it for the cluster's name",
            (false, Some("--kubelet-extra-args")) => "ignores it; the kubelet never gets these arguments",
            (false, _) => "ignores it",
        };
        let draft = |message: String| self.data.draft(&RULE, word.span, message);
        if let Some(option) = ignored.resembles {
            let draft = if word.value.contains('=') {
                let reason = "takes an option's value from the next word only";
                let how = if self.is_list { "as two items of the list" } else { "with a blank between them" };
                draft(format!("bootstrap.sh {reason}: it knows no `{shown}` and {fate}"))
                    .help(format!("write `{option}` and its value {how} instead of `=`"))
            } else {
                draft(format!("bootstrap.sh knows no `{shown}` and {fate}")).help(format!("write `{option}`"))
            };
            return match self.respelled(ignored, option) {
                Some(fix) => draft.fix(fix),
                None => draft,
            };
        }
        if let Some(args) = self.before(word) {
            let message = format!(
                "only `{}` is the value of `--kubelet-extra-args`; bootstrap.sh {fate}: `{shown}`",
                args.value.value
            );
            let fix = self.quoted(args);
            let draft = draft(message).help("put all the kubelet's arguments between quotes").severity(Severity::Warning);
            return if let Some(fix) = fix { draft.fix(fix) } else { draft };
        }
        let message = if word.value.starts_with('-') {
            format!("bootstrap.sh knows no option `{shown}` and {fate}")
        } else {
            format!("bootstrap.sh ignores `{shown}`: it takes one word, the cluster's name, and options")
        };
        let where_to = if self.is_list { "the item" } else { "the quotes" };
        draft(message)
            .help(format!(
                "an argument of the kubelet goes into {where_to} after `--kubelet-extra-args`; take anything else out"
            ))
            .severity(if ignored.as_cluster_name { Severity::Error } else { Severity::Warning })
    }

    /// The option with a blank for the equals sign and its name as the script knows it. A blank makes no two items.
    fn respelled(&self, ignored: &IgnoredWord, option: &str) -> Option<Fix<'d>> {
        if self.is_list {
            return None;
        }
        let word = &ignored.word;
        let equals = word.value.find('=');
        let end = equals.map_or(word.value.len(), |at| at + 1);
        let name = word.value.get(..end).filter(|name| !name.contains([' ', '\t']))?;
        let raw = Span::new(word.span.start, word.place(&(0..end)).end);
        let written = raw.text(self.data.text);
        let quote = written.strip_suffix(name)?;
        if !matches!(quote, "" | "'" | "\"") {
            return None;
        }
        let text = if equals.is_some() { format!("{option} {quote}") } else { format!("{quote}{option}") };
        let twice = self.read.option(option).is_some()
            || self.read.ignored.iter().filter(|other| other.resembles == Some(option)).count() > 1;
        let splits = equals.is_some() && word.is_dynamic() && !word.quoted;
        let changes = vec![self.data.replace(raw, text)];
        let title = "write the option as bootstrap.sh reads it";
        Some(if twice || splits { Fix::to_look_at(title, changes) } else { Fix::safe(title, changes) })
    }

    /// `--kubelet-extra-args` whose value, written without quotes, ends right before this word.
    fn before(&self, word: &Word) -> Option<&BootstrapOption> {
        let args = self.read.option("--kubelet-extra-args")?;
        let follows = self.is_between(args.value.span.end, word.span.start);
        (follows && !args.value.quoted && args.value.value.starts_with('-') && word.value.starts_with('-'))
            .then_some(args)
    }

    /// Quotes around the option's value and the flags that follow it.
    fn quoted(&self, args: &BootstrapOption) -> Option<Fix<'d>> {
        let mut last = &args.value;
        for ignored in &self.read.ignored {
            let word = &ignored.word;
            if self.is_between(last.span.end, word.span.start) && ignored.resembles.is_none() {
                last = word;
            }
        }
        let run = args.value.span.to(last.span).text(self.data.text);
        // What a shell would still change between single quotes is for the author to quote.
        if run.contains(['\'', '"', '$', '`', '\\', '\n']) || last.span == args.value.span {
            return None;
        }
        let edge = |word: &Word, text: String| -> Change<'d> { self.data.replace(word.span, text) };
        let changes =
            vec![edge(&args.value, format!("'{}", args.value.value)), edge(last, format!("{}'", last.value))];
        Some(Fix::safe("put the kubelet's arguments between quotes", changes))
    }

    fn swallowed(&self, option: &BootstrapOption) -> Draft<'d> {
        let (name, value) = (option.name, &option.value.value);
        let message = format!("bootstrap.sh takes `{value}` for the value of `{name}`, not for an option");
        self.data.draft(&RULE, option.value.span, message)
            .help(format!("write the value of `{name}` after it, or take `{name}` out"))
    }

    fn replaced(&self, option: &BootstrapOption, last: &BootstrapOption) -> Draft<'d> {
        let message = format!("bootstrap.sh takes the last `{}` alone; this one is ignored", option.name);
        self.data.draft(&RULE, option.span, message)
            .help("write one, with everything in its value")
            .related(self.data.place(last.span), "this one counts")
            .severity(Severity::Warning)
    }

    fn without_value(&self, option: &Word) -> Draft<'d> {
        let message = format!("`{}` is the last word, and bootstrap.sh stops where its value should be", option.value);
        self.data.draft(&RULE, option.span, message).help("write the value after it, or take the option out")
    }

    fn broken(&self, problem: &Problem) -> Draft<'d> {
        let message = "blanks after the backslash end the command here; the next line runs as a command of its own";
        let fix = Fix::safe_one("take the blanks out", self.data.replace(problem.span, "\\"));
        self.data.draft(&RULE, problem.span, message).help("end the line with the backslash").fix(fix)
    }
}

fn is_option(word: &Word) -> bool {
    OPTIONS.contains(&word.value.as_str())
}

/// The word, or where it is long the option at its start.
fn shown(word: &Word) -> &str {
    if word.value.len() <= 60 {
        return &word.value;
    }
    word.value.find('=').and_then(|at| word.value.get(..=at)).unwrap_or(&word.value)
}

#[cfg(test)]
mod tests {
    use super::super::examples::{class, script};
    use crate::rules::testing::{findings, fixed, report, silent};
    use lint::settings::Settings;

    #[test]
    fn the_call_is_found_in_a_cloud_config_and_behind_a_variable() {
        let class = |text: &str| {
            format!("apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: a}}\nspec:\n  amiFamily: Custom\n  userData: |\n    {}\n", text.replace('\n', "\n    "))
        };
        let cloud = class("#cloud-config\npackages: [jq]\nruncmd:\n  - sysctl -w vm.max_map_count=262144\n  - /etc/eks/bootstrap.sh meadow --kubelet-extra-args='--max-pods=20'\n  - [/etc/eks/bootstrap.sh, meadow]");
        insta::assert_snapshot!(findings(&super::RULE, &cloud), @r#"
         11 |       - /etc/eks/bootstrap.sh meadow --kubelet-extra-args='--max-pods=20'
            |                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [1.0-1.14]
          bootstrap.sh takes an option's value from the next word only: it knows no `--kubelet-extra-args=--max-pods=20` and ignores it; the kubelet never gets these arguments
          help: write `--kubelet-extra-args` and its value with a blank between them instead of `=`
          fix: write the option as bootstrap.sh reads it: "--kubelet-extra-args "
        "#);
        assert!(fixed(&super::RULE, &cloud).contains("meadow --kubelet-extra-args '--max-pods=20'\n"));
        let listed = class("#cloud-config\nruncmd:\n  - [sudo, /etc/eks/bootstrap.sh, meadow, --kubelet-extra-args=--max-pods=20]\n  - - /etc/eks/bootstrap.sh\n    - --kubelet-extra-args\n    - \"--v=2\"\n    - --max-pods=20\n    - meadow\n    - --ip-family\n  - \"/etc/eks/bootstrap.sh meadow --kubelet-extra-args='--max-pods=20'\"");
        insta::assert_snapshot!(findings(&super::RULE, &listed), @r#"
          9 |       - [sudo, /etc/eks/bootstrap.sh, meadow, --kubelet-extra-args=--max-pods=20]
            |                                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [1.0-1.14]
          bootstrap.sh takes an option's value from the next word only: it knows no `--kubelet-extra-args=--max-pods=20` and ignores it; the kubelet never gets these arguments
          help: write `--kubelet-extra-args` and its value as two items of the list instead of `=`
         13 |         - --max-pods=20
            |           ^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [1.0-1.14]
          bootstrap.sh knows no option `--max-pods=20` and takes it for the cluster's name
          help: an argument of the kubelet goes into the item after `--kubelet-extra-args`; take anything else out
         15 |         - --ip-family
            |           ^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [1.0-1.14]
          `--ip-family` is the last word, and bootstrap.sh stops where its value should be
          help: write the value after it, or take the option out
         16 |       - "/etc/eks/bootstrap.sh meadow --kubelet-extra-args='--max-pods=20'"
            |                                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [1.0-1.14]
          bootstrap.sh takes an option's value from the next word only: it knows no `--kubelet-extra-args=--max-pods=20` and ignores it; the kubelet never gets these arguments
          help: write `--kubelet-extra-args` and its value with a blank between them instead of `=`
          fix: write the option as bootstrap.sh reads it: "--kubelet-extra-args "
        "#);
        // An edit there would make no two items of one.
        assert!(fixed(&super::RULE, &listed).contains("meadow, --kubelet-extra-args=--max-pods=20]"));
        assert!(fixed(&super::RULE, &listed).contains("- \"/etc/eks/bootstrap.sh meadow --kubelet-extra-args '--max-pods=20'\"\n"));
        for sound in [
            "[/etc/eks/bootstrap.sh, meadow, --use-max-pods, false, --kubelet-extra-args, '--v=2 --max-pods=20']",
            "[/etc/eks/bootstrap.sh, meadow, --use-max-pods, false, --kubelet-extra-args, --v=2 --max-pods=20]",
            "[sh, -c, /etc/eks/bootstrap.sh meadow --kubelet-extra-args=--v=2]",
            "[echo, /etc/eks/bootstrap.sh, --kubelet-extra-args=--v=2]",
            "[/etc/eks/bootstrap.sh, meadow, [--kubelet-extra-args=--v=2]]",
            "[]",
            "{a: b}",
        ] {
            silent(&super::RULE, &class(&format!("#cloud-config\nruncmd:\n  - {sound}")));
        }
        let variable = class("#!/bin/bash\nB=/etc/eks/bootstrap.sh\n\"$B\" meadow --kubelet-extra-args='--max-pods=20'");
        assert!(findings(&super::RULE, &variable).contains("--kubelet-extra-args"));
        for other in ["B=/opt/join.sh", "B=/etc/eks/bootstrap.sh\nB=/opt/join.sh", "C=/etc/eks/bootstrap.sh # bootstrap.sh"] {
            silent(&super::RULE, &class(&format!("#!/bin/bash\n{other}\n$B meadow --kubelet-extra-args='--max-pods=20'")));
        }
    }

    fn call(arguments: &str) -> String {
        script(&format!("/etc/eks/bootstrap.sh {arguments}"))
    }

    #[test]
    fn an_equals_sign_hides_the_value() {
        insta::assert_snapshot!(findings(&super::RULE, &call("demo --kubelet-extra-args='--max-pods=58'")), @r#"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args='--max-pods=58'
            |                                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [1.0-1.14]
          bootstrap.sh takes an option's value from the next word only: it knows no `--kubelet-extra-args=--max-pods=58` and ignores it; the kubelet never gets these arguments
          help: write `--kubelet-extra-args` and its value with a blank between them instead of `=`
          fix: write the option as bootstrap.sh reads it: "--kubelet-extra-args "
        "#);
    }

    #[test]
    fn before_the_name_it_becomes_the_name() {
        insta::assert_snapshot!(findings(&super::RULE, &call("--kubelet-extra-args='--max-pods=58' demo")), @r#"
          8 |     /etc/eks/bootstrap.sh --kubelet-extra-args='--max-pods=58' demo
            |                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [1.0-1.14]
          bootstrap.sh takes an option's value from the next word only: it knows no `--kubelet-extra-args=--max-pods=58` and takes it for the cluster's name
          help: write `--kubelet-extra-args` and its value with a blank between them instead of `=`
          fix: write the option as bootstrap.sh reads it: "--kubelet-extra-args "
        "#);
        insta::assert_snapshot!(findings(&super::RULE, &call("--max-pods=58 demo")), @"
          8 |     /etc/eks/bootstrap.sh --max-pods=58 demo
            |                           ^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [1.0-1.14]
          bootstrap.sh knows no option `--max-pods=58` and takes it for the cluster's name
          help: an argument of the kubelet goes into the quotes after `--kubelet-extra-args`; take anything else out
        ");
    }

    #[test]
    fn without_quotes_the_kubelet_gets_the_first_word() {
        insta::assert_snapshot!(findings(&super::RULE, &call("demo --kubelet-extra-args --node-labels=a=b --max-pods=20 --v=2")), @r#"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args --node-labels=a=b --max-pods=20 --v=2
            |                                                                       ^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [1.0-1.14]
          only `--node-labels=a=b` is the value of `--kubelet-extra-args`; bootstrap.sh ignores it: `--max-pods=20`
          help: put all the kubelet's arguments between quotes
          fix: put the kubelet's arguments between quotes: "'--node-labels=a=b", "--v=2'"
        "#);
    }

    #[test]
    fn an_option_takes_another_for_its_value_or_has_none() {
        insta::assert_snapshot!(findings(&super::RULE, &call("demo --kubelet-extra-args --use-max-pods false --ip-family")), @"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args --use-max-pods false --ip-family
            |                                                     ^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [1.0-1.14]
          bootstrap.sh takes `--use-max-pods` for the value of `--kubelet-extra-args`, not for an option
          help: write the value of `--kubelet-extra-args` after it, or take `--kubelet-extra-args` out
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args --use-max-pods false --ip-family
            |                                                                          ^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [1.0-1.14]
          `--ip-family` is the last word, and bootstrap.sh stops where its value should be
          help: write the value after it, or take the option out
        ");
    }

    #[test]
    fn of_two_the_last_counts() {
        insta::assert_snapshot!(findings(&super::RULE, &call("demo --kubelet-extra-args '--v=2' --kubelet-extra-args '--v=4'")), @"
          8 |     /etc/eks/bootstrap.sh demo --kubelet-extra-args '--v=2' --kubelet-extra-args '--v=4'
            |                                ^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [1.0-1.14]
          bootstrap.sh takes the last `--kubelet-extra-args` alone; this one is ignored
          help: write one, with everything in its value
          see line 8 spec.userData: this one counts
        ");
    }

    #[test]
    fn blanks_after_a_backslash_end_the_command() {
        let text = call("demo \\ \n  --kubelet-extra-args '--v=2'");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          8 |     /etc/eks/bootstrap.sh demo \ 
            |                                ^
        error EC2NodeClass/a spec.userData [1.0-1.14]
          blanks after the backslash end the command here; the next line runs as a command of its own
          help: end the line with the backslash
          fix: take the blanks out: "\\"
        "#);
        assert_eq!(fixed(&super::RULE, &text), text.replace("\\ \n", "\\\n"));
    }

    #[test]
    fn the_fix_keeps_quotes_names_and_lines() {
        for (wrong, right) in [
            ("demo --kubelet-extra-args='--v=2'", "demo --kubelet-extra-args '--v=2'"),
            ("demo \"--kubelet-extra-args=--v=2 --x\"", "demo --kubelet-extra-args \"--v=2 --x\""),
            ("demo --kubelet-extra-args=\"--v=$V\"", "demo --kubelet-extra-args \"--v=$V\""),
            ("demo --use-max-pods=false \\\n      --ip-family=ipv6", "demo --use-max-pods false \\\n      --ip-family ipv6"),
            ("demo -kubelet-extra-args '--v=2'", "demo --kubelet-extra-args '--v=2'"),
            ("demo --kubelet_extra_args='--v=2'", "demo --kubelet-extra-args '--v=2'"),
            ("--kubelet-extra-args='--v=2' demo", "--kubelet-extra-args '--v=2' demo"),
            ("demo --kubelet-extra-args --v=2 --max-pods=20", "demo --kubelet-extra-args '--v=2 --max-pods=20'"),
        ] {
            assert_eq!(fixed(&super::RULE, &call(wrong)), call(right));
            silent(&super::RULE, &call(right));
        }
    }

    #[test]
    fn an_edit_that_could_change_more_is_only_offered() {
        for arguments in [
            "demo --kubelet-extra-args='--v=2' --kubelet-extra-args '--v=4'",
            "demo --kubelet-extra-args=$ARGS",
            "demo --kubelet-extra-args --v=$V --max-pods=20",
        ] {
            assert_eq!(fixed(&super::RULE, &call(arguments)), call(arguments));
            assert!(!report(&super::RULE, &call(arguments), &Settings::default()).findings.is_empty());
        }
    }

    #[test]
    fn the_place_is_right_in_every_spelling_of_yaml() {
        for text in [
            "  userData: \"#!/bin/bash\\n/etc/eks/bootstrap.sh demo --kubelet-extra-args=\\\"--v=2\\\"\\n\"\n",
            "  userData: '#!/bin/bash\n\n    /etc/eks/bootstrap.sh demo --kubelet-extra-args=\"--v=2\"'\n",
        ] {
            let text = format!("apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nspec:\n  amiFamily: Custom\n{text}");
            assert_eq!(fixed(&super::RULE, &text), text.replace("args=", "args "));
        }
    }

    #[test]
    fn what_may_expand_to_options_is_left_alone() {
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
        silent(&super::RULE, &script("cat > /x <<'EOF'\n/etc/eks/bootstrap.sh demo --kubelet-extra-args='--v=2'\nEOF"));
    }

    #[test]
    fn families_without_the_script_are_told_so_elsewhere() {
        silent(&super::RULE, &class("AL2023", "#!/bin/bash\n/etc/eks/bootstrap.sh demo --ip-family=ipv6\n"));
        let al2 = class("AL2", "#!/bin/bash\n/etc/eks/bootstrap.sh demo --ip-family=ipv6\n");
        assert!(findings(&super::RULE, &al2).contains("--ip-family"));
    }
}
