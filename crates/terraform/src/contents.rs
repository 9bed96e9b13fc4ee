//! Contents of blocks: attributes, blocks, and the blocks that `dynamic` blocks make.

use std::rc::Rc;

use hcl_edit::Span as _;
use hcl_edit::expr::{Expression, Object};
use hcl_edit::structure::{Attribute, Block, BlockLabel, Body, Structure};
use manifest::source::Span;

use crate::configuration::{BlockBody, EvaluatedAttribute, NestedBlock};
use crate::eval::{Evaluation, NameScope, pairs};
use crate::instance::{BlockInstance, object};
use crate::module::Module;
use crate::place::TextPlace;
use crate::syntax::{BodySyntax, COMMENT, Declaration, Located, attribute, header, name_of};
use crate::value::EvaluatedValue;

/// The contents of a block. An attribute of an override file replaces the attribute of the same name, and its blocks replace all blocks of
/// the same kind.
///
/// Source: hashicorp/terraform at v1.11 `internal/configs/module_merge_body.go`.
pub(crate) fn contents_of(
    module: &Rc<Module<'_>>,
    block: &Declaration,
    instance: &BlockInstance,
    repetition: Option<&(&'static str, EvaluatedValue)>,
) -> BlockBody {
    // Each instance would evaluate a list that has an item for each instance.
    let shared = |name: &str| repetition.filter(|(known, _)| *known == name).map(|(_, value)| value.clone());
    let part = |part: &Located<BodySyntax>| {
        module.evaluate(part, instance, |evaluation, body| match body {
            BodySyntax::Native(body) => contents(evaluation, body, &shared),
            BodySyntax::Json(object) => json_contents(evaluation, object, &shared),
        })
    };
    let Some((first, overrides)) = block.parts.split_first() else { return BlockBody::default() };
    let mut all = part(first);
    for later in overrides {
        let kinds = later.node.block_kinds();
        let BlockBody { attributes, blocks } = part(later);
        all.attributes.retain(|known| {
            !kinds.contains(&known.name) && attributes.iter().all(|attribute| attribute.name != known.name)
        });
        all.attributes.extend(attributes);
        all.blocks.retain(|known| !kinds.contains(&known.kind));
        all.blocks.extend(blocks);
    }
    all
}

/// The value of an attribute by its name, if it is known already.
type KnownValue<'v> = &'v dyn Fn(&str) -> Option<EvaluatedValue>;

/// The attributes and the blocks of a body.
fn contents(evaluation: &Evaluation<'_>, body: &Body, known: KnownValue<'_>) -> BlockBody {
    let mut contents = BlockBody::default();
    for structure in body {
        match structure {
            Structure::Attribute(attribute) => {
                contents.attributes.push(evaluated(evaluation, attribute, known));
            }
            Structure::Block(block) if block.ident.as_str() == "dynamic" => {
                dynamic(evaluation, block, &mut contents);
            }
            Structure::Block(block) => contents.blocks.push(NestedBlock {
                kind: block.ident.as_str().to_owned(),
                labels: block.labels.iter().map(|label| label.as_str().to_owned()).collect(),
                place: header(block, evaluation.text),
                is_counted: true,
                body: contents_within(evaluation, &block.body),
            }),
        }
    }
    contents
}

fn contents_within(evaluation: &Evaluation<'_>, body: &Body) -> BlockBody {
    evaluation.session.deeper(|| contents(evaluation, body, &|_| None)).unwrap_or_default()
}

fn evaluated(
    evaluation: &Evaluation<'_>,
    attribute: &Attribute,
    known: KnownValue<'_>,
) -> EvaluatedAttribute {
    let span = attribute.key.span().unwrap_or(0..0);
    let name = attribute.key.as_str();
    EvaluatedAttribute {
        name: name.to_owned(),
        key: TextPlace::new(evaluation.text, Span::new(span.start, span.end)),
        value: known(name).unwrap_or_else(|| evaluation.value(&attribute.value)),
    }
}

/// The blocks that a `dynamic` block makes, one for each element of its `for_each`.
fn dynamic(evaluation: &Evaluation<'_>, block: &Block, into: &mut BlockBody) {
    let Some(kind) = block.labels.first().map(BlockLabel::as_str) else { return };
    let Some(content) = block.body.get_blocks("content").next() else { return };
    let iterator = attribute(block, "iterator").and_then(Expression::as_variable);
    let repeated = RepeatedBlock {
        kind,
        place: header(block, evaluation.text),
        iterator: iterator.map_or(kind, |name| name.as_str()),
        for_each: attribute(block, "for_each"),
        labels: attribute(block, "labels"),
    };
    repeated.expand(evaluation, into, &|evaluation| contents_within(evaluation, &content.body));
}

/// `dynamic` block.
struct RepeatedBlock<'b> {
    kind: &'b str,
    place: TextPlace,
    iterator: &'b str,
    for_each: Option<&'b Expression>,
    labels: Option<&'b Expression>,
}

impl RepeatedBlock<'_> {
    fn expand(
        &self,
        evaluation: &Evaluation<'_>,
        into: &mut BlockBody,
        content: &dyn Fn(&Evaluation<'_>) -> BlockBody,
    ) {
        let nested = |evaluation: &Evaluation<'_>, is_counted: bool| NestedBlock {
            kind: self.kind.to_owned(),
            labels: self.labels(evaluation),
            place: self.place,
            is_counted,
            body: content(evaluation),
        };
        let collection = self.for_each.map(|for_each| evaluation.value(for_each));
        let Some(Ok(Some(pairs))) = collection.as_ref().map(pairs) else {
            into.blocks.push(nested(evaluation, false));
            return;
        };
        for (key, value) in pairs {
            if !evaluation.session.spend(1) {
                return;
            }
            let place = value.place;
            let names = [(self.iterator, object([("key", key), ("value", value)], place))];
            let scope = NameScope::within(evaluation.scope, &names);
            into.blocks.push(nested(&Evaluation { scope: &scope, ..*evaluation }, true));
        }
    }

    fn labels(&self, evaluation: &Evaluation<'_>) -> Vec<String> {
        let value = self.labels.map(|labels| evaluation.value(labels));
        let items = value.as_ref().and_then(EvaluatedValue::items).unwrap_or_default();
        items.iter().filter_map(|label| label.as_str().map(str::to_owned)).collect()
    }
}

/// The contents of a body in JSON. Only a provider knows whether a member is an attribute or a block, so that an object, and a list of
/// objects, is both.
fn json_contents(evaluation: &Evaluation<'_>, object: &Object, known: KnownValue<'_>) -> BlockBody {
    let mut contents = BlockBody::default();
    for (key, value) in object {
        let Some(name) = name_of(key) else { continue };
        let place = evaluation.place(key.span());
        let value = value.expr();
        match name {
            COMMENT => {}
            "dynamic" => objects(value).for_each(|object| json_dynamic(evaluation, object, &mut contents)),
            _ => {
                let evaluated = known(name).unwrap_or_else(|| evaluation.value(value));
                json_blocks(evaluation, name, place, (value, &evaluated), &mut contents.blocks);
                contents.attributes.push(EvaluatedAttribute {
                    name: name.to_owned(),
                    key: place,
                    value: evaluated,
                });
            }
        }
    }
    contents
}

/// An object, or the objects of a list.
fn objects(value: &Expression) -> impl Iterator<Item = &Object> {
    let items = value.as_array().into_iter().flat_map(|items| items.iter());
    core::iter::once(value).chain(items).filter_map(Expression::as_object)
}

/// The blocks that a member of a body in JSON may be, with its value.
fn json_blocks(
    evaluation: &Evaluation<'_>,
    kind: &str,
    key: TextPlace,
    (value, evaluated): (&Expression, &EvaluatedValue),
    into: &mut Vec<NestedBlock>,
) {
    let mut add = |object: &Object, evaluated: &EvaluatedValue| {
        let has_dynamic = object.iter().any(|(key, _)| name_of(key) == Some("dynamic"));
        let mut body = BlockBody::default();
        if has_dynamic {
            body = evaluation
                .session
                .deeper(|| json_contents(evaluation, object, &|_| None))
                .unwrap_or_default();
        } else {
            for (key, value) in object {
                let Some((name, member)) = name_of(key).and_then(|name| Some((name, evaluated.get(name)?)))
                else {
                    continue;
                };
                let key = evaluation.place(key.span());
                json_blocks(evaluation, name, key, (value.expr(), member), &mut body.blocks);
                body.attributes.push(EvaluatedAttribute {
                    name: name.to_owned(),
                    key,
                    value: member.clone(),
                });
            }
        }
        let (kind, labels) = (kind.to_owned(), Vec::new());
        into.push(NestedBlock { kind, labels, place: key, is_counted: true, body });
    };
    match value {
        Expression::Object(object) => add(object, evaluated),
        Expression::Array(items) if items.iter().all(Expression::is_object) => {
            for (item, evaluated) in items.iter().zip(evaluated.items().unwrap_or_default()) {
                item.as_object().into_iter().for_each(|object| add(object, evaluated));
            }
        }
        _ => {}
    }
}

/// The blocks that a member `dynamic` of a body in JSON makes.
fn json_dynamic(evaluation: &Evaluation<'_>, object: &Object, into: &mut BlockBody) {
    for (key, value) in object {
        let Some(kind) = name_of(key) else { continue };
        for block in objects(value.expr()) {
            let member = |name: &str| {
                block.iter().find(|(key, _)| name_of(key) == Some(name)).map(|(_, value)| value.expr())
            };
            let Some(content) = member("content").and_then(|content| objects(content).next()) else {
                continue;
            };
            let repeated = RepeatedBlock {
                kind,
                place: evaluation.place(key.span()),
                iterator: member("iterator").and_then(Expression::as_str).unwrap_or(kind),
                for_each: member("for_each"),
                labels: member("labels"),
            };
            repeated.expand(evaluation, into, &|evaluation| {
                evaluation
                    .session
                    .deeper(|| json_contents(evaluation, content, &|_| None))
                    .unwrap_or_default()
            });
        }
    }
}
