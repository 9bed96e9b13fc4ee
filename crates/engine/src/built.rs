//! What the builds of kustomizations add to findings: the overlay, what is not known for certain, and the text's own document.

use std::collections::{BTreeMap, BTreeSet};

use cluster::Cluster;
use cluster::built::{BuiltCluster, CheckedObject};
use manifest::source::Source;
use objects::location::Place;
use rule::finding::{Finding, Severity};

use crate::report::DocumentLocation;
use answers::report::Report;

/// Adds to a finding what is known about the build of its object. Returns whether the finding is the first one of its kind.
pub(crate) fn accept(
    finding: &mut Finding<'_>,
    built: &BuiltCluster,
    checked: &CheckedObject<'_>,
    repetitions: &mut Repetitions,
) -> bool {
    if built.is_empty() {
        return true;
    }
    let is_first = repetitions.is_first(finding, checked);
    if let Some(reason) = checked.unresolved {
        weaken(finding, reason);
    }
    let overlay = checked.overlay.filter(|_| checked.object.root().tree().is_assembled());
    if let Some(name) = overlay.and_then(|overlay| built.overlay_name(overlay)) {
        name_overlay(finding, name);
    }
    is_first
}

/// Makes an info of a finding of an object that is not known for certain.
fn weaken(finding: &mut Finding<'_>, reason: &str) {
    finding.severity = finding.severity.max(Severity::Info);
    let lead = if finding.help.is_empty() { String::new() } else { format!("{}; ", finding.help) };
    finding.help = format!("{lead}the object that `kustomize build` yields is not known: {reason}");
}

/// Names the overlay in a finding whose text is outside the folder of the overlay.
fn name_overlay(finding: &mut Finding<'_>, overlay: &str) {
    let within = finding.place.source().name().strip_prefix(overlay);
    if within.is_none_or(|rest| !rest.starts_with('/')) && overlay != "." {
        let lead = if finding.help.is_empty() { String::new() } else { format!("{}; ", finding.help) };
        finding.help = format!("{lead}found in the build of `{overlay}`");
    }
}

/// Findings that are reported once although several overlays have them.
#[derive(Debug, Default)]
pub(crate) struct Repetitions(BTreeSet<FindingKey>);

/// Key of equal findings: cluster, rule, text, bytes, path and message.
type FindingKey = (usize, &'static str, usize, (usize, usize), String, String);

impl Repetitions {
    /// Whether the finding is the first one of its rule with this message at its place.
    fn is_first(&mut self, finding: &Finding<'_>, checked: &CheckedObject<'_>) -> bool {
        let source = core::ptr::from_ref(finding.place.source()).addr();
        let span = finding.place.span();
        let path = finding.place.path(checked.object.root());
        let bytes = (span.start, span.end);
        self.0.insert((checked.cluster, finding.rule.name, source, bytes, path, finding.message.clone()))
    }
}

/// The files of the clusters by name, to locate the text of a node that comes from another file than its object.
#[derive(Debug)]
pub(crate) struct FileIndex<'d> {
    clusters: &'d [Cluster],
    /// The index of each file by the address of its text.
    by_source: BTreeMap<usize, (usize, usize)>,
}

impl<'d> FileIndex<'d> {
    /// Indexes the files of the clusters that have builds.
    pub(crate) fn of(clusters: &'d [Cluster], built: &[BuiltCluster]) -> Self {
        let mut by_source = BTreeMap::new();
        let with_builds = clusters.iter().zip(built).enumerate().filter(|(_, (_, built))| !built.is_empty());
        for (index, (cluster, _)) in with_builds {
            for (file_index, file) in cluster.files.iter().enumerate() {
                by_source.insert(core::ptr::from_ref(&*file.source).addr(), (index, file_index));
            }
        }
        Self { clusters, by_source }
    }

    /// The document that holds the text of a place; `None` if it is the document of the object.
    pub(crate) fn find(&self, place: &Place<'d>) -> Option<DocumentLocation<'d>> {
        if !place.node().tree().is_assembled() {
            return None;
        }
        let (cluster, file, document) = self.document_at(place.source(), place.span().start)?;
        let cluster = self.clusters.get(cluster)?;
        let file = cluster.files.get(file)?;
        Some(DocumentLocation { cluster: cluster.name.as_str(), file: file.source.name(), document })
    }

    /// The indices of the cluster, file and document that hold a byte of a text.
    pub(crate) fn document_at(&self, source: &Source, byte: usize) -> Option<(usize, usize, usize)> {
        let (cluster, file) = *self.by_source.get(&core::ptr::from_ref(source).addr())?;
        let documents = &self.clusters.get(cluster)?.files.get(file)?.documents;
        let after = documents.partition_point(|document| document.start() <= byte);
        Some((cluster, file, after.saturating_sub(1)))
    }

    /// Sorts the findings of built objects into the order of the documents and positions.
    pub(crate) fn sort(&self, report: &mut Report) {
        if self.by_source.is_empty() {
            return;
        }
        let mut order = BTreeMap::new();
        for (index, cluster) in self.clusters.iter().enumerate() {
            for (file_index, file) in cluster.files.iter().enumerate() {
                order.entry((cluster.name.as_str(), file.source.name())).or_insert((index, file_index));
            }
        }
        report.findings.sort_by_key(|finding| {
            let file = order.get(&(finding.cluster.as_str(), finding.file.as_str())).copied();
            (file, finding.document, finding.position.offset)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{class, report};

    /// Severity, file and document of each finding.
    fn findings(files: &[(&str, &str)]) -> Vec<(Severity, String, usize)> {
        let found = report(files).findings;
        found.into_iter().map(|finding| (finding.severity, finding.file, finding.document)).collect()
    }

    const BASE: &str = "resources: [classes.yaml]\n";
    const OVERLAY: &str = "resources: [../base]\n";

    /// An overlay of the base that sets fields of the `spec` of EC2NodeClasses: for each, its name, the field and the value.
    fn overlay(patches: &[(&str, &str, &str)]) -> String {
        let patch = |(name, field, value): &(&str, &str, &str)| {
            format!(
                "- target: {{name: {name}}}\n  patch: |-\n    - {{op: add, path: /spec/{field}, value: {value}}}\n"
            )
        };
        format!("{OVERLAY}patches:\n{}", patches.iter().map(patch).collect::<String>())
    }

    #[test]
    fn compares_an_object_with_the_objects_of_its_overlay_only() {
        let base = [class("a", "instanceProfile: free"), class("guard", "forbids: other")].join("---\n");
        let patched = overlay(&[("a", "instanceProfile", "other"), ("guard", "forbids", "free")]);
        let guarded = overlay(&[("guard", "forbids", "free")]);
        let found = |overlays: &[(&str, &str)]| {
            let base = [("base/classes.yaml", base.as_str()), ("base/kustomization.yaml", BASE)];
            let found = findings(&[&base, overlays].concat());
            found.into_iter().map(|(_, file, _)| file).collect::<Vec<_>>()
        };
        // One overlay leaves the profile as it is, and the other replaces it.
        assert!(found(&[("x/kustomization.yaml", OVERLAY), ("y/kustomization.yaml", &patched)]).is_empty());
        // Two overlays leave the profile as it is, and the third replaces it.
        assert_eq!(
            found(&[
                ("x/kustomization.yaml", &guarded),
                ("y/kustomization.yaml", &guarded),
                ("z/kustomization.yaml", &patched),
            ]),
            ["x/kustomization.yaml", "y/kustomization.yaml"]
        );
    }

    #[test]
    fn compares_objects_of_environments_with_kustomizations_within_their_folder() {
        let (guard, other) = (class("guard", "forbids: b"), class("b", "instanceProfile: b"));
        let found = |dev: &str, prod: &str| {
            findings(&[
                (&format!("{dev}/classes.yaml"), guard.as_str()),
                (&format!("{dev}/kustomization.yaml"), BASE),
                (&format!("{prod}/classes.yaml"), other.as_str()),
                (&format!("{prod}/kustomization.yaml"), BASE),
            ])
            .len()
        };
        assert_eq!((found("dev", "prod"), found("some", "more")), (0, 1));
    }

    #[test]
    fn weakens_findings_only_if_no_overlay_has_the_object_for_certain() {
        let base = class("a", "instanceProfile: 'arn:a/b'");
        let unknown = format!("{OVERLAY}transformers: [a.yaml]\n");
        let severity = |x: &str, y: &str| {
            let files = [
                ("base/classes.yaml", base.as_str()),
                ("base/kustomization.yaml", BASE),
                ("x/kustomization.yaml", x),
                ("y/kustomization.yaml", y),
            ];
            findings(&files).into_iter().map(|(severity, ..)| severity).collect::<Vec<_>>()
        };
        assert_eq!(severity(&unknown, &unknown), [Severity::Info]);
        assert_eq!(severity(OVERLAY, &unknown), [Severity::Error]);
    }

    #[test]
    fn checks_a_file_called_patch_if_a_kustomization_lists_it_as_a_resource() {
        let class = class("a", "instanceProfile: b");
        let skipped = |resources: &str| {
            let report = report(&[("kustomization.yaml", resources), ("patches/class.yaml", &class)]);
            report.skipped.into_iter().map(|skipped| skipped.file).collect::<Vec<_>>()
        };
        assert_eq!(skipped("resources: [patches/class.yaml]\n"), ["kustomization.yaml"]);
        assert_eq!(skipped("resources: []\n"), ["kustomization.yaml", "patches/class.yaml"]);
    }

    #[test]
    fn names_the_overlay_of_a_finding_in_a_text_outside_of_its_folder() {
        let found_in = |base: &str, overlay: &str| {
            let class = class("a", "instanceProfile: 'arn:a/b'");
            let kustomization = format!("resources: [\"{base}/classes.yaml\"]\ncommonLabels: {{a: b}}\n");
            let report = report(&[
                (&format!("{overlay}kustomization.yaml"), kustomization.as_str()),
                (&format!("{overlay}{base}/classes.yaml").replace("prod/../", ""), class.as_str()),
            ]);
            report.findings[0].help.clone()
        };
        assert_eq!(found_in("../base", "prod/"), "found in the build of `prod`");
        assert_eq!(found_in("../prod-base", "prod/"), "found in the build of `prod`");
        assert_eq!(found_in("base", "prod/"), "");
        assert_eq!(found_in("base", ""), "");
    }

    #[test]
    fn reports_findings_in_the_order_of_their_texts() {
        let (patched, bad) = (class("a", "x: 1"), class("c", "instanceProfile: 'arn:a/b'"));
        let others = [class("b", "x: 1"), bad].join("---\n");
        let overlay = overlay(&[("a", "instanceProfile", "arn:a/b")]) + "commonLabels: {a: b}\n";
        let files = [
            ("base/a.yaml", patched.as_str()),
            ("base/b.yaml", &others),
            ("base/kustomization.yaml", "resources: [a.yaml, b.yaml]\n"),
            ("prod/kustomization.yaml", &overlay),
        ];
        let places: Vec<_> =
            findings(&files).into_iter().map(|(_, file, document)| (file, document)).collect();
        let expected = [("base/b.yaml", 1), ("prod/kustomization.yaml", 0)];
        assert_eq!(places, expected.map(|(file, document)| (file.to_owned(), document)));
    }
}
