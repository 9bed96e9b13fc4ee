//! Cost of reading an input, in the units of a [work budget](karpwarden::manifest::work::WorkBudget): the bytes, the values, and the
//! text that aliases repeat.

use karpwarden::manifest::limits::Limits;
use karpwarden::manifest::source::Span;
use karpwarden::manifest::tree::{Node, Tree};
use karpwarden::manifest::{Document, File, ReadOptions};
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::userdata::mime::Archive;
use karpwarden::userdata::parts::ParsedParts;

use crate::input::Texts;

/// The most units for each byte: a hundred times as many as the median of common inputs, which the replay of the seeds measures.
pub const MOST_PER_BYTE: usize = 100;

/// Options with the default bounds, except that no file is large.
const OPTIONS: ReadOptions =
    ReadOptions { limits: Limits { file_bytes: 1 << 16, ..Limits::DEFAULT }, ..READ_OPTIONS };

/// Cost of an input.
#[derive(Clone, Copy, Debug, Default)]
pub struct InputCost {
    /// Bytes of the input.
    pub bytes: usize,
    /// Units of work.
    pub units: usize,
}

impl InputCost {
    /// The cost of the files in a text, and of the user data in them.
    pub fn of_files(text: &str) -> Self {
        let files = Texts::cut(text).files;
        let mut cost = Self { bytes: text.len(), units: text.len() };
        for (name, text) in files {
            for document in File::read(name, text, OPTIONS).documents {
                if let Document::Read(tree) = document {
                    cost.units += tree.work();
                    cost.units += user_data(&tree).map(|text| Self::of_user_data(text).units).sum::<usize>();
                }
            }
        }
        cost
    }

    /// The cost of user data, which an object without other values holds.
    pub fn of_user_data(text: &str) -> Self {
        let parts = ParsedParts::default();
        let registration = parts.registration(text);
        let bodies = Archive::parse(text).parts.into_iter().map(|part| part.body);
        for part in bodies.chain([Span::whole(text)]).chain(registration.node_configs.iter().copied()) {
            drop(parts.yaml(text, part));
        }
        Self { bytes: text.len(), units: text.len() + parts.work() }
    }

    /// Checks that the input costs little for its size. The parts of user data are read alone and as a whole.
    pub fn assert_is_bounded(self) {
        assert!(self.units <= self.bytes * 2 * MOST_PER_BYTE, "{self:?}");
    }
}

/// The strings at `spec.userData` of the object in a document, or of the objects of its list.
fn user_data(tree: &Tree) -> impl Iterator<Item = &str> {
    let items = tree.root().get("items").into_iter().flat_map(Node::items);
    let objects = core::iter::once(tree.root()).chain(items);
    objects.filter_map(|object| object.str_at(&["spec", "userData"]))
}
