//! A finding at each changed field, for reports with places.

use answers::report::{ReportedFinding, TextRange, url};
use drift::{Effect, ObjectChangeKind};
use manifest::File;
use objects::location::Place;
use rule::finding::{CaughtBy, Family, Severity};

use super::change::{PlanChange, sentence};
use crate::REGISTRY;
use crate::hashes::document_at;

/// Names of the findings, each with what it is about.
pub const FINDINGS: [(&str, &str); 3] = [
    (REPLACES, "a change replaces nodes"),
    (REMOVES, "a change removes nodes"),
    (KEEPS, "a change keeps the nodes"),
];

const REPLACES: &str = "update-replaces-nodes";
const REMOVES: &str = "deletion-removes-nodes";
const KEEPS: &str = "update-keeps-nodes";

/// The findings of a changed object: one for each field, or one for the whole object.
pub(super) fn of(change: &PlanChange<'_>, cluster: &str, new: &[File], old: &[File]) -> Vec<ReportedFinding> {
    let Some(object) = change.change.object() else { return Vec::new() };
    let files = if change.change.new.is_some() { new } else { old };
    let finding = |place: &Place<'_>, path: String, effect: Effect, message: String| {
        let (source, span) = (place.source(), place.span());
        let name = match effect {
            Effect::RemovesNodes => REMOVES,
            Effect::ReplacesAll | Effect::ReplacesSome | Effect::Unknown => REPLACES,
            Effect::None | Effect::NewNodes | Effect::ActsAtOnce => KEEPS,
        };
        let has_page = REGISTRY.rules().any(|rule| rule.name == name);
        ReportedFinding {
            rule: name,
            family: Family::Disruption,
            severity: if name == KEEPS { Severity::Info } else { Severity::Warning },
            caught_by: CaughtBy::Nobody,
            releases: "all".to_owned(),
            boundary: None,
            phase: None,
            cluster: cluster.to_owned(),
            file: source.name().to_owned(),
            document: document_at(files, source.name(), span.start),
            api_version: object.api_version().to_owned(),
            kind: object.kind().to_owned(),
            namespace: String::new(),
            name: object.name().to_owned(),
            path,
            position: TextRange::of(source, span),
            message,
            help: String::new(),
            url: if has_page { url(name) } else { String::new() },
            has_page,
            related: Vec::new(),
            fix: None,
            confidence: None,
            evidence: None,
            seen: None,
        }
    };
    if change.change.change == ObjectChangeKind::Changed {
        let fields = change.change.fields.iter().filter_map(|field| {
            let place = change.place(field)?;
            let verb = if field.effect == Effect::Unknown { "may replace nodes: " } else { "" };
            // Only what the value refers to has changed.
            let is_fed = field.old.is_some() && field.old == field.new && !change.message.is_empty();
            let cause = if is_fed { format!("{}; ", change.message) } else { String::new() };
            let message = format!("{verb}{cause}{}", sentence(field));
            Some(finding(&place, field.path.clone(), field.effect, message))
        });
        let whole = change.is_recreated.then(|| {
            let place = Place::value(object.name_node());
            finding(&place, String::new(), change.change.effect, change.message.clone())
        });
        return fields.chain(whole).collect();
    }
    let place = Place::value(object.name_node());
    let what = if change.change.change == ObjectChangeKind::Added { "added" } else { "removed" };
    let message = if change.message.is_empty() { String::new() } else { format!(": {}", change.message) };
    vec![finding(&place, String::new(), change.change.effect, format!("{what}{message}"))]
}
