//! Placeholders: text that a tool or a person replaces before an object is applied, so that it cannot be checked yet.
//!
//! Every rule asks this module, so that a text counts as a placeholder at every field and in every spelling, or at none.

use core::ops::Range;

/// Most bytes in a placeholder. A longer text between two marks is not a placeholder, which keeps the search linear.
const MAX_LENGTH: usize = 512;

/// The first placeholder of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// The bytes of the placeholder in the text.
    pub range: Range<usize>,
}

impl Placeholder {
    /// The first placeholder of a text: a mark of a template engine such as `${X}`, `{{ x }}` or `<x>`, or words that ask
    /// for a value, such as `REPLACE_ME`.
    pub fn find(text: &str) -> Option<Self> {
        marked_range(text, 0).or_else(|| requested_range(text)).map(|range| Self { range })
    }
}

/// Whether a text has a placeholder.
pub fn has_placeholder(text: &str) -> bool {
    Placeholder::find(text).is_some()
}

/// Whether a text lists the alternatives of a reference manual, such as `720h|Never`, of which an author has to choose one. Each
/// alternative is valid, so that a value with a `|` by mistake is not a placeholder.
pub fn are_alternatives(text: &str, is_valid: impl Fn(&str) -> bool) -> bool {
    text.contains('|') && text.split('|').all(|one| is_valid(one.trim()))
}

/// Whether a word is in capitals, such as `NODE_NAME`. Where only lower case is valid, scripts replace such words.
pub fn is_in_capitals(word: &str) -> bool {
    word.len() > 2
        && word.bytes().any(|byte| byte.is_ascii_uppercase())
        && !word.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Replaces every placeholder of a text, in order.
pub fn replaced(text: &str, replacement: &str) -> String {
    let without_marks = replaced_by(text, replacement, marked_range);
    let next_request = |text: &str, from: usize| {
        let range = requested_range(text.get(from..)?)?;
        Some(from + range.start..from + range.end)
    };
    replaced_by(&without_marks, replacement, next_request)
}

/// Replaces the ranges that a search finds from an offset on.
fn replaced_by(text: &str, replacement: &str, next: impl Fn(&str, usize) -> Option<Range<usize>>) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(range) = next(text, from) {
        plain.push_str(part(text, from..range.start));
        plain.push_str(replacement);
        from = range.end;
    }
    plain + part(text, from..text.len())
}

/// The part of a text at a range that a search found.
fn part(text: &str, range: Range<usize>) -> &str {
    let part = text.get(range);
    debug_assert!(part.is_some(), "a range of another text");
    part.unwrap_or_default()
}

/// The text with the default of each placeholder, such as `720h` for `${EXPIRE_AFTER:=720h}`; `None` if the text has no
/// placeholder or a placeholder without a default.
///
/// Source: "Post build variable substitution" in docs/spec/v1/kustomizations.md of fluxcd/kustomize-controller. The POSIX
/// shell has the same forms.
pub fn with_defaults(text: &str) -> Option<String> {
    let mut plain = String::new();
    let mut from = 0;
    while let Some(range) = marked_range(text, from) {
        plain.push_str(text.get(from..range.start)?);
        plain.push_str(default_of(text.get(range.clone())?)?);
        from = range.end;
    }
    let rest = text.get(from..)?;
    let is_complete = from > 0 && requested_range(&plain).is_none() && requested_range(rest).is_none();
    is_complete.then(|| plain + rest)
}

/// The default in `${X:=default}`, `${X:-default}`, `${X=default}` or `${X-default}`.
fn default_of(placeholder: &str) -> Option<&str> {
    let inner = placeholder.strip_prefix("${")?.strip_suffix('}')?;
    let name = inner.bytes().take_while(|byte| is_name_byte(*byte)).count();
    let rest = inner.get(name..)?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let default = rest.strip_prefix(['=', '-'])?;
    // A default with another placeholder ends at the wrong brace.
    (name > 0 && !default.contains(['$', '{'])).then_some(default)
}

/// The first placeholder of a template engine that starts at or after an offset.
fn marked_range(text: &str, from: usize) -> Option<Range<usize>> {
    let rest = text.get(from..)?;
    let is_start = |byte| matches!(byte, b'$' | b'(' | b'{' | b'<' | b'%' | b'#' | b'@' | b'_' | b'|');
    let starts = rest.bytes().enumerate().filter(|(_, byte)| is_start(*byte));
    starts.map(|(at, _)| from + at).find_map(|at| Some(at..at + marked_length(text, at)?))
}

/// Length of the placeholder that starts at an offset.
fn marked_length(text: &str, at: usize) -> Option<usize> {
    /// Marks that enclose any text.
    const PAIRS: [(&str, &str); 8] = [
        ("${", "}"),
        ("$(", ")"),
        ("{{", "}}"),
        ("{%", "%}"),
        ("%{", "}"),
        ("#{", "}"),
        ("@@", "@@"),
        ("%%", "%%"),
    ];
    let rest = text.get(at..)?;
    // The alternatives in a reference manual: `720h | Never`.
    if rest.starts_with("| ") && text.get(..at)?.ends_with(' ') {
        return Some(1);
    }
    // `objects` writes `${}` for a function of CloudFormation.
    if rest.starts_with("${}") {
        return Some(3);
    }
    if let Some((open, close)) = PAIRS.iter().find(|(open, _)| rest.starts_with(open)) {
        return enclosed(rest, open, close).map(|inner| open.len() + inner.len() + close.len());
    }
    if rest.starts_with('<') {
        return in_angles(rest);
    }
    if let Some(after) = rest.strip_prefix('$') {
        let name = after.bytes().take_while(|byte| is_name_byte(*byte)).count();
        let is_named = after.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic());
        return is_named.then_some(1 + name);
    }
    for (open, close) in [("((", "))"), ("{", "}")] {
        if let Some(inner) = enclosed(rest, open, close).filter(|inner| is_variable(inner)) {
            return Some(open.len() + inner.len() + close.len());
        }
    }
    let before = text.get(..at)?.bytes().next_back();
    let is_apart = |byte: Option<u8>| byte.is_none_or(|byte| !is_name_byte(byte));
    for mark in ["__", "%", "@"] {
        let Some(inner) = enclosed(rest, mark, mark) else { continue };
        let length = 2 * mark.len() + inner.len();
        let is_name = if mark == "__" { is_variable(inner) } else { is_upper_case(inner) };
        if is_name && is_apart(before) && is_apart(rest.as_bytes().get(length).copied()) {
            return Some(length);
        }
    }
    None
}

/// The text between two marks at the start of a text. It is not empty.
fn enclosed<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let inner = text.strip_prefix(open)?;
    let bound = inner.floor_char_boundary(MAX_LENGTH.min(inner.len()));
    let end = inner.get(..bound)?.find(close)?;
    inner.get(..end).filter(|inner| !inner.is_empty())
}

/// Length of a text in angle brackets at the start of a text, such as `<name>`, `<<NAME>>` or `<%= name %>`. A comparison
/// such as `a < b` has a space after the bracket.
fn in_angles(text: &str) -> Option<usize> {
    let marks = text.bytes().take(MAX_LENGTH).take_while(|byte| *byte == b'<').count();
    let inner = enclosed(text.get(marks - 1..)?, "<", ">")?;
    let end = marks + inner.len();
    let closing = text.get(end..)?.bytes().take_while(|byte| *byte == b'>').take(marks).count();
    (!inner.starts_with([' ', '='])).then_some(end + closing)
}

/// The first words that ask for a value: `REPLACE_ME`, `your-cluster-name`, `xxxx`.
fn requested_range(text: &str) -> Option<Range<usize>> {
    /// Whole values.
    const VALUES: [&str; 8] = ["todo", "tbd", "tba", "fixme", "masked", "hidden", "omitted", "placeholder"];
    /// Words anywhere in a value.
    const WORDS: [&str; 4] = ["replaceme", "changeme", "redacted", "updateme"];
    /// Pairs of words anywhere in a value.
    const PHRASES: [(&str, &str); 13] = [
        ("fill", "me"),
        ("fill", "in"),
        ("update", "me"),
        ("edit", "me"),
        ("goes", "here"),
        ("insert", "here"),
        ("replace", "me"),
        ("replace", "with"),
        ("replace", "this"),
        ("to", "replace"),
        ("be", "replaced"),
        ("change", "me"),
        ("change", "this"),
    ];
    if let Some(range) = masked_range(text) {
        return Some(range);
    }
    // A number, for example, asks for nothing.
    if !text.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    let is = |word: &str, other: &str| word.eq_ignore_ascii_case(other);
    let whole = 0..text.len();
    if VALUES.iter().any(|value| is(text, value)) {
        return Some(whole);
    }
    // The word before, if `-`, `_` or a space is between the two words.
    let mut before = "";
    let mut at = 0;
    for piece in text.split_inclusive(|char: char| !char.is_ascii_alphanumeric()) {
        let word = piece.trim_end_matches(|char: char| !char.is_ascii_alphanumeric());
        let follows_prefix = is_id_prefix(text, at);
        if is_outline(word) || (follows_prefix && is_outline_of_id(word)) {
            return Some(at..at + word.len());
        }
        let is_phrase =
            !before.is_empty() && PHRASES.iter().any(|(one, other)| is(before, one) && is(word, other));
        let asks = is_phrase || WORDS.iter().any(|known| is(word, known)) || asks_for_yours(text, at, piece);
        let is_last = || at + piece.len() == text.len() && !before.is_empty();
        if asks || (follows_prefix && is(word, "your")) || (word == "HERE" && is_last()) {
            return Some(whole);
        }
        before = if piece.ends_with(['-', '_', ' ']) { word } else { "" };
        at += piece.len();
    }
    None
}

/// The first mask in a single word: three or more asterisks or dots in the place of a name, as in `sg-****` or `subnet-...`, or in the
/// place of the end of an id, as in `subnet-0a1b2c...`.
fn masked_range(text: &str) -> Option<Range<usize>> {
    if !text.contains(['*', '.', '\u{2026}']) || text.contains(char::is_whitespace) {
        return None;
    }
    for mark in ["***", "...", "\u{2026}"] {
        let Some(at) = text.find(mark) else { continue };
        let before = text.get(..at)?;
        let starts_name = at == 0 || before.ends_with(['-', ':', '/', '=', '_']) || ends_in_cut_id(before);
        let rest = text.get(at..)?;
        let length = rest.len() - rest.trim_start_matches(['*', '.', '\u{2026}']).len();
        let ends_name =
            text.get(at + length..)?.bytes().next().is_none_or(|next| !next.is_ascii_alphanumeric());
        if starts_name && ends_name {
            return Some(at..at + length);
        }
    }
    None
}

/// Whether a text ends in an AWS id without its last digits.
fn ends_in_cut_id(text: &str) -> bool {
    let digits = text.bytes().rev().take_while(u8::is_ascii_hexdigit).count();
    digits > 0 && is_id_prefix(text, text.len() - digits)
}

/// Whether a word only shows where a value belongs, as in `ami-xxxx`, `subnet-yyy` or `XXXGi`. A longer word is not the outline of an id.
fn is_outline(word: &str) -> bool {
    /// Units of quantities and durations.
    const UNITS: [&str; 14] = ["Ki", "Mi", "Gi", "Ti", "Pi", "m", "k", "M", "G", "T", "P", "h", "s", "GB"];
    let is_repeated = |word: &str| is_repeated_letter(word);
    is_repeated(word) || UNITS.iter().filter_map(|unit| word.strip_suffix(unit)).any(is_repeated)
}

fn is_repeated_letter(word: &str) -> bool {
    let first = word.bytes().next().unwrap_or_default();
    (3..=20).contains(&word.len())
        && matches!(first.to_ascii_lowercase(), b'x'..=b'z')
        && word.bytes().all(|byte| byte.eq_ignore_ascii_case(&first))
}

/// Whether a word in the place of an id is no id: one letter repeated, the alphabet, or an example, as in `sg-aaa`, `sg-abcdefgh`,
/// `sg-abc123` or `ami-example`.
fn is_outline_of_id(word: &str) -> bool {
    const EXAMPLES: [&str; 3] = ["example", "placeholder", "id"];
    let letters = word.trim_end_matches(|char: char| char.is_ascii_digit());
    let (bytes, digits) = (letters.as_bytes(), word.as_bytes().get(letters.len()..).unwrap_or_default());
    let all_letters = letters.len() >= 3 && letters.bytes().all(|byte| byte.is_ascii_alphabetic());
    let steps_by = |bytes: &[u8], step: u8| {
        bytes
            .iter()
            .zip(bytes.iter().skip(1))
            .all(|(one, next)| next.to_ascii_lowercase() == one.to_ascii_lowercase().wrapping_add(step))
    };
    EXAMPLES.iter().any(|example| word.eq_ignore_ascii_case(example))
        || (all_letters && digits.is_empty() && steps_by(bytes, 0))
        || (all_letters && steps_by(bytes, 1) && (steps_by(digits, 1) || steps_by(digits, 0)))
}

/// Whether the word at an offset follows the prefix of an AWS id, such as `sg-`.
fn is_id_prefix(text: &str, at: usize) -> bool {
    const PREFIXES: [&str; 13] =
        ["ami", "cr", "eni", "eipalloc", "i", "lt", "nat", "pg", "rtb", "sg", "snap", "subnet", "vpc"];
    let Some(before) = text.get(..at).and_then(|before| before.strip_suffix('-')) else { return false };
    let prefix = before.rsplit(|char: char| !char.is_ascii_alphanumeric()).next().unwrap_or_default();
    let starts = before.len() == prefix.len()
        || before.ends_with(&format!("/{prefix}"))
        || before.ends_with(&format!(",{prefix}"));
    starts && PREFIXES.contains(&prefix)
}

/// Whether a text refers to a value of a Terraform configuration without the marks that Terraform replaces, such as
/// `var.cluster_name` or `module.eks.cluster_name`. In another file it is plain text, and so a mistake.
///
/// Source: website/docs/language/expressions/references.mdx of hashicorp/terraform.
pub fn is_bare_reference(text: &str) -> bool {
    fn of_type(name: &str) -> bool {
        name.starts_with("aws_") || name.starts_with("kubernetes_")
    }
    let is_identifier = |part: &str| {
        let name = part.split('[').next().unwrap_or_default();
        name.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic())
            && name.bytes().all(|byte| is_name_byte(byte) || byte == b'-')
    };
    if text.contains(|char: char| char.is_whitespace() || matches!(char, '/' | ':' | '$' | '{')) {
        return false;
    }
    // `KarpenterNodeRole-var.cluster_name` has the reference at its end.
    let text = text.rfind("-var.").map_or(text, |at| text.get(at + 1..).unwrap_or(text));
    let parts: Vec<&str> = text.split('.').collect();
    let is_reference = match parts.as_slice() {
        ["var", ..] => parts.len() >= 2,
        ["each", "value" | "key", ..] => true,
        ["local", name] => name.contains('_'),
        ["module", ..] => parts.len() >= 3,
        ["data", name, _, ..] | [name, _, ..] if of_type(name) => parts.len() >= 3,
        _ => false,
    };
    is_reference && parts.iter().all(|part| is_identifier(part))
}

/// Whether a piece of a text starts words such as `your-cluster` or `YOUR_CLUSTER`. `bring-your-own` is a name, so lower
/// case counts only at the start of a name.
fn asks_for_yours(text: &str, at: usize, piece: &str) -> bool {
    let starts_name =
        || text.get(..at).is_some_and(|before| before.is_empty() || before.ends_with(['/', ':', '=', ',']));
    let is_followed = piece.ends_with(['-', '_', ' ']);
    let is_your = piece.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("your")) && piece.len() == 5;
    is_your && is_followed && (piece.starts_with("YOUR") || starts_name())
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a text is the name of a variable, such as `CLUSTER_NAME` or `cluster.name`.
fn is_variable(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && !text.ends_with('_')
        && text.bytes().all(|byte| is_name_byte(byte) || byte == b'.' || byte == b'-')
}

/// Whether a text is an upper-case name, such as `CLUSTER_NAME`.
fn is_upper_case(text: &str) -> bool {
    is_variable(text) && !text.bytes().any(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{
        Placeholder, are_alternatives, has_placeholder, is_bare_reference, is_in_capitals, replaced,
        with_defaults,
    };

    #[test]
    fn alternatives_are_valid_values_with_bars_between() {
        let is_number = |text: &str| text.parse::<u32>().is_ok();
        for (text, expected) in
            [("1|2", true), ("1 | 2|3", true), ("1", false), ("1|", false), ("1|b", false), ("1||2", false)]
        {
            assert_eq!(are_alternatives(text, is_number), expected, "{text}");
        }
    }

    #[test]
    fn words_in_capitals_have_three_letters_or_digits() {
        for word in ["NODE_NAME", "ABC", "V20240807"] {
            assert!(is_in_capitals(word), "{word}");
        }
        for word in ["", "AB", "Node", "123", "node-NAME"] {
            assert!(!is_in_capitals(word), "{word}");
        }
    }

    #[test]
    fn recognises_every_spelling() {
        for text in [
            "${X}",
            "${}",
            "${module.eks.cluster_name}",
            "a-$(NODETYPE)",
            "$ZONE",
            "$_zone-a",
            "{{ .Values.x }}",
            "{% x %}",
            "{cluster_name}",
            "<zone>",
            "<<CLUSTER NAME>>",
            "<%= zone %>",
            "%{x}",
            "#{x}",
            "@@x@@",
            "%%x%%",
            "((zone))",
            "@CLUSTER_NAME@",
            "%CLUSTER_NAME%",
            "__INSTANCE_TYPE__",
            "ami-__AMI__",
            "720h | Never",
            "REPLACE_ME",
            "Role-REPLACE_ME",
            "REPLACE_WITH_CLUSTER_NAME",
            "CLUSTER_NAME_TO_REPLACE",
            "change-me",
            "CHANGEME",
            "TODO",
            "tbd",
            "FIXME",
            "YOUR-CLUSTER-NAME",
            "Role-YOUR_CLUSTER",
            "your_cluster",
            "arn:aws:iam::111122223333:role/your-role",
            "XXXX",
            "ami-xxxxxxxx",
            "arn:aws:iam::XXXXXXXXXXXX:role/a",
            "sg-zzzzzz",
            "subnet-yyy",
            "subnet-****",
            "sg-...",
            "subnet-0a1b2c...",
            "sg-0a1b****",
            "subnet-0a1b\u{2026}",
            "XXXGi",
            "xxxm",
            "XXXh",
            "sg-\u{2026}",
            "arn:aws:iam::****:role/a",
            "sg-your-id",
            "sg-aaa",
            "sg-nnnnnnnn",
            "sg-abcdefgh",
            "subnet-abc123",
            "sg-xyz",
            "ami-example",
            "sg-redacted",
            "[REDACTED]",
            "masked",
            "ROLE_NAME_HERE",
            "role-name-goes-here",
            "fill-me-in",
        ] {
            assert!(has_placeholder(text), "{text}");
        }
    }

    #[test]
    fn accepts_text_that_is_not_replaced() {
        for text in [
            "",
            "m5.large",
            "name-0a1b...z",
            "wait...",
            "xxl",
            "XXGi",
            "0 9 * * mon-fri",
            "100%",
            "10%,20%",
            "a < b",
            "a < b > c",
            "a <= b > c",
            "5$",
            "$5",
            "#1",
            "a|b",
            "a__b",
            "a__b__c",
            "__",
            "____",
            "${",
            "{{}}",
            "{\"a\": 1}",
            "{a, b}",
            "((enis - 1) * (ips - 1))",
            "me@example.com, you@example.com",
            "bring-your-own",
            "yours",
            "replace-dns",
            "my-cluster",
            "mytodo",
            "todo-app",
            "2xlarge",
            "xx",
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "xxl",
            "subnet-0a1b2c3d",
            "sg-0123456789abcdef0",
            "sg-netops",
            "subnet-private",
            "i-have-abc",
            "my-sg-abc",
            "www.example.com",
            "aaa",
            "a.b...c",
            "* * * * *",
            "**/*.yaml",
            "here",
            "HERE",
            "we-are-here",
            "fillings",
            "111122223333",
            "123456789012",
        ] {
            assert!(!has_placeholder(text), "{text}");
        }
        for mark in ["${", "<", "{{", "__", "@", "{", "|"] {
            assert!(!has_placeholder(&mark.repeat(1000)), "{mark}");
        }
        assert!(!has_placeholder(&format!("${{{}}}", "a".repeat(600))));
    }

    #[test]
    fn recognises_references_of_terraform_without_marks() {
        for text in [
            "var.cluster_name",
            "var.cluster.name",
            "local.cluster_name",
            "module.eks.cluster_name",
            "module.eks[0].cluster_name",
            "data.aws_eks_cluster.this.name",
            "aws_iam_role.node.name",
            "each.value",
            "each.value.name",
            "KarpenterNodeRole-var.cluster_name",
        ] {
            assert!(is_bare_reference(text), "{text}");
        }
        for text in [
            "",
            "var",
            "var.",
            "${var.cluster_name}",
            "local.cluster",
            "data.example.com",
            "module.eks",
            "aws_iam_role",
            "my.var.name",
            "var.example.com/name",
            "each.other",
            "prod",
            "m5.large",
        ] {
            assert!(!is_bare_reference(text), "{text}");
        }
    }

    #[test]
    fn finds_the_bytes_of_a_placeholder() {
        for (text, expected) in [
            ("a-${X}-b", "${X}"),
            ("é$(X)é", "$(X)"),
            ("role/$CLUSTER-node", "$CLUSTER"),
            ("<<NAME>>", "<<NAME>>"),
            ("<%= name %>-x", "<%= name %>"),
            ("a-__X__", "__X__"),
            ("ami-xxxx", "xxxx"),
            ("your-name", "your-name"),
        ] {
            let found = Placeholder::find(text).unwrap();
            assert_eq!(text.get(found.range), Some(expected), "{text}");
        }
    }

    #[test]
    fn replaces_placeholders() {
        for (text, expected) in [
            ("arn:${AWS::Partition}:iam::$ACCOUNT:role/<name>", "arn:*:iam::*:role/*"),
            ("plain", "plain"),
            ("a-XXXX-b-${C}-xxx", "a-*-b-*-*"),
            ("$é", "$é"),
        ] {
            assert_eq!(replaced(text, "*"), expected, "{text}");
        }
    }

    #[test]
    fn reads_defaults() {
        for (text, expected) in [
            ("${EXPIRE_AFTER:=720h}", Some("720h")),
            ("${EXPIRE_AFTER:-720h}", Some("720h")),
            ("${A-1}${B=2}h", Some("12h")),
            ("${EMPTY:=}", Some("")),
            ("${EXPIRE_AFTER}", None),
            ("${A:=1}${B}", None),
            ("${A:=${B}}", None),
            ("${A:?no value}", None),
            ("$A", None),
            ("720h", None),
        ] {
            assert_eq!(with_defaults(text).as_deref(), expected, "{text}");
        }
    }
}
