#![doc = include_str!("../README.md")]

mod configuration;
mod constraint;
mod contents;
mod convert;
mod equality;
mod eval;
mod functions;
mod input;
mod instance;
mod module;
mod number;
mod paths;
mod place;
mod plan;
mod session;
mod set;
mod syntax;
mod text;
mod types;
mod unify;
mod value;

pub use configuration::{
    AbsentResource, BlockBody, CommandVariables, EvaluatedAttribute, EvaluatedBlock, EvaluatedConfiguration,
    NestedBlock, TemplateRequest, declared_variables, evaluate_expressions, matching_files, root_folders,
    texts_of_modules, variables_in,
};
pub use input::{ConfigurationInput, FolderFiles};
pub use instance::InstanceKey;
pub use number::Number;
pub use place::{TextNumber, TextPlace, Texts};
pub use plan::{PlannedSide, is_plan};
pub use syntax::{SyntaxProblem, is_configuration, is_json};
pub use text::{AlternativeText, EvaluatedText, InsertedObject, Piece, UnresolvedDirective, fingerprint};
pub use types::{AttributeType, Type};
pub use value::{
    Data, EvaluatedMember, EvaluatedMembers, EvaluatedValue, EvaluationFailure, Items, Knowledge, Unknown,
};

/// The value of the only document of a string that has YAML or JSON, as `yamldecode` reads it. The value has the places of the parts of the
/// string. `used` is the expression that uses the string. `None` also for a string with directives that are not resolved.
pub fn decode_yaml(text: &EvaluatedText, used: TextPlace) -> Option<EvaluatedValue> {
    functions::decode_yaml(text, used)
}

/// A known value as JSON, as `jsonencode` writes it. What is not known is `null`.
pub fn to_json(value: &EvaluatedValue) -> String {
    let mut json = String::new();
    functions::write_json(value, &mut json);
    json
}
