//! Prefixes that kubectl, stern, a container runtime or a collector put before a line.

use crate::entry::Time;
use manifest::source::certain;

/// The content of a prefix.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prefix<'a> {
    pub(super) pod: &'a str,
    pub(super) time: Option<Time>,
}

/// Whether a word is a time, a stream or a tag, which programs put before each line.
fn is_mark(word: &str) -> bool {
    matches!(word, "stdout" | "stderr" | "F" | "P") || Time::parse(word).is_some()
}

/// A line without the times, streams and `[pod/…]` before it.
pub(super) fn bare(text: &str) -> &str {
    let mut rest = text;
    while let Some((word, after)) = rest.split_once(' ') {
        if !(is_mark(word) || (word.starts_with("[pod/") && word.ends_with(']'))) {
            break;
        }
        rest = after;
    }
    rest
}

pub(super) fn before<'t>(text: &'t str, bare: &str) -> &'t str {
    certain(text.get(..text.len() - bare.len()))
}

impl<'a> Prefix<'a> {
    /// Adds the content of the text before a line: `[pod/karpenter-x/controller]` of kubectl, `karpenter-x controller` of stern
    /// (after the namespace with `--all-namespaces`), a time, the stream of a container runtime.
    pub(super) fn before(self, text: &'a str) -> Self {
        let mut found = self;
        let mut names: [&str; 3] = [""; 3];
        let mut count = 0;
        for word in text.split_ascii_whitespace().take(8) {
            if let Some(time) = Time::parse(word) {
                found.time = found.time.or(Some(time));
            } else if let Some(path) = word.strip_prefix("[pod/").and_then(|word| word.strip_suffix(']')) {
                found.pod = path.split_once('/').map_or(path, |(pod, _)| pod);
                return found;
            } else if !is_mark(word) {
                if let Some(name) = names.get_mut(count) {
                    *name = word;
                }
                count += 1;
            }
        }
        let pod = match (count, names) {
            (1 | 2, [pod, ..]) | (3, [_, pod, _]) => pod,
            _ => "",
        };
        let is_name = pod.contains('-')
            && pod
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte));
        if is_name && found.pod.is_empty() {
            found.pod = pod;
        }
        found
    }
}
