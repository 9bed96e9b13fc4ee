//! The documents that each converter makes of a resource.

use core::fmt::Write as _;

mod aws;
mod carried;
mod configurations;
mod directives;
mod infrastructure;
mod kubernetes;
mod manifests;
mod plans;
mod releases;
mod roots;

use karpwarden_terraform_objects::{FilesBeside, evaluate};
use manifest::limits::Limits;
use manifest::tree::{Node, Value};
use manifest::{Document, File};
use objects::embedded::READ_OPTIONS;

/// Templates and other files beside the input.
struct Templates(Vec<(&'static str, &'static str)>);

impl FilesBeside for Templates {
    fn read(&self, name: &str) -> Option<File> {
        let (name, text) = self.0.iter().find(|(known, _)| *known == name)?;
        Some(File::read(*name, *text, READ_OPTIONS))
    }

    fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn names_in(&self, _: &str) -> Vec<String> {
        Vec::new()
    }
}

fn evaluated(inputs: &[(&str, &str)], beside: &[(&'static str, &'static str)]) -> Vec<File> {
    let mut files: Vec<File> =
        inputs.iter().map(|(name, text)| File::read(*name, *text, READ_OPTIONS)).collect();
    evaluate(&mut files, &Templates(beside.to_vec()), &Limits::DEFAULT);
    files
}

/// The documents of all files: each scalar with its path, its value, its line and the text at its place.
fn shown(inputs: &[(&str, &str)], beside: &[(&'static str, &'static str)]) -> String {
    shown_files(&evaluated(inputs, beside))
}

fn shown_files(files: &[File]) -> String {
    let mut shown = String::new();
    for file in files {
        for document in &file.documents {
            let line = file.source.position(document.start()).line;
            let _ = writeln!(shown, "--- {}:{line}", file.source.name());
            match document {
                Document::Read(tree) => {
                    show(tree.root(), "", &mut shown);
                    for reason in tree.hidden() {
                        let _ = writeln!(shown, "{reason}");
                    }
                }
                Document::Unevaluated { reason, .. } | Document::Absent { reason, .. } => {
                    let _ = writeln!(shown, "{reason}");
                }
                other => {
                    let _ = writeln!(shown, "{other:?}");
                }
            }
        }
    }
    shown
}

fn show(node: Node<'_>, path: &str, into: &mut String) {
    let value = match node.value() {
        Value::Mapping | Value::Sequence => {
            for child in node.children() {
                let key = if node.is_mapping() { child.key().to_owned() } else { child.index().to_string() };
                show(child, &format!("{path}.{key}"), into);
            }
            return;
        }
        Value::String(text) => format!("{text:?}"),
        _ => node.spelling().to_owned(),
    };
    let position = node.source().position(node.span().start);
    let text = node.source().slice(node.span());
    let same = if value.trim_matches('"') == text.trim_matches('"') {
        String::new()
    } else {
        format!(" from {text:?}")
    };
    let _ = writeln!(into, "{path} = {value} @{}:{}{same}", position.line, position.column);
}
