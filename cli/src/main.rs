//! The command line: turns arguments and files into a report and an exit status. It contains no rule.

#![forbid(unsafe_code)]

mod arguments;
mod baseline;
mod bounds;
mod check;
mod collect;
mod completions;
mod config;
mod conversion;
mod diagnose;
mod disruption;
mod explain;
mod fix;
mod init;
mod input;
mod lsp;
mod man;
mod markdown;
mod one_cluster;
mod options;
mod output;
mod progress;
mod rules;
mod simulate;
mod status;
mod story;
mod terminal;
mod unused;

use std::io;
use std::process::ExitCode;

use clap::Parser as _;

use arguments::{Arguments, Color, Command};
use status::Status;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // A closed terminal is not an error.
            let _ = error.print();
            let status = if error.use_stderr() { Status::Usage } else { Status::Clean };
            return ExitCode::from(status.code());
        }
    };
    let color = arguments.color;
    match run_command(arguments.command, color) {
        Ok(status) => ExitCode::from(status.code()),
        // A reader such as `head` has closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(Status::Clean.code()),
        Err(error) => {
            terminal::error(color, &error.to_string());
            ExitCode::from(Status::Usage.code())
        }
    }
}

fn run_command(command: Command, color: Color) -> io::Result<Status> {
    match command {
        Command::Check(check) => check::run(&(*check).into(), color),
        Command::Diagnose(diagnose) => diagnose::run(&(*diagnose).into(), color),
        Command::Upgrade(upgrade) => check::run(&(*upgrade).into(), color),
        Command::Simulate(simulate) => simulate::run(&(*simulate).into(), color),
        Command::Collect(collect) => collect::run(&collect, color),
        Command::Lsp { stdio: _ } => lsp::run(),
        Command::Disruption(disruption) => disruption::run(*disruption, color),
        Command::Explain(explain) => explain::run(&explain, color),
        Command::Rules(rules) => rules::run(&rules, color),
        Command::Init(init) => init::run(&init, color),
        Command::Man { command } => man::run(command.as_deref(), color),
        Command::Completions { shell } => completions::run(shell),
    }
}
