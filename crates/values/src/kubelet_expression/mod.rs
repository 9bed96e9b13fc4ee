//! Expressions in `spec.kubelet` of an EC2NodeClass, which Karpenter evaluates for each instance type since 1.15.
//!
//! The language is CEL with the variables and functions of pkg/cel/environment.go of aws/karpenter-provider-aws. This module
//! judges the documented part: arithmetic, comparison, logic, the conditional, `min`, `max`, `int` and `double`
//! (website/content/en/v1.15/concepts/nodeclasses.md). It accepts everything else that CEL may accept.

mod parse;
mod tokens;

use core::fmt;

use crate::spelling::nearest;

/// The variables, and their types.
const VARIABLES: [(&str, ValueType); 6] = [
    ("vcpus", ValueType::Int),
    ("memory_mib", ValueType::Int),
    ("default_enis", ValueType::Int),
    ("ips_per_eni", ValueType::Int),
    ("max_pods", ValueType::Int),
    ("instance_type", ValueType::Text),
];

/// The documented functions, and their number of arguments.
const FUNCTIONS: [(&str, usize); 4] = [("min", 2), ("max", 2), ("int", 1), ("double", 1)];

/// Other functions and macros of CEL's standard library, which this module does not judge.
const OTHER_FUNCTIONS: [&str; 11] =
    ["size", "string", "bool", "bytes", "uint", "dyn", "type", "duration", "timestamp", "matches", "has"];

/// The type of a part of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// A whole number.
    Int,
    /// A number with a fraction.
    Double,
    /// `true` or `false`.
    Bool,
    /// A string.
    Text,
    /// A type that this module does not determine.
    Unknown,
}

impl ValueType {
    const fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::Double)
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Int => "a whole number",
            Self::Double => "a fraction",
            Self::Bool => "a bool",
            Self::Text => "a string",
            Self::Unknown => "a value",
        })
    }
}

/// The reason for which an expression does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpressionError {
    /// A part that the grammar does not allow; empty at the end of the text.
    Syntax(String),
    /// A variable that does not exist.
    UnknownVariable(String),
    /// A function that does not exist.
    UnknownFunction(String),
    /// A function with another number of arguments; the right number.
    Arguments(&'static str, usize),
    /// An operator or function that does not take these types.
    Operands(String, ValueType, ValueType),
    /// An expression whose result is not a number.
    Result(ValueType),
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(part) if part.is_empty() => f.write_str("it ends too early"),
            Self::Syntax(part) => write!(f, "`{part}` cannot stand there"),
            Self::UnknownVariable(name) => write!(f, "there is no variable `{name}`"),
            Self::UnknownFunction(name) => write!(f, "there is no function `{name}`"),
            Self::Arguments(name, 1) => write!(f, "`{name}` takes one argument"),
            Self::Arguments(name, count) => write!(f, "`{name}` takes {count} arguments"),
            Self::Operands(operator, left, right) if left == right => {
                write!(f, "`{operator}` does not take {left}")
            }
            Self::Operands(operator, left, right) => {
                write!(f, "`{operator}` does not take {left} and {right} together")
            }
            Self::Result(of) => write!(f, "its result is {of}, not a number"),
        }
    }
}

impl core::error::Error for ExpressionError {}

impl ExpressionError {
    /// The expression to write instead.
    pub fn help(&self) -> String {
        let variables = || VARIABLES.iter().map(|(name, _)| *name);
        match self {
            Self::UnknownVariable(name) => nearest(name, variables()).map_or_else(
                || {
                    let names: Vec<_> = variables().map(|name| format!("`{name}`")).collect();
                    format!("use the variables {}", names.join(", "))
                },
                |near| format!("write `{near}`"),
            ),
            Self::UnknownFunction(_) | Self::Arguments(..) => {
                "use `min(a, b)`, `max(a, b)`, `int(a)` and `double(a)`".to_owned()
            }
            Self::Operands(_, left, right) if left.is_number() && right.is_number() => {
                "convert one side with `int()` or `double()`: CEL does not mix whole numbers and fractions"
                    .to_owned()
            }
            Self::Syntax(_) | Self::Operands(..) | Self::Result(_) => {
                "write an expression such as `max(60, vcpus * 30)`, or a plain value".to_owned()
            }
        }
    }
}

/// Checks that an expression compiles.
pub fn check(text: &str) -> Result<(), ExpressionError> {
    match parse::type_of(text)? {
        ValueType::Int | ValueType::Double | ValueType::Unknown => Ok(()),
        other => Err(ExpressionError::Result(other)),
    }
}

/// Whether a text is probably meant as an expression: it has an operator, a parenthesis, or the name of a variable.
pub fn is_probable(text: &str) -> bool {
    let has_operator = text.contains(['(', ')', '*', '/', '?', '+', '<', '>']);
    let mut names = text.split(|char: char| !char.is_ascii_alphanumeric() && char != '_');
    has_operator || names.any(|name| VARIABLES.iter().any(|(variable, _)| *variable == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        check(text).map_or_else(|error| error.to_string(), |()| "accepted".to_owned())
    }

    #[test]
    fn accepts_the_expressions_of_the_documentation() {
        for text in [
            "((default_enis - 1) * (ips_per_eni - 1)) + 2",
            "min(250, ((default_enis - 1) * (ips_per_eni - 1)) * 16 + 2)",
            "max(60, vcpus * 30)",
            "11 * max_pods + 255",
            "max(100, memory_mib / 64)",
            "max(vcpus, 60.5)",
            "instance_type == \"m5.large\" ? vcpus * 2 : vcpus",
            "int(double(vcpus) * 1.5)",
            "-vcpus + 100 % 7",
            "!(vcpus > 4 && memory_mib <= 4096) || vcpus == 2 ? 1 : 2",
            "0x10",
        ] {
            assert_eq!(message(text), "accepted", "{text}");
        }
    }

    #[test]
    fn accepts_what_it_does_not_judge() {
        for text in [
            "instance_type.startsWith('m5') ? 10 : 20",
            "instance_type in ['m5.large', 'm5.xlarge'] ? 1 : 2",
            "size(instance_type)",
            "vcpus > 2.5 ? 1 : 2",
            "{'a': 1}['a']",
            "[1, 2][0]",
            "dyn(1) * 1.5",
        ] {
            assert_eq!(message(text), "accepted", "{text}");
        }
        let deep = "(".repeat(10_000);
        assert_eq!(message(&deep), "accepted");
    }

    #[test]
    fn rejects_unknown_names_and_wrong_types() {
        insta::assert_snapshot!(message("vcpu * 30"), @"there is no variable `vcpu`");
        insta::assert_snapshot!(message("maxi(1, 2)"), @"there is no function `maxi`");
        insta::assert_snapshot!(message("max(1, 2, 3)"), @"`max` takes 2 arguments");
        insta::assert_snapshot!(message("vcpus * 1.5"), @"`*` does not take a whole number and a fraction together");
        insta::assert_snapshot!(message("instance_type + 1"), @"`+` does not take a string and a whole number together");
        insta::assert_snapshot!(message("vcpus > 4"), @"its result is a bool, not a number");
        insta::assert_snapshot!(message("vcpus ? 1 : 2"), @"`?` does not take a whole number");
        insta::assert_snapshot!(message("max(instance_type, 1)"), @"`max` does not take a string");
        insta::assert_snapshot!(message("-instance_type"), @"`-` does not take a string");
        insta::assert_snapshot!(message("1.5 % 2.0"), @"`%` does not take a fraction");
    }

    #[test]
    fn rejects_invalid_syntax() {
        insta::assert_snapshot!(message("1GB"), @"`1GB` cannot stand there");
        insta::assert_snapshot!(message("vcpus *"), @"it ends too early");
        insta::assert_snapshot!(message("(vcpus"), @"it ends too early");
        insta::assert_snapshot!(message("vcpus # 2"), @"`#` cannot stand there");
        insta::assert_snapshot!(message("'m5"), @"`'m5` cannot stand there");
        insta::assert_snapshot!(message(""), @"it ends too early");
        insta::assert_snapshot!(message("vcpus ? 1"), @"`?` does not take a whole number");
        insta::assert_snapshot!(message("= vcpus"), @"`=` cannot stand there");
    }

    #[test]
    fn suggests_near_variables_and_conversions() {
        assert_eq!(check("vcpu * 30").unwrap_err().help(), "write `vcpus`");
        assert!(check("vcpus * 1.5").unwrap_err().help().contains("`double()`"));
    }

    #[test]
    fn tells_expressions_from_misspelt_quantities() {
        for text in ["vcpus", "max(1,2)", "1 + 2", "vcpus * 10"] {
            assert!(is_probable(text), "{text}");
        }
        for text in ["1GB", "100 Mi", "1e1.5", "abc", ""] {
            assert!(!is_probable(text), "{text}");
        }
    }
}
