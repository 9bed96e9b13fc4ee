//! Documents that are read, but whose objects no rule really checks: the report counts them as skipped, with the reason.

use karpenter::auto_mode;
use karpenter::release::{PinnedVersion, Releases};
use manifest::File;
use manifest::tree::Tree;
use objects::chart_values;
use objects::controller::Controller;
use objects::object::{Form, Object};
use objects::type_meta::{TypeKey, TypeMeta};

use crate::pins::CheckedVersion;
use answers::report::{Report, Skipped};
use cluster::folders;
use rule::finding::Finding;
use rule::registry::Registry;
use rule::settings::{CONFIG_FILE, is_near_config_file};

/// Kinds that the reason of a skipped list names.
const KINDS_NAMED: usize = 3;

/// Counts a document as skipped if all of its objects lack checks.
pub(crate) fn count_unchecked(
    report: &mut Report,
    objects: &[Object<'_>],
    version: CheckedVersion,
    file: &File,
    document: usize,
) {
    let mut reasons = objects.iter().map(|object| gap(*object, version));
    let Some(Some(reason)) = reasons.next() else { return };
    if !reasons.all(|reason| reason.is_some()) {
        return;
    }
    report.uncovered += 1;
    if is_last(report, file, document) {
        set_reason(report, reason);
    } else {
        report.summary.checked = report.summary.checked.saturating_sub(1);
        report.summary.skipped += 1;
        report.skipped.push(Skipped { file: file.source.name().to_owned(), document, reason });
    }
}

/// Reason why a document without objects is not checked.
pub(crate) fn reason_without_object(tree: &Tree, file: &str) -> String {
    let root = tree.root();
    let name = folders::name(file);
    let keys = TypeMeta::of(root);
    if name == CONFIG_FILE {
        return "config file, no manifest: it applies to runs in its folder and in the folders below it, and to runs that name it"
            .to_owned();
    }
    if is_near_config_file(name) {
        return format!("looks like a config file, but is not read as one: its name must be `{CONFIG_FILE}`");
    }
    let is_list = keys.kind.text().is_some_and(|kind| kind.ends_with("List"));
    let reason = match (keys.api_version, keys.kind) {
        _ if root.is_sequence() => "the document is a list",
        _ if !root.is_mapping() => "the document is a single value",
        (TypeKey::Written(_), TypeKey::Written(_)) if is_list => {
            "the list has no items with `apiVersion` and `kind`"
        }
        (TypeKey::Written(_), TypeKey::Written(_)) => "the review has no object that is created or updated",
        (TypeKey::Written(_), _) => "`kind` is missing",
        (_, TypeKey::Written(_)) => "`apiVersion` is missing",
        _ => "`apiVersion` and `kind` are missing",
    };
    format!("no Kubernetes object: {reason}, not checked")
}

/// Reason why a document is not checked whose objects no rule reads.
pub(crate) fn reason_without_rule(objects: &[Object<'_>]) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    for kind in objects.iter().map(|object| object.kind()) {
        if !kinds.contains(&kind) && kinds.len() <= KINDS_NAMED {
            kinds.push(kind);
        }
    }
    let named: Vec<String> = kinds.iter().take(KINDS_NAMED).map(|kind| format!("`{kind}`")).collect();
    let plural = if kinds.len() == 1 { "kind" } else { "kinds" };
    let more = if kinds.len() > KINDS_NAMED { " and others" } else { "" };
    format!("no rule reads the {plural} {}{more}", named.join(", "))
}

/// Changes the reason of a skipped document that pins the version of Karpenter.
pub(crate) fn note_pin(report: &mut Report, file: &File, document: usize) {
    if is_last(report, file, document) {
        set_reason(report, "read only for the Karpenter version that it pins".to_owned());
    }
}

fn is_last(report: &Report, file: &File, document: usize) -> bool {
    report.skipped.last().is_some_and(|last| last.document == document && last.file == file.source.name())
}

fn set_reason(report: &mut Report, reason: String) {
    if let Some(last) = report.skipped.last_mut() {
        last.reason = reason;
    }
}

/// Whether no rule runs on an object: the controller of a version below 1.0, and the values of its chart.
pub(crate) fn is_outside(object: Object<'_>, before_v1: Option<PinnedVersion>) -> bool {
    before_v1.is_some() && is_of_controller(object)
}

/// Removes findings that do not hold for a version below 1.0.
pub(crate) fn keep_covered(
    findings: &mut Vec<Finding<'_>>,
    object: Object<'_>,
    before_v1: Option<PinnedVersion>,
    registry: &Registry,
) {
    if before_v1.is_some() && is_older_than_v1(object) {
        findings.retain(|finding| registry.reports_unserved(finding.rule));
    }
}

/// Reason why rules do not check an object, although they read it.
fn gap(object: Object<'_>, version: CheckedVersion) -> Option<String> {
    let CheckedVersion { target, before_v1 } = version;
    if let Some(version) = before_v1
        && (is_of_controller(object) || is_older_than_v1(object))
    {
        return Some(format!("for Karpenter {version}, not checked: releases before 1.0 are not covered"));
    }
    let (group, kind) = (object.group(), object.kind());
    if is_older_than_v1(object) {
        let is_served = |served: Releases| target.releases().all(|release| served.contains(release));
        return object.served_by().is_some_and(is_served).then(|| {
            format!("`{kind}` of `{}`, not checked: of this kind, only v1 is covered", object.api_version())
        });
    }
    match (group, kind) {
        _ if auto_mode::is_reference(group, kind) => Some(
            "`NodeClass` of EKS Auto Mode, not checked: only fields of EC2NodeClasses are found in it"
                .to_owned(),
        ),
        _ if is_of_other_provider(group) => {
            Some(format!("`{kind}` of `{group}`, not checked: only Karpenter's provider for AWS is covered"))
        }
        _ => None,
    }
}

/// Whether an object configures the controller: its Deployment, the values of its chart, or its settings, which were in a
/// ConfigMap until 0.32.
///
/// Source: charts/karpenter/templates/configmap.yaml of aws/karpenter-provider-aws at v0.31.0.
fn is_of_controller(object: Object<'_>) -> bool {
    let is_settings = object.form() == Form::Api
        && object.kind() == "ConfigMap"
        && object.name() == "karpenter-global-settings";
    is_settings || chart_values::of(object).is_some() || Controller::of(object).is_some()
}

/// Whether an object is of a version of Karpenter's API for which there is no table of fields.
fn is_older_than_v1(object: Object<'_>) -> bool {
    object.served().is_some() && object.table().is_none()
}

/// Whether a group belongs to a provider of Karpenter for another cloud, such as `karpenter.azure.com`.
fn is_of_other_provider(group: &str) -> bool {
    group.starts_with("karpenter.") && !matches!(group, "karpenter.sh" | "karpenter.k8s.aws")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ARN, REGISTRY, class};
    use manifest::limits::Limits;
    use manifest::{Document, File};

    fn with_object<T>(text: &str, use_it: impl FnOnce(Object<'_>) -> T) -> T {
        let file = File::read("a.yaml", text, &Limits::DEFAULT);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
        use_it(Object::all(tree)[0])
    }

    #[test]
    fn names_each_kind_once_and_at_most_three() {
        let reason = |kinds: &[&str]| {
            let items: Vec<_> =
                kinds.iter().map(|kind| format!("- {{apiVersion: v1, kind: {kind}}}")).collect();
            let text = format!("apiVersion: v1\nkind: List\nitems:\n{}\n", items.join("\n"));
            let file = File::read("a.yaml", text, &Limits::DEFAULT);
            let Some(Document::Read(tree)) = file.documents.first() else { panic!("{kinds:?}") };
            reason_without_rule(&Object::all(tree))
        };
        for (kinds, expected) in [
            (&["A"][..], "kind `A`"),
            (&["A", "B", "A"], "kinds `A`, `B`"),
            (&["A", "B", "C"], "kinds `A`, `B`, `C`"),
            (&["A", "B", "C", "D", "E"], "kinds `A`, `B`, `C` and others"),
        ] {
            assert_eq!(reason(kinds), format!("no rule reads the {expected}"));
        }
    }

    #[test]
    fn drops_findings_only_for_an_old_object_of_an_old_version() {
        let new = class("a", "x: 1");
        let old = new.replace("karpenter.k8s.aws/v1", "karpenter.k8s.aws/v1beta1");
        let version = PinnedVersion::parse("0.37.0");
        for (text, version, kept) in [(&old, version, 0), (&new, version, 1), (&old, None, 1)] {
            with_object(text, |object| {
                let mut findings = vec![Finding::at(&ARN, object.root(), "an ARN")];
                keep_covered(&mut findings, object, version, &REGISTRY);
                assert_eq!(findings.len(), kept, "{text}{version:?}");
            });
        }
    }

    #[test]
    fn recognises_the_settings_of_old_releases_by_kind_and_name() {
        for (kind, name, expected) in [
            ("ConfigMap", "karpenter-global-settings", true),
            ("ConfigMap", "other", false),
            ("Secret", "karpenter-global-settings", false),
        ] {
            let text = format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}}}\n");
            assert_eq!(with_object(&text, is_of_controller), expected, "{text}");
        }
    }
}
