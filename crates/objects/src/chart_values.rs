//! The values of Karpenter's Helm chart: where they are given, and which keys the chart of a release reads.

use crate::object::{Form, Object};
use karpenter::chart;
use manifest::tree::Node;

/// The values that an object gives to the chart: a mapping, and over it parameters as `helm --set` takes them.
#[derive(Clone, Copy, Debug)]
pub struct Values<'d> {
    map: Option<Node<'d>>,
    parameters: Option<Node<'d>>,
}

impl<'d> Values<'d> {
    /// The values that are given as a mapping.
    pub fn map(self) -> Option<Node<'d>> {
        self.map
    }

    /// The value below a path of keys.
    pub fn at(self, path: &[&str]) -> Option<Node<'d>> {
        let set = self.set().filter(|(name, _)| rest(name, path) == Some(""));
        let set = set.filter_map(|(_, item)| item.get("value")).last();
        set.or_else(|| self.map?.at_path(path))
    }

    /// The keys below a path, and where they stand: a member, or the name of a parameter.
    pub fn keys(self, path: &[&str]) -> Vec<(&'d str, Key<'d>)> {
        let map = self.map.and_then(|map| map.at_path(path));
        let members = map.into_iter().flat_map(Node::members).map(|(key, node)| (key, Key::Member(node)));
        let set = self.set().filter_map(|(name, item)| {
            let key = rest(name, path)?.split(['.', '[']).next().filter(|key| !key.is_empty())?;
            Some((key, Key::Parameter(item.get("name")?)))
        });
        members.chain(set).collect()
    }

    fn set(self) -> impl Iterator<Item = (&'d str, Node<'d>)> {
        let items = self.parameters.into_iter().flat_map(Node::items);
        items.filter_map(|item| Some((item.str_at(&["name"])?, item)))
    }
}

/// Where a key stands.
#[derive(Clone, Copy, Debug)]
pub enum Key<'d> {
    /// It is that of this member.
    Member(Node<'d>),
    /// It is a part of this name of a parameter.
    Parameter(Node<'d>),
}

/// What is left of a parameter's name below a path of keys. Dots within a key are escaped.
fn rest<'n>(name: &'n str, path: &[&str]) -> Option<&'n str> {
    path.iter().try_fold(name, |rest, key| {
        let rest = rest.strip_prefix(key.replace('.', "\\.").as_str())?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') }
    })
}

/// The values of an object: a document of values, a HelmRelease of Flux or an Application of Argo CD that installs the
/// chart `karpenter`, or one around it that hands the values below `karpenter` on.
pub fn of(object: Object<'_>) -> Option<Values<'_>> {
    match (object.form(), object.group(), object.kind()) {
        (Form::ChartValues, ..) => Some(Values { map: Some(object.root()), parameters: None }),
        (Form::Api, "helm.toolkit.fluxcd.io", "HelmRelease") => {
            let chart = object.str_at(&["spec", "chart", "spec", "chart"]);
            let reference = object.str_at(&["spec", "chartRef", "name"]);
            let is_own = chart.or(reference) == Some("karpenter");
            of_chart(is_own.then_some(true).or(chart.map(|_| false)), object.at(&["spec", "values"]), None)
        }
        (Form::Api, "argoproj.io", "Application") => {
            let one = object.at(&["spec", "source"]).into_iter();
            let several = object.items_at(&["spec", "sources"]);
            one.chain(several).find_map(|source| {
                // Argo CD heeds the text only where there is no object, and parameters before either. Source:
                // docs/user-guide/helm.md and `ValuesString` in pkg/apis/application/v1alpha1 of argoproj/argo-cd.
                let helm = source.get("helm")?;
                let text = || helm.get("values").and_then(Node::embedded);
                let map = helm.get("valuesObject").filter(|values| values.is_mapping()).or_else(text);
                of_chart(is_own(source), map, helm.get("parameters"))
            })
        }
        _ => None,
    }
}

/// Whether a source of Argo CD is Karpenter's chart; `None` where it has no chart's name, as in a repository of Git.
fn is_own(source: Node<'_>) -> Option<bool> {
    let chart = source.str_at(&["chart"]).unwrap_or_default();
    let url = source.str_at(&["repoURL"]).unwrap_or_default();
    if chart.is_empty() {
        return url.ends_with("/karpenter/karpenter").then_some(true);
    }
    Some(chart.rsplit('/').next() == Some("karpenter"))
}

/// The values for Karpenter's chart among those for some chart. Where its name does not tell, its keys do.
fn of_chart<'d>(
    is_own: Option<bool>,
    map: Option<Node<'d>>,
    parameters: Option<Node<'d>>,
) -> Option<Values<'d>> {
    let map = map.filter(|map| map.is_mapping());
    let parameters = parameters.filter(|list| list.is_sequence());
    match is_own {
        Some(true) => (map.is_some() || parameters.is_some()).then_some(Values { map, parameters }),
        Some(false) => Some(Values { map: Some(chart::values_handed_on(map?)?), parameters: None }),
        None => Some(Values { map: Some(chart::values_in(map?)?), parameters }),
    }
}

/// The values of an object that installs the chart into the cluster it is applied to. A HelmRelease with `kubeConfig` and
/// an Application with another destination stand in a hub and say nothing of its own cluster.
///
/// Source: `spec.kubeConfig` of Flux's HelmRelease v2; `spec.destination` of Argo CD's Application, where `in-cluster` and
/// `https://kubernetes.default.svc` are the cluster that Argo CD runs in.
pub fn of_this_cluster(object: Object<'_>) -> Option<Values<'_>> {
    let destination = |key| object.str_at(&["spec", "destination", key]);
    let is_remote = object.at(&["spec", "kubeConfig"]).is_some()
        || destination("name").is_some_and(|name| name != "in-cluster")
        || destination("server").is_some_and(|server| server != "https://kubernetes.default.svc");
    of(object).filter(|_| object.form() != Form::Api || !is_remote)
}
