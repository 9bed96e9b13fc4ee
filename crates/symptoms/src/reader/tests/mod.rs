//! Inputs of the reader, with every wrapper and cut, and the entries that it emits.

mod bounds;
mod exports;
mod lines;
mod objects;
mod properties;

use std::fmt::Write as _;

use super::{FileReader, LineCounts, ReadFile};
use crate::entry::{Entry, EntryOrigin, LogFileId};
use manifest::Document;
use manifest::limits::Limits;

/// Entries, one line each, then the documents and the counts.
fn read_pieces(name: &str, pieces: &[&[u8]]) -> (String, LineCounts) {
    read_within(name, pieces, Limits::DEFAULT)
}

fn read_within(name: &str, pieces: &[&[u8]], limits: Limits) -> (String, LineCounts) {
    let mut text = String::new();
    let mut emit = |entry: &Entry<'_>| {
        let Entry { at, level, controller, pod, message, error, object, count, .. } = entry;
        let _ = write!(text, "{}: {:?} {level:?}", at.line, entry.origin);
        for (name, value) in
            [("by", controller), ("in", pod), ("of", &object.name), ("reason", &entry.reason)]
        {
            if !value.is_empty() {
                let _ = write!(text, " {name} {value}");
            }
        }
        if let Some(time) = entry.time {
            let _ = write!(text, " at {time}");
        }
        if let Some(first) = entry.first {
            let _ = write!(text, " since {first}");
        }
        if entry.origin == EntryOrigin::Condition {
            let _ = write!(text, " {}={}", entry.condition.kind, entry.condition.status);
        }
        let times = if *count > 1 { format!(" x{count}") } else { String::new() };
        let error = if error.is_empty() { String::new() } else { format!(" <- {error}") };
        let _ = writeln!(text, ": {message}{error}{times}");
    };
    let mut reader = FileReader::new(name, LogFileId::default(), limits);
    for piece in pieces {
        reader.feed(piece, &mut emit);
    }
    let ReadFile { file, counts, is_binary } = reader.finish(&mut emit);
    if is_binary {
        text.push_str("binary\n");
    }
    for document in file.iter().flat_map(|file| &file.documents) {
        let source = &file.as_ref().unwrap().source;
        let place = source.position(document.start());
        let _ = match document {
            Document::Read(tree) => {
                writeln!(
                    text,
                    "document at {}, offset {}: {}",
                    place.line,
                    place.offset,
                    tree.root().to_json()
                )
            }
            Document::Template(_) => writeln!(text, "template at {}", place.line),
            Document::Script(_)
            | Document::Deleted(_)
            | Document::Unevaluated { .. }
            | Document::Absent { .. } => {
                writeln!(text, "script at {}", place.line)
            }
            Document::Unreadable { error, .. } => writeln!(text, "unreadable at {}: {error}", place.line),
        };
    }
    (text, counts)
}

fn entries_of(text: &str) -> String {
    read_pieces("-", &[text.as_bytes()]).0
}

/// A line of the controller, from 1.0 on.
const LINE: &str = r#"{"level":"ERROR","time":"2026-04-23T18:04:55.550Z","logger":"controller","message":"could not schedule pod","commit":"1072d3b","controller":"provisioner","namespace":"","name":"","reconcileID":"8f1c7a0e","Pod":{"name":"web-1","namespace":"shop"},"error":"did not tolerate \"a\"=b"}"#;

const ENTRIES: &str = "1: Log Error by provisioner of web-1 at 2026-04-23T18:04:55Z: could not schedule pod <- did not tolerate \"a\"=b\n";
