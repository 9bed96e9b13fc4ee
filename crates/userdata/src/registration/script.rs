//! Registration in a shell script.

use std::collections::BTreeSet;

use manifest::source::Span;

use super::collector::Collector;
use super::model::{Join, TaintSource, UnresolvedReason};
use crate::bootstrap::Bootstrap;
use crate::kubelet::KubeletFlags;
use crate::kubelet_config::search_taints;
use crate::shell::{Heredoc, Invocation, ShellCommand, ShellProblemKind, is_shell};
use crate::word::SourceWord;

/// Directories with programs of the operating system and of the EKS image.
const SYSTEM: [&str; 5] = ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/etc/eks/"];

/// Programs that run another file.
const RUNNERS: [&str; 12] = [
    "python",
    "python3",
    "perl",
    "ruby",
    "node",
    "ansible-playbook",
    "ansible-pull",
    "puppet",
    "chef-client",
    "salt-call",
    "cloud-init",
    "cfn-init",
];

/// Files of the operating system that only set variables.
const INERT: [&str; 3] = ["/etc/os-release", "/etc/environment", "/etc/profile"];

impl Collector<'_> {
    pub(super) fn script(&mut self, within: Span) {
        let script = self.parts.script(self.text, within);
        for problem in &script.problems {
            if !matches!(
                problem.kind,
                ShellProblemKind::CarriageReturns | ShellProblemKind::BrokenContinuation
            ) {
                self.unresolved(UnresolvedReason::Unparsed, problem.span);
            }
        }
        let mut written = BTreeSet::new();
        for command in &script.commands {
            written_files(command, &mut written);
        }
        for command in &script.commands {
            self.command(command, &written);
        }
        for heredoc in &script.heredocs {
            self.heredoc(heredoc);
        }
    }

    fn command(&mut self, command: &ShellCommand, written: &BTreeSet<&'_ str>) {
        let Some(invocation) = command.invocation() else { return self.mentions(command) };
        if let Some(call) = Bootstrap::parse(&invocation) {
            let flags = call.kubelet_flags();
            let whole = call.kubelet_extra_args().map_or(command.span, |word| word.span);
            self.flags(&flags, whole);
            if call.dynamic {
                self.unresolved(UnresolvedReason::Expansion, command.span);
            }
            return self.join(Join::Bootstrap(Box::new(call)));
        }
        match invocation.name() {
            "kubelet" => {
                self.join(Join::Kubelet(invocation.program.span));
                let flags = KubeletFlags::from_words(invocation.arguments.to_vec());
                self.flags(&flags, command.span);
                for config in flags.all("config") {
                    self.unresolved(UnresolvedReason::ConfigFile, config.span);
                }
            }
            "nodeadm" => {
                self.join(Join::Nodeadm(invocation.program.span));
                self.config_source(invocation.arguments, written);
            }
            _ => {
                if let Some(reason) = unresolved_reason(command, &invocation) {
                    self.unresolved(reason, command.span);
                }
                self.mentions(command);
            }
        }
    }

    /// Reports the file in `nodeadm init --config-source file://…` as unresolved, unless the script writes it.
    fn config_source(&mut self, arguments: &[SourceWord], written: &BTreeSet<&'_ str>) {
        for (index, argument) in arguments.iter().enumerate() {
            let source = match argument.value.split_once('=') {
                Some(("-c" | "--config-source", source)) => source,
                None if matches!(argument.value.as_str(), "-c" | "--config-source") => {
                    arguments.get(index + 1).map_or("", |word| word.value.as_str())
                }
                _ => continue,
            };
            let file = source.strip_prefix("file://").unwrap_or(source);
            if source != "imds://user-data" && !written.contains(file) {
                self.unresolved(UnresolvedReason::ConfigFile, argument.span);
            }
        }
    }

    /// Adds taints in the words of another command: `jq`, `sed`, `echo`, an assignment.
    fn mentions(&mut self, command: &ShellCommand) {
        let edits = command.words.iter().any(|word| word.basename() == "jq");
        let source = if edits { TaintSource::Config } else { TaintSource::Mention };
        for word in command.assignments.iter().chain(&command.words) {
            self.configured(search_taints(&word.value), source, &|span| word.span_of(&span.into()));
        }
    }

    fn heredoc(&mut self, heredoc: &Heredoc) {
        let body = heredoc.body.text(self.text);
        if body.contains("node.eks.aws/") {
            return self.node_config(heredoc.body);
        }
        let is_kubelet = body.contains("kubelet.config.k8s.io/");
        let found = if is_kubelet { self.taints_in_yaml(heredoc.body) } else { search_taints(body) };
        self.configured(found, TaintSource::Config, &|span| span.shifted(heredoc.body.start));
        if heredoc.expands(self.text) {
            let hides = |line: &&str| {
                line.contains(['$', '`'])
                    && ["EXTRA_ARGS", "KUBELET_ARGS", "taint"].iter().any(|name| line.contains(name))
            };
            if body.lines().any(|line| hides(&line)) {
                self.unresolved(UnresolvedReason::Expansion, heredoc.body);
            }
        }
    }
}

/// Adds the files that a command writes through redirections or as `tee`.
fn written_files<'c>(command: &'c ShellCommand, written: &mut BTreeSet<&'c str>) {
    for to in &command.redirections {
        written.insert(&to.target.value);
    }
    if let Some(tee) = command.invocation().filter(|invocation| invocation.name() == "tee") {
        for word in tee.arguments {
            written.insert(&word.value);
        }
    }
}

/// Reason why the effect of a command cannot be evaluated.
fn unresolved_reason(command: &ShellCommand, invocation: &Invocation<'_>) -> Option<UnresolvedReason> {
    let program = invocation.program;
    let name = invocation.name();
    if program.value.starts_with("<(") || program.is_dynamic_name() {
        let fetched = program.value.contains("curl") || program.value.contains("wget");
        return Some(if fetched { UnresolvedReason::Download } else { UnresolvedReason::DynamicProgram });
    }
    match name {
        "source" | "." => {
            let file = invocation.arguments.first().map_or("", |word| word.value.as_str());
            return (!INERT.contains(&file)).then_some(UnresolvedReason::Sourced);
        }
        shell if is_shell(shell) && command.piped => return Some(UnresolvedReason::Download),
        "eval" | "sh" | "bash" | "dash" | "ash" | "ksh" | "zsh" => {
            return Some(UnresolvedReason::InlineScript);
        }
        _ => {}
    }
    let elsewhere =
        program.value.contains('/') && !SYSTEM.iter().any(|directory| program.value.starts_with(directory));
    let script = [".sh", ".py", ".pl", ".rb"].iter().any(|ending| name.ends_with(ending));
    let system_script = script && program.value.starts_with("/etc/eks/");
    let runs = elsewhere || (script && !system_script) || RUNNERS.contains(&name) || invocation.is_script();
    runs.then_some(UnresolvedReason::OtherProgram)
}
