//! Go to definition, and find references.

use lsp_types::{Location, Position, Uri};
use manifest::File;
use manifest::source::Span;
use manifest::tree::Node;
use objects::object::Object;

use crate::documents::{OpenDocument, OpenDocuments};
use crate::folder::{is_patch, related};
use crate::lines::{Lines, PositionUnit};
use crate::links::{Link, LinkTarget, declarations, references};
use crate::workspace::FolderView;

/// Maximum number of places in an answer.
const MAX_PLACES: usize = 2_000;

/// The folder in which names are looked up, and the documents that are open in the editor.
#[derive(Clone, Copy)]
pub(crate) struct Navigator<'n> {
    pub(crate) folder: &'n dyn FolderView,
    pub(crate) open: &'n OpenDocuments,
    pub(crate) unit: PositionUnit,
}

impl Navigator<'_> {
    /// The places of what the name at a position of a document means.
    pub(crate) fn definition(self, document: &OpenDocument, position: Position) -> Vec<Location> {
        let Some((file, target)) = self.named_at(document, position) else { return Vec::new() };
        self.declared(file, target)
    }

    /// The places that use the name at a position of a document, and the places that define it if the editor asks for them.
    pub(crate) fn references(
        self,
        document: &OpenDocument,
        position: Position,
        with_declarations: bool,
    ) -> Vec<Location> {
        let Some((file, target)) = self.named_at(document, position) else { return Vec::new() };
        let mut places = self.places(related(self.folder, file), |object| references(object), target);
        if with_declarations {
            places.extend(self.declared(file, target));
        }
        places
    }

    /// The places that define a target, as a file sees it. A patch defines nothing.
    fn declared(&self, file: &File, target: LinkTarget<'_>) -> Vec<Location> {
        let files = related(self.folder, file).into_iter().filter(|file| !is_patch(file));
        self.places(files.collect(), |object| declarations(object), target)
    }

    /// The name at a position of a document, of the innermost node there, and its file.
    fn named_at(&self, document: &OpenDocument, position: Position) -> Option<(&File, LinkTarget<'_>)> {
        let file = self.folder.file_of(document)?;
        let byte = document.lined(self.unit).byte(position);
        let links = objects_in(file).flat_map(|object| [references(object), declarations(object)].concat());
        let there = links.filter_map(|link| Some((span_at(link.node, file, byte)?, link.target)));
        there.min_by_key(|(span, _)| span.len()).map(|(_, target)| (file, target))
    }

    /// The places of the links to a target in files.
    fn places<'f>(
        &'f self,
        files: Vec<&'f File>,
        links: impl Fn(Object<'f>) -> Vec<Link<'f>>,
        target: LinkTarget<'_>,
    ) -> Vec<Location> {
        let mut places = Vec::new();
        for file in files {
            let own = objects_in(file).flat_map(&links).filter(|link| link.target == target);
            let spans: Vec<Span> =
                own.filter_map(|link| in_file(link.node, file).map(|()| link.node.span())).collect();
            if spans.is_empty() {
                continue;
            }
            let Some(place) = self.file(file) else { continue };
            places.extend(spans.into_iter().map(|span| place.location(span)));
        }
        places.truncate(MAX_PLACES);
        places
    }

    /// A file with the address that the editor uses for it.
    pub(crate) fn file<'f>(&self, file: &'f File) -> Option<PlacedFile<'f>> {
        let is_same = |document: &&OpenDocument| {
            self.folder.file_of(document).is_some_and(|own| std::ptr::eq(own, file))
        };
        let open = self.open.iter().find(is_same);
        let uri = open.map(|document| document.uri.clone()).or_else(|| self.folder.uri_of(file))?;
        let has_bom = open.is_some_and(|document| document.text.starts_with('\u{feff}'));
        Some(PlacedFile { file, uri, lines: Lines::of(file.source.text(), has_bom), unit: self.unit })
    }
}

/// A file with its address and its lines.
pub(crate) struct PlacedFile<'f> {
    file: &'f File,
    uri: Uri,
    lines: Lines,
    unit: PositionUnit,
}

impl PlacedFile<'_> {
    pub(crate) fn location(&self, span: Span) -> Location {
        let [start, end] =
            [span.start, span.end].map(|byte| self.lines.position(&self.file.source, byte, self.unit));
        Location { uri: self.uri.clone(), range: lsp_types::Range { start, end } }
    }
}

/// The objects of a file.
pub(crate) fn objects_in(file: &File) -> impl Iterator<Item = Object<'_>> {
    let trees = file.trees();
    trees.flat_map(Object::all)
}

/// Whether the text of a node is in a file, and not in another one that the file reads.
pub(crate) fn in_file(node: Node<'_>, file: &File) -> Option<()> {
    (std::ptr::eq(node.source(), file.source.as_ref()) && !node.is_derived()).then_some(())
}

/// The span of the key or the value of a node that has a byte.
fn span_at(node: Node<'_>, file: &File, byte: usize) -> Option<Span> {
    in_file(node, file)?;
    let spans = [node.key_span(), node.span()];
    spans.into_iter().find(|span| !span.is_empty() && span.start <= byte && byte <= span.end)
}
