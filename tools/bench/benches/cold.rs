//! The command on manifests with the shapes that people publish, each time as a new process: time, instructions and memory.
//!
//! Measures the command of `cargo build --release`. `valgrind` counts the instructions; without it their rows are left out.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs};

use anyhow::{Context as _, Result};
use karpwarden::{Cluster, File, READ_OPTIONS, Settings};
use karpwarden_bench::corpus::documents;
use karpwarden_bench::{Bench, Comparison, RatioBudget, main_of, time};
use wait4::Wait4 as _;

/// The most instructions for 1,000 documents.
const INSTRUCTIONS: usize = 200_000_000;
/// The most that the instructions for 10,000 documents may be, as a multiple of those for 1,000.
const GROWTH: f64 = 11.0;
/// The most memory, as a multiple of the input.
const MEMORY: f64 = 6.0;

fn main() -> ExitCode {
    main_of(run)
}

fn run(bench: &mut Bench) -> Result<()> {
    let command = built().filter(|path| path.is_file());
    let command =
        command.context("the command is not built; run `cargo build --release --package karpwarden-cli`")?;
    let folder = tempfile::tempdir()?;
    let mut counted = Vec::new();
    for count in [1_000, 10_000] {
        let text = documents(count).concat();
        let path = folder.path().join(format!("{count}.yaml"));
        fs::write(&path, &text)?;
        bench.compare(
            Comparison {
                title: &format!("cold: check {count} published documents"),
                reference: "in a process that runs",
                budget: RatioBudget::None,
            },
            || time(|| check(&command, &path)),
            || time(|| warm(&text)),
        )?;
        bench.sizes(
            Comparison {
                title: &format!("cold: memory for {count} published documents"),
                reference: "the input",
                budget: RatioBudget::Later(MEMORY),
            },
            [memory(&command, &path)?, text.len()],
        );
        counted.extend(instructions(&command, &path)?);
    }
    if let [few, many] = counted[..] {
        let title = "cold: instructions for 1000 published documents";
        bench.instructions(
            Comparison { title, reference: "budget", budget: RatioBudget::Later(1.0) },
            [few, INSTRUCTIONS],
        );
        let title = "cold: instructions for 10000 published documents";
        bench.instructions(
            Comparison { title, reference: "1000 documents", budget: RatioBudget::Later(GROWTH) },
            [many, few],
        );
    }
    Ok(())
}

/// The command beside the folder of this program, `target/PROFILE/deps`.
fn built() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    Some(program.parent()?.parent()?.join("karpwarden"))
}

/// A check by a new process. Findings are no error.
fn checking(program: &Path, path: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("check").arg(path).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn check(program: &Path, path: &Path) {
    let status = checking(program, path).status();
    assert!(status.is_ok_and(|status| matches!(status.code(), Some(0 | 1))), "{}", program.display());
}

/// A check by this process.
fn warm(text: &str) {
    let files = vec![File::read("all.yaml", text.to_owned(), READ_OPTIONS)];
    let cluster = Cluster { files, ..Cluster::default() };
    black_box(karpwarden::check(&[cluster], &Settings::default()));
}

/// The most memory that a check has at once, in bytes.
fn memory(program: &Path, path: &Path) -> Result<usize> {
    let used = checking(program, path).spawn()?.wait4()?;
    Ok(usize::try_from(used.rusage.maxrss)?)
}

/// The instructions of a check. `None` without valgrind.
fn instructions(program: &Path, path: &Path) -> Result<Option<usize>> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program).arg("check").arg(path);
    let Ok(output) = valgrind.stdout(Stdio::null()).output() else { return Ok(None) };
    let log = String::from_utf8_lossy(&output.stderr);
    let counted = log.lines().find_map(|line| line.split_once("Collected : "));
    let (_, count) = counted.with_context(|| format!("valgrind counted nothing: {log}"))?;
    Ok(Some(count.trim().parse()?))
}
