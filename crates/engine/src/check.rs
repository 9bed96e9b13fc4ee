//! The driver for files, one stage after the other: collect the objects, build their surroundings, check each one, show the findings,
//! verify the fixes.

use answers::report::Report;
use cluster::Cluster;
use cluster::built::BuiltCluster;
use cluster::charts::{CHART_FILE, LocalCharts};
use cluster::folders;
use cluster::input::Input;
use karpenter::api::served::is_own_group;
use manifest::{Document, File, FileKind, parallel};
use objects::object::Operation;
use rule::classification::Severity;
use rule::registry::Registry;
use rule::settings::Settings;
use terraform_objects::needs_evaluation;

use crate::collect::collect;
use crate::coverage::{DocumentReader, objects_in};
use crate::locations::Locations;
use crate::pins::Pins;
use crate::selection::Selection;
use crate::show::show;
use crate::stages::{ALL, Stages};
use crate::surroundings::{Checking, Surroundings};
use crate::verify;

/// Default maximum number of findings in a report.
pub const MAX_FINDINGS: usize = 10_000;

/// Number of objects whose findings are in memory before they are counted and reported. An object can have as many findings
/// as fields.
const OBJECTS_AT_ONCE: usize = 256;

/// Checks the manifests of one or several clusters.
pub fn check(registry: &Registry, clusters: &[Cluster], settings: &Settings) -> Report {
    check_within(registry, clusters, settings, MAX_FINDINGS)
}

/// Checks manifests with a maximum number of findings. The summary also counts the findings beyond the maximum.
pub fn check_within(
    registry: &Registry,
    clusters: &[Cluster],
    settings: &Settings,
    max_findings: usize,
) -> Report {
    let built = BuiltCluster::of_all(clusters);
    check_built(registry, Input::new(clusters, &built), settings, max_findings, Some(&ALL))
}

/// Checks manifests like [`check`] if every object is Karpenter's own, all files are in one folder and none is a review, a kustomization, a
/// chart or of Terraform, and the check is not about an upgrade.
///
/// A front end that calls only this function needs only the rules that read Karpenter's objects, no code that builds kustomizations, and
/// none of the [`Stages`].
pub fn check_karpenter_objects(
    registry: &Registry,
    clusters: &[Cluster],
    settings: &Settings,
) -> Option<Report> {
    let mut files = clusters.iter().flat_map(|cluster| &cluster.files);
    let mut folders = files.clone().map(|file| folders::parent(file.source.name()));
    let folder = folders.next();
    let is_one_folder = folders.all(|other| Some(other) == folder);
    if !(is_one_folder && files.all(has_own_objects_only)) || settings.karpenter.upgrade_path().is_some() {
        return None;
    }
    let built = BuiltCluster::all_without_kustomization(clusters)?;
    Some(check_built(registry, Input::new(clusters, &built), settings, MAX_FINDINGS, None))
}

/// Whether every object of a file belongs to Karpenter's API groups, and the file has no others: it is no review,
/// shows no chart, whose values are checked too, and is not of Terraform, which makes objects.
fn has_own_objects_only(file: &File) -> bool {
    file.kind != FileKind::ChartText
        && folders::name(file.source.name()) != CHART_FILE
        && !needs_evaluation(file)
        && file.documents.iter().all(|document| match document {
            Document::Read(tree) => {
                let mut objects = objects_in(file.kind, tree).into_iter();
                objects.all(|object| is_own_group(object.group()) && object.operation() == Operation::Apply)
            }
            _ => true,
        })
}

fn check_built(
    registry: &Registry,
    input: Input<'_>,
    settings: &Settings,
    max_findings: usize,
    stages: Option<&'static Stages>,
) -> Report {
    let mut report = Report::new(settings);
    let pins = Pins::of(input, settings);
    let selection = Selection::new(registry);
    let charts_of = |cluster: &Cluster| {
        stages.map_or_else(LocalCharts::default, |stages| (stages.charts)(&cluster.files))
    };
    let charts: Vec<LocalCharts> = input.clusters().map(|(_, cluster)| charts_of(cluster)).collect();
    let reader = DocumentReader { selection: &selection, settings, charts: &charts };
    let collected =
        collect(input, &reader, |document, file| pins.of_document(document, file.source.name()), &mut report);
    let objects = &collected.objects;
    report.controller = stages
        .zip(settings.karpenter.upgrade_path())
        .map(|(stages, path)| (stages.controller_changes)(input, objects, path));
    report.pins = pins.report(input, |file| collected.files.contains(&file));

    let checking = Checking { registry, settings, pins: &pins, stages, charts: &charts };
    let surroundings = Surroundings::of(checking, input, objects);
    surroundings.compute_large_indexes();
    report.environments = surroundings.environments();

    let outcomes = objects.as_slice().chunks(OBJECTS_AT_ONCE).flat_map(|objects| {
        parallel::map(objects, |one| surroundings.check(one, &selection.rules_on(one.object)))
    });

    let locations = Locations::new(input, objects);
    let offers = show(input, objects.iter().zip(outcomes), &locations, max_findings, &mut report);
    verify::add_fixes(checking, input, objects, &locations, offers, &mut report);
    report
}

/// Whether any finding is at least as severe as a level. Findings beyond the maximum count too.
pub fn fails(report: &Report, level: Severity) -> bool {
    let summary = &report.summary;
    let counts = [
        (Severity::Error, summary.errors),
        (Severity::Warning, summary.warnings),
        (Severity::Info, summary.infos),
    ];
    counts.into_iter().any(|(severity, count)| severity <= level && count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{class, cluster, registry_of, report};
    use karpenter::kind::Kind;
    use rule::classification::{CaughtBy, Family};
    use rule::finding::Finding;
    use rule::settings::{RuleSelector, Target};
    use rule::{On, Rule};

    /// Checks an EC2NodeClass with one rule, which the settings ignore.
    fn check_ignoring(registry: &Registry, rule: &Rule, karpenter: Target) -> Report {
        let ignore = vec![RuleSelector::One(rule.names())];
        let settings = Settings { karpenter, ignore, ..Settings::default() };
        check(registry, &[cluster(&[("a.yaml", &class("a", "x: 1"))])], &settings)
    }

    #[test]
    fn does_not_run_an_ignored_rule() {
        static FAULTY: Rule = Rule {
            name: "faulty",
            family: Family::ApiServer,
            on: &[On::Kind(Kind::NODE_CLASS)],
            check: |_, _, _| panic!("an ignored rule runs"),
            ..Rule::DEFAULTS
        };
        let registry = registry_of(&FAULTY);
        let report = check_ignoring(&registry, &FAULTY, Settings::default().karpenter);
        assert_eq!(report.summary.checked, 1);
    }

    #[test]
    fn refusals_of_an_ignored_rule_count_for_a_range_of_releases() {
        static REFUSING: Rule = Rule {
            name: "refusing",
            family: Family::ApiServer,
            caught_by: CaughtBy::ApiServer,
            on: &[On::Kind(Kind::NODE_CLASS)],
            check: |object, _, findings| findings.push(Finding::at(&REFUSING, object.root(), "refused")),
            ..Rule::DEFAULTS
        };
        let registry = registry_of(&REFUSING);
        let report = check_ignoring(&registry, &REFUSING, Target::parse("1.0..1.8").unwrap());
        let accepted: Vec<_> = report.accepted.iter().flatten().map(|one| one.releases.as_str()).collect();
        assert_eq!((report.findings.len(), accepted), (0, vec![""]));
    }

    #[test]
    fn locates_related_places_in_their_documents() {
        let text = [class("a", "instanceProfile: b"), class("b", "forbids: b"), class("c", "x: 1")];
        let report = report(&[("a.yaml", &text.join("---\n"))]);
        let related: Vec<_> =
            report.findings[0].related.iter().map(|at| (at.document, at.path.as_str())).collect();
        assert_eq!(related, [(0, "spec.instanceProfile")]);
    }
}
