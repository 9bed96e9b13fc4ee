//! What Kubernetes takes for the name of a label or taint, and for the value of a label.
//!
//! Reference: k8s.io/apimachinery pkg/util/validation `IsQualifiedName`, `IsValidLabelValue` and `IsDNS1123Subdomain`,
//! which count bytes; they are the same in every release that Karpenter 1.0 to 1.14 was built with.

use core::fmt;

/// The longest name, or value of a label, in bytes.
pub const NAME_MAX: usize = 63;

/// The longest prefix of a name, in bytes.
pub const PREFIX_MAX: usize = 253;

/// Why a text is no name, or no value of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamingProblem {
    /// Nothing at all, before the slash, or after it.
    Empty,
    /// More than one slash.
    Slashes,
    /// The prefix has more bytes than it may.
    PrefixTooLong(usize),
    /// The prefix is no DNS name.
    Prefix,
    /// The name or value has more bytes than it may.
    TooLong(usize),
    /// The name or value has a letter that it may not have, or begins or ends with the wrong one.
    Letters,
}

/// Why a text is no qualified name, such as `example.com/team`; `None` where it is one.
pub fn qualified_name_problem(text: &str) -> Option<NamingProblem> {
    let (prefix, name) = match text.split_once('/') {
        Some((_, rest)) if rest.contains('/') => return Some(NamingProblem::Slashes),
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    if name.is_empty() || prefix.is_some_and(str::is_empty) {
        return Some(NamingProblem::Empty);
    }
    prefix.and_then(prefix_problem).or_else(|| value_problem(name))
}

/// Why a text is no value of a label; `None` where it is one, as the empty text is.
pub fn label_value_problem(text: &str) -> Option<NamingProblem> {
    if text.is_empty() { None } else { value_problem(text) }
}

fn value_problem(text: &str) -> Option<NamingProblem> {
    if text.len() > NAME_MAX {
        return Some(NamingProblem::TooLong(text.len()));
    }
    let inner = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    let edge = |char: char| char.is_ascii_alphanumeric();
    let right = text.chars().all(inner) && text.starts_with(edge) && text.ends_with(edge);
    (!right).then_some(NamingProblem::Letters)
}

fn prefix_problem(text: &str) -> Option<NamingProblem> {
    if text.len() > PREFIX_MAX {
        return Some(NamingProblem::PrefixTooLong(text.len()));
    }
    let letter = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit();
    let is_label = |label: &str| {
        let inner = label.chars().all(|char| letter(char) || char == '-');
        inner && label.starts_with(letter) && label.ends_with(letter)
    };
    (!text.split('.').all(is_label)).then_some(NamingProblem::Prefix)
}

impl fmt::Display for NamingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a part of it is empty"),
            Self::Slashes => f.write_str("it has more than one slash"),
            Self::PrefixTooLong(len) => {
                write!(f, "its prefix has {len} characters, and may have {PREFIX_MAX}")
            }
            Self::Prefix => f.write_str("what stands before its slash is no DNS name in lower case"),
            Self::TooLong(len) => write!(f, "it has {len} characters, and may have {NAME_MAX}"),
            Self::Letters => f.write_str(
                "it may have letters, digits, `-`, `_` and `.`, and begins and ends with a letter or digit",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_have_a_prefix_and_values_may_be_empty() {
        for name in ["team", "a", "A.b_c-d", "example.com/team", "x-1.y/Z", "9/9"] {
            assert_eq!(qualified_name_problem(name), None, "{name}");
        }
        for value in ["", "a", "m5.large", "A_1"] {
            assert_eq!(label_value_problem(value), None, "{value}");
        }
    }

    #[test]
    fn each_bound_has_two_sides() {
        let (name, prefix) = ("n".repeat(63), "p".repeat(253));
        assert_eq!(qualified_name_problem(&format!("{prefix}/{name}")), None);
        assert_eq!(qualified_name_problem(&format!("{prefix}/{name}n")), Some(NamingProblem::TooLong(64)));
        assert_eq!(
            qualified_name_problem(&format!("{prefix}p/{name}")),
            Some(NamingProblem::PrefixTooLong(254))
        );
        assert_eq!(label_value_problem(&name), None);
        assert_eq!(label_value_problem(&format!("{name}n")), Some(NamingProblem::TooLong(64)));
    }

    #[test]
    fn what_is_refused_is_refused_for_its_first_reason() {
        for (name, problem) in [
            ("", NamingProblem::Empty),
            ("/a", NamingProblem::Empty),
            ("a/", NamingProblem::Empty),
            ("a/b/c", NamingProblem::Slashes),
            ("Example.com/a", NamingProblem::Prefix),
            ("a..b/c", NamingProblem::Prefix),
            ("-a/c", NamingProblem::Prefix),
            ("a b", NamingProblem::Letters),
            ("-a", NamingProblem::Letters),
            ("a_", NamingProblem::Letters),
            ("\u{fc}", NamingProblem::Letters),
        ] {
            assert_eq!(qualified_name_problem(name), Some(problem), "{name}");
        }
        assert_eq!(label_value_problem("a/b"), Some(NamingProblem::Letters));
    }
}
