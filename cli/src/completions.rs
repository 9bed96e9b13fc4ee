//! `karpwarden completions SHELL`: prints a completion script, which also completes the names of rules.

use std::io::{self, Write as _};

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Command, CommandFactory as _};
use clap_complete::Shell;
use karpwarden::reference::symptoms::with_symptoms;
use rule::finding::Family;

use super::arguments::Arguments;
use super::plugin;
use super::status::Status;

pub(crate) fn run(shell: Shell) -> io::Result<Status> {
    if plugin::is_plugin() {
        return plugin::print_script();
    }
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut with_names(Arguments::command()), "karpwarden", &mut text);
    io::stdout().write_all(&text).map(|()| Status::Clean)
}

/// The program with the names of rules as possible values. The program that parses the command line has no possible values:
/// its own errors suggest the nearest name, and its help does not list all names.
pub(crate) fn with_names(program: Command) -> Command {
    let named = |arg: Arg| arg.value_parser(PossibleValuesParser::new(names()));
    let selected = |command: Command| command.mut_arg("select", named).mut_arg("ignore", named);
    ["check", "diagnose", "upgrade"]
        .into_iter()
        .fold(program, |program, name| program.mut_subcommand(name, selected))
        .mut_subcommand("explain", |command| command.mut_arg("names", named))
        .mut_subcommand("why", |command| {
            // `mut_arg` puts an argument behind the others, and the name comes second.
            command.mut_arg("subject", |arg| arg.value_parser(subjects())).mut_arg("name", |arg| arg)
        })
}

/// Starts of the objects that `why` explains. `why` accepts a name in the next word, too: shells write a space after a completion.
fn subjects() -> PossibleValuesParser {
    let starts = [("node/", "A node, a NodeClaim or an instance"), ("pod/", "A pod")];
    PossibleValuesParser::new(starts.map(|(start, help)| PossibleValue::new(start).help(help)))
}

/// Names of families, rules and symptoms, with their descriptions.
fn names() -> Vec<PossibleValue> {
    let families = Family::ALL.map(|family| PossibleValue::new(family.name()).help(family.description()));
    let rules = with_symptoms().into_iter().map(|entry| PossibleValue::new(entry.name).help(entry.summary));
    families.into_iter().chain(rules).collect()
}
