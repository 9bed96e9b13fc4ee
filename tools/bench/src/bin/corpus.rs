//! Prints manifests with the shapes that people publish: `karpwarden-corpus 1000 > corpus.yaml`.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use karpwarden_bench::corpus::documents;

fn main() -> ExitCode {
    match print() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn print() -> Result<()> {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok());
    let count = count.context("name the number of documents: `karpwarden-corpus 1000`")?;
    let mut out = std::io::stdout().lock();
    documents(count)
        .iter()
        .try_for_each(|document| out.write_all(document.as_bytes()))
        .context("standard output")
}
