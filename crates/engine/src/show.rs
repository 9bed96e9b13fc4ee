//! Adds the findings of objects to the report, each with its document and position.

use std::collections::BTreeSet;

use answers::report::{Accepted, Report, ReportedFinding, TextRange, url};
use cluster::ids::{ClusterId, DocumentId};
use cluster::input::Input;
use cluster::input_object::InputObject;
use karpenter::kind::is_karpenter_group;
use karpenter::release::ReleaseSet;
use manifest::FileKind;
use manifest::source::Span;
use objects::object::Object;
use rule::finding::{Finding, Severity, shown_name};
use rule::fix::Fix;
use terraform_objects::planned_address;

use crate::check_one::Outcome;
use crate::locations::{DocumentLocation, Locations};
use crate::objects::ObjectId;
use crate::offer::{FindingId, Offer, Offers};

/// Adds the findings of objects to the report, at most a number of them, and returns their fixes. The summary also counts the other
/// findings.
pub(crate) fn show<'c, 'd: 'c>(
    input: Input<'d>,
    outcomes: impl Iterator<Item = ((ObjectId, &'c InputObject<'d>), Option<Outcome<'d>>)>,
    locations: &'c Locations<'d>,
    max_findings: usize,
    report: &mut Report,
) -> Offers<'d> {
    let repetitions = Repetitions::default();
    let mut show =
        Show { input, locations, max_findings, repetitions, shown: Vec::new(), offers: Offers::default() };
    for ((id, one), outcome) in outcomes {
        if let Some(outcome) = outcome {
            show.add(id, one, outcome, report);
        }
    }
    let Show { mut shown, mut offers, .. } = show;
    // The findings of built objects are in the order of the documents that have their texts.
    if input.clusters().any(|(id, _)| locations.has_assembled(id)) {
        shown.sort_by_key(|one| (one.document, one.finding.position.offset));
    }
    for one in shown {
        if let Some(fix) = one.fix {
            let (finding, rule) = (FindingId::next(report), one.finding.rule);
            offers.add(Offer { finding, id: one.id, object: one.object, rule, fix });
        }
        report.findings.push(one.finding);
    }
    offers
}

/// The findings of a check, while they are added to its report.
struct Show<'c, 'd> {
    input: Input<'d>,
    locations: &'c Locations<'d>,
    max_findings: usize,
    repetitions: Repetitions,
    shown: Vec<Shown<'d>>,
    offers: Offers<'d>,
}

/// A finding as the report shows it, and its fix.
struct Shown<'d> {
    /// The document that has its text.
    document: DocumentId,
    finding: ReportedFinding,
    id: ObjectId,
    object: InputObject<'d>,
    fix: Option<Fix<'d>>,
}

impl<'d> Show<'_, 'd> {
    /// Adds the findings of an object.
    fn add(&mut self, id: ObjectId, one: &InputObject<'d>, outcome: Outcome<'d>, report: &mut Report) {
        let is_outside = self.is_outside(one.document);
        report.summary.suppressed += if one.is_repeated || is_outside { 0 } else { outcome.accepted.count };
        report.used_exceptions.extend(outcome.accepted.exceptions);
        report.unchanged += outcome.unchanged;
        self.offers.count(id, one.object, &outcome.findings);
        let names = Names::of(one.object);
        let location = self.locations.locate(one.document);
        if !is_outside {
            accept(report, &location, &outcome.refused, one.object);
        }
        for mut finding in outcome.findings {
            if !self.add_build(&mut finding, one) {
                continue;
            }
            if self.is_outside(self.locations.of_text(&finding.place).unwrap_or(one.document)) {
                report.outside.findings += 1;
                continue;
            }
            report.count(finding.severity);
            if self.shown.len() >= self.max_findings {
                report.truncated = true;
                continue;
            }
            let (document, shown) = self.shown(&finding, one, names, report);
            self.shown.push(Shown { document, finding: shown, id, object: *one, fix: finding.fix });
        }
    }

    /// Whether a document is outside of the input, so that nothing is reported about it.
    fn is_outside(&self, document: DocumentId) -> bool {
        self.input.file(document.file).is_some_and(|file| file.kind == FileKind::Referenced)
    }

    /// Adds to a finding what is known about the build of its object. Returns whether the finding is the first one of its kind.
    fn add_build(&mut self, finding: &mut Finding<'d>, one: &InputObject<'d>) -> bool {
        let cluster = one.document.file.cluster;
        if !self.locations.has_assembled(cluster) {
            return true;
        }
        name_resource(finding);
        let Some(built) = self.input.built(cluster) else { return true };
        let is_first = self.repetitions.is_first(finding, one);
        if let Some(reason) = one.unresolved {
            weaken(finding, reason);
        }
        let overlay = one.overlay.filter(|_| one.object.root().tree().is_assembled());
        if let Some(name) = overlay.and_then(|overlay| built.overlay_name(overlay)) {
            name_overlay(finding, name);
        }
        is_first
    }

    /// A finding as the report shows it, and the document that has its text. Fixes are added once they are verified.
    fn shown(
        &self,
        finding: &Finding<'d>,
        one: &InputObject<'d>,
        names: Names<'d>,
        report: &Report,
    ) -> (DocumentId, ReportedFinding) {
        let document = self.locations.of_text(&finding.place).unwrap_or(one.document);
        let (object, place) = (one.object, self.locations.locate(document));
        let related = finding.related.iter().filter_map(|(at, message)| {
            let (place, object) = self.locations.find(at)?;
            let range = TextRange::of(at.source(), at.span());
            Some(place.related(shown_name(&at.path(object.root())), range, message.clone()))
        });
        let path = report.target.upgrade_path();
        let shown = ReportedFinding {
            rule: finding.rule.name,
            family: finding.rule.family,
            severity: finding.severity,
            caught_by: finding.caught_by,
            releases: finding.releases.to_string(),
            boundary: path.and_then(|path| path.boundary(&finding.releases)),
            phase: path.map(|_| finding.rule.phase),
            cluster: place.cluster.to_owned(),
            file: place.file.to_owned(),
            document: place.document,
            api_version: shown_name(object.api_version()),
            kind: shown_name(object.kind()),
            namespace: shown_name(names.namespace),
            name: shown_name(names.name),
            path: shown_name(&finding.place.path(object.root())),
            position: TextRange::of(finding.place.source(), finding.place.span()),
            message: finding.message.clone(),
            help: finding.help.clone(),
            url: url(finding.rule.name),
            has_page: true,
            related: related.collect(),
            fix: None,
            confidence: None,
            evidence: None,
            seen: None,
        };
        (document, shown)
    }
}

/// Records which releases accept a document.
fn accept(report: &mut Report, place: &DocumentLocation<'_>, refused: &ReleaseSet, object: Object<'_>) {
    let karpenter = is_karpenter_group(object.group());
    let (true, Some(accepted)) = (karpenter, report.accepted.as_mut()) else { return };
    let set = ReleaseSet::all().without(refused);
    let is_same = |last: &&mut Accepted| last.file == place.file && last.document == place.document;
    if let Some(last) = accepted.last_mut().filter(is_same) {
        last.set = last.set.and(set);
        last.releases = report.target.ranges_of(&last.set);
        return;
    }
    accepted.push(Accepted {
        file: place.file.to_owned(),
        document: place.document,
        releases: report.target.ranges_of(&set),
        set,
    });
}

/// Name and namespace of an object, looked up once for all its findings: an object may have as many findings as fields, and to
/// search its fields for each of them would take quadratic time.
#[derive(Clone, Copy, Debug)]
struct Names<'d> {
    name: &'d str,
    namespace: &'d str,
}

impl<'d> Names<'d> {
    /// The names of an object.
    fn of(object: Object<'d>) -> Self {
        Self { name: object.name(), namespace: object.namespace() }
    }
}

/// Makes an info of a finding of an object that is not known for certain.
fn weaken(finding: &mut Finding<'_>, reason: &str) {
    finding.severity = finding.severity.max(Severity::Info);
    let lead = if finding.help.is_empty() { String::new() } else { format!("{}; ", finding.help) };
    finding.help = format!("{lead}the object that `kustomize build` yields is not known: {reason}");
}

/// Names the resource of Terraform in a finding in a plan, whose text is often one line.
fn name_resource(finding: &mut Finding<'_>) {
    if let Some(address) = planned_address(finding.place.node().tree()) {
        let lead = if finding.help.is_empty() { String::new() } else { format!("{}; ", finding.help) };
        finding.help = format!("{lead}found in the resource `{address}`");
    }
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

/// Key of equal findings.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FindingKey {
    cluster: ClusterId,
    rule: &'static str,
    /// Address of the text.
    source: usize,
    span: Span,
    path: String,
    message: String,
}

impl Repetitions {
    /// Whether the finding is the first one of its rule with this message at its place.
    fn is_first(&mut self, finding: &Finding<'_>, one: &InputObject<'_>) -> bool {
        self.0.insert(FindingKey {
            cluster: one.document.file.cluster,
            rule: finding.rule.name,
            source: core::ptr::from_ref(finding.place.source()).addr(),
            span: finding.place.span(),
            path: finding.place.path(one.object.root()),
            message: finding.message.clone(),
        })
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

    #[test]
    fn is_truncated_only_if_findings_are_left_out() {
        let mut report = report(&[("a.yaml", &class("a", "profiles: ['arn:a/b', 'arn:a/c']"))]);
        report.truncate(2);
        assert_eq!((report.findings.len(), report.truncated), (2, false));
        report.truncate(1);
        assert_eq!((report.findings.len(), report.truncated, report.summary.errors), (1, true, 2));
    }
}
