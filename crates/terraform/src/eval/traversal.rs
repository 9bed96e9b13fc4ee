//! References, attributes and indexes.
//!
//! Reference: hashicorp/hcl `ops.go` and `hclsyntax/expression.go`, `SplatExpr`.

use hcl_edit::expr::{Traversal, TraversalOperator};

use crate::convert::{common, convert};
use crate::eval::{Evaluation, derived};
use crate::paths;
use crate::place::TextPlace;
use crate::types::Type;
use crate::value::{Data, EvaluatedValue};

/// The attributes, indexes and splats behind a reference.
pub(crate) type TraversalSteps<'t> = &'t [hcl_edit::Decorated<TraversalOperator>];

impl Evaluation<'_> {
    /// The value of a name without attributes.
    pub(super) fn root(&self, name: &str, place: TextPlace) -> EvaluatedValue {
        if let Some(value) = self.scope.get(name) {
            return value.clone().at(place);
        }
        if self.references.is_none() {
            return EvaluatedValue::failed(
                place,
                format!("The template is called without a variable \"{name}\"."),
            );
        }
        // Terraform refuses the name before it evaluates anything, so that `try` has no say in it.
        EvaluatedValue::unknown(Type::Dynamic, name, place)
    }

    pub(super) fn traversal(&self, traversal: &Traversal, place: TextPlace) -> EvaluatedValue {
        let (root, rest) = match &traversal.expr {
            hcl_edit::expr::Expression::Variable(name) if self.scope.get(name.as_str()).is_none() => {
                match self.reference(name.as_str(), &traversal.operators, place) {
                    Some(found) => found,
                    None => (self.root(name.as_str(), place), traversal.operators.as_slice()),
                }
            }
            expression => (self.value(expression), traversal.operators.as_slice()),
        };
        self.steps(root, rest, place).at(place)
    }

    /// The value of a reference such as `var.name`, and the steps behind it.
    fn reference<'t>(
        &self,
        root: &str,
        steps: TraversalSteps<'t>,
        place: TextPlace,
    ) -> Option<(EvaluatedValue, TraversalSteps<'t>)> {
        let references = self.references?;
        let name = match steps.first().map(hcl_edit::Decorated::value) {
            Some(TraversalOperator::GetAttr(name)) => name.as_str(),
            _ => return None,
        };
        let rest = steps.get(1..).unwrap_or_default();
        let unknown =
            || (EvaluatedValue::unknown(Type::Dynamic, self.slice(place), place), TraversalSteps::default());
        let declared = |value: Option<EvaluatedValue>| {
            // A file that the input does not have may declare it.
            value.unwrap_or_else(|| EvaluatedValue::unknown(Type::Dynamic, self.slice(place), place))
        };
        Some(match root {
            "var" => (declared(references.variable(name)), rest),
            "local" => (declared(references.local(name, place)), rest),
            "module" => match references.module(name, rest) {
                Some(module) => (module, rest),
                None => unknown(),
            },
            "path" => match name {
                "module" | "root" => {
                    let root = self.session.root;
                    let path =
                        if name == "root" { ".".to_owned() } else { paths::relative(root, self.folder) };
                    (EvaluatedValue::string(path, place), rest)
                }
                "cwd" => unknown(),
                _ => (EvaluatedValue::failed(place, format!("There is no path \"{name}\".")), rest),
            },
            "terraform" => match name {
                "workspace" | "applying" => unknown(),
                _ => (
                    EvaluatedValue::failed(place, format!("There is no attribute \"{name}\" of terraform.")),
                    rest,
                ),
            },
            // Set by `for_each`, `count` and blocks that have it; unknown elsewhere.
            _ => unknown(),
        })
    }

    fn steps(
        &self,
        mut value: EvaluatedValue,
        steps: TraversalSteps<'_>,
        place: TextPlace,
    ) -> EvaluatedValue {
        for (index, step) in steps.iter().enumerate() {
            let rest = steps.get(index + 1..).unwrap_or_default();
            match step.value() {
                TraversalOperator::GetAttr(name) => value = self.attribute(&value, name.as_str(), place),
                TraversalOperator::LegacyIndex(number) => {
                    let key =
                        EvaluatedValue::count(usize::try_from(*number.value()).unwrap_or(usize::MAX), place);
                    value = self.index(&value, &key, place);
                }
                TraversalOperator::Index(key) => value = self.index(&value, &self.value(key), place),
                TraversalOperator::FullSplat(_) => return self.splat(&value, rest, place),
                TraversalOperator::AttrSplat(_) => {
                    // The old splat ends before an index in brackets.
                    let is_own = |step: &&hcl_edit::Decorated<TraversalOperator>| {
                        matches!(
                            step.value(),
                            TraversalOperator::GetAttr(_) | TraversalOperator::LegacyIndex(_)
                        )
                    };
                    let own = rest.iter().take_while(is_own).count();
                    let (own, rest) = rest.split_at_checked(own).unwrap_or_default();
                    return self.steps(self.splat(&value, own, place), rest, place);
                }
            }
        }
        value
    }

    /// The value of an attribute.
    pub(crate) fn attribute(&self, value: &EvaluatedValue, name: &str, place: TextPlace) -> EvaluatedValue {
        match &value.data {
            Data::Object(members) | Data::Map(_, members) => match members.get(name) {
                Some(member) => member.clone(),
                None => EvaluatedValue::failed(place, format!("The object has no attribute \"{name}\".")),
            },
            Data::Unknown(unknown) => match &unknown.of {
                Type::Dynamic => self.unknown_part(value, Type::Dynamic, place),
                Type::Map(element) => self.unknown_part(value, Type::clone(element), place),
                Type::Object(attributes) => match attributes.get(name) {
                    Some(attribute) => self.unknown_part(value, attribute.of.clone(), place),
                    None => EvaluatedValue::failed(place, format!("The object has no attribute \"{name}\".")),
                },
                _ => EvaluatedValue::failed(place, format!("The value has no attribute \"{name}\".")),
            },
            Data::Null(_) => {
                EvaluatedValue::failed(place, format!("The value is null and has no attribute \"{name}\"."))
            }
            _ => EvaluatedValue::failed(place, format!("The value has no attribute \"{name}\".")),
        }
    }

    /// The element under an index or a key.
    pub(crate) fn index(
        &self,
        value: &EvaluatedValue,
        key: &EvaluatedValue,
        place: TextPlace,
    ) -> EvaluatedValue {
        if key.failure().is_some() {
            return self.derived(place, Type::Dynamic, &[key]);
        }
        if key.is_null() {
            return EvaluatedValue::failed(place, "The index is null.");
        }
        let of = shape(value);
        match (&value.data, &of) {
            (Data::Unknown(unknown), _) if unknown.of == Type::Dynamic => {
                self.unknown_part(value, Type::Dynamic, place)
            }
            (Data::Null(_), _) => EvaluatedValue::failed(place, "The value is null and has no elements."),
            (_, Type::List(_) | Type::Tuple(_)) => self.element(value, &of, key, place),
            (_, Type::Map(_) | Type::Object(_)) => self.member(value, &of, key, place),
            (_, Type::Set(_)) => EvaluatedValue::failed(place, "The elements of a set have no index."),
            _ => EvaluatedValue::failed(place, "The value has no elements."),
        }
    }

    fn element(
        &self,
        value: &EvaluatedValue,
        of: &Type,
        key: &EvaluatedValue,
        place: TextPlace,
    ) -> EvaluatedValue {
        let Ok(key) = convert(key, &Type::Number) else {
            return EvaluatedValue::failed(place, "The index of a list must be a number.");
        };
        let element = of.element().cloned().unwrap_or(Type::Dynamic);
        let Some(number) = key.as_number() else { return self.element_of(value, &key, element, place) };
        let index = number.as_int().and_then(|index| usize::try_from(index).ok());
        match (value.items(), index, of) {
            (Some(items), Some(index), _) if index < items.len() => items
                .get(index)
                .cloned()
                .unwrap_or_else(|| EvaluatedValue::failed(place, "The list has no such element.")),
            (None, Some(_), Type::List(_)) => self.unknown_part(value, element, place),
            (None, Some(index), Type::Tuple(types)) if index < types.len() => {
                self.unknown_part(value, types.get(index).cloned().unwrap_or(Type::Dynamic), place)
            }
            _ => EvaluatedValue::failed(place, format!("The list has no element {}.", number.text())),
        }
    }

    fn member(
        &self,
        value: &EvaluatedValue,
        of: &Type,
        key: &EvaluatedValue,
        place: TextPlace,
    ) -> EvaluatedValue {
        let Ok(key) = convert(key, &Type::String) else {
            return EvaluatedValue::failed(place, "The key of a map must be a string.");
        };
        let element = of.element().cloned().unwrap_or(Type::Dynamic);
        let Some(name) = key.as_str() else { return self.element_of(value, &key, element, place) };
        self.attribute(value, name, place)
    }

    /// The element of a value under a key that is not known.
    fn element_of(
        &self,
        value: &EvaluatedValue,
        key: &EvaluatedValue,
        of: Type,
        place: TextPlace,
    ) -> EvaluatedValue {
        derived(place, &self.name_of(place, self.slice(place), &[value, key]), of, [key])
    }

    fn unknown_part(&self, value: &EvaluatedValue, of: Type, place: TextPlace) -> EvaluatedValue {
        self.derived(place, of, &[value])
    }

    fn splat(&self, value: &EvaluatedValue, steps: TraversalSteps<'_>, place: TextPlace) -> EvaluatedValue {
        let of = shape(value);
        let is_sequence = matches!(of, Type::List(_) | Type::Set(_) | Type::Tuple(_));
        if value.is_null() {
            return if is_sequence {
                EvaluatedValue::failed(place, "The value of the splat expression is null.")
            } else {
                EvaluatedValue::tuple([], place)
            };
        }
        if let Some(unknown) = value.as_unknown()
            && (is_sequence || unknown.of == Type::Dynamic)
        {
            return self.unknown_part(value, Type::Dynamic, place);
        }
        let single = core::slice::from_ref(value);
        let items = value.items().filter(|_| is_sequence).unwrap_or(single);
        if !self.session.spend(items.len()) {
            return EvaluatedValue::failed(place, "The configuration takes too many steps to evaluate.");
        }
        let items: Vec<EvaluatedValue> =
            items.iter().map(|item| self.steps(item.clone(), steps, place)).collect();
        let element = |items: &[EvaluatedValue]| common(items.iter()).unwrap_or(Type::Dynamic);
        match of {
            Type::List(own) | Type::Set(own) if items.is_empty() => {
                let element = if steps.is_empty() { Type::clone(&own) } else { Type::Dynamic };
                EvaluatedValue::new(crate::convert::list_of(element, items), place)
            }
            Type::List(_) | Type::Set(_) => {
                EvaluatedValue::new(crate::convert::list_of(element(&items), items), place)
            }
            _ => EvaluatedValue::tuple(items, place),
        }
    }
}

/// The type of a value, without the types of the elements of a known one.
fn shape(value: &EvaluatedValue) -> Type {
    match &value.data {
        Data::Tuple(_) => Type::Tuple([].into()),
        Data::Object(_) => Type::object([]),
        _ => value.type_of(),
    }
}
