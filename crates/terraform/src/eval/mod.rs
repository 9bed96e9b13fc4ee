//! Evaluation of expressions.
//!
//! Reference: hashicorp/hcl `hclsyntax/expression.go`.

mod derived;
mod for_expr;
mod layout;
mod operators;
mod possible;
mod scope;
mod template;
mod traversal;

use std::sync::Arc;

use hcl_edit::Span as _;
use hcl_edit::expr::{Expression, ObjectKey};
use manifest::source::{Source, Span};

use crate::convert::convert;
use crate::functions;
use crate::number::Number;
use crate::place::{TextNumber, TextPlace};
use crate::session::EvaluationSession;
use crate::types::Type;
use crate::value::{Data, EvaluatedMember, EvaluatedValue, Knowledge};

pub(crate) use derived::{contents_fingerprint, derived, sources_of};
pub(crate) use for_expr::pairs;
pub(crate) use layout::{TemplateLayout, json_string};
pub(crate) use possible::PossibleElements;
pub(crate) use scope::{NameScope, References};
pub(crate) use traversal::TraversalSteps;

/// Evaluation of the expressions of one text.
#[derive(Clone, Copy)]
pub(crate) struct Evaluation<'e> {
    pub(crate) session: &'e EvaluationSession<'e>,
    pub(crate) scope: &'e NameScope<'e>,
    /// The meaning of `var`, `local` and the other roots of references; `None` in a template file, which has its own variables.
    pub(crate) references: Option<&'e dyn References>,
    /// Folder of the module, a path from the root of the input.
    pub(crate) folder: &'e str,
    pub(crate) text: TextNumber,
    pub(crate) source: &'e Arc<Source>,
}

impl<'e> Evaluation<'e> {
    /// The value of an expression.
    pub(crate) fn value(&self, expression: &Expression) -> EvaluatedValue {
        let place = self.place_of(expression);
        if !self.session.spend(1) {
            return EvaluatedValue::failed(place, "The configuration takes too many steps to evaluate.");
        }
        let value = self.session.deeper(|| self.value_at(expression, place));
        value.unwrap_or_else(|| EvaluatedValue::failed(place, "The expression is nested too deeply."))
    }

    fn value_at(&self, expression: &Expression, place: TextPlace) -> EvaluatedValue {
        match expression {
            Expression::Null(_) => EvaluatedValue::null(Type::Dynamic, place),
            Expression::Bool(value) => EvaluatedValue::bool(*value.value(), place),
            Expression::Number(_) => self.number(place),
            Expression::String(_) => self.quoted(place),
            Expression::Array(array) => {
                let items: Vec<EvaluatedValue> = array.iter().map(|item| self.value(item)).collect();
                EvaluatedValue::tuple(items, place)
            }
            Expression::Object(object) => {
                self.object(object.iter().map(|(key, value)| (key, value.expr())), place)
            }
            Expression::StringTemplate(template) => self.string_template(template, place),
            Expression::HeredocTemplate(heredoc) => self.heredoc(heredoc, place),
            Expression::Parenthesis(inner) => self.value(inner.inner()).at(place),
            Expression::Variable(name) => self.root(name.as_str(), place),
            Expression::Conditional(conditional) => self.conditional(conditional, place),
            Expression::FuncCall(call) => functions::call(self, call, place),
            Expression::Traversal(traversal) => self.traversal(traversal, place),
            Expression::UnaryOp(operation) => self.unary(operation, place),
            Expression::BinaryOp(operation) => self.binary(operation, place),
            Expression::ForExpr(expression) => self.for_expression(expression, place),
        }
    }

    /// The place of an expression.
    pub(crate) fn place_of(&self, expression: &Expression) -> TextPlace {
        self.place(expression.span())
    }

    pub(crate) fn place(&self, span: Option<core::ops::Range<usize>>) -> TextPlace {
        let span = span.unwrap_or(0..0);
        TextPlace::new(self.text, Span::new(span.start, span.end))
    }

    pub(crate) fn slice(&self, place: TextPlace) -> &'e str {
        place.span().text(self.source.text())
    }

    fn number(&self, place: TextPlace) -> EvaluatedValue {
        let text: String = self.slice(place).split_whitespace().collect();
        match Number::parse(&text) {
            Some(number) => EvaluatedValue::number(number, place),
            None => EvaluatedValue::unknown(Type::Number, self.slice(place), place),
        }
    }

    fn quoted(&self, place: TextPlace) -> EvaluatedValue {
        EvaluatedValue::text(layout::quoted(self.source, place), place)
    }

    fn object<'o>(
        &self,
        members: impl Iterator<Item = (&'o ObjectKey, &'o Expression)>,
        place: TextPlace,
    ) -> EvaluatedValue {
        let mut object = Vec::new();
        let mut unknown_key = None;
        for (key, value) in members {
            let key_value = self.key(key);
            let key_place = key_value.place;
            let value = self.value(value);
            match convert(&key_value, &Type::String) {
                Ok(EvaluatedValue { data: Data::String(name), .. }) => {
                    object.push((name.shared(), EvaluatedMember { key: key_place, value }));
                }
                Ok(EvaluatedValue { data: Data::Unknown(unknown), .. }) => {
                    object.push((unknown.text.shared(), EvaluatedMember { key: key_place, value }));
                    unknown_key = Some(key_value);
                }
                _ => {
                    return EvaluatedValue::failed(
                        key_place,
                        "The key of an object must be a string that is not null.",
                    );
                }
            }
        }
        let object = EvaluatedValue::object(object, place);
        let Some(key) = unknown_key else { return object };
        let mut unknown = self.derived(place, Type::Dynamic, &[&key]);
        if let Data::Unknown(unknown) = &mut unknown.data {
            unknown.text = core::mem::take(&mut unknown.text).with_encoded(object);
        }
        unknown
    }

    fn key(&self, key: &ObjectKey) -> EvaluatedValue {
        let place = self.place(key.span());
        match key {
            ObjectKey::Ident(_) => EvaluatedValue::string(self.slice(place).trim(), place),
            ObjectKey::Expression(Expression::Null(_) | Expression::Bool(_)) => {
                EvaluatedValue::string(self.slice(place).trim(), place)
            }
            ObjectKey::Expression(Expression::Traversal(_)) => {
                EvaluatedValue::failed(place, "A reference as the key of an object must be in parentheses.")
            }
            ObjectKey::Expression(Expression::String(_)) => match self.renamed_key(place) {
                Some(written) => self.value(&written),
                None => self.quoted(place),
            },
            ObjectKey::Expression(expression) => self.value(expression),
        }
    }

    /// The expression of a key that the parser got a string for, because its object has the key twice.
    fn renamed_key(&self, place: TextPlace) -> Option<Expression> {
        let written = self.slice(place);
        let is_string = written.starts_with('"') && !written.contains("${") && !written.contains("%{");
        if is_string || !self.session.spend_text(place.span().end) {
            return None;
        }
        // The places of the expression are the ones in the file.
        let blanks = place.span().start.checked_sub(1)?;
        match format!("({:blanks$}{written})", "").parse().ok()? {
            Expression::Parenthesis(written) => Some(written.inner().clone()),
            _ => None,
        }
    }

    fn conditional(&self, conditional: &hcl_edit::expr::Conditional, place: TextPlace) -> EvaluatedValue {
        let condition = self.value(&conditional.cond_expr);
        let (yes, no) = (self.value(&conditional.true_expr), self.value(&conditional.false_expr));
        if !self.session.spend_values([&yes, &no]) {
            return EvaluatedValue::failed(place, "The configuration takes too many steps to evaluate.");
        }
        let is_bare_null = |value: &EvaluatedValue| matches!(value.data, Data::Null(Type::Dynamic));
        let of = if is_bare_null(&yes) {
            Some(no.type_of())
        } else if is_bare_null(&no) {
            Some(yes.type_of())
        } else {
            crate::unify::unify(&[yes.type_of(), no.type_of()])
        };
        let Some(of) = of else {
            return EvaluatedValue::failed(
                place,
                "The two results of the condition have types that do not convert to each other.",
            );
        };
        let condition = match Self::condition(condition.clone()) {
            Ok(Some(condition)) => condition,
            Ok(None) => return self.either(place, of, &condition, [&yes, &no]),
            Err(failed) => return failed,
        };
        let chosen = if condition { yes } else { no };
        if is_bare_null(&chosen) {
            return EvaluatedValue::null(of, place);
        }
        match convert(&chosen, &of) {
            Ok(value) => value.at(place),
            Err(message) => EvaluatedValue::failed(place, message),
        }
    }

    /// A condition as a boolean; none if it is not known, an error if it is no boolean.
    pub(crate) fn condition(condition: EvaluatedValue) -> Result<Option<bool>, EvaluatedValue> {
        if condition.knowledge() == Knowledge::Failed {
            return Err(condition);
        }
        if condition.is_null() {
            return Err(EvaluatedValue::failed(condition.place, "The condition is null."));
        }
        match convert(&condition, &Type::Bool) {
            Ok(value) => Ok(value.as_bool()),
            Err(message) => Err(EvaluatedValue::failed(condition.place, message)),
        }
    }
}
