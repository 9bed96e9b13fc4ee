//! Runs the benchmarks and collects their rows in one table.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const HEAD: &str = "| what | measured | compared with | ratio | budget |\n|---|---|---|---|---|\n";

/// The native benchmarks whose rows are in the table. `growth` has no rows.
const BENCHMARKS: [&str; 5] = ["policy", "check", "diagnose", "simulate", "command"];

/// Runs the native benchmarks with a profile of Cargo, then the page's, and writes `target/bench.md`. An error if a
/// benchmark fails or a budget is exceeded.
pub(crate) fn run(root: &Path, profile: &str) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(&cargo);
    build
        .args(["build", "--quiet", "--locked", "--bin", "karpwarden", "--profile", profile])
        .current_dir(root);
    if !build.status().is_ok_and(|status| status.success()) {
        return Err("the command does not compile".to_owned());
    }
    let mut native = Command::new(cargo);
    native.args(["bench", "--quiet", "--locked", "--no-fail-fast", "--package", "karpwarden-bench"]);
    native.args(BENCHMARKS.iter().flat_map(|name| ["--bench", name]));
    native.args(["--profile", profile]).current_dir(root);
    let mut page = Command::new("node");
    page.arg("bench.mjs").current_dir(root.join("playground"));
    let mut table = HEAD.to_owned();
    let mut failed = Vec::new();
    for (name, command) in [("engine", native), ("page", page)] {
        let (rows, succeeded) = rows(name, command)?;
        table.push_str(&rows);
        if !succeeded {
            failed.push(name);
        }
    }
    let path = root.join("target/bench.md");
    fs::write(&path, &table).map_err(|error| format!("{}: {error}", path.display()))?;
    print!("{table}");
    if failed.is_empty() {
        Ok("\nwritten to target/bench.md".to_owned())
    } else {
        Err(format!("a budget is exceeded or a benchmark failed: {}", failed.join(", ")))
    }
}

/// The rows that a command prints, and whether it succeeded.
fn rows(name: &str, mut command: Command) -> Result<(String, bool), String> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("{name}: {error}"))?;
    let mut rows = String::new();
    for line in String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.starts_with("| ")) {
        let _ = writeln!(rows, "{line}");
    }
    Ok((rows, output.status.success()))
}
