//! `karpwarden` without a command: checks the current folder, and says what else the program does.

use clap::Parser as _;

use super::arguments::{Arguments, CliCommand};
use super::error::CommandError;
use super::form::Color;
use super::messages::CollectedMessages;
use super::options::CheckOptions;
use super::status::Status;
use super::{check, input, plugin, terminal};

/// Number of files and folders to look at. Someone who tries the program in a home folder does not want all of it checked.
const MAX_WALKED: usize = 100_000;

const OTHER_COMMANDS: &str = "checked this folder; `karpwarden --help` lists what else there is, such as `plan`, \
    `simulate`, `upgrade` and `diagnose`";

pub(crate) fn run(color: Color) -> Result<Status, CommandError> {
    let Ok(Arguments { command: Some(CliCommand::Check(check)), .. }) =
        Arguments::try_parse_from(["karpwarden", "check", "."])
    else {
        return Ok(help());
    };
    let mut options = CheckOptions::from(*check);
    options.input.max_walked = MAX_WALKED;
    // A check prints the errors of an invalid config file.
    if let Ok((_, clusters)) = check::inputs(&options, &CollectedMessages::default()) {
        if clusters.iter().any(|cluster| cluster.is_cut) {
            terminal::note(color, "this folder is large; `karpwarden check .` checks all of it");
            return Ok(help());
        }
        if input::count(&clusters) == 0 {
            help();
            terminal::note(color, &format!("nothing to check in this folder: {}", input::NO_FILES));
            return Ok(Status::NoInput);
        }
    }
    let status = check::run(&options, color)?;
    terminal::note(color, OTHER_COMMANDS);
    Ok(status)
}

/// Prints the help as an incomplete command line does.
fn help() -> Status {
    let help = plugin::command().render_help();
    // A closed terminal is not an error.
    let _ = terminal::print_styled(&help.ansi().to_string(), true);
    Status::Usage
}
