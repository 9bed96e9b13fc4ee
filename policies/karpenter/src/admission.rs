//! Review of admission requests.

use std::sync::Arc;

use karpwarden::ADMISSION;
use karpwarden::engine::request::check_request;
use karpwarden::engine::tally::FindingTally;
use karpwarden::manifest::edit::{differences, rewrite};
use karpwarden::manifest::json::{self, Cursor, JsonError, JsonProblem, Unexpected, quote};
use karpwarden::manifest::source::{Source, Span};
use karpwarden::manifest::tree::{Node, Tree};
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::objects::object::{Object, Operation};
use karpwarden::rule::Rule;
use karpwarden::rule::finding::Finding;
use karpwarden::rule::settings::Settings;

use crate::host::Host;
use crate::inventory::{Answers, Lists};
use crate::mutation::{self, Mutation};
use crate::response::{self, ValidationResponse};

/// Maximum number of safe fixes to apply to an object: all rules check the result again.
const MAX_FIXES: usize = 100;

/// Answers `validate`. The payload holds a `request` and the `settings`.
///
/// Every payload gets an answer. A payload that is not a request is accepted with a warning, because a failing policy would block
/// objects that it does not check. The setting `onExceededBound` decides about an object that is too large to be checked.
pub fn validate(payload: &[u8], host: &dyn Host) -> ValidationResponse {
    let Ok(Ok(parts)) = str::from_utf8(payload).map(Parts::split) else {
        let reason = read(payload).err().unwrap_or_else(|| "it is not a request".to_owned());
        return ValidationResponse::accepted(vec![format!("the request was not checked: {reason}")]);
    };
    let settings = match parts.settings() {
        Ok(settings) => settings,
        Err(problems) => {
            return ValidationResponse::rejected(format!("the policy's settings are not valid: {problems}"));
        }
    };
    let Some(operation) = parts.reviewed() else { return ValidationResponse::accepted(Vec::new()) };
    // A deletion has only the stored object.
    let (object, old) = match operation {
        Operation::Delete => (parts.old_object, ""),
        _ => (parts.object, parts.old_object),
    };
    let new = match parse(object) {
        Ok(Some(tree)) if tree.root().is_mapping() => tree,
        Ok(_) => return ValidationResponse::accepted(Vec::new()),
        Err(error) => return not_checked(&parts, operation, &error.problem, &settings),
    };
    let (old, note) = match parse(old) {
        Ok(tree) => (tree, None),
        Err(error) => (None, Some(format!("the stored object was not compared: {}", error.problem))),
    };
    let old = old.as_ref().map(Tree::root).filter(|node| node.is_mapping());
    let object = Object::in_request(new.root(), old, operation);
    let rules = ADMISSION.rules_on(object);
    if !rules.iter().any(|rule| rule.counts_as_checked()) {
        let note = format!("no rule of karpwarden reads the kind {}", object.kind());
        let is_noted = operation != Operation::Delete;
        return ValidationResponse::accepted(Some(note).filter(|_| is_noted).into_iter().collect());
    }
    let answers = Answers::fetch(object, &rules, &settings, host);
    let lists = Lists::parse(&answers, object);
    let review = Review { settings: &settings, answers: &answers, lists: &lists };
    let findings = review.findings(object, &rules);
    if settings.fix && operation != Operation::Delete {
        review.fixed(findings, object, &rules, note.into_iter().collect())
    } else {
        review.respond(&findings, object, note.into_iter().collect())
    }
}

/// The response to an object that could not be parsed. It can always be deleted.
fn not_checked(
    parts: &Parts<'_>,
    operation: Operation,
    problem: &JsonProblem,
    settings: &Settings,
) -> ValidationResponse {
    let reason = format!("the object was not checked: {problem}");
    let rejects = || operation != Operation::Delete && settings.on_exceeded_bound.rejects(parts.group());
    if matches!(problem, JsonProblem::Exceeded(_)) && rejects() {
        let message =
            format!("{reason}; the policy rejects what it cannot check, unless `onExceededBound: warn`");
        return ValidationResponse::refused(message, settings);
    }
    ValidationResponse::accepted(vec![reason])
}

/// Answers `validate_settings` with the JSON of a `SettingsValidationResponse`, which lists the problems. The payload is the
/// settings alone.
pub fn validate_settings(payload: &[u8]) -> String {
    let read = read(payload).and_then(|tree| settings_of(tree.root()));
    let Err(message) = read else { return r#"{"valid":true,"message":null}"#.to_owned() };
    let mut answer = r#"{"valid":false,"message":"#.to_owned();
    quote(&message, &mut answer);
    answer.push('}');
    answer
}

fn settings_of(node: Node<'_>) -> Result<Settings, String> {
    Settings::parse_policy(node, &ADMISSION).map_err(|problems| response::listed(&problems))
}

fn read(payload: &[u8]) -> Result<Tree, String> {
    let text = str::from_utf8(payload).map_err(|_| "it is not UTF-8".to_owned())?;
    let tree = parse(text).map_err(|error| error.problem.to_string())?;
    tree.ok_or_else(|| "it is empty".to_owned())
}

fn parse(text: &str) -> Result<Option<Tree>, JsonError> {
    let source = Arc::new(Source::new("", text));
    let read = json::read(&source, Span::whole(text), READ_OPTIONS)?;
    Ok(read.map(|(tree, _)| tree))
}

/// The parts of a payload that a review needs, as text. Each is parsed within separate bounds, so that a large stored object does not
/// stop the check of the new one.
#[derive(Default)]
struct Parts<'t> {
    settings: &'t str,
    operation: &'t str,
    kind: &'t str,
    object: &'t str,
    old_object: &'t str,
}

impl<'t> Parts<'t> {
    fn split(text: &'t str) -> Result<Self, Unexpected> {
        let mut parts = Self::default();
        let mut payload = Cursor::new(text);
        payload.enter_object()?;
        while let Some(key) = payload.next_key()? {
            match key {
                "settings" => parts.settings = payload.skip()?,
                "request" => parts.split_request(payload.skip()?)?,
                _ => drop(payload.skip()?),
            }
        }
        Ok(parts)
    }

    fn split_request(&mut self, text: &'t str) -> Result<(), Unexpected> {
        let mut request = Cursor::new(text);
        request.enter_object()?;
        while let Some(key) = request.next_key()? {
            let value = request.skip()?;
            match key {
                "operation" => self.operation = value.trim_matches('"'),
                "kind" => self.kind = value,
                "object" => self.object = value,
                "oldObject" => self.old_object = value,
                _ => {}
            }
        }
        Ok(())
    }

    /// The settings, or their problems.
    fn settings(&self) -> Result<Settings, String> {
        let tree = parse(self.settings).map_err(|error| error.problem.to_string())?;
        tree.map_or_else(|| Ok(Settings::default()), |tree| settings_of(tree.root()))
    }

    /// The operation, if it is one that the policy reviews.
    fn reviewed(&self) -> Option<Operation> {
        match self.operation {
            "CREATE" => Some(Operation::Create),
            "UPDATE" => Some(Operation::Update),
            "DELETE" => Some(Operation::Delete),
            _ => None,
        }
    }

    /// The API group of the object.
    fn group(&self) -> &'t str {
        let group = || {
            let mut kind = Cursor::new(self.kind);
            kind.enter_object()?;
            while let Some(key) = kind.next_key()? {
                if key == "group" {
                    return kind.string();
                }
                kind.skip()?;
            }
            Err(Unexpected)
        };
        group().unwrap_or_default()
    }
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
        mut findings: Vec<Finding<'_>>,
        object: Object<'_>,
        rules: &[&'static Rule],
        mut notes: Vec<String>,
    ) -> ValidationResponse {
        match mutation::count(&findings) {
            0 => return self.respond(&findings, object, notes),
            1..=MAX_FIXES => {}
            count => {
                notes.push(format!(
                    "not fixed: {count} safe fixes, and the policy applies at most {MAX_FIXES}"
                ));
                return self.respond(&findings, object, notes);
            }
        }
        let on_update = Object::in_request(object.root(), None, Operation::Update);
        let mutation = mutation::choose(&findings, &self.findings(on_update, rules), object);
        if !mutation.fixed.is_empty()
            && let Some(response) = self.mutated(object, &findings, &mutation, &notes)
        {
            return response;
        }
        let refused = mutation.refused;
        mutation::explain(&refused, &mut findings, object);
        self.respond(&findings, object, notes)
    }

    /// The response with the fixes of some findings applied. `None` unless only the values that they declare change, these findings
    /// are gone, and there is no new error.
    fn mutated(
        &self,
        sent: Object<'_>,
        before: &[Finding<'_>],
        mutation: &Mutation<'_, '_>,
        notes: &[String],
    ) -> Option<ValidationResponse> {
        let fixable = &mutation.fixed;
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
        let mut after = review.findings(object, &ADMISSION.rules_on(object));
        let fixed_rules = fixable.iter().map(|finding| finding.rule.name);
        FindingTally::by_rule(before).allows(&FindingTally::by_rule(&after), fixed_rules).ok()?;
        mutation::explain(&mutation.refused, &mut after, object);
        let notes = [mutation.applied.as_slice(), notes].concat();
        let mut response = review.respond(&after, object, notes);
        response.mutated_object = response.accepted.then_some(fixed);
        Some(response)
    }
}
