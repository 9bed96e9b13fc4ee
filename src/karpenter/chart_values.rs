//! The values of Karpenter's Helm chart, wherever they are given.

use crate::manifest::tree::Node;
use crate::object::{Form, Object};

/// The values of an object: a document of values, a HelmRelease of Flux or an Application of Argo CD that installs the
/// chart `karpenter`.
pub fn of(object: Object<'_>) -> Option<Node<'_>> {
    let names_chart = |source: Node<'_>| {
        let chart = source.str_at(&["chart"]).unwrap_or_default();
        let url = source.str_at(&["repoURL"]).unwrap_or_default();
        chart.rsplit('/').next() == Some("karpenter")
            || (chart.is_empty() && url.ends_with("/karpenter/karpenter"))
    };
    match (object.form(), object.group(), object.kind()) {
        (Form::ChartValues, ..) => Some(object.root()),
        (Form::Api, "helm.toolkit.fluxcd.io", "HelmRelease") => {
            let chart = object.str_at(&["spec", "chart", "spec", "chart"]);
            let reference = object.str_at(&["spec", "chartRef", "name"]);
            let values = object.at(&["spec", "values"]).filter(|values| values.is_mapping());
            values.filter(|_| chart.or(reference) == Some("karpenter"))
        }
        (Form::Api, "argoproj.io", "Application") => {
            let one = object.at(&["spec", "source"]).into_iter();
            let several = object.at(&["spec", "sources"]).into_iter().flat_map(Node::items);
            let mut values = one.chain(several).filter(|source| names_chart(*source));
            values.find_map(|source| source.at_path(&["helm", "valuesObject"]))
        }
        _ => None,
    }
}
