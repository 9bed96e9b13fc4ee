//! Writes the derived files.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    match karpwarden_contract::files().and_then(write) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn write(files: Vec<karpwarden_contract::ContractFile>) -> Result<(), String> {
    for (path, text) in files {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(&path);
        let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
        folder.and_then(|()| fs::write(&file, &text)).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(())
}
