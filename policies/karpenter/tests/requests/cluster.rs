//! A host with objects, and requests to the policy.

use std::cell::RefCell;

use karpwarden_policy::admission::validate;
use karpwarden_policy::host::Host;
use serde_json::{Value, json};

/// A host that lists these objects by kind and records the kinds that the policy asks for.
#[derive(Default)]
pub(super) struct Cluster {
    objects: Vec<Value>,
    failure: Option<&'static str>,
    answer: Option<Vec<u8>>,
    asked: RefCell<Vec<String>>,
}

impl Cluster {
    pub(super) fn holding(objects: impl IntoIterator<Item = Value>) -> Self {
        Self { objects: objects.into_iter().collect(), ..Self::default() }
    }

    pub(super) fn failing(reason: &'static str) -> Self {
        Self { failure: Some(reason), ..Self::default() }
    }

    /// A host that answers every call with these bytes.
    pub(super) fn answering(bytes: &[u8]) -> Self {
        Self { answer: Some(bytes.to_vec()), ..Self::default() }
    }

    /// The kinds that the policy asked for.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.borrow().clone()
    }

    pub(super) fn create(&self, object: &Value, settings: &Value) -> Value {
        self.answer(&json!({"operation": "CREATE", "object": object}), settings)
    }

    pub(super) fn update(&self, old: &Value, object: &Value, settings: &Value) -> Value {
        self.answer(&json!({"operation": "UPDATE", "object": object, "oldObject": old}), settings)
    }

    pub(super) fn answer(&self, request: &Value, settings: &Value) -> Value {
        let payload = json!({"request": request, "settings": settings}).to_string();
        serde_json::from_str(&validate(payload.as_bytes(), self).to_json()).unwrap()
    }
}

impl Host for Cluster {
    fn call(&self, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        assert_eq!(operation, "list_resources_all");
        let request: Value = serde_json::from_slice(payload).unwrap();
        let kind = request["kind"].as_str().unwrap().to_owned();
        let items: Vec<_> = self.objects.iter().filter(|object| object["kind"] == kind.as_str()).collect();
        let list = json!({"items": items}).to_string().into_bytes();
        let answer = self.answer.clone().unwrap_or(list);
        self.asked.borrow_mut().push(kind);
        self.failure.map_or(Ok(answer), |reason| Err(reason.to_owned()))
    }
}

pub(super) fn warnings(answer: &Value) -> Vec<&str> {
    answer["warnings"].as_array().into_iter().flatten().map(|text| text.as_str().unwrap()).collect()
}

pub(super) fn has_warning(answer: &Value, text: &str) -> bool {
    warnings(answer).iter().any(|warning| warning.contains(text))
}

pub(super) fn node_class(profile: &str) -> Value {
    let terms = json!([{"tags": {"karpenter.sh/discovery": "prod-eu-1"}}]);
    json!({"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"}, "spec": {
        "instanceProfile": profile, "amiSelectorTerms": [{"alias": "al2023@v20250807"}],
        "subnetSelectorTerms": terms, "securityGroupSelectorTerms": terms}})
}

/// A profile that is an error, with a safe fix.
pub(super) const ARN: &str = "arn:aws:iam::111122223333:instance-profile/p";

pub(super) fn node_pool(name: &str, labels: &Value) -> Value {
    json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": {"template": {
        "metadata": {"labels": labels},
        "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]}}}})
}

pub(super) fn deployment(selector: &Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"}, "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}},
            "spec": {"nodeSelector": selector, "containers": [{"name": "web", "image": "example.com/web:1"}]}}}})
}
