//! Resources in AWS that EC2NodeClasses and the controller refer to.

use insta::assert_snapshot;

use crate::shown;

/// The form of `private_subnet_tags` in examples/karpenter/main.tf of terraform-aws-modules/terraform-aws-eks, and of
/// terraform/modules/eks/main.tf of Tharunkn569/eks-karpenter-terraform.
#[test]
fn tags_of_subnets_and_security_groups_are_read() {
    let text = r#"variable "tags" {}
resource "aws_sqs_queue" "karpenter" {}
resource "aws_subnet" "private" {
  count = 2
  tags  = { Name = "a-${count.index}", "karpenter.sh/discovery" = "prod" }
}
resource "aws_subnet" "other" {
  tags = { Name = "b", "kubernetes.io/cluster/${var.name}" = "owned" }
}
resource "aws_security_group" "open" {
  tags = merge(var.tags, { Name = "c" })
}
resource "aws_ec2_tag" "group" {
  resource_id = aws_eks_cluster.this.vpc_config[0].cluster_security_group_id
  key         = "karpenter.sh/discovery"
  value       = aws_eks_cluster.this.name
}
resource "aws_ec2_tag" "subnets" {
  for_each    = toset(module.vpc.private_subnets)
  resource_id = each.value
  key         = "karpenter.sh/discovery"
  value       = "prod"
}
resource "aws_ec2_tag" "unrelated" {
  resource_id = "subnet-1"
  key         = "Name"
  value       = "a"
}
module "vpc" {
  source              = "terraform-aws-modules/vpc/aws"
  tags                = { Terraform = "true" }
  private_subnet_tags = { "karpenter.sh/discovery" = "prod" }
  public_subnet_tags  = { "kubernetes.io/role/elb" = 1 }
}
module "eks" {
  source                   = "terraform-aws-modules/eks/aws"
  tags                     = { "karpenter.sh/discovery" = "all" }
  node_security_group_tags = { "karpenter.sh/discovery" = "prod" }
}
"#;
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:2
    .Resources.karpenter.Type = "AWS::SQS::Queue" @2:1 from "resource \"aws_sqs_queue\" \"karpenter\""
    --- main.tf:3
    .Resources.private.Type = "AWS::EC2::Subnet" @3:1 from "resource \"aws_subnet\" \"private\""
    .Resources.private.Properties.Tags.0.Key = "karpenter.sh/discovery" @5:40
    .Resources.private.Properties.Tags.0.Value = "prod" @5:67
    --- main.tf:10
    .Resources.open.Type = "AWS::EC2::SecurityGroup" @10:1 from "resource \"aws_security_group\" \"open\""
    .Resources.open.Properties.Tags = "${merge(var.tags, { Name = \"c\" })}" @11:10 from "merge(var.tags, { Name = \"c\" })"
    --- main.tf:13
    .Resources.group.Type = "AWS::EC2::SecurityGroup" @13:1 from "resource \"aws_ec2_tag\" \"group\""
    .Resources.group.Properties.Tags.0.Key = "karpenter.sh/discovery" @13:1 from "resource \"aws_ec2_tag\" \"group\""
    .Resources.group.Properties.Tags.0.Value = "${aws_eks_cluster.this.name}" @16:17 from "aws_eks_cluster.this.name"
    --- main.tf:18
    .Resources.subnets.Type = "AWS::EC2::Subnet" @18:1 from "resource \"aws_ec2_tag\" \"subnets\""
    .Resources.subnets.Properties.Tags.0.Key = "karpenter.sh/discovery" @18:1 from "resource \"aws_ec2_tag\" \"subnets\""
    .Resources.subnets.Properties.Tags.0.Value = "prod" @22:17
    --- main.tf:29
    .Resources.vpc.Type = "AWS::EC2::Subnet" @29:1 from "module \"vpc\""
    .Resources.vpc.Properties.Tags.0.Key = "karpenter.sh/discovery" @32:27
    .Resources.vpc.Properties.Tags.0.Value = "prod" @32:54
    --- main.tf:35
    .Resources.eks.Type = "AWS::EC2::SecurityGroup" @35:1 from "module \"eks\""
    .Resources.eks.Properties.Tags.0.Key = "karpenter.sh/discovery" @37:32
    .Resources.eks.Properties.Tags.0.Value = "all" @37:59
    --- main.tf:35
    .Resources.eks.Type = "AWS::EC2::SecurityGroup" @35:1 from "module \"eks\""
    .Resources.eks.Properties.Tags.0.Key = "karpenter.sh/discovery" @38:32
    .Resources.eks.Properties.Tags.0.Value = "prod" @38:59
    "#);
}

/// The form of infra-karpenter/modules/karpenter/sqs.tf of maximiano86/eks-with-karpenter, and of modules/karpenter/main.tf of
/// terraform-aws-modules/terraform-aws-eks.
#[test]
fn rules_of_eventbridge_have_their_targets() {
    let text = r#"resource "aws_sqs_queue" "karpenter_events" {
  name = "karpenter"
}
resource "aws_cloudwatch_event_rule" "karpenter_interruption" {
  event_pattern = jsonencode({
    "source" : ["aws.ec2"],
    "detail-type" : ["AWS Health Event"]
  })
}
resource "aws_cloudwatch_event_target" "karpenter_to_sqs" {
  rule = aws_cloudwatch_event_rule.karpenter_interruption.name
  arn  = aws_sqs_queue.karpenter_events.arn
}
resource "aws_cloudwatch_event_target" "karpenter_to_sns" {
  rule = aws_cloudwatch_event_rule.karpenter_interruption.name
  arn  = aws_sns_topic.karpenter_events.arn
}
locals {
  events = { spot = "EC2 Spot Instance Interruption Warning" }
}
resource "aws_cloudwatch_event_rule" "this" {
  for_each      = local.events
  event_pattern = <<-JSON
    {"source": ["aws.ec2"], "detail-type": ["${each.value}"]}
  JSON
}
resource "aws_cloudwatch_event_target" "this" {
  for_each = local.events
  rule     = aws_cloudwatch_event_rule.this[each.key].name
  arn      = aws_sqs_queue.karpenter_events.arn
}
resource "aws_cloudwatch_event_rule" "backup" {
  event_pattern = jsonencode({ source = ["aws.backup"] })
}
resource "aws_cloudwatch_event_target" "backup" {
  rule = aws_cloudwatch_event_rule.backup.name
  arn  = aws_sns_topic.backup.arn
}
"#;
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:1
    .Resources.karpenter_events.Type = "AWS::SQS::Queue" @1:1 from "resource \"aws_sqs_queue\" \"karpenter_events\""
    .Resources.karpenter_events.Properties.QueueName = "karpenter" @2:10
    --- main.tf:4
    .Resources.karpenter_interruption.Type = "AWS::Events::Rule" @4:1 from "resource \"aws_cloudwatch_event_rule\" \"karpenter_interruption\""
    .Resources.karpenter_interruption.Properties.EventPattern.detail-type.0 = "AWS Health Event" @7:22
    .Resources.karpenter_interruption.Properties.EventPattern.source.0 = "aws.ec2" @6:17
    .Resources.karpenter_interruption.Properties.Targets.0.Arn = "${aws_sqs_queue.karpenter_events.arn}" @12:10 from "aws_sqs_queue.karpenter_events.arn"
    .Resources.karpenter_interruption.Properties.Targets.1.Arn = "${aws_sns_topic.karpenter_events.arn}" @16:10 from "aws_sns_topic.karpenter_events.arn"
    --- main.tf:21
    .Resources.this.Type = "AWS::Events::Rule" @21:1 from "resource \"aws_cloudwatch_event_rule\" \"this\""
    .Resources.this.Properties.EventPattern.detail-type.0 = "EC2 Spot Instance Interruption Warning" @24:45 from "\"${each.value}\""
    .Resources.this.Properties.EventPattern.source.0 = "aws.ec2" @24:17
    .Resources.this.Properties.Targets.0.Arn = "${aws_sqs_queue.karpenter_events.arn}" @30:14 from "aws_sqs_queue.karpenter_events.arn"
    "#);
}

/// The form of modules/iam/main.tf of jasontsaicc/eks-terraform-karpenter, and of main.tf of jmcguffee/tf-module-karpenter.
#[test]
fn instance_profiles_have_the_configured_name_of_their_role() {
    let text = r#"resource "aws_sqs_queue" "karpenter" {}
resource "aws_iam_role" "node" {
  name = "${var.cluster_name}-node"
}
resource "aws_iam_instance_profile" "named" {
  name = "${var.cluster_name}-profile"
  role = aws_iam_role.node.name
}
resource "aws_iam_instance_profile" "unnamed" {
  name_prefix = "a-"
  role        = module.eks.node_role_name
}
"#;
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:1
    .Resources.karpenter.Type = "AWS::SQS::Queue" @1:1 from "resource \"aws_sqs_queue\" \"karpenter\""
    --- main.tf:5
    .Resources.named.Type = "AWS::IAM::InstanceProfile" @5:1 from "resource \"aws_iam_instance_profile\" \"named\""
    .Resources.named.Properties.InstanceProfileName = "${var.cluster_name}-profile" @6:10
    .Resources.named.Properties.Roles.0 = "${var.cluster_name}-node" @7:10 from "aws_iam_role.node.name"
    --- main.tf:9
    .Resources.unnamed.Type = "AWS::IAM::InstanceProfile" @9:1 from "resource \"aws_iam_instance_profile\" \"unnamed\""
    .Resources.unnamed.Properties.Roles.0 = "${module.eks.node_role_name}" @11:17 from "module.eks.node_role_name"
    "#);
}

/// The form of "EKS Addon with configuration values" in `website/docs/r/eks_addon.html.markdown` of hashicorp/terraform-provider-aws.
#[test]
fn settings_of_the_network_plugin_are_read() {
    let text = r#"resource "aws_sqs_queue" "karpenter" {}
resource "aws_eks_addon" "vpc_cni" {
  cluster_name         = "prod"
  addon_name           = "vpc-cni"
  configuration_values = jsonencode({ env = { ENABLE_PREFIX_DELEGATION = "true" } })
}
resource "aws_eks_addon" "text" {
  addon_name           = "vpc-cni"
  configuration_values = <<-JSON
    {"env": {"ENABLE_POD_ENI": "true"}}
  JSON
}
resource "aws_eks_addon" "coredns" {
  addon_name           = "coredns"
  configuration_values = jsonencode({ replicaCount = 2 })
}
module "eks" {
  source = "terraform-aws-modules/eks/aws"
  addons = {
    coredns = {}
    vpc-cni = {
      before_compute       = true
      configuration_values = jsonencode({ env = { AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG = "true" } })
    }
  }
}
"#;
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:1
    .Resources.karpenter.Type = "AWS::SQS::Queue" @1:1 from "resource \"aws_sqs_queue\" \"karpenter\""
    --- main.tf:2
    .Resources.vpc_cni.Type = "AWS::EKS::Addon" @2:1 from "resource \"aws_eks_addon\" \"vpc_cni\""
    .Resources.vpc_cni.Properties.AddonName = "vpc-cni" @4:26
    .Resources.vpc_cni.Properties.ConfigurationValues.env.ENABLE_PREFIX_DELEGATION = "true" @5:74
    --- main.tf:7
    .Resources.text.Type = "AWS::EKS::Addon" @7:1 from "resource \"aws_eks_addon\" \"text\""
    .Resources.text.Properties.AddonName = "vpc-cni" @8:26
    .Resources.text.Properties.ConfigurationValues.env.ENABLE_POD_ENI = "true" @10:32
    --- main.tf:17
    .Resources.eks.Type = "AWS::EKS::Addon" @17:1 from "module \"eks\""
    .Resources.eks.Properties.AddonName = "vpc-cni" @21:5
    .Resources.eks.Properties.ConfigurationValues.env.AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG = "true" @23:88
    "#);
}

/// The arguments of modules/karpenter/variables.tf of terraform-aws-modules/terraform-aws-eks at v21.9.0.
#[test]
fn modules_for_karpenter_have_their_statements_and_broad_policies() {
    let text = r#"module "karpenter" {
  source       = "terraform-aws-modules/eks/aws//modules/karpenter"
  cluster_name = "prod"
  iam_policy_statements = [{
    sid       = "Pass"
    actions   = ["iam:PassRole"]
    resources = ["*"]
    condition = [{ test = "StringEquals", variable = "iam:PassedToService", values = ["ec2.amazonaws.com"] }]
  }]
  node_iam_role_additional_policies = {
    AmazonSSMManagedInstanceCore = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"
    Admin                        = "arn:aws:iam::aws:policy/AdministratorAccess"
  }
  iam_role_policies = { extra = aws_iam_policy.extra.arn }
}
"#;
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:1
    .module.karpenter.source = "terraform-aws-modules/eks/aws//modules/karpenter" @2:18
    .module.karpenter.cluster_name = "prod" @3:18
    .module.karpenter.iam_policy_statements.Statement.0.Effect = "Allow" @4:28 from "{\n    sid       = \"Pass\"\n    actions   = [\"iam:PassRole\"]\n    resources = [\"*\"]\n    condition = [{ test = \"StringEquals\", variable = \"iam:PassedToService\", values = [\"ec2.amazonaws.com\"] }]\n  }"
    .module.karpenter.iam_policy_statements.Statement.0.Action.0 = "iam:PassRole" @6:18
    .module.karpenter.iam_policy_statements.Statement.0.Resource.0 = "*" @7:18
    .module.karpenter.iam_policy_statements.Statement.0.Sid = "Pass" @5:17
    .module.karpenter.iam_policy_statements.Statement.0.Condition.StringEquals.iam:PassedToService.0 = "ec2.amazonaws.com" @8:87
    --- main.tf:1
    .Resources.karpenter-node.Type = "AWS::IAM::Role" @1:1 from "module \"karpenter\""
    .Resources.karpenter-node.Properties.ManagedPolicyArns.0 = "arn:aws:iam::aws:policy/AdministratorAccess" @12:36
    "#);
}
