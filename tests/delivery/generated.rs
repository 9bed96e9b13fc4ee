//! Derived files are what they are derived from. `make generate` writes them.

use std::fs;

use karpwarden_generate::{generated, home};

#[test]
fn nothing_that_is_derived_has_drifted() {
    let is_wanted = std::env::var_os("UPDATE_DOCS").is_some();
    let mut stale = Vec::new();
    for (path, text) in generated::files().unwrap() {
        if is_wanted {
            fs::create_dir_all(home::path(&path).parent().unwrap()).unwrap();
            fs::write(home::path(&path), &text).unwrap();
        }
        if home::text(&path).ok().as_ref() != Some(&text) {
            stale.push(path);
        }
    }
    assert!(stale.is_empty(), "run make generate: {stale:?}");
}
