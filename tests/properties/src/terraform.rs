//! Configurations of Terraform: every place of every value is in a text, evaluation ends within its bounds, and documents have places.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use karpwarden::manifest::limits::Limits;
use karpwarden::manifest::source::Source;
use karpwarden::manifest::{Document, File, ReadOptions};
use karpwarden::objects::embedded::READ_OPTIONS;
use terraform::{
    BlockBody, ConfigurationInput, Data, EvaluatedConfiguration, EvaluatedMember, EvaluatedText,
    EvaluatedValue, FolderFiles, PlannedSide, TextPlace, Texts, evaluate_expressions, root_folders,
};
use terraform_objects::{NoFilesBeside, OPTIONS_BEFORE_EVALUATION, evaluate};

/// Line that starts a file, with its name. The first file is `main.tf`.
const FILE: &str = "#== ";

/// Files of a text.
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
        for part in format!("{FILE}main.tf\n{text}").split(FILE).skip(1) {
            let (name, text) = part.split_once('\n').unwrap_or((part, ""));
            files.insert(name.to_owned(), Arc::new(Source::new(name, text)));
        }
        Self(files)
    }
}

/// Evaluates a configuration, and the objects that it makes.
pub fn assert_configuration(text: &str) {
    let folder = Folder::parse(text);
    let input = ConfigurationInput::new(&folder, text.len());
    for root in root_folders(&input).iter().map(String::as_str).chain([""]) {
        let configuration = EvaluatedConfiguration::evaluate_within(root, &input, &["main.tf".to_owned()]);
        for problem in &configuration.problems {
            assert_place(problem.place, &configuration.texts);
        }
        assert_blocks(&configuration);
    }
    let evaluated = |options: ReadOptions| {
        let read =
            |(name, source): (&String, &Arc<Source>)| File::read(name.as_str(), source.text(), options);
        let mut files: Vec<File> = folder.0.iter().map(read).collect();
        evaluate(&mut files, &NoFilesBeside, &Limits::DEFAULT);
        files
    };
    let files = evaluated(READ_OPTIONS);
    assert_documents(&files);
    // Here-documents that are read later share their budget with fewer others.
    if !files.iter().flat_map(|file| &file.documents).any(exceeds_bound) {
        assert_eq!(shown(&evaluated(OPTIONS_BEFORE_EVALUATION)), shown(&files));
    }
}

fn exceeds_bound(document: &Document) -> bool {
    matches!(document, Document::Unreadable { error, .. } if error.exceeded().is_some())
}

/// The documents of files, each with its nodes and their places.
fn shown(files: &[File]) -> Vec<String> {
    let show = |document: &Document| match document {
        Document::Read(tree) => {
            let (mut shown, mut open) = (String::new(), vec![tree.root()]);
            while let Some(node) = open.pop() {
                let (key, place) = (node.key_span(), node.span());
                let _ = write!(
                    shown,
                    "{:?} {key:?} {:?} {place:?} {}; ",
                    node.key(),
                    node.value(),
                    node.spelling()
                );
                open.extend(node.children());
            }
            shown
        }
        other => format!("{other:?}"),
    };
    files.iter().map(|file| file.documents.iter().map(show).collect::<Vec<_>>().join("\n")).collect()
}

/// Reads a plan, or a state, both before and after it.
pub fn assert_plan(text: &str) {
    let file = File::read("plan.json", text, READ_OPTIONS);
    let [Document::Read(tree)] = file.documents.as_slice() else { return };
    for side in [PlannedSide::Before, PlannedSide::After] {
        assert_blocks(&EvaluatedConfiguration::of_plan(tree, &file.source, side));
    }
    let mut files = vec![file];
    evaluate(&mut files, &NoFilesBeside, &Limits::DEFAULT);
    assert_documents(&files);
}

fn assert_blocks(configuration: &EvaluatedConfiguration) {
    for block in &configuration.blocks {
        assert_place(block.place, &configuration.texts);
        assert_body(&block.body, &configuration.texts);
    }
    for absent in &configuration.absent {
        assert_place(absent.place, &configuration.texts);
        assert_place(absent.whole, &configuration.texts);
    }
}

/// Every node of every document has a place in its text.
fn assert_documents(files: &[File]) {
    for file in files {
        for document in &file.documents {
            assert!(file.source.text().is_char_boundary(document.start()));
            let Document::Read(tree) = document else { continue };
            let mut nodes = vec![tree.root()];
            while let Some(node) = nodes.pop() {
                for span in [node.span(), node.key_span()] {
                    let text = node.source().text();
                    assert!(text.get(span.start..span.end).is_some(), "{span:?} in {text:?}");
                }
                nodes.extend(node.children());
            }
        }
    }
}

/// Evaluates each line of a text as an expression.
pub fn assert_expressions(text: &str) {
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
        let content = text.as_str().get(piece.start..end).unwrap_or_default();
        assert!(!content.is_empty());
        if piece.is_verbatim {
            assert_eq!(texts.slice(piece.place), content);
        }
    }
}

fn assert_place(place: TextPlace, texts: &Texts) {
    let (span, text) = (place.span(), texts.get(place.text).map(|source| source.text()));
    assert!(text.is_some_and(|text| text.get(span.start..span.end).is_some()), "{span:?} in {text:?}");
}
