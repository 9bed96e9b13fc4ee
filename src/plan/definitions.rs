//! Removed custom resource definitions of Karpenter: the API server deletes all objects of a kind with its definition.
//!
//! Source: "Delete a `CustomResourceDefinition`" in content/en/docs/tasks/extend-kubernetes/custom-resources/
//! custom-resource-definitions.md of kubernetes/website; charts/karpenter-crd/templates of aws/karpenter-provider-aws: the definitions are
//! templates, which Helm deletes with the release.

use std::collections::{BTreeMap, BTreeSet};

use answers::plan::ControllerChange;
use cluster::appliers::{Applier, folder_of_overlay, sources};
use cluster::built_objects::BuiltObjects;
use cluster::folders::{folders_of, name};
use drift::Effect;
use manifest::tree::{Node, items_of};
use manifest::{Document, File};
use objects::object::Object;

use super::applied_objects::{AppliedObjects, name_of};
use super::cluster_names::{ClusterNames, SeenBy, folder_of_cluster};
use super::controller::change;
use super::elsewhere::GainedSources;
use super::flux_sources::FluxSources;
use super::outside::{input_names, is_kustomization, outside_references};
use super::scope::{PlanScope, file_of_module, without_start};
use super::{PlanPair, PlanSide, retained};

/// The chart with the definitions.
const CHART: &str = "karpenter-crd";

/// The definitions whose objects keep nodes, each with the name of its file in releases of Karpenter. An EC2NodeClass stays until its nodes
/// are gone, but new nodes need it.
///
/// Source: pkg/apis/crds of aws/karpenter-provider-aws at v1.14.1.
const NAMES: [(&str, &str, Effect); 3] = [
    ("nodepools.karpenter.sh", "karpenter.sh_nodepools.yaml", Effect::RemovesNodes),
    ("nodeclaims.karpenter.sh", "karpenter.sh_nodeclaims.yaml", Effect::RemovesNodes),
    ("ec2nodeclasses.karpenter.k8s.aws", "karpenter.k8s.aws_ec2nodeclasses.yaml", Effect::Unknown),
];

/// End of the subject of a removal.
pub(super) const IS_REMOVED: &str = " is removed";

/// The end of the annotation with which Helm keeps an object, `helm.sh/resource-policy`. The chart has it only if its value
/// `additionalAnnotations` has it.
///
/// Source: charts/karpenter-crd/values.yaml and `templates/karpenter.sh_nodepools.yaml` of aws/karpenter-provider-aws at v1.14.1.
const POLICY_OF_HELM: &str = "sh/resource-policy";

const MESSAGE: &str = "with a definition, the API server deletes all objects of its kind: Karpenter removes the nodes without a replacement";

/// Whether an object is a definition of Karpenter's objects.
pub(super) fn is_definition(object: Object<'_>) -> bool {
    object.kind() == "CustomResourceDefinition" && NAMES.iter().any(|(name, ..)| *name == object.name())
}

/// The definitions that a side of a pair has, and what installs them.
pub(super) struct Definitions<'d> {
    sources: Vec<DefinitionSource<'d>>,
}

/// A place from which a cluster has a definition, or the chart with all of them.
#[derive(Clone)]
struct DefinitionSource<'d> {
    /// Name of the definition, or of the chart.
    name: &'d str,
    file: &'d str,
    /// The overlay that builds the file.
    overlay: Option<&'d str>,
    /// The folder of the overlay, or the name of the file, without the start of the side. A file of Terraform has the folder of its root module.
    place: String,
    /// Whether Flux or Argo CD applies the file.
    is_applied: bool,
    /// The object of Flux or Argo CD that installs the chart.
    installer: Option<Applier<'d>>,
    /// The reason for which the definition stays when the place is removed.
    kept: Option<String>,
}

impl<'d> Definitions<'d> {
    /// `dropped` are the files that no kustomization uses any more; `is_left_out` tells the documents whose objects stay.
    pub(super) fn of(
        side: PlanSide<'d>,
        (built, applied): (&'d BuiltObjects, &AppliedObjects<'d>),
        dropped: &BTreeSet<String>,
        is_left_out: impl Fn(Node<'d>) -> bool,
    ) -> Self {
        let files = &side.cluster.files;
        let mut found: Vec<DefinitionSource<'d>> = Vec::new();
        let mut add =
            |name: &'d str, root: Node<'d>, installer: Option<&Applier<'d>>, kept: Option<String>| {
                let file = root.source().name();
                for place in places_of(root, side.folder) {
                    let (installer, kept) = (installer.cloned(), kept.clone());
                    found.push(DefinitionSource {
                        name,
                        file,
                        overlay: None,
                        place,
                        is_applied: false,
                        installer,
                        kept,
                    });
                }
            };
        let names = input_names(files);
        let is_there = |file: &&File| {
            !file.kind.is_text() && !dropped.contains(without_start(file.source.name(), side.folder))
        };
        for file in files.iter().filter(is_there) {
            let is_of_chart = is_in_crds_of_chart(file, files);
            for document in &file.documents {
                let Document::Read(tree) = document else { continue };
                let root = tree.root();
                if is_left_out(root) {
                    continue;
                }
                let definitions = Object::all(tree).into_iter().filter(|object| is_definition(*object));
                for object in definitions.filter(|_| !is_of_chart) {
                    add(object.name(), root, None, retained::of_object(object));
                }
                if let Some(chart) = chart_in(root) {
                    add(CHART, root, None, kept_by_helm(chart));
                }
                for name in outside_definitions(file, &names) {
                    add(name, root, None, None);
                }
            }
        }
        for applier in applied.appliers.all().iter().filter(|one| installs(one, &applied.sources)) {
            add(CHART, applier.root, Some(applier), kept_by_helm(applier.root));
        }
        let mut overlays: BTreeMap<&str, BTreeSet<&'d str>> =
            found.iter().map(|source| (source.file, BTreeSet::new())).collect();
        if !overlays.is_empty() {
            for (object, own) in built.objects_of_overlays(files) {
                overlays.get_mut(object.root().source().name()).into_iter().for_each(|all| all.extend(&own));
            }
        }
        let mut sources = Vec::new();
        for source in found {
            let own = overlays.get(source.file).into_iter().flatten();
            let of_overlays = own.map(|overlay| DefinitionSource {
                overlay: Some(*overlay),
                place: folder_of_overlay(without_start(overlay, side.folder)).to_owned(),
                ..source.clone()
            });
            let known = sources.len();
            sources.extend(of_overlays);
            if sources.len() == known {
                sources.push(source);
            }
        }
        for source in &mut sources {
            source.is_applied = !applied.appliers_at(source.file, &source.overlays()).is_empty();
        }
        Self { sources }
    }

    /// The sources of a cluster, each with whether the cluster has it for certain: only the name of its folder may say that it is of another
    /// cluster.
    fn of_cluster<'s>(
        &'s self,
        clusters: &'s ClusterNames,
        (scope, folder): (&'s str, &'s str),
    ) -> impl Iterator<Item = (&'s DefinitionSource<'d>, SeenBy)> {
        self.sources.iter().map(move |source| (source, clusters.sees((scope, folder), &source.place)))
    }

    /// Whether Flux or Argo CD applies the same source.
    fn applies(&self, source: &DefinitionSource<'_>) -> bool {
        let is_same = |one: &DefinitionSource<'d>| (one.name, &one.place) == (source.name, &source.place);
        self.sources.iter().any(|one| is_same(one) && one.is_applied)
    }
}

impl<'d> DefinitionSource<'d> {
    fn overlays(&self) -> BTreeSet<&'d str> {
        self.overlay.into_iter().collect()
    }
}

/// The names of the file of a document without the start of its side, one for each module of Terraform that makes the document.
fn places_of(document: Node<'_>, folder: &str) -> Vec<String> {
    let file = document.source().name();
    let plain = |name: &str| without_start(name, folder).to_owned();
    match document.tree().modules() {
        [] => vec![plain(file)],
        modules => modules.iter().map(|module| plain(&file_of_module(module, file))).collect(),
    }
}

/// The definitions of both sides of a pair.
pub(super) struct BothDefinitions<'p> {
    pub(super) old: Definitions<'p>,
    pub(super) new: Definitions<'p>,
    pub(super) applied: (&'p AppliedObjects<'p>, &'p AppliedObjects<'p>),
    pub(super) gained: &'p GainedSources,
    pub(super) clusters: ClusterNames,
}

impl BothDefinitions<'_> {
    /// The change of the definitions that nothing in the input has any more for a cluster.
    pub(super) fn removed(&self, pair: PlanPair<'_>, scope: &PlanScope<'_>) -> Option<ControllerChange> {
        let (now, was) = (&scope.name, scope.was.as_ref().unwrap_or(&scope.name));
        let [now, was] = [now, was].map(|name| (scope.name.as_str(), folder_of_cluster(pair, name)));
        // Flux and Argo CD delete what they no longer apply, although its file is still there.
        let is_left = |source: &DefinitionSource<'_>| source.is_applied || !self.old.applies(source);
        let news = || self.new.of_cluster(&self.clusters, now).filter(|(source, _)| is_left(source));
        let left: BTreeSet<&str> =
            news().filter(|(_, seen)| *seen == SeenBy::Cluster).map(|(source, _)| source.name).collect();
        if left.contains(CHART) {
            return None;
        }
        let olds = self.old.of_cluster(&self.clusters, was).filter(|(_, seen)| *seen == SeenBy::Cluster);
        let mut lost: Vec<&DefinitionSource<'_>> = olds.map(|(source, _)| source).collect();
        lost.retain(
            |source| if source.name == CHART { left.is_empty() } else { !left.contains(source.name) },
        );
        let elsewhere = |source: &DefinitionSource<'_>| {
            let has = |one: &DefinitionSource<'_>| [source.name, CHART].contains(&one.name);
            let mut others = news().filter(|(one, seen)| *seen == SeenBy::OtherByName && has(one));
            others.next().map(|(one, _)| format!("{} has it too, and may be for this cluster", one.place))
        };
        let shown = |source: &&DefinitionSource<'_>| {
            let known = NAMES.iter().find(|(name, ..)| *name == source.name);
            let (what, effect) = match known {
                Some((name, _, effect)) => ((*name).to_owned(), *effect),
                None => (format!("chart {CHART}"), Effect::RemovesNodes),
            };
            let kept = self.kept(source).or_else(|| elsewhere(source));
            let effect = if kept.is_some() { effect.min(Effect::Unknown) } else { effect };
            let message = match kept {
                Some(reason) => format!("{MESSAGE}; the definition may stay: {reason}"),
                None => MESSAGE.to_owned(),
            };
            (effect, known.is_some(), change(&format!("{what}{IS_REMOVED}"), "", "", effect, message))
        };
        // A definition that several places have stays if one of them keeps it.
        let mut by_name = BTreeMap::new();
        for (effect, is_known, found) in lost.iter().map(shown) {
            let entry = by_name.entry((is_known, found.subject.clone())).or_insert((effect, found.clone()));
            if effect < entry.0 {
                *entry = (effect, found);
            }
        }
        let strongest = by_name.into_iter().max_by_key(|((is_known, _), (effect, _))| (*effect, *is_known));
        strongest.map(|(_, (_, found))| found)
    }

    /// The reason why the definitions of a removed place may stay.
    fn kept(&self, source: &DefinitionSource<'_>) -> Option<String> {
        let (old, new) = self.applied;
        let of_installer = || {
            let installer = source.installer.as_ref()?;
            match new.counterpart(installer, old) {
                // Flux removes a release first if its chart has another name.
                Some(after) => {
                    let (kind, _, name) = name_of(after);
                    Some(format!("{kind}/{name} installs another chart, which may have it too"))
                }
                None => retained::of_removed(installer),
            }
        };
        let of_appliers = || retained::of_appliers(self.applied, source.file, &source.overlays());
        let found = source.kept.clone().or_else(of_installer).or_else(of_appliers);
        found.or_else(|| self.gained.any().map(str::to_owned))
    }
}

/// The definitions that a kustomization takes from a release of Karpenter.
fn outside_definitions(file: &File, names: &BTreeSet<&str>) -> impl Iterator<Item = &'static str> {
    let references = if is_kustomization(file) { outside_references(file, names) } else { Vec::new() };
    references.into_iter().filter_map(|reference| {
        let base = name(reference.split('?').next().unwrap_or_default());
        NAMES.iter().find(|(_, file, _)| *file == base).map(|(name, ..)| *name)
    })
}

/// The part of a document that installs the chart: a resource of Terraform, a dependency of a chart, or a chart that a kustomization renders.
fn chart_in(root: Node<'_>) -> Option<Node<'_>> {
    let resources = root.get("resource");
    let blocks = resources.into_iter().chain(items_of(resources));
    let releases = blocks.filter_map(|block| block.get("helm_release")).flat_map(Node::members);
    let mut releases = releases.map(|(_, release)| release);
    let release = releases.find(|release| is_chart(release.str_at(&["chart"])));
    let mut charts = ["helmCharts", "dependencies"].into_iter().flat_map(|list| items_of(root.get(list)));
    release.or_else(|| charts.find(|chart| is_chart(chart.str_at(&["name"]))))
}

/// The reason for which Helm keeps the definitions of a removed chart.
fn kept_by_helm(chart: Node<'_>) -> Option<String> {
    let text = chart.to_json().to_string();
    let is_kept = text.contains(POLICY_OF_HELM) && text.contains("keep");
    is_kept.then(|| "the values of the chart have `helm.sh/resource-policy: keep`".to_owned())
}

/// Whether a file is in the folder `crds` of a chart, whose definitions Helm never deletes.
///
/// Source: "Limitations on CRDs" in docs/topics/charts of helm/helm-www.
fn is_in_crds_of_chart(file: &File, files: &[File]) -> bool {
    let mut folders = folders_of(file.source.name());
    let Some(folder) = folders.next().filter(|folder| name(folder) == "crds") else { return false };
    let chart = folder.trim_end_matches("crds").to_owned() + "Chart.yaml";
    files.iter().any(|file| file.source.name() == chart)
}

/// Whether an object of Flux or Argo CD installs the chart.
///
/// Source: `ReleaseTargetChanged` in internal/action/verify.go of fluxcd/helm-controller: another place of the same chart is no other release.
fn installs(applier: &Applier<'_>, repositories: &FluxSources<'_>) -> bool {
    let spec = applier.root.get("spec");
    let text = |keys: &[&str]| spec.and_then(|spec| spec.str_at(keys));
    let template = spec.and_then(|spec| spec.at_path(&["template", "spec"]));
    let is_release = applier.root.str_at(&["kind"]) == Some("HelmRelease");
    let repository = || repositories.of_object(applier.root)?.str_at(&["spec", "url"]);
    let of_source =
        |source: Node<'_>| ["chart", "path", "repoURL"].iter().any(|key| is_chart(source.str_at(&[*key])));
    is_chart(text(&["chart", "spec", "chart"]))
        || is_chart(text(&["chartRef", "name"]))
        || (is_release && text(&["chartRef", "name"]).is_some() && is_chart(repository()))
        || sources(template.or(spec)).any(of_source)
}

/// Whether a name, a path or an address is the one of the chart, also as an archive with its version.
fn is_chart(text: Option<&str>) -> bool {
    let is_version =
        |rest: &str| rest.trim_start_matches('v').starts_with(|char: char| char.is_ascii_digit());
    text.and_then(|text| name(text.trim_end_matches('/')).strip_prefix(CHART)).is_some_and(|rest| {
        rest.is_empty() || rest == ".tgz" || rest.strip_prefix('-').is_some_and(is_version)
    })
}
