//! `karpwarden man`: prints a man page, generated from the declarations of the arguments.

use std::io::{self, Write as _};

use answers::VERSION;
use clap_mangen::Man;

use super::error::CommandError;
use super::plugin;
use super::status::Status;

pub(crate) fn run(command: Option<&str>) -> Result<Status, CommandError> {
    let mut program = plugin::command();
    program.build();
    let page = match command {
        None => program,
        Some(name) => {
            let unknown = || CommandError::Usage(format!("there is no command `{name}`"));
            program.find_subcommand(name).cloned().ok_or_else(unknown)?
        }
    };
    let mut text = Vec::new();
    Man::new(page).source(format!("karpwarden {VERSION}")).render(&mut text)?;
    io::stdout().write_all(&text)?;
    Ok(Status::Clean)
}
