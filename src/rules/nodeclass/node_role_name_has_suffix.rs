use std::collections::BTreeMap;

use cluster::index::Index;
use cluster::inventory::Inventory;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use objects::terraform_module::{CreatedName, KarpenterModule};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use crate::rules::folders::folder;
use crate::rules::indexes::KarpenterModules;

rule! {
    /// ## What it does
    ///
    /// Finds EC2NodeClasses whose `spec.role` is the name that a Terraform module starts the role's name with: the submodule `karpenter` of
    /// terraform-aws-modules/eks and eks-blueprints-addons append a suffix unless `node_iam_role_use_name_prefix` or
    /// `karpenter_node.iam_role_use_name_prefix` is `false`.
    ///
    /// ## Why it is bad
    ///
    /// The role is called `Karpenter-prod-20250807101112131400000001`, and no role is called `Karpenter-prod`. Karpenter cannot add it to
    /// the instance profile, and the EC2NodeClass never becomes Ready.
    ///
    /// ## Example
    ///
    /// The first document is the call of a module in Terraform's JSON syntax.
    ///
    /// ```yaml
    /// module:
    ///   karpenter:
    ///     source: terraform-aws-modules/eks/aws//modules/karpenter
    ///     cluster_name: prod
    /// ---
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: Karpenter-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// module:
    ///   karpenter:
    ///     source: terraform-aws-modules/eks/aws//modules/karpenter
    ///     cluster_name: prod
    ///     node_iam_role_use_name_prefix: false
    /// ---
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: Karpenter-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    /// ```
    ///
    /// In Terraform, refer to the output `node_iam_role_name` of the module.
    ///
    /// ## References
    ///
    /// - `aws_iam_role.node` in modules/karpenter/main.tf of terraform-aws-modules/terraform-aws-eks at v20.37.2 and v21.9.0;
    ///   `aws_iam_role.karpenter` in main.tf of aws-ia/terraform-aws-eks-blueprints-addons at v1.9.2
    /// - `name_prefix` in website/docs/r/iam_role.html.markdown of hashicorp/terraform-provider-aws
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "`spec.role` lacks the suffix that Terraform appends to the name of the role",
        runs: Runs::OnFiles,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(node) = Ec2NodeClass::of(object).and_then(Ec2NodeClass::role) else { return };
    let Some(role) = node.as_str() else { return };
    let roles = context.inventory.index::<CreatedRoles>();
    let Some(CreatedRole { module, name, all_have_suffix: true }) = roles.get(&role_key(role, node)) else {
        return;
    };
    let label = module.object().name();
    let message = format!(
        "`spec.role` is `{role}`, but Terraform appends a suffix to this name in the module `{label}`, so no role has it; the \
         EC2NodeClass never becomes Ready"
    );
    let help = format!(
        "set `module.{label}.{}` of the configuration to `false`; or refer to the name that the module gives: `{}`",
        module.suffix_argument(),
        module.node_role_reference()
    );
    let finding = Finding::at(&RULE, node, message).help(help);
    findings.push(finding.related(Place::value(name.node), "the name of the role comes from here"));
}

/// A name of a role, and the folder in which it has one meaning: a placeholder has the same value only within one module of Terraform.
fn role_key<'d>(role: &str, node: Node<'d>) -> (String, &'d str) {
    (role.to_owned(), if has_placeholder(role) { folder(node) } else { "" })
}

/// Role that modules create under one name.
#[derive(Debug)]
struct CreatedRole<'d> {
    /// The first of the modules.
    module: KarpenterModule<'d>,
    name: CreatedName<'d>,
    all_have_suffix: bool,
}

struct CreatedRoles;

impl Index for CreatedRoles {
    type Value<'d> = BTreeMap<(String, &'d str), CreatedRole<'d>>;

    fn compute<'d>(inventory: &Inventory<'d>) -> BTreeMap<(String, &'d str), CreatedRole<'d>> {
        let mut roles = BTreeMap::new();
        for module in inventory.index::<KarpenterModules>() {
            let Some(name) = module.node_role() else { continue };
            let (key, has_suffix) = (role_key(&name.text, module.object().root()), name.has_suffix);
            let role =
                roles.entry(key).or_insert(CreatedRole { module: *module, name, all_have_suffix: true });
            role.all_have_suffix &= has_suffix;
        }
        roles
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_in_files, silent};
    use rule::settings::Settings;

    fn class(role: &str) -> String {
        format!(
            "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: a}}\nspec: {{role: '{role}'}}\n"
        )
    }

    fn module(arguments: &str) -> String {
        format!(
            "module:\n  k:\n    source: terraform-aws-modules/eks/aws//modules/karpenter\n    cluster_name: '{arguments}\n---\n"
        )
    }

    #[test]
    fn reports_a_role_whose_name_gets_a_suffix() {
        insta::assert_snapshot!(findings(&RULE, &(module("prod'") + &class("Karpenter-prod"))), @"
          9 | spec: {role: 'Karpenter-prod'}
            |              ^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.role [all]
          `spec.role` is `Karpenter-prod`, but Terraform appends a suffix to this name in the module `k`, so no role has it; the EC2NodeClass never becomes Ready
          help: set `module.k.node_iam_role_use_name_prefix` of the configuration to `false`; or refer to the name that the module gives: `${module.k.node_iam_role_name}`
          see line 4 cluster_name: the name of the role comes from here
        ");
        let named = module("prod'\n    node_iam_role_name: nodes");
        assert!(findings(&RULE, &(named.clone() + &class("nodes"))).contains("warning EC2NodeClass/a"));
        silent(&RULE, &(named + &class("Karpenter-prod")));
        let reference = "${module.eks.cluster_name}";
        let open = module(&format!("{reference}'"));
        let role = class(&format!("Karpenter-{reference}"));
        assert!(findings(&RULE, &(open.clone() + &role)).contains("warning EC2NodeClass/a"));
        let files = [("a/main.yaml", open.as_str()), ("b/class.yaml", role.as_str())];
        assert_eq!(findings_in_files(&RULE, &files, &Settings::default()), "");
    }

    #[test]
    fn refers_to_the_outputs_of_each_module() {
        let addons = "module:\n  addons:\n    source: aws-ia/eks-blueprints-addons/aws\n    enable_karpenter: true\n    cluster_name: prod\n---\n";
        let found = findings(&RULE, &(addons.to_owned() + &class("karpenter-prod")));
        assert!(
            found
                .contains("set `module.addons.karpenter_node.iam_role_use_name_prefix` of the configuration"),
            "{found}"
        );
        assert!(found.contains("`${split(\"/\", module.addons.karpenter.node_iam_role_arn)[1]}`"), "{found}");
    }

    #[test]
    fn accepts_names_without_a_suffix_and_other_roles() {
        let fixed = module("prod'\n    node_iam_role_use_name_prefix: false");
        silent(&RULE, &(fixed.clone() + &class("Karpenter-prod")));
        silent(&RULE, &(module("prod'") + &fixed.replace("  k:", "  l:") + &class("Karpenter-prod")));
        for role in ["Karpenter-prod-2025", "${module.k.node_iam_role_name}", "KarpenterNodeRole-prod"] {
            silent(&RULE, &(module("prod'") + &class(role)));
        }
        silent(&RULE, &(module("prod'\n    create_node_iam_role: false") + &class("Karpenter-prod")));
    }
}
