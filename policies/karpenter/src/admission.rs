//! Review of admission requests.

use std::sync::Arc;

use karpwarden::REGISTRY;
use karpwarden::lint::check::check_request;
use karpwarden::lint::finding::Finding;
use karpwarden::lint::settings::{Settings, SettingsProblem};
use karpwarden::lint::tally::Tally;
use karpwarden::manifest::edit::{differences, rewrite};
use karpwarden::manifest::json::{self, quote};
use karpwarden::manifest::limits::Limits;
use karpwarden::manifest::source::{Source, Span};
use karpwarden::manifest::tree::{Node, Tree};
use karpwarden::objects::object::{Object, Operation};

use crate::host::Host;
use crate::inventory::Lists;
use crate::response::Response;

/// Answers `validate`. The payload holds a `request` and the `settings`.
///
/// Every payload gets an answer. A payload that cannot be parsed is accepted with a warning, because a failing policy would block
/// objects that it does not check.
pub fn validate(payload: &[u8], host: &dyn Host) -> Response {
    let tree = match read(payload) {
        Ok(tree) => tree,
        Err(reason) => return Response::accepted(vec![format!("the request was not checked: {reason}")]),
    };
    let settings = match tree.root().get("settings").map_or(Ok(Settings::default()), settings_of) {
        Ok(settings) => settings,
        Err(problems) => {
            return Response::rejected(format!("the policy's settings are not valid: {}", listed(&problems)));
        }
    };
    let Some(object) = tree.root().get("request").and_then(reviewed) else {
        return Response::accepted(Vec::new());
    };
    if !REGISTRY.rules().any(|rule| rule.counts_as_checked(object)) {
        return Response::accepted(vec![format!("no rule of karpwarden reads the kind {}", object.kind())]);
    }
    let review = Review { settings: &settings, lists: Lists::fetch(object, &settings, host) };
    let findings = review.findings(object);
    if settings.fix
        && let Some(mutated) = review.mutated(object, &findings)
    {
        return mutated;
    }
    review.respond(&findings, object)
}

/// Answers `validate_settings` with the JSON of a `SettingsValidationResponse`, which lists all problems. The payload is the
/// settings alone.
pub fn validate_settings(payload: &[u8]) -> String {
    let read = read(payload).and_then(|tree| settings_of(tree.root()).map_err(|problems| listed(&problems)));
    let Err(message) = read else { return r#"{"valid":true,"message":null}"#.to_owned() };
    let mut answer = r#"{"valid":false,"message":"#.to_owned();
    quote(&message, &mut answer);
    answer.push('}');
    answer
}

fn settings_of(node: Node<'_>) -> Result<Settings, Vec<SettingsProblem>> {
    Settings::parse_policy(node, &REGISTRY)
}

fn listed(problems: &[SettingsProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn read(payload: &[u8]) -> Result<Tree, String> {
    let text = core::str::from_utf8(payload).map_err(|_| "it is not UTF-8".to_owned())?;
    let source = Arc::new(Source::new("", text));
    let whole = Span::new(0, text.len());
    match json::read(&source, whole, &Limits::DEFAULT) {
        Ok(Some((tree, _))) => Ok(tree),
        Ok(None) => Err("it is empty".to_owned()),
        Err(error) => Err(error.problem.to_string()),
    }
}

/// The object of a CREATE or UPDATE request; `None` for other operations.
fn reviewed(request: Node<'_>) -> Option<Object<'_>> {
    let operation = match request.str_at(&["operation"]) {
        Some("CREATE") => Operation::Create,
        Some("UPDATE") => Operation::Update,
        _ => return None,
    };
    let object = |key| request.get(key).filter(|node| node.is_mapping());
    Some(Object::in_request(object("object")?, object("oldObject"), operation))
}

/// Settings and inventory of one request.
struct Review<'r> {
    settings: &'r Settings,
    lists: Lists,
}

impl Review<'_> {
    fn findings<'d>(&'d self, object: Object<'d>) -> Vec<Finding<'d>> {
        check_request(&REGISTRY, object, self.lists.objects(object), self.settings)
    }

    fn respond(&self, findings: &[Finding<'_>], object: Object<'_>) -> Response {
        Response::of(findings, object, self.settings, self.lists.warnings.clone())
    }

    /// The response with all safe fixes applied. `None` if there are no safe fixes, or unless only the values that they declare
    /// change, their findings are gone, and there is no new error.
    fn mutated(&self, sent: Object<'_>, before: &[Finding<'_>]) -> Option<Response> {
        let safe = |finding: &&Finding<'_>| finding.fix.as_ref().is_some_and(|fix| fix.safe);
        let fixable: Vec<&Finding<'_>> = before.iter().filter(safe).collect();
        if fixable.is_empty() {
            return None;
        }
        let changes: Vec<_> =
            fixable.iter().filter_map(|finding| finding.fix.as_ref()).flat_map(|fix| &fix.changes).collect();
        let fixed = rewrite(sent.root(), changes.clone());
        let tree = read(fixed.as_bytes()).ok()?;
        if !differences(sent.root(), tree.root(), &changes).is_empty() {
            return None;
        }
        let object = Object::in_request(tree.root(), sent.old(), sent.operation());
        let after = self.findings(object);
        let fixed_rules = fixable.iter().map(|finding| finding.rule.name);
        Tally::by_rule(before).allows(&Tally::by_rule(&after), fixed_rules).ok()?;
        let mut response = self.respond(&after, object);
        response.mutated_object = response.accepted.then_some(fixed);
        Some(response)
    }
}
