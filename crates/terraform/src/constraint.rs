//! Type constraints of variables.
//!
//! Reference: hashicorp/hcl `ext/typeexpr`.

use std::collections::BTreeMap;
use std::sync::Arc;

use hcl_edit::expr::{Expression, ObjectKey};

use crate::convert::{convert, plain};
use crate::types::{AttributeType, Type};
use crate::value::{Data, EvaluatedMember, EvaluatedMembers, EvaluatedValue, Items};

/// Type constraint of a variable, with the defaults of its optional attributes.
#[derive(Clone, Debug)]
pub(crate) struct VariableType {
    pub(crate) of: Type,
    defaults: Defaults,
}

/// Defaults of optional attributes, in the shape of the type.
#[derive(Clone, Debug, Default)]
struct Defaults {
    attributes: BTreeMap<Arc<str>, EvaluatedValue>,
    within: BTreeMap<Arc<str>, Self>,
    elements: Option<Box<Self>>,
}

impl Defaults {
    fn is_empty(&self) -> bool {
        self.attributes.is_empty() && self.within.is_empty() && self.elements.is_none()
    }

    fn of_elements(elements: Self) -> Self {
        Self { elements: (!elements.is_empty()).then(|| Box::new(elements)), ..Self::default() }
    }

    /// The value with the defaults for what it lacks.
    fn apply(&self, value: &EvaluatedValue) -> EvaluatedValue {
        if self.is_empty() {
            return value.clone();
        }
        let each = |value: &EvaluatedValue| {
            self.elements.as_ref().map_or_else(|| value.clone(), |elements| elements.apply(value))
        };
        let all = |items: &Items| items.as_slice().iter().map(each).collect();
        let data = match &value.data {
            Data::List(of, items) => Data::List(of.clone(), all(items)),
            Data::Set(of, items) => Data::Set(of.clone(), all(items)),
            // Tuples and lists become lists, and the types of their items are converted later.
            Data::Tuple(items) => Data::Tuple(all(items)),
            Data::Map(_, members) | Data::Object(members) => {
                Data::Object(self.apply_members(value, members, each))
            }
            _ => return value.clone(),
        };
        let data = match data {
            Data::List(_, items) | Data::Set(_, items) => Data::Tuple(items),
            other => other,
        };
        EvaluatedValue { data, ..*value }
    }

    fn apply_members(
        &self,
        object: &EvaluatedValue,
        members: &EvaluatedMembers,
        each: impl Fn(&EvaluatedValue) -> EvaluatedValue,
    ) -> EvaluatedMembers {
        let mut all: BTreeMap<Arc<str>, EvaluatedMember> = members.as_map().clone();
        for (name, default) in &self.attributes {
            let is_missing = all.get(name).is_none_or(|member| member.value.is_null());
            if is_missing {
                all.insert(Arc::clone(name), EvaluatedMember { key: object.place, value: default.clone() });
            }
        }
        let member = |(name, member): (Arc<str>, EvaluatedMember)| {
            let within = self.within.get(&name);
            let value = within.map_or_else(|| each(&member.value), |within| within.apply(&member.value));
            (name, EvaluatedMember { value, ..member })
        };
        all.into_iter().map(member).collect()
    }
}

impl VariableType {
    /// The constraint that any value meets.
    pub(crate) fn any() -> Self {
        Self { of: Type::Dynamic, defaults: Defaults::default() }
    }

    /// Parses a constraint. `value` evaluates the default of an optional attribute. None if the expression is no constraint.
    pub(crate) fn parse(
        expression: &Expression,
        value: &dyn Fn(&Expression) -> EvaluatedValue,
    ) -> Option<Self> {
        let simple = |of| Some(Self { of, defaults: Defaults::default() });
        match expression {
            Expression::Variable(name) => simple(named(name.as_str())?),
            // The old form, in quotes.
            Expression::String(name) => simple(named(name.as_str())?),
            Expression::Parenthesis(inner) => Self::parse(inner.inner(), value),
            Expression::FuncCall(call) => {
                let mut arguments = call.args.iter();
                let argument = arguments.next()?;
                let collection = |kind: fn(Type) -> Type| {
                    let element = Self::parse(argument, value)?;
                    Some(Self { of: kind(element.of), defaults: Defaults::of_elements(element.defaults) })
                };
                match call.name.name.as_str() {
                    "list" => collection(Type::list),
                    "set" => collection(Type::set),
                    "map" => collection(Type::map),
                    "tuple" => {
                        let Expression::Array(array) = argument else { return None };
                        let elements: Option<Vec<Type>> =
                            array.iter().map(|element| Some(Self::parse(element, value)?.of)).collect();
                        simple(Type::Tuple(elements?.into()))
                    }
                    "object" => Self::object(argument, value),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn object(argument: &Expression, value: &dyn Fn(&Expression) -> EvaluatedValue) -> Option<Self> {
        let Expression::Object(object) = argument else { return None };
        let mut defaults = Defaults::default();
        let mut attributes = BTreeMap::new();
        for (key, member) in object {
            let name: Arc<str> = match key {
                ObjectKey::Ident(name) => name.as_str().into(),
                ObjectKey::Expression(Expression::String(name)) => name.as_str().into(),
                ObjectKey::Expression(_) => return None,
            };
            let (constraint, is_optional, default) = match member.expr() {
                Expression::FuncCall(call) if call.name.name.as_str() == "optional" => {
                    let mut arguments = call.args.iter();
                    (arguments.next()?, true, arguments.next())
                }
                required => (required, false, None),
            };
            let constraint = Self::parse(constraint, value)?;
            if let Some(default) = default {
                let default = value(default);
                let default = convert(&default, &constraint.of).unwrap_or(default);
                defaults.attributes.insert(Arc::clone(&name), default);
            }
            if !constraint.defaults.is_empty() {
                defaults.within.insert(Arc::clone(&name), constraint.defaults);
            }
            attributes.insert(name, AttributeType { of: constraint.of, is_optional });
        }
        Some(Self { of: Type::Object(Arc::new(attributes)), defaults })
    }

    /// The value as the variable has it. An error says what is wrong.
    pub(crate) fn apply(&self, value: &EvaluatedValue) -> Result<EvaluatedValue, String> {
        convert(&self.defaults.apply(value), &self.of)
    }

    /// The type of the variable's values.
    pub(crate) fn plain(&self) -> Type {
        plain(&self.of)
    }
}

fn named(name: &str) -> Option<Type> {
    Some(match name {
        "any" => Type::Dynamic,
        "bool" => Type::Bool,
        "number" => Type::Number,
        "string" => Type::String,
        "list" => Type::list(Type::Dynamic),
        "set" => Type::set(Type::Dynamic),
        "map" => Type::map(Type::Dynamic),
        _ => return None,
    })
}
