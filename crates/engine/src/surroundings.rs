//! The other objects that a rule compares an object with: the objects of its overlay, its environment or its cluster; and the check
//! of an object among them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use answers::report::ReportedEnvironments;
use cluster::charts::LocalCharts;
use cluster::environments::Environments;
use cluster::evidence::KarpenterEvidence;
use cluster::files::may_have_more_objects;
use cluster::ids::{FileId, OverlayId};
use cluster::input::Input;
use cluster::input_object::InputObject;
use cluster::inventory::Inventory;
use manifest::source::certain;
use manifest::{File, is_markdown, parallel};
use rule::Rule;
use rule::classification::Severity;
use rule::context::Context;
use rule::finding::Finding;
use rule::registry::Registry;
use rule::settings::Settings;

use crate::check_one::{Outcome, check_one};
use crate::objects::Objects;
use crate::pins::Pins;
use crate::stages::Stages;

/// Parameters that all checks of an input share.
#[derive(Clone, Copy)]
pub(crate) struct Checking<'c> {
    pub(crate) registry: &'c Registry,
    pub(crate) settings: &'c Settings,
    pub(crate) pins: &'c Pins<'c>,
    /// The stages that only some inputs need; none if the input needs none of them.
    pub(crate) stages: Option<&'static Stages>,
    /// The charts of each cluster whose folders are in the input.
    pub(crate) charts: &'c [LocalCharts],
}

/// The inventories of an input.
pub(crate) struct Surroundings<'c, 'd> {
    checking: Checking<'c>,
    input: Input<'d>,
    now: Inventories<'d>,
    /// The inventories before the updates of reviews in the input; `None` without updates.
    before: Option<Inventories<'d>>,
}

/// The inventories of objects that exist at the same time.
struct Inventories<'d> {
    /// The objects of each cluster.
    clusters: Vec<Inventory<'d>>,
    /// The objects of each overlay of each cluster.
    overlays: Vec<BTreeMap<OverlayId, Inventory<'d>>>,
    environments: Environments<'d>,
    /// The objects of each Markdown file. Its examples belong to no cluster, so other files do not see them.
    documentation: BTreeMap<FileId, Inventory<'d>>,
    /// The evidence of Karpenter in each cluster.
    evidence: Vec<KarpenterEvidence<'d>>,
}

impl<'c, 'd> Surroundings<'c, 'd> {
    /// Sorts objects into inventories.
    pub(crate) fn of(checking: Checking<'c>, input: Input<'d>, objects: &Objects<'d>) -> Self {
        let settings = checking.settings;
        let has_updates = objects.as_slice().iter().any(|one| one.stored().is_some());
        let before = (!settings.strict_updates && has_updates)
            .then(|| Inventories::of(checking, input, &objects.before_updates()));
        Self { checking, input, now: Inventories::of(checking, input, objects), before }
    }

    /// Computes the largest indexes of each inventory on all cores. Otherwise the first rule that needs an index computes it, on one
    /// core, while the rules on the other cores wait for it. Does nothing on one core, or if the settings select some rules only,
    /// because these may need no index.
    pub(crate) fn compute_large_indexes(&self) {
        let Checking { registry, settings, .. } = self.checking;
        if !parallel::uses_several_cores() || !settings.select.is_empty() {
            return;
        }
        let indexes = |inventory| registry.large_indexes.iter().map(move |index| (index, inventory));
        let work: Vec<_> = self.now.most_asked().flat_map(indexes).collect();
        parallel::map(&work, |(index, inventory)| index(inventory));
    }

    /// Runs rules on an object among the others. `None` if the object is not covered.
    pub(crate) fn check(&self, one: &InputObject<'d>, rules: &[&'static Rule]) -> Option<Outcome<'d>> {
        let file = one.document.file;
        let name = self.input.file(file).map_or("", |file| file.source.name());
        let settings = self.checking.pins.settings_of(file, name);
        let before_v1 = self.checking.pins.version_of(file, name).before_v1;
        let charts = file.cluster.item_of(self.checking.charts)?;
        let context = self.now.context(one, &settings)?.before_v1(before_v1).with_charts(charts);
        let mut outcome = check_one(self.checking.registry, rules, &context, || {
            let context = self.before.as_ref()?.context(&one.stored()?, &settings)?;
            Some(context.before_v1(before_v1))
        })?;
        if is_markdown(name) {
            outcome.findings.iter_mut().for_each(weaken_comparison);
        }
        Some(outcome)
    }

    /// The environments, for the report.
    pub(crate) fn environments(&self) -> Vec<ReportedEnvironments> {
        let groups = self.now.environments.groups().iter();
        groups.map(|folders| ReportedEnvironments { folders: folders.clone() }).collect()
    }
}

impl<'d> Inventories<'d> {
    fn of(checking: Checking<'_>, input: Input<'d>, objects: &Objects<'d>) -> Self {
        let (objects, documentation) = without_documentation(input, objects);
        let objects = objects.as_ref();
        let (mut inventories, mut overlays) = (Vec::new(), Vec::new());
        for (id, cluster) in input.clusters() {
            let own = objects.in_cluster(id);
            let plain = own.iter().map(|one| one.object).collect();
            let is_complete = is_complete(checking.settings, &cluster.files);
            inventories.push(Inventory::new(cluster.name.clone(), plain, is_complete));
            let built = input.built(id).map(|built| built.inventories(&cluster.name, own, is_complete));
            overlays.push(built.unwrap_or_default());
        }
        let environments = environments(checking, input, objects);
        let evidence = input.clusters().map(|(_, cluster)| KarpenterEvidence::of(&cluster.files)).collect();
        Self { clusters: inventories, overlays, environments, documentation, evidence }
    }

    /// The inventories that most rules ask: of the environments, or else of the clusters, and of the overlays.
    fn most_asked(&self) -> impl Iterator<Item = &Inventory<'d>> {
        let of_overlays = self.overlays.iter().flat_map(BTreeMap::values);
        let of_environments = self.environments.inventories();
        let of_clusters = if of_environments.is_empty() { &self.clusters } else { of_environments };
        of_clusters.iter().chain(of_overlays)
    }

    /// The context in which rules check an object.
    fn context<'c>(&'c self, one: &InputObject<'d>, settings: &'c Settings) -> Option<Context<'c, 'd>> {
        let file = one.document.file;
        let id = file.cluster;
        let cluster = id.item_of(&self.clusters)?;
        let evidence = id.item_of(&self.evidence)?;
        let context = |inventory, clusters| {
            Context::new(settings, inventory, clusters, one.object, true).with_evidence(evidence)
        };
        if let Some(own) = self.documentation.get(&file) {
            return Some(context(own, core::slice::from_ref(own)));
        }
        let of_overlay = id.item_of(&self.overlays).zip(one.overlay);
        if let Some(own) = of_overlay.and_then(|(all, overlay)| all.get(&overlay)) {
            // The inventory of the cluster also holds the objects of its other overlays.
            return Some(context(own, certain(self.clusters.get(..id.index()))));
        }
        if let Some(own) = self.environments.inventory(file) {
            return Some(context(own, core::slice::from_ref(own)).among_environments(cluster));
        }
        Some(context(cluster, &self.clusters))
    }
}

/// The objects outside of Markdown files, and the inventory of each Markdown file.
fn without_documentation<'o, 'd>(
    input: Input<'d>,
    objects: &'o Objects<'d>,
) -> (Cow<'o, Objects<'d>>, BTreeMap<FileId, Inventory<'d>>) {
    let is_example = |one: &InputObject<'d>| {
        input.file(one.document.file).is_some_and(|file| is_markdown(file.source.name()))
    };
    let (examples, others): (Vec<_>, Vec<_>) = objects.as_slice().iter().copied().partition(is_example);
    if examples.is_empty() {
        return (Cow::Borrowed(objects), BTreeMap::new());
    }
    let mut by_file = BTreeMap::<FileId, Vec<_>>::new();
    for one in examples {
        by_file.entry(one.document.file).or_default().push(one.object);
    }
    let inventory = |(file, objects)| (file, Inventory::new("", objects, false));
    let mut all = Objects::default();
    all.extend(others);
    (Cow::Owned(all), by_file.into_iter().map(inventory).collect())
}

/// Lowers a finding that may compare an object with another one: the examples of a text may be alternatives.
fn weaken_comparison(finding: &mut Finding<'_>) {
    if !finding.rule.inventory.is_empty() {
        finding.severity = finding.severity.max(Severity::Info);
    }
}

/// Whether an object that files do not have is absent from the cluster: the settings say so, and no document may hide the object.
fn is_complete(settings: &Settings, files: &[File]) -> bool {
    settings.complete_inventory && !may_have_more_objects(files)
}

/// Finds the environments of the input. If the user names clusters, there are no others.
fn environments<'d>(checking: Checking<'_>, input: Input<'d>, objects: &Objects<'d>) -> Environments<'d> {
    let mut clusters = input.clusters();
    match (checking.stages, clusters.next(), clusters.next()) {
        (Some(stages), Some((id, only)), None) if only.name.is_empty() => {
            let is_complete = is_complete(checking.settings, &only.files);
            (stages.environments)(id, &only.files, objects.as_slice(), is_complete)
        }
        _ => Environments::default(),
    }
}
