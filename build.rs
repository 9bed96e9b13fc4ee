//! Lists the rules: every file in a folder of `src/rules` that declares one. So a new rule is its file and its `mod` line.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=src/rules");
    let mut list = String::from("&[\n");
    let mut has_rules = false;
    for folder in entries(Path::new("src/rules"))?.iter().filter(|path| path.is_dir()) {
        for file in entries(folder)?.iter().filter(|path| path.is_file()) {
            if fs::read_to_string(file)?.lines().any(|line| line == "rule! {") {
                let (family, rule) =
                    (folder.file_name().unwrap_or_default(), file.file_stem().unwrap_or_default());
                has_rules = true;
                let module = format!("{}::{}", family.display(), rule.display());
                writeln!(list, "    (&{module}::RULE, {module}::DOC),")?;
            }
        }
    }
    if !has_rules {
        return Err("src/rules has no rule".into());
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("rules.rs"), list)?;
    Ok(())
}

/// The paths in a folder, in alphabetical order.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
