//! Removed custom resource definitions of Karpenter: the API server deletes all objects of a kind with its definition.
//!
//! Source: "Delete a `CustomResourceDefinition`" in content/en/docs/tasks/extend-kubernetes/custom-resources/
//! custom-resource-definitions.md of kubernetes/website; charts/karpenter-crd/templates of aws/karpenter-provider-aws: the definitions are
//! templates, which Helm deletes with the release.

use std::collections::{BTreeMap, BTreeSet};

use answers::plan::ControllerChange;
use cluster::appliers::{Applier, Appliers, sources};
use cluster::folders::{folders_of, name};
use drift::Effect;
use manifest::tree::{Node, items_of};
use manifest::{Document, File};
use objects::object::Object;

use super::controller::change;
use super::elsewhere::GainedSources;
use super::outside::{input_names, is_kustomization, outside_references};
use super::scope::without_start;
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

/// The change of the definitions that nothing in the input has any more. `dropped` are the files that no kustomization uses any more.
pub(super) fn removed(
    pair: PlanPair<'_>,
    dropped: &BTreeSet<String>,
    gained: &GainedSources,
) -> Option<ControllerChange> {
    let (old, new) = (Definitions::of(pair.old, &BTreeSet::new()), Definitions::of(pair.new, dropped));
    if new.names.contains_key(CHART) {
        return None;
    }
    let elsewhere = |kept: &Option<String>| kept.clone().or_else(|| gained.any().map(str::to_owned));
    let lost = |(name, _, effect): &(&str, &str, Effect)| {
        let kept = elsewhere(old.names.get(name).filter(|_| !new.names.contains_key(name))?);
        let effect = if kept.is_some() { Effect::Unknown } else { *effect };
        Some((effect, (*name).to_owned(), kept))
    };
    let chart = || {
        let kept = elsewhere(old.names.get(CHART).filter(|_| new.names.is_empty())?);
        let effect = if kept.is_some() { Effect::Unknown } else { Effect::RemovesNodes };
        Some((effect, format!("chart {CHART}"), kept))
    };
    let (effect, what, kept) =
        NAMES.iter().filter_map(lost).max_by_key(|(effect, ..)| *effect).or_else(chart)?;
    let message = match kept {
        Some(reason) => format!("{MESSAGE}; the definition may stay: {reason}"),
        None => MESSAGE.to_owned(),
    };
    Some(change(&format!("{what}{IS_REMOVED}"), "", "", effect, message))
}

/// The definitions and the chart that installs them on one side, each with the reason for which it may stay when it is removed.
#[derive(Default)]
struct Definitions<'d> {
    names: BTreeMap<&'d str, Option<String>>,
}

impl<'d> Definitions<'d> {
    fn of(side: PlanSide<'d>, dropped: &BTreeSet<String>) -> Self {
        let files = &side.cluster.files;
        let names = input_names(files);
        let mut found = Self::default();
        let is_there = |file: &&File| {
            !file.kind.is_text() && !dropped.contains(without_start(file.source.name(), side.folder))
        };
        for file in files.iter().filter(is_there) {
            let is_of_chart = is_in_crds_of_chart(file, files);
            for document in &file.documents {
                let Document::Read(tree) = document else { continue };
                let definitions = Object::all(tree).into_iter().filter(|object| is_definition(*object));
                for object in definitions.filter(|_| !is_of_chart) {
                    found.names.insert(object.name(), retained::of_object(object));
                }
                if let Some(chart) = chart_in(tree.root()) {
                    found.names.insert(CHART, kept_by_helm(chart));
                }
            }
            found.add_outside(file, &names);
        }
        let appliers = Appliers::of(files);
        if let Some(applier) = appliers.all().iter().find(|applier| installs(applier)) {
            let kept = retained::of_removed(applier).or_else(|| kept_by_helm(applier.root));
            found.names.insert(CHART, kept);
        }
        found
    }

    /// Adds the definitions that a kustomization takes from a release of Karpenter.
    fn add_outside(&mut self, file: &File, names: &BTreeSet<&str>) {
        let references = if is_kustomization(file) { outside_references(file, names) } else { Vec::new() };
        for reference in references {
            let base = name(reference.split('?').next().unwrap_or_default());
            if let Some((name, ..)) = NAMES.iter().find(|(_, file, _)| *file == base) {
                self.names.entry(*name).or_insert(None);
            }
        }
    }
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

fn installs(applier: &Applier<'_>) -> bool {
    let spec = applier.root.get("spec");
    let text = |keys: &[&str]| spec.and_then(|spec| spec.str_at(keys));
    let template = spec.and_then(|spec| spec.at_path(&["template", "spec"]));
    is_chart(text(&["chart", "spec", "chart"]))
        || is_chart(text(&["chartRef", "name"]))
        || sources(template.or(spec))
            .any(|source| is_chart(source.str_at(&["chart"])) || is_chart(source.str_at(&["path"])))
}

fn is_chart(text: Option<&str>) -> bool {
    text.is_some_and(|text| name(text) == CHART)
}
