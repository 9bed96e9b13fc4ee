//! The part of `kubectl describe` above the events.
//!
//! Sources: staging/src/k8s.io/kubectl/pkg/describe/describe.go of kubernetes/kubernetes at v1.33.0: `describeNode` and
//! `describePod` print conditions as a table; `GenericDescriber`, for custom resources, prints them key by key.

use super::columns::Columns;
use crate::conditions::{TERMINATED, condition_entry, is_new};
use crate::controller::{has_pod_name_of_chart, is_controller};
use crate::entry::{At, Condition, Entry, EntryObject, Fields, Time};

/// The object of a description.
#[derive(Debug, Default)]
pub(super) struct DescribedObject {
    name: String,
    namespace: String,
    kind: String,
    /// `spec.instanceProfile` of a node class.
    profile: String,
    /// Name and image of the current container of a pod.
    container: String,
    image: String,
    section: Section,
}

/// The current section.
#[derive(Debug, Default)]
enum Section {
    #[default]
    Other,
    Events,
    /// Key by key. The keys of a custom resource are sorted, so that `Type:` comes last.
    Conditions(OneCondition),
    /// As a table.
    Rows(Columns),
}

/// The keys of a condition before its type.
#[derive(Debug, Default)]
struct OneCondition {
    reason: String,
    message: String,
    status: String,
    /// The last transition.
    since: Option<Time>,
}

/// The columns of the conditions of a Node. A Pod has the first two.
const COLUMNS: [&str; 6] = ["Type", "Status", "LastHeartbeatTime", "LastTransitionTime", "Reason", "Message"];

impl DescribedObject {
    /// Begins a description if the line is its first one.
    pub(super) fn begins(text: &str) -> Option<Self> {
        let value = text.strip_prefix("Name:").filter(|value| value.starts_with("  "))?;
        Some(Self { name: value.trim().to_owned(), ..Self::default() })
    }

    pub(super) fn subject(&self) -> EntryObject<'_> {
        EntryObject {
            kind: self.kind.as_str().into(),
            namespace: self.namespace.as_str().into(),
            name: self.name.as_str().into(),
        }
    }

    /// Reads a line. Returns whether it belongs to the description, except the events.
    pub(super) fn line(&mut self, text: &str, at: At, emit: &mut dyn FnMut(&Entry<'_>)) -> bool {
        let (key, value) = text.split_once(':').unwrap_or_default();
        let value = value.trim();
        let is_top = key.starts_with(|first: char| first.is_ascii_uppercase());
        match key.trim_start() {
            "Namespace" if is_top => value.clone_into(&mut self.namespace),
            "Kind" if is_top => value.clone_into(&mut self.kind),
            // Descriptions of built-in kinds do not contain the kind.
            "Node" if is_top && self.kind.is_empty() => "Pod".clone_into(&mut self.kind),
            "Reason" if value == "OOMKilled" => self.terminated(value, text, at, emit),
            "Image" if !is_top => value.clone_into(&mut self.image),
            "Instance Profile" => value.clone_into(&mut self.profile),
            "Roles" if is_top => "Node".clone_into(&mut self.kind),
            "Events" if is_top => {
                self.section = Section::Events;
                return true;
            }
            "Conditions" => {
                self.section = Section::Conditions(OneCondition::default());
                return true;
            }
            _ if is_top && !key.contains(' ') => self.section = Section::Other,
            name if is_head(text) => {
                name.clone_into(&mut self.container);
                self.image.clear();
            }
            _ => {}
        }
        let is_part = is_top || text.starts_with(' ') || text.is_empty();
        let subject = EntryObject {
            kind: self.kind.as_str().into(),
            namespace: self.namespace.as_str().into(),
            name: self.name.as_str().into(),
        };
        match &mut self.section {
            Section::Events => return text.is_empty(),
            Section::Other => {}
            Section::Conditions(condition) => {
                match Columns::read(text, &COLUMNS).filter(|columns| columns.len() > 1) {
                    Some(columns) => self.section = Section::Rows(columns),
                    None => condition.line(key.trim(), value, subject, &self.profile, at, emit),
                }
            }
            Section::Rows(columns) => row(text, columns, subject, at, emit),
        }
        is_part
    }
}

impl DescribedObject {
    /// Emits the entry if `Last State` says that the controller was terminated.
    fn terminated(&self, reason: &str, text: &str, at: At, emit: &mut dyn FnMut(&Entry<'_>)) {
        let is_in_chart = has_pod_name_of_chart(&self.name);
        if self.kind == "Pod" && is_controller(&self.container, &self.image, is_in_chart) {
            let condition = Condition { kind: TERMINATED.into(), status: "".into() };
            let entry = condition_entry(self.subject(), condition, reason, "", at);
            emit(&Entry { text: format!("Pod/{}: {}", self.name, text.trim()).into(), ..entry });
        }
    }
}

impl OneCondition {
    fn line(
        &mut self,
        key: &str,
        value: &str,
        subject: EntryObject<'_>,
        profile: &str,
        at: At,
        emit: &mut dyn FnMut(&Entry<'_>),
    ) {
        match key {
            "Reason" => value.clone_into(&mut self.reason),
            "Message" => value.clone_into(&mut self.message),
            "Status" => value.clone_into(&mut self.status),
            "Last Transition Time" => self.since = Time::parse(value),
            "Type" => {
                let Self { reason, message, status, since } = std::mem::take(self);
                let condition = Condition { kind: value.into(), status: status.into() };
                let profile = ("instanceProfile".into(), serde_json::Value::from(profile).to_string().into());
                let fields = if subject.kind == "EC2NodeClass" { vec![profile] } else { Vec::new() };
                let entry = condition_entry(subject, condition, &reason, &message, at);
                emit(&Entry { time: since, fields: Fields(fields), ..entry });
            }
            _ => {}
        }
    }
}

/// Whether a line is the name of a container, two columns below `Containers:`.
fn is_head(text: &str) -> bool {
    text.ends_with(':') && text.strip_prefix("  ").is_some_and(|rest| !rest.starts_with(' '))
}

/// A row of the conditions of a Node or a Pod.
fn row(text: &str, columns: &Columns, subject: EntryObject<'_>, at: At, emit: &mut dyn FnMut(&Entry<'_>)) {
    let Some(cells) = columns.cells(text) else { return };
    let cell = |name: &str| cells.iter().find(|(other, _)| *other == name).map_or("", |(_, cell)| *cell);
    let (kind, status) = (cell("Type"), cell("Status"));
    if !matches!(status, "True" | "False" | "Unknown") {
        return;
    }
    let (since, heartbeat) =
        (Time::parse_rfc1123(cell("LastTransitionTime")), Time::parse_rfc1123(cell("LastHeartbeatTime")));
    let condition = Condition { kind: kind.into(), status: status.into() };
    if is_new(&subject.kind, &condition, since, heartbeat) {
        return;
    }
    let entry = condition_entry(subject, condition, cell("Reason"), cell("Message"), at);
    emit(&Entry { time: since, ..entry });
}
