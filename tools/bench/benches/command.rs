//! The command: the time from its start to its end, beside a program that does nothing.
//!
//! Takes the path of the command, or measures the one of `cargo build --release`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use karpwarden_bench::{Quantity, Row, Table, best};

/// Starts of each program.
const ROUNDS: usize = 200;

fn main() -> ExitCode {
    let path = env::args().skip(1).find(|argument| !argument.starts_with('-')).map(PathBuf::from);
    let Some(path) = path.or_else(built).filter(|path| path.is_file()) else {
        eprintln!("the command is not built; run `cargo build --release --bin karpwarden`");
        return ExitCode::from(2);
    };
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/getting-started.yaml");
    let mut table = Table::default();
    for (title, arguments) in [
        ("start: print the version", &["--version"][..]),
        ("start: check two documents", &["check", example]),
        ("start: simulate without pods", &["simulate", example]),
    ] {
        let [of_command, of_nothing] =
            best(ROUNDS, [&mut || run(&path, arguments), &mut || run(Path::new("true"), &[])]);
        table.row(Row {
            title,
            value: Quantity::Time(of_command),
            reference: "`true`",
            of_reference: Quantity::Time(of_nothing),
            budget: None,
        });
    }
    table.finish()
}

/// The command beside the folder of this program, `target/PROFILE/deps`.
fn built() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    Some(program.parent()?.parent()?.join("karpwarden"))
}

fn run(program: &Path, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "{}: {arguments:?}", program.display());
}
