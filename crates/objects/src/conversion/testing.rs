//! Test helpers: the converted text, and what is undecided or to be reviewed.

use std::fmt::Write as _;

use crate::embedded::READ_OPTIONS;
use manifest::edit::{TextEdit, apply};
use manifest::{Document, File};

use super::{Neighbours, convert};
use crate::object::Object;
use crate::validation::refusals;

/// Converts each object of a text, and applies the conversions that need no decision. Below the text stands what is to be
/// decided or reviewed.
pub(super) fn converted(text: &str) -> String {
    let (after, remarks) = converted_with_remarks(text);
    format!("{after}{remarks}")
}

/// The converted text, and what is to be decided or reviewed.
fn converted_with_remarks(text: &str) -> (String, String) {
    let file = File::read("-", text, READ_OPTIONS);
    let objects = objects(&file);
    let neighbours = Neighbours::of(&objects);
    let (mut edits, mut remarks): (Vec<TextEdit>, _) = (Vec::new(), String::new());
    for object in &objects {
        let Some(conversion) = convert(*object, &neighbours) else { continue };
        if conversion.is_possible() {
            let changes = conversion.changes.iter();
            // The conversion of a pair is in the conversion of each half.
            for edit in changes.map(|change| change.edit().expect("a change of the text")) {
                if !edits.contains(&edit) {
                    edits.push(edit);
                }
            }
        }
        let parts = [("decide", &conversion.undecided), ("review", &conversion.review)];
        for (kind, part) in parts.iter().flat_map(|(kind, all)| all.iter().map(move |part| (kind, part))) {
            writeln!(remarks, "{kind} {}: {part}", object.kind()).unwrap();
        }
    }
    (apply(text, &edits), remarks)
}

/// Asserts that a text is converted with certainty, to objects that every release accepts and nothing converts again. Only the
/// family Amazon Linux 2 may be left for a review, and the other half of a pair with it.
pub(super) fn assert_certain(text: &str) {
    let (after, remarks) = converted_with_remarks(text);
    assert!(
        remarks
            .lines()
            .all(|remark| ["`al2@latest`", "`AL2`, of which"].iter().any(|mark| remark.contains(mark))
                || remark.contains("converted together")),
        "{text}\nbecomes\n{after}{remarks}"
    );
    let file = File::read("-", after.as_str(), READ_OPTIONS);
    let objects = objects(&file);
    assert!(!objects.is_empty(), "{text}\nbecomes\n{after}");
    for object in objects {
        assert_eq!(object.version(), "v1", "{text}\nbecomes\n{after}");
        let refused: Vec<_> =
            refusals(object, true, true).iter().map(|refusal| refusal.place.path(object.root())).collect();
        assert!(refused.is_empty(), "{refused:?}: {text}\nbecomes\n{after}");
        assert!(convert(object, &Neighbours::default()).is_none());
    }
}

fn objects(file: &File) -> Vec<Object<'_>> {
    let trees = file.documents.iter().map(|document| match document {
        Document::Read(tree) => tree,
        _ => panic!("a document that cannot be read:\n{}", file.source.text()),
    });
    trees.flat_map(Object::all).collect()
}
