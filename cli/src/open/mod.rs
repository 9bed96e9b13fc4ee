//! `karpwarden open`: serves the page of `karpwarden report` on loopback, and the page reloads when the input changes.

mod mark;
mod server;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use clap::Args;
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use super::error::CommandError;
use super::form::Color;
use super::report::{PageFlags, PageOptions};
use super::status::Status;
use super::terminal;
use server::{PageServer, serve};

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

pub(crate) fn run(arguments: OpenArguments, color: Color) -> Result<Status, CommandError> {
    let options = PageOptions::try_from(arguments.page)?;
    let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
    runtime.block_on(async {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|error| {
            io::Error::new(error.kind(), format!("cannot listen on {address} (`--port`): {error}"))
        })?;
        let server = PageServer::new(options, listener.local_addr()?.port(), color)?;
        let mut out = terminal::stdout(color);
        super::output::unless_closed(server.announce(&mut out))?;
        serve(server, listener).await
    })
}
