//! EKS clusters that the input creates, with their version of Kubernetes.
//!
//! Sources: `AWS::EKS::Cluster` in the CloudFormation Template Reference; `ClusterConfig` of eksctl-io/eksctl;
//! `apis/v1alpha1/cluster.go` of aws-controllers-k8s/eks-controller.

use manifest::tree::{Node, Value};

use crate::iam_policy::text;
use crate::node_access::CLUSTER_CONFIG;
use crate::object::{Form, Object};

/// View of an EKS cluster with a version.
#[derive(Clone, Copy, Debug)]
pub struct EksCluster<'d> {
    name: Option<&'d str>,
    version: Node<'d>,
}

impl<'d> EksCluster<'d> {
    /// The cluster of an object.
    pub fn of(object: Object<'d>) -> Option<Self> {
        let (name, version) = match (object.form(), object.group(), object.kind()) {
            (Form::StackResource, ..) if is_eks_cluster(object.root()) => {
                (["Properties", "Name"], ["Properties", "Version"])
            }
            (Form::Api, "eks.services.k8s.aws", "Cluster") => (["spec", "name"], ["spec", "version"]),
            _ if object.is(CLUSTER_CONFIG) => (["metadata", "name"], ["metadata", "version"]),
            _ => return None,
        };
        Some(Self { name: object.str_at(&name), version: object.at(&version)? })
    }

    /// The name.
    pub fn name(self) -> Option<&'d str> {
        self.name
    }

    /// The version, such as `1.33`. `${}` encloses what CloudFormation or Terraform fills in, unless it is a parameter with a default.
    pub fn version(self) -> String {
        let written = match self.version.value() {
            Value::Float(_) => self.version.spelling().to_owned(),
            _ => text(self.version),
        };
        let parameter = written.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        let root = self.version.tree().root();
        let default = parameter.and_then(|name| root.at_path(&["Parameters", name, "Default"]));
        default.map_or(written, |default| default.as_str().unwrap_or(default.spelling()).to_owned())
    }
}

/// Whether a resource of a CloudFormation template is an EKS cluster with a version.
pub(crate) fn is_eks_cluster(resource: Node<'_>) -> bool {
    resource.str_at(&["Type"]) == Some("AWS::EKS::Cluster")
        && resource.at_path(&["Properties", "Version"]).is_some_and(|version: Node<'_>| !version.is_null())
}

#[cfg(test)]
mod tests {
    use manifest::{Document, File};

    use super::EksCluster;
    use crate::embedded::READ_OPTIONS;
    use crate::object::Object;

    #[test]
    fn finds_the_version_of_a_cluster() {
        for (text, expected) in [
            (
                "Resources: {c: {Type: 'AWS::EKS::Cluster', Properties: {Name: prod, Version: '1.33'}}}",
                Some("1.33"),
            ),
            (
                "Resources: {c: {Type: 'AWS::EKS::Cluster', Properties: {Name: prod, Version: 1.30}}}",
                Some("1.30"),
            ),
            (
                "{apiVersion: eksctl.io/v1alpha5, kind: ClusterConfig, metadata: {name: prod, version: '1.33'}}",
                Some("1.33"),
            ),
            (
                "{apiVersion: eks.services.k8s.aws/v1alpha1, kind: Cluster, metadata: {name: a}, spec: {name: prod, version: '1.33'}}",
                Some("1.33"),
            ),
            ("{apiVersion: eksctl.io/v1alpha5, kind: ClusterConfig, metadata: {name: prod}}", None),
            (
                "Parameters: {V: {Type: String, Default: '1.34'}}\nResources: {c: {Type: 'AWS::EKS::Cluster', Properties: {Name: prod, Version: !Ref V}}}",
                Some("1.34"),
            ),
            (
                "Resources: {c: {Type: 'AWS::EKS::Cluster', Properties: {Name: prod, Version: !Ref V}}}",
                Some("${V}"),
            ),
        ] {
            let file = File::read("a.yaml", text, READ_OPTIONS);
            let [Document::Read(tree)] = file.documents.as_slice() else { panic!("{text}") };
            let clusters: Vec<_> = Object::all(tree).into_iter().filter_map(EksCluster::of).collect();
            assert_eq!(clusters.first().map(|cluster| cluster.version()).as_deref(), expected, "{text}");
            assert!(clusters.iter().all(|cluster| cluster.name() == Some("prod")), "{text}");
        }
    }
}
