//! Objects: Kubernetes objects, and content without a kind: IAM policies, alone or in a CloudFormation template, the values of
//! Karpenter's Helm chart, alert files and dashboards. `unpack` finds them in documents.

mod unpack;

use karpenter::api::served::{self, ServedKind};
use karpenter::api::{self, KindSchema};
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::{Comment, DuplicateKey, Node};

use crate::metadata::Metadata;
use crate::pod::{PodTemplate, template};

/// Operation on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Operation {
    /// A manifest in a text is applied; the cluster may have the object or not.
    #[default]
    Apply,
    /// An admission request creates the object.
    Create,
    /// An admission request changes the object.
    Update,
    /// An admission request deletes the object.
    Delete,
}

/// Form of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
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
    /// A `helm_release` of Terraform that installs Karpenter's chart.
    Release,
    /// A call of a module of Terraform that creates what Karpenter needs in AWS.
    Module,
    /// Values of another Helm chart, whose folder is in the input.
    LocalValues,
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

    /// Object of an admission request. Of a request that deletes an object it is the stored object, and there is no old one.
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

    /// Whether the API server has marked the object as deleted, and waits for its finalizers.
    pub fn is_being_deleted(self) -> bool {
        self.root.at_path(&["metadata", "deletionTimestamp"]).is_some_and(|time| !time.is_null())
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

    /// Whether the object is of a version of Karpenter's API for which there is no table of fields.
    pub fn is_older_than_v1(self) -> bool {
        self.served().is_some() && self.table().is_none()
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
