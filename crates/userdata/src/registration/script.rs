//! Registration as a shell script sets it up.

use std::collections::BTreeSet;

use super::{Join, Place, Reader, Reason, plain_node_config};
use manifest::source::Span;
use crate::bootstrap::Bootstrap;
use crate::kubelet::KubeletFlags;
use crate::shell::{Command, Heredoc, Invocation, ProblemKind, Script, is_shell};
use crate::word::Word;
/// Directories whose programs come with the operating system, and the one of the EKS image.
const SYSTEM: [&str; 5] = ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/etc/eks/"];

/// Programs that carry out what another file says.
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

/// Files of the operating system that set variables and do nothing else.
const INERT: [&str; 3] = ["/etc/os-release", "/etc/environment", "/etc/profile"];

impl Reader<'_> {
    pub(super) fn script(&mut self, within: Span) {
        let script = Script::read(self.text, within);
        for problem in &script.problems {
            if !matches!(problem.kind, ProblemKind::CarriageReturns | ProblemKind::BrokenContinuation) {
                self.unknown(Reason::Unparsed, problem.span);
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

    fn command(&mut self, command: &Command, written: &BTreeSet<&'_ str>) {
        let Some(invocation) = command.invocation() else { return self.mentions(command) };
        if let Some(call) = Bootstrap::read(&invocation) {
            let flags = call.kubelet_flags();
            let whole = call.kubelet_extra_args().map_or(command.span, |word| word.span);
            self.flags(&flags, whole);
            if call.dynamic {
                self.unknown(Reason::Expansion, command.span);
            }
            return self.join(Join::Bootstrap(Box::new(call)));
        }
        match invocation.name() {
            "kubelet" => {
                self.join(Join::Kubelet(invocation.program.span));
                let flags = KubeletFlags::from_words(invocation.arguments.to_vec());
                self.flags(&flags, command.span);
                for config in flags.all("config") {
                    self.unknown(Reason::ConfigFile, config.span);
                }
            }
            "nodeadm" => {
                self.join(Join::Nodeadm(invocation.program.span));
                self.config_source(invocation.arguments, written);
            }
            _ => {
                if let Some(reason) = hides(command, &invocation) {
                    self.unknown(reason, command.span);
                }
                self.mentions(command);
            }
        }
    }

    /// `nodeadm init --config-source file://…`: unknown unless this script writes the file.
    fn config_source(&mut self, arguments: &[Word], written: &BTreeSet<&'_ str>) {
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
                self.unknown(Reason::ConfigFile, argument.span);
            }
        }
    }

    /// Taints in the words of a command that is not the kubelet's: `jq`, `sed`, `echo`, an assignment.
    fn mentions(&mut self, command: &Command) {
        let edits = command.words.iter().any(|word| word.basename() == "jq");
        let place = if edits { Place::Config } else { Place::Mention };
        for word in command.assignments.iter().chain(&command.words) {
            self.scanned(plain_node_config(&word.value), place, &|span| word.place(&span.into()));
        }
    }

    fn heredoc(&mut self, heredoc: &Heredoc) {
        let body = heredoc.body.text(self.text);
        if body.contains("node.eks.aws/") {
            return self.node_config(heredoc.body);
        }
        let kubelet = body.contains("kubelet.config.k8s.io/");
        let found = if kubelet { (self.node_config)(body) } else { plain_node_config(body) };
        self.scanned(found, Place::Config, &|span| span.shifted(heredoc.body.start));
        if heredoc.expands(self.text) {
            let hides = |line: &&str| {
                line.contains(['$', '`'])
                    && ["EXTRA_ARGS", "KUBELET_ARGS", "taint"].iter().any(|name| line.contains(name))
            };
            if body.lines().any(|line| hides(&line)) {
                self.unknown(Reason::Expansion, heredoc.body);
            }
        }
    }
}

/// The files that a command redirects to, or copies its input to as `tee` does.
fn written_files<'c>(command: &'c Command, written: &mut BTreeSet<&'c str>) {
    for to in &command.redirections {
        written.insert(&to.target.value);
    }
    if let Some(tee) = command.invocation().filter(|invocation| invocation.name() == "tee") {
        for word in tee.arguments {
            written.insert(&word.value);
        }
    }
}

/// Whether what this command does is written somewhere else.
fn hides(command: &Command, invocation: &Invocation<'_>) -> Option<Reason> {
    let program = invocation.program;
    let name = invocation.name();
    if program.value.starts_with("<(") || program.is_dynamic_name() {
        let fetched = program.value.contains("curl") || program.value.contains("wget");
        return Some(if fetched { Reason::Download } else { Reason::DynamicProgram });
    }
    match name {
        "source" | "." => {
            let file = invocation.arguments.first().map_or("", |word| word.value.as_str());
            return (!INERT.contains(&file)).then_some(Reason::Sourced);
        }
        shell if is_shell(shell) && command.piped => return Some(Reason::Download),
        "eval" | "sh" | "bash" | "dash" | "ash" | "ksh" | "zsh" => return Some(Reason::InlineScript),
        _ => {}
    }
    let elsewhere =
        program.value.contains('/') && !SYSTEM.iter().any(|directory| program.value.starts_with(directory));
    let script = [".sh", ".py", ".pl", ".rb"].iter().any(|ending| name.ends_with(ending));
    let system_script = script && program.value.starts_with("/etc/eks/");
    let runs = elsewhere || (script && !system_script) || RUNNERS.contains(&name) || invocation.is_script();
    runs.then_some(Reason::OtherProgram)
}
