//! The command line of Karpwarden: the terminal door. See [`cli`].

#![forbid(unsafe_code)]

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
