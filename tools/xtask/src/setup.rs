//! `cargo xtask setup`: installs missing programs and packages that the other tasks need, and prints what it installs.

use std::env;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

/// A program outside the Rust toolchain.
struct Program {
    /// The names that it is installed under.
    commands: &'static [&'static str],
    /// An environment variable that names another one to use.
    variable: Option<&'static str>,
    /// The Debian packages that install it.
    packages: &'static [&'static str],
}

const PROGRAMS: [Program; 6] = [
    // Builds and tests the page.
    Program { commands: &["npm"], variable: None, packages: &["nodejs", "npm"] },
    // Runs the page in its tests.
    Program {
        commands: &["chromium", "chromium-browser", "google-chrome"],
        variable: Some("CHROMIUM"),
        packages: &["chromium"],
    },
    // The registry that publishing is tested against.
    Program { commands: &["docker-registry"], variable: None, packages: &["docker-registry"] },
    // Evaluates the alerts.
    Program { commands: &["promtool"], variable: None, packages: &["prometheus"] },
    // Editors that start the language server.
    Program { commands: &["nvim"], variable: None, packages: &["neovim"] },
    Program {
        commands: &["emacs"],
        variable: None,
        packages: &["emacs-nox", "elpa-eglot", "elpa-yaml-mode"],
    },
];

/// The targets of the policy module and of the page.
const TARGETS: [&str; 2] = ["wasm32-wasip1", "wasm32-unknown-unknown"];

/// Installs the compiler's WebAssembly targets, if they are missing.
pub(crate) fn targets() -> Result<()> {
    let root = Command::new("rustc").args(["--print", "sysroot"]).output();
    let root = root.context("rustc")?.stdout;
    let libraries = Path::new(String::from_utf8_lossy(&root).trim()).join("lib/rustlib");
    for target in TARGETS {
        if !libraries.join(target).join("lib").is_dir() {
            run("rustup", &["target", "add", target])?;
        }
    }
    Ok(())
}

/// Installs every program that the tests need, if it is missing.
pub(crate) fn programs() -> Result<()> {
    install(&PROGRAMS.iter().collect::<Vec<_>>())
}

/// Installs one program, if it is missing. `None` if no such program is needed.
pub(crate) fn program(name: &str) -> Option<Result<()>> {
    let program = PROGRAMS.iter().find(|program| program.commands.contains(&name))?;
    Some(install(&[program]))
}

fn install(programs: &[&Program]) -> Result<()> {
    let missing: Vec<_> = programs.iter().filter(|program| !program.is_installed()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().flat_map(|program| program.packages).copied().collect();
    if !(is_root() && is_on_path("apt-get")) {
        let names: Vec<&str> =
            missing.iter().filter_map(|program| program.commands.first()).copied().collect();
        bail!(
            "not installed: {}; on Debian: sudo apt-get install -y {}",
            names.join(", "),
            packages.join(" ")
        );
    }
    run("apt-get", &["update", "-qq"])?;
    run("apt-get", &[&["install", "-y", "-qq", "--no-install-recommends"][..], &packages].concat())
}

impl Program {
    fn is_installed(&self) -> bool {
        let is_named = self.variable.is_some_and(|variable| env::var_os(variable).is_some());
        is_named || self.commands.iter().any(|command| is_on_path(command))
    }
}

fn is_on_path(command: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(command).is_file())
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

fn run(program: &str, arguments: &[&str]) -> Result<()> {
    println!("==> {program} {}", arguments.join(" "));
    let mut command = Command::new(program);
    let status = command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").status();
    ensure!(status.context(program.to_owned())?.success(), "{program} {} failed", arguments.join(" "));
    Ok(())
}
