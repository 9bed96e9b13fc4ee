//! Names of which only Terraform or CloudFormation knows a part.

use values::placeholder::{Placeholder, has_placeholder};

/// Whether two names differ, whatever replaces a placeholder that both have.
pub(crate) fn is_certainly_other(one: &str, other: &str) -> bool {
    if has_several_placeholders(one) || has_several_placeholders(other) {
        return false;
    }
    match (split(one), split(other)) {
        (None, None) => one != other,
        (Some((start, mark, end)), Some((other_start, other_mark, other_end))) if mark == other_mark => {
            let lengths = start.len() + end.len() != other_start.len() + other_end.len();
            lengths
                || (start == other_start && end != other_end)
                || (end == other_end && start != other_start)
        }
        _ => false,
    }
}

/// Whether a text has more than one placeholder.
fn has_several_placeholders(text: &str) -> bool {
    split(text).is_some_and(|(_, _, end)| has_placeholder(end))
}

/// The text before and after the first placeholder of a text, and the placeholder.
fn split(text: &str) -> Option<(&str, &str, &str)> {
    let range = Placeholder::find(text)?.range;
    let (start, rest) = text.split_at_checked(range.start)?;
    let (mark, end) = rest.split_at_checked(range.len())?;
    Some((start, mark, end))
}

#[cfg(test)]
mod tests {
    use super::is_certainly_other;

    #[test]
    fn names_with_one_placeholder_differ_by_the_text_around_it() {
        for (one, other, expected) in [
            ("${a}", "Karpenter-${a}", true),
            ("karpenter-${a}", "Karpenter-${a}", true),
            ("a${a}", "${a}a", false),
            ("${a}", "${b}", false),
            ("prod", "Karpenter-${a}", false),
            ("a", "b", true),
            ("${a}", "${a}", false),
        ] {
            assert_eq!(is_certainly_other(one, other), expected, "{one} {other}");
        }
    }
}
