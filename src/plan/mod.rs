//! Plans as front ends run them: what a change of manifests or of the release does to nodes.
//!
//! | module | content |
//! |---|---|
//! | `scope` | the objects of each cluster before and after the change |
//! | `folders`, `keyed` | the folders that tell clusters apart, and the objects in them |
//! | `crossed` | overlays and root modules of Terraform that repeat names independently |
//! | `renamed` | clusters whose folder has another name |
//! | `cluster_names` | the clusters of files outside of their folders, such as `crds/prod` for `pools/prod` |
//! | `merged` | overlays that build more objects than a plan compares |
//! | `homes` | the environments and overlays of each object |
//! | `dropped` | files that a kustomization no longer uses |
//! | `elsewhere` | sources outside of the input from which a removed object may come |
//! | `change` | the changed objects with the effect of each field |
//! | `changed_file`, `variables` | values and variables in changed files |
//! | `feeds` | changed files that feed values into objects that do not change |
//! | `further` | changes that are not of the objects of a cluster |
//! | `generated` | generated `ConfigMaps` and Secrets with other entries |
//! | `charts`, `named_templates`, `chart_releases` | the charts of the input, what their templates include, and what is given to them |
//! | `terraform`, `blocks`, `spelling`, `outputs`, `set_values` | changed parts of Terraform configurations that feed values which only Terraform knows |
//! | `uncalled` | modules of Terraform that no root module calls any more |
//! | `terragrunt`, `terragrunt_stacks`, `node_modules` | units of Terragrunt whose modules make NodePools |
//! | `networks` | subnets and security groups that selector terms find on one side only |
//! | `recreated` | objects that Terraform deletes and creates again, or forgets |
//! | `refused` | changes that the API server refuses, or that Karpenter cannot read |
//! | `other_templates`, `template_inputs`, `ansible`, `jsonnet` | templates of other programs that have NodePools, and the files that they read |
//! | `resource_sets` | inputs of `ResourceSets` of Flux that make other NodePools |
//! | `outside` | changed kustomizations whose base is outside of the input |
//! | `outside_charts`, `helmfile_templates` | charts outside of the input with other values |
//! | `applied_objects`, `appliers` | what objects of Flux and Argo CD apply, and which of them change it |
//! | `templated_appliers` | objects of Flux and Argo CD in the templates of charts |
//! | `flux_sources` | repositories of Flux with another revision |
//! | `values_from` | `ConfigMaps` and Secrets with other values for a chart in the input |
//! | `handed_over` | NodePools that go from one object of Flux or Argo CD to another |
//! | `wrapped` | NodePools within objects of other controllers, such as Crossplane |
//! | `older` | the changed objects of versions before v1 |
//! | `shown` | values before and after a change, shortened |
//! | `releases` | the releases before and after |
//! | `controller` | the changes of the controller: release, options, feature gates |
//! | `definitions` | removed custom resource definitions |
//! | `retained` | removed objects that may stay in the cluster |
//! | `kubernetes` | the change of the version of Kubernetes |
//! | `later` | nodes that go although none drifts |
//! | `pods` | pods that lose or gain a place, and pods that hold up a rollout |
//! | `pool` | the effect on each NodePool, its instance types and its budgets |
//! | `applied` | the objects of a cluster after files are applied |
//! | `namespaces` | the namespace of the objects in files that name none |
//! | `snapshot`, `stamped` | the nodes of a snapshot that drift, and why |
//! | `rollout` | when these nodes go, and what they wait for |
//! | `unexecuted` | changed files on which fields of kustomizations depend that a build does not execute |
//! | `unread` | changed files that could not be read |
//! | `finding` | a finding at each changed field |
//! | `wall_clock` | the clock of the reader |
//! | `words` | the verdict and other sentences |

mod ansible;
mod applied;
mod applied_objects;
mod appliers;
mod assumption;
mod blocks;
mod change;
mod changed_file;
mod chart_releases;
mod charts;
mod cluster_names;
mod controller;
mod crossed;
mod definitions;
mod dropped;
mod elsewhere;
mod error;
mod evidence;
mod feeds;
mod finding;
mod flux_sources;
mod folders;
mod further;
mod generated;
mod handed_over;
mod helmfile_templates;
mod homes;
mod jsonnet;
mod keyed;
mod kubernetes;
mod later;
mod merged;
mod module_arguments;
mod named_templates;
mod namespaces;
mod networks;
mod node_modules;
mod older;
mod other_templates;
mod outputs;
mod outside;
mod outside_charts;
mod pods;
mod pool;
mod recreated;
mod refused;
mod releases;
mod renamed;
mod resource_sets;
mod retained;
mod rollout;
mod scope;
mod set_values;
mod shown;
mod snapshot;
mod spelling;
mod stamped;
mod template_inputs;
mod templated_appliers;
mod terraform;
mod terragrunt;
mod terragrunt_stacks;
mod uncalled;
mod unexecuted;
mod unnamed;
mod unread;
mod values_from;
mod variables;
mod wall_clock;
pub mod words;
mod wrapped;

use std::collections::{BTreeMap, BTreeSet};

use answers::plan::{ControllerChange, PlanAnswer, PlannedCost, PlannedPods, PlannedPool};
use answers::{SCHEMA, VERSION};
use cluster::Cluster;
use cluster::built_objects::BuiltObjects;
use cluster::files::may_have_more_objects;
use disruption::forecast::ForecastSettings;
use drift::{Effect, HashOptions, has_unrecorded_hash};
use karpenter::release::Release;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::{Object, Operation};
use rule::settings::Settings;
use values::timestamp::Timestamp;

use crate::simulate::{Assumption, ChoiceError, Choices, DeducedSettings};

pub use assumption::PlanAssumption;
pub use chart_releases::files_with_values;
pub use error::PlanError;
pub use finding::FINDINGS;
pub use jsonnet::paths as jsonnet_imports;
pub use later::LaterRemoval;
pub use namespaces::ApplyNamespace;
pub use other_templates::may_have_nodes;
pub use recreated::{TerraformFate, TerraformObject};
pub use wall_clock::WallClock;

use applied_objects::AppliedObjects;
use change::PlanChange;
use cluster_names::ClusterNames;
use definitions::{BothDefinitions, Definitions};
use elsewhere::GainedSources;
use feeds::Feeds;
use networks::Networks;
use pods::ComparedPods;
use pool::BothSettings;
use releases::{PlanReleases, releases_of, settings_at};
use scope::{PlanScope, scopes};

/// The input before or after a change.
#[derive(Clone, Copy, Debug)]
pub struct PlanSide<'p> {
    /// The files.
    pub cluster: &'p Cluster,
    /// The start of the names of files that tells one side from the other, such as `old/`.
    pub folder: &'p str,
}

/// The input of one cluster before and after a change.
#[derive(Clone, Copy, Debug)]
pub struct PlanPair<'p> {
    /// Name of the cluster; empty if there is one.
    pub name: &'p str,
    /// The input before.
    pub old: PlanSide<'p>,
    /// The input after.
    pub new: PlanSide<'p>,
}

/// Facts that the input does not show.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// The time of the change.
    pub at: Timestamp,
    /// The clock of the reader, for the times in sentences.
    pub clock: WallClock,
    /// The release before; `None` for the release of the input.
    pub from: Option<Release>,
    /// The release after; `None` for the release of the input.
    pub to: Option<Release>,
    /// The cluster's CA bundle in Base64, if it is known.
    pub ca_bundle: String,
    /// Whether the old side is a snapshot of a cluster, and the new side the files that are applied to it.
    pub is_snapshot: bool,
    /// Whether the files hold every NodePool, EC2NodeClass and NodeOverlay of the cluster of the snapshot.
    pub is_complete: bool,
    /// The namespace in which the files are applied to the cluster of the snapshot, if it is known.
    pub namespace: Option<ApplyNamespace>,
    /// The objects of the old side that Terraform deletes, although the new side may have them again, and the ones that it forgets.
    pub by_terraform: BTreeSet<TerraformObject>,
    /// The forecast of a rollout.
    pub forecast: ForecastSettings,
    /// The choices of a simulation.
    pub choices: Choices,
    /// The settings of the checks.
    pub settings: Settings,
}

/// A plan. The front end adds the texts of the assumptions to the answer.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The answer, without assumptions.
    pub answer: PlanAnswer,
    /// Assumptions about facts that the input does not show.
    pub assumptions: Vec<PlanAssumption>,
    /// Facts about the nodes of a snapshot.
    nodes: words::NodeFacts,
    /// The PodDisruptionBudgets and workloads that let no node with their pods go, if the input has no nodes.
    pub keeping: Vec<String>,
    /// The nodes that go although none drifts.
    later: Option<LaterRemoval>,
}

/// Plans the changes of some clusters.
pub fn plan(pairs: &[PlanPair<'_>], options: &PlanOptions) -> Result<Plan, PlanError> {
    let nodes = words::NodeFacts {
        total: 0,
        surplus: 0,
        expiring: Vec::new(),
        at: options.at,
        horizon: options.forecast.horizon,
        clock: options.clock.clone(),
    };
    let mut plan =
        Plan { answer: empty(options), assumptions: Vec::new(), nodes, keeping: Vec::new(), later: None };
    for pair in pairs {
        if options.is_snapshot {
            add_snapshot(&mut plan, *pair, options)?;
        } else {
            add_pair(&mut plan, *pair, options)?;
        }
    }
    let answer = &mut plan.answer;
    let has_nodes = options.is_snapshot && !plan.assumptions.contains(&PlanAssumption::NoNodeClaims);
    (answer.effect, answer.verdict) = if has_nodes {
        (
            words::strongest_on_nodes(answer, &plan.nodes),
            words::verdict_of_nodes(answer, &plan.nodes, plan.later),
        )
    } else {
        (words::strongest(answer), words::verdict(answer, &plan.keeping, plan.later))
    };
    shown::show_names(answer);
    if answer.effect >= Effect::Unknown && !options.is_snapshot {
        plan.assumptions.push(PlanAssumption::NoNodes);
    }
    let mut seen: Vec<PlanAssumption> = Vec::new();
    plan.assumptions.retain(|one| {
        let is_new = !seen.contains(one);
        seen.extend(is_new.then(|| one.clone()));
        is_new
    });
    Ok(plan)
}

fn empty(options: &PlanOptions) -> PlanAnswer {
    PlanAnswer {
        schema: SCHEMA,
        version: VERSION,
        karpenter_version: String::new(),
        karpenter_version_before: String::new(),
        at: options.at.into(),
        verdict: String::new(),
        effect: Effect::None,
        changes: Vec::new(),
        controller: Vec::new(),
        node_pools: Vec::new(),
        nodes: Vec::new(),
        rollouts: Vec::new(),
        cost: PlannedCost::default(),
        pods: PlannedPods::default(),
        assumptions: Vec::new(),
        findings: Vec::new(),
    }
}

fn add_pair(plan: &mut Plan, pair: PlanPair<'_>, options: &PlanOptions) -> Result<(), PlanError> {
    let (old_files, new_files) = (&pair.old.cluster.files, &pair.new.cluster.files);
    let first_pool = plan.answer.node_pools.len();
    let releases = releases_of(plan, pair, options);
    let built = homes::built(pair);
    let (mut found, is_merged) = scopes(pair, &built);
    if is_merged {
        plan.assumptions.push(PlanAssumption::MergedOverlays);
        plan.answer.changes.extend(merged::change(pair));
    }
    unread::keep(&mut found, pair);
    recreated::keep_forgotten(&mut found, &options.by_terraform);
    let hashes = HashOptions { ca_bundle: options.ca_bundle.clone(), ..HashOptions::new(releases.after) };
    let feeds = Feeds::of(pair, &built);
    let applied = (
        AppliedObjects::of(pair.old, &built.old, &BTreeSet::new()),
        AppliedObjects::of(pair.new, &built.new, &built.dropped),
    );
    let mut changes =
        change::changes_of(&found, &hashes, (&feeds, &Networks::of(pair)), &options.by_terraform);
    let unread = unread::changes(pair, &feeds);
    let of_terraform = feeds.terraform.changes(pair.name, |folder, text| feeds.of_path(folder, text));
    let gained = GainedSources::of(pair, (&applied.0, &applied.1), unread.iter().chain(&of_terraform));
    retained::weaken(&mut changes, (&applied.0, &applied.1), &gained);
    wrapped::weaken(&mut changes, &found);
    let mut own: Vec<Vec<&PlanChange<'_>>> = vec![Vec::new(); found.len()];
    for change in &changes {
        for index in &change.scopes {
            own.get_mut(*index).into_iter().for_each(|own| own.push(change));
        }
    }
    let is_forgotten = |document: Node<'_>| recreated::is_forgotten(document, &options.by_terraform);
    let definitions = BothDefinitions {
        old: Definitions::of(pair.old, (&built.old, &applied.0), &BTreeSet::new(), is_forgotten),
        new: Definitions::of(pair.new, (&built.new, &applied.1), &built.dropped, |_| false),
        applied: (&applied.0, &applied.1),
        gained: &gained,
        clusters: ClusterNames::of(pair, &found),
    };
    let release = controller::before_v1(pair);
    for (scope, own) in found.iter().zip(&own) {
        let own_pools = plan.answer.node_pools.len();
        let removed = definitions.removed(pair, scope);
        let further: Vec<ControllerChange> = release.iter().cloned().chain(removed).collect();
        add_scope(plan, scope, own, (pair, releases, &further), options)?;
        let pools = plan.answer.node_pools.get(own_pools..).unwrap_or_default();
        let is_open = own.iter().any(|change| change.change.effect >= Effect::Unknown)
            || pools.iter().any(|pool| pool.effect >= Effect::Unknown);
        let base = scope.doubtful.clone().filter(|_| is_open);
        plan.assumptions.extend(base.map(PlanAssumption::AppliedBase));
        let renamed = scope.was.clone().map(|was| PlanAssumption::Renamed { was, now: scope.name.clone() });
        plan.assumptions.extend(renamed);
    }
    let pools = plan.answer.node_pools.split_off(first_pool);
    plan.answer.node_pools.extend(pool::once(pools, &found, pair, &built.places(pair)));
    let further = further::changes(pair, (&applied.0, &applied.1), &feeds);
    let of_wrappers = resource_sets::changes(pair, &built).into_iter().chain(wrapped::changes(pair, &found));
    plan.answer
        .changes
        .extend(further::once(unread.into_iter().chain(further).chain(of_terraform).chain(of_wrappers)));
    for change in &changes {
        let cluster = cluster_of(change, &found, pair);
        plan.answer.findings.extend(finding::of(change, &cluster, new_files, old_files));
        plan.answer.changes.push(change.answer(cluster));
    }
    let own = plan.answer.node_pools.get(first_pool..).unwrap_or_default();
    if own.iter().any(|pool| pool.effect >= Effect::Unknown) {
        let settings = settings_at(options, releases.after);
        let held = pods::holding(pair.new, &settings);
        plan.answer.pods.holding.extend(held.texts);
        // A drifted node goes even with such pods if its NodeClaim has the terminationGracePeriod of the old NodePool.
        let rolls = |pool: &NodePool<'_>| {
            let is_named =
                |one: &PlannedPool| one.name == pool.object().name() && one.effect >= Effect::Unknown;
            let period = pool.object().at(&["spec", "template", "spec", "terminationGracePeriod"]);
            period.is_none_or(Node::is_null) && own.iter().any(is_named)
        };
        if found
            .iter()
            .flat_map(|scope| &scope.old)
            .filter_map(|object| NodePool::of(*object))
            .any(|pool| rolls(&pool))
        {
            plan.keeping.extend(held.keeping);
        }
    }
    if releases.before != releases.after && !changes.is_empty() {
        plan.assumptions.push(PlanAssumption::EditAfterUpgrade);
    }
    add_recorded(plan, &changes, releases.after);
    Ok(())
}

/// Adds the plan of files that are applied to the cluster of a snapshot.
fn add_snapshot(plan: &mut Plan, pair: PlanPair<'_>, options: &PlanOptions) -> Result<(), PlanError> {
    let (snapshot, files) = (&pair.old.cluster.files, &pair.new.cluster.files);
    let releases = releases_of(plan, pair, options);
    let built = (BuiltObjects::of(snapshot), BuiltObjects::of(files));
    let wanted = built.1.first_variant(files);
    let left_out: Vec<String> = built.1.left_out().into_iter().map(str::to_owned).collect();
    if !left_out.is_empty() {
        plan.assumptions.push(PlanAssumption::Simulation(Assumption::OverlaysLeftOut(left_out)));
    }
    let cluster = built.0.objects(snapshot);
    let namespace = options.namespace.as_ref();
    let placed = namespace.map(|namespace| namespace.placed(&wanted, &cluster)).transpose()?;
    let wanted =
        placed.as_ref().map_or_else(|| wanted.clone(), |placed| namespaces::with_placed(&wanted, placed));
    applied::check_names(&wanted)?;
    // An object that only the cluster has may be in a document that could not be read.
    let is_complete = options.is_complete && !unread::is_any(pair.new) && !may_have_more_objects(files);
    let unused = dropped::unused_beside_kustomizations(pair.new, &built.1);
    let hashes = HashOptions { ca_bundle: options.ca_bundle.clone(), ..HashOptions::new(releases.after) };
    let differs = |old: Object<'_>, new: Object<'_>| {
        drift::changes(&[old], &[new], &hashes).iter().any(|one| !one.fields.is_empty())
    };
    let (scope, open) = applied::scope(cluster, &wanted, (&unused, differs), is_complete);
    let mut changes = change::of_scope(&scope, &hashes);
    let applied = wanted.iter().map(|input| input.object);
    let applied = applied.filter(|object| object.operation() != Operation::Delete);
    let older = older::of_files(applied, &scope.old);
    changes.extend(older.into_iter().map(|change| {
        let message = older::reason(&change).unwrap_or_default();
        PlanChange { change, message, is_recreated: false, scopes: Vec::new() }
    }));
    let redacted = snapshot::without_redactions(&mut changes, &hashes);
    let assumed = redacted.iter().filter(|(_, fields)| !fields.is_empty());
    plan.assumptions.extend(assumed.map(|((kind, name), fields)| PlanAssumption::Redacted {
        object: format!("{kind} {name}"),
        fields: fields.clone(),
    }));
    if !files.is_empty() && !is_complete {
        plan.assumptions.push(PlanAssumption::OthersStay);
    }
    let own: Vec<&PlanChange<'_>> = changes.iter().collect();
    let merged = applied::merged(&scope, &wanted, options.at);
    let settled = PlanScope {
        name: String::new(),
        old: scope.old.clone(),
        new: applied::after(&scope, &merged),
        unresolved: BTreeMap::new(),
        modules: BTreeMap::new(),
        is_whole: true,
        doubtful: None,
        was: None,
        parts: crossed::ScopeParts::default(),
    };
    let further: Vec<ControllerChange> = controller::before_v1(pair).into_iter().collect();
    let deduced = add_scope(plan, &settled, &own, (pair, releases, &further), options)?;
    let facts = snapshot::DriftFacts {
        scope: &scope,
        changes: &changes,
        redacted: &redacted,
        hashes: &hashes,
        restarts: releases.before != releases.after,
        may_change_bundle: plan
            .answer
            .controller
            .iter()
            .any(|change| change.subject == controller::CA_BUNDLE.flag),
        release: releases.after,
        at: options.at,
    };
    if releases.before != releases.after && !changes.is_empty() {
        plan.assumptions.push(PlanAssumption::EditAfterUpgrade);
    }
    add_recorded(plan, &changes, releases.after);
    if facts.count() > 0 {
        plan.assumptions.push(PlanAssumption::MarkedDrift);
    }
    plan.nodes.total += facts.count();
    plan.nodes.surplus += facts.surplus();
    if facts.misses_claims() {
        plan.assumptions.push(PlanAssumption::NoNodeClaims);
    }
    plan.answer.changes.extend(unread::all(pair.new));
    for change in retained::in_cluster(&open, &scope) {
        plan.answer.changes.push(change.answer(pair.name.to_owned()));
    }
    let decided = facts.decide();
    let usable = facts.usable(&settled.new);
    let stranded = facts.stranded(&usable);
    let sides = [scope.old.as_slice(), &usable, &stranded];
    rollout::add(plan, decided, sides, deduced.settings, (options.at, &options.forecast));
    for change in &changes {
        plan.answer.findings.extend(finding::of(change, pair.name, files, snapshot));
        plan.answer.changes.push(change.answer(pair.name.to_owned()));
    }
    Ok(())
}

/// Adds the assumption about the hashes of a release that were not compared with the ones of Karpenter.
fn add_recorded(plan: &mut Plan, changes: &[PlanChange<'_>], release: Release) {
    let is_hashed = |change: &PlanChange<'_>| {
        let both = change.change.old.zip(change.change.new);
        both.is_some_and(|(_, new)| has_unrecorded_hash(new, release))
    };
    if changes.iter().any(is_hashed) {
        plan.assumptions.push(PlanAssumption::UnrecordedHash(release));
    }
}

/// The name of the clusters that a change concerns; the name of the pair if all are.
fn cluster_of(change: &PlanChange<'_>, scopes: &[PlanScope<'_>], pair: PlanPair<'_>) -> String {
    cluster_names::named(pair, scopes, &change.scopes.iter().copied().collect())
}

/// Adds the changes of the controller, the NodePools and the pods of one cluster. Returns the settings of its simulation after the change.
fn add_scope(
    plan: &mut Plan,
    scope: &PlanScope<'_>,
    changes: &[&PlanChange<'_>],
    (pair, releases, further): (PlanPair<'_>, PlanReleases, &[ControllerChange]),
    options: &PlanOptions,
) -> Result<DeducedSettings, ChoiceError> {
    plan.later = plan.later.max(later::of_changes(scope, changes, (releases.after, options.at)));
    let controller = controller::changes(scope, releases, further);
    let deduce = |side: PlanSide<'_>, objects: &[Object<'_>], release| {
        DeducedSettings::new(&options.choices, &settings_at(options, release), &side.cluster.files, objects)
    };
    let mut old = deduce(pair.old, &scope.old, releases.before)?;
    let mut new = deduce(pair.new, &scope.new, releases.after)?;
    if !options.is_snapshot {
        DeducedSettings::assume_classes_of_neither((&mut old, &scope.old), (&mut new, &scope.new));
    }
    let settings = BothSettings { old: &old, new: &new };
    let pools = pool::pools(scope, changes, &controller, settings, options.at);
    plan.answer.controller.extend(controller);
    if pools.is_empty() {
        pods::add_new(plan, scope, settings, options);
        return Ok(new);
    }
    plan.answer.node_pools.extend(pools);
    plan.assumptions.extend(new.assumptions.iter().cloned().map(PlanAssumption::Simulation));
    if options.is_snapshot {
        return Ok(new);
    }
    if !scope.is_whole {
        plan.assumptions.push(PlanAssumption::TooManyClusters);
    } else if pods::has_auto_mode(scope) {
        plan.assumptions.push(PlanAssumption::AutoMode);
    } else {
        match ComparedPods::of(scope, settings) {
            Ok(compared) => compared.add_to(&mut plan.answer.pods),
            Err(_) => plan.assumptions.push(PlanAssumption::TooManyPods),
        }
    }
    Ok(new)
}
