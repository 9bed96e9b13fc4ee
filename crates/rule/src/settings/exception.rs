//! Exceptions: entries of the settings that accept findings.

use manifest::source::certain;
use objects::object::Object;
use values::calendar::Date;

use super::selector::RuleSelector;
use crate::RuleNames;

/// An entry of the settings that accepts findings, with a reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The rule, symptom or family.
    pub rule: RuleSelector,
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

/// Exception of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExceptionId(usize);

impl ExceptionId {
    /// The exceptions of settings with their ids.
    pub fn enumerate(exceptions: &[Exception]) -> impl Iterator<Item = (Self, &Exception)> {
        exceptions.iter().enumerate().map(|(index, exception)| (Self(index), exception))
    }

    /// The position in the list of the settings.
    pub const fn index(self) -> usize {
        self.0
    }
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

    /// Whether the exception covers findings of the rule with these names on this object today.
    pub fn covers(&self, rule: RuleNames, object: Object<'_>, today: Option<Date>) -> bool {
        self.applies(today) && self.rule.selects(rule) && self.is_about(object)
    }

    /// Whether the exception covers a diagnosis of these objects today.
    pub fn covers_symptom(
        &self,
        symptom: &'static str,
        objects: &[ObjectName<'_>],
        today: Option<Date>,
    ) -> bool {
        let matches_every_object = self.kind.is_none() && self.namespace.is_none() && self.name.is_none();
        self.applies(today)
            && self.rule.selects(RuleNames::of_symptom(symptom))
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
        rest = certain(rest.get(at + part.len()..));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEB: ObjectName<'_> = ObjectName { kind: "Pod", namespace: "shop", name: "web-1" };

    fn exception(kind: Option<&str>, namespace: Option<&str>, name: Option<&str>) -> Exception {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let (kind, namespace, name) = (owned(kind), owned(namespace), owned(name));
        Exception { rule: RuleSelector::All, kind, namespace, name, reason: String::new(), until: None }
    }

    #[test]
    fn names_kind_namespace_and_name_of_an_object() {
        for (kind, namespace, name, expected) in [
            (None, None, None, true),
            (Some("Pod"), Some("shop"), Some("web-1"), true),
            (None, Some("s*"), Some("*-1"), true),
            (Some("Job"), Some("shop"), Some("web-1"), false),
            (Some("Pod"), Some("other"), Some("web-1"), false),
            (Some("Pod"), Some("shop"), Some("web-2"), false),
        ] {
            assert_eq!(
                exception(kind, namespace, name).matches(WEB),
                expected,
                "{kind:?} {namespace:?} {name:?}"
            );
        }
    }

    #[test]
    fn covers_a_symptom_if_it_names_all_objects() {
        let node = ObjectName { kind: "Node", namespace: "", name: "a" };
        let pods = exception(Some("Pod"), None, None);
        assert!(pods.covers_symptom("any", &[WEB], None));
        assert!(!pods.covers_symptom("any", &[WEB, node], None));
        for narrow in
            [pods.clone(), exception(None, Some("shop"), None), exception(None, None, Some("web-1"))]
        {
            assert!(!narrow.covers_symptom("any", &[], None), "{narrow:?}");
        }
        let all = exception(None, None, None);
        assert!(all.covers_symptom("any", &[], None));
        let of_labels = Exception { rule: RuleSelector::Family("labels"), ..all.clone() };
        assert!(!of_labels.covers_symptom("any", &[], None));
        let expired = Exception { until: Date::parse("2024-01-31"), ..all };
        assert!(expired.covers_symptom("any", &[], Date::parse("2024-01-31")));
        assert!(!expired.covers_symptom("any", &[], Date::parse("2024-02-01")));
    }

    #[test]
    fn star_matches_any_characters() {
        for (pattern, text, expected) in [
            ("web", "web", true),
            ("web", "web-1", false),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c", false),
            ("x*ab*b", "xab", false),
            ("x*ab*b", "xabb", true),
            ("aa*aa", "aaa", false),
        ] {
            assert_eq!(glob(pattern, text), expected, "{pattern} {text}");
        }
    }
}
