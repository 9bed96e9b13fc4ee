//! Replay of the seeds of the fuzz targets: each seed, each beginning of it, and each seed without one character.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its seeds fails")]

mod properties;

use std::fs;
use std::path::Path;

fn seeds(target: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// Calls `check` with variants of each seed.
fn replay(target: &str, check: impl Fn(&str)) {
    let seeds = seeds(target);
    assert!(!seeds.is_empty());
    for seed in seeds {
        check(&seed);
        check(&seed.replace('\n', "\r\n"));
        for (at, char) in seed.char_indices() {
            let (before, after) = seed.split_at(at);
            check(before);
            check(&format!("{before}{}", after.strip_prefix(char).unwrap_or_default()));
        }
    }
}

#[test]
fn yaml_seeds_have_the_properties() {
    replay("yaml", properties::assert_yaml);
}

#[test]
fn json_seeds_have_the_properties() {
    replay("json", properties::assert_json);
}

#[test]
fn edits_of_seeds_have_the_properties() {
    replay("edit", properties::assert_edits);
}
