//! `karpwarden open`: serves the page of `karpwarden report` on loopback, and the page reloads when the input changes.

#[cfg(not(target_os = "wasi"))]
mod mark;
#[cfg(not(target_os = "wasi"))]
mod server;

use clap::Args;

use super::error::CommandError;
use super::form::Color;
use super::report::PageFlags;
use super::status::Status;

const STATUS: &str = "\
Exit status, if the server does not start:
  2  invalid command line or config file
  3  no input files
  5  a file could not be written, or the system refused a resource, such as the port";

/// Serve the page of `report` to the browser of this computer, and reload it when the input changes.
///
/// The server listens on 127.0.0.1 only, answers only under the address that it prints, and changes nothing. It computes the page
/// again when a file of the input or the config file has changed. Ctrl+C stops it.
#[derive(Args, Debug)]
#[command(after_help = STATUS)]
pub(crate) struct OpenArguments {
    #[command(flatten)]
    page: PageFlags,

    /// Port of the server [default: any free port].
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true,
        help_heading = "Server"
    )]
    port: u16,
}

#[cfg(not(target_os = "wasi"))]
pub(crate) fn run(arguments: OpenArguments, color: Color) -> Result<Status, CommandError> {
    server::run(arguments.page.try_into()?, arguments.port, color)
}

#[cfg(target_os = "wasi")]
pub(crate) fn run(_: OpenArguments, _: Color) -> Result<Status, CommandError> {
    Err(super::platform::lacks("sockets", "`open`").into())
}
