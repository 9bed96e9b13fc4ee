//! Properties that hold for every configuration.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::sync::Arc;

use karpwarden_terraform::{
    BlockBody, Data, EvaluatedConfiguration, EvaluatedMember, EvaluatedText, EvaluatedValue, FolderFiles,
    TextPlace, Texts, evaluate_expressions, root_folders,
};
use manifest::source::Source;

/// Files of a text: a line `#== name` starts a file, and the first one is `main.tf`.
struct Folder(BTreeMap<String, Arc<Source>>);

impl FolderFiles for Folder {
    fn read(&self, path: &str) -> Option<Arc<Source>> {
        self.0.get(path).cloned()
    }

    fn paths(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }
}

impl Folder {
    fn parse(text: &str) -> Self {
        let mut files = BTreeMap::new();
        for part in format!("#== main.tf\n{text}").split("#== ").skip(1) {
            let (name, text) = part.split_once('\n').unwrap_or((part, ""));
            files.insert(name.to_owned(), Arc::new(Source::new(name, text)));
        }
        Self(files)
    }
}

/// Evaluates a configuration. It ends within its bounds, and every place is in its text.
fn assert_configuration(text: &str) {
    let folder = Folder::parse(text);
    for root in root_folders(&folder).iter().map(String::as_str).chain([""]) {
        let configuration = EvaluatedConfiguration::evaluate(root, &folder, &["main.tf".to_owned()]);
        for problem in &configuration.problems {
            assert_place(problem.place, &configuration.texts);
        }
        for block in &configuration.blocks {
            assert_place(block.place, &configuration.texts);
            assert_body(&block.body, &configuration.texts);
        }
    }
}

/// Evaluates each line of a text as an expression.
fn assert_expressions(text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    let values = evaluate_expressions("", &Folder::parse(""), &lines);
    assert_eq!(values.len(), lines.len());
}

fn assert_body(body: &BlockBody, texts: &Texts) {
    for attribute in &body.attributes {
        assert_place(attribute.key, texts);
        assert_value(&attribute.value, texts);
    }
    for block in &body.blocks {
        assert_place(block.place, texts);
        assert_body(&block.body, texts);
    }
}

fn assert_value(value: &EvaluatedValue, texts: &Texts) {
    assert_place(value.place, texts);
    assert_place(value.origin, texts);
    match &value.data {
        Data::String(text) => assert_text(text, texts),
        Data::Unknown(unknown) => {
            assert_text(&unknown.text, texts);
            if let Some(failure) = &unknown.failure {
                assert_place(failure.place, texts);
            }
        }
        Data::List(_, items) | Data::Set(_, items) | Data::Tuple(items) => {
            items.as_slice().iter().for_each(|item| assert_value(item, texts));
        }
        Data::Map(_, members) | Data::Object(members) => {
            for EvaluatedMember { key, value } in members.as_map().values() {
                assert_place(*key, texts);
                assert_value(value, texts);
            }
        }
        Data::Null(_) | Data::Bool(_) | Data::Number(_) => {}
    }
}

fn assert_text(text: &EvaluatedText, texts: &Texts) {
    let ends = text.pieces().iter().skip(1).map(|piece| piece.start).chain([text.as_str().len()]);
    for (piece, end) in text.pieces().iter().zip(ends) {
        assert_place(piece.place, texts);
        let content = text.as_str().get(piece.start..end).unwrap();
        assert!(!content.is_empty());
        if piece.is_verbatim {
            assert_eq!(texts.slice(piece.place), content);
        }
    }
}

fn assert_place(place: TextPlace, texts: &Texts) {
    let source = texts.get(place.text).unwrap();
    let span = place.span();
    assert!(source.text().get(span.start..span.end).is_some(), "{span:?} in {:?}", source.text());
}

/// Each seed, and what is left of it if it ends early.
fn replay(folder: &str, check: fn(&str)) {
    const BEGINNINGS: usize = 12;
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seeds").join(folder);
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for part in 1..=BEGINNINGS {
            let end = text.floor_char_boundary(text.len() * part / BEGINNINGS);
            check(text.get(..end).unwrap());
        }
    }
}

#[test]
fn configurations_are_bounded_and_places_are_in_their_texts() {
    replay("configurations", assert_configuration);
}

#[test]
fn any_line_is_an_expression_or_an_error() {
    replay("expressions", assert_expressions);
}
