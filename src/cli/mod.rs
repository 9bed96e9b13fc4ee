//! The terminal door: arguments and files in, a report and an exit status out. It holds no rule.

mod arguments;
mod baseline;
mod check;
mod config;
mod diagnose;
mod explain;
mod fix;
mod init;
mod input;
mod json_with_comments;
mod man;
mod markdown;
mod patterns;
mod progress;
mod rules;
mod terminal;
mod upgrade;

use std::io;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use arguments::{Arguments, Command};

/// What the exit status tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Nothing at or above the level that fails.
    Clean,
    /// Findings at or above it.
    Findings,
    /// The command line or the config file is wrong.
    Usage,
    /// There is no input file at all.
    NoInput,
    /// Some input could not be read or parsed; the rest was checked.
    Unreadable,
}

impl Status {
    fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::NoInput => 3,
            Self::Unreadable => 4,
        }
    }
}

/// Runs the command line of this process.
pub(crate) fn run() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Where the terminal is gone there is nobody to tell.
            let _ = error.print();
            let status = if error.use_stderr() { Status::Usage } else { Status::Clean };
            return ExitCode::from(status.code());
        }
    };
    let color = arguments.color;
    let result = match arguments.command {
        Command::Check(check) => check::run(&check, color),
        Command::Diagnose(diagnose) => diagnose::run(*diagnose, color),
        Command::Upgrade(upgrade) => upgrade::run(*upgrade, color),
        Command::Explain(explain) => explain::run(&explain, color),
        Command::Rules(rules) => rules::run(&rules, color),
        Command::Init(init) => init::run(&init, color),
        Command::Man { command } => man::run(command.as_deref(), color),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "karpwarden", &mut text);
            io::Write::write_all(&mut io::stdout(), &text).map(|()| Status::Clean)
        }
    };
    match result {
        Ok(status) => ExitCode::from(status.code()),
        // `| head` has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(Status::Clean.code()),
        Err(error) => {
            terminal::error(color, &error.to_string());
            ExitCode::from(Status::Usage.code())
        }
    }
}
