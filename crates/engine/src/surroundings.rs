//! The other objects that a rule compares an object with: the objects of its overlay, its environment or its cluster.

use std::collections::BTreeMap;

use answers::report::ReportedEnvironments;
use cluster::environments::Environments;
use cluster::evidence::Evidence;
use cluster::ids::OverlayId;
use cluster::input::Input;
use cluster::input_object::InputObject;
use cluster::inventory::Inventory;
use rule::context::Context;
use rule::settings::Settings;

use crate::objects::Objects;

/// The inventories of an input.
pub(crate) struct Surroundings<'d> {
    /// The objects of each cluster.
    clusters: Vec<Inventory<'d>>,
    /// The objects of each overlay of each cluster.
    overlays: Vec<BTreeMap<OverlayId, Inventory<'d>>>,
    environments: Environments<'d>,
    /// The evidence of Karpenter in each cluster.
    evidence: Vec<Evidence<'d>>,
    /// The same inventories before the updates of reviews in the input; `None` without updates.
    before: Option<Box<Self>>,
}

impl<'d> Surroundings<'d> {
    /// Sorts objects into inventories.
    pub(crate) fn of(input: Input<'d>, objects: &Objects<'d>, settings: &Settings) -> Self {
        let has_updates = objects.as_slice().iter().any(|one| one.stored().is_some());
        let before = (!settings.strict_updates && has_updates)
            .then(|| Box::new(Self::at_once(input, &objects.before_updates(), settings)));
        Self { before, ..Self::at_once(input, objects, settings) }
    }

    /// The inventories of objects that exist at the same time.
    fn at_once(input: Input<'d>, objects: &Objects<'d>, settings: &Settings) -> Self {
        let is_complete = settings.complete_inventory;
        let (mut inventories, mut overlays) = (Vec::new(), Vec::new());
        for (id, cluster) in input.clusters() {
            let own = objects.in_cluster(id);
            let plain = own.iter().map(|one| one.object).collect();
            inventories.push(Inventory::new(cluster.name.clone(), plain, is_complete));
            let built = input.built(id).map(|built| built.inventories(&cluster.name, own, is_complete));
            overlays.push(built.unwrap_or_default());
        }
        let environments = environments(input, objects, settings);
        let evidence = input.clusters().map(|(_, cluster)| Evidence::of(&cluster.files)).collect();
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
        one: &InputObject<'d>,
        settings: &'c Settings,
    ) -> Option<Context<'c, 'd>> {
        let file = one.document.file;
        let index = file.cluster.index();
        let cluster = self.clusters.get(index)?;
        let evidence = self.evidence.get(index)?;
        let context = |inventory, clusters| {
            Context::new(settings, inventory, clusters, one.object, true).with_evidence(evidence)
        };
        let of_overlay = self.overlays.get(index).zip(one.overlay);
        if let Some(own) = of_overlay.and_then(|(all, overlay)| all.get(&overlay)) {
            // The inventory of the cluster also holds the objects of its other overlays.
            return Some(context(own, self.clusters.get(..index)?));
        }
        if let Some(own) = self.environments.inventory(file) {
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
fn environments<'d>(input: Input<'d>, objects: &Objects<'d>, settings: &Settings) -> Environments<'d> {
    let mut clusters = input.clusters();
    match (clusters.next(), clusters.next()) {
        (Some((id, only)), None) if only.name.is_empty() => {
            Environments::of(id, &only.files, objects.as_slice(), settings.complete_inventory)
        }
        _ => Environments::default(),
    }
}
