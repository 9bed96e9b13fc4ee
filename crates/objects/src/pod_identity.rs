//! Roles of service accounts: associations of EKS Pod Identity, and the service accounts of eksctl.
//!
//! Sources: `CreatePodIdentityAssociation` in the Amazon EKS API Reference; `AWS::EKS::PodIdentityAssociation` in the
//! CloudFormation User Guide; pkg/apis/eksctl.io/v1alpha5/iam.go of eksctl-io/eksctl; `apis/v1alpha1/pod_identity_association.go` of
//! aws-controllers-k8s/eks-controller.

use manifest::tree::{Node, items_of};

use crate::iam_policy::text;
use crate::identity::ServiceAccountNames;
use crate::node_access::CLUSTER_CONFIG;
use crate::object::{Form, Object};

/// Role of a service account.
#[derive(Clone, Copy, Debug)]
pub struct PodIdentityAssociation<'d> {
    /// The namespace.
    pub namespace: Option<Node<'d>>,
    /// The name of the service account.
    pub service_account: Option<Node<'d>>,
    /// The ARN or the name of the role.
    pub role: Option<Node<'d>>,
}

impl<'d> PodIdentityAssociation<'d> {
    /// The associations of an object.
    pub fn all(object: Object<'d>) -> Vec<Self> {
        let one = |node: Node<'d>, account: &str, role: &str| Self {
            namespace: node.get("namespace").or_else(|| node.get("Namespace")),
            service_account: node.get(account),
            role: node.get(role),
        };
        match (object.form(), object.group(), object.kind()) {
            (Form::StackResource, ..) if is_association(object.root()) => {
                let properties = object.root().get("Properties").into_iter();
                properties.map(|node| one(node, "ServiceAccount", "RoleArn")).collect()
            }
            (Form::Api, "eks.services.k8s.aws", "PodIdentityAssociation") => {
                object.at(&["spec"]).into_iter().map(|node| one(node, "serviceAccount", "roleARN")).collect()
            }
            (Form::Api, "eks.aws.upbound.io" | "eks.aws.m.upbound.io", "PodIdentityAssociation") => {
                let parameters = object.at(&["spec", "forProvider"]).into_iter();
                parameters.map(|node| one(node, "serviceAccount", "roleArn")).collect()
            }
            _ if object.is(CLUSTER_CONFIG) => {
                let associations = items_of(object.at(&["iam", "podIdentityAssociations"]));
                let of_associations = associations.flat_map(|node| {
                    ["roleARN", "roleName"].map(|role| one(node, "serviceAccountName", role))
                });
                let accounts = items_of(object.at(&["iam", "serviceAccounts"]));
                let of_accounts = accounts.flat_map(|node| {
                    ["attachRoleARN", "roleName"].map(|role| Self {
                        namespace: node.at_path(&["metadata", "namespace"]),
                        service_account: node.at_path(&["metadata", "name"]),
                        role: node.get(role),
                    })
                });
                of_associations.chain(of_accounts).filter(|one| one.role.is_some()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether the service account is the controller's.
    pub fn is_of_controller(self, accounts: &ServiceAccountNames<'_>) -> bool {
        self.service_account.and_then(Node::as_str).is_some_and(|name| accounts.contains(name))
    }

    /// The name of the role: the text after the last slash. `${}` encloses what CloudFormation fills in.
    pub fn role_name(self) -> Option<String> {
        self.role.map(text).and_then(|text| text.rsplit('/').next().map(str::to_owned))
    }
}

/// Whether a resource of a CloudFormation template is an association.
pub(crate) fn is_association(resource: Node<'_>) -> bool {
    resource.str_at(&["Type"]) == Some("AWS::EKS::PodIdentityAssociation")
}
