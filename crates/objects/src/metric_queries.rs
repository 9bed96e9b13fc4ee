//! Queries of metrics: in the rules of the operators of Prometheus and `VictoriaMetrics`, in plain alert files, and in Grafana
//! dashboards, alone or in a ConfigMap.

use karpenter::kind::Kind;
use manifest::tree::{Node, Value, items_of};

use crate::object::{Form, Object};

const CONFIG_MAP: Kind = Kind::of("", "v1", "ConfigMap");
const OPERATORS: [Kind; 2] = [
    Kind::of("monitoring.coreos.com", "v1", "PrometheusRule"),
    Kind::of("operator.victoriametrics.com", "v1beta1", "VMRule"),
];

/// The prefix of Karpenter's metrics.
const PREFIX: &str = "karpenter_";

/// Name in the labels of queries for metrics that other controllers have, too, such as `job="karpenter"`.
const NAME: &str = "karpenter";

/// Fields of a dashboard with queries.
const QUERY_FIELDS: [&str; 3] = ["expr", "query", "definition"];

/// Whether an object holds queries of metrics. A ConfigMap counts only if it has a metric of Karpenter.
pub fn holds(object: Object<'_>) -> bool {
    let is_rule = || OPERATORS.iter().any(|kind| object.is(*kind));
    object.form() == Form::MetricQueries || is_rule() || dashboards(object).next().is_some()
}

/// Whether a document without a kind is an alert file or a dashboard that names Karpenter.
pub(crate) fn is_document(root: Node<'_>) -> bool {
    let rules = items_of(root.get("groups")).any(|group| group.get("rules").is_some());
    let panels = || [root.get("panels"), root.at_path(&["dashboard", "panels"])];
    let has_panels = || panels().into_iter().flatten().any(Node::is_sequence);
    let text = || root.source().slice(root.span());
    (rules || has_panels()) && text().contains(NAME)
}

/// The strings of an object with queries. A string may hold a whole dashboard.
pub fn queries(object: Object<'_>) -> Vec<Node<'_>> {
    if object.is(CONFIG_MAP) {
        return dashboards(object).collect();
    }
    let root = object.root();
    let groups = items_of(root.get("groups")).chain(items_of(root.at_path(&["spec", "groups"])));
    let rules = groups.flat_map(|group| items_of(group.get("rules")));
    let mut found: Vec<_> = rules.filter_map(|rule| rule.get("expr")).collect();
    if object.form() == Form::MetricQueries && found.is_empty() {
        collect(root, &mut found);
    }
    found
}

/// The values of a ConfigMap that hold a dashboard with a metric of Karpenter.
fn dashboards(object: Object<'_>) -> impl Iterator<Item = Node<'_>> {
    let data = object.is(CONFIG_MAP).then(|| object.root().members_at(&["data"]));
    let has = |node: &Node<'_>| node.as_str().is_some_and(|text| text.contains(PREFIX));
    data.into_iter().flatten().map(|(_, node)| node).filter(has)
}

/// Collects the queries of a dashboard, at any depth that the reader of documents allows.
fn collect<'d>(node: Node<'d>, found: &mut Vec<Node<'d>>) {
    let is_query = QUERY_FIELDS.contains(&node.key()) && matches!(node.value(), Value::String(_));
    if is_query {
        found.push(node);
    }
    node.children().for_each(|child| collect(child, found));
}
