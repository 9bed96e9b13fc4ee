//! The command: the time from its start to its end, beside a program that does nothing.
//!
//! Measures the command of `cargo build --release`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result};
use karpwarden_bench::{Bench, Comparison, RatioBudget, main_of, time};

fn main() -> ExitCode {
    main_of(run)
}

fn run(bench: &mut Bench) -> Result<()> {
    let path = built().filter(|path| path.is_file());
    let path =
        path.context("the command is not built; run `cargo build --release --package karpwarden-cli`")?;
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/getting-started.yaml");
    for (title, arguments) in [
        ("start: print the version", &["--version"][..]),
        ("start: check two documents", &["check", example]),
        ("start: simulate without pods", &["simulate", example]),
    ] {
        bench.compare(
            Comparison { title, reference: "`true`", budget: RatioBudget::None },
            || time(|| start(&path, arguments)),
            || time(|| start(Path::new("true"), &[])),
        )?;
    }
    Ok(())
}

/// The command beside the folder of this program, `target/PROFILE/deps`.
fn built() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    Some(program.parent()?.parent()?.join("karpwarden"))
}

fn start(program: &Path, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "{}: {arguments:?}", program.display());
}
