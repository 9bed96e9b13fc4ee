//! An object of an input.

use objects::object::Object;

use crate::ids::{DocumentId, OverlayId};

/// An object with the document that has it, as an overlay builds it if one changes it.
#[derive(Clone, Copy, Debug)]
pub struct InputObject<'d> {
    /// The object.
    pub object: Object<'d>,
    /// The document that has the object.
    pub document: DocumentId,
    /// The overlay that builds the object, unless the document has it or several overlays leave it unchanged.
    pub overlay: Option<OverlayId>,
    /// The reason why the built object is not known for certain.
    pub unresolved: Option<&'d str>,
    /// Whether another version of the same object is in the input too.
    pub is_repeated: bool,
}

impl<'d> InputObject<'d> {
    /// An object that no build changes.
    pub const fn unbuilt(object: Object<'d>, document: DocumentId) -> Self {
        Self { object, document, overlay: None, unresolved: None, is_repeated: false }
    }

    /// The object before the update that an AdmissionReview asks for.
    pub fn stored(&self) -> Option<Self> {
        Some(Self { object: self.object.stored()?, ..*self })
    }
}
