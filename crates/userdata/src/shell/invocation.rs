//! Which program a command runs, once `sudo`, `env`, `exec` and their like have stepped aside.

use super::Command;
use crate::word::Word;

/// A program and its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invocation<'c> {
    /// What stands before the program: `sudo -E`, `env A=b`, `bash -x`.
    pub prefixes: &'c [Word],
    /// The program as it is written, path included.
    pub program: &'c Word,
    /// What it gets.
    pub arguments: &'c [Word],
}

impl Invocation<'_> {
    /// The program's last path segment; for a program that only the node knows, what is written.
    pub fn name(&self) -> &str {
        self.program.basename()
    }

    /// Whether one of the shells runs it as a script: `bash /opt/join.sh`.
    pub fn is_script(&self) -> bool {
        self.prefixes.iter().any(|word| is_shell(word.basename()))
    }
}

/// Whether it is one of the shells, which are programs of their own and prefixes to a script.
pub fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "dash" | "ash" | "ksh" | "zsh")
}

/// The options of a prefix that take the next word; `None` where the word is no prefix.
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

impl Command {
    /// The program that runs; `None` where the command has only assignments or redirections.
    ///
    /// A shell is the program itself where it reads a string (`bash -c`) or its input.
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

    /// Where the program after this prefix stands; `None` where the word is itself the program.
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
        // `timeout 60 program`
        Some(if name == "timeout" { at + 1 } else { at })
    }
}

/// Whether a shell with this option takes its script from the next argument (`-c`) or its input (`-s`).
fn reads_elsewhere(option: &str) -> bool {
    option.strip_prefix('-').is_some_and(|letters| {
        !letters.starts_with('-')
            && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
            && letters.contains(['c', 's'])
    })
}
