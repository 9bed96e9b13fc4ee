//! Evaluating configurations of Terraform, compared with `hcl-edit`, which parses the same bytes and evaluates nothing.

use std::hint::black_box;
use std::process::ExitCode;

use anyhow::Result;
use hcl_edit::structure::Body;
use karpwarden::manifest::File;
use karpwarden::manifest::limits::Limits;
use karpwarden_bench::{Bench, Comparison, RatioBudget, main_of, time};
use terraform_objects::{NoFilesBeside, OPTIONS_BEFORE_EVALUATION, evaluate};

/// Time for reading and evaluating files, as a multiple of the time for parsing them.
const PARSE: f64 = 3.0;

/// Folders with root modules. Each has five files.
const FOLDERS: usize = 200;

/// Documents of a folder: a node class, two NodePools, a release, the calls of two modules, and the cluster that one of these makes.
const DOCUMENTS: usize = 7;

fn main() -> ExitCode {
    main_of(run)
}

fn run(bench: &mut Bench) -> Result<()> {
    let files: Vec<(String, String)> = (0..FOLDERS).flat_map(root_module).collect();
    let read =
        |(name, text): &(String, String)| File::read(name.as_str(), text.as_str(), OPTIONS_BEFORE_EVALUATION);
    let evaluated = || {
        let mut files: Vec<File> = files.iter().map(read).collect();
        evaluate(&mut files, &NoFilesBeside, &Limits::DEFAULT);
        files
    };
    let documents: usize = evaluated().iter().map(|file| file.documents.len()).sum();
    anyhow::ensure!(documents == FOLDERS * DOCUMENTS, "{documents} documents");
    let parse = || {
        for (_, text) in &files {
            black_box(text.parse::<Body>().is_ok());
        }
    };
    let title = format!("evaluate {} files of Terraform", files.len());
    let comparison = Comparison { title: &title, reference: "hcl-edit", budget: RatioBudget::Later(PARSE) };
    bench.compare(comparison, || time(|| black_box(evaluated())), || time(parse))
}

/// The files of a cluster: a node class in HCL, NodePools in a here-document, a release of the chart, a policy, variables.
fn root_module(index: usize) -> [(String, String); 5] {
    let file = |name: &str, text: &str| {
        (format!("clusters/{index:03}/{name}"), text.replace("INDEX", &index.to_string()))
    };
    [
        file("variables.tf", VARIABLES),
        file("nodeclass.tf", NODE_CLASS),
        file("nodepools.tf", NODE_POOLS),
        file("release.tf", RELEASE),
        file("network.tf", NETWORK),
    ]
}

const VARIABLES: &str = r#"
variable "cluster_name" {
  description = "Name of the cluster"
  type        = string
  default     = "prod-INDEX"
}

variable "tags" {
  type    = map(string)
  default = {}
}

locals {
  region = "eu-west-1"
  azs    = [for letter in ["a", "b", "c"] : "${local.region}${letter}"]
  tags = merge(var.tags, {
    Cluster   = var.cluster_name
    ManagedBy = "terraform"
  })
}

output "cluster_name" {
  value = var.cluster_name
}
"#;

const NODE_CLASS: &str = r#"
resource "kubernetes_manifest" "node_class" {
  manifest = {
    apiVersion = "karpenter.k8s.aws/v1"
    kind       = "EC2NodeClass"
    metadata   = { name = "default" }
    spec = {
      role             = "KarpenterNodeRole-${var.cluster_name}"
      amiSelectorTerms = [{ alias = "al2023@v20250807" }]
      subnetSelectorTerms = [
        { tags = { "karpenter.sh/discovery" = var.cluster_name } },
      ]
      securityGroupSelectorTerms = [
        { tags = { "karpenter.sh/discovery" = var.cluster_name } },
      ]
      blockDeviceMappings = [
        {
          deviceName = "/dev/xvda"
          ebs = {
            volumeSize = "100Gi"
            volumeType = "gp3"
            encrypted  = true
          }
        },
      ]
      tags = local.tags
    }
  }

  depends_on = [helm_release.karpenter]
}
"#;

const NODE_POOLS: &str = r#"
resource "kubectl_manifest" "node_pool" {
  for_each = toset(["spot", "on-demand"])

  yaml_body = <<-YAML
    apiVersion: karpenter.sh/v1
    kind: NodePool
    metadata:
      name: ${each.key}
    spec:
      template:
        metadata:
          labels:
            example.com/cluster: ${var.cluster_name}
        spec:
          nodeClassRef:
            group: karpenter.k8s.aws
            kind: EC2NodeClass
            name: default
          expireAfter: 720h
          requirements:
          - key: karpenter.sh/capacity-type
            operator: In
            values: ["${each.value}"]
          - key: topology.kubernetes.io/zone
            operator: In
            values: ${jsonencode(local.azs)}
          - key: kubernetes.io/arch
            operator: In
            values: [amd64]
      limits:
        cpu: 1000
      disruption:
        consolidationPolicy: WhenEmptyOrUnderutilized
        consolidateAfter: 1m
  YAML

  depends_on = [kubernetes_manifest.node_class]
}
"#;

const RELEASE: &str = r#"
resource "helm_release" "karpenter" {
  namespace        = "kube-system"
  name             = "karpenter"
  repository       = "oci://public.ecr.aws/karpenter"
  chart            = "karpenter"
  version          = "1.6.2"
  create_namespace = false

  values = [
    <<-EOT
    serviceAccount:
      name: karpenter
    settings:
      clusterName: ${var.cluster_name}
      clusterEndpoint: ${module.eks.cluster_endpoint}
      interruptionQueue: ${module.karpenter.queue_name}
    EOT
  ]

  set {
    name  = "replicas"
    value = 2
  }
}

module "karpenter" {
  source       = "terraform-aws-modules/eks/aws//modules/karpenter"
  version      = "~> 21.0"
  cluster_name = module.eks.cluster_name
  tags         = local.tags
}
"#;

const NETWORK: &str = r#"
module "vpc" {
  source  = "terraform-aws-modules/vpc/aws"
  version = "~> 6.0"

  name            = var.cluster_name
  cidr            = "10.0.0.0/16"
  azs             = local.azs
  private_subnets = [for index, zone in local.azs : cidrsubnet("10.0.0.0/16", 4, index)]
  public_subnets  = [for index, zone in local.azs : cidrsubnet("10.0.0.0/16", 8, index + 48)]

  private_subnet_tags = {
    "karpenter.sh/discovery" = var.cluster_name
  }
}

module "eks" {
  source  = "terraform-aws-modules/eks/aws"
  version = "~> 21.0"

  name               = var.cluster_name
  kubernetes_version = "1.33"
  vpc_id             = module.vpc.vpc_id
  subnet_ids         = module.vpc.private_subnets
}
"#;
