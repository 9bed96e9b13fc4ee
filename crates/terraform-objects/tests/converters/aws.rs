//! Resources of the provider `aws`.

use insta::assert_snapshot;

use crate::shown;

#[test]
fn policies_are_resources_with_their_documents() {
    let text = r#"data "aws_iam_policy_document" "controller" {
  statement {
    sid       = "Launch"
    actions   = ["ec2:RunInstances"]
    resources = ["*"]
    condition {
      test     = "StringEquals"
      variable = "aws:RequestTag/kubernetes.io/cluster/$${ClusterName}"
      values   = ["owned"]
    }
    condition {
      test     = "StringEquals"
      variable = "aws:RequestTag/eks:eks-cluster-name"
      values   = [module.eks.cluster_name]
    }
  }
}
data "aws_iam_policy_document" "merged" {
  source_policy_documents = [file("x.json")]
}
resource "aws_iam_policy" "karpenter" {
  name   = "karpenter"
  policy = data.aws_iam_policy_document.controller.json
}
resource "aws_iam_role_policy" "b" {
  role   = aws_iam_role.karpenter.name
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "sqs:*", Resource = aws_sqs_queue.a.arn }] })
}
resource "aws_iam_policy" "merged" {
  policy = data.aws_iam_policy_document.merged.json
}
"#;
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:21
    .Resources.karpenter.Type = "AWS::IAM::ManagedPolicy" @21:1 from "resource \"aws_iam_policy\" \"karpenter\""
    .Resources.karpenter.Properties.ManagedPolicyName = "karpenter" @22:12
    .Resources.karpenter.Properties.PolicyDocument.Statement.0.Effect = "Allow" @2:3 from "statement"
    .Resources.karpenter.Properties.PolicyDocument.Statement.0.Sid = "Launch" @3:17
    .Resources.karpenter.Properties.PolicyDocument.Statement.0.Action.0 = "ec2:RunInstances" @4:18
    .Resources.karpenter.Properties.PolicyDocument.Statement.0.Resource.0 = "*" @5:18
    .Resources.karpenter.Properties.PolicyDocument.Statement.0.Condition.StringEquals.aws:RequestTag/kubernetes.io/cluster/${ClusterName}.0 = "owned" @9:19
    .Resources.karpenter.Properties.PolicyDocument.Statement.0.Condition.StringEquals.aws:RequestTag/eks:eks-cluster-name.0 = "${module.eks.cluster_name}" @14:19 from "module.eks.cluster_name"
    --- main.tf:25
    .Resources.b.Type = "AWS::IAM::RolePolicy" @25:1 from "resource \"aws_iam_role_policy\" \"b\""
    .Resources.b.Properties.RoleName = "${aws_iam_role.karpenter.name}" @26:12 from "aws_iam_role.karpenter.name"
    .Resources.b.Properties.PolicyDocument.Statement.0.Action = "sqs:*" @27:67
    .Resources.b.Properties.PolicyDocument.Statement.0.Effect = "Allow" @27:49
    .Resources.b.Properties.PolicyDocument.Statement.0.Resource = "${aws_sqs_queue.a.arn}" @27:87 from "aws_sqs_queue.a.arn"
    --- main.tf:29
    .Resources.merged.Type = "AWS::IAM::ManagedPolicy" @29:1 from "resource \"aws_iam_policy\" \"merged\""
    .Resources.merged.Properties.PolicyDocument.Statement.0.Effect = "Allow" @30:12 from "data.aws_iam_policy_document.merged.json"
    .Resources.merged.Properties.PolicyDocument.Statement.0.Action = "${data.aws_iam_policy_document.merged.json}" @30:12 from "data.aws_iam_policy_document.merged.json"
    .Resources.merged.Properties.PolicyDocument.Statement.0.Resource = "${data.aws_iam_policy_document.merged.json}" @30:12 from "data.aws_iam_policy_document.merged.json"
    "#);
}

#[test]
fn policy_has_the_statements_of_its_sources() {
    let text = r#"data "aws_iam_policy_document" "a" {
  statement { actions = ["sqs:*"] }
  statement {
    sid     = "Replaced"
    actions = ["iam:*"]
  }
}
data "aws_iam_policy_document" "b" {
  source_policy_documents = [data.aws_iam_policy_document.a.json]
  statement { actions = ["ec2:*"] }
  statement {
    sid     = "Replaced"
    actions = ["iam:PassRole"]
  }
}
data "aws_iam_policy_document" "loop" {
  source_policy_documents = [data.aws_iam_policy_document.loop.json]
}
resource "aws_iam_policy" "b" { policy = data.aws_iam_policy_document.b.json }
resource "aws_iam_policy" "loop" { policy = data.aws_iam_policy_document.loop.json }
"#;
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:19
    .Resources.b.Type = "AWS::IAM::ManagedPolicy" @19:1 from "resource \"aws_iam_policy\" \"b\""
    .Resources.b.Properties.PolicyDocument.Statement.0.Effect = "Allow" @2:3 from "statement"
    .Resources.b.Properties.PolicyDocument.Statement.0.Action.0 = "sqs:*" @2:26
    .Resources.b.Properties.PolicyDocument.Statement.1.Effect = "Allow" @11:3 from "statement"
    .Resources.b.Properties.PolicyDocument.Statement.1.Sid = "Replaced" @12:15
    .Resources.b.Properties.PolicyDocument.Statement.1.Action.0 = "iam:PassRole" @13:16
    .Resources.b.Properties.PolicyDocument.Statement.2.Effect = "Allow" @10:3 from "statement"
    .Resources.b.Properties.PolicyDocument.Statement.2.Action.0 = "ec2:*" @10:26
    --- main.tf:20
    .Resources.loop.Type = "AWS::IAM::ManagedPolicy" @20:1 from "resource \"aws_iam_policy\" \"loop\""
    .Resources.loop.Properties.PolicyDocument.Statement.0.Effect = "Allow" @20:45 from "data.aws_iam_policy_document.loop.json"
    .Resources.loop.Properties.PolicyDocument.Statement.0.Action = "${data.aws_iam_policy_document.loop.json}" @20:45 from "data.aws_iam_policy_document.loop.json"
    .Resources.loop.Properties.PolicyDocument.Statement.0.Resource = "${data.aws_iam_policy_document.loop.json}" @20:45 from "data.aws_iam_policy_document.loop.json"
    "#);
}

#[test]
fn associations_and_access_entries_are_resources_of_a_template() {
    let text = r#"resource "aws_eks_pod_identity_association" "a" {
  cluster_name    = module.eks.cluster_name
  namespace       = "kube-system"
  service_account = "karpenter"
  role_arn        = aws_iam_role.controller.arn
}
resource "aws_eks_access_entry" "a" {
  cluster_name  = "prod"
  principal_arn = aws_iam_role.node.arn
  type          = "EC2_LINUX"
  tags          = {}
}
"#;
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:1
    .Resources.a.Type = "AWS::EKS::PodIdentityAssociation" @1:1 from "resource \"aws_eks_pod_identity_association\" \"a\""
    .Resources.a.Properties.ClusterName = "${module.eks.cluster_name}" @2:21 from "module.eks.cluster_name"
    .Resources.a.Properties.Namespace = "kube-system" @3:21
    .Resources.a.Properties.ServiceAccount = "karpenter" @4:21
    .Resources.a.Properties.RoleArn = "${aws_iam_role.controller.arn}" @5:21 from "aws_iam_role.controller.arn"
    --- main.tf:7
    .Resources.a.Type = "AWS::EKS::AccessEntry" @7:1 from "resource \"aws_eks_access_entry\" \"a\""
    .Resources.a.Properties.ClusterName = "prod" @8:19
    .Resources.a.Properties.PrincipalArn = "${aws_iam_role.node.arn}" @9:19 from "aws_iam_role.node.arn"
    .Resources.a.Properties.Type = "EC2_LINUX" @10:19
    "#);
}

#[test]
fn policies_in_here_documents_and_with_unknown_keys_are_read() {
    let text = r#"resource "aws_iam_policy" "a" {
  name   = "karpenter"
  policy = <<-JSON
    {"Statement": [{"Effect": "Allow", "Action": "ec2:*", "Resource": "${aws_sqs_queue.a.arn}"}]}
  JSON
}
resource "aws_iam_role_policy" "b" {
  policy = jsonencode({ Statement = [{ Condition = { StringEquals = { "aws:ResourceTag/${var.tag}" = "owned" } } }] })
}
"#;
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:1
    .Resources.a.Type = "AWS::IAM::ManagedPolicy" @1:1 from "resource \"aws_iam_policy\" \"a\""
    .Resources.a.Properties.ManagedPolicyName = "karpenter" @2:12
    .Resources.a.Properties.PolicyDocument.Statement.0.Action = "ec2:*" @4:50
    .Resources.a.Properties.PolicyDocument.Statement.0.Effect = "Allow" @4:31
    .Resources.a.Properties.PolicyDocument.Statement.0.Resource = "${aws_sqs_queue.a.arn}" @4:71
    --- main.tf:7
    .Resources.b.Type = "AWS::IAM::RolePolicy" @7:1 from "resource \"aws_iam_role_policy\" \"b\""
    .Resources.b.Properties.PolicyDocument.Statement.0.Condition.StringEquals.aws:ResourceTag/${var.tag} = "owned" @8:102
    "#);
}

#[test]
fn modules_for_karpenter_have_their_arguments() {
    let text = r#"module "karpenter" {
  source       = "terraform-aws-modules/eks/aws//modules/karpenter"
  cluster_name = module.eks.cluster_name
  tags         = { a = "b" }
}
module "vpc" {
  source = "terraform-aws-modules/vpc/aws"
}
resource "aws_sqs_queue" "a" {
  name = "jobs"
}
"#;
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:1
    .module.karpenter.source = "terraform-aws-modules/eks/aws//modules/karpenter" @2:18
    .module.karpenter.cluster_name = "${module.eks.cluster_name}" @3:18 from "module.eks.cluster_name"
    --- main.tf:9
    .Resources.a.Type = "AWS::SQS::Queue" @9:1 from "resource \"aws_sqs_queue\" \"a\""
    .Resources.a.Properties.QueueName = "jobs" @10:10
    "#);
}

#[test]
fn modules_of_the_blueprints_install_the_chart() {
    let text = r#"module "addons" {
  source           = "aws-ia/eks-blueprints-addons/aws"
  cluster_name     = "prod"
  enable_karpenter = true
  karpenter = {
    chart_version = "1.6.2"
    values = [yamlencode({ replicas = 1 })]
    set    = [{ name = "settings.x", value = "y" }]
  }
}
module "addon" {
  source        = "aws-ia/eks-blueprints-addon/aws"
  chart         = "karpenter"
  chart_version = "1.6.2"
  values        = ["replicas: 1"]
}
module "off" {
  source    = "aws-ia/eks-blueprints-addons/aws"
  karpenter = { chart_version = "1.6.2" }
}
module "nginx" {
  source = "aws-ia/eks-blueprints-addon/aws"
  chart  = "nginx"
}
"#;
    assert_snapshot!(shown(&[("main.tf", text)], &[]), @r#"
    --- main.tf:1
    .module.addons.source = "aws-ia/eks-blueprints-addons/aws" @2:22
    .module.addons.cluster_name = "prod" @3:22
    .module.addons.enable_karpenter = true @4:22
    --- main.tf:1
    .resource.helm_release.addons.version = "1.6.2" @6:21
    .resource.helm_release.addons.chart = "karpenter" @1:1 from "module \"addons\""
    .resource.helm_release.addons.values.replicas = 1 @7:39
    .resource.helm_release.addons.set.0.name = "settings.x" @8:24
    .resource.helm_release.addons.set.0.value = "y" @8:46
    .resource.helm_release.addons.unevaluated.0 = "${module.addons}" @1:1 from "module \"addons\""
    --- main.tf:11
    .resource.helm_release.addon.chart = "karpenter" @13:19
    .resource.helm_release.addon.version = "1.6.2" @14:19
    .resource.helm_release.addon.values.replicas = 1 @15:31
    --- main.tf:17
    .module.off.source = "aws-ia/eks-blueprints-addons/aws" @18:15
    "#);
}
