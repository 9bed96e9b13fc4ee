//! Findings that an author accepts: an annotation of the object, or a comment on or above the line.
//!
//! Suppressions are checked too: a suppression that names an unknown rule, gives no reason or suppresses nothing is a finding.

use std::collections::{BTreeMap, BTreeSet};

use manifest::source::Span;
use manifest::tree::{Comment, Node};
use objects::location::Place;
use objects::object::{Object, Operation};
use values::placeholder::has_placeholder;

use crate::context::Context;
use crate::finding::Finding;
use crate::registry::{Registry, SuppressionRules};
use crate::rule::Rule;
use crate::settings::Selector;

/// The annotation that accepts findings of an object: `rule[, rule] -- reason`.
pub const ANNOTATION: &str = "karpwarden/ignore";

/// The suppressions of one object.
#[derive(Debug)]
pub(crate) struct Suppressions<'d> {
    all: Vec<Suppression<'d>>,
    /// The scopes, each with whether it suppressed a finding.
    used: BTreeMap<SuppressionScope, bool>,
}

/// The number of a text, and a line in it.
type Line = (u16, usize);

/// The scope of a name in a suppression: the line, or `None` for the whole object, and the rule or family.
type SuppressionScope = (Option<Line>, &'static str);

/// One annotation or comment.
#[derive(Debug)]
struct Suppression<'d> {
    names: Vec<SuppressedName<'d>>,
    /// The line whose findings it covers; an annotation covers the whole object.
    line: Option<Line>,
    place: Place<'d>,
    has_reason: bool,
}

/// The name of a rule or family in a suppression.
#[derive(Debug)]
struct SuppressedName<'d> {
    place: Place<'d>,
    selector: Result<Selector, String>,
}

impl<'d> Suppressions<'d> {
    /// Returns the suppressions that count for the object. In admission, the author's annotation counts only if the settings
    /// allow it.
    pub(crate) fn of(object: Object<'d>, registry: &Registry, context: &Context<'_, 'd>) -> Self {
        let counts = object.operation() == Operation::Apply || context.settings.allow_ignore_annotation;
        let annotated = object.annotation(ANNOTATION).filter(|_| counts || context.is_text);
        let annotated = annotated.and_then(|node| annotation(node, registry));
        let mut all: Vec<_> = comments(object, registry);
        all.extend(annotated);
        // The findings about suppressions are in document order.
        all.reverse();
        let scopes = all.iter().flat_map(|one| one.names.iter().filter_map(|name| one.scope(name)));
        let used = scopes.map(|scope| (scope, false)).collect();
        Self { all, used }
    }

    /// Whether a suppression names a rule, or its family.
    pub(crate) fn mention(&self, rule: &Rule) -> bool {
        self.used.keys().any(|(_, name)| *name == rule.name || *name == rule.family.name())
    }

    /// Whether a suppression covers a finding; if so, the suppression is used.
    pub(crate) fn apply_to(&mut self, finding: &Finding<'d>) -> bool {
        if self.used.is_empty() {
            return false;
        }
        let mut accepted = false;
        for line in self.lines(finding) {
            for name in [finding.rule.name, finding.rule.family.name()] {
                if let Some(used) = self.used.get_mut(&(line, name)) {
                    *used = true;
                    accepted = true;
                }
            }
        }
        accepted
    }

    /// The lines that a finding marks in the document of the object, and `None` for the whole object. Without a suppression of a
    /// line there are no lines: to find the line of a finding within a string takes time in proportion to the string.
    fn lines(&self, finding: &Finding<'d>) -> BTreeSet<Option<Line>> {
        let mut lines = BTreeSet::from([None]);
        let Some(of_line) = self.all.iter().find(|one| one.line.is_some()) else { return lines };
        let tree = of_line.place.node().tree();
        let places = core::iter::once(&finding.place).chain(finding.related.iter().map(|(place, _)| place));
        let places = places.filter(|place| core::ptr::eq(place.node().tree(), tree));
        lines.extend(places.map(|place| Some(line_of(place))));
        lines
    }

    /// Returns the findings about the suppressions. The caller passes all other findings to [`Self::apply_to`] first.
    pub(crate) fn findings(&self, rules: SuppressionRules) -> Vec<Finding<'d>> {
        let mut findings = Vec::new();
        for suppression in &self.all {
            // Another overlay may need a suppression that this version of the object does not.
            let is_assembled = suppression.place.node().tree().is_assembled();
            for name in &suppression.names {
                let is_unused = !is_assembled
                    && suppression.scope(name).is_some_and(|scope| self.used.get(&scope) == Some(&false));
                match &name.selector {
                    Err(message) => findings.push(
                        Finding::new(rules.unknown_rule, name.place.clone(), message.clone())
                            .help("name a rule or family; `karpwarden rules` lists them"),
                    ),
                    Ok(selector) if is_unused => {
                        let message = format!("`{}` has no finding here to suppress", selector.name());
                        let help = "remove it, so that it does not hide a later finding";
                        findings.push(Finding::new(rules.unused, name.place.clone(), message).help(help));
                    }
                    Ok(_) => {}
                }
            }
            findings.extend(suppression.missing_reason(rules));
        }
        findings
    }
}

impl<'d> Suppression<'d> {
    fn scope(&self, name: &SuppressedName<'d>) -> Option<SuppressionScope> {
        Some((self.line, name.selector.as_ref().ok()?.name()))
    }

    fn missing_reason(&self, rules: SuppressionRules) -> Option<Finding<'d>> {
        if self.has_reason {
            return None;
        }
        let place = if self.line.is_some() { "after `]`" } else { "after ` -- `" };
        let finding =
            Finding::new(rules.without_reason, self.place.clone(), "this suppression gives no reason");
        Some(finding.help(format!("write the reason {place}")))
    }
}

fn line_of(place: &Place<'_>) -> Line {
    (place.source_number(), place.source().position(place.span().start).line)
}

/// `rule[, rule] -- reason`
fn annotation<'d>(node: Node<'d>, registry: &Registry) -> Option<Suppression<'d>> {
    let text = node.as_str()?;
    let (list, reason) = text.split_once("--").unwrap_or((text, ""));
    if has_placeholder(list) {
        return None;
    }
    let names = names(list, registry, |range| Place::within(node, range));
    Some(Suppression { names, line: None, place: Place::value(node), has_reason: !reason.trim().is_empty() })
}

/// The comments of an object, last one first.
fn comments<'d>(object: Object<'d>, registry: &Registry) -> Vec<Suppression<'d>> {
    let tree = object.root().tree();
    let mut following: Option<(u16, (usize, usize))> = None;
    let read = |one: &Comment| {
        let below = following.filter(|(source, _)| *source == one.source).map(|(_, lines)| lines);
        let read = comment(object.root(), *one, registry, below);
        let line = tree.numbered_source(one.source).position(one.span.start).line;
        following = read.line.map(|(source, covered)| (source, (line, covered)));
        read
    };
    let is_ours = |one: &&Comment| is_suppression(tree.numbered_source(one.source).slice(one.span));
    object.comments().iter().filter(is_ours).rev().map(read).collect()
}

/// Whether a comment addresses this tool.
fn is_suppression(comment: &str) -> bool {
    comment.strip_prefix('#').unwrap_or_default().trim_start().starts_with("karpwarden:")
}

/// `# karpwarden: ignore[rule, rule] reason`. `following` is the line of the next such comment, and the line that it covers.
fn comment<'d>(
    root: Node<'d>,
    comment: Comment,
    registry: &Registry,
    following: Option<(usize, usize)>,
) -> Suppression<'d> {
    let span = comment.span;
    let source = root.tree().numbered_source(comment.source);
    let text = source.slice(span);
    let whole = Place::comment(root, comment);
    let at = |range: Span| Place::comment(root, Comment { span: range.shifted(span.start), ..comment });
    let line = source.position(span.start).line;
    let before = source.text().get(..span.start).unwrap_or_default();
    let is_alone = before.rsplit('\n').next().is_some_and(|lead| lead.trim().is_empty());
    let rest = source.text().get(span.end..).unwrap_or_default();
    let covered = if is_alone { next_code(rest, line, following) } else { line };
    let line = Some((comment.source, covered));
    let list = text.find("ignore[").map(|at| at + "ignore[".len());
    let end = list.and_then(|start| text.get(start..)?.find(']').map(|len| start + len));
    let (Some(start), Some(end)) = (list, end) else {
        let message =
            "this comment is not a suppression; write `# karpwarden: ignore[rule] reason`".to_owned();
        let names = vec![SuppressedName { place: at(Span::new(0, text.len())), selector: Err(message) }];
        return Suppression { names, line, place: whole, has_reason: true };
    };
    let list = text.get(start..end).unwrap_or_default();
    let names = names(list, registry, |range| at(Span::new(start + range.start, start + range.end)));
    let has_reason = text.get(end + 1..).is_some_and(|reason| !reason.trim().is_empty());
    Suppression { names, line, place: whole, has_reason }
}

/// The line of the code below a comment: the next line that is neither empty nor a comment. A stack of comments is read once,
/// because a comment above another one covers the same line.
fn next_code(rest: &str, line: usize, following: Option<(usize, usize)>) -> usize {
    let is_skipped = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let mut next = line + 1;
    for text in rest.split('\n').skip(1) {
        match following {
            Some((at, covered)) if at == next => return covered,
            _ if !is_skipped(text) => break,
            _ => next += 1,
        }
    }
    next
}

/// The names in a list separated by commas, each with its place in the list.
fn names<'d>(list: &str, registry: &Registry, place: impl Fn(Span) -> Place<'d>) -> Vec<SuppressedName<'d>> {
    let mut names = Vec::new();
    let mut start = 0;
    for part in list.split(',') {
        let name = part.trim();
        let at = start + part.len() - part.trim_start().len();
        let place = place(Span::new(at, at + name.len()));
        names.push(SuppressedName { place, selector: Selector::parse(name, registry) });
        start += part.len() + 1;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Cluster, RequestCluster, check, check_request};
    use crate::settings::{RuleLevel, Settings};
    use crate::testing::{ARN, REGISTRY, tree};
    use manifest::File;
    use manifest::limits::Limits;

    const CLASS: &str = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\n";
    const PROFILE: &str = "  instanceProfile: arn:aws:iam::111122223333:instance-profile/b\n";

    /// The marked text of each finding, and the number of suppressed findings.
    fn checked(files: &[(&str, &str)], settings: &Settings) -> (Vec<String>, usize) {
        let read = files.iter().map(|(name, text)| File::read(*name, *text, &Limits::DEFAULT));
        let clusters = [Cluster { name: String::new(), files: read.collect() }];
        let report = check(&REGISTRY, &clusters, settings);
        let marked = report.findings.iter().map(|finding| {
            let (_, text) = files.iter().find(|(name, _)| *name == finding.file).unwrap();
            let range = finding.position.offset.unwrap()..finding.position.end_offset.unwrap();
            text.get(range).unwrap().to_owned()
        });
        (marked.collect(), report.summary.suppressed)
    }

    /// The same for an EC2NodeClass with an ARN below some lines.
    fn above(lines: &str, settings: &Settings) -> (Vec<String>, usize) {
        checked(&[("a.yaml", &format!("{CLASS}{lines}{PROFILE}"))], settings)
    }

    #[test]
    fn marks_each_unknown_name_of_a_list() {
        for list in [
            "# karpwarden: ignore[no-such,  other-one , nodeclass] known\nspec:\n",
            "metadata: {annotations: {karpwarden/ignore: 'no-such,  other-one , nodeclass -- known'}}\nspec:\n",
        ] {
            let (marked, _) = above(list, &Settings::default());
            assert_eq!(marked[..2], ["no-such", "other-one"], "{list}");
        }
    }

    #[test]
    fn comments_with_code_between_them_cover_their_own_lines() {
        let text = format!(
            "{CLASS}spec:\n  # karpwarden: ignore[nodeclass] known\n{PROFILE}  # karpwarden: ignore[labels] moved\n  role: a\n"
        );
        assert_eq!(checked(&[("a.yaml", &text)], &Settings::default()), (vec!["labels".to_owned()], 1));
    }

    #[test]
    fn comment_above_another_comment_covers_the_code_below_both() {
        let covering = "spec:\n  # karpwarden: ignore[nodeclass] known\n";
        let (other, malformed) =
            ("# karpwarden: ignore[instance-profile-is-arn] known", "# karpwarden: see above");
        let checked = |below: &str| above(&format!("{covering}  {below}\n"), &Settings::default());
        assert_eq!(checked(other), (Vec::new(), 1));
        assert_eq!(checked(malformed), (vec![malformed.to_owned()], 1));
    }

    #[test]
    fn comment_in_a_base_covers_its_own_text_whatever_the_comments_of_a_patch_cover() {
        let base = format!(
            "{CLASS}metadata: {{name: a}}\nspec:\n  # karpwarden: ignore[nodeclass] known\n{PROFILE}  role: a\n"
        );
        let patch = format!(
            "{CLASS}metadata: {{name: a}}\nspec:\n  tags:\n    # karpwarden: ignore[nodeclass] known\n    a: b\n"
        );
        let files = [
            ("base/kustomization.yaml", "resources: [class.yaml]\n"),
            ("base/class.yaml", &base),
            ("prod/kustomization.yaml", "resources: [../base]\npatches: [{path: patch.yaml}]\n"),
            ("prod/patch.yaml", &patch),
        ];
        assert_eq!(checked(&files, &Settings::default()), (Vec::new(), 1));
    }

    #[test]
    fn suppression_of_a_rule_that_is_off_still_counts_as_used() {
        let levels = vec![(Selector::One(ARN.name, ARN.family), RuleLevel::Off)];
        let settings = Settings { levels, ..Settings::default() };
        for name in ["instance-profile-is-arn", "nodeclass"] {
            let comment = format!("spec:\n  # karpwarden: ignore[{name}] known\n");
            assert_eq!(above(&comment, &settings), (Vec::new(), 0), "{name}");
        }
    }

    #[test]
    fn rule_that_is_off_does_not_run_without_a_suppression_of_it() {
        static NEVER: Rule =
            Rule { name: "never", check: |_, _, _| panic!("the rule runs"), ..Rule::DEFAULTS };
        let tree = tree(CLASS);
        let object = Object::in_request(tree.root(), None, Operation::Create);
        let cluster = RequestCluster { objects: vec![object], ..RequestCluster::default() };
        let levels = vec![(Selector::One(NEVER.name, NEVER.family), RuleLevel::Off)];
        let settings = Settings { levels, ..Settings::default() };
        assert!(check_request(&REGISTRY, &[&NEVER], object, &cluster, &settings).is_empty());
    }

    #[test]
    fn annotation_counts_in_a_request_only_if_the_settings_allow_it() {
        let text = format!(
            "{CLASS}metadata: {{annotations: {{karpwarden/ignore: nodeclass -- known}}}}\nspec:\n{PROFILE}"
        );
        let tree = tree(&text);
        let object = Object::in_request(tree.root(), None, Operation::Create);
        let cluster = RequestCluster { objects: vec![object], ..RequestCluster::default() };
        for (is_allowed, findings) in [(false, 1), (true, 0)] {
            let settings = Settings { allow_ignore_annotation: is_allowed, ..Settings::default() };
            let found = check_request(&REGISTRY, &[&ARN], object, &cluster, &settings);
            assert_eq!(found.len(), findings, "{is_allowed}");
        }
        let review = format!(
            "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest:\n  operation: CREATE\n  object:\n    {}",
            text.trim_end().replace('\n', "\n    ")
        );
        assert_eq!(checked(&[("review.yaml", &review)], &Settings::default()), (Vec::new(), 1));
    }
}
