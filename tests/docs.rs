//! The reference in `docs/rules/` matches the documentation of the rules; `UPDATE_DOCS=1 cargo test --test docs` updates it. The documentation
//! works from a checkout.

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

/// Words that name the step from a checkout, and the commands for it.
const FROM_A_CHECKOUT: [&str; 3] = ["checkout", "make playground", "From a clone"];

/// Sections of a page: the lines from one title to the next. A line of code is no title.
fn sections(page: &str) -> Vec<String> {
    let (mut sections, mut is_code) = (vec![String::new()], false);
    for line in page.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if line.starts_with('#') && !is_code {
            sections.push(String::new());
        }
        if let Some(section) = sections.last_mut() {
            section.push_str(line);
            section.push('\n');
        }
    }
    sections
}

/// Addresses that exist only after a release. `manifest` is the workspace's Cargo.toml.
fn published(manifest: &str) -> Vec<String> {
    let repository = env!("CARGO_PKG_REPOSITORY");
    let value = |key: &str| {
        let mut lines = manifest.lines();
        lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'))
    };
    let name = repository.trim_start_matches("https://github.com/");
    let mut addresses: Vec<String> =
        ["/raw/", "/releases/", "//", "\""].iter().map(|rest| format!("{repository}{rest}")).collect();
    addresses.extend([format!("uses: {name}@"), format!("repo: {repository}")]);
    addresses.extend(["homepage", "registry"].iter().filter_map(|key| value(key)).map(str::to_owned));
    addresses.extend(
        ["npx karpwarden", "uvx karpwarden", "pip install karpwarden", "pipx install karpwarden"]
            .map(str::to_owned),
    );
    // A fork may have no homepage.
    addresses.retain(|address| !address.is_empty());
    addresses
}

#[test]
fn a_step_with_a_published_address_has_a_step_from_a_checkout_beside_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = vec![root.join("README.md"), root.join("policies/karpenter/README.md")];
    pages.extend(fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path()));
    let published = published(&fs::read_to_string(root.join("Cargo.toml")).unwrap());
    let mut count = 0;
    for page in pages.iter().filter(|page| page.extension().is_some_and(|end| end == "md")) {
        for section in sections(&fs::read_to_string(page).unwrap()) {
            let Some(address) = published.iter().find(|address| section.contains(address.as_str())) else {
                continue;
            };
            let title = section.lines().next().unwrap_or_default();
            let has_local_step = FROM_A_CHECKOUT.iter().any(|words| section.contains(words));
            assert!(has_local_step, "{}: {title}: only {address}", page.display());
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}
