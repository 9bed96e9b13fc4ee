//! Commands in the documentation: their subcommands and flags exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::folder::Folder;

/// Commands of a page, in blocks and in the text, without the name of the program and without what follows in the same line.
fn commands(page: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut is_block = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
        } else if is_block {
            commands.extend(
                line.trim_start().trim_start_matches("$ ").strip_prefix("karpwarden ").map(str::to_owned),
            );
        } else {
            let quoted = line.split('`').skip(1).step_by(2);
            let own = quoted.filter_map(|text| {
                let starts = ["kubectl karpwarden ", "npx karpwarden ", "uvx karpwarden ", "karpwarden "];
                starts.iter().find_map(|start| text.strip_prefix(start))
            });
            commands.extend(own.map(str::to_owned));
        }
    }
    let ends = [" #", " |", " >", " && ", " -- "];
    let ended = |command: &String| {
        let end = ends.iter().filter_map(|end| command.find(end)).min().unwrap_or(command.len());
        command.get(..end).unwrap_or(command).to_owned()
    };
    // `karpwarden = …` is a dependency of Cargo.
    commands.iter().filter(|command| !command.starts_with('=')).map(ended).collect()
}

#[test]
fn commands_in_the_documentation_exist_with_their_flags() {
    let folder = Folder::with(&[]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut pages = vec![root.join("README.md"), root.join("playground/package/README.md")];
    pages.extend(fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path()));
    let mut helps: BTreeMap<String, (i32, BTreeSet<String>)> = BTreeMap::new();
    let mut count = 0;
    for page in pages.iter().filter(|page| page.extension().is_some_and(|end| end == "md")) {
        for command in commands(&fs::read_to_string(page).unwrap()) {
            // The namespace of kubectl may come before the subcommand.
            let mut words = command.strip_prefix("-n shop ").unwrap_or(&command).split_whitespace();
            let Some(name) = words.find(|word| word.starts_with(|char: char| char.is_ascii_lowercase()))
            else {
                continue;
            };
            let (status, flags) = helps.entry(name.to_owned()).or_insert_with(|| {
                let help = folder.run(&[name, "--help"]);
                let separated = help.stdout.split(|char: char| !char.is_ascii_alphanumeric() && char != '-');
                (help.status, separated.filter(|word| word.starts_with('-')).map(str::to_owned).collect())
            });
            assert_eq!(*status, 0, "{}: {command}", page.display());
            for flag in words.filter(|word| word.starts_with('-') && *word != "-") {
                let flag = flag.split('=').next().unwrap_or_default();
                assert!(flags.contains(flag), "{}: {command}: {flag}", page.display());
            }
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}
