//! The values that the text of a Helm template reads. The text is searched, not parsed: a mention that is no read only hides a finding.

use std::collections::BTreeSet;

use super::ValueReads;

/// Functions whose literal arguments after `.Values` are keys, and whether they take several.
const LOOK_UPS: [(&str, bool); 3] = [("index", true), ("get", false), ("hasKey", false)];

/// Methods of the type of `.Values` (`Values` in pkg/chartutil/values.go), which templates can call.
const METHODS: [&str; 5] = ["AsMap", "Encode", "PathValue", "Table", "YAML"];

/// Reads of some templates, beside the paths.
#[derive(Debug, Default)]
pub(super) struct TemplateReads {
    /// Whether the values are passed on as a whole, or read by names that only rendering knows.
    reads_unknown: bool,
    /// Names of the templates that are called.
    called: BTreeSet<String>,
    /// Names of the templates that are defined.
    defined: BTreeSet<String>,
}

impl TemplateReads {
    /// Adds the reads of a text.
    pub(super) fn add_from(&mut self, text: &str, reads: &mut ValueReads) {
        for (at, word) in text.match_indices("Values") {
            let (before, after) = (certain_before(text, at), text.get(at + word.len()..).unwrap_or_default());
            if after.starts_with(is_part_of_name) {
                continue;
            }
            if before.ends_with(['"', '`']) {
                self.reads_unknown = true;
            } else if let Some(operand) = before.strip_suffix('.') {
                let path = path_of_field(after).or_else(|| path_of_look_up(operand, after));
                match path {
                    Some(path) => reads.add(path),
                    None => self.reads_unknown = true,
                }
            }
        }
        for action in actions(text) {
            self.add_action(action);
        }
    }

    /// Adds what an action calls and defines. The keywords of Go take only literals.
    fn add_action(&mut self, action: &str) {
        let names = |keyword| words(action, keyword).filter_map(literal).map(str::to_owned);
        self.called.extend(names("template"));
        self.defined.extend(names("define").chain(names("block")));
        self.reads_unknown |= words(action, "tpl").next().is_some();
        for after in words(action, "include") {
            match literal(after) {
                Some(name) => {
                    self.called.insert(name.to_owned());
                }
                None => self.reads_unknown |= !is_own_file(after),
            }
        }
    }

    /// Whether values may be read that no path shows.
    pub(super) fn may_read_more(&self) -> bool {
        self.reads_unknown || !self.called.is_subset(&self.defined)
    }
}

/// Whether the argument of `include` is a file of the chart: `include (print $.Template.BasePath "/configmap.yaml") .` is for its checksum.
fn is_own_file(after: &str) -> bool {
    let inner = after.trim_start().strip_prefix('(').map(str::trim_start);
    let file = inner.and_then(|inner| inner.strip_prefix("print ")).unwrap_or_default();
    file.trim_start().trim_start_matches('$').starts_with(".Template.BasePath")
}

/// The actions of a template without its comments. An action ends at the last `}}` before the next one, because a string may have one.
fn actions(text: &str) -> impl Iterator<Item = &str> {
    let actions = text.split("{{").skip(1).filter_map(|part| Some(part.rsplit_once("}}")?.0));
    actions.filter(|action| !action.trim_start_matches('-').trim_start().starts_with("/*"))
}

fn certain_before(text: &str, at: usize) -> &str {
    text.get(..at).unwrap_or_default()
}

fn is_part_of_name(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// The texts after each occurrence of a word that is no part of a longer word or path.
fn words<'t>(text: &'t str, word: &'static str) -> impl Iterator<Item = &'t str> {
    text.match_indices(word).filter_map(move |(at, word)| {
        let is_start = !certain_before(text, at)
            .ends_with(|char: char| is_part_of_name(char) || matches!(char, '.' | '-' | '/' | '$'));
        let after = text.get(at + word.len()..)?;
        (is_start && !after.starts_with(is_part_of_name)).then_some(after)
    })
}

/// The string literal that follows, and the text after it.
fn literal_and_rest(after: &str) -> Option<(&str, &str)> {
    let after = after.trim_start();
    let quote = after.chars().next().filter(|quote| matches!(quote, '"' | '`'))?;
    let (name, rest) = after.get(1..)?.split_once(quote)?;
    (!name.contains('\\')).then_some((name, rest))
}

/// The string literal that follows.
fn literal(after: &str) -> Option<&str> {
    literal_and_rest(after).map(|(name, _)| name)
}

/// The path in `.Values.a.b`.
fn path_of_field(after: &str) -> Option<Vec<&str>> {
    let mut path = Vec::new();
    let mut rest = after;
    while let Some(field) = rest.strip_prefix('.') {
        let end = field.find(|char| !is_part_of_name(char)).unwrap_or(field.len());
        let (key, next) = field.split_at_checked(end)?;
        if key.is_empty() {
            break;
        }
        path.push(key);
        rest = next;
    }
    path.first().filter(|first| !METHODS.contains(first))?;
    Some(path)
}

/// The path in `index .Values "a" "b"` and in `get .Values "a"`. `operand` is the text before `.Values`.
fn path_of_look_up<'t>(operand: &str, after: &'t str) -> Option<Vec<&'t str>> {
    let function = operand.trim_end_matches(|char: char| is_part_of_name(char) || matches!(char, '.' | '$'));
    let word = function.trim_end();
    if word.len() == function.len() {
        return None;
    }
    let is_called = |name: &str| {
        let before = word.strip_suffix(name);
        before.is_some_and(|before| !before.ends_with(|char| is_part_of_name(char) || char == '.'))
    };
    let (_, takes_several) = LOOK_UPS.into_iter().find(|(name, _)| is_called(name))?;
    let mut path = Vec::new();
    let mut rest = after;
    while let Some((key, next)) = literal_and_rest(rest).filter(|_| takes_several || path.is_empty()) {
        path.push(key);
        rest = next;
    }
    (!path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths that a template reads, each on a line; `None` if it may read more.
    fn paths(text: &str) -> Option<Vec<String>> {
        let (mut template, mut reads) = (TemplateReads::default(), ValueReads::default());
        template.add_from(text, &mut reads);
        let mut paths = Vec::new();
        collect(&reads, "", &mut paths);
        (!template.may_read_more()).then_some(paths)
    }

    fn collect(reads: &ValueReads, path: &str, paths: &mut Vec<String>) {
        if reads.is_whole() {
            paths.push(path.to_owned());
        }
        for key in reads.keys() {
            collect(reads.get(key).unwrap(), &format!("{path}/{key}"), paths);
        }
    }

    #[test]
    fn finds_every_spelling_of_a_read() {
        for (text, expected) in [
            ("{{ .Values.a.b.c }}", &["/a/b/c"][..]),
            ("{{ $.Values.a }}{{ .root.Values.b }}{{ $ctx.Values.c_d }}", &["/a", "/b", "/c_d"]),
            ("{{- with .Values.a }}{{ toYaml . }}{{ end }}", &["/a"]),
            ("{{ range $k, $v := .Values.pools }}{{ $k }}{{ end }}", &["/pools"]),
            ("{{ index .Values \"a-b\" \"c\" }}", &["/a-b/c"]),
            ("{{ index $.Values `a` $key }}", &["/a"]),
            ("{{ (index .Values \"a\").b }}", &["/a"]),
            ("{{ if hasKey .Values \"a\" }}{{ get .Values \"b\" \"c\" }}{{ end }}", &["/a", "/b"]),
            ("{{ (.Values.a).b | default .Values.c.d }}", &["/a", "/c/d"]),
            ("# Values of the pool, see MyValues.x; a template (or define) may include (more)", &[]),
            ("{{- /* include (printf name) */}}{{ .Values.a }}", &["/a"]),
        ] {
            assert_eq!(paths(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn gives_up_if_the_values_are_passed_on() {
        for text in [
            "{{ toYaml .Values }}",
            "{{ $v := .Values }}{{ $v.a }}",
            "{{ with $.Values }}{{ .a }}{{ end }}",
            "{{ index .Values $key }}",
            "{{ index . \"Values\" \"a\" }}",
            "{{ dig \"a\" \"b\" .Values }}",
            "{{ dig \"a\" \"b\" \"\" .Values.AsMap }}",
            "{{ pluck \"a\" .Values.AsMap | first }}",
            "{{ include \"lib\" (dict \"context\" $ \"values\" .Values) }}",
            "{{ tpl .Values.text . }}",
            "{{ include \"other.labels\" . }}",
            "{{ template \"other.labels\" . }}",
            "{{ include (printf \"%s.labels\" .name) . }}",
        ] {
            assert_eq!(paths(text), None, "{text}");
        }
    }

    #[test]
    fn knows_the_templates_of_the_chart() {
        let text =
            "{{ define \"a\" }}{{ .Values.x }}{{ end }}{{ include \"a\" . }}{{ block \"b\" . }}{{ end }}";
        assert_eq!(paths(text).unwrap(), ["/x"]);
        let checksum =
            "a: {{ include (print $.Template.BasePath \"/a.yaml\") . | sha256sum }}\ntemplate:\n  spec: {}\n";
        assert_eq!(paths(checksum).unwrap(), Vec::<String>::new());
    }
}
