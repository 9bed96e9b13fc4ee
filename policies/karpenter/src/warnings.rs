//! Warnings within the API server's limit.

/// The API server keeps warnings whole up to 4,096 characters in total. Beyond that it cuts every warning to 256 characters
/// (k8s.io/apiserver pkg/endpoints/filters/warning.go). The rest is for the warnings of other webhooks.
const MAX_CHARACTERS: usize = 3_800;
/// Number of warnings. More warnings would be too short to say anything.
const MAX_WARNINGS: usize = 40;

/// A warning in the parts that it can do without, if there are many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Warning {
    /// Rule and place; empty for a note.
    pub(crate) name: String,
    /// The problem.
    pub(crate) message: String,
    /// The remedy; empty if unknown.
    pub(crate) help: String,
}

impl Warning {
    /// A warning that is not about a finding.
    pub(crate) fn note(message: String) -> Self {
        Self { name: String::new(), message, help: String::new() }
    }

    pub(crate) fn whole(&self) -> String {
        joined([&self.name, &self.message, &self.help])
    }

    /// The warning without the problem: rule, place and remedy.
    fn short(&self) -> String {
        let rest = if self.help.is_empty() { &self.message } else { &self.help };
        joined([&self.name, "", rest])
    }

    /// The longest form that has at most this number of characters.
    fn within(&self, limit: usize) -> String {
        [self.whole(), self.short()]
            .into_iter()
            .find(|text| length(text) <= limit)
            .unwrap_or_else(|| cut(&self.short(), limit))
    }
}

/// Joins the parts that are not empty: `name: message; help`.
fn joined([name, message, help]: [&str; 3]) -> String {
    let mut text = name.to_owned();
    for (part, separator) in [(message, ": "), (help, if message.is_empty() { ": " } else { "; " })] {
        if !part.is_empty() {
            if !text.is_empty() {
                text.push_str(separator);
            }
            text.push_str(part);
        }
    }
    text
}

/// The texts of all warnings: whole if they fit, otherwise each within a fair share of the limit. A warning that needs less
/// than its share leaves the rest to the following ones. The second value says whether a text was shortened.
pub(crate) fn texts(warnings: &[Warning]) -> (Vec<String>, bool) {
    let whole: Vec<String> = warnings.iter().map(|warning| printable(&warning.whole())).collect();
    if whole.iter().map(|text| length(text)).sum::<usize>() <= MAX_CHARACTERS {
        return (whole, false);
    }
    let shown = warnings.len().min(MAX_WARNINGS);
    let mut texts = Vec::new();
    let mut left = MAX_CHARACTERS;
    for (index, warning) in warnings.iter().take(shown).enumerate() {
        let text = printable(&warning.within(left / (shown - index)));
        left -= length(&text).min(left);
        texts.push(text);
    }
    if warnings.len() > shown {
        texts.push(format!("and {} more, in the audit annotations", warnings.len() - shown));
    }
    (texts, true)
}

/// The text on one line: the API server drops a warning with a control character (k8s.io/apimachinery pkg/util/net/http.go).
fn printable(text: &str) -> String {
    text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn cut(text: &str, limit: usize) -> String {
    let kept: String = text.chars().take(limit.saturating_sub(3)).collect();
    format!("{kept}...")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(count: usize, message: usize, help: usize) -> Vec<Warning> {
        let one = |index| Warning {
            name: format!("some-rule at spec.template.spec.requirements[{index}].key"),
            message: "m".repeat(message),
            help: "h".repeat(help),
        };
        (0..count).map(one).collect()
    }

    fn total(texts: &[String]) -> usize {
        texts.iter().map(|text| length(text)).sum()
    }

    #[test]
    fn warnings_below_the_limit_stay_whole() {
        let few = warnings(6, 400, 100);
        let (texts, is_short) = texts(&few);
        assert!(!is_short);
        assert!(texts[5].starts_with("some-rule at spec.template.spec.requirements[5].key: mmm"));
        assert!(texts[5].contains("m; hhh") && texts.iter().all(|text| text.len() > 256));
    }

    #[test]
    fn above_the_limit_every_warning_keeps_rule_place_and_remedy() {
        let many = warnings(12, 600, 150);
        let (texts, is_short) = texts(&many);
        assert!(is_short && texts.len() == 12 && total(&texts) <= MAX_CHARACTERS, "{}", total(&texts));
        for (text, warning) in texts.iter().zip(&many) {
            assert!(text.starts_with(&warning.name) && text.ends_with(&warning.help), "{text}");
        }
    }

    #[test]
    fn short_warnings_leave_their_share_to_long_ones() {
        let mut mixed = warnings(10, 0, 5);
        mixed.extend(warnings(2, 900, 10));
        mixed.extend(warnings(1, 3_000, 10));
        let (texts, is_short) = texts(&mixed);
        assert!(is_short && total(&texts) <= MAX_CHARACTERS);
        assert!(texts[10].len() > 900, "{}", texts[10]);
    }

    #[test]
    fn names_the_number_of_warnings_that_are_left_out() {
        let (texts, is_short) = texts(&warnings(100, 300, 300));
        assert!(is_short && texts.len() == MAX_WARNINGS + 1);
        assert_eq!(texts[MAX_WARNINGS], "and 60 more, in the audit annotations");
        assert!(total(&texts) <= 4_096);
    }

    #[test]
    fn control_characters_become_spaces_and_other_scripts_stay() {
        let (texts, _) = texts(&[Warning::note("a\n\u{1b}b \u{e9}\u{4e2d}".to_owned())]);
        assert_eq!(texts, ["a  b \u{e9}\u{4e2d}"]);
    }
}
