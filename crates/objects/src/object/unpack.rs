//! Objects within documents: a `kind: List` is unpacked, an `AdmissionReview` is unwrapped, and content without a kind is
//! recognised.

use karpenter::chart;
use manifest::source::{Span, certain};
use manifest::tree::{Node, Style, Tree};

use super::{Form, Object, Operation};
use crate::addon::is_vpc_cni;
use crate::chart_values;
use crate::eks_cluster::is_eks_cluster;
use crate::event_rule::is_event_rule;
use crate::iam_policy::{attaches_broad_policy, is_role_of_karpenter};
use crate::instance_profile::is_profile;
use crate::interruption_queue::is_queue;
use crate::metric_queries;
use crate::network_tags::is_tagged;
use crate::node_access::is_access_entry;
use crate::pod_identity::is_association;
use crate::terraform_module;
use crate::type_meta::TypeMeta;
use crate::wrapper::Wrapper;

impl<'d> Object<'d> {
    /// Returns the objects of a document. Empty if the document has nothing that rules could check.
    pub fn all(tree: &'d Tree) -> Vec<Self> {
        // Most documents are one object.
        let mut objects = Vec::with_capacity(1);
        unpack(tree.root(), &mut objects);
        if objects.is_empty() {
            objects = kindless(tree.root());
        }
        // Comments and duplicate keys belong to the object whose part of the text they are in. A comment below the last line of
        // an object belongs to the next object.
        let (mut comments, mut duplicates) = (tree.comments(), tree.duplicate_keys());
        let following: Vec<_> = objects.iter().skip(1).map(|next| next.root.span()).collect();
        let next: Vec<_> = objects.iter().skip(1).map(|next| next.root.id()).collect();
        for (index, object) in objects.iter_mut().enumerate() {
            let next = next.get(index).copied();
            // JSON may have all objects on one line, and the end of the line is far away.
            let needs_end = next.is_some() && !comments.is_empty();
            let byte = if needs_end {
                end_of_own_text(object.root, certain(following.get(index).copied()))
            } else {
                usize::MAX
            };
            let split = comments.partition_point(|comment| comment.span.start < byte);
            (object.comments, comments) = certain(comments.split_at_checked(split));
            let split = duplicates.partition_point(|key| next.is_none_or(|next| key.earlier < next));
            (object.duplicates, duplicates) = certain(duplicates.split_at_checked(split));
        }
        objects
    }

    /// Returns the object of a document that is known to hold values of Karpenter's chart, at the top or under `karpenter`.
    pub fn values(tree: &'d Tree) -> Vec<Self> {
        let below = tree.root().get("karpenter").filter(|values| values.is_mapping());
        let values = Some(below.unwrap_or(tree.root())).filter(|values| values.is_mapping());
        values.map(|root| Self::whole(tree, root, Form::ChartValues)).into_iter().collect()
    }

    /// Returns the object of a document that is known to hold values of a chart in the input.
    pub fn local_values(tree: &'d Tree) -> Option<Self> {
        let root = Some(tree.root()).filter(|root| root.is_mapping());
        root.map(|root| Self::whole(tree, root, Form::LocalValues))
    }

    /// The only object of a document.
    fn whole(tree: &'d Tree, root: Node<'d>, form: Form) -> Self {
        let (comments, duplicates) = (tree.comments(), tree.duplicate_keys());
        Self { comments, duplicates, ..Self::of_form(root, form) }
    }
}

/// The byte at which the text of an object ends before the next object, which may be within it.
fn end_of_own_text(object: Node<'_>, next: Span) -> usize {
    if next.start < object.span().end { next.start } else { end_of_last_line(object) }
}

/// The byte at which the last line of a value ends.
fn end_of_last_line(node: Node<'_>) -> usize {
    let last = core::iter::successors(Some(node), |node| node.children().last()).last().unwrap_or(node);
    let end = if node.style() == Style::Flow { node.span().end } else { last.span().end };
    let rest = last.source().after(end);
    end + rest.find('\n').unwrap_or(rest.len())
}

fn unpack<'d>(node: Node<'d>, objects: &mut Vec<Object<'d>>) {
    let kind = node.str_at(&["kind"]).unwrap_or_default();
    let api_version = node.str_at(&["apiVersion"]).unwrap_or_default();
    if kind.is_empty() || api_version.is_empty() {
        return;
    }
    if let Some(items) = node.get("items").filter(|items| kind.ends_with("List") && items.is_sequence()) {
        for item in items.items() {
            let before = objects.len();
            unpack(item, objects);
            if objects.len() == before {
                objects.extend(untyped(item));
            }
        }
        return;
    }
    if kind == "AdmissionReview" && api_version.starts_with("admission.k8s.io/") {
        let Some(request) = node.get("request") else { return };
        let operation = match request.str_at(&["operation"]) {
            Some("CREATE") => Operation::Create,
            Some("UPDATE") => Operation::Update,
            Some("DELETE") => Operation::Delete,
            _ => return,
        };
        let whole = |key| request.get(key).filter(|object| object.is_mapping());
        let (object, old) = match operation {
            Operation::Delete => (whole("oldObject"), None),
            _ => (whole("object"), whole("oldObject")),
        };
        objects.extend(object.map(|object| Object::in_request(object, old, operation)));
        return;
    }
    let object = Object::plain(node);
    objects.push(object);
    let wrapped = Wrapper::of(node).and_then(Wrapper::content);
    for values in chart_values::given_to_charts(object).chain(wrapped) {
        raw(values, objects);
    }
    if object.kind() == "ConfigMap" && object.group().is_empty() {
        objects.extend(values_in_config_map(object));
    }
}

/// The values of Karpenter's chart in a ConfigMap, which a HelmRelease names in `valuesFrom`.
///
/// Source: "Values references" in docs/spec/v2/helmreleases.md of fluxcd/helm-controller: the default key is `values.yaml`.
fn values_in_config_map(config_map: Object<'_>) -> impl Iterator<Item = Object<'_>> {
    let values = config_map.at(&["data", "values.yaml"]).and_then(Node::embedded);
    let values = values.into_iter().filter_map(chart::values_in);
    values.map(|values| Object::of_form(values, Form::ChartValues))
}

/// Adds the objects among values of a chart. A chart such as `raw`, and the key `extraObjects` of many charts, make them as they are. Values without
/// a name are defaults for objects.
///
/// Sources: charts/raw/README.md of helm/charts; `extraObjects` in charts/argo-cd/values.yaml of argoproj/argo-helm.
fn raw<'d>(values: Node<'d>, objects: &mut Vec<Object<'d>>) {
    let mut open = vec![values];
    while let Some(node) = open.pop() {
        let is_object = ["apiVersion", "kind"].iter().all(|key| node.str_at(&[*key]).is_some())
            && ["name", "generateName"].iter().any(|key| node.at_path(&["metadata", *key]).is_some());
        if is_object {
            objects.push(Object::plain(node));
        } else {
            let next = open.len();
            open.extend(node.children());
            open.get_mut(next..).into_iter().for_each(<[_]>::reverse);
        }
    }
}

/// Returns the objects of a document without `apiVersion` and `kind`.
fn kindless(root: Node<'_>) -> Vec<Object<'_>> {
    let of = Object::of_form;
    if is_iam_policy(root) {
        return vec![of(root, Form::IamPolicy)];
    }
    let releases = releases(root);
    if !releases.is_empty() {
        return releases;
    }
    let modules = terraform_module::calls(root);
    if !modules.is_empty() {
        let module = |call| Object { kind: MODULE, ..of(call, Form::Module) };
        return modules.into_iter().map(module).collect();
    }
    let resources = root.members_at(&["Resources"]).map(|(_, node)| node);
    let policies = resources.filter(|resource| {
        holds_iam_policy(*resource)
            || is_access_entry(*resource)
            || is_association(*resource)
            || is_queue(*resource)
            || is_event_rule(*resource)
            || is_profile(*resource)
            || is_tagged(*resource)
            || is_vpc_cni(*resource)
            || is_role_of_karpenter(*resource)
            || is_eks_cluster(*resource)
    });
    let policies: Vec<_> = policies.map(|resource| of(resource, Form::StackResource)).collect();
    if !policies.is_empty() {
        return policies;
    }
    if metric_queries::is_document(root) {
        return vec![of(root, Form::MetricQueries)];
    }
    let values: Vec<_> = chart::values_in(root).into_iter().map(|node| of(node, Form::ChartValues)).collect();
    if values.is_empty() { untyped(root).into_iter().collect() } else { values }
}

/// Kind of a call of a module.
const MODULE: &str = "module";

/// Returns the `helm_release` resources of Karpenter's chart, in Terraform's JSON syntax.
///
/// Source: website/docs/language/syntax/json.mdx of hashicorp/terraform.
fn releases(root: Node<'_>) -> Vec<Object<'_>> {
    const KIND: &str = "helm_release";
    let Some(resources) = root.get("resource") else { return Vec::new() };
    let blocks = core::iter::once(resources).chain(resources.items());
    let all = blocks.filter_map(|block| block.get(KIND)).flat_map(Node::members).map(|(_, release)| release);
    let own = all.filter(|release| {
        let chart = release.str_at(&["chart"]).unwrap_or_default();
        chart.rsplit('/').next() == Some("karpenter")
    });
    own.map(|release| Object { kind: KIND, ..Object::of_form(release, Form::Release) }).collect()
}

/// Returns an object whose `apiVersion` or `kind` is missing or misspelt. Without a group, no rule takes it for one of its kinds.
fn untyped(root: Node<'_>) -> Option<Object<'_>> {
    let keys = TypeMeta::of(root);
    let kind = keys.kind.text().unwrap_or_default();
    keys.is_broken_object().then(|| Object { kind, ..Object::of_form(root, Form::Untyped) })
}

fn is_iam_policy(node: Node<'_>) -> bool {
    let Some(statement) = node.get("Statement") else { return false };
    let first = if statement.is_mapping() { Some(statement) } else { statement.items().next() };
    first.is_some_and(|statement| statement.get("Effect").is_some())
}

/// Whether a resource of a CloudFormation template has a policy document among its properties, or a managed policy that
/// allows everything.
fn holds_iam_policy(resource: Node<'_>) -> bool {
    let iam = resource.str_at(&["Type"]).is_some_and(|kind| kind.starts_with("AWS::IAM::"));
    let has = |key| resource.at_path(&["Properties", key]).is_some();
    iam && (has("PolicyDocument") || has("Policies") || attaches_broad_policy(resource))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::READ_OPTIONS;
    use manifest::{Document, File};

    fn objects(text: &str) -> Vec<String> {
        let file = File::read("-", text, READ_OPTIONS);
        let trees = file.trees();
        let all = trees.flat_map(Object::all);
        all.map(|object| format!("{} {} {:?}", object.api_version(), object.kind(), object.pod().is_some()))
            .collect()
    }

    #[test]
    fn finds_objects_among_the_values_of_a_chart() {
        let text = r"apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: raw}
spec:
  chart: {spec: {chart: raw}}
  values:
    resources:
    - {apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}} # one
    podDisruptionBudget: {apiVersion: policy/v1, kind: PodDisruptionBudget}
    defaults: {apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {labels: {a: b}}}
    extraObjects:
      class: {apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: b}}
---
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: raw}
spec:
  generators: [{clusters: {}}]
  template:
    spec:
      sources:
      - chart: raw
        helm:
          values: |
            resources:
            # two
            - {apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: '{{.name}}'}}
";
        let file = File::read("-", text, READ_OPTIONS);
        let trees = file.trees();
        let all = trees.flat_map(Object::all);
        let found = all.map(|object| (object.kind(), object.name(), object.comments().len()));
        assert_eq!(
            found.collect::<Vec<_>>(),
            [
                ("HelmRelease", "raw", 0),
                ("NodePool", "a", 1),
                ("EC2NodeClass", "b", 0),
                ("ApplicationSet", "raw", 1),
                ("NodePool", "{{.name}}", 0),
            ]
        );
    }

    /// The form of "Values references" in docs/spec/v2/helmreleases.md of fluxcd/helm-controller.
    #[test]
    fn finds_values_in_a_config_map() {
        let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: karpenter-values}\ndata:\n  values.yaml: |\n    settings: {clusterName: prod, interruptionQueue: prod}\n";
        let forms = |text: &str| {
            let file = File::read("-", text, READ_OPTIONS);
            let [Document::Read(tree)] = file.documents.as_slice() else { panic!("{file:?}") };
            Object::all(tree)
                .into_iter()
                .map(|object| format!("{:?} {}", object.form(), object.name()))
                .collect::<Vec<_>>()
        };
        assert_eq!(forms(text), ["Api karpenter-values", "ChartValues "]);
        assert_eq!(forms(&text.replace("settings", "image")), ["Api karpenter-values"]);
        assert_eq!(forms(&text.replace("values.yaml", "other.yaml")), ["Api karpenter-values"]);
    }

    #[test]
    fn an_object_of_crossplane_with_fields_of_others_is_left_out() {
        let text = "apiVersion: kubernetes.crossplane.io/v1alpha2\nkind: Object\nspec: {references: [{dependsOn: {name: a}}], forProvider: {manifest: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: []}}}}\n";
        assert_eq!(objects(text), ["kubernetes.crossplane.io/v1alpha2 Object false", "v1 Pod true"]);
        let patched =
            text.replace("dependsOn: {name: a}", "patchesFrom: {name: a}, toFieldPath: spec.nodeName");
        assert_eq!(objects(&patched), ["kubernetes.crossplane.io/v1alpha2 Object false"]);
    }

    #[test]
    fn unpacks_lists_and_unwraps_reviews() {
        let text = r"apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, spec: {containers: []}}
- {apiVersion: a/v1, kind: B}
---
apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request: {operation: CREATE, object: {apiVersion: apps/v1, kind: Deployment}}
---
apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request: {operation: DELETE, object: null, oldObject: {apiVersion: v1, kind: Pod, spec: {containers: []}}}
---
apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request: {operation: CONNECT, object: {apiVersion: v1, kind: PodExecOptions}}
---
just: a map
";
        assert_eq!(objects(text), ["v1 Pod true", "a/v1 B false", "apps/v1 Deployment false", "v1 Pod true"]);
    }

    #[test]
    fn recognises_content_without_kind_by_its_keys() {
        let forms = |text: &str| {
            let file = File::read("-", text, READ_OPTIONS);
            let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
            let all = Object::all(tree).into_iter();
            all.map(|object| format!("{:?} `{}` `{}`", object.form(), object.kind(), object.name()))
                .collect::<Vec<_>>()
                .join(", ")
        };
        for (text, expected) in [
            ("{Statement: [{Effect: Allow}]}", "IamPolicy `` ``"),
            ("{Statement: {Effect: Deny}, kind: x}", "IamPolicy `` ``"),
            ("{Statement: a}", ""),
            ("{kind: NodePool, metadata: {name: a}, spec: {}}", "Untyped `NodePool` `a`"),
            (
                "Resources: {A: {Type: 'AWS::IAM::Policy', Properties: {PolicyDocument: {}}}, B: {Type: 'AWS::S3::Bucket'}}",
                "StackResource `` `A`",
            ),
            ("settings: {clusterName: a}", "ChartValues `` ``"),
            ("karpenter: {settings: {clusterName: a}}", "ChartValues `` `karpenter`"),
            ("controller: {image: {repository: public.ecr.aws/karpenter/controller}}", "ChartValues `` ``"),
            ("settings: {name: a}", ""),
            ("groups: [{rules: [{expr: karpenter_nodepools_usage > 1}]}]", "MetricQueries `` ``"),
            ("{panels: [{targets: [{expr: karpenter_nodepools_usage}]}]}", "MetricQueries `` ``"),
            ("groups: [{rules: [{expr: 'workqueue_depth{job=\"karpenter\"}'}]}]", "MetricQueries `` ``"),
            ("groups: [{rules: [{expr: up}]}]", ""),
            ("{dashboard: {panels: [{targets: [{expr: up}]}]}}", ""),
            ("{settings: {clusterName: a}, replicas: 1, logLevel: debug}", "ChartValues `` ``"),
            ("{settings: {clusterName: a}, region: b}", ""),
            ("{settings: {clusterName: a, interruptionQueue: a}, region: b}", "ChartValues `` ``"),
        ] {
            assert_eq!(forms(text), expected, "{text}");
        }
    }

    #[test]
    fn finds_pod_templates_in_any_kind() {
        for (text, found) in [
            (
                "{apiVersion: argoproj.io/v1alpha1, kind: Rollout, spec: {template: {spec: {containers: []}}}}",
                true,
            ),
            (
                "{apiVersion: batch/v1, kind: CronJob, spec: {jobTemplate: {spec: {template: {spec: {containers: []}}}}}}",
                true,
            ),
            ("{apiVersion: v1, kind: PodTemplate, template: {spec: {containers: []}}}", true),
            (
                "{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {template: {spec: {requirements: []}}}}",
                false,
            ),
            ("{apiVersion: x/v1, kind: Thing, spec: {containers: []}}", false),
        ] {
            assert!(objects(text)[0].ends_with(&found.to_string()), "{text}");
        }
    }
}
