//! `ConfigMaps` and Secrets that a kustomization generates from literals and files.
//!
//! Source: `KvPairSources` in api/types/kvpairsources.go, `loader.Load` in api/kv/kv.go and `ParseFileSource` in
//! api/internal/generators/utils.go of kustomize v5.5.0.

use manifest::tree::{Node, items_of};
use manifest::{Document, File, FileNumber};

use crate::kustomization::Kustomization;
use crate::path;
use crate::value::scalar_text;

/// The lists of generators, each with the kind of what they generate.
const LISTS: [(&str, &str); 2] = [("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")];

/// A generator of a kustomization.
#[derive(Clone, Copy, Debug)]
pub struct Generator<'d> {
    /// The entry of the list.
    pub node: Node<'d>,
    /// The list.
    pub(crate) list: &'static str,
    /// `ConfigMap` or `Secret`.
    pub kind: &'static str,
}

/// A source of entries of a generated object.
#[derive(Clone, Debug, PartialEq, Eq)]
enum EntrySource<'d> {
    /// An entry, with its key and its text.
    Literal(&'d str, &'d str),
    /// A file with one entry in each line, by its name in the input.
    Lines(String),
    /// A file whose text is the entry of a key.
    Text(&'d str, String),
}

/// An entry of a generated object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneratedEntry<'d> {
    /// The key.
    pub key: &'d str,
    /// The text.
    pub text: &'d str,
    /// The name of the file that has the text; `None` for the kustomization itself.
    pub file: Option<&'d str>,
}

/// The generators of a kustomization; empty for another file.
pub fn generators(file: &File) -> Vec<Generator<'_>> {
    Kustomization::find(file, FileNumber::new(0)).map(|one| generators_in(one.root)).unwrap_or_default()
}

pub(crate) fn generators_in(root: Node<'_>) -> Vec<Generator<'_>> {
    let lists = LISTS.into_iter();
    let of_list = |(list, kind)| items_of(root.get(list)).map(move |node| Generator { node, list, kind });
    lists.flat_map(of_list).collect()
}

/// The files of the input from which a kustomization generates `ConfigMaps` and Secrets.
pub fn generator_files(file: &File) -> Vec<String> {
    let sources = generators(file).into_iter().flat_map(Generator::sources);
    let files = sources.filter_map(|source| match source {
        EntrySource::Lines(file) | EntrySource::Text(_, file) => Some(file),
        EntrySource::Literal(..) => None,
    });
    files.collect()
}

impl<'d> Generator<'d> {
    /// The name of the generated object, before a suffix with the hash of its content.
    pub fn name(self) -> &'d str {
        self.node.str_at(&["name"]).unwrap_or_default()
    }

    /// Whether the generator changes an object of the kustomization instead of making its own.
    pub(crate) fn is_merged(self) -> bool {
        self.replaces() || self.node.str_at(&["behavior"]) == Some("merge")
    }

    /// Whether the generator replaces the entries of an object of the kustomization.
    pub(crate) fn replaces(self) -> bool {
        self.node.str_at(&["behavior"]) == Some("replace")
    }

    fn sources(self) -> Vec<EntrySource<'d>> {
        let name = path::join("", self.node.source().name());
        let file = |relative: &str| path::join(path::folder(&name), relative);
        let texts = |list: &str| items_of(self.node.get(list)).filter_map(scalar_text);
        let lines =
            texts("envs").chain(self.node.str_at(&["env"])).map(|path| EntrySource::Lines(file(path)));
        let literals = texts("literals").filter_map(|text| text.split_once('='));
        let literals = literals.map(|(key, text)| EntrySource::Literal(key, without_quotes(text)));
        let files = texts("files").map(|text| {
            let (key, path) = text.split_once('=').unwrap_or((path::base(text), text));
            EntrySource::Text(key, file(path))
        });
        lines.chain(literals).chain(files).collect()
    }

    /// The entries of the generated object. `text` has the name and the text of a file of the input. A file that is not in the input gives
    /// no entry, and `false` is returned beside the others.
    pub fn entries(
        self,
        text: impl Fn(&str) -> Option<(&'d str, &'d str)>,
    ) -> (Vec<GeneratedEntry<'d>>, bool) {
        let (mut entries, mut is_complete) = (Vec::new(), true);
        for source in self.sources() {
            match source {
                EntrySource::Literal(key, text) => entries.push(GeneratedEntry { key, text, file: None }),
                EntrySource::Lines(name) => match text(&name) {
                    Some((file, text)) => entries.extend(lines_of(text).map(|(key, text)| GeneratedEntry {
                        key,
                        text,
                        file: Some(file),
                    })),
                    None => is_complete = false,
                },
                EntrySource::Text(key, name) => match text(&name) {
                    Some((file, text)) => entries.push(GeneratedEntry { key, text, file: Some(file) }),
                    None => is_complete = false,
                },
            }
        }
        (entries, is_complete)
    }
}

/// The name and the text of a file; `None` if it could not be read as a whole.
pub fn text_of(file: &File) -> Option<(&str, &str)> {
    let text = file.source.text();
    let is_cut =
        |document: &Document| matches!(document, Document::Unreadable { at, .. } if *at == text.len());
    (!file.documents.iter().any(is_cut)).then(|| (file.source.name(), text))
}

/// The keys and values in the lines of a text.
fn lines_of(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim_start);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once('=').unwrap_or((line, "")))
}

/// A text without the quotes around it.
fn without_quotes(text: &str) -> &str {
    let inner = |quote: char| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use manifest::limits::Limits;

    #[test]
    fn reads_entries_as_kustomize_does() {
        let text = "configMapGenerator:\n- name: a\n  envs: [a.env]\n  literals: [k=v=w, 'q=\"x y\"', none]\n  files: [b.txt, c=../d.txt, e=f.txt]\n";
        let file = File::read("x/y/kustomization.yaml", text, &Limits::DEFAULT);
        assert_eq!(generator_files(&file), ["x/y/a.env", "x/y/b.txt", "x/d.txt", "x/y/f.txt"]);
        let texts = [("x/y/a.env", "# c\n  A=1=2\n\nB\n"), ("x/y/b.txt", "text\n"), ("x/d.txt", "")];
        let found = generators(&file)[0].entries(|name| texts.iter().find(|(one, _)| *one == name).copied());
        let shown: Vec<_> = found.0.iter().map(|entry| (entry.key, entry.text, entry.file)).collect();
        assert_eq!(
            shown,
            [
                ("A", "1=2", Some("x/y/a.env")),
                ("B", "", Some("x/y/a.env")),
                ("k", "v=w", None),
                ("q", "x y", None),
                ("b.txt", "text\n", Some("x/y/b.txt")),
                ("c", "", Some("x/d.txt")),
            ]
        );
        assert!(!found.1, "f.txt is not in the input");
        assert!(generators(&File::read("x/pool.yaml", text, &Limits::DEFAULT)).is_empty());
    }
}
