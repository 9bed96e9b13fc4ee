//! Reviews an object as an admission webhook does, with the other objects of the cluster from a source of one's own:
//! `cargo run --example own_cluster`.

use karpwarden::{
    Document, File, Kind, Object, Operation, READ_OPTIONS, RequestCluster, Settings, check_request, looked_up,
};

/// Source of the objects in a cluster, such as a client of the API server or a cache of watches.
pub(crate) trait ObjectSource {
    /// The objects of a kind, as the JSON or YAML of a list.
    fn list(&self, kind: Kind) -> String;
}

/// A cluster in memory, with one node class.
pub(crate) struct InMemory;

impl ObjectSource for InMemory {
    fn list(&self, kind: Kind) -> String {
        match kind.name {
            "EC2NodeClass" => r#"{"apiVersion": "v1", "kind": "List", "items": [
                {"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "standard"}}]}"#,
            _ => r#"{"apiVersion": "v1", "kind": "List", "items": []}"#,
        }
        .to_owned()
    }
}

/// Object of a request, which refers to a node class.
pub(crate) const REQUESTED: &str = r#"{
  "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"},
  "spec": {"template": {"spec": {
    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
    "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}],
    "expireAfter": "720h"}},
    "limits": {"cpu": "100"}}}"#;

/// Reviews an object that a request updates. Returns the rule and the message of each finding.
pub(crate) fn review(object: &str, source: &dyn ObjectSource) -> Vec<String> {
    // The source has every object of a kind, so what is absent from it is absent from the cluster.
    let settings = Settings { complete_inventory: true, ..Settings::default() };
    let request = File::read("request.json", object, READ_OPTIONS);
    let Some(Document::Read(tree)) = request.documents.first() else { return Vec::new() };
    // Nothing is known about the stored object. With Operation::Create, a reference may point to an object of the next request.
    let object = Object::in_request(tree.root(), None, Operation::Update);

    let kinds = looked_up(object, &settings);
    let lists: Vec<File> =
        kinds.iter().map(|kind| File::read(kind.name, source.list(*kind), READ_OPTIONS)).collect();
    let trees = lists.iter().flat_map(File::trees);
    let objects = [object].into_iter().chain(trees.flat_map(Object::all)).collect();

    let cluster = RequestCluster { objects, is_complete: true, ..RequestCluster::default() };
    let findings = check_request(object, &cluster, &settings);
    findings.iter().map(|finding| format!("{}: {}", finding.rule.name, finding.message)).collect()
}

#[allow(dead_code, reason = "tests call only the function above")]
fn main() {
    for finding in review(REQUESTED, &InMemory) {
        println!("{finding}");
    }
}
