//! Outputs of published modules of Terraform, with the arguments on which their values depend.
//!
//! Sources: main.tf and outputs.tf of terraform-aws-modules/terraform-aws-eks and of its `modules/karpenter`. Version 21 renamed
//! `cluster_name` to `name` and `cluster_version` to `kubernetes_version` (docs/UPGRADE-21.0.md).

/// An output of a module.
struct ModuleOutput {
    /// End of the addresses of the module, without a version.
    source: &'static [&'static str],
    name: &'static str,
    arguments: &'static [&'static str],
}

const EKS: &[&str] = &["terraform-aws-modules/eks/aws", "terraform-aws-modules/terraform-aws-eks"];
const KARPENTER: &[&str] = &[
    "terraform-aws-modules/eks/aws//modules/karpenter",
    "terraform-aws-modules/terraform-aws-eks//modules/karpenter",
];

const OUTPUTS: [ModuleOutput; 4] = [
    ModuleOutput { source: EKS, name: "cluster_name", arguments: &["name", "cluster_name"] },
    ModuleOutput {
        source: EKS,
        name: "cluster_version",
        arguments: &["kubernetes_version", "cluster_version"],
    },
    // A role with another path is another one, whose name may have another suffix.
    ModuleOutput {
        source: KARPENTER,
        name: "node_iam_role_name",
        arguments: &[
            "cluster_name",
            "create_node_iam_role",
            "node_iam_role_name",
            "node_iam_role_use_name_prefix",
            "node_iam_role_path",
        ],
    },
    ModuleOutput {
        source: KARPENTER,
        name: "instance_profile_name",
        arguments: &[
            "cluster_name",
            "create_instance_profile",
            "create_node_iam_role",
            "node_iam_role_arn",
            "node_iam_role_name",
            "node_iam_role_use_name_prefix",
            "node_iam_role_path",
        ],
    },
];

/// Arguments on which every output depends.
const OF_ALL: [&str; 6] = ["source", "version", "create", "putin_khuylo", "count", "for_each"];

/// Whether an output of the module at an address depends on an argument. `None` if that is not known.
pub(super) fn depends(source: &str, output: &str, argument: &str) -> Option<bool> {
    let source = source.split('?').next().unwrap_or_default().replace(".git//", "//");
    let source = source.trim_end_matches(".git");
    let is_it =
        |known: &&ModuleOutput| known.name == output && known.source.iter().any(|end| source.ends_with(end));
    let known = OUTPUTS.iter().find(is_it)?;
    Some(known.arguments.contains(&argument) || OF_ALL.contains(&argument))
}
