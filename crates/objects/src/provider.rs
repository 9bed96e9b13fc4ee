//! The provider of Karpenter that an object is for.
//!
//! Objects of the group `karpenter.sh` are the same for every provider. The node class that they name tells the provider, and
//! otherwise the labels in their requirements.

use manifest::tree::{Node, items_of, members_of};

use crate::object::Object;

/// The group of another provider than AWS that an object of `karpenter.sh` is for, such as `karpenter.azure.com`. `None` if the
/// object is for AWS, or if nothing shows another provider.
pub fn other_provider(object: Object<'_>) -> Option<&str> {
    if object.group() != "karpenter.sh" {
        return None;
    }
    let spec = object.spec()?;
    let template = spec.at_path(&["template", "spec"]).unwrap_or(spec);
    let references = ["nodeClassRef", "providerRef", "provider"];
    let group = references.iter().filter_map(|key| template.get(key)).find_map(group_of_reference);
    if let Some(group) = group {
        return (!is_of_aws(group)).then_some(group);
    }
    let requirements = items_of(template.get("requirements")).filter_map(|one| one.str_at(&["key"]));
    let labels = members_of(spec.at_path(&["template", "metadata", "labels"])).map(|(key, _)| key);
    let domains: Vec<&str> = requirements.chain(labels).filter_map(domain_of_provider).collect();
    let other = domains.iter().find(|domain| !is_of_aws(domain))?;
    domains.iter().all(|domain| !is_of_aws(domain)).then_some(*other)
}

/// The group in `group` or `apiVersion` of a reference.
fn group_of_reference(reference: Node<'_>) -> Option<&str> {
    let group = reference.str_at(&["group"]);
    let version = || reference.str_at(&["apiVersion"]);
    let found = group.or_else(|| version()?.split('/').next())?;
    (!found.is_empty() && found != "karpenter.sh").then_some(found)
}

/// Domains of the labels of other providers. Another domain, such as one with a typing error, shows nothing.
///
/// Sources: Azure/karpenter-provider-azure, cloudpilot-ai/karpenter-provider-gcp, cloudpilot-ai/karpenter-provider-alibabacloud,
/// linode/karpenter-provider-linode, tencentcloud/karpenter-provider-tke, and kwok in kubernetes-sigs/karpenter.
const OTHER_DOMAINS: [&str; 6] = [
    "karpenter.azure.com",
    "karpenter.k8s.gcp",
    "karpenter.k8s.alibabacloud",
    "karpenter.k8s.linode",
    "karpenter.k8s.tke",
    "karpenter.kwok.sh",
];

/// The domain of a label that a provider of Karpenter defines.
fn domain_of_provider(key: &str) -> Option<&str> {
    let (domain, _) = key.split_once('/')?;
    (is_of_aws(domain) || OTHER_DOMAINS.contains(&domain)).then_some(domain)
}

/// Whether a group or a domain of labels belongs to the provider for AWS, or to EKS Auto Mode.
fn is_of_aws(group: &str) -> bool {
    ["karpenter.k8s.aws", "eks.amazonaws.com", "extensions.karpenter.sh"].contains(&group)
        || values::placeholder::has_placeholder(group)
}

#[cfg(test)]
mod tests {
    use super::other_provider;
    use crate::object::Object;
    use manifest::limits::Limits;
    use manifest::{Document, File};

    #[test]
    fn tells_providers_apart_by_node_class_and_labels() {
        for (spec, expected) in [
            (
                "nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: a}",
                Some("karpenter.azure.com"),
            ),
            (
                "nodeClassRef: {apiVersion: karpenter.azure.com/v1alpha2, name: a}",
                Some("karpenter.azure.com"),
            ),
            ("nodeClassRef: {group: karpenter.k8s.linode, name: a}", Some("karpenter.k8s.linode")),
            ("nodeClassRef: {group: oci.oraclecloud.com, name: a}", Some("oci.oraclecloud.com")),
            ("nodeClassRef: {group: karpenter.k8s.aws, name: a}", None),
            ("nodeClassRef: {group: eks.amazonaws.com, name: a}", None),
            ("nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, name: a}", None),
            ("nodeClassRef: {group: '${GROUP}', name: a}", None),
            ("nodeClassRef: {name: a}", None),
            (
                "nodeClassRef: {name: a}, requirements: [{key: karpenter.k8s.gcp/instance-family, operator: Exists}]",
                Some("karpenter.k8s.gcp"),
            ),
            (
                "nodeClassRef: {name: a}, requirements: [{key: karpenter.k8s.tke/instance-cpu, operator: Exists}]",
                Some("karpenter.k8s.tke"),
            ),
            ("requirements: [{key: karpenter.k8s.aws/instance-cpu, operator: Exists}]", None),
            ("requirements: [{key: karpenter.sh/capacity-type, operator: Exists}]", None),
            ("requirements: [{key: karpenter.k8s.awss/instance-cpu, operator: Exists}]", None),
        ] {
            let text = format!(
                "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nspec: {{template: {{spec: {{{spec}}}}}}}\n"
            );
            let file = File::read("-", text, &Limits::DEFAULT);
            let Some(Document::Read(tree)) = file.documents.first() else { panic!("{spec}") };
            assert_eq!(other_provider(Object::all(tree)[0]), expected, "{spec}");
        }
    }
}
