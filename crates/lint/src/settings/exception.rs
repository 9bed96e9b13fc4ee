//! Exceptions: entries of the settings that accept findings.

use objects::object::Object;
use values::calendar::Date;

use super::selector::Selector;
use crate::classification::Family;

/// An entry of the settings that accepts findings, with a reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The rule, symptom or family.
    pub rule: Selector,
    /// The kind of the object; absent: every kind.
    pub kind: Option<String>,
    /// The namespace of the object; absent: every namespace. `*` matches any characters.
    pub namespace: Option<String>,
    /// The name of the object; absent: every name. `*` matches any characters.
    pub name: Option<String>,
    /// The reason for the exception.
    pub reason: String,
    /// The last day on which the exception applies.
    pub until: Option<Date>,
}

/// Kind, namespace and name of an object, for matching with an exception.
#[derive(Clone, Copy, Debug)]
pub struct ObjectName<'n> {
    /// The kind.
    pub kind: &'n str,
    /// The namespace; empty for a cluster-scoped object.
    pub namespace: &'n str,
    /// The name.
    pub name: &'n str,
}

impl Exception {
    /// Whether the exception names an object.
    pub fn is_about(&self, object: Object<'_>) -> bool {
        let (kind, namespace, name) = (object.kind(), object.namespace(), object.name());
        self.matches(ObjectName { kind, namespace, name })
    }

    /// Whether the exception covers findings of a rule of a family on this object today.
    pub fn covers(&self, rule: &str, family: Family, object: Object<'_>, today: Option<Date>) -> bool {
        self.applies(today) && self.rule.selects(rule, family) && self.is_about(object)
    }

    /// Whether the exception covers a diagnosis of these objects today.
    pub fn covers_symptom(&self, symptom: &str, objects: &[ObjectName<'_>], today: Option<Date>) -> bool {
        let matches_every_object = self.kind.is_none() && self.namespace.is_none() && self.name.is_none();
        self.applies(today)
            && self.rule.selects(symptom, Family::Symptoms)
            && (matches_every_object
                || (!objects.is_empty() && objects.iter().all(|object| self.matches(*object))))
    }

    fn matches(&self, object: ObjectName<'_>) -> bool {
        let matches = |pattern: &Option<String>, text: &str| {
            pattern.as_deref().is_none_or(|pattern| glob(pattern, text))
        };
        self.kind.as_deref().is_none_or(|kind| kind == object.kind)
            && matches(&self.namespace, object.namespace)
            && matches(&self.name, object.name)
    }

    /// Whether the exception has not expired.
    pub fn applies(&self, today: Option<Date>) -> bool {
        self.until.is_none_or(|until| today.is_none_or(|today| today <= until))
    }
}

/// Whether a text matches a pattern in which `*` matches any characters.
pub(super) fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    true
}
