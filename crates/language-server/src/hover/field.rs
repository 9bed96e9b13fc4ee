//! The meaning of a field, its type, its default and its limits.

use karpenter::api::meaning::meaning;
use karpenter::release::Release;

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
        lines.extend(default.map(|(value, _)| format!("- default: `{value}`")));
        let releases = place.releases();
        if !releases.is_everywhere() {
            let lacking =
                if releases.contains(release) { String::new() } else { format!(", not in {release}") };
            lines.push(format!("- {releases}{lacking}"));
        }
    }
    let own = place.schema.constraints.iter().filter(|one| one.releases.contains(release));
    lines.extend(own.map(|one| format!("- {}", one.limit.described(release))));
    Some(lines.join("\n") + "\n")
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
        for (release, path) in [("1.14", "consolidateAfter"), ("1.15", "consolidateAfter")] {
            let field = described_in(release, &["spec", "disruption", path]);
            assert!(!field.contains("since") && !field.contains("until"), "another schema: {field}");
        }
        let class = ObjectOutline { root: None, api_version: "karpenter.k8s.aws/v1", kind: "EC2NodeClass" };
        let path = [EntryStep::Key("spec"), EntryStep::Key("kubelet")];
        for release in ["1.14", "1.15"].map(|release| Release::parse(release).unwrap()) {
            let field =
                described(&path, at(table_of(class).unwrap(), &path, release).unwrap(), release).unwrap();
            assert!(!field.contains("since") && !field.contains("until"), "{field}");
        }
        for path in [["metadata", "name"].as_slice(), &["spec", "limits", "cpu"]] {
            assert_eq!(described_in("1.14", path), "");
        }
    }
}
