//! Properties of WebAssembly, which the npm package runs: it starts in the root folder, and has neither
//! threads nor sockets nor other programs.

use std::io;

/// Remedy for what WebAssembly cannot do.
const REMEDY: &str =
    concat!("install the native command line: ", env!("CARGO_PKG_REPOSITORY"), "#in-a-terminal-or-in-ci");

/// Enters the folder in which the user runs the program. The host of a WebAssembly module names it in `PWD`.
pub(crate) fn enter_current_folder() -> io::Result<()> {
    match std::env::var_os("PWD") {
        Some(folder) if cfg!(target_os = "wasi") => std::env::set_current_dir(folder),
        _ => Ok(()),
    }
}

/// Fails if the platform has no threads, without which `subject` does not work.
pub(crate) fn need_threads(subject: &str) -> io::Result<()> {
    if cfg!(target_os = "wasi") { Err(lacks("threads", subject)) } else { Ok(()) }
}

/// Error of a `subject` that needs what WebAssembly lacks.
pub(crate) fn lacks(lacking: &str, subject: &str) -> io::Error {
    let text = format!("WebAssembly has no {lacking}, which {subject} needs; {REMEDY}");
    io::Error::new(io::ErrorKind::Unsupported, text)
}

/// Reason why a program such as `git` did not start, and what to do if the platform starts none.
pub(crate) fn start_failure(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::Unsupported {
        return format!("WebAssembly starts no other programs; {REMEDY}");
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::start_failure;

    #[test]
    fn names_the_remedy_only_where_no_program_starts() {
        assert!(start_failure(&io::ErrorKind::Unsupported.into()).ends_with("#in-a-terminal-or-in-ci"));
        assert_eq!(start_failure(&io::Error::other("too many files")), "too many files");
    }
}
