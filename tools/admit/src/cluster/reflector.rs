//! Lists as policy-server keeps them in memory and writes them.
//!
//! Source: kubewarden/adm-controller `crates/policy-evaluator/src/`: `callback_handler/kubernetes/reflector.rs` (the objects are
//! stored once, without what the field masks leave out), `callback_handler/kubernetes/client.rs`
//! (`list_resources_from_reflector` clones every object for each call), and `callback_handler.rs` (`handle_callback!` writes the
//! list as JSON for each call). The types are `DynamicObject` and `ObjectList` of kube-core.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

/// An answer before it is written as JSON.
#[derive(Clone, Debug)]
pub(super) enum HostAnswer {
    /// A list, which the host keeps.
    List(Arc<ReflectedList>),
    /// Anything else.
    Value(Value),
}

impl HostAnswer {
    /// Writes the answer.
    pub(super) fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        match self {
            Self::List(list) => list.to_json(),
            Self::Value(value) => serde_json::to_vec(value),
        }
    }
}

impl From<ReflectedList> for HostAnswer {
    fn from(list: ReflectedList) -> Self {
        Self::List(Arc::new(list))
    }
}

/// A list in memory.
#[derive(Debug)]
pub(super) struct ReflectedList {
    types: ObjectTypes,
    objects: Vec<Arc<StoredObject>>,
}

/// `kube::core::TypeMeta`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ObjectTypes {
    api_version: String,
    kind: String,
}

/// `kube::core::DynamicObject`.
#[derive(Clone, Debug, Serialize)]
struct StoredObject {
    #[serde(flatten)]
    types: Option<ObjectTypes>,
    metadata: Value,
    #[serde(flatten)]
    data: Value,
}

/// `kube::core::ObjectList`.
#[derive(Serialize)]
struct WrittenList {
    #[serde(flatten)]
    types: ObjectTypes,
    metadata: Map<String, Value>,
    items: Vec<StoredObject>,
}

impl ReflectedList {
    /// A list of objects of a kind.
    pub(super) fn new(api_version: &str, kind: &str, objects: impl IntoIterator<Item = Value>) -> Self {
        let types = ObjectTypes { api_version: api_version.to_owned(), kind: format!("{kind}List") };
        Self { types, objects: objects.into_iter().map(|object| Arc::new(stored(object))).collect() }
    }

    fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        let items = self.objects.iter().map(|object| StoredObject::clone(object)).collect();
        serde_json::to_vec(&WrittenList { types: self.types.clone(), metadata: Map::new(), items })
    }
}

fn stored(mut object: Value) -> StoredObject {
    let mut take = |key: &str| object.as_object_mut().and_then(|fields| fields.remove(key));
    let (api_version, kind, metadata) = (take("apiVersion"), take("kind"), take("metadata"));
    let types = match (api_version, kind) {
        (Some(Value::String(api_version)), Some(Value::String(kind))) => {
            Some(ObjectTypes { api_version, kind })
        }
        _ => None,
    };
    StoredObject { types, metadata: metadata.unwrap_or_default(), data: object }
}
