//! Documents within the strings of Kubernetes objects.

use manifest::ReadOptions;
use manifest::tree::Node;

use crate::object::Object;
use crate::type_meta::TypeMeta;

/// Options that read the documents within the strings of Kubernetes objects, with the default bounds.
pub const READ_OPTIONS: ReadOptions = ReadOptions { holds_document, is_manifest, ..ReadOptions::DEFAULT };

/// Whether a document in a code block of Markdown, or in a script in a string, has objects.
fn is_manifest(root: Node<'_>) -> bool {
    let keys = TypeMeta::of(root);
    let is_typed = keys.api_version.is_written() && keys.kind.is_written();
    is_typed || (!keys.is_broken_object() && !Object::all(root.tree()).is_empty())
}

fn holds_document(string: Node<'_>) -> bool {
    match string.key() {
        "mapRoles" | "values.yaml" => is_in_data(string),
        "values" => is_helm_values(string),
        "ConfigurationValues" | "configurationValues" => is_of_addon(string),
        _ => false,
    }
}

/// Whether a string is in `data` of a ConfigMap: `aws-auth` of EKS holds its role mappings as a list, and a HelmRelease of Flux takes values from
/// the key `values.yaml`.
fn is_in_data(string: Node<'_>) -> bool {
    string.parent().is_some_and(|data| data.key() == "data")
}

/// Whether a string is `source.helm.values`, or at the same path of an item of `sources`: an Application of Argo CD holds the
/// values of a Helm chart as a document.
fn is_helm_values(string: Node<'_>) -> bool {
    let above = string.parent().and_then(|helm| Some((helm.key(), helm.parent()?)));
    let Some(("helm", source)) = above else { return false };
    source.key() == "source" || source.parent().is_some_and(|list| list.key() == "sources")
}

/// Whether a string is the settings of an add-on of EKS: in CloudFormation, in an object of ACK, or in the configuration file of eksctl.
fn is_of_addon(string: Node<'_>) -> bool {
    let above = string.parent();
    let list = above.and_then(Node::parent);
    above.is_some_and(|holder| matches!(holder.key(), "Properties" | "spec"))
        || list.is_some_and(|list| list.key() == "addons")
}

#[cfg(test)]
mod tests {
    use super::*;
    use manifest::{Document, File};

    fn holds(text: &str, path: &[&str]) -> bool {
        let file = File::read("a.yaml", text, READ_OPTIONS);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
        let mut node = tree.root();
        for key in path {
            node = node.get(key).or_else(|| node.items().next()).unwrap();
        }
        node.embedded().is_some()
    }

    #[test]
    fn reads_values_of_argo_cd_and_role_mappings_of_eks() {
        assert!(holds("data: {mapRoles: '[{rolearn: a}]'}", &["data", "mapRoles"]));
        assert!(!holds("binaryData: {mapRoles: '[{rolearn: a}]'}", &["binaryData", "mapRoles"]));
        assert!(!holds("data: {mapUsers: '[{userarn: a}]'}", &["data", "mapUsers"]));
        assert!(holds("source: {helm: {values: 'a: b'}}", &["source", "helm", "values"]));
        assert!(holds("sources: [{helm: {values: 'a: b'}}]", &["sources", "0", "helm", "values"]));
        assert!(!holds("other: {helm: {values: 'a: b'}}", &["other", "helm", "values"]));
        assert!(holds("addons: [{configurationValues: 'env: {}'}]", &["addons", "0", "configurationValues"]));
        assert!(!holds("other: {configurationValues: 'env: {}'}", &["other", "configurationValues"]));
        assert!(!holds("source: {kustomize: {values: 'a: b'}}", &["source", "kustomize", "values"]));
    }
}
