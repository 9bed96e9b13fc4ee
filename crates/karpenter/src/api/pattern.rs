//! The regular expressions of the API server, matched by hand, because compiling them would dominate an admission request.
//!
//! Each function matches exactly what its expression matches, also where the author of the expression meant something else:
//! `^a|b$` has one anchor for each alternative, and an expression without anchors matches anywhere in the text.

use core::fmt;

use values::calendar::Date;
use values::duration::Duration;
use values::quantity::Quantity;

/// A regular expression of the API server.
pub struct FieldPattern {
    /// The expression in the custom resource definition.
    pub expression: &'static str,
    /// Description of matching strings, as it follows "is not": `a duration such as 30m`.
    pub description: &'static str,
    /// Whether a string matches.
    pub matches: fn(&str) -> bool,
}

impl fmt::Debug for FieldPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expression)
    }
}

macro_rules! patterns {
    ($($(#[$doc:meta])* $name:ident: $expression:literal, $description:literal, $matches:expr;)*) => {
        $($(#[$doc])* pub const $name: &FieldPattern = &FieldPattern { expression: $expression, description: $description, matches: $matches };)*

        #[cfg(test)]
        const ALL: &[&FieldPattern] = &[$($name),*];
    };
}

patterns! {
    /// Duration of a disruption budget.
    BUDGET_DURATION: r"^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$",
        "hours and minutes such as `8h`, `30m` or `1h30m`", budget_duration;
    /// Number of nodes that a disruption budget allows.
    BUDGET_NODES: r"^((100|[0-9]{1,2})%|[0-9]+)$",
        "a number of nodes such as `5` or a percentage from `0%` to `100%`", budget_nodes;
    /// Schedule of a disruption budget. The alternative with `@` has no anchor at its end.
    SCHEDULE: r"^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\s(.+)\s(.+)\s(.+)\s(.+))$",
        "a cron schedule of five fields such as `0 9 * * mon-fri`, or one such as `@daily`", schedule;
    /// A duration or `Never`, until 1.3. Each alternative has only one anchor.
    LOOSE_DURATION: r"^(([0-9]+(s|m|h))+)|(Never)$",
        "a duration in hours, minutes and seconds such as `720h` or `1h30m`, or `Never`", loose_duration;
    /// A duration or `Never`, since 1.4.
    DURATION_OR_NEVER: r"^(([0-9]+(s|m|h))+|Never)$",
        "a duration in hours, minutes and seconds such as `720h` or `1h30m`, or `Never`",
        |text| text == "Never" || duration(text);
    /// A duration.
    DURATION: r"^([0-9]+(s|m|h))+$",
        "a duration in hours, minutes and seconds such as `48h` or `1h30m`", duration;
    /// An amount of a resource.
    QUANTITY: r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$",
        "an amount such as `500m`, `4` or `16Gi`", quantity;
    /// The value of a label.
    LABEL_VALUE: r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
        "a label's value: letters, digits, `-`, `_` and `.`, with a letter or digit at both ends",
        |text| text.is_empty() || label_name(text);
    /// The key of a label or a taint.
    LABEL_KEY: r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$",
        "a label's key such as `team` or `example.com/team`", label_key;
    /// An API group.
    NO_SLASH: r"^[^/]*$", "a group alone such as `karpenter.k8s.aws`, without a version", |text| !text.contains('/');
    /// A price per hour.
    PRICE: r"^\d+(\.\d+)?$", "a price such as `0.25`", price;
    /// A change of a price. The inner `^` and `$` match the ends of the whole text.
    PRICE_ADJUSTMENT: r"^(([+-]{1}(\d*\.?\d+))|(\+{1}\d*\.?\d+%)|(^(-\d{1,2}(\.\d+)?%)$)|(-100%))$",
        "a change such as `+0.5`, `-0.1`, `+10%` or `-25%`", price_adjustment;
    /// The ID of an AMI, anywhere in the text: the expression has no anchors.
    AMI_ID: r"ami-[0-9a-z]+", "the id of an AMI such as `ami-0123456789abcdef0`", |text| contains_id(text, "ami-");
    /// The ID of a security group, anywhere in the text: the expression has no anchors.
    SECURITY_GROUP_ID: r"sg-[0-9a-z]+", "the id of a security group such as `sg-0123456789abcdef0`",
        |text| contains_id(text, "sg-");
    /// The ID of a subnet, anywhere in the text: the expression has no anchors.
    SUBNET_ID: r"subnet-[0-9a-z]+", "the id of a subnet such as `subnet-0123456789abcdef0`",
        |text| contains_id(text, "subnet-");
    /// The ID of a capacity reservation.
    CAPACITY_RESERVATION_ID: r"^cr-[0-9a-z]+$", "the id of a capacity reservation such as `cr-0123456789abcdef0`",
        |text| is_id(text, "cr-");
    /// The ID of a placement group.
    PLACEMENT_GROUP_ID: r"^pg-[0-9a-z]+$", "the id of a placement group such as `pg-0123456789abcdef0`",
        |text| is_id(text, "pg-");
    /// The ID of an AWS account.
    ACCOUNT_ID: r"^[0-9]{12}$", "an account id of twelve digits", |text| text.len() == 12 && digits(text);
    /// The size of a volume. The expression accepts `Ti` and `T` without a number.
    VOLUME_SIZE: r"^((?:[1-9][0-9]{0,3}|[1-4][0-9]{4}|[5][0-8][0-9]{3}|59000)Gi|(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|[6][0-3][0-9]{3}|64000)G|([1-9]||[1-5][0-7]|58)Ti|([1-9]||[1-5][0-9]|6[0-3]|64)T)$",
        "a size such as `100Gi` or `1Ti`, up to 64 TB", volume_size;
    /// An eviction threshold of the kubelet. The expression accepts the empty string.
    EVICTION: r"^((\d{1,2}(\.\d{1,2})?|100(\.0{1,2})?)%||(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?)$",
        "a percentage such as `5%` or an amount such as `100Mi`", eviction;
}

/// A duration of Go, as the fields of the kubelet's configuration have.
pub const GO_DURATION: &FieldPattern = &FieldPattern {
    expression: "",
    description: "a duration such as `30s` or `1h30m`",
    matches: |text| Duration::parse(text).is_ok(),
};

/// A grace period: a duration of Go of at least 0.
pub const GO_DURATION_NOT_NEGATIVE: &FieldPattern = &FieldPattern {
    expression: "",
    description: "a duration of at least 0, such as `30s` or `1h30m`",
    matches: |text| Duration::parse(text).is_ok() && !text.starts_with('-'),
};

/// An eviction threshold, as Karpenter's controller reads it since 1.15.
pub const THRESHOLD: &FieldPattern = &FieldPattern {
    expression: "",
    description: "a percentage such as `5%` or an amount such as `100Mi`",
    matches: |text| match text.strip_suffix('%') {
        Some(number) => number.parse().is_ok_and(|number: f64| (0.0..=100.0).contains(&number)),
        None => Quantity::parse(text).is_ok_and(|amount| !amount.is_negative()),
    },
};

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The text after its leading digits; `None` if it has none.
fn after_digits(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|char: char| char.is_ascii_digit());
    (rest.len() < text.len()).then_some(rest)
}

/// The text after the longest match of `([0-9]+(s|m|h))+` at its start; `None` without a match.
fn after_duration(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some(next) = after_digits(rest).and_then(|unit| unit.strip_prefix(['s', 'm', 'h'])) {
        rest = next;
    }
    (rest.len() < text.len()).then_some(rest)
}

fn duration(text: &str) -> bool {
    after_duration(text) == Some("")
}

fn loose_duration(text: &str) -> bool {
    after_duration(text).is_some() || text.ends_with("Never")
}

fn budget_duration(text: &str) -> bool {
    let whole = |text: &str| {
        let minutes = |text| after_digits(text) == Some("m");
        minutes(text)
            || after_digits(text)
                .and_then(|rest| rest.strip_prefix('h'))
                .is_some_and(|rest| rest.is_empty() || minutes(rest))
    };
    whole(text) || text.strip_suffix("0s").is_some_and(whole)
}

fn budget_nodes(text: &str) -> bool {
    match text.strip_suffix('%') {
        Some(share) => share == "100" || (digits(share) && share.len() <= 2),
        None => digits(text),
    }
}

fn schedule(text: &str) -> bool {
    const NAMES: [&str; 7] = ["annually", "yearly", "monthly", "weekly", "daily", "midnight", "hourly"];
    let named = text.strip_prefix('@').is_some_and(|name| NAMES.iter().any(|known| name.starts_with(known)));
    named || ends_with_five_fields(text)
}

/// Matches `(.+)\s(.+)\s(.+)\s(.+)\s(.+)$`: a field is anything except a line break, and the match starts anywhere.
fn ends_with_five_fields(text: &str) -> bool {
    // Bit n: inside field n. Bit 8 + n: after the whitespace that follows field n.
    let mut states: u16 = 0;
    for char in text.chars() {
        let mut next = 0;
        if char != '\n' {
            next |= 1 | (states & 0b1_1111) | ((states >> 8) & 0b1111) << 1;
        }
        if matches!(char, ' ' | '\t' | '\n' | '\r' | '\u{c}') {
            next |= (states & 0b1111) << 8;
        }
        states = next;
    }
    states & 0b1_0000 != 0
}

/// The text after a match of `([0-9]+(\.[0-9]*)?)|(\.[0-9]+)` at its start.
fn after_number(text: &str) -> Option<&str> {
    match after_digits(text) {
        Some(rest) => {
            Some(rest.strip_prefix('.').map_or(rest, |fraction| after_digits(fraction).unwrap_or(fraction)))
        }
        None => after_digits(text.strip_prefix('.')?),
    }
}

fn quantity(text: &str) -> bool {
    let Some(rest) = after_number(text.strip_prefix(['+', '-']).unwrap_or(text)) else { return false };
    let suffix = matches!(
        rest,
        "" | "Ki" | "Mi" | "Gi" | "Ti" | "Pi" | "Ei" | "n" | "u" | "m" | "k" | "M" | "G" | "T" | "P" | "E"
    );
    let exponent = || {
        let power = rest.strip_prefix(['e', 'E'])?;
        after_number(power.strip_prefix(['+', '-']).unwrap_or(power))
    };
    suffix || exponent() == Some("")
}

fn label_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    ends.iter().all(|end| end.is_some_and(u8::is_ascii_alphanumeric))
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn label_key(text: &str) -> bool {
    let Some((domain, name)) = text.split_once('/') else { return label_name(text) };
    let lower = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let part = |part: &str| {
        let bytes = part.as_bytes();
        [bytes.first(), bytes.last()].iter().all(|end| end.is_some_and(lower))
            && bytes.iter().all(|byte| lower(byte) || *byte == b'-')
    };
    domain.split('.').all(part) && label_name(name)
}

fn price(text: &str) -> bool {
    match text.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(text),
    }
}

/// Matches `\d*\.?\d+`.
fn change(text: &str) -> bool {
    match text.split_once('.') {
        Some((whole, fraction)) => (whole.is_empty() || digits(whole)) && digits(fraction),
        None => digits(text),
    }
}

fn price_adjustment(text: &str) -> bool {
    if let Some(more) = text.strip_prefix('+') {
        return change(more.strip_suffix('%').unwrap_or(more));
    }
    let Some(less) = text.strip_prefix('-') else { return false };
    match less.strip_suffix('%') {
        Some(share) => {
            share == "100" || (price(share) && share.split('.').next().is_some_and(|whole| whole.len() <= 2))
        }
        None => change(less),
    }
}

const fn is_id_letter(byte: u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_lowercase()
}

fn is_id(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(is_id_letter))
}

fn contains_id(text: &str, prefix: &str) -> bool {
    text.match_indices(prefix)
        .any(|(at, _)| text.as_bytes().get(at + prefix.len()).copied().is_some_and(is_id_letter))
}

fn volume_size(text: &str) -> bool {
    // The expression accepts numbers without sign and leading zeros.
    let within = |number: &str, most: u32| {
        digits(number)
            && !number.starts_with('0')
            && number.len() <= 5
            && number.parse::<u32>().is_ok_and(|number| number <= most)
    };
    let one_or_none = |number: &str| number.is_empty() || within(number, 9);
    if let Some(number) = text.strip_suffix("Gi") {
        return within(number, 59_000);
    }
    if let Some(number) = text.strip_suffix('G') {
        return within(number, 64_000);
    }
    if let Some(number) = text.strip_suffix("Ti") {
        // The expression does not accept 18, 19, 28, 29 and so on.
        return one_or_none(number)
            || (within(number, 58) && (number == "58" || !number.ends_with(['8', '9'])));
    }
    text.strip_suffix('T').is_some_and(|number| one_or_none(number) || within(number, 64))
}

fn eviction(text: &str) -> bool {
    if text.is_empty() || quantity(text) {
        return true;
    }
    let Some(share) = text.strip_suffix('%') else { return false };
    let (whole, fraction) =
        share.split_once('.').map_or((share, None), |(whole, fraction)| (whole, Some(fraction)));
    let short = |text: &str, most: usize| digits(text) && text.len() <= most;
    if whole == "100" {
        return fraction.is_none_or(|zeros| short(zeros, 2) && zeros.bytes().all(|byte| byte == b'0'));
    }
    short(whole, 2) && fraction.is_none_or(|fraction| short(fraction, 2))
}

/// Whether the API server accepts a string as a date with a time: the date exists, the zone is `Z` or an offset, and case
/// does not matter. Source: kube-openapi pkg/validation/strfmt/time.go, `IsDateTime`.
pub fn is_date_time(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    // The server ignores the text after a second `t`.
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    Date::parse(date).is_some() && is_time(time)
}

/// Matches `^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$`, up to 23:59:59.
fn is_time(text: &str) -> bool {
    let two = |text: &str| text.len() == 2 && digits(text);
    let (Some(clock), Some(rest)) = (text.get(..8), text.get(8..)) else { return false };
    let mut parts = clock.split(':');
    let hour = parts.next().is_some_and(|hour| two(hour) && hour <= "23");
    let mut sixty = || parts.next().is_some_and(|part| two(part) && part <= "59");
    let clock = hour && sixty() && sixty() && parts.next().is_none();
    // The expression has an unescaped point, which matches any character.
    let fraction = |text: &str| {
        let mut chars = text.chars();
        text.is_empty() || (chars.next().is_some_and(|char| char != '\n') && digits(chars.as_str()))
    };
    let offset = |text: &str| {
        let Some((sign, zone)) =
            text.len().checked_sub(6).and_then(|at| Some((text.get(..at)?, text.get(at..)?)))
        else {
            return false;
        };
        let mut parts = zone.get(1..).unwrap_or_default().split(':');
        let sound =
            zone.starts_with(['+', '-']) && parts.next().is_some_and(two) && parts.next().is_some_and(two);
        sound && parts.next().is_none() && fraction(sign)
    };
    clock && (rest.strip_suffix('z').is_some_and(fraction) || offset(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::strategy::ValueTree as _;
    use regex::Regex;

    /// The expressions as the server matches them: its `\d` and `\s` are ASCII.
    fn expressions() -> Vec<(&'static FieldPattern, Regex)> {
        let ascii = |text: &str| text.replace(r"\d", "[0-9]").replace(r"\s", r"[\t\n\f\r ]");
        ALL.iter().map(|pattern| (*pattern, Regex::new(&ascii(pattern.expression)).unwrap())).collect()
    }

    /// Strings near to what fits: every piece that some expression knows.
    fn near() -> impl Strategy<Value = String> {
        let pieces = [
            "0",
            "1",
            "5",
            "7",
            "8",
            "9",
            "10",
            "58",
            "59",
            "60",
            "63",
            "64",
            "100",
            "5900",
            "59000",
            "64000",
            "h",
            "m",
            "s",
            "0s",
            "%",
            ".",
            ".5",
            "+",
            "-",
            "-100%",
            "e",
            "E",
            "Ki",
            "Gi",
            "G",
            "Ti",
            "T",
            "n",
            "i",
            "Never",
            "never",
            "@daily",
            "@",
            "hourly",
            " ",
            "\t",
            "\n",
            "*",
            "/",
            "a",
            "Z",
            "_",
            "ami-",
            "sg-",
            "subnet-",
            "cr-",
            "pg-",
            "123456789012",
            "é",
        ];
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..7).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]
        #[test]
        fn every_pattern_matches_what_its_expression_matches(near in near(), any in any::<String>(), cron in r"[a\n\t *]{5,14}") {
            for (pattern, expression) in expressions_once() {
                for text in [&near, &any, &cron] {
                    prop_assert_eq!((pattern.matches)(text), expression.is_match(text), "{:?} {:?}", pattern, text);
                }
            }
        }
    }

    fn expressions_once() -> &'static [(&'static FieldPattern, Regex)] {
        static ONCE: std::sync::OnceLock<Vec<(&'static FieldPattern, Regex)>> = std::sync::OnceLock::new();
        ONCE.get_or_init(expressions)
    }

    #[test]
    fn patterns_match_generated_matches_of_their_expression() {
        for (pattern, expression) in expressions_once() {
            let ascii =
                pattern.expression.replace(r"\d", "[0-9]").replace(r"\s", "[ \t]").replace("{1,2}", "{2}");
            let plain = ascii
                .replace(['^', '$'], "")
                .replace("(?:", "(")
                .replace("[/]", "[a-z]")
                .replace("[/]*", "x")
                .replace(".+", "[a*]+");
            let Ok(strategy) = proptest::string::string_regex(&plain) else { continue };
            let mut runner = proptest::test_runner::TestRunner::deterministic();
            for _ in 0..300 {
                let text = strategy.new_tree(&mut runner).unwrap().current();
                assert_eq!((pattern.matches)(&text), expression.is_match(&text), "{pattern:?} {text:?}");
            }
        }
    }

    #[test]
    fn accepts_dates_that_the_api_server_accepts() {
        for text in [
            "2024-01-01T00:00:00Z",
            "2024-01-01t23:59:59z",
            "2024-02-29T00:00:00.5+02:00",
            "2024-01-01T00:00:00x5-99:99",
        ] {
            assert!(is_date_time(text), "{text}");
        }
        for text in [
            "",
            "x",
            "2024-01-01",
            "2024-13-01T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2024-01-01 00:00:00Z",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:00:00",
            "2024-01-01T00:00:00.Z",
            "2024-1-01T00:00:00Z",
            "2024-01-01T00:00:00+2:00",
        ] {
            assert!(!is_date_time(text), "{text}");
        }
    }

    #[test]
    fn accepts_dates_with_a_time_as_the_api_server() {
        let at = |time: &str| is_date_time(&format!("2024-01-31T{time}"));
        for time in
            ["23:59:59Z", "00:00:00z", "00:00:00.5Z", "00:00:00,25Z", "00:00:00+01:00", "00:00:00.5-01:00"]
        {
            assert!(at(time), "{time}");
        }
        for time in [
            "",
            "00:00:00",
            "00:00Z",
            "24:00:00Z",
            "1a:00:00Z",
            "001:00:0Z",
            "00:60:00Z",
            "00:0a:00Z",
            "00:00:60Z",
            "00:00:00.Z",
            "00:00:00.aZ",
            "00:00:00\n5Z",
            "00:00:00x01:00",
            "00:00:00+aa:00",
            "00:00:00+01:aa",
            "00:00:00+1:000",
            "00:00:00+01:00:00",
            "00:00:00a+01:00",
            "00:00:00+00000",
        ] {
            assert!(!at(time), "{time}");
        }
        assert!(!is_date_time("2024-02-30T00:00:00Z") && !is_date_time("00:00:00Z"));
    }

    #[test]
    fn bounds_the_digits_of_shares() {
        assert!(price_adjustment("-99.5%") && price_adjustment("-100%"));
        assert!(!price_adjustment("-123%") && !price_adjustment("-ab%"));
        assert!(eviction("100%") && eviction("100.00%") && eviction("99.99%"));
        assert!(!eviction("100.01%") && !eviction("100.000%") && !eviction("101%") && !eviction("5.555%"));
    }
}
