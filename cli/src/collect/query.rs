//! Arguments of `kubectl get` for each kind.

use super::kinds::{CollectedKind, Elsewhere, Scope};

/// Label of the objects of Karpenter's chart.
/// Source: charts/karpenter/templates/_helpers.tpl of aws/karpenter-provider-aws at v1.0.0 and v1.14.0.
const CHART: &str = "app.kubernetes.io/name=karpenter";

/// Namespace of events about objects without a namespace.
/// Source: `makeEvent` in tools/record/event.go of kubernetes/client-go at v0.33.0.
pub(super) const CLUSTER_EVENTS: &str = "default";

/// Namespaces to collect from.
#[derive(Clone, Debug, Default)]
pub(super) struct CollectedNamespaces {
    /// The only namespace of `--namespace`.
    pub(super) only: Option<String>,
    /// The namespace of the controller, if it is known.
    pub(super) controller: Option<String>,
}

/// One call of `kubectl get`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Query {
    /// The namespace; `None` for all namespaces, and for a kind without namespaces.
    pub(super) namespace: Option<String>,
    selector: Option<&'static str>,
    /// A namespace whose objects an earlier query returned.
    pub(super) except: Option<String>,
    scope: Scope,
}

impl Query {
    /// The queries for a kind.
    pub(super) fn all(kind: &CollectedKind, namespaces: &CollectedNamespaces) -> Vec<Self> {
        let all = Self { namespace: None, selector: kind.selector, except: None, scope: kind.scope };
        let only = namespaces.only.as_ref().filter(|_| kind.scope == Scope::Namespace);
        let Some(only) = only else { return vec![all] };
        let own = Self { namespace: Some(only.clone()), ..all.clone() };
        let except = Some(only.clone());
        let other = match kind.elsewhere {
            Elsewhere::Nothing => None,
            Elsewhere::Controller => {
                Some(Self { namespace: namespaces.controller.clone(), selector: Some(CHART), except, ..all })
            }
            Elsewhere::ClusterEvents => {
                Some(Self { namespace: Some(CLUSTER_EVENTS.to_owned()), except, ..all })
            }
        };
        let adds = |other: &Self| other.namespace != own.namespace;
        let other = other.filter(adds);
        std::iter::once(own).chain(other).collect()
    }

    /// The arguments of kubectl. `--chunk-size` makes the server return a large list in parts, and the timeout is for one part.
    /// kubectl has both flags in every supported release.
    /// Source: `AddChunkSizeFlag` in pkg/cmd/util/helpers.go, pkg/cmd/get/get.go of kubernetes/kubectl at v0.33.0.
    pub(super) fn arguments(&self, kind: &CollectedKind) -> Vec<String> {
        let mut arguments = vec!["get".to_owned(), kind.full_name()];
        arguments.extend(["--output=json", "--chunk-size=500", "--request-timeout=60s"].map(str::to_owned));
        match (&self.namespace, self.scope) {
            (Some(namespace), _) => arguments.push(format!("--namespace={namespace}")),
            (None, Scope::Namespace) => arguments.push("--all-namespaces".to_owned()),
            (None, Scope::Cluster) => {}
        }
        arguments.extend(self.selector.map(|selector| format!("--selector={selector}")));
        arguments
    }

    /// The right that the query needs: `list pods in all namespaces`.
    pub(super) fn right(&self, kind: &CollectedKind) -> String {
        let resource = kind.full_name();
        match (&self.namespace, self.scope) {
            (Some(namespace), _) => format!("list {resource} in namespace {namespace}"),
            (None, Scope::Namespace) => format!("list {resource} in all namespaces"),
            (None, Scope::Cluster) => format!("list {resource}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::kinds::KINDS;
    use super::*;

    fn arguments(resource: &str, only: Option<&str>, controller: Option<&str>) -> Vec<String> {
        let kind = KINDS.iter().find(|kind| kind.resource == resource).unwrap();
        let owned = |name: Option<&str>| name.map(str::to_owned);
        let namespaces = CollectedNamespaces { only: owned(only), controller: owned(controller) };
        let queries = Query::all(kind, &namespaces);
        queries.iter().map(|query| query.arguments(kind)[5..].join(" ")).collect()
    }

    #[test]
    fn reads_all_namespaces_by_default() {
        assert_eq!(arguments("pods", None, None), ["--all-namespaces"]);
        assert_eq!(arguments("events", None, None), ["--all-namespaces"]);
        assert_eq!(arguments("nodes", None, None), [""]);
    }

    #[test]
    fn reads_only_the_reports_of_the_audit_scanner() {
        let labels = "--selector=app.kubernetes.io/managed-by=kubewarden";
        assert_eq!(arguments("reports", None, None), [format!("--all-namespaces {labels}")]);
        assert_eq!(arguments("policyreports", Some("shop"), None), [format!("--namespace=shop {labels}")]);
        assert_eq!(arguments("clusterreports", Some("shop"), None), [labels]);
    }

    #[test]
    fn reads_the_controller_and_the_events_of_nodes_beside_the_chosen_namespace() {
        let chart = "--selector=app.kubernetes.io/name=karpenter";
        assert_eq!(
            arguments("pods", Some("shop"), None),
            ["--namespace=shop", &format!("--all-namespaces {chart}")]
        );
        assert_eq!(
            arguments("pods", Some("shop"), Some("karpenter")),
            ["--namespace=shop", &format!("--namespace=karpenter {chart}")]
        );
        assert_eq!(arguments("pods", Some("karpenter"), Some("karpenter")), ["--namespace=karpenter"]);
        assert_eq!(arguments("events", Some("shop"), None), ["--namespace=shop", "--namespace=default"]);
        assert_eq!(arguments("events", Some("default"), None), ["--namespace=default"]);
        assert_eq!(arguments("jobs", Some("shop"), None), ["--namespace=shop"]);
        assert_eq!(arguments("nodes", Some("shop"), None), [""]);
    }
}
