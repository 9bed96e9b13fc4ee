//! Readers compared with a record of this folder. Integration tests include this file as a module.

use std::fmt::Debug;
use std::io::Read as _;

use serde_json::Value as Json;

/// Smallest number of texts in a record.
const TEXTS: usize = 100_000;

/// A deliberate difference from Go.
pub(crate) struct Difference<T> {
    pub(crate) reason: &'static str,
    /// Number of texts with this difference. Another number means that a reader has changed.
    pub(crate) texts: usize,
    /// Whether it explains the results of a text: the text, Go's result, our result. The first that does counts.
    pub(crate) explains: fn(&str, &T, &T) -> bool,
}

/// Calls a reader with each text of a record. Fails if a result differs from Go's for no known reason, and if a known
/// reason explains more or fewer texts than before.
pub(crate) fn compare<T: PartialEq + Debug>(
    packed: &[u8],
    known: &[Difference<T>],
    go: impl Fn(&[Json]) -> T,
    ours: impl Fn(&str, &[Json]) -> T,
) {
    let mut record = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut record).unwrap();
    let mut texts = 0;
    let mut explained = vec![0; known.len()];
    let mut differences = Vec::new();
    for line in record.lines() {
        let fields: Vec<Json> = serde_json::from_str(line).unwrap();
        let (text, results) = fields.split_first().unwrap();
        let text = text.as_str().unwrap();
        texts += 1;
        let (go, ours) = (go(results), ours(text, results));
        if go == ours {
            continue;
        }
        match known.iter().position(|difference| (difference.explains)(text, &go, &ours)) {
            Some(reason) => explained[reason] += 1,
            None => differences.push(format!("{text:?}\n  Go   {go:?}\n  ours {ours:?}")),
        }
    }
    assert!(texts >= TEXTS, "{texts} texts");
    let shown = differences.get(..20).unwrap_or(&differences).join("\n");
    assert!(differences.is_empty(), "{} of {texts} texts differ, such as\n{shown}", differences.len());
    for (difference, texts) in known.iter().zip(explained) {
        assert_eq!(texts, difference.texts, "texts that differ because {}", difference.reason);
    }
}
