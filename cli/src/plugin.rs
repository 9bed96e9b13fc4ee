//! The program as a plugin of kubectl: an executable `kubectl-karpwarden`, which `kubectl karpwarden` runs.
//! Source: `pkg/cmd/plugin/plugin.go` and `plugin_completion.go` of kubernetes/kubectl at v0.33.0.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::Path;

use clap::{ArgAction, Command, CommandFactory as _, FromArgMatches as _};

use super::arguments::Arguments;
use super::completions::with_names;
use super::status::Status;

/// Name of the executable that kubectl looks for.
const EXECUTABLE: &str = "kubectl-karpwarden";

/// Script `kubectl_complete-karpwarden`, which kubectl's own completion runs for the words after `karpwarden`.
const SCRIPT: &str = "\
#!/bin/sh
# Save this as an executable file `kubectl_complete-karpwarden` on the PATH; kubectl 1.26 and later run it.
exec kubectl-karpwarden __complete -- \"$@\"
";

/// Directives of the protocol, which is cobra's: files may follow, or not.
const FILES: &str = ":0";
const NO_FILES: &str = ":4";

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
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    Arguments::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Prints the completion script of the plugin.
pub(crate) fn print_script() -> io::Result<Status> {
    io::stdout().write_all(SCRIPT.as_bytes()).map(|()| Status::Clean)
}

/// Prints the completions of the last word.
pub(crate) fn complete(words: &[String]) -> io::Result<Status> {
    let mut program = with_names(Arguments::command());
    program.build();
    let found = candidates(&program, words);
    let mut out = io::stdout().lock();
    for (word, description) in &found {
        writeln!(out, "{word}\t{description}")?;
    }
    writeln!(out, "{}", if found.is_empty() { FILES } else { NO_FILES })?;
    Ok(Status::Clean)
}

/// The words that the last word can become, with their descriptions.
fn candidates(program: &Command, words: &[String]) -> Vec<(String, String)> {
    let (start, before) = words.split_last().map_or(("", words), |(last, before)| (last.as_str(), before));
    let chosen = before.iter().find_map(|word| program.find_subcommand(word));
    let command = chosen.unwrap_or(program);
    let flag = |name: &str| {
        command.get_arguments().find(|arg| {
            let short = arg.get_short().map(|short| format!("-{short}"));
            name.strip_prefix("--").is_some_and(|name| arg.get_long() == Some(name))
                || short.is_some_and(|short| short == name)
        })
    };
    let values = |arg: &clap::Arg| -> Vec<(String, String)> {
        let values = arg.get_possible_values().into_iter().filter(|value| !value.is_hide_set());
        values.map(|value| (value.get_name().to_owned(), help(value.get_help()))).collect()
    };
    let takes_value = |arg: &&clap::Arg| matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let (prefix, all) = if let Some((name, _)) = start.split_once('=') {
        (format!("{name}="), flag(name).map(values).unwrap_or_default())
    } else if let Some(arg) = before.last().and_then(|name| flag(name)).filter(takes_value) {
        (String::new(), values(arg))
    } else if start.starts_with('-') {
        let flags = command.get_arguments().filter(|arg| !arg.is_hide_set());
        let flags = flags.filter_map(|arg| Some((format!("--{}", arg.get_long()?), help(arg.get_help()))));
        (String::new(), flags.collect())
    } else if chosen.is_none() {
        let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
        let commands = commands.map(|one| (one.get_name().to_owned(), help(one.get_about())));
        (String::new(), commands.collect())
    } else {
        (String::new(), command.get_positionals().flat_map(values).collect())
    };
    let whole = all.into_iter().map(|(word, help)| (format!("{prefix}{word}"), help));
    whole.filter(|(word, _)| word.starts_with(start)).collect()
}

/// The first line of a description.
fn help(text: Option<&clap::builder::StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(words: &[&str]) -> Vec<String> {
        let mut program = with_names(Arguments::command());
        program.build();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        candidates(&program, &words).into_iter().map(|(word, _)| word).collect()
    }

    #[test]
    fn knows_the_executable_of_the_plugin() {
        for name in ["kubectl-karpwarden", "/usr/local/bin/kubectl-karpwarden", "kubectl-karpwarden.exe"] {
            assert!(is_named_plugin(OsStr::new(name)), "{name}");
        }
        assert!(!is_named_plugin(OsStr::new("karpwarden")));
    }

    #[test]
    fn completes_commands_flags_and_values() {
        assert_eq!(completed(&["sim"]), ["simulate"]);
        assert!(
            completed(&[""]).contains(&"why".to_owned())
                && !completed(&[""]).contains(&"__complete".to_owned())
        );
        assert_eq!(completed(&["check", "--statis"]), ["--statistics"]);
        assert_eq!(completed(&["check", "--fail-on", "w"]), ["warning"]);
        assert_eq!(completed(&["check", "--fail-on=w"]), ["--fail-on=warning"]);
        assert_eq!(completed(&["explain", "instance-profile-is-a"]), ["instance-profile-is-arn"]);
        assert_eq!(completed(&["check", "--statistics", "no-such-"]), [""; 0]);
    }
}
