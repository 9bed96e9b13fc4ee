//! Tests for every fix: whatever the spelling of a document is, a fix changes what it is meant to change and nothing else.

mod spelling;

use std::collections::BTreeSet;

use answers::report::{ReportedFinding, ReportedFix};
use manifest::edit::{TextEdit, apply};
use manifest::source::{Source, Span};
use manifest::tree::Node;
use manifest::{Document, File};
use objects::embedded::READ_OPTIONS;
use rule::{Fixes, Rule};
use serde_json::Value as Json;

use self::spelling::{Layout, PathStep, STYLES, ScalarStyle, spelled};
use super::meta::{blocks, report};
use super::{REGISTRY, documentation};

/// Documents with a fix, for the rules whose example has none.
const CASES: &[(&str, &str)] = &[
    (
        "api-unknown-field",
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {weigth: 5, template: {spec: {requirements: []}}}\n",
    ),
    (
        "removed-api-version",
        "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: a}\nspec:\n  template:\n    spec:\n      \
         nodeClassRef: {name: default}\n      requirements: []\n  disruption: {expireAfter: 24h}\n",
    ),
    (
        "userdata-family-mismatch",
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec:\n  amiFamily: Windows2022\n  \
         userData: |\n    <powershell>\n    Write-Host x\n\n    Write-Host y\n    </powershell>\n",
    ),
    (
        "userdata-script-header",
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec:\n  amiFamily: AL2\n  \
         userData: |\n\n    #!/bin/bash\n    echo hi\n",
    ),
    (
        "userdata-script-header",
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec:\n  amiFamily: AL2023\n  \
         userData: |\n    MIME-Version: 1.0\n    Content-Type: multipart/mixed; boundary=\"B\"\n\n    --B\n    \
         Content-Type: text/x-shellscript\n\n\n    #!/bin/bash\n    echo hi\n    --B--\n",
    ),
    (
        "undecodable-value",
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec:\n  \
         kubelet: {evictionSoftGracePeriod: {memory.available: 1d}}\n",
    ),
    (
        "pod-restricted-label",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  nodeSelector: {karpenter.k8s.aws/capacity-type: spot}\n  \
         containers: [{name: a, image: b}]\n",
    ),
];

/// A document with fixes of a rule, and the settings of its check.
struct Case {
    rule: &'static Rule,
    words: String,
    documents: Vec<Json>,
}

impl Case {
    fn findings(&self, text: &str) -> Vec<ReportedFinding> {
        report(self.rule, text, &self.words).findings
    }

    /// The case as it is usually spelled.
    fn usual(&self) -> String {
        let nowhere = (usize::MAX, Vec::new());
        spelled(&self.documents, &nowhere, ScalarStyle::Plain, Layout::default()).unwrap()
    }
}

fn documents(text: &str) -> Option<Vec<Json>> {
    let file = File::read("-", text, READ_OPTIONS);
    let values = file.documents.iter().map(|document| match document {
        Document::Read(tree) => Some(tree.root().to_json()),
        _ => None,
    });
    values.collect()
}

/// The cases of all rules with a fix.
fn cases() -> Vec<Case> {
    let (mut cases, mut without) = (Vec::new(), Vec::new());
    for rule in REGISTRY.rules().filter(|rule| rule.fix != Fixes::None) {
        let mut texts = blocks(&documentation(rule), "Example");
        let own = CASES.iter().filter(|(name, _)| *name == rule.name);
        texts.extend(own.map(|(_, text)| ("yaml".to_owned(), (*text).to_owned())));
        let before = cases.len();
        for (words, text) in texts {
            let case = Case { rule, words, documents: documents(&text).unwrap() };
            if case.findings(&case.usual()).iter().any(|finding| finding.fix.is_some()) {
                cases.push(case);
            }
        }
        if cases.len() == before {
            without.push(rule.name);
        }
    }
    assert_eq!(without, [""; 0], "add documents with a fix to `CASES`");
    cases
}

fn fixed(text: &str, fix: &ReportedFix) -> String {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let source = Source::new("-", body);
    let edits = fix.edits.iter().map(|edit| TextEdit {
        span: Span::new(source.byte_at(edit.offset), source.byte_at(edit.end_offset)),
        text: edit.text.clone(),
    });
    apply(body, &edits.collect::<Vec<_>>())
}

/// Mark of a list whose length differs, or of a removed object.
const SHORTER: &str = "[]";

/// The paths at which two documents differ.
fn differing(before: &Json, after: &Json, path: &str, found: &mut BTreeSet<String>) {
    match (before, after) {
        (Json::Object(one), Json::Object(other)) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for key in keys {
                let (one, other) =
                    (one.get(key).unwrap_or(&Json::Null), other.get(key).unwrap_or(&Json::Null));
                differing(one, other, &format!("{path}.{key}"), found);
            }
        }
        (Json::Array(one), Json::Array(other)) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                differing(one, other, &format!("{path}[{index}]"), found);
            }
        }
        _ if before == after => {}
        (Json::Array(_), Json::Array(_)) | (Json::Object(_), Json::Null) => {
            found.insert(format!("{path}{SHORTER}"));
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

/// The paths that each fix of a text changes. Asserts that every fix works.
fn changed_by_fixes(case: &Case, text: &str) -> Vec<BTreeSet<String>> {
    let name = case.rule.name;
    let before = documents(text).unwrap_or_else(|| panic!("{name}: the test spells this wrongly:\n{text}"));
    let findings = case.findings(text);
    let mut all = Vec::new();
    for fix in findings.iter().filter_map(|finding| finding.fix.as_ref()) {
        let after_text = fixed(text, fix);
        let context = || format!("{name}:\n{text}\nbecomes\n{after_text}");
        let after = documents(&after_text).unwrap_or_else(|| panic!("no longer parses: {}", context()));
        assert_eq!(before.len(), after.len(), "{}", context());
        let mut found = BTreeSet::new();
        for (index, (before, after)) in before.iter().zip(&after).enumerate() {
            differing(before, after, &index.to_string(), &mut found);
        }
        assert!(case.findings(&after_text).len() < findings.len(), "not fixed: {}", context());
        let comments = |text: &str| ["# above", "# below"].map(|comment| text.matches(comment).count());
        // A removed item or object takes its comments along.
        if !found.iter().any(|path| path.ends_with(SHORTER)) {
            assert_eq!(comments(text), comments(&after_text), "{}", context());
        }
        let returns = |text: &str| text.matches('\n').count() == text.matches("\r\n").count();
        assert_eq!(returns(text), returns(&after_text), "mixes line endings: {}", context());
        all.push(found);
    }
    all
}

/// The scalars that the fixes of a text touch, by document and path.
fn touched(case: &Case, text: &str) -> BTreeSet<(usize, Vec<PathStep>)> {
    let file = File::read("-", text, READ_OPTIONS);
    let source = &file.source;
    let span = |start, end| Span::new(source.byte_at(start), source.byte_at(end));
    let mut spans = Vec::new();
    for finding in case.findings(text).iter().filter(|finding| finding.fix.is_some()) {
        spans.extend(
            finding.fix.iter().flat_map(|fix| &fix.edits).map(|edit| span(edit.offset, edit.end_offset)),
        );
        spans.extend(
            finding.position.offset.zip(finding.position.end_offset).map(|(from, to)| span(from, to)),
        );
    }
    let mut found = BTreeSet::new();
    for (index, document) in file.documents.iter().enumerate() {
        let Document::Read(tree) = document else { continue };
        scalars(tree.root(), &mut Vec::new(), &mut |node, path| {
            let own = [node.span(), node.key_span()];
            if own.iter().any(|own| spans.iter().any(|span| own.start < span.end && span.start < own.end)) {
                found.insert((index, path.to_vec()));
            }
        });
    }
    found
}

fn scalars(node: Node<'_>, path: &mut Vec<PathStep>, visit: &mut impl FnMut(Node<'_>, &[PathStep])) {
    if !node.is_mapping() && !node.is_sequence() {
        return visit(node, path);
    }
    for child in node.children() {
        let is_item = node.is_sequence();
        path.push(if is_item {
            PathStep::Item(child.index())
        } else {
            PathStep::Key(child.key().to_owned())
        });
        scalars(child, path, visit);
        path.pop();
    }
}

fn layouts() -> Vec<Layout> {
    let usual = Layout::default();
    vec![
        usual,
        Layout { is_wide: true, has_carriage_returns: true, ..usual },
        Layout { has_comments: true, has_byte_order_mark: true, ..usual },
        Layout { has_comments: true, has_carriage_returns: true, has_anchor: true, ..usual },
        Layout { is_wide: true, has_anchor: true, is_among_others: true, ..usual },
        Layout { is_flow: true, ..usual },
        Layout { is_flow: true, has_anchor: true, has_byte_order_mark: true, ..usual },
    ]
}

#[test]
fn every_fix_changes_only_what_it_declares_in_every_spelling() {
    let mut offered = BTreeSet::new();
    for case in cases() {
        let usual = case.usual();
        let expected = changed_by_fixes(&case, &usual);
        for chosen in touched(&case, &usual) {
            for (style, layout) in
                STYLES.iter().flat_map(|style| layouts().into_iter().map(move |layout| (*style, layout)))
            {
                let Some(text) = spelled(&case.documents, &chosen, style, layout) else { continue };
                for changed in changed_by_fixes(&case, &text) {
                    let moved = |paths: &BTreeSet<String>| -> BTreeSet<String> {
                        paths.iter().map(|path| shifted(path, usize::from(layout.is_among_others))).collect()
                    };
                    assert!(
                        // Another value at the place can need a smaller change.
                        expected.iter().any(|paths| changed.is_subset(&moved(paths))),
                        "{}: changes {changed:?}, not one of {expected:?}:\n{text}",
                        case.rule.name
                    );
                    offered.insert(case.rule.name);
                }
            }
        }
    }
    let rules: BTreeSet<&str> = cases().iter().map(|case| case.rule.name).collect();
    assert_eq!(offered, rules, "a rule offers no fix in any spelling");
}

/// The path in a text with more documents before the document.
fn shifted(path: &str, documents: usize) -> String {
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let (number, rest) = path.split_at(end);
    format!("{}{rest}", number.parse::<usize>().unwrap() + documents)
}

#[test]
fn every_fix_changes_only_what_it_declares_in_json() {
    for case in cases() {
        let expected = changed_by_fixes(&case, &case.usual());
        let compact = case.documents.iter().map(Json::to_string).collect::<Vec<_>>().join("\n");
        let pretty = case.documents.iter().map(|document| format!("{document:#}\n"));
        let pretty = pretty.collect::<Vec<_>>().concat();
        for text in [compact, pretty.replace('\n', "\r\n"), pretty] {
            for changed in changed_by_fixes(&case, &text) {
                assert!(
                    expected.iter().any(|paths| changed.is_subset(paths)),
                    "{}: changes {changed:?}:\n{text}",
                    case.rule.name
                );
            }
        }
    }
}
