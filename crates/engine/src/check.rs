//! The driver: runs the rules on documents, and removes findings that are off, suppressed or superseded.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use karpenter::release::ReleaseSet;
use manifest::tree::{Node, Tree};
use manifest::{Document, parallel};
use objects::location::Place;
use objects::object::Object;

use crate::ahead;

use crate::built::{self, FileIndex, Repetitions};
use crate::collect::{Collector, has_own_objects_only};
use crate::coverage::{self, NOT_SERVED};
use crate::pins::Pins;
use crate::ratchet;
use crate::report::{self, DocumentLocation, Names, reported};
use crate::selection::Selection;
use crate::supersession::remove_superseded;
use crate::surroundings::Surroundings;
use crate::tally;
use crate::upgrade;
use crate::verify::{self, Offer, Offers};
use answers::report::Report;
use cluster::Cluster;
use cluster::built::{BuiltCluster, CheckedObject, Slot};
use cluster::inventory::Inventory;
use rule::classification::{Family, Severity};
use rule::context::Context;
use rule::finding::Finding;
use rule::registry::Registry;
use rule::settings::{Exception, Settings};
use rule::suppression::Suppressions;
use rule::{On, Rule};

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
    let built: Vec<BuiltCluster> = clusters.iter().map(|cluster| BuiltCluster::of(&cluster.files)).collect();
    check_built(registry, clusters, &built, settings, max_findings)
}

/// Checks manifests like [`check`] if every object is Karpenter's own, no file is a kustomization, and the check is not
/// about an upgrade.
///
/// A front end that calls only this function needs only the rules that read Karpenter's objects, and no code that builds
/// kustomizations.
pub fn check_karpenter_objects(
    registry: &Registry,
    clusters: &[Cluster],
    settings: &Settings,
) -> Option<Report> {
    let has_own_objects_only = clusters.iter().flat_map(|cluster| &cluster.files).all(has_own_objects_only);
    if !has_own_objects_only || settings.karpenter.upgrade_path().is_some() {
        return None;
    }
    let built = clusters.iter().map(|cluster| BuiltCluster::without_kustomization(&cluster.files));
    let built: Vec<BuiltCluster> = built.collect::<Option<_>>()?;
    Some(check_built(registry, clusters, &built, settings, MAX_FINDINGS))
}

fn check_built(
    registry: &Registry,
    clusters: &[Cluster],
    built: &[BuiltCluster],
    settings: &Settings,
    max_findings: usize,
) -> Report {
    let mut report = Report::new(settings);
    let pins = Pins::of(clusters, settings);
    let selection = Selection::new(registry);
    let collector = Collector { selection: &selection, settings, pins: &pins, report: &mut report };
    let collected = collector.collect(clusters, built);
    let surroundings = Surroundings::of(clusters, built, &collected.objects, settings);
    ahead::compute(surroundings.inventories(), registry, settings);
    let locations = Locations::new(clusters, built, &collected.objects);
    let driver = Driver { registry, clusters, settings, pins: &pins };
    let mut repetitions = Repetitions::default();
    let mut offers = Offers::default();
    let outcomes = collected.objects.chunks(OBJECTS_AT_ONCE).flat_map(|objects| {
        parallel::map(objects, |checked| {
            driver.findings(checked, &selection.rules_on(checked.object), &surroundings)
        })
    });
    for (index, (checked, outcome)) in collected.objects.iter().zip(outcomes).enumerate() {
        let Some(outcome) = outcome else { continue };
        if let Some(refused) = &outcome.refused {
            report::accept(&mut report, locations.of(checked), refused, checked.object);
        }
        if !checked.is_repeated {
            report.summary.suppressed += outcome.accepted.count;
        }
        report.used_exceptions.extend(outcome.accepted.exceptions);
        report.unchanged += outcome.unchanged;
        offers.count(index, &outcome.findings);
        if outcome.findings.is_empty() {
            continue;
        }
        let names = Names::of(checked.object);
        for mut finding in outcome.findings {
            let is_first = built
                .get(checked.cluster)
                .is_none_or(|built| built::accept(&mut finding, built, checked, &mut repetitions));
            if !is_first {
                continue;
            }
            report.count(finding.severity);
            if report.findings.len() >= max_findings {
                report.truncated = true;
                continue;
            }
            let place = locations.files.find(&finding.place).unwrap_or_else(|| locations.of(checked));
            let find = |place: &_| locations.find(place);
            report.findings.push(reported(&finding, report.target, checked.object, names, &place, find));
            if let Some(fix) = finding.fix {
                let finding_index = report.findings.len() - 1;
                offers.add(Offer { finding: finding_index, object: index, rule: finding.rule.name, fix });
            }
        }
    }
    verify::add_fixes(&driver, built, &collected.objects, &locations, offers, &mut report);
    locations.files.sort(&mut report);
    report.pins = pins.report(clusters, |cluster, file| collected.files.contains(&(cluster, file)));
    report.environments = surroundings.environments();
    report
}

/// Input of the check that is the same for every object.
pub(crate) struct Driver<'c> {
    pub(crate) registry: &'c Registry,
    pub(crate) clusters: &'c [Cluster],
    pub(crate) settings: &'c Settings,
    pins: &'c Pins<'c>,
}

/// Result of checking an object.
pub(crate) struct Outcome<'d> {
    pub(crate) findings: Vec<Finding<'d>>,
    /// Findings that the author or the settings accept.
    accepted: AcceptedFindings,
    /// Number of findings that are the same at both ends of the upgrade path.
    unchanged: usize,
    /// The releases whose API server refuses the object, for a check against a range of releases.
    refused: Option<ReleaseSet>,
}

impl Driver<'_> {
    /// Runs rules on an object among others. `None` if none runs on it. As in the cluster, an error that the stored object
    /// of an AdmissionReview already has is a warning.
    pub(crate) fn findings<'d>(
        &self,
        checked: &CheckedObject<'d>,
        rules: &[&'static Rule],
        surroundings: &Surroundings<'d>,
    ) -> Option<Outcome<'d>> {
        let mut outcome = self.findings_at_once(checked, rules, surroundings)?;
        if let Some((stored, surroundings)) = checked.stored().zip(surroundings.before())
            && outcome.findings.iter().any(ratchet::may_be_lowered)
            && let Some(before) =
                self.findings_at_once(&stored, &self.registry.rules_on(stored.object), surroundings)
        {
            let findings = &mut outcome.findings;
            ratchet::lower_old_errors(findings, checked.object, &before.findings, stored.object);
        }
        Some(outcome)
    }

    fn findings_at_once<'d>(
        &self,
        checked: &CheckedObject<'d>,
        rules: &[&'static Rule],
        surroundings: &Surroundings<'d>,
    ) -> Option<Outcome<'d>> {
        let file = self.clusters.get(checked.cluster).and_then(|cluster| cluster.files.get(checked.file));
        let name = file.map_or("", |file| file.source.name());
        let settings = self.pins.settings_of(checked.cluster, checked.file, name);
        let before_v1 = self.pins.version_of(checked.cluster, checked.file, name).before_v1;
        if coverage::is_outside(checked.object, before_v1) {
            return None;
        }
        let context = surroundings.context(checked, &settings)?.before_v1(before_v1);
        let suppressions = Suppressions::of(checked.object, self.registry, &context);
        let mut findings = run(rules, checked.object, &context, &suppressions);
        coverage::keep_covered(&mut findings, checked.object, before_v1);
        let refused = self.settings.karpenter.is_range().then(|| refused(&findings));
        let mut accepted = AcceptedFindings::default();
        let mut findings =
            shown(self.registry, findings, checked.object, &context, suppressions, &mut accepted);
        let path = self.settings.karpenter.upgrade_path();
        let unchanged = path.map_or(0, |path| upgrade::keep_changes(&mut findings, path));
        Some(Outcome { findings, accepted, unchanged, refused })
    }
}

/// The cluster of an admission request.
#[derive(Clone, Debug, Default)]
pub struct RequestCluster<'d> {
    /// The objects of the cluster, including the object of the request.
    pub objects: Vec<Object<'d>>,
    /// The number of NodePools that are left out, because a [`Shortlist`](scheduling::shortlist::Shortlist) does not need them.
    pub omitted_pools: usize,
    /// Whether an object that is absent here is absent from the cluster.
    pub is_complete: bool,
}

/// Checks the object of an admission request. `rules` are the [rules on](Registry::rules_on) this object. An error that the stored
/// object already has is a warning, unless the settings make updates strict. Of each rule and severity the result has the first 1,000 findings.
pub fn check_request<'d>(
    registry: &Registry,
    rules: &[&'static Rule],
    object: Object<'d>,
    cluster: &RequestCluster<'d>,
    settings: &Settings,
) -> Vec<Finding<'d>> {
    let mut findings = findings_among(registry, rules, object, cluster.clone(), settings);
    let stored = object.stored().filter(|_| !settings.strict_updates);
    if let Some(stored) = stored.filter(|_| findings.iter().any(ratchet::may_be_lowered)) {
        let objects = cluster.objects.iter().map(|one| if *one == object { stored } else { *one }).collect();
        let rules = registry.rules_on(stored);
        let before =
            findings_among(registry, &rules, stored, RequestCluster { objects, ..*cluster }, settings);
        ratchet::lower_old_errors(&mut findings, object, &before, stored);
    }
    tally::keep_first(&mut findings);
    findings
}

fn findings_among<'d>(
    registry: &Registry,
    rules: &[&'static Rule],
    object: Object<'d>,
    cluster: RequestCluster<'d>,
    settings: &Settings,
) -> Vec<Finding<'d>> {
    let RequestCluster { objects, omitted_pools, is_complete } = cluster;
    let clusters = [Inventory::new("", objects, is_complete).with_omitted_pools(omitted_pools)];
    let [inventory] = &clusters;
    let context = Context::new(settings, inventory, &clusters, object, false);
    let suppressions = Suppressions::of(object, registry, &context);
    let findings = run(rules, object, &context, &suppressions);
    shown(registry, findings, object, &context, suppressions, &mut AcceptedFindings::default())
}

/// Runs rules on an object.
fn run<'d>(
    rules: &[&'static Rule],
    object: Object<'d>,
    context: &Context<'_, 'd>,
    suppressions: &Suppressions<'d>,
) -> Vec<Finding<'d>> {
    let mut findings = Vec::new();
    let further_pods = object.with_further_pods();
    for rule in rules {
        if runs(rule, context.settings, suppressions) {
            (rule.check)(object, context, &mut findings);
            for object in further_pods.iter().filter(|_| rule.on.contains(&On::Workload)) {
                (rule.check)(*object, context, &mut findings);
            }
        }
    }
    for finding in findings.iter_mut().filter(|finding| finding.rule.depends_on_karpenter) {
        if finding.severity != Severity::Info && !context.shows_karpenter() {
            finding.severity = Severity::Info;
        }
    }
    findings.sort_by(in_order);
    if !further_pods.is_empty() {
        // A rule finds a fault outside the templates, or in their common defaults, once for each template.
        let mut seen = BTreeSet::new();
        findings.retain(|finding| {
            let releases = finding.releases.to_string();
            seen.insert((finding.rule.name, finding.place.order(), finding.message.clone(), releases))
        });
    }
    findings
}

/// Whether a rule runs. A rule that is off still runs if a range of releases needs its refusals, or if a suppression
/// names it, because other settings may need the suppression.
fn runs(rule: &Rule, settings: &Settings, suppressions: &Suppressions<'_>) -> bool {
    let is_refusal_in_range = rule.family == Family::ApiServer && settings.karpenter.is_range();
    is_refusal_in_range || settings.enables(rule) || suppressions.mention(rule)
}

/// Orders findings by position, then by rule.
fn in_order(one: &Finding<'_>, other: &Finding<'_>) -> Ordering {
    one.place.order().cmp(&other.place.order()).then(one.rule.name.cmp(other.rule.name))
}

/// The releases whose API server refuses the object. A refused placeholder, which is an info, does not count: another value
/// replaces it before the object is applied.
fn refused(findings: &[Finding<'_>]) -> ReleaseSet {
    let is_refusal = |finding: &&Finding<'_>| {
        let is_placeholder = finding.severity == Severity::Info && finding.rule.name != NOT_SERVED;
        finding.rule.family == Family::ApiServer && !is_placeholder
    };
    let refusals = findings.iter().filter(is_refusal);
    refusals.fold(ReleaseSet::none(), |all, finding| all.or(&finding.releases))
}

/// Findings of an object that are not shown because somebody accepted them.
#[derive(Default)]
struct AcceptedFindings {
    count: usize,
    /// Indices of the exceptions that accept a finding.
    exceptions: BTreeSet<usize>,
}

/// Removes the findings that the settings turn off or the author suppresses, sets the severity of the settings, and adds
/// the findings about suppressions.
fn shown<'d>(
    registry: &Registry,
    findings: Vec<Finding<'d>>,
    object: Object<'d>,
    context: &Context<'_, 'd>,
    mut suppressions: Suppressions<'d>,
    accepted: &mut AcceptedFindings,
) -> Vec<Finding<'d>> {
    let settings = context.settings;
    let target = settings.karpenter;
    let mut shown: Vec<Finding<'d>> = Vec::new();
    for finding in findings.into_iter().filter(|finding| target.meets(&finding.releases)) {
        let is_accepted = suppressions.apply_to(&finding);
        let Some(severity) = settings.severity(finding.rule, finding.severity) else { continue };
        let covers = |exception: &Exception| {
            exception.covers(finding.rule.name, finding.rule.family, object, settings.today)
        };
        let exceptions = settings.exceptions.iter().enumerate();
        let covering: Vec<usize> =
            exceptions.filter(|(_, exception)| covers(exception)).map(|(index, _)| index).collect();
        let is_excepted = !covering.is_empty();
        accepted.exceptions.extend(covering);
        if is_accepted || is_excepted {
            accepted.count += 1;
        } else {
            shown.push(finding.severity(severity));
        }
    }
    for finding in suppressions.findings(registry.suppressions) {
        if let Some(severity) = settings.severity(finding.rule, finding.severity) {
            shown.push(finding.severity(severity));
        }
    }
    remove_superseded(&mut shown, object, target);
    shown.sort_by(in_order);
    shown
}

/// Locations of objects among the inputs, by tree and node.
pub(crate) struct Locations<'c, 'd> {
    clusters: &'d [Cluster],
    files: FileIndex<'d>,
    objects: &'c [CheckedObject<'d>],
    /// Address of each object's tree, order of its root in the tree, and index of the object; sorted.
    by_tree: Vec<(usize, usize, usize)>,
}

impl<'c, 'd> Locations<'c, 'd> {
    fn new(clusters: &'d [Cluster], built: &[BuiltCluster], objects: &'c [CheckedObject<'d>]) -> Self {
        let key = |(index, checked): (usize, &CheckedObject<'d>)| {
            let root = checked.object.root();
            (address(root.tree()), root.order(), index)
        };
        let mut by_tree: Vec<_> = objects.iter().enumerate().map(key).collect();
        by_tree.sort_unstable();
        Self { clusters, files: FileIndex::of(clusters, built), objects, by_tree }
    }

    fn of(&self, checked: &CheckedObject<'d>) -> DocumentLocation<'d> {
        let cluster = self.clusters.get(checked.cluster);
        let file = cluster.and_then(|cluster| cluster.files.get(checked.file));
        DocumentLocation {
            cluster: cluster.map_or("", |cluster| cluster.name.as_str()),
            file: file.map_or("", |file| file.source.name()),
            document: checked.document,
        }
    }

    /// The indices and the tree of the document that has the text of a node.
    pub(crate) fn text_of(&self, node: Node<'d>) -> Option<(Slot, &'d Tree)> {
        let (cluster, file, document) = self.files.document_at(node.source(), node.span().start)?;
        let files = &self.clusters.get(cluster)?.files;
        match files.get(file)?.documents.get(document)? {
            Document::Read(tree) => Some(((cluster, file, document), tree)),
            _ => None,
        }
    }

    /// The location and the object of a place.
    pub(crate) fn find(&self, place: &Place<'d>) -> Option<(DocumentLocation<'d>, Object<'d>)> {
        let node = place.node();
        let key = (address(node.tree()), node.order());
        let at = self.by_tree.partition_point(|(tree, order, _)| (*tree, *order) <= key);
        let (tree, _, index) = self.by_tree.get(at.checked_sub(1)?)?;
        let checked = self.objects.get(*index)?;
        let location = || self.files.find(place).unwrap_or_else(|| self.of(checked));
        (*tree == key.0).then(|| (location(), checked.object))
    }
}

fn address<T>(value: &T) -> usize {
    core::ptr::from_ref(value).addr()
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
    use crate::testing::{REGISTRY, class, cluster, registry_of, report};
    use karpenter::kind::Kind;
    use manifest::File;
    use manifest::limits::Limits;
    use objects::object::Operation;
    use rule::settings::{Selector, Target};

    /// Checks an EC2NodeClass with one rule, which the settings ignore.
    fn check_ignoring(registry: &Registry, rule: &Rule, karpenter: Target) -> Report {
        let ignore = vec![Selector::One(rule.name, rule.family)];
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

    #[test]
    fn lowers_an_error_that_another_object_already_caused_before_the_update() {
        let text =
            [class("a", "forbids: b"), class("a", "forbids: b, x: 1"), class("b", "instanceProfile: b")];
        let file = File::read("a.yaml", text.join("---\n"), &Limits::DEFAULT);
        let trees = file.documents.iter().map(|document| match document {
            Document::Read(tree) => tree.root(),
            other => panic!("{other:?}"),
        });
        let [old, new, other] = trees.collect::<Vec<_>>().try_into().unwrap();
        let object = Object::in_request(new, Some(old), Operation::Update);
        let other = Object::in_request(other, None, Operation::Create);
        let cluster = RequestCluster { objects: vec![object, other], ..RequestCluster::default() };
        let rules = REGISTRY.rules_on(object);
        let findings = check_request(&REGISTRY, &rules, object, &cluster, &Settings::default());
        let severities: Vec<_> = findings.iter().map(|finding| finding.severity).collect();
        assert_eq!(severities, [Severity::Warning]);
    }
}
