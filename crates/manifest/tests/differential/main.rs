//! YAML compared with recorded results of the libraries with which kubectl reads it.
//!
//! `tools/differential` records the results and describes the file.

#![cfg(test)]

#[path = "../../../../tools/differential/compare.rs"]
mod compare;

use std::fmt;

use compare::{Difference, compare};
use karpwarden_manifest::limits::Limits;
use karpwarden_manifest::{Document, File};
use serde_json::Value as Json;

/// The documents of a text other than null, up to the first that is refused, and the reason.
struct Documents {
    values: Vec<Json>,
    refusal: Option<String>,
}

/// Differences between YAML 1.2, which our reader follows in its syntax, and go-yaml v2, a reader of YAML 1.1. Most are in
/// texts that no tool writes.
const DIFFERENCES: &[Difference<Documents>] = &[
    Difference {
        reason: "neither reads a mapping, and kubectl refuses everything else",
        texts: 5_306,
        explains: |_, go, ours| !go.values.iter().chain(&ours.values).any(Json::is_object),
    },
    Difference {
        reason: "kubectl ignores what follows the first value of a document, and here it is read or refused",
        texts: 451,
        explains: |text, go, ours| {
            go.refusal.is_none()
                && (ours.values.starts_with(&go.values) || go.values.starts_with(&ours.values))
                && (ours.refusal.is_none() || text.contains("\n...") || ours.refused_for(AFTER_THE_VALUE))
        },
    },
    Difference {
        reason: "both refuse the text, one of them in an earlier document",
        texts: 47,
        explains: |_, go, ours| go.refusal.is_some() && ours.refusal.is_some(),
    },
    Difference {
        reason: "YAML 1.1 has three more line breaks",
        texts: 50,
        explains: |text, _, _| text.contains(['\u{85}', '\u{2028}', '\u{2029}']),
    },
    Difference {
        reason: "go-yaml and kubectl refuse what YAML 1.2 allows",
        texts: 1_198,
        explains: |_, go, _| go.refused_for(REFUSED_BY_GO),
    },
    Difference {
        reason: "go-yaml accepts what YAML 1.2 refuses",
        texts: 1_338,
        explains: |_, go, ours| go.refusal.is_none() && ours.refused_for(REFUSED_HERE),
    },
    Difference {
        reason: "go-yaml decodes `!!binary`, and here the text stays",
        texts: 21,
        explains: |text, _, _| text.contains("!!binary"),
    },
    Difference {
        reason: "in brackets, `?` before a key needs a space in YAML 1.2, `:` before a comma or bracket needs none, and `:` may start a text",
        texts: 89,
        explains: |text, go, _| {
            let is_followed = |next| text.contains(&format!(":{next}"));
            go.refusal.is_none()
                && (text.contains('?')
                    || text.contains(" :")
                    || [',', '[', ']', '{', '}'].into_iter().any(is_followed))
        },
    },
    Difference {
        reason: "the names of anchors and tags have other characters in go-yaml",
        texts: 20,
        explains: |text, _, _| {
            text.split([' ', '\n', '[', '{'])
                .any(|word| word.starts_with(['&', '!']) && word.contains([',', ':']))
        },
    },
    Difference {
        reason: "kubectl ends the last line, and reads CR LF as one line break before go-yaml sees it",
        texts: 2,
        explains: |text, _, _| text.contains("\r\r\n") || (text.contains('+') && text.ends_with(' ')),
    },
];

/// The errors for the text after the first value.
const AFTER_THE_VALUE: &[&str] = &[
    "a line `---` is missing before this; add it",
    "a line `...` is missing before this directive; add it",
    "the Kubernetes tools refuse a tab here; use spaces",
];

/// The reasons of go-yaml and kubectl for texts that YAML 1.2 allows.
const REFUSED_BY_GO: &[&str] = &[
    // A value on the line of `---`.
    "invalid Yaml document separator",
    // The escape `\\/`.
    "found unknown escape character",
    // `%YAML 1.2` and unknown directives.
    "found incompatible YAML document",
    "found unknown directive name",
    "found unexpected non-alphabetical character",
    "could not find expected directive name",
    "did not find expected <document start>",
    // `:` on the line after its key, or at the start of a text, in brackets.
    "did not find expected ',' or '}'",
    "did not find expected ',' or ']'",
    "did not find expected node content",
    "unknown anchor 'y' referenced",
    // Most characters in the names of anchors and tags, and a tab before a text that kubectl reads as JSON first.
    "found character that cannot start any token",
    "did not find expected alphabetic or numeric character",
    "did not find expected whitespace or line break",
    "did not find expected tag URI",
    "mapping values are not allowed in this context",
    "mapping keys are not allowed in this context",
    "did not find expected key",
    // `<<` with a tag.
    "map merge requires map or sequence of maps as the value",
    // Keys beyond 63 bits.
    "unsupported map key of type",
    // Values that do not fit their tag; here the tag is ignored.
    "!!binary value contains invalid base64 data",
    "cannot decode !!str ",
    "cannot decode !!int ",
    "cannot decode !!float ",
    "cannot decode !!bool ",
    "cannot decode !!null ",
];

/// Our errors for texts that go-yaml accepts.
const REFUSED_HERE: &[&str] = &[
    // Lines within quotes that are not indented.
    "this line is inside quotes and not indented; indent it, or close the quotes",
    "a tab cannot indent; use spaces",
    // The escape `\\'`, which may leave a bracket open.
    "no such escape; write `\\\\` for a backslash, or use single quotes",
    "this `[` is never closed; add `]`",
    "this `{` is never closed; add `}`",
    // `#` right after a value, and `-` alone in brackets.
    "a space is missing before `#`; add a space, or quote the text",
    "a `-` alone is not text; quote it",
    // Names of tags and anchors with other characters.
    "a space is missing after this tag; add a space, or quote text that starts with `!`",
    "not a valid tag; quote text that starts with `!`",
    "the closing bracket is of another kind; close `[` with `]` and `{` with `}`",
    "no anchor above has this name; add the anchor, or quote text that starts with `*`",
    "a second `: ` in one value; quote the value",
    "this is indented like a key but has no `:`; add the `:`, or correct the indentation",
    // A comment below a block scalar without lines, and a block scalar that is not below its key.
    "this line has less indentation than the number after `|` or `>`; indent it, or change the number",
    "a `:` is missing after this key; add it, or indent the text as part of the value above",
    // A number or a null key in a value that a later value of the same key overrides.
    "not valid in a manifest: a key is missing before `:`; add the key",
    "not valid in a manifest: JSON has no infinite number and no NaN; quote the value if it is text",
    // A byte order mark after the start.
    "a byte order mark inside the text; remove it",
    // The rest of a document after its first value, if an error comes before the end of the value.
    "no open bracket matches this one; remove it, or quote the text",
    "not valid in a manifest: this key is a list or an object; write a string",
    "text after closing quotes; quote the whole value, or escape the inner quotes",
    "a comment inside text of several lines; quote the text, or move the comment",
];

#[test]
fn reads_yaml_as_kubectl_does() {
    compare(include_bytes!("yaml.jsonl.gz"), DIFFERENCES, go, |text, _| ours("text.yaml", text));
}

fn ours(name: &str, text: &str) -> Documents {
    let mut values = Vec::new();
    for document in File::read(name, text, &Limits::DEFAULT).documents {
        match document {
            Document::Read(tree) if tree.root().is_null() => {}
            Document::Read(tree) => values.push(tree.root().to_json()),
            Document::Template(_)
            | Document::Script(_)
            | Document::Deleted(_)
            | Document::Unevaluated { .. }
            | Document::Absent { .. } => {
                return Documents { values, refusal: Some("not a manifest".to_owned()) };
            }
            Document::Unreadable { error, .. } => {
                return Documents { values, refusal: Some(error.to_string()) };
            }
        }
    }
    Documents { values, refusal: None }
}

fn go(results: &[Json]) -> Documents {
    let documents = results[0].as_array().unwrap().iter().map(|json| json.as_str().unwrap());
    let values = documents.flat_map(|json| ours("go.json", json).values).collect();
    Documents { values, refusal: results.get(1).map(|reason| reason.as_str().unwrap().to_owned()) }
}

impl Documents {
    /// Whether the refusal is one of some reasons.
    fn refused_for(&self, reasons: &[&str]) -> bool {
        let refusal = self.refusal.as_deref().unwrap_or_default();
        reasons.contains(&refusal.strip_prefix("not valid YAML: ").unwrap_or(refusal))
    }
}

impl PartialEq for Documents {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values && self.refusal.is_some() == other.refusal.is_some()
    }
}

impl fmt::Debug for Documents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<String> = self.values.iter().map(Json::to_string).collect();
        write!(f, "{} {:?}", values.join(" --- "), self.refusal)
    }
}
