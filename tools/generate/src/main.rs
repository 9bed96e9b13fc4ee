//! `make generate`: writes every derived file of the repository.

use std::fs;

use anyhow::{Context as _, Result};
use karpwarden_generate::{generated, home};

fn main() -> Result<()> {
    write(generated::addresses()?)?;
    write(generated::manifests()?)?;
    write(generated::files()?)
}

fn write(files: Vec<generated::DerivedFile>) -> Result<()> {
    for (path, text) in files {
        if home::text(&path).ok().as_ref() == Some(&text) {
            continue;
        }
        let file = home::path(&path);
        let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
        folder.and_then(|()| fs::write(&file, &text)).with_context(|| path.clone())?;
        println!("{path}");
    }
    Ok(())
}
