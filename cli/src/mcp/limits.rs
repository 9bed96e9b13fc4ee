//! Bounds of the server. docs/assistants.md lists them.

use manifest::limits::Limits;

/// Maximum number of bytes of a message of the client. A text in an argument has at most half of it, because JSON may escape it.
pub(super) const MAX_MESSAGE: usize = 8 << 20;

/// Maximum number of bytes of all files that a call reads.
pub(super) const MAX_INPUT: usize = 64 << 20;

/// Maximum number of bytes of a file.
pub(super) const FILE: Limits = Limits { file_bytes: 16 << 20, ..Limits::DEFAULT };

/// Maximum number of bytes to which a compressed log may decompress.
pub(super) const MAX_DECOMPRESSED: u64 = 256 << 20;

/// Maximum number of files and folders to look at in a folder.
pub(super) const MAX_WALKED: usize = 50_000;

/// Number of calls that are computed at the same time. The others wait.
pub(super) const AT_ONCE: usize = 2;

/// Maximum number of calls that wait.
pub(super) const WAITING: usize = 100;

/// Maximum number of characters of an error.
pub(super) const MAX_ERROR: usize = 4_000;

/// Seconds in which a client has to name its roots.
pub(super) const ROOTS_SECONDS: u64 = 10;
