//! `karpwarden man`: prints a man page, generated from the declarations of the arguments.

use std::io::{self, Write as _};

use clap::CommandFactory as _;
use clap_mangen::Man;

use super::arguments::{Arguments, Color};
use super::status::Status;
use super::terminal;

pub(crate) fn run(command: Option<&str>, color: Color) -> io::Result<Status> {
    let mut program = Arguments::command();
    program.build();
    let page = match command {
        None => Some(program),
        Some(name) => program.find_subcommand(name).cloned(),
    };
    let Some(page) = page else {
        terminal::error(color, &format!("there is no command `{}`", command.unwrap_or_default()));
        return Ok(Status::Usage);
    };
    let mut text = Vec::new();
    Man::new(page).render(&mut text)?;
    io::stdout().write_all(&text)?;
    Ok(Status::Clean)
}
