//! The meaning of a field, its type, its default and its limits.

use karpenter::api::meaning::meaning;
use karpenter::api::stored::DefaultValue;
use karpenter::api::{Constraint, Limit};
use karpenter::release::{Release, Releases};

use crate::outline::EntryStep;
use crate::schema::{SchemaPlace, spelled};

/// The description of a field in Markdown; `None` without a meaning to tell, as for a member of a map.
pub(super) fn described(path: &[EntryStep<'_>], place: SchemaPlace, release: Release) -> Option<String> {
    let spelling = spelled(path);
    let meant = meaning(&spelling).filter(|_| spelling.starts_with("spec"))?;
    let required = if place.field.is_some_and(|field| field.required) { ", required" } else { "" };
    let mut lines =
        vec![format!("**`{spelling}`**: {}{required}\n", place.schema.shape.name()), format!("{meant}\n")];
    if let Some(field) = place.field {
        let default = field.default.filter(|(_, releases)| releases.contains(release));
        lines.extend(default.map(|(value, _)| format!("- default: `{}`", json(&value))));
        if !is_everywhere(field.releases) {
            let lacking =
                if field.releases.contains(release) { String::new() } else { format!(", not in {release}") };
            lines.push(format!("- {}{lacking}", field.releases));
        }
    }
    let own = place.schema.constraints.iter().filter(|one| one.releases.contains(release));
    lines.extend(own.map(|one| format!("- {}", limit(one, release))));
    Some(lines.join("\n") + "\n")
}

fn is_everywhere(releases: Releases) -> bool {
    Release::all().all(|release| releases.contains(release))
}

fn limit(constraint: &Constraint, release: Release) -> String {
    match constraint.limit {
        Limit::OneOf(words) => {
            let own = words.iter().filter(|word| word.releases.contains(release));
            let word = |since: Releases, text: &str| {
                if is_everywhere(since) { format!("`{text}`") } else { format!("`{text}` ({since})") }
            };
            let own: Vec<String> = own.map(|one| word(one.releases, one.text)).collect();
            format!("one of {}", own.join(", "))
        }
        Limit::Pattern(pattern) => pattern.description.to_owned(),
        Limit::Minimum(bound) => format!("at least {bound}"),
        Limit::Maximum(bound) => format!("at most {bound}"),
        Limit::MinLength(bound) => format!("at least {bound} characters"),
        Limit::MaxLength(bound) => format!("at most {bound} characters"),
        Limit::MinItems(bound) => format!("at least {bound} items"),
        Limit::MaxItems(bound) => format!("at most {bound} items"),
        Limit::MaxProperties(bound) => format!("at most {bound} keys"),
        Limit::UniqueItems => "items that differ".to_owned(),
        Limit::DateTime => "a date with a time".to_owned(),
    }
}

fn json(value: &DefaultValue) -> String {
    let all = |values: Vec<String>| values.join(", ");
    match value {
        DefaultValue::Text(text) => (*text).to_owned(),
        DefaultValue::Int(number) => number.to_string(),
        DefaultValue::List(items) => format!("[{}]", all(items.iter().map(json).collect())),
        DefaultValue::Object(members) => {
            let member = |(key, value): &(&str, DefaultValue)| format!("{key}: {}", json(value));
            format!("{{{}}}", all(members.iter().map(member).collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outline::ObjectOutline;
    use crate::schema::{at, table_of};

    fn described_in(release: &str, path: &[&'static str]) -> String {
        let object = ObjectOutline { root: None, api_version: "karpenter.sh/v1", kind: "NodePool" };
        let path: Vec<_> = path.iter().map(|key| EntryStep::Key(key)).collect();
        let release = Release::parse(release).unwrap();
        described(&path, at(table_of(object).unwrap(), &path, release).unwrap(), release).unwrap_or_default()
    }

    #[test]
    fn says_what_a_field_means_and_where_it_exists() {
        assert_eq!(
            described_in("1.7", &["spec", "replicas"]),
            "**`spec.replicas`**: a whole number\n\nThe number of nodes that a static NodePool keeps, whether or not pods need them. \
             Needs the feature gate `StaticCapacity`.\n\n- since 1.8, not in 1.7\n- at least 0\n"
        );
        let policy = described_in("1.14", &["spec", "disruption", "consolidationPolicy"]);
        assert!(policy.contains("- default: `WhenEmptyOrUnderutilized`\n"), "{policy}");
        assert!(policy.contains("`WhenEmptyOrUnderutilized`, `Balanced` (since 1.14)"), "{policy}");
        let budgets = described_in("1.14", &["spec", "disruption", "budgets"]);
        assert!(budgets.contains("- default: `[{nodes: 10%}]`"), "{budgets}");
        for path in [["metadata", "name"].as_slice(), &["spec", "limits", "cpu"]] {
            assert_eq!(described_in("1.14", path), "");
        }
    }
}
