//! Manifests as admission requests.
//!
//! Source: kubernetes/api `admission/v1/types.go` for the fields; kubewarden/kubewarden-controller
//! `crates/policy-evaluator/src/admission_request.rs` for the fields that reach the policy. It leaves out absent fields.

use core::fmt;

use serde_json::{Map, Value, json};

use crate::kinds::{group_and_version, is_namespaced, plural};

/// UID of every request that sets no other.
const UID: &str = "00000000-0000-4000-8000-000000000000";

/// A request about one object, as the API server would send it to a webhook.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    operation: RequestOperation,
    object: Option<Value>,
    old_object: Option<Value>,
    username: String,
    groups: Vec<String>,
    dry_run: bool,
    sub_resource: Option<String>,
    uid: String,
}

/// Operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOperation {
    /// The object does not exist yet.
    Create,
    /// The object replaces an old one.
    Update,
    /// Only the old object is known.
    Delete,
}

impl RequestOperation {
    /// The name in `rules[].operations` and in the request.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }

    const fn options_kind(self) -> &'static str {
        match self {
            Self::Create => "CreateOptions",
            Self::Update => "UpdateOptions",
            Self::Delete => "DeleteOptions",
        }
    }
}

impl Request {
    /// `kubectl create` of an object.
    pub fn create(object: Value) -> Self {
        Self::new(RequestOperation::Create, Some(object), None)
    }

    /// `kubectl apply` over an object that exists.
    pub fn update(old: Value, new: Value) -> Self {
        Self::new(RequestOperation::Update, Some(new), Some(old))
    }

    /// `kubectl delete` of an object that exists.
    pub fn delete(old: Value) -> Self {
        Self::new(RequestOperation::Delete, None, Some(old))
    }

    fn new(operation: RequestOperation, object: Option<Value>, old_object: Option<Value>) -> Self {
        Self {
            operation,
            object,
            old_object,
            username: "kubernetes-admin".to_owned(),
            groups: ["system:masters", "system:authenticated"].map(str::to_owned).to_vec(),
            dry_run: false,
            sub_resource: None,
            uid: UID.to_owned(),
        }
    }

    /// Sets the user. The default is the administrator of the cluster.
    pub fn by<'a>(mut self, username: &str, groups: impl IntoIterator<Item = &'a str>) -> Self {
        username.clone_into(&mut self.username);
        self.groups = groups.into_iter().map(str::to_owned).collect();
        self
    }

    /// Makes it a request of `kubectl --dry-run=server`.
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    /// Sets the subresource, such as `status`.
    pub fn sub_resource(mut self, name: &str) -> Self {
        self.sub_resource = Some(name.to_owned());
        self
    }

    /// Sets the UID. The default is the same for every request, so that runs can be compared.
    pub fn uid(mut self, uid: &str) -> Self {
        uid.clone_into(&mut self.uid);
        self
    }

    /// The `AdmissionRequest` object. Fails if the manifest has no apiVersion or kind: the API server rejects such a
    /// document before it calls a webhook.
    pub fn to_json(&self) -> Result<Value, NotAnObject> {
        let object = self.object.as_ref().or(self.old_object.as_ref()).ok_or(NotAnObject)?;
        let text = |field: &str| object.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
        let (api_version, kind) = (text("apiVersion").ok_or(NotAnObject)?, text("kind").ok_or(NotAnObject)?);
        let (group, version) = group_and_version(api_version);
        let metadata = |field: &str| object.pointer("/metadata")?.get(field)?.as_str();
        let namespaced = is_namespaced(group, kind);
        let namespace = namespaced.then(|| metadata("namespace").unwrap_or("default"));
        let name = metadata("name");

        let gvk = json!({"group": group, "version": version, "kind": kind});
        let gvr = json!({"group": group, "version": version, "resource": plural(kind)});
        let mut request = Map::new();
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                request.insert(key.to_owned(), value);
            }
        };
        let sub_resource = || self.sub_resource.clone().map(Value::from);
        set("uid", Some(self.uid.clone().into()));
        set("kind", Some(gvk.clone()));
        set("resource", Some(gvr.clone()));
        set("subResource", sub_resource());
        set("requestKind", Some(gvk));
        set("requestResource", Some(gvr));
        set("requestSubResource", sub_resource());
        set("name", name.map(Value::from));
        set("namespace", namespace.map(Value::from));
        set("operation", Some(self.operation.name().into()));
        set("userInfo", Some(json!({"username": self.username, "groups": self.groups})));
        set("object", self.object.as_ref().map(|object| with_namespace(object, namespace)));
        set("oldObject", self.old_object.as_ref().map(|object| with_namespace(object, namespace)));
        set("dryRun", Some(self.dry_run.into()));
        let options = json!({"apiVersion": "meta.k8s.io/v1", "kind": self.operation.options_kind()});
        set("options", Some(options));
        Ok(Value::Object(request))
    }
}

/// The object with its namespace. The API server fills it in before it calls a webhook.
fn with_namespace(object: &Value, namespace: Option<&str>) -> Value {
    let mut object = object.clone();
    if let (Some(namespace), Some(fields)) = (namespace, object.as_object_mut()) {
        let metadata = fields.entry("metadata").or_insert_with(|| json!({}));
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.entry("namespace").or_insert_with(|| namespace.into());
        }
    }
    object
}

/// The document has no `apiVersion` or no `kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnObject;

impl fmt::Display for NotAnObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no `apiVersion` or no `kind`: not a Kubernetes object")
    }
}

impl core::error::Error for NotAnObject {}

#[cfg(test)]
mod tests {
    use super::*;

    fn node_pool() -> Value {
        json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"}, "spec": {}})
    }

    #[test]
    fn create_request_has_every_field_of_the_api_servers() {
        assert_eq!(
            Request::create(node_pool()).uid("1").to_json().unwrap(),
            json!({
                "uid": "1",
                "kind": {"group": "karpenter.sh", "version": "v1", "kind": "NodePool"},
                "resource": {"group": "karpenter.sh", "version": "v1", "resource": "nodepools"},
                "requestKind": {"group": "karpenter.sh", "version": "v1", "kind": "NodePool"},
                "requestResource": {"group": "karpenter.sh", "version": "v1", "resource": "nodepools"},
                "name": "default",
                "operation": "CREATE",
                "userInfo": {"username": "kubernetes-admin", "groups": ["system:masters", "system:authenticated"]},
                "object": node_pool(),
                "dryRun": false,
                "options": {"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions"},
            })
        );
    }

    #[test]
    fn update_has_both_objects_and_delete_only_the_old_one() {
        let update = Request::update(node_pool(), node_pool()).to_json().unwrap();
        assert!(update.get("object").is_some() && update.get("oldObject").is_some());
        let delete = Request::delete(node_pool()).to_json().unwrap();
        assert!(delete.get("object").is_none() && delete.get("oldObject").is_some());
        assert_eq!(delete["options"]["kind"], "DeleteOptions");
    }

    #[test]
    fn namespaced_object_without_namespace_gets_default() {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "web-"}});
        let request = Request::create(pod).by("eve", ["dev"]).dry_run().to_json().unwrap();
        assert_eq!(request["namespace"], "default");
        assert_eq!(request["object"]["metadata"]["namespace"], "default");
        assert_eq!(request["kind"]["group"], "");
        assert_eq!(request["dryRun"], true);
        assert_eq!(request["userInfo"], json!({"username": "eve", "groups": ["dev"]}));
        assert!(request.get("name").is_none());
    }

    #[test]
    fn rejects_a_document_without_kind() {
        assert_eq!(Request::create(json!({"apiVersion": "v1"})).to_json(), Err(NotAnObject));
        assert_eq!(Request::create(json!([])).to_json(), Err(NotAnObject));
    }
}
