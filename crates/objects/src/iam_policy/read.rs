//! Finds the policy documents of an object and reads them: as mappings, as JSON in a string, with the functions of
//! CloudFormation.

use std::sync::Arc;

use super::{At, Condition, Policy, Statement, Word};
use crate::object::{Form, Object};
use manifest::json;
use manifest::limits::Limits;
use manifest::source::{Source, Span};
use manifest::tree::{Node, Value};

/// Where the objects of the operators that make IAM policies hold them, by API group: paths with `*` for every member
/// or item.
const OPERATORS: [(&str, &[&[&str]]); 5] = [
    ("iam.services.k8s.aws", &[&["spec", "policyDocument"], &["spec", "inlinePolicies", "*"]]),
    (
        "iam.aws.upbound.io",
        &[&["spec", "forProvider", "policy"], &["spec", "forProvider", "inlinePolicy", "*", "policy"]],
    ),
    (
        "iam.aws.m.upbound.io",
        &[&["spec", "forProvider", "policy"], &["spec", "forProvider", "inlinePolicy", "*", "policy"]],
    ),
    ("iam.aws.crossplane.io", &[&["spec", "forProvider", "document"]]),
    ("identity.aws.crossplane.io", &[&["spec", "forProvider", "document"]]),
];

/// Whether an object is of a kind that holds policies.
pub fn holds(object: Object<'_>) -> bool {
    match object.form() {
        Form::IamPolicy | Form::StackResource => true,
        Form::ChartValues => false,
        Form::Api => OPERATORS.iter().any(|(group, _)| *group == object.group()),
    }
}

/// The policy documents of an object, those that can be read.
pub fn policies(object: Object<'_>) -> Vec<Policy<'_>> {
    let mut documents = Vec::new();
    match object.form() {
        Form::IamPolicy => documents.push(object.root()),
        Form::StackResource => {
            select(object.root(), &["Properties", "PolicyDocument"], &mut documents);
            select(object.root(), &["Properties", "Policies", "*", "PolicyDocument"], &mut documents);
        }
        Form::ChartValues => {}
        Form::Api => {
            let places = OPERATORS.iter().filter(|(group, _)| *group == object.group());
            for path in places.flat_map(|(_, paths)| *paths) {
                select(object.root(), path, &mut documents);
            }
        }
    }
    documents.into_iter().filter_map(|document| policy(object, document)).collect()
}

fn select<'d>(node: Node<'d>, path: &[&str], found: &mut Vec<Node<'d>>) {
    match path.split_first() {
        None => found.push(node),
        Some((&"*", rest)) => node.children().for_each(|child| select(child, rest, found)),
        Some((key, rest)) => {
            if let Some(child) = node.get(key) {
                select(child, rest, found);
            }
        }
    }
}

fn policy<'d>(object: Object<'d>, document: Node<'d>) -> Option<Policy<'d>> {
    let document = match document.get("Fn::Sub") {
        Some(text) if text.is_sequence() => text.items().next()?,
        Some(text) => text,
        None => document,
    };
    if let Some(text) = document.as_str() {
        let source = Arc::new(Source::new("", text));
        let whole = Span::new(0, text.len());
        let (tree, _) = json::read(&source, whole, &Limits::DEFAULT).ok()??;
        let within =
            |node: Node<'_>, key: bool| At::Within(document, if key { node.key_span() } else { node.span() });
        return Some(Policy { object, statements: statements(tree.root(), &within)? });
    }
    let at = |node: Node<'d>, key: bool| if key { At::Key(node) } else { At::Value(node) };
    Some(Policy { object, statements: statements(document, &at)? })
}

/// Gives the place of a node of the policy, or of its key.
type Locate<'l, 't, 'd> = &'l dyn Fn(Node<'t>, bool) -> At<'d>;

fn statements<'t, 'd>(document: Node<'t>, at: Locate<'_, 't, 'd>) -> Option<Vec<Statement<'d>>> {
    let statement = document.get("Statement")?;
    if statement.is_mapping() {
        return Some(vec![read(statement, at)]);
    }
    Some(statement.items().filter(|item| item.is_mapping()).map(|item| read(item, at)).collect())
}

fn read<'t, 'd>(statement: Node<'t>, at: Locate<'_, 't, 'd>) -> Statement<'d> {
    let list = |key, not| {
        let (node, excludes) = match statement.get(key) {
            Some(node) => (Some(node), false),
            None => (statement.get(not), true),
        };
        let words = node.map(|node| words(node, at)).unwrap_or_default();
        (words, excludes && node.is_some())
    };
    let ((actions, not_actions), (resources, not_resources)) =
        (list("Action", "NotAction"), list("Resource", "NotResource"));
    let operators = statement.members_at(&["Condition"]);
    let conditions = operators.flat_map(|(operator, keys)| {
        keys.members().map(move |(key, values)| Condition {
            operator: operator.to_owned(),
            key: Word { text: key.to_owned(), at: at(values, true) },
            values: words(values, at),
        })
    });
    Statement {
        allows: statement.str_at(&["Effect"]) == Some("Allow"),
        actions,
        resources,
        not_actions,
        not_resources,
        conditions: conditions.collect(),
    }
}

/// A text, or each text of a list.
fn words<'t, 'd>(node: Node<'t>, at: Locate<'_, 't, 'd>) -> Vec<Word<'d>> {
    let one = |node: Node<'t>| Word { text: text(node), at: at(node, false) };
    if node.is_sequence() { node.items().map(one).collect() } else { vec![one(node)] }
}

/// The text of a value; what CloudFormation fills in stands in `${}`.
fn text(node: Node<'_>) -> String {
    match node.value() {
        Value::String(text) if has_function_tag(node) => format!("${{{text}}}"),
        Value::String(text) => text.to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Null => String::new(),
        Value::Sequence | Value::Mapping => {
            let sub = node.get("Fn::Sub");
            let sub = sub.and_then(|sub| sub.as_str().or_else(|| sub.items().next()?.as_str()));
            sub.map_or_else(|| "${}".to_owned(), str::to_owned)
        }
    }
}

/// Whether a string is the argument of a short function other than `!Sub`, such as `!Ref ClusterName`.
fn has_function_tag(node: Node<'_>) -> bool {
    let before = node.tree().source().text().get(..node.span().start).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default().trim_end();
    let word = line.rsplit([' ', '[', '{', ',', '-']).next().unwrap_or_default();
    let own = node.spelling();
    let tag = if own.starts_with('!') { own } else { word };
    tag.starts_with('!') && !tag.starts_with("!Sub")
}
