//! The VPC CNI plugin as an add-on of EKS, with settings.
//!
//! Sources: `AWS::EKS::Addon` in the CloudFormation Template Reference; userdocs/src/usage/addons.md of eksctl-io/eksctl;
//! `apis/v1alpha1/addon.go` of aws-controllers-k8s/eks-controller. `aws eks describe-addon-configuration --addon-name vpc-cni` shows the schema
//! of the settings: `env` has the environment variables of the plugin.

use manifest::tree::{Node, items_of};

use crate::node_access::CLUSTER_CONFIG;
use crate::object::{Form, Object};

/// Name of the add-on.
const VPC_CNI: &str = "vpc-cni";

/// View of an add-on that installs the VPC CNI plugin with settings.
#[derive(Clone, Copy, Debug)]
pub struct VpcCniAddon<'d> {
    object: Object<'d>,
    settings: Node<'d>,
}

impl<'d> VpcCniAddon<'d> {
    /// The add-on of an object.
    pub fn of(object: Object<'d>) -> Option<Self> {
        let settings = match (object.form(), object.group(), object.kind()) {
            (Form::StackResource, ..) => settings_in_stack(object.root())?,
            (Form::Api, "eks.services.k8s.aws", "Addon") => {
                let spec = object.at(&["spec"]).filter(|spec| spec.str_at(&["name"]) == Some(VPC_CNI))?;
                spec.get("configurationValues")?
            }
            _ if object.is(CLUSTER_CONFIG) => {
                let mut addons = items_of(object.at(&["addons"]));
                addons.find(|addon| addon.str_at(&["name"]) == Some(VPC_CNI))?.get("configurationValues")?
            }
            _ => return None,
        };
        let settings = settings.embedded().or(Some(settings)).filter(|settings| settings.is_mapping())?;
        Some(Self { object, settings })
    }

    /// The object.
    pub fn object(self) -> Object<'d> {
        self.object
    }

    /// The value of an environment variable.
    pub fn variable(self, name: &str) -> Option<Node<'d>> {
        self.settings.get("env")?.get(name)
    }
}

/// Whether a resource of a CloudFormation template is the add-on with settings.
pub(crate) fn is_vpc_cni(resource: Node<'_>) -> bool {
    settings_in_stack(resource).is_some()
}

fn settings_in_stack(resource: Node<'_>) -> Option<Node<'_>> {
    let is_addon = resource.str_at(&["Type"]) == Some("AWS::EKS::Addon")
        && resource.str_at(&["Properties", "AddonName"]) == Some(VPC_CNI);
    resource.at_path(&["Properties", "ConfigurationValues"]).filter(|_| is_addon)
}

#[cfg(test)]
mod tests {
    use manifest::{Document, File};

    use super::VpcCniAddon;
    use crate::embedded::READ_OPTIONS;
    use crate::object::Object;

    #[test]
    fn settings_are_in_objects_and_in_strings() {
        for text in [
            "Resources: {A: {Type: 'AWS::EKS::Addon', Properties: {AddonName: vpc-cni, ConfigurationValues: '{\"env\": {\"A\": \"1\"}}'}}}",
            "Resources: {A: {Type: 'AWS::EKS::Addon', Properties: {AddonName: vpc-cni, ConfigurationValues: {env: {A: '1'}}}}}",
            // The form of userdocs/src/usage/addons.md of eksctl-io/eksctl.
            "{apiVersion: eksctl.io/v1alpha5, kind: ClusterConfig, addons: [{name: coredns}, {name: vpc-cni, configurationValues: '{env: {A: \"1\"}}'}]}",
            "{apiVersion: eks.services.k8s.aws/v1alpha1, kind: Addon, spec: {name: vpc-cni, configurationValues: '{\"env\": {\"A\": \"1\"}}'}}",
        ] {
            let file = File::read("a.yaml", text, READ_OPTIONS);
            let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
            let objects = Object::all(tree);
            let found = objects.first().and_then(|object| VpcCniAddon::of(*object)?.variable("A")?.as_str());
            assert_eq!(found, Some("1"), "{text}");
        }
    }
}
