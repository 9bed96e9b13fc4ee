//! Review of admission requests.

use std::sync::Arc;

use karpwarden::ADMISSION;
use karpwarden::engine::request::check_request;
use karpwarden::engine::tally::FindingTally;
use karpwarden::manifest::edit::{differences, rewrite};
use karpwarden::manifest::json::{self, quote};
use karpwarden::manifest::source::{Source, Span};
use karpwarden::manifest::tree::{Node, Tree};
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::objects::object::{Object, Operation};
use karpwarden::rule::Rule;
use karpwarden::rule::finding::Finding;
use karpwarden::rule::settings::{Settings, SettingsProblem};

use crate::host::Host;
use crate::inventory::{Answers, Lists};
use crate::mutation;
use crate::response::ValidationResponse;

/// Maximum number of safe fixes to apply to an object: all rules check the result again.
const MAX_FIXES: usize = 100;

/// Answers `validate`. The payload holds a `request` and the `settings`.
///
/// Every payload gets an answer. A payload that cannot be parsed is accepted with a warning, because a failing policy would block
/// objects that it does not check.
pub fn validate(payload: &[u8], host: &dyn Host) -> ValidationResponse {
    let tree = match read(payload) {
        Ok(tree) => tree,
        Err(reason) => {
            return ValidationResponse::accepted(vec![format!("the request was not checked: {reason}")]);
        }
    };
    let settings = match tree.root().get("settings").map_or(Ok(Settings::default()), settings_of) {
        Ok(settings) => settings,
        Err(problems) => {
            return ValidationResponse::rejected(format!(
                "the policy's settings are not valid: {}",
                listed(&problems)
            ));
        }
    };
    let Some(object) = tree.root().get("request").and_then(reviewed) else {
        return ValidationResponse::accepted(Vec::new());
    };
    let rules = ADMISSION.rules_on(object);
    if !rules.iter().any(|rule| rule.counts_as_checked()) {
        return ValidationResponse::accepted(vec![format!(
            "no rule of karpwarden reads the kind {}",
            object.kind()
        )]);
    }
    let answers = Answers::fetch(object, &rules, &settings, host);
    let lists = Lists::parse(&answers, object);
    let review = Review { settings: &settings, answers: &answers, lists: &lists };
    let findings = review.findings(object, &rules);
    if settings.fix {
        review.fixed(&findings, object, &rules)
    } else {
        review.respond(&findings, object, Vec::new())
    }
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
    Settings::parse_policy(node, &ADMISSION)
}

fn listed(problems: &[SettingsProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn read(payload: &[u8]) -> Result<Tree, String> {
    let text = core::str::from_utf8(payload).map_err(|_| "it is not UTF-8".to_owned())?;
    let source = Arc::new(Source::new("", text));
    let whole = Span::new(0, text.len());
    match json::read(&source, whole, READ_OPTIONS) {
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
    answers: &'r Answers,
    lists: &'r Lists,
}

impl Review<'_> {
    fn findings<'d>(&'d self, object: Object<'d>, rules: &[&'static Rule]) -> Vec<Finding<'d>> {
        let cluster = self.lists.cluster(object, self.settings);
        check_request(&ADMISSION, rules, object, &cluster, self.settings)
    }

    fn respond(
        &self,
        findings: &[Finding<'_>],
        object: Object<'_>,
        mut notes: Vec<String>,
    ) -> ValidationResponse {
        notes.extend(self.lists.warnings.iter().cloned());
        ValidationResponse::of(findings, object, self.settings, notes)
    }

    /// The response with the safe fixes applied, as far as they survive the next apply of the same manifest.
    fn fixed(
        &self,
        findings: &[Finding<'_>],
        object: Object<'_>,
        rules: &[&'static Rule],
    ) -> ValidationResponse {
        match mutation::count(findings) {
            0 => return self.respond(findings, object, Vec::new()),
            1..=MAX_FIXES => {}
            count => {
                let note =
                    format!("not fixed: {count} safe fixes, and the policy applies at most {MAX_FIXES}");
                return self.respond(findings, object, vec![note]);
            }
        }
        let on_update = Object::in_request(object.root(), None, Operation::Update);
        let mutation = mutation::choose(findings, &self.findings(on_update, rules), object);
        if mutation.fixed.is_empty() {
            return self.respond(findings, object, mutation.refused);
        }
        let notes = [mutation.applied, mutation.refused.clone()].concat();
        let fixed = self.mutated(object, findings, &mutation.fixed, notes);
        fixed.unwrap_or_else(|| self.respond(findings, object, mutation.refused))
    }

    /// The response with the fixes of some findings applied. `None` unless only the values that they declare change, these findings
    /// are gone, and there is no new error.
    fn mutated(
        &self,
        sent: Object<'_>,
        before: &[Finding<'_>],
        fixable: &[&Finding<'_>],
        notes: Vec<String>,
    ) -> Option<ValidationResponse> {
        let changes: Vec<_> =
            fixable.iter().filter_map(|finding| finding.fix.as_ref()).flat_map(|fix| &fix.changes).collect();
        let fixed = rewrite(sent.root(), changes.clone());
        let tree = read(fixed.as_bytes()).ok()?;
        if !differences(sent.root(), tree.root(), &changes).is_empty() {
            return None;
        }
        let object = Object::in_request(tree.root(), sent.old(), sent.operation());
        let lists = Lists::parse(self.answers, object);
        let review = Review { lists: &lists, ..*self };
        let after = review.findings(object, &ADMISSION.rules_on(object));
        let fixed_rules = fixable.iter().map(|finding| finding.rule.name);
        FindingTally::by_rule(before).allows(&FindingTally::by_rule(&after), fixed_rules).ok()?;
        let mut response = review.respond(&after, object, notes);
        response.mutated_object = response.accepted.then_some(fixed);
        Some(response)
    }
}
