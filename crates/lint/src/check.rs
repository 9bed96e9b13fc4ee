//! Documents and settings in, findings out: runs the rules and decides which of their findings are shown.

use crate::finding::{CaughtBy, Draft, Family, Severity};
use crate::inventory::Inventory;
use karpenter::release::Releases;
use objects::kustomize::Patches;
use manifest::tree::Node;
use manifest::{Document, File, FileKind};
use objects::object::Object;
use crate::report::{Place, Report, Skipped, Unreadable};
use crate::rule::{Registry, Rule};
use crate::settings::{Exception, Settings};
use crate::suppression::Suppression;
use crate::upgrade;

/// The rules that report an unknown field, and fields that may not be combined.
const UNKNOWN_FIELD: &str = "api-unknown-field";
const RELATION: &str = "api-rule";

/// The findings a run shows at most, unless something else is asked for.
pub const MAX_FINDINGS: usize = 10_000;

/// What a rule can look at besides the object it checks.
#[derive(Clone, Copy, Debug)]
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
}

impl<'d> Context<'_, 'd> {
    /// Whether a rule is asked of an object at all.
    ///
    /// Rules that are off are not, except those that tell what the API server refuses, for which a range of releases asks,
    /// and those that a suppression names: it may be of use with other settings.
    pub fn asks(&self, rule: &Rule, object: Object<'d>) -> bool {
        self.asks_beside(rule, || {
            Suppression::all(object, self).iter().any(|suppression| suppression.names(rule))
        })
    }

    fn asks_beside(&self, rule: &Rule, is_named: impl FnOnce() -> bool) -> bool {
        let accepts = rule.family == Family::ApiServer && self.settings.karpenter.is_range();
        accepts || self.settings.speaks(rule) || is_named()
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
        let context = Context { registry, settings: &own, inventory, clusters: &inventories, is_text: true };
        let drafts = run(subject.object, &context);
        if settings.karpenter.is_range() {
            report.accept(places.of(subject), refused(&drafts), subject.object);
        }
        let mut shown = shown(drafts, subject.object, &context, &mut report.summary.suppressed);
        if let Some(way) = settings.karpenter.way() {
            report.unchanged += upgrade::keep_changes(&mut shown, way);
        }
        for draft in shown {
            report.count(draft.severity);
            if report.findings.len() >= max_findings {
                report.truncated = true;
                continue;
            }
            report.add(&draft, subject.object, &places.of(subject), |node| places.find(node));
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
) -> Vec<Draft<'d>> {
    let clusters = [Inventory::new("", objects, settings.complete_inventory)];
    let [inventory] = &clusters;
    let context = Context { registry, settings, inventory, clusters: &clusters, is_text: false };
    shown(run(object, &context), object, &context, &mut 0)
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
            let objects = if file.kind == FileKind::Values { Object::values(tree) } else { Object::all(tree) };
            if objects.is_empty() && file.kind == FileKind::Values {
                return skip("no values of a chart: it holds no keys, not checked");
            }
            if objects.is_empty() {
                return skip("no Kubernetes object: `apiVersion` and `kind` are missing, not checked");
            }
            let on_the_way = settings.karpenter.way().is_some();
            let reads = |rule: &Rule, object| {
                rule.reads(object) || (on_the_way && rule.upgrade_only && rule.applies(object))
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

/// Everything that the rules which are asked say of an object.
fn run<'d>(object: Object<'d>, context: &Context<'_, 'd>) -> Vec<Draft<'d>> {
    let mut drafts = Vec::new();
    let suppressions = Suppression::all(object, context);
    for rule in context.registry.rules() {
        let is_named = || suppressions.iter().any(|suppression| suppression.names(rule));
        if rule.applies(object) && context.asks_beside(rule, is_named) {
            (rule.check)(object, context, &mut drafts);
        }
    }
    drafts.sort_by(|one, two| {
        one.place.order().cmp(&two.place.order()).then(one.rule.name.cmp(two.rule.name))
    });
    drafts
}

/// The releases whose API server refuses the object.
fn refused(drafts: &[Draft<'_>]) -> Releases {
    let refusals = drafts.iter().filter(|draft| draft.rule.family == Family::ApiServer);
    refusals.fold(Releases::NONE, |all, draft| all.or(draft.releases))
}

/// The findings that the settings and the author let through, each with the severity the settings give it, and what is
/// wrong with the author's suppressions.
fn shown<'d>(
    drafts: Vec<Draft<'d>>,
    object: Object<'d>,
    context: &Context<'_, 'd>,
    suppressed: &mut usize,
) -> Vec<Draft<'d>> {
    let settings = context.settings;
    let target = settings.karpenter.releases();
    let mut suppressions = Suppression::all(object, context);
    let mut shown: Vec<Draft<'d>> = Vec::new();
    for draft in drafts.into_iter().filter(|draft| draft.releases.meets(target)) {
        // Each is asked, so that none of two for the same finding counts as unused.
        let accepted =
            suppressions.iter_mut().filter_map(|one| one.accepts(&draft).then_some(())).count() > 0;
        let Some(severity) = settings.severity(draft.rule, draft.severity) else { continue };
        let covers = |exception: &Exception| exception.covers(draft.rule, object, settings.today);
        if accepted || settings.exceptions.iter().any(covers) {
            *suppressed += 1;
        } else {
            shown.push(draft.severity(severity));
        }
    }
    let findings = suppressions.iter().flat_map(|one| one.findings(context.registry.suppressions));
    for draft in findings {
        if let Some(severity) = settings.severity(draft.rule, draft.severity) {
            shown.push(draft.severity(severity));
        }
    }
    if settings.select.is_empty() {
        refuse_once(&mut shown);
    }
    explain_once(&mut shown, object, target);
    shown.sort_by(|one, two| {
        one.place.order().cmp(&two.place.order()).then(one.rule.name.cmp(two.rule.name))
    });
    shown
}

/// An item of a list whose only choice is a field that a release does not know yet is refused for the field, and for having
/// no choice without it: the first says it all. Where the family is asked for alone, it gives every refusal.
fn refuse_once(drafts: &mut [Draft<'_>]) {
    let later =
        |draft: &&Draft<'_>| draft.rule.name == UNKNOWN_FIELD && draft.releases != Releases::ALL;
    let items =
        drafts.iter().filter(later).filter_map(|draft| Some((draft.place.node().parent()?, draft.releases)));
    let items: Vec<_> = items.filter(|(item, _)| item.parent().is_some_and(Node::is_sequence)).collect();
    for draft in drafts.iter_mut().filter(|draft| draft.rule.name == RELATION) {
        let here = items.iter().filter(|(item, _)| *item == draft.place.node());
        draft.releases = here.fold(draft.releases, |left, (_, releases)| left.without(*releases));
    }
}

/// Where a named rule explains a refusal of the API server, the refusal itself is not shown for the same releases: one at
/// the same key or value, or one of the same path at a field beside those that the named rule points to.
fn explain_once<'d>(drafts: &mut Vec<Draft<'d>>, object: Object<'d>, target: Releases) {
    struct Explained<'d> {
        place: crate::finding::Place<'d>,
        beside: Vec<Option<Node<'d>>>,
        releases: Releases,
    }
    let explained: Vec<Explained<'d>> = drafts
        .iter()
        .filter(|draft| draft.rule.family != Family::ApiServer && draft.caught_by == CaughtBy::ApiServer)
        .map(|draft| Explained {
            place: draft.place.clone(),
            beside: draft.related.iter().map(|(place, _)| place.node().parent()).collect(),
            releases: draft.releases,
        })
        .collect();
    drafts.retain_mut(|draft| {
        if draft.rule.family != Family::ApiServer {
            return true;
        }
        for Explained { place, beside, releases } in &explained {
            let is_beside = || {
                beside.contains(&draft.place.node().parent())
                    && place.path(object.root()) == draft.place.path(object.root())
            };
            if place.meets(&draft.place) || is_beside() {
                draft.releases = draft.releases.without(*releases);
            }
        }
        draft.releases.meets(target)
    });
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

    fn of(&self, subject: &Subject<'d>) -> Place<'d> {
        let cluster = self.clusters.get(subject.cluster);
        let file = cluster.and_then(|cluster| cluster.files.get(subject.file));
        Place {
            cluster: cluster.map_or("", |cluster| cluster.name.as_str()),
            file: file.map_or("", |file| file.source.name()),
            document: subject.document,
        }
    }

    /// The place and the object of a node.
    fn find(&self, node: Node<'d>) -> Option<(Place<'d>, Object<'d>)> {
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
