//! The protocol of the language server, without files and without rules: a [`Session`] turns messages of an editor into checks of a
//! [`Workspace`], and the findings into diagnostics, code actions and hovers.
//!
//! ```text
//! editor ──▶ messages ──▶ session ──▶ open documents ──▶ workspace ──▶ reports
//! editor ◀── diagnostics, code actions, hovers ◀───────────────────────┘
//! ```
//!
//! Source: the Language Server Protocol 3.17.

mod actions;
mod client;
mod completion;
mod diagnostics;
mod documents;
mod error;
mod folder;
mod framing;
mod hover;
mod lens;
mod lines;
mod links;
mod messages;
mod navigation;
mod outline;
mod page_links;
mod pool_types;
mod progress;
mod schema;
mod session;
mod start;
mod symbols;
#[cfg(test)]
mod testing;
mod uri;
mod workspace;

pub use documents::{OpenDocument, OpenDocuments};
pub use error::{FramingError, ProtocolError};
pub use framing::{MAX_MESSAGE, Received, receive, write_parse_error};
pub use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
pub use lsp_types as protocol;
pub use session::{EditorConnection, Session};
pub use start::SessionStart;
pub use uri::{encode_uris, from_path, path_of_address};
pub use workspace::{
    Checked, CheckedFile, ConfigProblem, FolderView, Workspace, files_named_in, release_of_file,
};
