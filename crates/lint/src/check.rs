//! Documents and settings in, findings out: runs the rules and decides which of their findings are shown.

use std::cell::OnceCell;
use std::cmp::Ordering;

use crate::finding::{Family, Finding, Severity};
use crate::inventory::Inventory;
use crate::report::{DocumentLocation, Report, Skipped, Unreadable};
use crate::rule::{Registry, Rule};
use crate::settings::{Exception, Settings};
use crate::supersession::remove_superseded;
use crate::suppression::Suppressions;
use crate::upgrade;
use karpenter::release::ReleaseSet;
use manifest::tree::Node;
use manifest::{Document, File, FileKind};
use objects::kustomize::Patches;
use objects::object::Object;
use objects::validation::{self, Refusal};

/// The findings a run shows at most, unless something else is asked for.
pub const MAX_FINDINGS: usize = 10_000;

/// What a rule can look at besides the object it checks.
#[derive(Debug)]
pub struct Context<'c, 'd> {
    /// The rules that suppressions may name.
    pub registry: &'c Registry,
    /// What the findings depend on.
    pub settings: &'c Settings,
    /// The other objects of the same cluster.
    pub inventory: &'c Inventory<'d>,
    /// All clusters that are checked together, this one among them.
    pub clusters: &'c [Inventory<'d>],
    /// Whether the object was read from a text, rather than received from an API server that has pruned it.
    pub is_text: bool,
    /// What the API server refuses in the object, found when a rule first asks for it.
    refusals: OnceCell<Vec<Refusal<'d>>>,
}

impl<'c, 'd> Context<'c, 'd> {
    /// The context of one object among the objects of its cluster.
    fn new(
        registry: &'c Registry,
        settings: &'c Settings,
        inventory: &'c Inventory<'d>,
        clusters: &'c [Inventory<'d>],
        is_text: bool,
    ) -> Self {
        Self { registry, settings, inventory, clusters, is_text, refusals: OnceCell::new() }
    }

    /// What the API server refuses in the object of this context, in every release.
    pub fn refusals(&self, object: Object<'d>) -> &[Refusal<'d>] {
        self.refusals.get_or_init(|| validation::refusals(object, self.is_text))
    }
}

/// The files of one cluster.
#[derive(Debug, Default)]
pub struct Cluster {
    /// What tells it from others; empty where there is only one.
    pub name: String,
    /// Its files, in the order in which they are reported.
    pub files: Vec<File>,
}

/// Where an object stands among the inputs.
#[derive(Clone, Copy, Debug)]
struct Subject<'d> {
    object: Object<'d>,
    cluster: usize,
    file: usize,
    document: usize,
}

/// Checks the manifests of one or several clusters.
pub fn check(registry: &Registry, clusters: &[Cluster], settings: &Settings) -> Report {
    check_within(registry, clusters, settings, MAX_FINDINGS)
}

/// The same with a bound on the findings that are kept. Those beyond it are counted all the same.
pub fn check_within(
    registry: &Registry,
    clusters: &[Cluster],
    settings: &Settings,
    max_findings: usize,
) -> Report {
    let mut report = Report::new(settings);
    let mut subjects: Vec<Subject<'_>> = Vec::new();
    let mut inventories = Vec::new();
    for (index, cluster) in clusters.iter().enumerate() {
        let first = subjects.len();
        let patches = Patches::of(&cluster.files);
        for (file_index, file) in cluster.files.iter().enumerate() {
            let is_patch = file.kind == FileKind::Patch || patches.contains(file.source.name());
            for (document, read) in file.documents.iter().enumerate() {
                let objects = account(&mut report, registry, settings, file, document, read, is_patch);
                let subject = |object| Subject { object, cluster: index, file: file_index, document };
                subjects.extend(objects.into_iter().map(subject));
            }
        }
        let objects = subjects.iter().skip(first).map(|subject| subject.object).collect();
        inventories.push(Inventory::new(cluster.name.clone(), objects, settings.complete_inventory));
    }
    let places = Places::new(clusters, &subjects);
    for subject in &subjects {
        let Some(inventory) = inventories.get(subject.cluster) else { continue };
        let own = settings.of_file(places.of(subject).file);
        let context = Context::new(registry, &own, inventory, &inventories, true);
        let suppressions = Suppressions::of(subject.object, &context);
        let findings = run(subject.object, &context, &suppressions);
        if settings.karpenter.is_range() {
            report.accept(places.of(subject), &refused(&findings), subject.object);
        }
        let mut shown =
            shown(findings, subject.object, &context, suppressions, &mut report.summary.suppressed);
        if let Some(path) = settings.karpenter.upgrade_path() {
            report.unchanged += upgrade::keep_changes(&mut shown, path);
        }
        for finding in shown {
            report.count(finding.severity);
            if report.findings.len() >= max_findings {
                report.truncated = true;
                continue;
            }
            report.add(&finding, subject.object, &places.of(subject), |node| places.find(node));
        }
    }
    report
}

/// Checks the object of an admission request. `objects` are the objects of its cluster, the object itself among them.
pub fn check_request<'d>(
    registry: &Registry,
    object: Object<'d>,
    objects: Vec<Object<'d>>,
    settings: &Settings,
) -> Vec<Finding<'d>> {
    let clusters = [Inventory::new("", objects, settings.complete_inventory)];
    let [inventory] = &clusters;
    let context = Context::new(registry, settings, inventory, &clusters, false);
    let suppressions = Suppressions::of(object, &context);
    let findings = run(object, &context, &suppressions);
    shown(findings, object, &context, suppressions, &mut 0)
}

/// Counts a document, and gives its objects where it has some.
fn account<'d>(
    report: &mut Report,
    registry: &Registry,
    settings: &Settings,
    file: &'d File,
    document: usize,
    read: &'d Document,
    is_patch: bool,
) -> Vec<Object<'d>> {
    report.summary.documents += 1;
    let name = || file.source.name().to_owned();
    let mut skip = |reason: &str| {
        report.summary.skipped += 1;
        report.skipped.push(Skipped { file: name(), document, reason: reason.to_owned() });
        Vec::new()
    };
    match read {
        Document::Read(_) if is_patch => skip("a Kustomize patch, checked in what it is applied to"),
        Document::Read(tree) => {
            let objects =
                if file.kind == FileKind::Values { Object::values(tree) } else { Object::all(tree) };
            if objects.is_empty() && file.kind == FileKind::Values {
                return skip("no values of a chart: it holds no keys, not checked");
            }
            if objects.is_empty() {
                return skip("no Kubernetes object: `apiVersion` and `kind` are missing, not checked");
            }
            let on_upgrade = settings.karpenter.upgrade_path().is_some();
            let reads = |rule: &Rule, object| {
                rule.reads(object) || (on_upgrade && rule.upgrade_only && rule.applies(object))
            };
            if !objects.iter().any(|object| registry.rules().any(|rule| reads(rule, *object))) {
                let kind = objects.first().map(|object| object.kind()).unwrap_or_default();
                skip(&format!("no rule reads the kind `{kind}`"));
                return objects;
            }
            report.summary.checked += 1;
            objects
        }
        Document::Template(_) => skip("template, not checked: render it first"),
        Document::Unreadable { at, message } => {
            let position = file.source.position(*at);
            report.unreadable.push(Unreadable {
                file: name(),
                document,
                line: position.line,
                column: position.column,
                message: message.clone(),
            });
            Vec::new()
        }
    }
}

/// Runs the rules on the object of a context.
fn run<'d>(
    object: Object<'d>,
    context: &Context<'_, 'd>,
    suppressions: &Suppressions<'d>,
) -> Vec<Finding<'d>> {
    let mut findings = Vec::new();
    for rule in context.registry.rules() {
        if rule.applies(object) && runs(rule, context.settings, suppressions) {
            (rule.check)(object, context, &mut findings);
        }
    }
    findings.sort_by(in_order);
    findings
}

/// Whether a rule runs. A rule that is off runs all the same if a range of releases needs its refusals, or if a suppression
/// names it: the suppression may be needed under other settings.
fn runs(rule: &Rule, settings: &Settings, suppressions: &Suppressions<'_>) -> bool {
    let is_refusal_in_range = rule.family == Family::ApiServer && settings.karpenter.is_range();
    is_refusal_in_range || settings.speaks(rule) || suppressions.name(rule)
}

/// Document order, then rule.
fn in_order(one: &Finding<'_>, other: &Finding<'_>) -> Ordering {
    one.place.order().cmp(&other.place.order()).then(one.rule.name.cmp(other.rule.name))
}

/// The releases whose API server refuses the object.
fn refused(findings: &[Finding<'_>]) -> ReleaseSet {
    let refusals = findings.iter().filter(|finding| finding.rule.family == Family::ApiServer);
    refusals.fold(ReleaseSet::none(), |all, finding| all.or(&finding.releases))
}

/// Keeps the findings that neither the settings nor the author suppress, each with the severity of the settings, and adds
/// the findings about the suppressions themselves.
fn shown<'d>(
    findings: Vec<Finding<'d>>,
    object: Object<'d>,
    context: &Context<'_, 'd>,
    mut suppressions: Suppressions<'d>,
    suppressed: &mut usize,
) -> Vec<Finding<'d>> {
    let settings = context.settings;
    let target = settings.karpenter;
    let mut shown: Vec<Finding<'d>> = Vec::new();
    for finding in findings.into_iter().filter(|finding| target.meets(&finding.releases)) {
        let is_accepted = suppressions.accept(&finding);
        let Some(severity) = settings.severity(finding.rule, finding.severity) else { continue };
        let covers = |exception: &Exception| exception.covers(finding.rule, object, settings.today);
        if is_accepted || settings.exceptions.iter().any(covers) {
            *suppressed += 1;
        } else {
            shown.push(finding.severity(severity));
        }
    }
    for finding in suppressions.findings(context.registry.suppressions) {
        if let Some(severity) = settings.severity(finding.rule, finding.severity) {
            shown.push(finding.severity(severity));
        }
    }
    remove_superseded(&mut shown, object, target);
    shown.sort_by(in_order);
    shown
}

/// Where documents stand among the inputs.
struct Places<'d> {
    clusters: &'d [Cluster],
    /// The address of each object's tree and the order of its root there, with the subject.
    by_tree: Vec<(usize, usize, Subject<'d>)>,
}

impl<'d> Places<'d> {
    fn new(clusters: &'d [Cluster], subjects: &[Subject<'d>]) -> Self {
        let key = |subject: &Subject<'d>| {
            let root = subject.object.root();
            (address(root.tree()), root.order(), *subject)
        };
        let mut by_tree: Vec<_> = subjects.iter().map(key).collect();
        by_tree.sort_by_key(|(tree, order, _)| (*tree, *order));
        Self { clusters, by_tree }
    }

    fn of(&self, subject: &Subject<'d>) -> DocumentLocation<'d> {
        let cluster = self.clusters.get(subject.cluster);
        let file = cluster.and_then(|cluster| cluster.files.get(subject.file));
        DocumentLocation {
            cluster: cluster.map_or("", |cluster| cluster.name.as_str()),
            file: file.map_or("", |file| file.source.name()),
            document: subject.document,
        }
    }

    /// The place and the object of a node.
    fn find(&self, node: Node<'d>) -> Option<(DocumentLocation<'d>, Object<'d>)> {
        let key = (address(node.tree()), node.order());
        let at = self.by_tree.partition_point(|(tree, order, _)| (*tree, *order) <= key);
        let (tree, _, subject) = self.by_tree.get(at.checked_sub(1)?)?;
        (*tree == key.0).then(|| (self.of(subject), subject.object))
    }
}

fn address<T>(value: &T) -> usize {
    core::ptr::from_ref(value).addr()
}

/// Whether any finding is at least as grave, those beyond the bound included.
pub fn fails(report: &Report, level: Severity) -> bool {
    let summary = &report.summary;
    let counts = [
        (Severity::Error, summary.errors),
        (Severity::Warning, summary.warnings),
        (Severity::Info, summary.infos),
    ];
    counts.into_iter().any(|(severity, count)| severity <= level && count > 0)
}
