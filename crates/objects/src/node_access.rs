//! Access of nodes to the API server of EKS: the ConfigMap `aws-auth`, and access entries.
//!
//! Sources: Amazon EKS User Guide, "Grant IAM users access to Kubernetes with a ConfigMap" and "Create access entries".

use std::collections::{BTreeMap, BTreeSet};

use karpenter::kind::Kind;
use manifest::tree::{Children, Node, items_of};
use values::placeholder::has_placeholder;

use crate::eksctl::EksctlKarpenter;
use crate::iam_policy::text;
use crate::instance_profile::CreatedProfile;
use crate::node_class::Ec2NodeClass;
use crate::object::{Form, Object};

/// `v1` ConfigMap.
pub const CONFIG_MAP: Kind = Kind::of("", "v1", "ConfigMap");
/// The configuration file of eksctl.
pub const CLUSTER_CONFIG: Kind = Kind::of("eksctl.io", "v1alpha5", "ClusterConfig");

/// View of the ConfigMap `aws-auth`.
#[derive(Clone, Copy, Debug)]
pub struct AwsAuth<'d>(Object<'d>);

impl<'d> AwsAuth<'d> {
    /// The object as `aws-auth`, where it is the ConfigMap.
    pub fn of(object: Object<'d>) -> Option<Self> {
        let namespace = object.namespace();
        let is_here = namespace.is_empty() || namespace == "kube-system";
        (object.is(CONFIG_MAP) && object.name() == "aws-auth" && is_here).then_some(Self(object))
    }

    /// `data.mapRoles`.
    pub fn map_roles(self) -> Option<Node<'d>> {
        self.0.at(&["data", "mapRoles"])
    }

    /// The items of the document in `data.mapRoles`.
    pub fn roles(self) -> impl Iterator<Item = RoleMapping<'d>> {
        items_of(self.map_roles().and_then(Node::embedded)).map(RoleMapping)
    }
}

/// View of an item of `mapRoles`.
#[derive(Clone, Copy, Debug)]
pub struct RoleMapping<'d>(Node<'d>);

impl<'d> RoleMapping<'d> {
    /// The item.
    pub fn node(self) -> Node<'d> {
        self.0
    }

    /// `rolearn`.
    pub fn role_arn(self) -> Option<Node<'d>> {
        self.0.get("rolearn")
    }

    /// `username`.
    pub fn user_name(self) -> Option<Node<'d>> {
        self.0.get("username")
    }

    /// `groups`.
    pub fn group_list(self) -> Option<Node<'d>> {
        self.0.get("groups")
    }

    /// The items of `groups`.
    pub fn groups(self) -> Children<'d> {
        items_of(self.group_list())
    }

    /// The name of the role: the text after the last slash of `rolearn`.
    pub fn role(self) -> Option<&'d str> {
        self.role_arn()?.as_str()?.rsplit('/').next()
    }
}

/// Access entry of EKS, as CloudFormation, eksctl or an operator declares it.
#[derive(Clone, Copy, Debug)]
pub struct AccessEntry<'d> {
    /// The mapping that holds the fields.
    pub node: Node<'d>,
    /// The ARN of the role or user.
    pub principal: Option<Node<'d>>,
    /// The type; `STANDARD` if absent.
    pub kind: Option<Node<'d>>,
}

impl<'d> AccessEntry<'d> {
    /// The access entries of an object.
    pub fn all(object: Object<'d>) -> Vec<Self> {
        let entry = |node: Node<'d>, principal: &str, kind: &str| Self {
            node,
            principal: node.get(principal),
            kind: node.get(kind).filter(|kind| !kind.is_null()),
        };
        match (object.form(), object.group(), object.kind()) {
            (Form::StackResource, ..) if is_access_entry(object.root()) => {
                let properties = object.root().get("Properties").into_iter();
                properties.map(|node| entry(node, "PrincipalArn", "Type")).collect()
            }
            (Form::Api, "eks.services.k8s.aws", "AccessEntry") => {
                object.at(&["spec"]).into_iter().map(|node| entry(node, "principalARN", "type")).collect()
            }
            (Form::Api, "eks.aws.upbound.io" | "eks.aws.m.upbound.io", "AccessEntry") => {
                let parameters = object.at(&["spec", "forProvider"]).into_iter();
                parameters.map(|node| entry(node, "principalArn", "type")).collect()
            }
            _ if object.is(CLUSTER_CONFIG) => items_of(object.at(&["accessConfig", "accessEntries"]))
                .map(|node| entry(node, "principalARN", "type"))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// The type, where it is known.
    pub fn kind_text(self) -> Option<&'d str> {
        match self.kind {
            None => Some("STANDARD"),
            Some(kind) => kind.as_str(),
        }
    }

    /// The ARN of the principal. `${}` encloses what CloudFormation fills in.
    pub fn principal_text(self) -> String {
        self.principal.map(text).unwrap_or_default()
    }
}

/// Whether a resource of a CloudFormation template is an access entry.
pub(crate) fn is_access_entry(resource: Node<'_>) -> bool {
    resource.str_at(&["Type"]) == Some("AWS::EKS::AccessEntry")
}

/// The roles of the nodes of a cluster, and what gives them access.
#[derive(Debug, Default)]
pub struct NodeAccess<'d> {
    /// The EC2NodeClasses by the name of their role, or of the role of their instance profile: of each role the first.
    pub roles: BTreeMap<&'d str, Ec2NodeClass<'d>>,
    /// The first `aws-auth`.
    pub aws_auth: Option<AwsAuth<'d>>,
    /// The names of the roles that `aws-auth` maps, that an access entry names, or that belong to a node group of eksctl or that eksctl creates for
    /// Karpenter.
    pub granted: BTreeSet<String>,
    /// The names of the roles that an access entry names. An access entry takes the place of what `aws-auth` has for the role.
    pub with_entry: BTreeSet<String>,
    /// The names of the roles that an access entry admits as nodes, or whose entry has a type that is not known.
    pub admitted: BTreeSet<String>,
}

impl<'d> NodeAccess<'d> {
    /// Collects the roles from the objects of a cluster.
    pub fn of(objects: &[Object<'d>]) -> Self {
        let mut access = Self::default();
        let profiles = roles_of_profiles(objects);
        for object in objects {
            if let Some(class) = Ec2NodeClass::of(*object) {
                let of_profile = || profiles.get(class.instance_profile()?.as_str()?).copied();
                let role = class.role().and_then(Node::as_str).or_else(of_profile);
                let role = role.and_then(|role| role.rsplit('/').next());
                if let Some(role) = role {
                    access.roles.entry(role).or_insert(class);
                }
            } else if let Some(aws_auth) = AwsAuth::of(*object) {
                access.aws_auth = access.aws_auth.or(Some(aws_auth));
                access.granted.extend(aws_auth.roles().filter_map(RoleMapping::role).map(str::to_owned));
            } else {
                for entry in AccessEntry::all(*object) {
                    access.add(entry);
                }
                access.granted.extend(roles_of_node_groups(*object).map(str::to_owned));
                access.granted.extend(EksctlKarpenter::of(*object).and_then(EksctlKarpenter::node_role));
            }
        }
        access
    }

    fn add(&mut self, entry: AccessEntry<'_>) {
        let principal = entry.principal_text();
        let Some(role) = principal.rsplit('/').next() else { return };
        if entry.kind_text().is_none_or(|kind| !NOT_FOR_NODES.contains(&kind)) {
            self.admitted.insert(role.to_owned());
        }
        self.with_entry.insert(role.to_owned());
        self.granted.insert(role.to_owned());
    }
}

/// The roles of the instance profiles that the input creates, by the name of the profile.
fn roles_of_profiles<'d>(objects: &[Object<'d>]) -> BTreeMap<String, &'d str> {
    let profiles = objects.iter().filter_map(|object| CreatedProfile::of(*object));
    let role_of = |profile: CreatedProfile<'d>| {
        let role = profile.role()?;
        // A reference to a role is not its name.
        let name = role.as_str().filter(|name| text(role) == *name && !has_placeholder(name))?;
        Some((profile.name()?, name))
    };
    profiles.filter_map(role_of).collect()
}

/// The types of access entries with which EC2 instances that Karpenter launches do not join.
pub const NOT_FOR_NODES: [&str; 5] = ["STANDARD", "EC2", "FARGATE_LINUX", "HYBRID_LINUX", "HYPERPOD_LINUX"];

/// The names of the roles of eksctl's node groups. EKS creates the access entry for the role of a managed node group, and eksctl
/// for its role (`CreateAccessEntry` in the Amazon EKS API Reference).
fn roles_of_node_groups(object: Object<'_>) -> impl Iterator<Item = &str> {
    let lists = [&["managedNodeGroups"], &["nodeGroups"]];
    let groups = lists.into_iter().filter(move |_| object.is(CLUSTER_CONFIG));
    let groups = groups.flat_map(move |path| items_of(object.at(path)));
    let fields = groups
        .flat_map(|group| ["instanceRoleARN", "instanceRoleName"].map(|field| group.str_at(&["iam", field])));
    fields.flatten().filter_map(|role| role.rsplit('/').next())
}
