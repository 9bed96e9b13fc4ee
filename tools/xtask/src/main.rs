//! The build steps of this repository: `cargo xtask help` lists them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

use anyhow::{Context as _, Result, bail};

mod annotate;
mod bench;
mod capabilities;
mod compile;
mod inspect;
mod metadata;
mod module;
mod new_rule;
mod release;
mod reproducible;
mod setup;

const USAGE: &str = "\
Usage: cargo xtask <task>

  setup [targets|npm|chromium|docker-registry|promtool|nvim|emacs]
      installs what the tests need, or only the compiler's WebAssembly targets or one program
  module policy|floor|counted|playground|playground-checker|playground-symptoms|playground-placement|playground-editor
      compiles a WebAssembly module
  annotate --metadata metadata.yml [--usage README.md] IN.wasm OUT.wasm
      writes the policy's metadata into the module, as `kwctl annotate` does
  inspect MODULE.wasm
      prints the module's metadata, size, imports and exports
  reproducible
      builds the annotated policy in two folders and compares the bytes
  bench [PROFILE]
      measures everything that has a budget and writes target/bench.md
  new-rule FAMILY NAME
      writes the skeleton of a rule and adds it to the family's list
  release RELEASE --crds DIR [--chart DIR] [--cloudformation FILE] [--metrics FILE] [--source DIR]...
      compares the published files of a release of Karpenter with the tables, and records them for the tests
  unknown-tags
      reads tags of aws/karpenter-provider-aws from standard input, one a line, and prints those of releases that are not known
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", format!("{error:#}").trim_end());
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut arguments = env::args_os().skip(1);
    match arguments.next().as_ref().and_then(|task| task.to_str()) {
        Some("setup") => setup(arguments),
        Some("module") => module(arguments),
        Some("annotate") => annotate(arguments),
        Some("inspect") => inspect(arguments),
        Some("reproducible") => reproducible::check(&root()),
        Some("bench") => bench(arguments),
        Some("new-rule") => new_rule(arguments),
        Some("release") => release::run(&root(), arguments).map(|message| println!("{message}")),
        Some("unknown-tags") => unknown_tags(),
        Some("help" | "-h" | "--help") => {
            print!("{USAGE}");
            Ok(())
        }
        _ => bail!(USAGE),
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn setup(mut arguments: impl Iterator<Item = OsString>) -> Result<()> {
    match (arguments.next().as_ref().and_then(|word| word.to_str()), arguments.next()) {
        (None, None) => {
            setup::targets()?;
            setup::programs()
        }
        (Some("targets"), None) => setup::targets(),
        (Some(name), None) => setup::program(name).unwrap_or_else(|| bail!(USAGE)),
        _ => bail!(USAGE),
    }
}

fn module(mut arguments: impl Iterator<Item = OsString>) -> Result<()> {
    let (Some(name), None) = (arguments.next(), arguments.next()) else { bail!(USAGE) };
    compile::compile(&root(), &name.to_string_lossy())
}

fn annotate(mut arguments: impl Iterator<Item = OsString>) -> Result<()> {
    let (mut metadata, mut usage, mut files) = (None, None, Vec::new());
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("-m" | "--metadata") => metadata = arguments.next(),
            Some("-u" | "--usage") => usage = arguments.next(),
            Some(flag) if flag.starts_with('-') => bail!("unknown option `{flag}`\n\n{USAGE}"),
            _ => files.push(argument),
        }
    }
    let (Some(metadata), [input, output]) = (metadata, &files[..]) else { bail!(USAGE) };
    let metadata = text(Path::new(&metadata))?;
    let usage = usage.map(|path| text(Path::new(&path))).transpose()?;
    let annotated = annotate::annotate(&bytes(Path::new(input))?, &metadata, usage.as_deref())?;
    for warning in &annotated.warnings {
        eprintln!("warning: {warning}");
    }
    write(Path::new(output), &annotated.module)
}

fn inspect(mut arguments: impl Iterator<Item = OsString>) -> Result<()> {
    let (Some(path), None) = (arguments.next(), arguments.next()) else { bail!(USAGE) };
    let report = inspect::report(&bytes(Path::new(&path))?)?;
    print!("{report}");
    Ok(())
}

fn bench(mut arguments: impl Iterator<Item = OsString>) -> Result<()> {
    let profile =
        arguments.next().map_or_else(|| "host".to_owned(), |word| word.to_string_lossy().into_owned());
    println!("{}", bench::run(&root(), &profile)?);
    Ok(())
}

fn new_rule(arguments: impl Iterator<Item = OsString>) -> Result<()> {
    let words: Vec<String> = arguments.map(|word| word.to_string_lossy().into_owned()).collect();
    let [family, name] = &words[..] else { bail!(USAGE) };
    println!("{}", new_rule::write(&root(), family, name)?);
    Ok(())
}

fn unknown_tags() -> Result<()> {
    let tags = io::read_to_string(io::stdin())?;
    release::unknown_tags(&tags).for_each(|tag| println!("{tag}"));
    Ok(())
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| path.display().to_string())
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| path.display().to_string())
}

fn text(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}
