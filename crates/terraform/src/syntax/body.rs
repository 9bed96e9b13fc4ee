//! Blocks of a module, in HCL and in JSON.

use std::collections::BTreeSet;
use std::sync::Arc;

use hcl_edit::Span as _;
use hcl_edit::expr::{Expression, Object};
use hcl_edit::structure::{Block, Body, Structure};
use manifest::source::{Source, Span};

use super::{Located, header, json};
use crate::place::{TextNumber, TextPlace};

/// Block of a module, with the blocks of override files that change it.
#[derive(Debug)]
pub(crate) struct Declaration {
    /// The word that starts the block, such as `resource`.
    pub(crate) kind: String,
    pub(crate) labels: Vec<String>,
    /// The word and the labels; the last label in JSON.
    pub(crate) header: TextPlace,
    pub(crate) whole: TextPlace,
    /// The body, then the bodies whose attributes and blocks replace earlier ones of the same name.
    pub(crate) parts: Vec<Located<BodySyntax>>,
}

/// Contents of a block.
#[derive(Debug)]
pub(crate) enum BodySyntax {
    Native(Body),
    /// An object whose members are attributes. A member that is an object, or a list of objects, may be blocks.
    Json(Object),
}

impl Declaration {
    pub(super) fn of_block(block: Block, text: TextNumber, source: &Arc<Source>) -> Self {
        let span = block.span().map_or(Span::default(), |span| Span::new(span.start, span.end));
        Self {
            kind: block.ident.as_str().to_owned(),
            labels: block.labels.iter().map(|label| label.as_str().to_owned()).collect(),
            header: header(&block, text),
            whole: TextPlace::new(text, span),
            parts: vec![Located { text, source: Arc::clone(source), node: BodySyntax::Native(block.body) }],
        }
    }

    /// The expression of an attribute, with the body that has it.
    pub(crate) fn attribute(&self, name: &str) -> Option<(&Located<BodySyntax>, &Expression)> {
        self.parts.iter().rev().find_map(|part| Some((part, part.node.attribute(name)?)))
    }

    /// The word that an attribute is, literally.
    pub(crate) fn word(&self, name: &str) -> Option<&str> {
        self.attribute(name)?.1.as_str()
    }

    /// Whether an attribute is `true` or `false`, literally.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.attribute(name)?.1.as_bool()
    }

    /// Whether Terraform does not show the value of a variable or an output.
    ///
    /// Source: website/docs/language/manage-sensitive-data of hashicorp/terraform at v1.11.
    pub(crate) fn is_hidden(&self) -> bool {
        ["sensitive", "ephemeral"].iter().any(|name| self.flag(name) == Some(true))
    }

    /// The attributes of all parts.
    pub(super) fn into_attributes(self) -> Vec<(String, Located<Expression>)> {
        let mut attributes = Vec::new();
        for Located { text, source, node } in self.parts {
            let located = |node| Located { text, source: Arc::clone(&source), node };
            match node {
                BodySyntax::Native(body) => {
                    attributes.extend(body.into_iter().filter_map(|structure| match structure {
                        Structure::Attribute(attribute) => {
                            Some((attribute.key.as_str().to_owned(), located(attribute.value)))
                        }
                        Structure::Block(_) => None,
                    }));
                }
                BodySyntax::Json(object) => {
                    attributes.extend(object.into_iter().filter_map(|(key, value)| {
                        let name = json::name_of(&key).filter(|name| *name != json::COMMENT)?.to_owned();
                        Some((name, located(value.into_expr())))
                    }));
                }
            }
        }
        attributes
    }
}

impl BodySyntax {
    fn attribute(&self, name: &str) -> Option<&Expression> {
        match self {
            Self::Native(body) => Some(&body.get_attribute(name)?.value),
            Self::Json(object) => json::member(object, name),
        }
    }

    /// The words that start the blocks of the body. In JSON, an attribute may be among them.
    pub(crate) fn block_kinds(&self) -> BTreeSet<String> {
        let mut kinds = BTreeSet::new();
        match self {
            Self::Native(body) => {
                for block in body.blocks() {
                    let label = block.labels.first().filter(|_| block.ident.as_str() == "dynamic");
                    kinds.insert(label.map_or(block.ident.as_str(), |label| label.as_str()).to_owned());
                }
            }
            Self::Json(object) => {
                for (name, value) in
                    object.iter().filter_map(|(key, value)| Some((json::name_of(key)?, value)))
                {
                    let dynamic = value.expr().as_object().filter(|_| name == "dynamic");
                    match dynamic {
                        Some(dynamic) => kinds.extend(
                            dynamic.iter().filter_map(|(key, _)| Some(json::name_of(key)?.to_owned())),
                        ),
                        None if value.expr().is_object() || value.expr().is_array() => {
                            kinds.insert(name.to_owned());
                        }
                        None => {}
                    }
                }
            }
        }
        kinds
    }
}
