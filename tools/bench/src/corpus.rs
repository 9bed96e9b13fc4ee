//! Manifests with the shapes that people publish: kinds, sizes, fields, comments, user data and budgets.
//!
//! The shares were counted in 601 files from public repositories (November 2026): 339 NodePools, 180 EC2NodeClasses and 240 objects of other
//! kinds. Half of the NodePools have less than 820 bytes, and one in ten more than 2,000. Nothing of the files is copied.

use std::fmt::Write as _;
use std::ops::Range;

use fastrand::Rng;

/// Valid manifests of one cluster, the same for each number.
pub fn documents(count: usize) -> Vec<String> {
    let mut random = Rng::with_seed(1);
    let shares: Vec<usize> = (0..count).map(|_| random.usize(0..1_000)).collect();
    let is_class = |index: &usize| shares.get(*index).is_some_and(|share| NODE_CLASSES.contains(share));
    let classes: Vec<usize> = (0..count).filter(is_class).collect();
    let numbered = shares.iter().enumerate();
    numbered.map(|(index, share)| document(index, *share, &classes, &mut random)).collect()
}

/// The share of EC2NodeClasses, in thousandths.
const NODE_CLASSES: Range<usize> = 440..675;

fn document(index: usize, share: usize, classes: &[usize], random: &mut Rng) -> String {
    let mut text = match share {
        0..440 => node_pool(index, classes, random),
        share if NODE_CLASSES.contains(&share) => node_class(index, random),
        675..770 => workload("apps/v1", "Deployment", index, random),
        770..812 => workload("v1", "Pod", index, random),
        812..848 => node_overlay(index, random),
        848..878 => storage_class(index, random),
        878..900 => workload("batch/v1", "Job", index, random),
        900..920 => service(index),
        920..950 => cluster_role(index, random),
        950..970 => role_binding(index),
        970..980 => disruption_budget(index),
        _ => claim(index),
    };
    text.push_str("---\n");
    text
}

/// Whether something with a share of some percent is there.
fn has(random: &mut Rng, percent: u32) -> bool {
    random.u32(0..100) < percent
}

fn one_of(random: &mut Rng, words: &[&'static str]) -> &'static str {
    random.choice(words).copied().unwrap_or_default()
}

/// Comments: a quarter of the documents have more than five lines of them, half of them none.
fn comments(text: &mut String, random: &mut Rng, indent: usize) {
    if has(random, 12) {
        for _ in 0..random.usize(1..4) {
            let what = one_of(
                random,
                &[
                    "The team pays for these nodes from its own budget",
                    "Keep in step with the other clusters: the pipeline compares both files before a release",
                    "Spot first, because most of the pods here can be interrupted",
                    "Old value, until the migration is done",
                ],
            );
            let _ = writeln!(text, "{:indent$}# {what}", "");
        }
    }
}

fn head(api_version: &str, kind: &str, name: &str) -> String {
    format!("apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: {name}\n")
}

fn node_pool(index: usize, classes: &[usize], random: &mut Rng) -> String {
    let mut text = String::new();
    comments(&mut text, random, 0);
    text.push_str(&head("karpenter.sh/v1", "NodePool", &format!("pool-{index}")));
    if has(random, 15) {
        text.push_str("  annotations:\n    example.com/owner: platform\n");
    }
    text.push_str("spec:\n");
    if has(random, 17) {
        let _ = writeln!(text, "  weight: {}", random.usize(1..100));
    }
    text.push_str("  template:\n");
    if has(random, 58) {
        let _ = writeln!(text, "    metadata:\n      labels:\n        example.com/team: team-{}", index % 40);
        if has(random, 40) {
            text.push_str("        example.com/purpose: general\n");
        }
    }
    text.push_str("    spec:\n");
    comments(&mut text, random, 6);
    text.push_str("      requirements:\n");
    requirements(&mut text, random);
    let _ = writeln!(
        text,
        "      nodeClassRef:\n        group: karpenter.k8s.aws\n        kind: EC2NodeClass\n        name: class-{}",
        random.choice(classes).copied().unwrap_or_default()
    );
    if has(random, 36) {
        taint(&mut text, random);
    }
    if has(random, 7) {
        text.push_str("      startupTaints:\n        - key: node.cilium.io/agent-not-ready\n          value: \"true\"\n          effect: NoExecute\n");
    }
    if has(random, 25) {
        text.push_str("      expireAfter: 720h\n");
    }
    if has(random, 5) {
        text.push_str("      terminationGracePeriod: 48h\n");
    }
    if has(random, 77) {
        let _ = writeln!(text, "  limits:\n    cpu: {}", random.usize(1..20) * 50);
        if has(random, 60) {
            let _ = writeln!(text, "    memory: {}Gi", random.usize(1..20) * 200);
        }
    }
    if has(random, 85) {
        disruption(&mut text, random);
    }
    text
}

fn requirements(text: &mut String, random: &mut Rng) {
    type Requirement = (u32, &'static str, &'static str, &'static [&'static str]);
    const REQUIREMENTS: [Requirement; 10] = [
        (85, "karpenter.sh/capacity-type", "In", &["spot", "on-demand"]),
        (65, "kubernetes.io/arch", "In", &["amd64", "arm64"]),
        (38, "kubernetes.io/os", "In", &["linux"]),
        (36, "karpenter.k8s.aws/instance-category", "In", &["m", "c", "r"]),
        (26, "karpenter.k8s.aws/instance-generation", "Gt", &["4"]),
        (
            24,
            "node.kubernetes.io/instance-type",
            "In",
            &["m5.large", "m5.xlarge", "m6i.large", "m6i.xlarge", "c6i.xlarge", "c6i.2xlarge", "r6i.large"],
        ),
        (18, "karpenter.k8s.aws/instance-family", "In", &["m5", "m6i", "m7i", "c6i", "r6i"]),
        (16, "karpenter.k8s.aws/instance-size", "NotIn", &["nano", "micro", "small"]),
        (16, "topology.kubernetes.io/zone", "In", &["eu-west-1a", "eu-west-1b", "eu-west-1c"]),
        (10, "karpenter.k8s.aws/instance-cpu", "In", &["2", "4", "8", "16"]),
    ];
    let mut count = 0;
    for (percent, key, operator, values) in REQUIREMENTS {
        let is_needed = count == 0 && key.ends_with("cpu");
        if !has(random, percent) && !is_needed {
            continue;
        }
        count += 1;
        comments(text, random, 8);
        let _ = writeln!(text, "        - key: {key}\n          operator: {operator}");
        let most = if operator == "Gt" { 1 } else { values.len() };
        let values: Vec<String> =
            values.iter().take(random.usize(1..=most)).map(|value| format!("\"{value}\"")).collect();
        if has(random, 60) {
            let _ = writeln!(text, "          values: [{}]", values.join(", "));
        } else {
            text.push_str("          values:\n");
            for value in values {
                let _ = writeln!(text, "            - {value}");
            }
        }
    }
}

fn taint(text: &mut String, random: &mut Rng) {
    let key = one_of(random, &["example.com/dedicated", "nvidia.com/gpu", "example.com/batch"]);
    let _ = writeln!(
        text,
        "      taints:\n        - key: {key}\n          value: \"true\"\n          effect: NoSchedule"
    );
}

fn disruption(text: &mut String, random: &mut Rng) {
    text.push_str("  disruption:\n");
    comments(text, random, 4);
    let policy = one_of(random, &["WhenEmptyOrUnderutilized", "WhenEmptyOrUnderutilized", "WhenEmpty"]);
    let _ =
        writeln!(text, "    consolidationPolicy: {policy}\n    consolidateAfter: {}m", random.usize(1..15));
    if has(random, 22) {
        text.push_str("    budgets:\n      - nodes: 10%\n");
        if has(random, 35) {
            text.push_str("      - nodes: \"0\"\n        schedule: \"0 9 * * mon-fri\"\n        duration: 8h\n        reasons: [Underutilized]\n");
        }
    }
}

fn node_class(index: usize, random: &mut Rng) -> String {
    let mut text = String::new();
    comments(&mut text, random, 0);
    text.push_str(&head("karpenter.k8s.aws/v1", "EC2NodeClass", &format!("class-{index}")));
    text.push_str("spec:\n");
    let has_user_data = has(random, 33);
    if has_user_data || has(random, 50) {
        text.push_str("  amiFamily: AL2023\n");
    }
    comments(&mut text, random, 2);
    text.push_str("  amiSelectorTerms:\n    - alias: al2023@v20250807\n");
    if has(random, 89) {
        text.push_str("  role: KarpenterNodeRole-example\n");
    } else {
        text.push_str("  instanceProfile: KarpenterNodeInstanceProfile-example\n");
    }
    for terms in ["subnetSelectorTerms", "securityGroupSelectorTerms"] {
        comments(&mut text, random, 2);
        let _ = writeln!(text, "  {terms}:\n    - tags:\n        karpenter.sh/discovery: example");
    }
    if has(random, 49) {
        let _ = writeln!(
            text,
            "  blockDeviceMappings:\n    - deviceName: /dev/xvda\n      ebs:\n        volumeSize: {}Gi\n        volumeType: gp3\n        encrypted: true\n        deleteOnTermination: true",
            random.usize(2..40) * 10
        );
    }
    if has(random, 44) {
        text.push_str("  tags:\n");
        for tag in
            ["team: platform", "environment: production", "managed-by: git"].iter().take(random.usize(1..4))
        {
            let _ = writeln!(text, "    {tag}");
        }
    }
    if has(random, 19) {
        text.push_str("  metadataOptions:\n    httpEndpoint: enabled\n    httpPutResponseHopLimit: 2\n    httpTokens: required\n");
    }
    if has(random, 5) {
        text.push_str("  kubelet:\n    maxPods: 110\n    clusterDNS: [\"10.100.0.10\"]\n");
    }
    if has_user_data {
        user_data(&mut text, random);
    }
    text
}

/// User data: 470 bytes at the median, 3,900 in one of thirty.
fn user_data(text: &mut String, random: &mut Rng) {
    text.push_str("  userData: |\n");
    let commands = 1 << random.u32(1..6);
    if has(random, 40) {
        text.push_str("    MIME-Version: 1.0\n    Content-Type: multipart/mixed; boundary=\"BOUNDARY\"\n\n    --BOUNDARY\n    Content-Type: application/node.eks.aws\n\n    apiVersion: node.eks.aws/v1alpha1\n    kind: NodeConfig\n    spec:\n      kubelet:\n        config:\n          imageGCHighThresholdPercent: 75\n          imageGCLowThresholdPercent: 65\n        flags:\n          - --v=2\n\n    --BOUNDARY\n    Content-Type: text/x-shellscript; charset=\"us-ascii\"\n\n");
        script(text, random, commands);
        text.push_str("\n    --BOUNDARY--\n");
    } else {
        script(text, random, commands);
    }
}

fn script(text: &mut String, random: &mut Rng, commands: u32) {
    text.push_str("    #!/bin/bash\n    set -o errexit\n");
    for number in 0..commands {
        comments(text, random, 4);
        let command = one_of(
            random,
            &[
                "sysctl -w net.core.somaxconn=4096",
                "mkdir -p /var/lib/example && chmod 700 /var/lib/example",
                "echo 'vm.max_map_count=262144' >> /etc/sysctl.d/90-example.conf",
                "systemctl restart containerd",
                "yum install -y amazon-ssm-agent",
                "if [ -b /dev/nvme1n1 ]; then mkfs.xfs -f /dev/nvme1n1; fi",
            ],
        );
        let _ = writeln!(text, "    {command} # step {number}");
    }
}

fn node_overlay(index: usize, random: &mut Rng) -> String {
    let mut text = head("karpenter.sh/v1alpha1", "NodeOverlay", &format!("overlay-{index}"));
    let _ = writeln!(text, "spec:\n  weight: {}", index % 10_000 + 1);
    comments(&mut text, random, 2);
    text.push_str("  requirements:\n    - key: karpenter.k8s.aws/instance-family\n      operator: In\n      values: [m6i, m7i]\n");
    let _ = writeln!(text, "  priceAdjustment: \"-{}%\"", random.usize(1..30));
    text
}

fn workload(api_version: &str, kind: &str, index: usize, random: &mut Rng) -> String {
    let mut text = head(api_version, kind, &format!("web-{index}"));
    let _ = writeln!(text, "  namespace: shop\n  labels:\n    app: web-{index}");
    let indent = match kind {
        "Pod" => 0,
        "Deployment" => {
            let replicas = random.usize(1..6);
            let _ = writeln!(
                text,
                "spec:\n  replicas: {replicas}\n  selector:\n    matchLabels:\n      app: web-{index}\n  template:\n    metadata:\n      labels:\n        app: web-{index}"
            );
            4
        }
        _ => {
            text.push_str("spec:\n  template:\n");
            4
        }
    };
    for line in pod_spec(kind, index, random).lines() {
        let _ = writeln!(text, "{:indent$}{line}", "");
    }
    text
}

fn pod_spec(kind: &str, index: usize, random: &mut Rng) -> String {
    let mut text = "spec:\n".to_owned();
    if kind == "Job" {
        text.push_str("  restartPolicy: Never\n");
    }
    if has(random, 60) {
        let _ = writeln!(text, "  nodeSelector:\n    example.com/team: team-{}", index % 40);
    }
    if has(random, 33) {
        text.push_str("  tolerations:\n    - key: example.com/dedicated\n      operator: Equal\n      value: \"true\"\n      effect: NoSchedule\n");
    }
    if kind == "Deployment" && has(random, 20) {
        let _ = writeln!(
            text,
            "  topologySpreadConstraints:\n    - maxSkew: 1\n      topologyKey: topology.kubernetes.io/zone\n      whenUnsatisfiable: ScheduleAnyway\n      labelSelector:\n        matchLabels:\n          app: web-{index}"
        );
    }
    text.push_str("  containers:\n    - name: web\n      image: registry.example/web:1.0\n");
    if has(random, 40) {
        text.push_str("      ports:\n        - name: http\n          containerPort: 8080\n");
    }
    if has(random, 50) {
        text.push_str("      env:\n");
        for number in 0..random.usize(1..12) {
            let _ =
                writeln!(text, "        - name: SETTING_{number}\n          value: \"{}\"", random.u32(..));
        }
    }
    let _ = writeln!(
        text,
        "      resources:\n        requests:\n          cpu: {}m\n          memory: {}Mi\n        limits:\n          memory: 512Mi",
        random.usize(1..10) * 50,
        random.usize(1..4) * 128
    );
    if has(random, 30) {
        text.push_str("      volumeMounts:\n        - name: data\n          mountPath: /data\n  volumes:\n    - name: data\n      emptyDir: {}\n");
    }
    text
}

fn storage_class(index: usize, random: &mut Rng) -> String {
    let mut text = head("storage.k8s.io/v1", "StorageClass", &format!("storage-{index}"));
    comments(&mut text, random, 0);
    text.push_str("provisioner: ebs.csi.aws.com\nvolumeBindingMode: WaitForFirstConsumer\nparameters:\n  type: gp3\n  encrypted: \"true\"\n");
    text
}

fn service(index: usize) -> String {
    let mut text = head("v1", "Service", &format!("web-{index}"));
    let _ = writeln!(
        text,
        "  namespace: shop\nspec:\n  selector:\n    app: web-{index}\n  ports:\n    - port: 80\n      targetPort: http"
    );
    text
}

fn cluster_role(index: usize, random: &mut Rng) -> String {
    let mut text = head("rbac.authorization.k8s.io/v1", "ClusterRole", &format!("reader-{index}"));
    text.push_str("rules:\n");
    for resource in ["nodes", "pods", "events", "nodepools"].iter().take(random.usize(1..5)) {
        let _ = writeln!(
            text,
            "  - apiGroups: [\"\"]\n    resources: [\"{resource}\"]\n    verbs: [\"get\", \"list\", \"watch\"]"
        );
    }
    text
}

fn role_binding(index: usize) -> String {
    let mut text = head("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", &format!("reader-{index}"));
    let _ = writeln!(
        text,
        "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: reader-{index}\nsubjects:\n  - kind: ServiceAccount\n    name: reader\n    namespace: shop"
    );
    text
}

fn disruption_budget(index: usize) -> String {
    let mut text = head("policy/v1", "PodDisruptionBudget", &format!("web-{index}"));
    let _ = writeln!(
        text,
        "  namespace: shop\nspec:\n  maxUnavailable: 1\n  selector:\n    matchLabels:\n      app: web-{index}"
    );
    text
}

fn claim(index: usize) -> String {
    let mut text = head("v1", "PersistentVolumeClaim", &format!("data-{index}"));
    text.push_str("  namespace: shop\nspec:\n  accessModes: [ReadWriteOnce]\n  storageClassName: gp3\n  resources:\n    requests:\n      storage: 20Gi\n");
    text
}
