//! `make generate`: writes every derived file of the repository.

use std::fs;
use std::process::ExitCode;

use karpwarden_generate::{generated, home};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    for (path, text) in generated::files()? {
        if home::text(&path).ok().as_ref() == Some(&text) {
            continue;
        }
        let file = home::path(&path);
        let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
        folder.and_then(|()| fs::write(&file, &text)).map_err(|error| format!("{path}: {error}"))?;
        println!("{path}");
    }
    Ok(())
}
