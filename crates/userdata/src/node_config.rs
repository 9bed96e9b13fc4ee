//! Taints of a NodeConfig or a kubelet configuration in YAML.
//!
//! Source: awslabs/amazon-eks-ami `nodeadm/api/v1alpha1/nodeconfig_types.go`: `spec.cluster`, `spec.kubelet.config` (a
//! kubelet configuration) and `spec.kubelet.flags` (the command line of the kubelet, one argument per item).

use manifest::limits::Limits;
use manifest::source::{Span, certain};
use manifest::tree::{Node, Tree};
use manifest::work::WorkBudget;
use manifest::{Document, File};

use crate::kubelet::KubeletFlags;
use crate::kubelet_config::{ConfiguredTaints, FIELD, search_taints};
use crate::taint_list::SpannedTaint;
use crate::word::SourceWord;
use crate::word::SpannedText;

/// API group of a NodeConfig.
pub const GROUP: &str = "node.eks.aws";

/// The only API version of a NodeConfig.
pub const API_VERSION: &str = "node.eks.aws/v1alpha1";

/// YAML inside user data. Spans refer to the given text.
#[derive(Debug)]
pub struct Yaml {
    file: File,
    /// Length of the byte order mark, which the YAML parser does not count.
    base: usize,
}

impl Yaml {
    /// Parses a text that shares a budget with other texts.
    pub fn parse(text: &str, budget: &WorkBudget) -> Self {
        let base = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { file: File::read_yaml("node.yaml", text, &Limits::DEFAULT, budget), base }
    }

    /// Root nodes of the documents that parse.
    pub fn roots(&self) -> impl Iterator<Item = Node<'_>> {
        self.file.trees().map(Tree::root)
    }

    /// Span and message of the first document that does not parse.
    pub fn problem(&self) -> Option<(Span, String)> {
        self.file.documents.iter().find_map(|document| match document {
            Document::Read(_) => None,
            Document::Template(span)
            | Document::Script(span)
            | Document::Deleted(span)
            | Document::Unevaluated { span, .. }
            | Document::Absent { span, .. } => {
                Some((self.shifted(*span), "a template that was not rendered".to_owned()))
            }
            Document::Unreadable { at, error } => {
                let length = self.file.source.text().get(*at..).and_then(|rest| rest.chars().next());
                let end = at + length.map_or(0, char::len_utf8);
                Some((self.shifted(Span::new(*at, end)), error.to_string()))
            }
        })
    }

    /// Whether Go unmarshals the text into a map: the first document is a mapping or null.
    pub fn is_mapping(&self) -> bool {
        self.problem().is_none() && self.roots().next().is_none_or(|root| root.is_mapping() || root.is_null())
    }

    /// Span of the key of a value. For an item and for the root, the span of the first key in it.
    pub fn key(&self, node: Node<'_>) -> Span {
        let own = |node: Node<'_>| Some(node.key_span()).filter(|span| *span != Span::default());
        let first = node.children().next().and_then(own);
        self.shifted(own(node).or(first).unwrap_or_else(|| node.span()))
    }

    /// Span of a value without quotes.
    pub fn value(&self, node: Node<'_>) -> Span {
        let length = node.as_str().map_or(0, str::len);
        self.shifted(if length > 0 { node.span_within(Span::new(0, length)) } else { node.span() })
    }

    fn shifted(&self, span: Span) -> Span {
        span.shifted(self.base)
    }

    /// Whether `kind` or `apiVersion` of a document identify a NodeConfig.
    pub fn is_node_config(root: Node<'_>) -> bool {
        root.str_at(&["kind"]) == Some("NodeConfig")
            || root.str_at(&["apiVersion"]).is_some_and(|version| version.starts_with(GROUP))
    }
}

/// Finds the taints that a NodeConfig or a kubelet configuration registers.
///
/// A key, effect or flag with a `$` is unread, because a shell or another tool may replace `$X` first. A text that is
/// not YAML is searched and also reported as unread.
pub fn taints(body: &str, yaml: &Yaml) -> ConfiguredTaints {
    let mut found = ConfiguredTaints::default();
    if let Some((span, _)) = yaml.problem() {
        found = search_taints(body);
        found.unread.get_or_insert(span);
        return found;
    }
    let mut is_known = true;
    for root in yaml.roots() {
        if Yaml::is_node_config(root) {
            for path in [&["spec"][..], &["spec", "kubelet"], &["spec", "kubelet", "config"]] {
                if let Some(node) = root.at_path(path).filter(|node| node.as_str().is_some()) {
                    found.unread.get_or_insert(yaml.value(node));
                }
            }
            if let Some(list) = root.at_path(&["spec", "kubelet", "config", FIELD]) {
                list_taints(yaml, list, &mut found);
            }
            if let Some(flags) = root.at_path(&["spec", "kubelet", "flags"]) {
                flag_taints(yaml, flags, &mut found);
            }
        } else if root.str_at(&["kind"]) == Some("KubeletConfiguration") {
            if let Some(list) = root.get(FIELD) {
                list_taints(yaml, list, &mut found);
            }
        } else {
            is_known = false;
        }
    }
    if is_known { found } else { search_taints(body) }
}

fn list_taints(yaml: &Yaml, list: Node<'_>, found: &mut ConfiguredTaints) {
    if !list.is_sequence() && !list.is_null() {
        found.unread.get_or_insert(yaml.key(list));
    }
    for item in list.items() {
        match taint(yaml, item) {
            Some(taint) => found.taints.push(taint),
            None => {
                found.unread.get_or_insert(yaml.key(list));
            }
        }
    }
}

fn taint(yaml: &Yaml, item: Node<'_>) -> Option<SpannedTaint> {
    let field = |name: &str| {
        let node = item.get(name)?;
        let value = node.as_str().filter(|value| !value.contains('$'))?;
        Some(SpannedText { value: value.to_owned(), span: yaml.value(node) })
    };
    let key = field("key")?;
    let effect = match item.get("effect") {
        None => SpannedText { value: String::new(), span: Span::new(key.span.end, key.span.end) },
        Some(_) => field("effect")?,
    };
    let value = field("value");
    Some(SpannedTaint::covering(key, value, effect))
}

fn flag_taints(yaml: &Yaml, flags: Node<'_>, found: &mut ConfiguredTaints) {
    if !flags.is_sequence() && !flags.is_null() {
        found.unread.get_or_insert(yaml.key(flags));
    }
    for item in flags.items() {
        let Some(text) = item.as_str() else { continue };
        let flags = KubeletFlags::parse(&argument(text));
        if flags.may_hide_taints() {
            found.unread.get_or_insert(yaml.value(item));
        }
        let to_text = |span: Span| yaml.shifted(item.span_within(span));
        for taint in flags.taints() {
            if !taint.key.value.contains('$') && !taint.effect.value.contains('$') {
                found.taints.push(taint.moved(&to_text));
            }
        }
    }
}

/// Converts a text to a word, in which `$X` is an expansion.
fn argument(text: &str) -> SourceWord {
    let mut word = SourceWord::starting(Span::whole(text));
    let mut at = 0;
    while at < text.len() {
        let rest = certain(text.get(at..));
        let expands = rest.starts_with('$');
        let ends = |found: char| if expands { " \t\n\"',".contains(found) } else { found == '$' };
        let end = rest.find(ends).filter(|end| *end > 0).map_or(text.len(), |end| at + end);
        word.push(Span::new(at, end).text(text), Span::new(at, end), expands);
        at = end;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r"apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
";

    /// Taints and unread lists, after a check of the spans of the taints.
    fn taints_of(body: &str) -> ConfiguredTaints {
        taints(body, &Yaml::parse(body, &WorkBudget::of_file(body.len(), &Limits::DEFAULT)))
    }

    fn read(body: &str) -> Vec<String> {
        let found = taints_of(body);
        let mut lines: Vec<_> = found
            .taints
            .iter()
            .map(|taint| {
                assert_eq!(taint.key.span.text(body), taint.key.value);
                assert_eq!(taint.effect.span.text(body), taint.effect.value);
                format!("{}:{}", taint.key.value, taint.effect.value)
            })
            .collect();
        lines.extend(found.unread.map(|span| format!("unread {}", span.text(body))));
        lines
    }

    #[test]
    fn reads_lists_and_flags_in_every_yaml_style() {
        for body in [
            "    config:\n      registerWithTaints:\n      - {key: a/b, effect: NoExecute}\n",
            r#"    config:
      registerWithTaints:
      - effect: 'NoExecute'
        key: "a/b"
"#,
            "    config: &c {registerWithTaints: &t [{\"key\": a/b, effect: NoExecute, value: ''}]}\n",
            "    flags: ['--register-with-taints=\"a/b:NoExecute\"']\n",
            "    flags:\n    - --v=2\n    - \"--register-with-taints=a/b=c:NoExecute\"\n",
            "    flags:\n    - >-\n      --v=2\n      --register-with-taints a/b:NoExecute\n",
        ] {
            assert_eq!(read(&format!("{HEAD}{body}")), ["a/b:NoExecute"], "{body}");
            assert_eq!(read(&format!("\u{feff}# one\n---\n{HEAD}{body}")), ["a/b:NoExecute"], "{body}");
        }
        assert_eq!(
            read("kind: KubeletConfiguration\nregisterWithTaints: [{key: a/b, effect: NoSchedule}]"),
            ["a/b:NoSchedule"]
        );
        assert_eq!(read(&format!("{HEAD}    config: {{registerWithTaints: null}}")), [""; 0]);
    }

    #[test]
    fn reports_placeholders_as_unread() {
        for (body, unread) in [
            ("    config: {registerWithTaints: $TAINTS}", "registerWithTaints"),
            ("    config: {registerWithTaints: [{key: \"${K}\", effect: NoExecute}]}", "registerWithTaints"),
            ("    config: $CONFIG", "$CONFIG"),
            ("    flags: [\"--v=2\", \"$FLAGS\"]", "$FLAGS"),
            ("    flags: [\"--register-with-taints=$T\"]", "--register-with-taints=$T"),
        ] {
            assert_eq!(read(&format!("{HEAD}{body}")), [format!("unread {unread}")], "{body}");
        }
        assert_eq!(read(&format!("{HEAD}    flags: [\"--node-labels=a=$B\"]")), [""; 0]);
    }

    #[test]
    fn searches_text_that_is_not_yaml_and_reports_it_as_unread() {
        let found = taints_of(&format!(
            "{HEAD}\tconfig:\n\t\tregisterWithTaints: [{{key: a/b, effect: NoExecute}}]\n"
        ));
        assert_eq!((found.taints.len(), found.unread.is_some()), (1, true));
        assert_eq!(read("registerWithTaints: [{key: a/b, effect: NoExecute}]"), ["a/b:NoExecute"]);
    }
}
