//! Program that a command runs, after prefixes such as `sudo`, `env` and `exec`.

use super::script::ShellCommand;
use crate::word::SourceWord;

/// Program with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invocation<'c> {
    /// Words before the program: `sudo -E`, `env A=b`, `bash -x`.
    pub prefixes: &'c [SourceWord],
    /// Program as written, including the path.
    pub program: &'c SourceWord,
    /// Arguments of the program.
    pub arguments: &'c [SourceWord],
}

impl Invocation<'_> {
    /// Last path segment of the program, with expansions as written.
    pub fn name(&self) -> &str {
        self.program.basename()
    }

    /// Whether a shell runs the program as a script: `bash /opt/join.sh`.
    pub fn is_script(&self) -> bool {
        self.prefixes.iter().any(|word| is_shell(word.basename()))
    }
}

/// Whether a name is a shell, which is a program and can be the prefix of a script.
pub fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "dash" | "ash" | "ksh" | "zsh")
}

/// Options of a prefix whose value is the next word; `None` if the name is not a prefix.
fn options_with_value(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "sudo" => {
            &["-u", "--user", "-g", "--group", "-h", "--host", "-p", "-C", "-D", "-R", "-T", "-U", "-r", "-t"]
        }
        "env" => &["-u", "--unset", "-C", "--chdir", "-S"],
        "exec" => &["-a"],
        "command" | "nohup" | "builtin" | "setsid" | "time" => &[],
        "nice" => &["-n"],
        "ionice" => &["-c", "-n"],
        "stdbuf" => &["-i", "-o", "-e"],
        "timeout" => &["-k", "-s", "--kill-after", "--signal"],
        shell if is_shell(shell) => &["-o", "+o", "-O", "+O", "--rcfile", "--init-file"],
        _ => return None,
    })
}

impl ShellCommand {
    /// Program that the command runs; `None` if the command has only assignments or redirections.
    ///
    /// A shell that runs a string (`bash -c`) or its input is the program itself.
    pub fn invocation(&self) -> Option<Invocation<'_>> {
        let mut at = 0;
        loop {
            let word = self.words.get(at)?;
            let name = word.basename();
            let next = if word.is_dynamic() { None } else { self.after_prefix(at, name) };
            match next {
                Some(next) if next < self.words.len() => at = next,
                _ => {
                    return Some(Invocation {
                        prefixes: self.words.get(..at)?,
                        program: word,
                        arguments: self.words.get(at + 1..)?,
                    });
                }
            }
        }
    }

    /// Index of the program after a prefix; `None` if the word is the program.
    fn after_prefix(&self, prefix: usize, name: &str) -> Option<usize> {
        let with_value = options_with_value(name)?;
        let mut at = prefix + 1;
        while let Some(word) = self.words.get(at) {
            let option = word.value.as_str();
            if option == "--" {
                return Some(at + 1);
            }
            if is_shell(name) && reads_elsewhere(option) {
                return None;
            }
            let assigns = matches!(name, "env" | "sudo") && option.contains('=') && !option.starts_with('-');
            if assigns {
                at += 1;
            } else if option.len() > 1 && option.starts_with(['-', '+']) {
                at += if with_value.contains(&option) { 2 } else { 1 };
            } else {
                break;
            }
        }
        // The duration comes first: `timeout 60 program`.
        Some(if name == "timeout" { at + 1 } else { at })
    }
}

/// Whether a shell with this option runs the next argument (`-c`) or its input (`-s`).
fn reads_elsewhere(option: &str) -> bool {
    option.strip_prefix('-').is_some_and(|letters| {
        !letters.starts_with('-')
            && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
            && letters.contains(['c', 's'])
    })
}
