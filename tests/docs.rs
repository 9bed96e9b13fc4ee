//! The reference in `docs/rules/` matches the documentation of the rules. `UPDATE_DOCS=1 cargo test --test docs` updates it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use karpwarden::reference::symptoms::pages;

#[test]
fn reference_matches_the_documentation_of_the_rules() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules");
    let pages: BTreeMap<String, String> = pages().into_iter().collect();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in &pages {
            fs::write(folder.join(name), text).unwrap();
        }
    }
    let written: BTreeMap<String, String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // Git may have checked the file out with CRLF line endings.
            (name, fs::read_to_string(path).unwrap().replace("\r\n", "\n"))
        })
        .collect();
    let stale: BTreeSet<&String> =
        pages.keys().chain(written.keys()).filter(|name| pages.get(*name) != written.get(*name)).collect();
    let first: Vec<_> = stale.iter().take(5).collect();
    assert!(stale.is_empty(), "run make generate: {} stale pages, such as {first:?}", stale.len());
}
