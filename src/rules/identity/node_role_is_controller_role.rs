use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use crate::rules::indexes::ControllerRoles;

rule! {
    /// ## What it does
    ///
    /// Compares `spec.role` and `spec.instanceProfile` of an EC2NodeClass with the role of Karpenter's controller.
    ///
    /// The controller's role comes from the annotation `eks.amazonaws.com/role-arn` of its ServiceAccount, from
    /// `serviceAccount.annotations` in the values of the chart, from associations of EKS Pod Identity (of CloudFormation,
    /// eksctl, the AWS Controllers for Kubernetes and Upbound's provider), and from the service accounts of eksctl.
    ///
    /// ## Why it is bad
    ///
    /// The controller and the nodes need different roles. The controller's role trusts the cluster's identity provider or EKS
    /// Pod Identity, and not EC2: an instance with this role gets no credentials, and its kubelet never joins. If the role trusts
    /// EC2 too, each process on each node that reaches the instance metadata service may launch and terminate instances.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterControllerRole-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    /// ---
    /// apiVersion: v1
    /// kind: ServiceAccount
    /// metadata:
    ///   name: karpenter
    ///   namespace: kube-system
    ///   annotations:
    ///     eks.amazonaws.com/role-arn: arn:aws:iam::111122223333:role/KarpenterControllerRole-prod
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    /// ---
    /// apiVersion: v1
    /// kind: ServiceAccount
    /// metadata:
    ///   name: karpenter
    ///   namespace: kube-system
    ///   annotations:
    ///     eks.amazonaws.com/role-arn: arn:aws:iam::111122223333:role/KarpenterControllerRole-prod
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#6036
    /// - `KarpenterNodeRole` and `KarpenterControllerPolicy` in website/content/en/docs/getting-started/getting-started-with-karpenter/cloudformation.yaml of aws/karpenter-provider-aws at v1.14.1
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "nodes get the role of Karpenter's controller",
        runs: Runs::OnFiles,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    let roles = context.inventory.index::<ControllerRoles>();
    for (node, is_profile) in [(class.role(), false), (class.instance_profile(), true)] {
        findings.extend(node.and_then(|node| finding(node, is_profile, roles)));
    }
}

fn finding<'d>(node: Node<'d>, is_profile: bool, roles: &[(String, Node<'d>)]) -> Option<Finding<'d>> {
    let name = node.as_str()?.rsplit('/').next().filter(|name| !name.is_empty() && !has_placeholder(name))?;
    let (_, of_controller) = roles.iter().find(|(role, _)| role == name)?;
    let message = if is_profile {
        format!(
            "`{name}` is the name of the controller's role: nodes with an instance profile of this role get no credentials, or the permissions of the controller"
        )
    } else {
        format!(
            "`{name}` is the role of Karpenter's controller: nodes with this role do not join the cluster, or have the permissions of the controller"
        )
    };
    let help = "use a separate role for nodes, with `AmazonEKSWorkerNodePolicy`, `AmazonEKS_CNI_Policy` and `AmazonEC2ContainerRegistryPullOnly`, which `ec2.amazonaws.com` may assume";
    let finding = Finding::at(&RULE, node, message).help(help);
    Some(finding.related(Place::value(*of_controller), "the controller's role"))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    fn class(field: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec: {{{field}}}
---
"
        )
    }

    const ARN: &str = "arn:aws:iam::111122223333:role/karpenter";

    fn holders() -> Vec<String> {
        vec![
            format!(
                r"apiVersion: v1
kind: ServiceAccount
metadata:
  name: karpenter
  annotations: {{eks.amazonaws.com/role-arn: {ARN}}}
"
            ),
            format!(
                "settings: {{clusterName: prod}}\nserviceAccount: {{annotations: {{eks.amazonaws.com/role-arn: {ARN}}}}}\n"
            ),
            format!(
                r"apiVersion: eks.services.k8s.aws/v1alpha1
kind: PodIdentityAssociation
metadata: {{name: a}}
spec: {{clusterName: prod, namespace: kube-system, serviceAccount: karpenter, roleARN: '{ARN}'}}
"
            ),
            format!(
                r"Resources:
  A:
    Type: AWS::EKS::PodIdentityAssociation
    Properties: {{ClusterName: prod, Namespace: kube-system, ServiceAccount: karpenter, RoleArn: '{ARN}'}}
"
            ),
            format!(
                r"apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {{name: prod}}
iam:
  podIdentityAssociations:
  - {{namespace: kube-system, serviceAccountName: karpenter, roleARN: '{ARN}'}}
"
            ),
            r"apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod}
iam:
  serviceAccounts:
  - {metadata: {name: karpenter, namespace: kube-system}, roleName: karpenter}
"
            .to_owned(),
        ]
    }

    #[test]
    fn reports_the_role_of_the_controller_wherever_it_is_named() {
        for holder in holders() {
            for field in ["role: karpenter", "role: team/karpenter", "instanceProfile: karpenter"] {
                let text = format!("{}{holder}", class(field));
                assert!(findings(&super::RULE, &text).contains("the controller's role"), "{text}");
            }
            silent(&super::RULE, &format!("{}{holder}", class("role: KarpenterNodeRole-prod")));
            silent(&super::RULE, &format!("{}{holder}", class("role: '${ROLE}'")));
        }
        silent(&super::RULE, &class("role: karpenter"));
    }

    #[test]
    fn other_service_accounts_have_other_roles() {
        for holder in holders() {
            let other = holder
                .replace("name: karpenter\n", "name: ci\n")
                .replace("ccount: karpenter", "ccount: ci")
                .replace("AccountName: karpenter", "AccountName: ci")
                .replace("{name: karpenter,", "{name: ci,");
            if other != holder {
                silent(&super::RULE, &format!("{}{other}", class("role: karpenter")));
            }
        }
    }

    #[test]
    fn reads_the_name_of_the_service_account_from_the_values_and_the_controller() {
        let values =
            "---\nsettings: {clusterName: prod, interruptionQueue: prod}\nserviceAccount: {name: ci}\n";
        let controller = r"---
apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter, namespace: kube-system}
spec:
  template:
    spec:
      serviceAccountName: ci
      containers: [{name: controller, image: 'public.ecr.aws/karpenter/controller:1.8.2'}]
";
        let names = ["serviceAccount: ", "ServiceAccount: ", "serviceAccountName: ", "{metadata: {name: "];
        let mut associations = 0;
        for holder in holders() {
            let Some(name) = names.iter().find(|name| holder.contains(&format!("{name}karpenter"))) else {
                continue;
            };
            let renamed = holder.replace(&format!("{name}karpenter"), &format!("{name}ci"));
            associations += 1;
            for naming in [values, controller] {
                let text = format!("{}{renamed}{naming}", class("role: karpenter"));
                assert!(findings(&super::RULE, &text).contains("the controller's role"), "{text}");
            }
            silent(&super::RULE, &format!("{}{renamed}", class("role: karpenter")));
        }
        assert_eq!(associations, 4);
    }

    #[test]
    fn names_both_places() {
        let text = format!("{}{}", class("role: karpenter"), holders()[0]);
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          4 | spec: {role: karpenter}
            |              ^^^^^^^^^
        warning EC2NodeClass/a spec.role [all]
          `karpenter` is the role of Karpenter's controller: nodes with this role do not join the cluster, or have the permissions of the controller
          help: use a separate role for nodes, with `AmazonEKSWorkerNodePolicy`, `AmazonEKS_CNI_Policy` and `AmazonEC2ContainerRegistryPullOnly`, which `ec2.amazonaws.com` may assume
          see line 10 metadata.annotations.eks.amazonaws.com/role-arn: the controller's role
        ");
    }
}
