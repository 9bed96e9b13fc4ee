//! The named templates of charts, and what a template is made of with the ones that it includes.
//!
//! Source: `docs/chart_template_guide/named_templates.md` of helm/helm-www: all templates of a chart and of its subcharts share their names.

use std::collections::{BTreeMap, BTreeSet};

use manifest::File;

use super::charts::Charts;
use super::feeds::chart_of;

/// Actions that end with `end`.
const OPENING: [&str; 5] = ["define", "if", "range", "with", "block"];

/// Function that renders a value, which may read everything.
///
/// Source: "Using the 'tpl' Function" in `docs/howto/charts_tips_and_tricks.mdx` of helm/helm-www.
const RENDERING: &str = "tpl";

/// Actions that render a named template. A block defines it too, unless another file does.
const INCLUDING: [&str; 3] = ["include", "template", "block"];

/// The named templates of both sides.
#[derive(Debug, Default)]
pub(super) struct NamedTemplates<'p> {
    /// By name, old and new.
    sides: [BTreeMap<&'p str, Vec<NamedTemplate<'p>>>; 2],
}

#[derive(Clone, Copy, Debug)]
struct NamedTemplate<'p> {
    file: &'p str,
    body: &'p str,
}

/// A template with the named templates that it includes, directly or through others.
#[derive(Debug, Default)]
pub(super) struct ExpandedTemplate<'p> {
    text: String,
    /// Whether it includes what the input does not have, or what only rendering tells.
    is_open: bool,
    /// The file with a named template that differs.
    pub(super) changed: Option<&'p str>,
}

impl<'p> NamedTemplates<'p> {
    /// Finds the named templates among the files of both sides.
    pub(super) fn of(sides: [&BTreeMap<&'p str, &'p File>; 2]) -> Self {
        Self {
            sides: sides.map(|files| {
                let mut found = BTreeMap::<_, Vec<_>>::new();
                for (name, file) in files.iter().filter(|(name, _)| chart_of(name).is_some()) {
                    for (defined, body) in definitions(file.source.text()) {
                        found.entry(defined).or_default().push(NamedTemplate { file: name, body });
                    }
                }
                found
            }),
        }
    }

    /// A template of a chart with the named templates that it includes.
    pub(super) fn expand(&self, chart: &str, template: &str, charts: &Charts<'_>) -> ExpandedTemplate<'p> {
        let mut found = ExpandedTemplate { text: template.to_owned(), ..ExpandedTemplate::default() };
        found.is_open |= calls_function(&found.text, RENDERING);
        let (mut seen, mut next) = (BTreeSet::new(), 0);
        while let Some((end, name)) = found.text.get(next..).and_then(first_included) {
            next += end;
            let Some(name) = name.map(str::to_owned) else {
                found.is_open = true;
                continue;
            };
            if !seen.insert(name.clone()) {
                continue;
            }
            let own = self.sides.each_ref().map(|side| {
                let all = side.get(name.as_str()).into_iter().flatten().copied();
                all.filter(|one| chart_of(one.file).is_some_and(|other| charts.share_names(chart, other)))
                    .collect::<Vec<_>>()
            });
            let bodies = own.each_ref().map(|all| all.iter().map(|one| one.body).collect::<Vec<_>>());
            let [old, new] = &own;
            found.is_open |= old.is_empty() && new.is_empty();
            if bodies[0] != bodies[1] {
                let other = |side: &[NamedTemplate<'p>], known: &[&str]| {
                    side.iter().find(|one| !known.contains(&one.body)).map(|one| one.file)
                };
                let file = other(new, &bodies[0]).or_else(|| other(old, &bodies[1]));
                found.changed = found.changed.or(file).or(new.first().map(|one| one.file));
            }
            for body in bodies.into_iter().flatten() {
                found.is_open |= calls_function(body, RENDERING);
                found.text.push('\n');
                found.text.push_str(body);
            }
        }
        found
    }
}

impl ExpandedTemplate<'_> {
    /// Whether it may read one of the keys of the values, or all of them.
    pub(super) fn reads_values(&self, keys: &BTreeSet<&str>) -> bool {
        !keys.is_empty() && (self.is_open || reads(&self.text, ".Values", keys))
    }

    /// Whether it reads one of the keys of the values, or all of them, as far as the input shows.
    pub(super) fn names_values(&self, keys: &BTreeSet<&str>) -> bool {
        !keys.is_empty() && reads(&self.text, ".Values", keys)
    }

    /// Whether it may read one of the keys of the definition of its chart: `.Chart.Version` is its `version`.
    pub(super) fn reads_definition(&self, keys: &BTreeSet<&str>) -> bool {
        !keys.is_empty() && (self.is_open || reads(&self.text, ".Chart", keys))
    }

    /// Whether it may read a built-in object, such as `.Files`.
    pub(super) fn reads_object(&self, object: &str) -> bool {
        self.is_open || self.text.contains(object)
    }

    /// Whether it includes what the input does not have.
    pub(super) const fn is_open(&self) -> bool {
        self.is_open
    }
}

/// Whether a template reads one of the keys of an object, or all of them.
pub(super) fn reads(template: &str, object: &str, keys: &BTreeSet<&str>) -> bool {
    template.match_indices(object).any(|(at, _)| {
        let rest = template.get(at + object.len()..).unwrap_or_default();
        if rest.starts_with(|char: char| char.is_alphanumeric() || char == '_') {
            return false;
        }
        rest.strip_prefix('.').is_none_or(|rest| {
            let end = rest.find(|char: char| !(char.is_alphanumeric() || char == '_' || char == '-'));
            let key = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            keys.iter().any(|known| known.eq_ignore_ascii_case(key))
        })
    })
}

/// The end of the first action that includes a named template, and the name; `None` for a name that only rendering tells.
fn first_included(text: &str) -> Option<(usize, Option<&str>)> {
    let found = INCLUDING.iter().flat_map(|word| calls(text, word));
    let (_, behind) = found.min_by_key(|(at, _)| *at)?;
    let end = text.len() - behind.len();
    let name = behind.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"'));
    Some((end, name.map(|(name, _)| name)))
}

/// The places at which a text has an action or a function, each with the text behind it.
fn calls<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = (usize, &'t str)> {
    text.match_indices(word).filter_map(move |(at, _)| {
        let before = text.get(..at)?.chars().next_back();
        let is_word = before.is_none_or(|char| char.is_whitespace() || matches!(char, '(' | '{' | '-'));
        let behind = text.get(at + word.len()..)?;
        (is_word && behind.starts_with([' ', '\t', '(', '"', '`'])).then_some((at, behind))
    })
}

/// Whether an action of a text calls a function.
fn calls_function(text: &str, function: &str) -> bool {
    let actions = text.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
    actions.into_iter().any(|action| calls(action, function).next().is_some())
}

/// The named templates of a text, each with its body.
fn definitions(text: &str) -> Vec<(&str, &str)> {
    // The names and the starts of the bodies that are open, and the depth outside of each.
    let mut open: Vec<(&str, usize, usize)> = Vec::new();
    let (mut found, mut depth, mut at) = (Vec::new(), 0_usize, 0);
    while let Some(start) = text.get(at..).and_then(|rest| rest.find("{{")).map(|start| at + start) {
        let inner = text.get(start + 2..).unwrap_or_default();
        let Some(length) = inner.find("}}") else { break };
        let action = inner.get(..length).unwrap_or_default();
        at = start + 2 + length + 2;
        let action = action.trim_matches('-').trim();
        let word = action.split(|char: char| !char.is_alphanumeric()).next().unwrap_or_default();
        if matches!(word, "define" | "block")
            && let Some(name) = action.split('"').nth(1)
        {
            open.push((name, at, depth));
        }
        if OPENING.contains(&word) {
            depth += 1;
        } else if word == "end" {
            depth = depth.saturating_sub(1);
            if let Some((name, from, _)) = open.pop_if(|(.., outside)| *outside == depth) {
                found.push((name, text.get(from..start).unwrap_or_default()));
            }
        }
    }
    found
}

/// A template without its comments. In a document with a text of several lines, only the comments before the first key are left out: others may
/// be a part of the text, such as a script.
pub(super) fn without_comments(text: &str) -> String {
    let is_text = |line: &str| {
        let is_indicator = |char: char| matches!(char, '+' | '-') || char.is_ascii_digit();
        let line = line.split_once(" #").map_or(line, |(line, _)| line);
        let start = line.trim_end().trim_end_matches(is_indicator);
        [" |", " >"].iter().any(|mark| start.ends_with(mark))
    };
    let has_text = text.lines().any(is_text);
    let (mut kept, mut is_head, mut is_open) = (String::new(), true, false);
    for line in text.lines() {
        let rest = line.trim();
        let starts = ["{{/*", "{{- /*"].iter().any(|start| rest.starts_with(start));
        let is_comment = rest.is_empty()
            || is_open
            || (starts && (rest.ends_with("*/}}") || rest.ends_with("*/ -}}") || !rest.contains("*/")))
            || (rest.starts_with('#') && !rest.contains("{{"));
        let is_left_out = is_comment && (is_head || !has_text);
        is_open = is_left_out && (starts || is_open) && !rest.contains("*/");
        if !is_left_out {
            is_head = is_head && (rest.starts_with("---") || rest.starts_with("{{"));
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// A template without the labels and annotations of its objects themselves, which change no node.
pub(super) fn without_labels(text: &str) -> String {
    let mut kept = String::new();
    // The indentation of the labels that are left out, within the metadata of an object.
    let (mut is_metadata, mut labels): (bool, Option<usize>) = (false, None);
    for line in text.lines() {
        let rest = line.trim_start();
        let indent = line.len() - rest.len();
        if rest.starts_with(|char: char| char.is_alphabetic() || matches!(char, '-' | '"')) {
            if indent == 0 {
                (is_metadata, labels) = (rest.trim_end() == "metadata:", None);
            } else if is_metadata && labels.is_none_or(|outer| indent <= outer) {
                let is_labels = ["labels:", "annotations:"].iter().any(|key| rest.starts_with(key));
                labels = is_labels.then_some(indent);
            }
        }
        if labels.is_none() {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{definitions, first_included, without_comments, without_labels};

    #[test]
    fn finds_named_templates_with_their_bodies() {
        let text = "{{/* One. */}}\n{{- define \"a\" -}}\n{{ if .x }}1{{ else if .y }}2{{ end }}\n{{- end }}\n{{/* Two. */}}\n{{ define \"b.c\" }}3{{ end }}\nrest {{ .z }}";
        let found = definitions(text);
        assert_eq!(found, [("a", "\n{{ if .x }}1{{ else if .y }}2{{ end }}\n"), ("b.c", "3")]);
    }

    #[test]
    fn finds_the_names_that_a_template_includes() {
        for (text, name) in [
            ("{{ include \"a.b\" . }}", Some(Some("a.b"))),
            ("{{- template \"a\" . }}", Some(Some("a"))),
            ("{{ (include \"a\" .) | nindent 4 }}", Some(Some("a"))),
            ("{{ include (print $.Template.BasePath \"/x\") . }}", Some(None)),
            ("spec:\n  template:\n    metadata: {{ .x }}", None),
        ] {
            assert_eq!(first_included(text).map(|(_, name)| name), name, "{text}");
        }
    }

    #[test]
    fn comments_are_left_out_unless_they_may_be_a_part_of_a_text() {
        for (text, kept) in [
            ("{{/* a */}}\n# b\n\na: 1\n", "a: 1\n"),
            ("{{- /* a\n b */ -}}\na: 1\n# c\nd: 2\n", "a: 1\nd: 2\n"),
            ("# {{ .Values.a }}\na: 1\n", "# {{ .Values.a }}\na: 1\n"),
            ("# a\nuserData: |\n  # b\n  c\n", "userData: |\n  # b\n  c\n"),
            ("# a\nuserData: |2-\n  # b\n  c\n", "userData: |2-\n  # b\n  c\n"),
            ("# a\nuserData: | # d\n  # b\n  c\n", "userData: | # d\n  # b\n  c\n"),
        ] {
            assert_eq!(without_comments(text), kept, "{text}");
        }
    }

    #[test]
    fn the_labels_of_an_object_itself_are_left_out() {
        let text = "metadata:\n  labels:\n    a: {{ .b }}\n    {{- include \"c\" . | nindent 4 }}\n  name: {{ .d }}\n  annotations: {{ .e }}\nspec:\n  template:\n    metadata:\n      labels:\n        f: {{ .g }}\n";
        let kept = "metadata:\n  name: {{ .d }}\nspec:\n  template:\n    metadata:\n      labels:\n        f: {{ .g }}\n";
        assert_eq!(without_labels(text), kept);
    }
}
