//! The program as a plugin of kubectl: an executable `kubectl-karpwarden`, which `kubectl karpwarden` runs.
//! Source: `pkg/cmd/plugin/plugin.go` of kubernetes/kubectl at v0.33.0.

mod completion;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{Command, CommandFactory as _, FromArgMatches as _};

use super::arguments::Arguments;

pub(crate) use completion::{complete, print_script};

/// Name of the executable that kubectl looks for.
const EXECUTABLE: &str = "kubectl-karpwarden";

/// Flags of kubectl with a value. kubectl has them before and after its commands.
const KUBECTL_FLAGS: [&str; 4] = ["-n", "--namespace", "--context", "--kubeconfig"];

/// Whether the program runs as a plugin.
pub(crate) fn is_plugin() -> bool {
    std::env::args_os().next().is_some_and(|path| is_named_plugin(&path))
}

fn is_named_plugin(path: &OsStr) -> bool {
    Path::new(path).file_stem().is_some_and(|name| name == EXECUTABLE)
}

/// Name of the program, as the user types it.
pub(crate) fn program() -> &'static str {
    if is_plugin() { "kubectl karpwarden" } else { "karpwarden" }
}

/// The declaration of the command line under the name that the user types.
pub(crate) fn command() -> Command {
    let command = Arguments::command();
    if is_plugin() { command.bin_name("kubectl karpwarden") } else { command }
}

/// Parses a command line.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Arguments, clap::Error> {
    let mut command = command();
    let arguments = with_flags_behind(&command, arguments);
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    Arguments::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Moves flags of kubectl from before the subcommand to a place behind it, where they are declared: `-n shop why pod/web-0`.
fn with_flags_behind(program: &Command, arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words = arguments.into_iter();
    let mut first: Vec<OsString> = words.next().into_iter().collect();
    let mut flags = Vec::new();
    while let Some(word) = words.next() {
        let text = word.to_str().unwrap_or_default();
        if KUBECTL_FLAGS.contains(&text) {
            flags.push(word);
            flags.extend(words.next());
        } else if has_flag_and_value(text) {
            flags.push(word);
        } else {
            let is_subcommand = program.find_subcommand(text).is_some();
            first.push(word);
            if is_subcommand {
                break;
            }
        }
    }
    first.into_iter().chain(flags).chain(words).collect()
}

/// Whether a word is a flag of kubectl with its value: `--context=prod` or `-nshop`.
fn has_flag_and_value(word: &str) -> bool {
    KUBECTL_FLAGS
        .iter()
        .filter_map(|flag| Some((flag, word.strip_prefix(flag)?)))
        .any(|(flag, value)| if flag.starts_with("--") { value.starts_with('=') } else { !value.is_empty() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_executable_of_the_plugin() {
        for name in ["kubectl-karpwarden", "/usr/local/bin/kubectl-karpwarden", "kubectl-karpwarden.exe"] {
            assert!(is_named_plugin(OsStr::new(name)), "{name}");
        }
        assert!(!is_named_plugin(OsStr::new("karpwarden")));
    }

    #[test]
    fn accepts_flags_of_kubectl_before_the_subcommand() {
        let moved = |words: &[&str]| {
            let words = words.iter().map(OsString::from);
            let moved = with_flags_behind(&Arguments::command(), words);
            moved.join(OsStr::new(" ")).into_string().unwrap()
        };
        for (words, expected) in [
            (&["k", "-n", "shop", "why", "pod/a"][..], "k why -n shop pod/a"),
            (&["k", "--context=prod", "-nshop", "plan", "-f", "a"], "k plan --context=prod -nshop -f a"),
            (&["k", "--color", "never", "-n", "why", "why", "a"], "k --color never why -n why a"),
            (&["k", "check", "-", "-n", "a"], "k check - -n a"),
            (&["k", "-n", "shop"], "k -n shop"),
            (&["k", "--namespaced", "why"], "k --namespaced why"),
        ] {
            assert_eq!(moved(words), expected);
        }
    }
}
