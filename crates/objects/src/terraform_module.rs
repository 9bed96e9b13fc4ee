//! Modules of Terraform registries that create what Karpenter needs in AWS: its queue, the role of its nodes and the policy of its
//! controller. The source of such a module is not in the input, so this file has what it makes of its arguments.

use manifest::tree::{Node, Value};

use crate::object::{Form, Object};

/// The names of arguments of a module, and the names that it gives.
#[derive(Debug)]
struct ModuleArguments {
    /// Part of the source, without the host and the version.
    source: &'static str,
    /// Arguments that are `true`, or absent if their default is `true`, where the module creates anything.
    switch: (&'static [&'static str], bool),
    /// The name of the queue, and the argument with which the module creates one.
    queue: &'static [&'static str],
    creates_queue: &'static [&'static str],
    /// The name of the role of nodes, whether the module appends a suffix, and the argument with which it creates the role.
    role: &'static [&'static str],
    role_has_suffix: &'static [&'static str],
    creates_role: &'static [&'static str],
    /// The start of both names if they are not given; the name of the cluster follows.
    prefix: &'static str,
    /// The outputs with both names, as a configuration refers to them. `{}` is the label of the call.
    queue_output: &'static str,
    role_output: &'static str,
}

/// The modules.
///
/// Sources: modules/karpenter/main.tf and outputs.tf of terraform-aws-modules/terraform-aws-eks at v19.21.0, v20.37.2 and v21.9.0; main.tf
/// and outputs.tf of aws-ia/terraform-aws-eks-blueprints-addons at v1.9.2.
const MODULES: [ModuleArguments; 2] = [
    ModuleArguments {
        source: "terraform-aws-modules/eks/aws//modules/karpenter",
        switch: (&["create"], true),
        queue: &["queue_name"],
        creates_queue: &["enable_spot_termination"],
        role: &["node_iam_role_name"],
        role_has_suffix: &["node_iam_role_use_name_prefix"],
        creates_role: &["create_node_iam_role"],
        prefix: "Karpenter-",
        queue_output: "${module.{}.queue_name}",
        role_output: "${module.{}.node_iam_role_name}",
    },
    ModuleArguments {
        source: "aws-ia/eks-blueprints-addons/aws",
        switch: (&["enable_karpenter"], false),
        queue: &["karpenter_sqs", "queue_name"],
        creates_queue: &["karpenter_enable_spot_termination"],
        role: &["karpenter_node", "iam_role_name"],
        role_has_suffix: &["karpenter_node", "iam_role_use_name_prefix"],
        creates_role: &["karpenter_node", "create_iam_role"],
        prefix: "karpenter-",
        queue_output: "${module.{}.karpenter.sqs.queue_name}",
        role_output: "${split(\"/\", module.{}.karpenter.node_iam_role_arn)[1]}",
    },
];

/// The argument with statements that the module adds to the policy of the controller.
pub const STATEMENTS: &str = "iam_policy_statements";

/// Arguments of the role of nodes before 20.0 of terraform-aws-modules/eks, which are about the controller's role since then.
const OF_OLD_ROLE: [&str; 3] = ["iam_role_name", "iam_role_use_name_prefix", "create_iam_role"];

/// View of a call of a module that creates what Karpenter needs.
#[derive(Clone, Copy, Debug)]
pub struct KarpenterModule<'d> {
    object: Object<'d>,
    arguments: &'static ModuleArguments,
}

/// Name of a resource that a module creates.
#[derive(Clone, Debug)]
pub struct CreatedName<'d> {
    /// The name, or the start of the name.
    pub text: String,
    /// The argument that it comes from.
    pub node: Node<'d>,
    /// Whether AWS appends a suffix to the name.
    pub has_suffix: bool,
}

/// The calls of such modules in a document, in Terraform's JSON syntax.
///
/// Source: website/docs/language/syntax/json.mdx of hashicorp/terraform.
pub(crate) fn calls(root: Node<'_>) -> Vec<Node<'_>> {
    root.members_at(&["module"]).map(|(_, call)| call).filter(|call| arguments_of(*call).is_some()).collect()
}

/// Whether a source is one of the modules.
pub fn is_for_karpenter(source: &str) -> bool {
    MODULES.iter().any(|module| source.contains(module.source))
}

/// Whether an argument of such a module says what it creates.
pub fn is_read(argument: &str) -> bool {
    let read = |module: &ModuleArguments| {
        let paths = [
            module.switch.0,
            module.queue,
            module.creates_queue,
            module.role,
            module.role_has_suffix,
            module.creates_role,
        ];
        paths.iter().any(|path| path.first() == Some(&argument))
    };
    matches!(argument, "source" | "cluster_name" | "count" | "for_each" | STATEMENTS)
        || OF_OLD_ROLE.contains(&argument)
        || MODULES.iter().any(read)
}

fn arguments_of(call: Node<'_>) -> Option<&'static ModuleArguments> {
    let source = call.str_at(&["source"])?;
    MODULES.iter().find(|module| source.contains(module.source))
}

impl<'d> KarpenterModule<'d> {
    /// The object as a call that creates something.
    pub fn of(object: Object<'d>) -> Option<Self> {
        if object.form() != Form::Module {
            return None;
        }
        let module = Self { object, arguments: arguments_of(object.root())? };
        let (path, default) = module.arguments.switch;
        (module.is_on(path, default) == Some(true)).then_some(module)
    }

    /// The object.
    pub fn object(self) -> Object<'d> {
        self.object
    }

    /// `cluster_name`.
    pub fn cluster_name(self) -> Option<Node<'d>> {
        self.object.root().get("cluster_name")
    }

    /// The argument without which the role has a suffix, such as `node_iam_role_use_name_prefix`.
    pub fn suffix_argument(self) -> String {
        self.arguments.role_has_suffix.join(".")
    }

    /// The reference to the name of the queue, such as `${module.karpenter.queue_name}`.
    pub fn queue_reference(self) -> String {
        self.arguments.queue_output.replace("{}", self.object.name())
    }

    /// The reference to the name of the role of nodes, such as `${module.karpenter.node_iam_role_name}`.
    pub fn node_role_reference(self) -> String {
        self.arguments.role_output.replace("{}", self.object.name())
    }

    /// Whether Terraform certainly makes one instance of the call.
    pub fn is_single(self) -> bool {
        ["count", "for_each"].iter().all(|name| self.object.root().get(name).is_none())
    }

    /// The name of the queue that the module creates.
    pub fn queue(self) -> Option<CreatedName<'d>> {
        self.name(self.arguments.queue, self.arguments.creates_queue, false)
    }

    /// The name of the role of nodes that the module creates.
    pub fn node_role(self) -> Option<CreatedName<'d>> {
        let root = self.object.root();
        let is_old = root.get("node_iam_role_name").is_none()
            && OF_OLD_ROLE.iter().any(|argument| root.get(argument).is_some());
        let has_suffix = self.is_on(self.arguments.role_has_suffix, true).filter(|_| !is_old)?;
        self.name(self.arguments.role, self.arguments.creates_role, has_suffix)
    }

    /// A name, if the module certainly creates the resource.
    fn name(self, path: &[&str], creates: &[&str], has_suffix: bool) -> Option<CreatedName<'d>> {
        if self.is_on(creates, true) != Some(true) {
            return None;
        }
        let given = self.object.root().at_path(path).filter(|node| !node.is_null());
        let node = given.or_else(|| self.cluster_name())?;
        let prefix = if given.is_some() { "" } else { self.arguments.prefix };
        let text = format!("{prefix}{}", node.as_str()?);
        // An object that only Terraform knows may have the name.
        let is_known = path.first().is_none_or(|first| {
            path.len() == 1 || self.object.root().get(first).is_none_or(|node| node.as_str().is_none())
        });
        is_known.then_some(CreatedName { text, node, has_suffix })
    }

    /// Whether an argument is `true`; `None` if only Terraform knows.
    fn is_on(self, path: &[&str], default: bool) -> Option<bool> {
        let mut node = self.object.root();
        for name in path {
            match node.get(name) {
                Some(inner) if inner.is_null() => return Some(default),
                Some(inner) => node = inner,
                None if node.is_mapping() => return Some(default),
                None => return None,
            }
        }
        if let Value::Bool(value) = node.value() { Some(value) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use manifest::{Document, File};

    use super::KarpenterModule;
    use crate::embedded::READ_OPTIONS;
    use crate::object::Object;

    /// The names of the queue and of the role of a call with arguments: `+` is a suffix, and `-` is no name.
    fn names(source: &str, arguments: &str) -> String {
        let text = format!(
            "{{\"module\": {{\"a\": {{\"source\": \"{source}\", \"cluster_name\": \"prod\"{arguments}}}}}}}"
        );
        let file = File::read("a.json", text, READ_OPTIONS);
        let [Document::Read(tree)] = file.documents.as_slice() else { panic!("{file:?}") };
        let modules = Object::all(tree).into_iter().map(|object| {
            let Some(module) = KarpenterModule::of(object) else { return "off".to_owned() };
            let shown = [module.queue(), module.node_role()].map(|name| match name {
                Some(name) => format!("{}{}", name.text, if name.has_suffix { "+" } else { "" }),
                None => "-".to_owned(),
            });
            shown.join(" ")
        });
        modules.collect()
    }

    #[test]
    fn names_the_queue_and_the_role_of_the_community_module() {
        let source = "terraform-aws-modules/eks/aws//modules/karpenter";
        for (arguments, expected) in [
            ("", "Karpenter-prod Karpenter-prod+"),
            (", \"queue_name\": \"q\"", "q Karpenter-prod+"),
            (", \"enable_spot_termination\": false", "- Karpenter-prod+"),
            (", \"node_iam_role_name\": \"n\", \"node_iam_role_use_name_prefix\": false", "Karpenter-prod n"),
            (", \"node_iam_role_use_name_prefix\": \"${var.x}\"", "Karpenter-prod -"),
            (", \"create_node_iam_role\": false", "Karpenter-prod -"),
            (", \"iam_role_use_name_prefix\": false", "Karpenter-prod -"),
            (", \"create\": false", "off"),
            (", \"create\": null", "Karpenter-prod Karpenter-prod+"),
        ] {
            assert_eq!(names(source, arguments), expected, "{arguments}");
        }
        assert_eq!(names("terraform-aws-modules/eks/aws", ""), "");
        assert_eq!(names("./modules/karpenter", ""), "");
    }

    #[test]
    fn names_the_queue_and_the_role_of_the_blueprints() {
        let source = "aws-ia/eks-blueprints-addons/aws";
        for (arguments, expected) in [
            ("", "off"),
            (", \"enable_karpenter\": true", "karpenter-prod karpenter-prod+"),
            (", \"enable_karpenter\": true, \"karpenter_sqs\": {\"queue_name\": \"q\"}", "q karpenter-prod+"),
            (
                ", \"enable_karpenter\": true, \"karpenter_node\": {\"iam_role_use_name_prefix\": false}",
                "karpenter-prod karpenter-prod",
            ),
            (", \"enable_karpenter\": true, \"karpenter_node\": \"${var.x}\"", "karpenter-prod -"),
            (", \"enable_karpenter\": true, \"karpenter_sqs\": \"${var.x}\"", "- karpenter-prod+"),
        ] {
            assert_eq!(names(source, arguments), expected, "{arguments}");
        }
    }
}
