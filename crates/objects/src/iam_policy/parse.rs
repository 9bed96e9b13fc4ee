//! Parser of the policy documents in an object: mappings, JSON in a string, and the functions of CloudFormation.

use std::sync::Arc;

use manifest::json;
use manifest::limits::Limits;
use manifest::source::{Source, Span};
use manifest::tree::{Node, Value};

use super::condition::{IamCondition, IamOperator};
use super::policy::{IamPolicy, IamPrincipal, IamStatement};
use super::policy_text::{PolicyLocation, PolicyText};
use crate::object::{Form, Object};
use crate::terraform_module::{KarpenterModule, STATEMENTS};

/// Paths of the policy documents in the objects of operators that create IAM policies, by API group. `*` matches every
/// member or item.
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

/// Whether the kind of an object holds policies.
pub fn holds(object: Object<'_>) -> bool {
    match object.form() {
        Form::IamPolicy | Form::StackResource | Form::Module => true,
        Form::ChartValues | Form::Release | Form::LocalValues | Form::MetricQueries | Form::Untyped => false,
        Form::Api => OPERATORS.iter().any(|(group, _)| *group == object.group()),
    }
}

/// Returns the policy documents of an object that parse.
pub(super) fn policies(object: Object<'_>) -> Vec<IamPolicy<'_>> {
    let mut documents = Vec::new();
    match object.form() {
        Form::IamPolicy => documents.push(object.root()),
        Form::StackResource => {
            select(object.root(), &["Properties", "PolicyDocument"], &mut documents);
            select(object.root(), &["Properties", "Policies", "*", "PolicyDocument"], &mut documents);
        }
        // The policy of the module is not visible.
        Form::Module => {
            if KarpenterModule::of(object).is_none() {
                return Vec::new();
            }
            let mut statements = vec![unknown_statement(object.root(), &value_or_key)];
            let added = object.root().get(STATEMENTS).and_then(statements_of);
            statements.extend(added.unwrap_or_default());
            let names = vec![CONTROLLER.to_owned()];
            return vec![IamPolicy { object, names, roles: Vec::new(), statements }];
        }
        Form::ChartValues | Form::Release | Form::LocalValues | Form::MetricQueries | Form::Untyped => {}
        Form::Api => {
            let places = OPERATORS.iter().filter(|(group, _)| *group == object.group());
            for path in places.flat_map(|(_, paths)| *paths) {
                select(object.root(), path, &mut documents);
            }
        }
    }
    documents.into_iter().filter_map(|document| parse_policy(object, document)).collect()
}

/// Name of the policies that modules create.
const CONTROLLER: &str = "karpenter-controller";

/// Fields with the name of a policy in AWS.
const NAMES: [&[&str]; 4] = [
    &["Properties", "PolicyName"],
    &["Properties", "ManagedPolicyName"],
    &["spec", "name"],
    &["spec", "forProvider", "name"],
];

/// Fields with the roles that a policy is attached to.
const ROLES: [&[&str]; 5] = [
    &["Properties", "Roles", "*"],
    &["Properties", "RoleName"],
    &["spec", "forProvider", "role"],
    &["spec", "forProvider", "roleRef", "name"],
    &["spec", "forProvider", "roleName"],
];

/// The names of a policy: of its object, of itself within the object, and of its file if it is a document alone.
fn names(object: Object<'_>, document: Node<'_>) -> Vec<String> {
    if object.form() == Form::IamPolicy {
        let file = object.root().tree().source().name();
        return vec![file.rsplit_once(['/', '\\']).map_or(file, |(_, name)| name).to_owned()];
    }
    let mut names = texts(object.root(), &NAMES);
    names.push(object.name().to_owned());
    // An inline policy of a role has its name beside the document.
    let beside = document.parent().and_then(|parent| parent.get("PolicyName"));
    names.extend(beside.map(text));
    names
}

/// The roles that an object attaches its policies to. A role attaches its inline policies to itself.
fn roles(object: Object<'_>) -> Vec<String> {
    if is_role(object) {
        return vec![object.name().to_owned()];
    }
    texts(object.root(), &ROLES)
}

/// Whether an object is a role.
pub(super) fn is_role(object: Object<'_>) -> bool {
    match object.form() {
        Form::StackResource => object.root().str_at(&["Type"]) == Some("AWS::IAM::Role"),
        Form::Api => object.kind() == "Role" && holds(object),
        Form::IamPolicy
        | Form::ChartValues
        | Form::Module
        | Form::Release
        | Form::LocalValues
        | Form::MetricQueries
        | Form::Untyped => false,
    }
}

/// The texts at several paths.
pub(super) fn texts(root: Node<'_>, paths: &[&[&str]]) -> Vec<String> {
    let mut nodes = Vec::new();
    for path in paths {
        select(root, path, &mut nodes);
    }
    nodes.into_iter().map(text).collect()
}

pub(super) fn select<'d>(node: Node<'d>, path: &[&str], found: &mut Vec<Node<'d>>) {
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

fn parse_policy<'d>(object: Object<'d>, document: Node<'d>) -> Option<IamPolicy<'d>> {
    let statements = statements_of(document)?;
    Some(IamPolicy { object, names: names(object, document), roles: roles(object), statements })
}

/// Returns the statements of a policy document: a mapping, or JSON in a string.
pub(super) fn statements_of(document: Node<'_>) -> Option<Vec<IamStatement<'_>>> {
    let document = match document.get("Fn::Sub") {
        Some(text) if text.is_sequence() => text.items().next()?,
        Some(text) => text,
        None => document,
    };
    if let Some(text) = document.as_str() {
        let source = Arc::new(Source::new("", text));
        let whole = Span::new(0, text.len());
        let (tree, _) = json::read(&source, whole, &Limits::DEFAULT).ok()??;
        let within = |node: Node<'_>, key: bool| {
            PolicyLocation::Within(document, if key { node.key_span() } else { node.span() })
        };
        return statements(tree.root(), &within);
    }
    statements(document, &value_or_key)
}

/// The place of a node or of its key, in a document that is not a string.
fn value_or_key(node: Node<'_>, key: bool) -> PolicyLocation<'_> {
    if key { PolicyLocation::Key(node) } else { PolicyLocation::Value(node) }
}

/// Function that locates a node of the policy, or its key.
type Locate<'l, 't, 'd> = &'l dyn Fn(Node<'t>, bool) -> PolicyLocation<'d>;

fn statements<'t, 'd>(document: Node<'t>, at: Locate<'_, 't, 'd>) -> Option<Vec<IamStatement<'d>>> {
    let statement = document.get("Statement")?;
    let all: Vec<Node<'t>> =
        if statement.is_sequence() { statement.items().collect() } else { vec![statement] };
    let read = |node: Node<'t>| match node.as_str() {
        Some(_) => Some(unknown_statement(node, at)),
        None => node.is_mapping().then(|| parse_statement(node, at)),
    };
    Some(all.into_iter().filter_map(read).collect())
}

/// The statement of a placeholder, which may allow anything.
fn unknown_statement<'t, 'd>(placeholder: Node<'t>, at: Locate<'_, 't, 'd>) -> IamStatement<'d> {
    let word = || words(placeholder, at);
    IamStatement {
        sid: None,
        allows: true,
        actions: word(),
        resources: word(),
        not_actions: false,
        not_resources: false,
        conditions: Vec::new(),
        principals: Vec::new(),
    }
}

fn parse_statement<'t, 'd>(statement: Node<'t>, at: Locate<'_, 't, 'd>) -> IamStatement<'d> {
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
    let unknown = |operator: &str, node: Node<'t>| {
        let word = PolicyText { text: text(node), at: at(node, false) };
        vec![IamCondition { operator: IamOperator::parse(operator), key: word.clone(), values: vec![word] }]
    };
    let of_operator = |(operator, keys): (&'t str, Node<'t>)| {
        // A placeholder may have any condition.
        if keys.as_str().is_some() {
            return unknown(operator, keys);
        }
        let condition = |(key, values): (&'t str, Node<'t>)| IamCondition {
            operator: IamOperator::parse(operator),
            key: PolicyText { text: key.to_owned(), at: at(values, true) },
            values: words(values, at),
        };
        keys.members().map(condition).collect()
    };
    let whole = statement.get("Condition").filter(|node| node.as_str().is_some());
    let conditions = match whole {
        Some(placeholder) => unknown("", placeholder),
        None => statement.members_at(&["Condition"]).flat_map(of_operator).collect(),
    };
    let principals = statement.get("Principal").map(|node| principals(node, at)).unwrap_or_default();
    let sid = statement.get("Sid").map(|sid| PolicyText { text: text(sid), at: at(sid, false) });
    IamStatement {
        sid,
        allows: statement.get("Effect").and_then(Node::as_str) == Some("Allow"),
        actions,
        resources,
        not_actions,
        not_resources,
        conditions,
        principals,
    }
}

fn principals<'t, 'd>(node: Node<'t>, at: Locate<'_, 't, 'd>) -> Vec<IamPrincipal<'d>> {
    if !node.is_mapping() {
        return words(node, at).into_iter().map(|name| IamPrincipal { kind: "*".to_owned(), name }).collect();
    }
    let members = node.members();
    let of_kind = members.map(|(kind, names)| {
        words(names, at).into_iter().map(move |name| IamPrincipal { kind: kind.to_owned(), name })
    });
    of_kind.flatten().collect()
}

/// Returns a text, or each text of a list.
fn words<'t, 'd>(node: Node<'t>, at: Locate<'_, 't, 'd>) -> Vec<PolicyText<'d>> {
    let one = |node: Node<'t>| PolicyText { text: text(node), at: at(node, false) };
    if node.is_sequence() { node.items().map(one).collect() } else { vec![one(node)] }
}

/// Returns the text of a value. `${}` encloses what CloudFormation fills in.
pub fn text(node: Node<'_>) -> String {
    match node.value() {
        Value::String(text) if has_function_tag(node) => format!("${{{text}}}"),
        Value::String(text) => text.to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Null => String::new(),
        Value::Sequence => "${}".to_owned(),
        Value::Mapping => text_of_function(node).unwrap_or_else(|| "${}".to_owned()),
    }
}

/// Returns the text of a function of CloudFormation in its long form.
fn text_of_function(node: Node<'_>) -> Option<String> {
    if let Some(sub) = node.get("Fn::Sub") {
        return Some(sub.as_str().or_else(|| sub.items().next()?.as_str())?.to_owned());
    }
    if let Some(name) = node.str_at(&["Ref"]) {
        return Some(format!("${{{name}}}"));
    }
    if let Some(attribute) = node.get("Fn::GetAtt") {
        let parts: Vec<_> = attribute.items().filter_map(Node::as_str).collect();
        let name = attribute.as_str().map_or_else(|| parts.join("."), str::to_owned);
        return Some(format!("${{{name}}}"));
    }
    let mut arguments = node.get("Fn::Join")?.items();
    let (separator, parts) = (arguments.next()?.as_str()?, arguments.next()?);
    let joined: Vec<_> = parts.items().map(text).collect();
    parts.is_sequence().then(|| joined.join(separator))
}

/// Whether a string is the argument of a short function other than `!Sub`, such as `!Ref ClusterName`.
fn has_function_tag(node: Node<'_>) -> bool {
    let before = node.source().before(node.span().start).trim_end_matches([' ', '\t']);
    let separators = ['\n', '\t', ' ', '[', '{', ',', '-'];
    let word = before.rsplit_once(separators).map_or(before, |(_, word)| word);
    let own = node.spelling();
    let tag = if own.starts_with('!') { own } else { word };
    // `!` alone and tags such as `!!str` are YAML's own.
    let name = tag.strip_prefix('!').filter(|name| name.starts_with(|char: char| char.is_ascii_alphabetic()));
    name.is_some_and(|name| !name.starts_with("Sub"))
}
