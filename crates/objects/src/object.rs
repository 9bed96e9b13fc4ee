//! Objects within documents: Kubernetes objects (a `kind: List` is unpacked, an AdmissionReview is unwrapped), and
//! content without a kind: IAM policies, alone or in a CloudFormation template, the values of Karpenter's Helm chart, alert
//! files and dashboards.

use karpenter::api::served::{self, ServedKind};
use karpenter::api::{self, KindSchema};
use karpenter::chart;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::{Comment, DuplicateKey, Node, Style, Tree};

use crate::iam_policy::attaches_broad_policy;
use crate::metadata::Metadata;
use crate::metric_queries;
use crate::node_access::is_access_entry;
use crate::pod::{PodTemplate, template};
use crate::type_meta::TypeMeta;

/// Operation on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Operation {
    /// A manifest in a text is applied; the cluster may have the object or not.
    #[default]
    Apply,
    /// An admission request creates the object.
    Create,
    /// An admission request changes the object.
    Update,
}

/// Form of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Form {
    /// An object of the Kubernetes API.
    #[default]
    Api,
    /// An IAM policy document: `Version` and `Statement`.
    IamPolicy,
    /// A resource of a CloudFormation template that holds IAM policies, or that is an access entry of EKS.
    StackResource,
    /// Values of Karpenter's Helm chart, alone or under the key `karpenter`.
    ChartValues,
    /// An object of the Kubernetes API whose `apiVersion` or `kind` is missing or misspelt.
    Untyped,
    /// An alert file of Prometheus, or a dashboard of Grafana, with metrics of Karpenter.
    MetricQueries,
}

/// Object found in a document: an object of the Kubernetes API, or content of another [`Form`], which has no kind, and no
/// name except its key.
#[derive(Clone, Copy, Debug)]
pub struct Object<'d> {
    root: Node<'d>,
    form: Form,
    old: Option<Node<'d>>,
    operation: Operation,
    // Every rule asks for these first.
    api_version: &'d str,
    group: &'d str,
    version: &'d str,
    kind: &'d str,
    spec: Option<Node<'d>>,
    pod: Option<PodTemplate<'d>>,
    comments: &'d [Comment],
    duplicates: &'d [DuplicateKey],
}

/// Two objects are equal if they are the same node of the same document.
impl PartialEq for Object<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

impl Eq for Object<'_> {}

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
        let next: Vec<_> = objects.iter().skip(1).map(|next| next.root.id()).collect();
        for (index, object) in objects.iter_mut().enumerate() {
            let next = next.get(index).copied();
            // JSON may have all objects on one line, and the end of the line is far away.
            let needs_end = next.is_some() && !comments.is_empty();
            let byte = if needs_end { end_of_last_line(object.root) } else { usize::MAX };
            let split = comments.partition_point(|comment| comment.span.start < byte);
            (object.comments, comments) = comments.split_at_checked(split).unwrap_or_default();
            let split = duplicates.partition_point(|key| next.is_none_or(|next| key.earlier < next));
            (object.duplicates, duplicates) = duplicates.split_at_checked(split).unwrap_or_default();
        }
        objects
    }

    /// Returns the object of a document that is known to hold values of Karpenter's chart, at the top or under `karpenter`.
    pub fn values(tree: &'d Tree) -> Vec<Self> {
        let below = tree.root().get("karpenter").filter(|values| values.is_mapping());
        let values = Some(below.unwrap_or(tree.root())).filter(|values| values.is_mapping());
        let values = values.map(|root| Self::of_form(root, Form::ChartValues));
        let whole = |values| Self { comments: tree.comments(), duplicates: tree.duplicate_keys(), ..values };
        values.map(whole).into_iter().collect()
    }

    fn plain(root: Node<'d>) -> Self {
        let api_version = root.str_at(&["apiVersion"]).unwrap_or_default();
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let kind = root.str_at(&["kind"]).unwrap_or_default();
        Self {
            root,
            form: Form::Api,
            old: None,
            operation: Operation::Apply,
            api_version,
            group,
            version,
            kind,
            spec: root.get("spec"),
            pod: template::find(root, group, kind, 1).pop(),
            comments: &[],
            duplicates: &[],
        }
    }

    /// Content that is no object of the API has neither version nor kind.
    fn of_form(root: Node<'d>, form: Form) -> Self {
        Self { form, api_version: "", group: "", version: "", kind: "", pod: None, ..Self::plain(root) }
    }

    /// The comments in the object's part of the text.
    pub fn comments(self) -> &'d [Comment] {
        self.comments
    }

    /// Keys that occur twice in one mapping of the object: the first member, and the member that counts.
    pub fn duplicates(self) -> impl Iterator<Item = (Node<'d>, Node<'d>)> {
        let tree = self.root.tree();
        self.duplicates.iter().map(|key| (tree.node(key.earlier), tree.node(key.later)))
    }

    /// Object of an admission request.
    pub fn in_request(object: Node<'d>, old: Option<Node<'d>>, operation: Operation) -> Self {
        Self { old, operation, ..Self::plain(object) }
    }

    /// Item of a list that was requested from the cluster. Such items may lack a kind.
    pub fn of_kind(item: Node<'d>, kind: Kind) -> Self {
        Self { group: kind.group, version: kind.version, kind: kind.name, ..Self::plain(item) }
    }

    /// The form.
    pub fn form(self) -> Form {
        self.form
    }

    /// The whole object.
    pub fn root(self) -> Node<'d> {
        self.root
    }

    /// The old object of an admission request.
    pub fn old(self) -> Option<Node<'d>> {
        self.old
    }

    /// The stored object of an UPDATE request, as an object that is updated without a change.
    pub fn stored(self) -> Option<Self> {
        let old = self.old.filter(|_| self.operation == Operation::Update)?;
        Some(Self::in_request(old, Some(old), Operation::Update))
    }

    /// Whether a request creates the object. The audit scanner sends stored objects as CREATE requests, too; the API server
    /// refuses a new object with a `resourceVersion` (k8s.io/apiserver pkg/storage/errors.go).
    pub fn is_being_created(self) -> bool {
        self.operation == Operation::Create && self.root.at_path(&["metadata", "resourceVersion"]).is_none()
    }

    /// The operation on the object.
    pub fn operation(self) -> Operation {
        self.operation
    }

    /// `apiVersion` as written.
    pub fn api_version(self) -> &'d str {
        self.api_version
    }

    /// The API group; empty for the core group.
    pub fn group(self) -> &'d str {
        self.group
    }

    /// The version within the group.
    pub fn version(self) -> &'d str {
        self.version
    }

    /// `kind` as written.
    pub fn kind(self) -> &'d str {
        self.kind
    }

    /// `metadata.name`, else `metadata.generateName`, else empty. For a resource in a CloudFormation template, its key.
    pub fn name(self) -> &'d str {
        if !matches!(self.form, Form::Api | Form::Untyped) {
            return self.root.key();
        }
        let metadata = self.metadata();
        let name = metadata.name().and_then(Node::as_str);
        name.or_else(|| metadata.generate_name()?.as_str()).unwrap_or_default()
    }

    /// The node of `metadata.name`, or the whole object if the name is missing: the location of the object in a report.
    pub fn name_node(self) -> Node<'d> {
        self.metadata().name().unwrap_or(self.root)
    }

    /// `metadata.namespace`, else empty.
    pub fn namespace(self) -> &'d str {
        let namespace = self.metadata().namespace().and_then(Node::as_str);
        namespace.filter(|_| self.form == Form::Api).unwrap_or_default()
    }

    /// Whether the object has a kind, in the kind's version.
    pub fn is(self, kind: Kind) -> bool {
        self.is_in_any_version(kind) && self.version == kind.version
    }

    /// Whether the object has a kind, in whatever version.
    pub fn is_in_any_version(self, kind: Kind) -> bool {
        self.kind == kind.name && self.group == kind.group
    }

    /// `metadata`.
    pub fn metadata(self) -> Metadata<'d> {
        Metadata::of(self.root)
    }

    /// The node of `apiVersion`.
    pub fn api_version_node(self) -> Option<Node<'d>> {
        self.root.get("apiVersion")
    }

    /// The node of `kind`.
    pub fn kind_node(self) -> Option<Node<'d>> {
        self.root.get("kind")
    }

    /// `spec`, for the views.
    pub(crate) fn spec(self) -> Option<Node<'d>> {
        self.spec
    }

    /// The API table of the object's kind and version.
    pub fn table(self) -> Option<&'static KindSchema> {
        api::kind_schema(self.group, self.version, self.kind)
    }

    /// The entry of the object's kind and version among the kinds that Karpenter has ever had.
    pub fn served(self) -> Option<&'static ServedKind> {
        served::find(self.group, self.version, self.kind)
    }

    /// The releases that serve the object's kind and version; `None` outside Karpenter's API groups.
    pub fn served_by(self) -> Option<Releases> {
        served::releases_of(self.group, self.version, self.kind)
    }

    /// The value at a path of keys. Rules use the views instead, in which a misspelt field does not compile.
    pub fn at(self, keys: &[&str]) -> Option<Node<'d>> {
        self.root.at_path(keys)
    }

    /// The string at a path of keys. Rules use the views instead.
    pub fn str_at(self, keys: &[&str]) -> Option<&'d str> {
        self.root.str_at(keys)
    }

    /// An annotation of the object.
    pub fn annotation(self, key: &str) -> Option<Node<'d>> {
        self.metadata().annotation(key)
    }

    /// The pod or pod template; of several templates the one that this value is for, at first the first.
    ///
    /// Every kind counts that has its template under the same path as a built-in kind, such as the Rollout of Argo, and every
    /// custom resource with complete templates anywhere in its `spec`, such as a `RayCluster`.
    pub fn pod(self) -> Option<PodTemplate<'d>> {
        self.pod
    }

    /// The object once for each of its further pod templates. Only custom resources have several.
    pub fn with_further_pods(self) -> Vec<Self> {
        if self.pod.is_none() || !self.group.contains('.') {
            return Vec::new();
        }
        let further = template::find(self.root, self.group, self.kind, usize::MAX).into_iter().skip(1);
        further.map(|pod| Self { pod: Some(pod), ..self }).collect()
    }
}

/// The byte at which the last line of a value ends.
fn end_of_last_line(node: Node<'_>) -> usize {
    let last = core::iter::successors(Some(node), |node| node.children().last()).last().unwrap_or(node);
    let end = if node.style() == Style::Flow { node.span().end } else { last.span().end };
    let rest = last.source().text().get(end..).unwrap_or_default();
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
            unpack(item, objects);
        }
        return;
    }
    if kind == "AdmissionReview" && api_version.starts_with("admission.k8s.io/") {
        let Some(request) = node.get("request") else { return };
        let operation = match request.str_at(&["operation"]) {
            Some("CREATE") => Operation::Create,
            Some("UPDATE") => Operation::Update,
            _ => return,
        };
        let whole = |key| request.get(key).filter(|object| object.is_mapping());
        if let Some(object) = whole("object") {
            objects.push(Object::in_request(object, whole("oldObject"), operation));
        }
        return;
    }
    objects.push(Object::plain(node));
}

/// Returns the objects of a document without `apiVersion` and `kind`.
fn kindless(root: Node<'_>) -> Vec<Object<'_>> {
    let of = Object::of_form;
    if is_iam_policy(root) {
        return vec![of(root, Form::IamPolicy)];
    }
    let resources = root.members_at(&["Resources"]).map(|(_, node)| node);
    let policies = resources.filter(|resource| holds_iam_policy(*resource) || is_access_entry(*resource));
    let policies: Vec<_> = policies.map(|resource| of(resource, Form::StackResource)).collect();
    if !policies.is_empty() {
        return policies;
    }
    if metric_queries::is_document(root) {
        return vec![of(root, Form::MetricQueries)];
    }
    let values: Vec<_> = chart::values_in(root).into_iter().map(|node| of(node, Form::ChartValues)).collect();
    let keys = TypeMeta::of(root);
    if values.is_empty() && keys.is_broken_object() {
        // Without a group, no rule takes the object for one of its kinds.
        return vec![Object { kind: keys.kind.text().unwrap_or_default(), ..of(root, Form::Untyped) }];
    }
    values
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
    use manifest::limits::Limits;
    use manifest::{Document, File};

    fn objects(text: &str) -> Vec<String> {
        let file = File::read("-", text, &Limits::DEFAULT);
        let trees = file.documents.iter().filter_map(|document| match document {
            Document::Read(tree) => Some(tree),
            _ => None,
        });
        let all = trees.flat_map(Object::all);
        all.map(|object| format!("{} {} {:?}", object.api_version(), object.kind(), object.pod().is_some()))
            .collect()
    }

    #[test]
    fn unpacks_lists_and_unwraps_reviews() {
        let text = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, spec: {containers: []}}\n- {apiVersion: a/v1, kind: B}\n\
                    ---\napiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest: {operation: CREATE, object: {apiVersion: apps/v1, kind: Deployment}}\n\
                    ---\napiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest: {operation: DELETE, oldObject: {apiVersion: v1, kind: Pod}}\n\
                    ---\njust: a map\n";
        assert_eq!(objects(text), ["v1 Pod true", "a/v1 B false", "apps/v1 Deployment false"]);
    }

    #[test]
    fn recognises_content_without_kind_by_its_keys() {
        let forms = |text: &str| {
            let file = File::read("-", text, &Limits::DEFAULT);
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
