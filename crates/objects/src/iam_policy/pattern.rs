//! Patterns of IAM: texts with wildcards, policy variables and placeholders.
//!
//! Sources: "IAM JSON policy elements: Resource", "IAM JSON policy elements: Variables and tags" and "IAM JSON policy
//! elements: Condition operators" in the IAM User Guide.

use manifest::source::certain;
use values::placeholder::Placeholder;

use super::truth::Truth;

/// Maximum length of a run with `?` between two `*` that is searched for: a search compares it at every position of a text.
const MAX_RUN: usize = 64;

/// Part of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Literal(char),
    /// `*`.
    AnyText,
    /// `?`.
    AnyCharacter,
    /// A policy variable or a placeholder: some text that is not known.
    Unknown,
}

/// Whether `*` and `?` are wildcards in a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wildcards {
    /// They are, as in actions, resources, `StringLike` and `ArnEquals`.
    Read,
    /// They are ordinary characters, as in `StringEquals`.
    Literal,
}

/// Pattern of an action, a resource or the value of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    tokens: Vec<Token>,
}

impl Pattern {
    /// Parses a pattern. `${*}`, `${?}` and `${$}` are the characters themselves. Every other policy variable and every
    /// placeholder is unknown text.
    pub(super) fn parse(text: &str, wildcards: Wildcards) -> Self {
        let mut tokens = Vec::new();
        let mut rest = text;
        while let Some(Placeholder { range }) = Placeholder::find(rest) {
            let (before, found) = (certain(rest.get(..range.start)), certain(rest.get(range.clone())));
            tokens.extend(before.chars().map(|character| plain(character, wildcards)));
            tokens.push(escaped(found).map_or(Token::Unknown, Token::Literal));
            rest = certain(rest.get(range.end..));
        }
        tokens.extend(rest.chars().map(|character| plain(character, wildcards)));
        Self { tokens }
    }

    /// The same pattern in lower case, for texts in lower case.
    #[must_use]
    pub(super) fn ignoring_case(mut self) -> Self {
        for token in &mut self.tokens {
            if let Token::Literal(character) = token {
                character.make_ascii_lowercase();
            }
        }
        self
    }

    /// Whether the pattern matches a text. A pattern with unknown text, or with a long run of `?`, matches `Maybe` at most.
    pub(super) fn compare(&self, text: &str) -> Truth {
        let runs: Vec<&[Token]> = self.tokens.split(|token| token.is_gap()).collect();
        let is_open = self.tokens.contains(&Token::Unknown);
        match can_match(&runs, text) {
            Some(false) => Truth::No,
            Some(true) if !is_open => Truth::Yes,
            _ => Truth::Maybe,
        }
    }

    /// Whether the pattern matches every text.
    pub(super) fn is_total(&self) -> bool {
        !self.tokens.is_empty() && self.tokens.iter().all(|token| *token == Token::AnyText)
    }

    /// Whether the pattern matches one text only, even if that text is not known.
    pub(super) fn is_single(&self) -> bool {
        !self.tokens.iter().any(|token| matches!(token, Token::AnyText | Token::AnyCharacter))
    }

    /// Whether the pattern has a `*` or `?` that is an ordinary character. No name in Kubernetes or AWS has one.
    pub(super) fn has_literal_wildcard(&self) -> bool {
        self.tokens.iter().any(|token| matches!(token, Token::Literal('*' | '?')))
    }
}

impl Token {
    /// Whether the token matches a text of any length.
    fn is_gap(self) -> bool {
        matches!(self, Self::AnyText | Self::Unknown)
    }

    fn matches(self, character: char) -> bool {
        match self {
            Self::Literal(literal) => literal == character,
            Self::AnyCharacter | Self::AnyText | Self::Unknown => true,
        }
    }
}

/// Whether a text is the runs of a pattern with any text between them; `None` if that would take too long to find out.
fn can_match(runs: &[&[Token]], text: &str) -> Option<bool> {
    let [first, middle @ .., last] = runs else {
        let run = runs.first().copied().unwrap_or_default();
        return Some(after(run, text).is_some_and(str::is_empty));
    };
    let Some(mut rest) = after(first, text).and_then(|rest| before(last, rest)) else { return Some(false) };
    for run in middle {
        let has_wildcard = run.contains(&Token::AnyCharacter);
        if has_wildcard && run.len() > MAX_RUN {
            return None;
        }
        let found = if has_wildcard { search(run, rest) } else { find(run, rest) };
        match found {
            Some(behind) => rest = behind,
            None => return Some(false),
        }
    }
    Some(true)
}

/// The text after a run at its start.
fn after<'t>(run: &[Token], text: &'t str) -> Option<&'t str> {
    let mut chars = text.chars();
    run.iter().all(|token| chars.next().is_some_and(|char| token.matches(char))).then_some(chars.as_str())
}

/// The text before a run at its end.
fn before<'t>(run: &[Token], text: &'t str) -> Option<&'t str> {
    let mut chars = text.chars();
    let mut run = run.iter().rev();
    run.all(|token| chars.next_back().is_some_and(|char| token.matches(char))).then_some(chars.as_str())
}

/// The text after the first occurrence of a run without wildcards.
fn find<'t>(run: &[Token], text: &'t str) -> Option<&'t str> {
    let literal = |token: &Token| if let Token::Literal(character) = token { Some(*character) } else { None };
    let literal: String = run.iter().filter_map(literal).collect();
    text.split_once(literal.as_str()).map(|(_, behind)| behind)
}

/// The text after the first occurrence of a run.
fn search<'t>(run: &[Token], text: &'t str) -> Option<&'t str> {
    text.char_indices().find_map(|(at, _)| after(run, certain(text.get(at..))))
}

fn plain(character: char, wildcards: Wildcards) -> Token {
    match (character, wildcards) {
        ('*', Wildcards::Read) => Token::AnyText,
        ('?', Wildcards::Read) => Token::AnyCharacter,
        _ => Token::Literal(character),
    }
}

/// The character that `${*}`, `${?}` or `${$}` at the start of a text means.
fn escaped(text: &str) -> Option<char> {
    ['*', '?', '$'].into_iter().find(|character| text.starts_with(&format!("${{{character}}}")))
}

/// Whether a resource pattern matches a resource of a service, in any partition, region and account. The resource is the
/// last part of an ARN, such as `role/x`.
pub(super) fn compare_resource(pattern: &str, service: &str, resource: &str) -> Truth {
    let parts = arn_parts(pattern);
    let compare = |part: &str, text: &str| Pattern::parse(part, Wildcards::Read).compare(text);
    let Some((last, leading)) = parts.split_last() else { return Truth::No };
    // The partition, the region and the account are the cluster's own.
    let leading = leading.iter().enumerate().map(|(index, part)| match index {
        0 => compare(part, "arn"),
        2 => compare(part, service),
        _ => Truth::Yes,
    });
    let last = match parts.len() {
        6 => compare(last, resource),
        // A `*` in an earlier part reaches over the colons behind it.
        1 => compare(last, &format!("arn:aws:{service}:::{resource}")),
        3 => compare(last, &format!("{service}:::{resource}")),
        _ if last.contains('*') => Truth::Yes,
        _ => compare(last, ":"),
    };
    Truth::all(leading.chain([last]))
}

/// Returns the part of an ARN after its fifth colon; `None` for a pattern such as `*` or `${Role.Arn}`.
pub(super) fn resource_part(pattern: &str) -> Option<&str> {
    let parts = arn_parts(pattern);
    parts.get(5).copied().filter(|_| parts.first() == Some(&"arn"))
}

/// The parts of an ARN, at most six. A placeholder may have colons: `arn:${AWS::Partition}:iam::x`.
fn arn_parts(pattern: &str) -> Vec<&str> {
    let mut depth = 0;
    let separates = |character: char| {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        character == ':' && depth == 0
    };
    pattern.splitn(6, separates).collect()
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
    fn matches_wildcards_and_leaves_placeholders_open() {
        use Truth::{Maybe, No, Yes};
        for (pattern, text, expected) in [
            ("ec2:*", "ec2:terminateinstances", Yes),
            ("ec2:Terminate*", "ec2:TerminateInstances", Yes),
            ("a?c", "abc", Yes),
            ("a?c", "ac", No),
            ("", "", Yes),
            ("*", "", Yes),
            ("a", "", No),
            ("${aws:PrincipalTag/x}", "prod", Maybe),
            ("Node-$CLUSTER", "Node-prod", Maybe),
            ("Node-<cluster>", "Node-prod", Maybe),
            ("Node-{{ cluster }}", "Node-prod", Maybe),
            ("Node-${Cluster}", "Role-prod", No),
            ("${*}", "*", Yes),
            ("${*}", "a", No),
            ("5$", "5$", Yes),
            ("a*b*c", "a-b-bc", Yes),
            ("a*b*c", "a-bc-b", No),
            ("*ab?d*", "ab-abcd-", Yes),
            ("ab*ba", "aba", No),
            ("*a?", "aab", Yes),
        ] {
            assert_eq!(Pattern::parse(pattern, Wildcards::Read).compare(text), expected, "{pattern} {text}");
        }
        assert_eq!(Pattern::parse("*", Wildcards::Literal).compare("a"), No);
        assert_eq!(Pattern::parse("*", Wildcards::Literal).compare("*"), Yes);
    }

    #[test]
    fn long_patterns_cost_only_their_size() {
        let many = |text: &str| text.repeat(50_000);
        let compare = |pattern: &str, text: &str| Pattern::parse(pattern, Wildcards::Read).compare(text);
        assert_eq!(compare(&format!("*{}b*", many("a")), &many("a")), Truth::No);
        assert_eq!(compare(&format!("*{}*", many("?a")), &many("a")), Truth::Maybe);
        assert_eq!(compare(&many("*a"), &many("a")), Truth::Yes);
    }

    #[test]
    fn compares_the_service_and_the_resource_of_an_arn() {
        use Truth::{Maybe, No, Yes};
        for (pattern, expected) in [
            ("*", Yes),
            ("arn:*", Yes),
            ("arn:aws:ec2:*", Yes),
            ("arn:aws:*", Yes),
            ("arn:aws:ec2:eu-west-1:111122223333:*", Yes),
            ("arn:${AWS::Partition}:ec2:${AWS::Region}:*:instance/*", Yes),
            ("arn:aws:ec2:*:*:volume/*", No),
            ("arn:aws:s3:::*", No),
            ("arn:aws:s3*", No),
            ("${Instance.Arn}", Maybe),
            ("arn:aws:ec2:*:*:${Kind}/*", Maybe),
            ("instance/*", No),
        ] {
            assert_eq!(compare_resource(pattern, "ec2", "instance/i-1"), expected, "{pattern}");
        }
    }
}
