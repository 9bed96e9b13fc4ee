//! Removed custom resource definitions of Karpenter: the API server deletes all objects of a kind with its definition.
//!
//! Source: "Delete a `CustomResourceDefinition`" in content/en/docs/tasks/extend-kubernetes/custom-resources/
//! custom-resource-definitions.md of kubernetes/website; charts/karpenter-crd/templates of aws/karpenter-provider-aws: the definitions are
//! templates, which Helm deletes with the release.

use std::collections::BTreeMap;

use answers::plan::ControllerChange;
use cluster::appliers::{Applier, Appliers, sources};
use cluster::folders::{folders_of, name};
use drift::Effect;
use manifest::tree::{Node, items_of};
use manifest::{Document, File};
use objects::object::{Form, Object};

use super::controller::change;
use super::{PlanPair, PlanSide, retained};

/// The chart with the definitions.
const CHART: &str = "karpenter-crd";

/// The definitions whose objects keep nodes. An EC2NodeClass stays until its nodes are gone, but new nodes need it.
const NAMES: [(&str, Effect); 3] = [
    ("nodepools.karpenter.sh", Effect::RemovesNodes),
    ("nodeclaims.karpenter.sh", Effect::RemovesNodes),
    ("ec2nodeclasses.karpenter.k8s.aws", Effect::Unknown),
];

/// End of the subject of a removal.
pub(super) const IS_REMOVED: &str = " is removed";

const MESSAGE: &str = "with a definition, the API server deletes all objects of its kind: Karpenter removes the nodes without a replacement";

/// The change of the definitions that nothing in the input has any more.
pub(super) fn removed(pair: PlanPair<'_>) -> Option<ControllerChange> {
    let (old, new) = (Definitions::of(pair.old), Definitions::of(pair.new));
    if new.names.contains_key(CHART) {
        return None;
    }
    let lost = |(name, effect): &(&str, Effect)| {
        let kept = old.names.get(name).filter(|_| !new.names.contains_key(name))?;
        Some(match kept {
            Some(reason) => (Effect::Unknown, (*name).to_owned(), Some(reason.clone())),
            None => (*effect, (*name).to_owned(), None),
        })
    };
    let chart = || {
        let kept = old.names.get(CHART).filter(|_| new.names.is_empty())?;
        let effect = if kept.is_some() { Effect::Unknown } else { Effect::RemovesNodes };
        Some((effect, format!("chart {CHART}"), kept.clone()))
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
    fn of(side: PlanSide<'d>) -> Self {
        let files = &side.cluster.files;
        let mut found = Self::default();
        for file in files.iter().filter(|file| !file.kind.is_text()) {
            let is_of_chart = is_in_crds_of_chart(file, files);
            for document in &file.documents {
                let Document::Read(tree) = document else { continue };
                for object in Object::all(tree) {
                    if object.kind() == "CustomResourceDefinition" && !is_of_chart {
                        found.names.insert(object.name(), retained::of_object(object));
                    }
                    let is_release = object.form() == Form::Release && is_chart(object.str_at(&["chart"]));
                    if is_release {
                        found.names.insert(CHART, None);
                    }
                }
                if items_of(tree.root().get("helmCharts")).any(|one| is_chart(one.str_at(&["name"]))) {
                    found.names.insert(CHART, None);
                }
            }
        }
        let appliers = Appliers::of(files);
        if let Some(applier) = appliers.all().iter().find(|applier| installs(applier)) {
            found.names.insert(CHART, retained::of_removed(applier));
        }
        found
    }
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
            .any(|source: Node<'_>| is_chart(source.str_at(&["chart"])) || is_chart(source.str_at(&["path"])))
}

fn is_chart(text: Option<&str>) -> bool {
    text.is_some_and(|text| name(text) == CHART)
}
