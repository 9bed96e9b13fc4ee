//! The other objects that a rule compares an object with: the objects of its overlay, its environment or its cluster.

use std::collections::BTreeMap;

use answers::report::ReportedEnvironments;
use cluster::Cluster;
use cluster::built::BuiltCluster;
use cluster::built::CheckedObject;
use cluster::environments::Environments;
use cluster::evidence::Evidence;
use cluster::inventory::Inventory;
use rule::context::Context;
use rule::settings::Settings;

/// The inventories of an input.
pub(crate) struct Surroundings<'d> {
    /// The objects of each cluster.
    clusters: Vec<Inventory<'d>>,
    /// The objects of each overlay of each cluster.
    overlays: Vec<BTreeMap<usize, Inventory<'d>>>,
    environments: Environments<'d>,
    /// The evidence of Karpenter in each cluster.
    evidence: Vec<Evidence<'d>>,
    /// The same inventories before the updates of reviews in the input; `None` without updates.
    before: Option<Box<Self>>,
}

impl<'d> Surroundings<'d> {
    /// Sorts objects into inventories. The objects are in the order of their clusters.
    pub(crate) fn of(
        clusters: &'d [Cluster],
        built: &'d [BuiltCluster],
        objects: &[CheckedObject<'d>],
        settings: &Settings,
    ) -> Self {
        let is_update = |checked: &CheckedObject<'d>| checked.object.stored().is_some();
        let before = (!settings.strict_updates && objects.iter().any(is_update)).then(|| {
            let stored: Vec<_> = objects.iter().map(|one| one.stored().unwrap_or(*one)).collect();
            Box::new(Self::at_once(clusters, built, &stored, settings))
        });
        Self { before, ..Self::at_once(clusters, built, objects, settings) }
    }

    /// The inventories of objects that exist at the same time.
    fn at_once(
        clusters: &'d [Cluster],
        built: &'d [BuiltCluster],
        objects: &[CheckedObject<'d>],
        settings: &Settings,
    ) -> Self {
        let is_complete = settings.complete_inventory;
        let (mut inventories, mut overlays) = (Vec::new(), Vec::new());
        for (index, (cluster, built)) in clusters.iter().zip(built).enumerate() {
            let first = objects.partition_point(|checked| checked.cluster < index);
            let end = objects.partition_point(|checked| checked.cluster <= index);
            let own = objects.get(first..end).unwrap_or_default();
            let plain = own.iter().map(|checked| checked.object).collect();
            inventories.push(Inventory::new(cluster.name.clone(), plain, is_complete));
            overlays.push(built.inventories(&cluster.name, own, is_complete));
        }
        let environments = environments(clusters, objects, settings);
        let evidence = clusters.iter().map(|cluster| Evidence::of(&cluster.files)).collect();
        Self { clusters: inventories, overlays, environments, evidence, before: None }
    }

    /// The inventories that most rules ask: of the environments, or else of the clusters, and of the overlays.
    pub(crate) fn inventories(&self) -> impl Iterator<Item = &Inventory<'d>> {
        let of_overlays = self.overlays.iter().flat_map(BTreeMap::values);
        let of_environments = self.environments.inventories();
        let of_clusters = if of_environments.is_empty() { &self.clusters } else { of_environments };
        of_clusters.iter().chain(of_overlays)
    }

    /// The surroundings before the updates of the input.
    pub(crate) fn before(&self) -> Option<&Self> {
        self.before.as_deref()
    }

    /// The context in which rules check an object.
    pub(crate) fn context<'c>(
        &'c self,
        checked: &CheckedObject<'d>,
        settings: &'c Settings,
    ) -> Option<Context<'c, 'd>> {
        let cluster = self.clusters.get(checked.cluster)?;
        let evidence = self.evidence.get(checked.cluster)?;
        let context = |inventory, clusters| {
            Context::new(settings, inventory, clusters, checked.object, true).with_evidence(evidence)
        };
        let of_overlay = self.overlays.get(checked.cluster).zip(checked.overlay);
        if let Some(own) = of_overlay.and_then(|(all, overlay)| all.get(&overlay)) {
            // The inventory of the cluster also holds the objects of its other overlays.
            return Some(context(own, self.clusters.get(..checked.cluster)?));
        }
        if let Some(own) = self.environments.inventory(checked.file) {
            return Some(context(own, core::slice::from_ref(own)).among_environments(cluster));
        }
        Some(context(cluster, &self.clusters))
    }

    /// The environments, for the report.
    pub(crate) fn environments(&self) -> Vec<ReportedEnvironments> {
        let groups = self.environments.groups().iter();
        groups.map(|folders| ReportedEnvironments { folders: folders.clone() }).collect()
    }
}

/// Finds the environments of the input. If the user names clusters, there are no others.
fn environments<'d>(
    clusters: &[Cluster],
    objects: &[CheckedObject<'d>],
    settings: &Settings,
) -> Environments<'d> {
    let [only] = clusters else { return Environments::default() };
    if !only.name.is_empty() {
        return Environments::default();
    }
    let files: Vec<&str> = only.files.iter().map(|file| file.source.name()).collect();
    let objects: Vec<_> = objects.iter().map(|checked| (checked.file, checked.object)).collect();
    Environments::of(&files, &objects, settings.complete_inventory)
}
