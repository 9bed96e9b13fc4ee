//! `karpwarden mcp`: the server for assistants on standard input and output. The tools, their arguments, the size of the answers, the
//! resources and the prompts are in the crate `assistant`; here are the connection, the files below the roots, and the commands.

mod answering;
mod limits;
mod reading;
mod roots;
mod server;
mod transport;

use std::io;
use std::path::PathBuf;

use clap::Args;
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio::runtime::Builder;

use super::error::CommandError;
use super::platform;
use super::status::Status;
use roots::Roots;
use server::McpServer;

/// Run the server for assistants (Model Context Protocol) on standard input and output.
///
/// An assistant starts the server and calls its tools: check, explain, upgrade, simulate, disruption, plan and diagnose. The server
/// reads files only below the folders that the client grants (its roots) and the folders of --root. It writes no file, starts no
/// program and uses no network. See docs/assistants.md for the configuration of clients.
#[derive(Args, Debug)]
pub(crate) struct McpArguments {
    /// Folder that the server may read, beside the roots of the client; may be repeated. For clients without roots.
    #[arg(long, value_name = "DIR")]
    root: Vec<PathBuf>,
}

pub(crate) fn run(mcp: &McpArguments) -> Result<Status, CommandError> {
    platform::need_threads("the server for assistants")?;
    let granted = mcp.root.iter().map(|folder| {
        let refused = || CommandError::Usage(format!("--root: `{}` is not a folder", folder.display()));
        folder.canonicalize().ok().filter(|real| real.is_dir()).ok_or_else(refused)
    });
    let granted = Roots::new(granted.collect::<Result<_, _>>()?);
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let ended = runtime.block_on(serve(granted));
    // Nobody waits for a computation that still runs.
    runtime.shutdown_background();
    ended
}

async fn serve(granted: Roots) -> Result<Status, CommandError> {
    let (transport, writer) = transport::stdio();
    match McpServer::new(granted).serve(transport).await {
        Ok(running) => {
            running.waiting().await.map_err(io::Error::other)?;
        }
        // The client has left before its first request.
        Err(ServerInitializeError::ConnectionClosed(_)) => {}
        Err(error) => return Err(io::Error::other(error).into()),
    }
    writer.finish()?;
    Ok(Status::Clean)
}
