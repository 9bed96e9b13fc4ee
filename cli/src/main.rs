//! The command line: turns arguments and files into a report and an exit status. It contains no rule.

#![forbid(unsafe_code)]

mod arguments;
mod assumed;
mod bare;
mod baseline;
mod bounds;
mod check;
mod collect;
mod completions;
mod config;
mod conversion;
mod diagnose;
mod disruption;
mod error;
mod explain;
mod fix;
mod flags;
mod form;
mod hash;
mod init;
mod input;
mod log_hint;
mod lsp;
mod man;
mod markdown;
mod mcp;
mod messages;
mod one_cluster;
mod open;
mod options;
mod output;
mod painter;
mod plan;
mod platform;
mod plugin;
mod progress;
mod render_charts;
mod report;
mod rules;
mod safe_writer;
mod schema;
mod simulate;
mod stack;
mod status;
mod story;
mod terminal;
mod unused;
mod upgrade_start;
mod watch;
mod whole_file;
mod why;

use std::process::ExitCode;

use arguments::CliCommand;
use error::CommandError;
use form::Color;
use render::human::printable;
use status::Status;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = match plugin::parse(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(error) => {
            let error = quoting_printable(error);
            let status = if error.use_stderr() { Status::Usage } else { Status::Clean };
            // A closed terminal is not an error.
            let _ = terminal::print_styled(&error.render().ansi().to_string(), error.use_stderr());
            return ExitCode::from(status.code());
        }
    };
    let color = arguments.color;
    let entered = platform::enter_current_folder().map_err(CommandError::from);
    let status = entered.and_then(|()| match arguments.command {
        Some(command) => run(command, color),
        None => bare::run(color),
    });
    let status = status.unwrap_or_else(|error| {
        if error.has_message() {
            terminal::error(color, &error.to_string());
        }
        error.status()
    });
    ExitCode::from(status.code())
}

/// The same error, if its text quotes an argument with control characters, with their symbols. A line break could start a workflow
/// command of GitHub.
fn quoting_printable(error: clap::Error) -> clap::Error {
    let arguments = std::env::args_os().map(|argument| printable(&argument.to_string_lossy()));
    plugin::parse(arguments.map(Into::into)).err().unwrap_or(error)
}

fn run(command: CliCommand, color: Color) -> Result<Status, CommandError> {
    match command {
        CliCommand::Check(check) if check.watch => watch::run(&(*check).into(), color),
        CliCommand::Check(check) => check::run(&(*check).into(), color),
        CliCommand::Diagnose(diagnose) => diagnose::run(&(*diagnose).into(), color),
        CliCommand::Upgrade(upgrade) => check::run(&(*upgrade).into(), color),
        CliCommand::Simulate(simulate) => simulate::run(*simulate, color),
        CliCommand::Collect(collect) => collect::run(&collect, color),
        CliCommand::Lsp { stdio: _ } => Ok(lsp::run()?),
        CliCommand::Mcp(mcp) => mcp::run(&mcp),
        CliCommand::Disruption(disruption) => disruption::run(*disruption, color),
        CliCommand::Why(why) => why::run(&why, color),
        CliCommand::Report(report) => report::run(*report, color),
        CliCommand::Open(open) => open::run(*open, color),
        CliCommand::Hash(hash) => hash::run(*hash, color),
        CliCommand::Plan(plan) => plan::run(*plan, color),
        CliCommand::Explain(explain) => explain::run(&explain, color),
        CliCommand::Rules(rules) => Ok(rules::run(&rules, color)?),
        CliCommand::Schema(schema) => schema::run(&schema, color),
        CliCommand::Init(init) => init::run(&init, color),
        CliCommand::Man { command } => man::run(command.as_deref()),
        CliCommand::Complete { words } => Ok(plugin::complete(&words)?),
        CliCommand::Completions { shell } => Ok(completions::run(shell)?),
    }
}
