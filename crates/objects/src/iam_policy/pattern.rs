//! Patterns of IAM.

use values::placeholder;

/// Whether an IAM pattern matches a text. `*`, `?` and placeholders are wildcards.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let pattern = placeholder::replaced(pattern, "*");
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut from) = (0, 0);
    // The last star, and the first byte of the text after the part that it matches.
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(byte) if *byte == b'?' || Some(byte) == text.get(from) => {
                at += 1;
                from += 1;
            }
            _ => {
                let Some((behind, taken)) = star else { return false };
                star = Some((behind, taken + 1));
                (at, from) = (behind + 1, taken + 1);
            }
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}

/// Returns the part of an ARN after its fifth colon; `None` for a pattern such as `*` or `${Role.Arn}`.
pub(super) fn resource_part(pattern: &str) -> Option<&str> {
    // A placeholder may have colons: `arn:${AWS::Partition}:iam::x`.
    let mut depth = 0;
    let mut colons = 0;
    for (at, byte) in pattern.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b':' if depth == 0 => colons += 1,
            _ => {}
        }
        if colons == 5 && pattern.starts_with("arn:") {
            return pattern.get(at + 1..);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_resource_after_the_fifth_colon() {
        for (pattern, expected) in [
            ("arn:aws:iam::111122223333:role/a", Some("role/a")),
            ("arn:${AWS::Partition}:iam::${AWS::AccountId}:role/a:b", Some("role/a:b")),
            ("*", None),
            ("${Role.Arn}", None),
        ] {
            assert_eq!(resource_part(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn matches_patterns_like_iam_and_placeholders_match_anything() {
        for (pattern, text, expected) in [
            ("ec2:*", "ec2:terminateinstances", true),
            ("ec2:Terminate*", "ec2:TerminateInstances", true),
            ("arn:aws:iam::*:role/Karpenter*-a", "arn:aws:iam::1:role/KarpenterNodeRole-a", true),
            ("arn:aws:iam::*:role/a", "arn:aws:iam::1:role/ab", false),
            ("${KarpenterNodeRole.Arn}", "arn:aws:iam::1:role/a", true),
            ("arn:${AWS::Partition}:iam::$ACCOUNT:role/Node-${C}", "arn:aws:iam::1:role/Node-prod", true),
            ("arn:aws:iam::<account>:role/a", "arn:aws:iam::1:role/a", true),
            ("arn:aws:iam::XXXXXXXXXXXX:role/__ROLE__", "arn:aws:iam::1:role/a", true),
            ("a?c", "abc", true),
            ("", "", true),
            ("*", "", true),
            ("a", "", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
