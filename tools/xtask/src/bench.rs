//! Runs the benchmarks and collects their rows in one table.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

const HEAD: &str = "| what | measured | compared with | ratio | budget |\n|---|---|---|---|---|\n";

/// Runs the benchmarks of the engine, which is built like the published command, of the policy, whose host is built with a
/// profile of Cargo, and of the page. Writes `target/bench.md`. An error if a benchmark fails or a budget is exceeded.
pub(crate) fn run(root: &Path, host_profile: &str) -> Result<String> {
    let cargo = || {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(root);
        cargo
    };
    let mut build = cargo();
    build.args(["build", "--quiet", "--locked", "--package", "karpwarden-cli", "--release"]);
    if !build.status().is_ok_and(|status| status.success()) {
        bail!("the command does not compile");
    }
    let mut engine = cargo();
    engine.args([
        "bench",
        "--quiet",
        "--locked",
        "--no-fail-fast",
        "--package",
        "karpwarden-bench",
        "--benches",
    ]);
    let mut policy = cargo();
    // `--workspace` selects the features of `cargo test --workspace`, which has compiled the host with profile `dev`.
    policy.args(["bench", "--quiet", "--locked", "--workspace", "--bench", "policy"]);
    policy.args(["--profile", host_profile]);
    let mut page = Command::new("node");
    page.arg("bench.mjs").current_dir(root.join("playground"));
    let mut table = HEAD.to_owned();
    let mut failed = Vec::new();
    for (name, command) in [("engine", engine), ("policy", policy), ("page", page)] {
        let (rows, succeeded) = rows(name, command)?;
        table.push_str(&rows);
        if !succeeded {
            failed.push(name);
        }
    }
    let path = root.join("target/bench.md");
    crate::write(&path, table.as_bytes())?;
    print!("{table}");
    if failed.is_empty() {
        Ok("\nwritten to target/bench.md".to_owned())
    } else {
        bail!("a budget is exceeded or a benchmark failed: {}", failed.join(", "))
    }
}

/// The rows that a command prints, and whether it succeeded.
fn rows(name: &str, mut command: Command) -> Result<(String, bool)> {
    let output = command.stderr(Stdio::inherit()).output().with_context(|| name.to_owned())?;
    let mut rows = String::new();
    for line in String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.starts_with("| ")) {
        let _ = writeln!(rows, "{line}");
    }
    Ok((rows, output.status.success()))
}
