//! The names of objects, labels and taints, and the values of labels.
//!
//! Reference: k8s.io/apimachinery pkg/util/validation `IsQualifiedName`, `IsValidLabelValue` and `IsDNS1123Subdomain`,
//! which count bytes. They are the same in every release that Karpenter 1.0 to 1.14 was built with.

use core::fmt;

/// The longest name or label value, in bytes.
pub const MAX_NAME: usize = 63;

/// The longest prefix of a name, in bytes.
pub const MAX_PREFIX: usize = 253;

/// Reason why a text is not a valid name or label value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamingProblem {
    /// The text, its prefix or its name is empty.
    Empty,
    /// More than one slash.
    Slashes,
    /// The prefix is too long; it has this many bytes.
    PrefixTooLong(usize),
    /// The prefix is not a DNS subdomain.
    Prefix,
    /// The name or value is too long; it has this many bytes.
    TooLong(usize),
    /// The name or value has an invalid character, or an invalid first or last character.
    Characters,
}

/// The problem of a qualified name such as `example.com/team`; `None` if it is valid.
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

/// The problem of a label value; `None` if it is valid. The empty value is valid.
pub fn label_value_problem(text: &str) -> Option<NamingProblem> {
    if text.is_empty() { None } else { value_problem(text) }
}

/// The problem of the name of an object that has to be a DNS subdomain, as most names have; `None` if it is valid.
pub fn subdomain_problem(text: &str) -> Option<SubdomainProblem> {
    if text.len() > MAX_PREFIX {
        return Some(SubdomainProblem::TooLong(text.len()));
    }
    (!is_subdomain(text)).then_some(SubdomainProblem::Characters)
}

/// Reason why a text is not a DNS subdomain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubdomainProblem {
    /// The text is too long; it has this many bytes.
    TooLong(usize),
    /// The text has an invalid character, or an invalid first or last character in a part between dots.
    Characters,
}

impl fmt::Display for SubdomainProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(len) => {
                write!(f, "it has {len} characters, but at most {MAX_PREFIX} are allowed")
            }
            Self::Characters => f.write_str(
                "it may contain lower-case letters, digits, `-` and `.`, and must start and end with a letter or digit",
            ),
        }
    }
}

fn value_problem(text: &str) -> Option<NamingProblem> {
    if text.len() > MAX_NAME {
        return Some(NamingProblem::TooLong(text.len()));
    }
    let inner = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    let edge = |char: char| char.is_ascii_alphanumeric();
    let right = text.chars().all(inner) && text.starts_with(edge) && text.ends_with(edge);
    (!right).then_some(NamingProblem::Characters)
}

fn prefix_problem(text: &str) -> Option<NamingProblem> {
    if text.len() > MAX_PREFIX {
        return Some(NamingProblem::PrefixTooLong(text.len()));
    }
    (!is_subdomain(text)).then_some(NamingProblem::Prefix)
}

/// Whether the parts between the dots are DNS labels. The parts may have any length.
fn is_subdomain(text: &str) -> bool {
    let letter = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit();
    let is_label = |label: &str| {
        let inner = label.chars().all(|char| letter(char) || char == '-');
        inner && label.starts_with(letter) && label.ends_with(letter)
    };
    text.split('.').all(is_label)
}

impl fmt::Display for NamingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("its prefix or name is empty"),
            Self::Slashes => f.write_str("it has more than one slash"),
            Self::PrefixTooLong(len) => {
                write!(f, "its prefix has {len} characters, but at most {MAX_PREFIX} are allowed")
            }
            Self::Prefix => f.write_str("its prefix is not a DNS subdomain in lower case"),
            Self::TooLong(len) => write!(f, "it has {len} characters, but at most {MAX_NAME} are allowed"),
            Self::Characters => f.write_str(
                "it may contain letters, digits, `-`, `_` and `.`, and must start and end with a letter or digit",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_names_with_prefix_and_empty_values() {
        for name in ["team", "a", "A.b_c-d", "example.com/team", "x-1.y/Z", "9/9"] {
            assert_eq!(qualified_name_problem(name), None, "{name}");
        }
        for value in ["", "a", "m5.large", "A_1"] {
            assert_eq!(label_value_problem(value), None, "{value}");
        }
    }

    #[test]
    fn accepts_longest_names_and_rejects_longer_ones() {
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
    fn accepts_subdomains_as_names_of_objects() {
        for name in ["a", "9", "gp3", "my-pool", "a.b-c.d", &"n".repeat(253)] {
            assert_eq!(subdomain_problem(name), None, "{name}");
        }
        for name in ["", "My-Pool", "my_pool", "-a", "a-", "a.", ".a", "a..b", "a b", "a/b", "\u{fc}"] {
            assert_eq!(subdomain_problem(name), Some(SubdomainProblem::Characters), "{name}");
        }
        assert_eq!(subdomain_problem(&"n".repeat(254)), Some(SubdomainProblem::TooLong(254)));
    }

    #[test]
    fn gives_the_first_reason_for_rejection() {
        for (name, problem) in [
            ("", NamingProblem::Empty),
            ("/a", NamingProblem::Empty),
            ("a/", NamingProblem::Empty),
            ("a/b/c", NamingProblem::Slashes),
            ("Example.com/a", NamingProblem::Prefix),
            ("a..b/c", NamingProblem::Prefix),
            ("-a/c", NamingProblem::Prefix),
            ("a b", NamingProblem::Characters),
            ("-a", NamingProblem::Characters),
            ("a_", NamingProblem::Characters),
            ("\u{fc}", NamingProblem::Characters),
        ] {
            assert_eq!(qualified_name_problem(name), Some(problem), "{name}");
        }
        assert_eq!(label_value_problem("a/b"), Some(NamingProblem::Characters));
    }
}
