//! The derived files in the repository equal the output of `make generate`.

use karpwarden_generate::{generated, home};

#[test]
fn derived_files_are_up_to_date() {
    let files =
        [generated::addresses().unwrap(), generated::manifests().unwrap(), generated::files().unwrap()]
            .concat();
    let stale: Vec<&String> = files
        .iter()
        .filter(|(path, text)| home::text(path).ok().as_ref() != Some(text))
        .map(|(path, _)| path)
        .collect();
    assert!(stale.is_empty(), "run `make generate`: {stale:?}");
}
