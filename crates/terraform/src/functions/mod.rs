//! Functions of Terraform.
//!
//! Reference: hashicorp/terraform v1.11 `internal/lang/functions.go`, and zclconf/go-cty `cty/function` for the rules of arguments.

mod chars;
mod collections;
mod conversions;
mod encoding;
mod files;
mod format;
mod json;
mod lists;
mod maps;
mod network;
mod numbers;
mod pattern;
mod sets;
mod spelled;
mod strings;
mod table;
mod times;
mod yaml_decode;
mod yaml_encode;

pub(crate) use encoding::hex;
pub(crate) use files::whole_file;
pub(crate) use json::{decode as decode_json, write as write_json};
pub(crate) use spelled::{length as placeholder_length, placeholders};
pub(crate) use yaml_decode::decode as decode_yaml;

use std::sync::Arc;

use hcl_edit::expr::FuncCall;

use crate::convert::convert;
use crate::eval::{Evaluation, PossibleElements, derived, sources_of};
use crate::place::TextPlace;
use crate::types::Type;
use crate::value::{Data, EvaluatedValue, Knowledge, Unknown};

/// Result of a function: an error is the sentence that says what is wrong.
type Answer = Result<EvaluatedValue, String>;

/// Function with its parameters.
struct Function {
    name: &'static str,
    parameters: &'static [Parameter],
    /// The parameter of all further arguments.
    further: Option<Parameter>,
    /// Type of the result, as far as it does not depend on the arguments.
    returns: Kind,
    needs: Needs,
    run: fn(&Call<'_>) -> Answer,
}

/// Parameter of a function.
#[derive(Clone, Copy)]
struct Parameter {
    kind: Kind,
    /// Whether an argument may be null.
    is_nullable: bool,
}

/// Type of an argument or a result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Any,
    Bool,
    Number,
    String,
    Bools,
    Strings,
    /// A map of lists of strings.
    StringLists,
    List,
    Set,
    Map,
}

/// The parts of the arguments that a function has to know.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Everything in the arguments.
    Everything,
    /// The arguments themselves, but not their elements.
    Arguments,
    /// The arguments themselves, which are objects. The result keeps the members of the known ones.
    Members,
    /// The arguments themselves, which are lists. The result keeps the items of the known ones.
    Items,
    /// Nothing: the function looks itself.
    Nothing,
    /// Everything; with placeholders in the arguments it writes a text or reads an object with placeholders. Only for functions that put
    /// text around a placeholder: one that cuts or changes a text would cut the name of the placeholder instead of its value.
    Spelling,
}

impl Kind {
    fn of(self) -> Type {
        match self {
            Self::Any => Type::Dynamic,
            Self::Bool => Type::Bool,
            Self::Number => Type::Number,
            Self::String => Type::String,
            Self::Bools => Type::list(Type::Bool),
            Self::Strings => Type::list(Type::String),
            Self::StringLists => Type::map(Type::list(Type::String)),
            Self::List => Type::list(Type::Dynamic),
            Self::Set => Type::set(Type::Dynamic),
            Self::Map => Type::map(Type::Dynamic),
        }
    }
}

/// Call of a function with converted arguments.
struct Call<'c> {
    evaluation: &'c Evaluation<'c>,
    place: TextPlace,
    arguments: Vec<EvaluatedValue>,
    /// Numbers of the arguments that have the names of placeholders instead of what is not known.
    spelled: Vec<usize>,
}

#[expect(clippy::unnecessary_wraps, reason = "the last expression of a function is its result")]
impl Call<'_> {
    fn argument(&self, index: usize) -> Result<&EvaluatedValue, String> {
        self.arguments.get(index).ok_or_else(|| "An argument is missing.".to_owned())
    }

    /// Whether an argument is known, and not a text with the names of placeholders.
    fn is_known(&self, index: usize) -> bool {
        !self.spelled.contains(&index)
    }

    /// A string argument.
    fn str(&self, index: usize) -> Result<&str, String> {
        self.argument(index)?.as_str().ok_or_else(|| "The argument must be a string.".to_owned())
    }

    /// The items of an argument.
    fn items(&self, index: usize) -> Result<&[EvaluatedValue], String> {
        self.argument(index)?.items().ok_or_else(|| "The argument must be a list.".to_owned())
    }

    /// An argument that is a whole number.
    fn int(&self, index: usize) -> Result<i64, String> {
        let number = self.argument(index)?.as_number().ok_or("The argument must be a number.")?;
        number.as_int().ok_or_else(|| "The argument must be a whole number.".to_owned())
    }

    /// Takes the steps of a text of this length.
    fn spend_text(&self, bytes: usize) -> Result<(), String> {
        if self.evaluation.session.spend_text(bytes) {
            Ok(())
        } else {
            Err("The string is too long.".to_owned())
        }
    }

    /// Takes steps.
    fn spend(&self, steps: usize) -> Result<(), String> {
        if self.evaluation.session.spend(steps) {
            Ok(())
        } else {
            Err("The configuration takes too many steps to evaluate.".to_owned())
        }
    }

    fn string(&self, text: impl Into<Arc<str>>) -> Answer {
        let text = text.into();
        self.spend_text(text.len())?;
        Ok(EvaluatedValue::string(text, self.place))
    }

    fn bool(&self, value: bool) -> Answer {
        Ok(EvaluatedValue::bool(value, self.place))
    }

    fn value(&self, data: Data) -> Answer {
        Ok(EvaluatedValue::new(data, self.place))
    }

    /// A result that is not known because the arguments are not.
    fn unknown(&self, of: Type) -> Answer {
        Ok(self.evaluation.derived(self.place, of, &self.arguments.iter().collect::<Vec<_>>()))
    }
}

/// The value of a call.
pub(crate) fn call(evaluation: &Evaluation<'_>, call: &FuncCall, place: TextPlace) -> EvaluatedValue {
    let name = call.name.name.as_str();
    let is_core = match call.name.namespace.as_slice() {
        [] => true,
        [namespace] => namespace.as_str() == "core",
        _ => false,
    };
    let arguments = || call.args.iter();
    match name {
        _ if !is_core => {}
        "try" | "can" if call.args.expand_final() => {
            return EvaluatedValue::failed(place, "The arguments of this function cannot be a list.");
        }
        "try" => return attempt(evaluation, arguments().map(|one| evaluation.value(one)), place),
        "can" => return can(evaluation, arguments().map(|one| evaluation.value(one)), place),
        _ => {}
    }
    let Some(function) = table::find(name).filter(|_| is_core) else {
        return if !is_core || table::NOT_EVALUATED.contains(&name) {
            let values: Vec<EvaluatedValue> = arguments().map(|one| evaluation.value(one)).collect();
            evaluation.composed(place, Type::Dynamic, &values.iter().collect::<Vec<_>>())
        } else {
            EvaluatedValue::failed(place, format!("There is no function \"{name}\"."))
        };
    };
    let mut values: Vec<EvaluatedValue> = arguments().map(|one| evaluation.value(one)).collect();
    if call.args.expand_final()
        && let Some(last) = values.pop()
    {
        match expanded(&last) {
            Ok(Some(items)) => values.extend(items),
            Ok(None) if function.needs == Needs::Members => {
                let known = last.as_unknown().and_then(|unknown| unknown.text.known_items());
                values.extend_from_slice(known.unwrap_or_default());
                values.push(evaluation.derived(last.place, Type::Dynamic, &[&last]));
            }
            Ok(None) => {
                let causes: Vec<&EvaluatedValue> = core::iter::once(&last).chain(&values).collect();
                return evaluation.composed(place, Type::Dynamic, &causes);
            }
            Err(message) => return EvaluatedValue::failed(place, message),
        }
    }
    apply(function, evaluation, values, place)
}

/// The arguments that `...` makes of the last one; none if it is not known.
fn expanded(last: &EvaluatedValue) -> Result<Option<Vec<EvaluatedValue>>, String> {
    match &last.data {
        Data::List(_, items) | Data::Tuple(items) | Data::Set(_, items) => {
            Ok(Some(items.as_slice().to_vec()))
        }
        Data::Unknown(_) => Ok(None),
        _ => Err("The last argument before \"...\" must be a list.".to_owned()),
    }
}

fn apply(
    function: &Function,
    evaluation: &Evaluation<'_>,
    values: Vec<EvaluatedValue>,
    place: TextPlace,
) -> EvaluatedValue {
    if !evaluation.session.spend_values(&values) {
        return EvaluatedValue::failed(place, "The configuration takes too many steps to evaluate.");
    }
    let fail = |message: &str| EvaluatedValue::failed(place, format!("{}: {message}", function.name));
    let required = function.parameters.len();
    if values.len() < required || values.len() > required && function.further.is_none() {
        return fail(&format!("The function takes {required} arguments."));
    }
    let mut arguments = Vec::new();
    for (index, value) in values.into_iter().enumerate() {
        let Some(parameter) = function.parameters.get(index).or(function.further.as_ref()) else { break };
        if value.is_null() && !parameter.is_nullable {
            return fail(&format!("Argument {} is null.", index + 1));
        }
        match convert(&value, &parameter.kind.of()) {
            Ok(value) => arguments.push(value),
            Err(message) => return fail(&format!("Argument {}: {message}", index + 1)),
        }
    }
    let knowledge = arguments.iter().map(EvaluatedValue::knowledge).max().unwrap_or(Knowledge::Known);
    let has_unknown_argument = arguments.iter().any(|argument| argument.as_unknown().is_some());
    let is_enough = match function.needs {
        Needs::Everything | Needs::Spelling => knowledge == Knowledge::Known,
        Needs::Arguments | Needs::Members | Needs::Items => {
            knowledge < Knowledge::Failed && !has_unknown_argument
        }
        Needs::Nothing => knowledge < Knowledge::Failed,
    };
    let call = Call { evaluation, place, arguments, spelled: Vec::new() };
    if is_enough {
        return (function.run)(&call).unwrap_or_else(|message| fail(&message));
    }
    let causes: Vec<&EvaluatedValue> = call.arguments.iter().collect();
    let mut result = evaluation.derived(place, function.returns.of(), &causes);
    if let Data::Unknown(unknown) = &mut result.data {
        unknown.sources = sources_of(&call.arguments);
    }
    if function.needs == Needs::Members && knowledge < Knowledge::Failed {
        return with_known_members(function, call, result);
    }
    if function.needs == Needs::Items && knowledge < Knowledge::Failed {
        return with_known_items(function, call, result);
    }
    if function.needs == Needs::Spelling {
        let arguments = call.arguments.iter().map(EvaluatedValue::spelled).collect();
        let is_unknown = |(_, value): &(usize, &EvaluatedValue)| value.knowledge() > Knowledge::Known;
        let spelled = call.arguments.iter().enumerate().filter(is_unknown).map(|(index, _)| index).collect();
        let spelled = (function.run)(&Call { arguments, spelled, ..call });
        match (spelled, &mut result.data) {
            (Ok(EvaluatedValue { data: Data::String(text), .. }), Data::Unknown(unknown))
                if function.returns == Kind::String =>
            {
                // What the function wrote has the parts of its argument that are known.
                let text = match call.arguments.first().filter(|_| text.encoded().is_some()) {
                    Some(original) if ENCODING.contains(&function.name) => {
                        text.with_encoded(original.clone())
                    }
                    _ => text,
                };
                *unknown = Unknown { text, ..unknown.clone() };
            }
            // What a function reads is the unknown value that another one wrote.
            (Ok(EvaluatedValue { data: Data::Unknown(inner), .. }), Data::Unknown(unknown))
                if inner.failure.is_none() && function.returns == Kind::Any =>
            {
                let text = core::mem::take(&mut unknown.text);
                *unknown = Unknown {
                    text: text.with_parts_of(&inner.text),
                    possible: inner.possible,
                    ..unknown.clone()
                };
            }
            (Ok(value), Data::Unknown(unknown)) if value.members().is_some() => {
                unknown.text = core::mem::take(&mut unknown.text).with_encoded(value);
            }
            _ => {}
        }
    }
    result
}

/// Functions that write a value as text.
const ENCODING: [&str; 2] = ["jsonencode", "yamlencode"];

/// The placeholder of a list, with the items that the function makes of the known arguments.
fn with_known_items(function: &Function, call: Call<'_>, mut result: EvaluatedValue) -> EvaluatedValue {
    let known_part = |one: &EvaluatedValue| {
        let Some(unknown) = one.as_unknown() else { return Some(one.clone()) };
        Some(EvaluatedValue::tuple(unknown.text.known_items()?.iter().cloned(), one.place))
    };
    let arguments: Vec<EvaluatedValue> = call.arguments.iter().filter_map(known_part).collect();
    let known = (function.run)(&Call { arguments, ..call });
    if let (Ok(known), Data::Unknown(unknown)) = (known, &mut result.data)
        && let Some(items) = known.items()
    {
        unknown.text = core::mem::take(&mut unknown.text).with_known_items(items.iter().cloned().collect());
    }
    result
}

/// The placeholder of an object, with the members that the function makes of the known arguments.
fn with_known_members(function: &Function, call: Call<'_>, mut result: EvaluatedValue) -> EvaluatedValue {
    let known_part = |one: &EvaluatedValue| {
        let Some(unknown) = one.as_unknown() else { return Some(one.clone()) };
        let known =
            || Some(EvaluatedValue::new(Data::Object(unknown.text.known_members()?.clone()), one.place));
        unknown.object().cloned().or_else(known)
    };
    let possible = PossibleElements::merged(&call.arguments, call.place).map(Arc::new);
    let arguments: Vec<EvaluatedValue> = call.arguments.iter().filter_map(known_part).collect();
    let known = (function.run)(&Call { arguments, ..call });
    if let (Ok(known), Data::Unknown(unknown)) = (known, &mut result.data)
        && let Some(members) = known.members()
    {
        unknown.text = core::mem::take(&mut unknown.text).with_known_members(members.clone());
        unknown.possible = possible;
    }
    result
}

/// `try`: the first argument without a failure.
fn attempt(
    evaluation: &Evaluation<'_>,
    mut arguments: impl Iterator<Item = EvaluatedValue>,
    place: TextPlace,
) -> EvaluatedValue {
    let last = |value: &EvaluatedValue| evaluation.derived(place, Type::Dynamic, &[value]);
    let mut failed = None;
    let found = arguments.by_ref().find(|value| {
        let is_failed = value.failure().is_some();
        if is_failed {
            failed = Some(value.clone());
        }
        !is_failed
    });
    if evaluation.session.is_limited() {
        return EvaluatedValue::unknown(Type::Dynamic, evaluation.slice(place), place);
    }
    match (found, failed) {
        // A value that is not known may still fail when Terraform applies the configuration.
        (Some(value), _) if value.knowledge() > Knowledge::Known => {
            let others: Vec<EvaluatedValue> =
                arguments.filter(|_| evaluation.session.input.names_show_contents()).collect();
            let causes: Vec<&EvaluatedValue> = core::iter::once(&value).chain(&others).collect();
            let name = evaluation.name_of(place, evaluation.slice(place), &causes);
            let mut result = derived(place, &name, Type::Dynamic, [&value]);
            let known = value.as_unknown().and_then(|unknown| unknown.text.known_members());
            if let (Data::Unknown(unknown), Some(known)) = (&mut result.data, known) {
                unknown.text = core::mem::take(&mut unknown.text).with_known_members(known.clone());
            }
            result
        }
        (Some(value), _) => value.at(place),
        (None, Some(failed)) => last(&failed),
        (None, None) => EvaluatedValue::failed(place, "try: The function takes at least one argument."),
    }
}

/// `can`: whether the argument has no failure.
fn can(
    evaluation: &Evaluation<'_>,
    arguments: impl Iterator<Item = EvaluatedValue>,
    place: TextPlace,
) -> EvaluatedValue {
    let arguments: Vec<EvaluatedValue> = arguments.collect();
    let [value] = arguments.as_slice() else {
        return EvaluatedValue::failed(place, "can: The function takes one argument.");
    };
    match value.knowledge() {
        Knowledge::Known => EvaluatedValue::bool(true, place),
        Knowledge::Failed if !evaluation.session.is_limited() => EvaluatedValue::bool(false, place),
        _ => EvaluatedValue::unknown(Type::Bool, evaluation.slice(place), place),
    }
}
