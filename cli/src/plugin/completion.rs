//! Completion of the words after `kubectl karpwarden`.
//! Source: `pkg/cmd/plugin/plugin_completion.go` of kubernetes/kubectl at v0.33.0.

use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::{ArgAction, Command, CommandFactory as _};

use crate::arguments::Arguments;
use crate::collect::{ClusterFlags, names};
use crate::completions::with_names;
use crate::status::Status;
use crate::why::WhySubject;

/// Script `kubectl_complete-karpwarden`, which kubectl's own completion runs for the words after `karpwarden`.
const SCRIPT: &str = "\
#!/bin/sh
# Save this as an executable file `kubectl_complete-karpwarden` on the PATH; kubectl 1.26 and later run it.
exec kubectl-karpwarden __complete -- \"$@\"
";

/// Directives of the protocol, which is cobra's: files may follow, or not, or the word goes on.
/// Source: `ShellCompDirective` in completions.go of spf13/cobra at 03adb7914af381c96c85c76c86f45f8e1843d94a.
const FILES: &str = ":0";
const NO_FILES: &str = ":4";
const NO_FILES_AND_NO_SPACE: &str = ":6";

/// Prints the completion script of the plugin.
pub(crate) fn print_script() -> io::Result<Status> {
    io::stdout().write_all(SCRIPT.as_bytes()).map(|()| Status::Clean)
}

/// Prints the completions of the last word.
pub(crate) fn complete(words: &[String]) -> io::Result<Status> {
    let mut program = with_names(Arguments::command());
    program.build();
    let mut found = candidates(&program, words);
    let names_objects = words.iter().any(|word| word == "why");
    if found.is_empty() && names_objects {
        found = objects(words);
    }
    let mut out = io::stdout().lock();
    for (word, description) in &found {
        writeln!(out, "{word}\t{description}")?;
    }
    let directive = match found.first() {
        None if names_objects => NO_FILES,
        None => FILES,
        Some((word, _)) if word.ends_with('/') => NO_FILES_AND_NO_SPACE,
        Some(_) => NO_FILES,
    };
    writeln!(out, "{directive}")?;
    Ok(Status::Clean)
}

/// The pods or nodes of the cluster that the last word can become, as `why` names them: `pod/web-0`, or `web-0` after `pod`.
fn objects(words: &[String]) -> Vec<(String, String)> {
    let Some((last, before)) = words.split_last() else { return Vec::new() };
    let (prefix, kind, start) = match (last.split_once('/'), before.last()) {
        (Some((kind, start)), _) => (format!("{kind}/"), kind, start),
        (None, Some(kind)) => (String::new(), kind.trim_end_matches('/'), last.as_str()),
        (None, None) => return Vec::new(),
    };
    if WhySubject::parse(kind, Some("any")).is_err() {
        return Vec::new();
    }
    let value = |names: &[&str]| {
        let at = before.iter().position(|word| names.contains(&word.as_str()))?;
        before.get(at + 1).cloned()
    };
    let cluster = ClusterFlags {
        context: value(&["--context"]),
        kubeconfig: value(&["--kubeconfig"]).map(PathBuf::from),
    };
    let names = names(&cluster, kind, value(&["-n", "--namespace"]).as_deref());
    let names = names.into_iter().filter(|name| name.starts_with(start));
    names.map(|name| (format!("{prefix}{name}"), String::new())).collect()
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
        let next = positional(command, before, |name| flag(name).is_some_and(|arg| takes_value(&arg)));
        (String::new(), next.into_iter().flat_map(values).collect())
    };
    let whole = all.into_iter().map(|(word, help)| (format!("{prefix}{word}"), help));
    whole.filter(|(word, _)| word.starts_with(start)).collect()
}

/// The argument without a flag that comes after some words; the last one may repeat. `takes_value` says whether a word is a flag whose value
/// is the next word.
fn positional<'c>(
    command: &'c Command,
    before: &[String],
    takes_value: impl Fn(&str) -> bool,
) -> Option<&'c clap::Arg> {
    let mut words = before.iter().skip_while(|word| *word != command.get_name()).skip(1);
    let mut count = 0;
    while let Some(word) = words.next() {
        if takes_value(word) {
            words.next();
        } else if !word.starts_with('-') {
            count += 1;
        }
    }
    let all: Vec<&clap::Arg> = command.get_positionals().collect();
    let is_list = |arg: &&&clap::Arg| matches!(arg.get_action(), ArgAction::Append);
    all.get(count).or_else(|| all.last().filter(is_list)).copied()
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
        assert_eq!(completed(&["why", ""]), ["node/", "pod/"]);
        assert_eq!(completed(&["-n", "shop", "why", "p"]), ["pod/"]);
        assert_eq!(completed(&["why", "--namespace", "shop", "p"]), ["pod/"]);
        assert_eq!(completed(&["why", "pod", ""]), [""; 0], "the name of a pod");
        assert_eq!(completed(&["explain", "storage", "instance-profile-is-a"]), ["instance-profile-is-arn"]);
    }
}
