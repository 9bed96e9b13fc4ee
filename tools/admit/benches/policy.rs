//! The policy module: its size, the memory of an instance, and the latency of one request in a new instance, beside the
//! accept-all policy.
//!
//! policy-server makes an instance for every request, so each time includes making it. The rows `validate` measure the module
//! alone: the host repeats the bytes of its lists. The rows `end to end` measure a review, from the bytes that the API server sends
//! to the bytes that it gets, with a host that writes each list as policy-server does; HTTP and TLS come on top for both sides.
//! Measures the modules that `make modules` builds.

use std::fs;
use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use flate2::{Compression, write::GzEncoder};
use karpwarden::manifest::{Document, File};
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden_admit::published::PublishedPolicy;
use karpwarden_admit::{CallFailure, FakeCluster, Meter, Policy, PolicyModule, Request, metadata};
use karpwarden_bench::{Bench, Comparison, RatioBudget, main_of, time};
use serde_json::{Value, json};

/// Budget of the policy module, in bytes.
const RAW: usize = 3 * 1024 * 1024;
/// Budget of the policy module after `gzip -9`, in bytes. Official policies have up to 768 KiB.
const GZIP: usize = 1024 * 1024;

/// Budget of the memory of an instance, in bytes. Kubewarden 1.38 stops an evaluation at twice as much (docs/growing.md).
const MEMORY: usize = 128 * 1024 * 1024;

/// A request, and the time that it may take as a multiple of the accept-all policy's.
struct Case {
    title: &'static str,
    object: Value,
    inventory: Vec<Value>,
    budget: RatioBudget,
}

fn main() -> ExitCode {
    main_of(run)
}

fn run(bench: &mut Bench) -> Result<()> {
    let policy = Subject::load("policies/karpenter/annotated-policy.wasm")?;
    let floor = Subject::load("tools/floor/floor.wasm")?;
    for (title, bytes, budget) in
        [("policy module", policy.raw, RAW), ("policy module, gzip -9", policy.gzip, GZIP)]
    {
        bench.sizes(
            Comparison { title, reference: "budget", budget: RatioBudget::Limit(1.0) },
            [bytes, budget],
        );
    }
    for case in cases() {
        case.measure(bench, &policy, &floor)?;
    }
    for case in cases() {
        case.measure_memory(bench, &policy)?;
    }
    let accept_all = Policy::new(floor.module.clone());
    for reviewed in reviewed_cases(&policy.module)? {
        reviewed.measure(bench, &policy, (&floor, &accept_all))?;
    }
    Ok(())
}

/// The objects of a cluster with some NodePools.
fn with_pools(count: usize) -> Vec<Value> {
    (0..count).map(|index| stored(node_pool(&format!("pool-{index}")))).chain([node_class(0)]).collect()
}

/// An object with the metadata that the API server and Karpenter add. A list has them whatever fields a policy asks for.
fn stored(mut object: Value) -> Value {
    let added = [
        ("uid", json!("5f2cd2b4-5d0e-4a8e-9f0e-0d6a5a3d7c11")),
        ("resourceVersion", json!("184467")),
        ("generation", json!(3)),
        ("creationTimestamp", json!("2026-03-11T10:30:00Z")),
        (
            "annotations",
            json!({"karpenter.sh/nodepool-hash": "12345678901234567890", "karpenter.sh/nodepool-hash-version": "v3"}),
        ),
    ];
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.extend(added.map(|(key, value)| (key.to_owned(), value)));
    }
    object
}

/// A review end to end, and the time that it may take as a multiple of the accept-all policy's.
struct ReviewedCase {
    title: String,
    object: Value,
    pools: usize,
    policy: Policy,
    budget: RatioBudget,
}

/// The reviews with the default settings, and with the settings of the published policies.
fn reviewed_cases(module: &PolicyModule) -> Result<Vec<ReviewedCase>> {
    let checking_all = Policy::new(module.clone());
    let case = |title: &str, object: Value, pools: usize, policy: &Policy, budget| ReviewedCase {
        title: format!("end to end: {title}"),
        object,
        pools,
        policy: policy.clone(),
        budget,
    };
    let mut cases = vec![
        case("NodePool", node_pool("default"), 1, &checking_all, RatioBudget::None),
        case("EC2NodeClass, 8 KiB of userData", node_class(8 << 10), 1, &checking_all, RatioBudget::None),
        case("Deployment", deployment(), 1, &checking_all, RatioBudget::None),
    ];
    for pools in [10, 30, 100, 200, 1_000] {
        let budget = match pools {
            200 => RatioBudget::Later(2.0),
            1_000 => RatioBudget::Later(4.0),
            _ => RatioBudget::None,
        };
        let count = if pools == 1_000 { "1,000".to_owned() } else { pools.to_string() };
        let taken = format!("Pod, {count} NodePools");
        cases.push(case(&taken, pod("my-team"), pools, &checking_all, budget));
        let lost = format!("Pod that none of {count} NodePools takes");
        cases.push(case(&lost, pod("other"), pools, &checking_all, budget));
    }
    let (pods, workloads) = (published("pods", module)?, published("workloads", module)?);
    let title = "Pod, 1,000 NodePools, karpwarden-pods";
    cases.push(case(title, pod("my-team"), 1_000, pods.policy(), RatioBudget::None));
    let title = "Deployment, 200 NodePools, karpwarden-workloads";
    cases.push(case(title, selecting_deployment(), 200, workloads.policy(), RatioBudget::None));
    let title = "Deployment, 1,000 NodePools, karpwarden-workloads";
    cases.push(case(title, selecting_deployment(), 1_000, workloads.policy(), RatioBudget::None));
    Ok(cases)
}

/// A published policy.
fn published(name: &str, module: &PolicyModule) -> Result<PublishedPolicy> {
    let path = format!("{}/../../policies/karpenter/kustomize/base/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).with_context(|| path.clone())?;
    let file = File::read("policy.yaml", text, READ_OPTIONS);
    let trees = file.documents.iter().filter_map(|document| match document {
        Document::Read(tree) => Some(tree.root().to_json()),
        _ => None,
    });
    let mut policies = trees.filter_map(|manifest| PublishedPolicy::of(&manifest, module).transpose());
    policies.next().with_context(|| path)?
}

impl ReviewedCase {
    fn measure(&self, bench: &mut Bench, policy: &Subject, floor: (&Subject, &Policy)) -> Result<()> {
        let (floor, accept_all) = floor;
        let request = Request::create(self.object.clone()).to_json()?;
        let review =
            json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
        let review = review.to_string();
        let inventory = with_pools(self.pools);
        let (of_policy, of_floor) = (policy.cluster(&inventory), floor.cluster(&inventory));
        let answer = answer_to(&self.policy, &review, &of_policy)?;
        assert!(!answer.contains("internal server error"), "{}: {answer}", self.title);
        let answered =
            |policy: &Policy, cluster: &FakeCluster| assert!(answer_to(policy, &review, cluster).is_ok());
        bench.compare(
            Comparison { title: &self.title, reference: "accept-all", budget: self.budget },
            || time(|| answered(&self.policy, &of_policy)),
            || time(|| answered(accept_all, &of_floor)),
        )
    }
}

/// The review that the API server gets for a review.
fn answer_to(policy: &Policy, review: &str, cluster: &FakeCluster) -> Result<String> {
    let mut review: Value = serde_json::from_str(review)?;
    let request = review.get_mut("request").map(Value::take).context("no request")?;
    let response = policy.review(&request, cluster);
    let answer =
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
    Ok(serde_json::to_string(&answer)?)
}

fn cases() -> Vec<Case> {
    let case = |title, object, inventory, budget| Case { title, object, inventory, budget };
    vec![
        case("NodePool", node_pool("default"), vec![node_class(0)], RatioBudget::Later(1.5)),
        case("EC2NodeClass, 8 KiB of userData", node_class(8 << 10), vec![], RatioBudget::None),
        case("EC2NodeClass, 1 MB", node_class(1_000_000), vec![], RatioBudget::None),
        case("Deployment", deployment(), vec![], RatioBudget::None),
        case("Pod, 10 NodePools", pod("my-team"), with_pools(10), RatioBudget::None),
        case("Pod, 200 NodePools", pod("my-team"), with_pools(200), RatioBudget::Later(4.0)),
        case("Pod, 1,000 NodePools", pod("my-team"), with_pools(1_000), RatioBudget::Later(8.0)),
        case("Pod that none of 10 NodePools takes", pod("other"), with_pools(10), RatioBudget::None),
        case("Pod that none of 200 NodePools takes", pod("other"), with_pools(200), RatioBudget::Later(4.0)),
        case(
            "Pod that none of 1,000 NodePools takes",
            pod("other"),
            with_pools(1_000),
            RatioBudget::Later(8.0),
        ),
    ]
}

/// A module under measurement.
struct Subject {
    module: PolicyModule,
    meter: Meter,
    metadata: Value,
    raw: usize,
    gzip: usize,
}

impl Subject {
    fn load(path: &str) -> Result<Self> {
        let path = &format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
        let bytes = fs::read(path).with_context(|| format!("{path}, which `make modules` builds"))?;
        let module = PolicyModule::load(&bytes).with_context(|| path.clone())?;
        let meter = Meter::load(&bytes)?;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let gzip = encoder.write_all(&bytes).and_then(|()| encoder.finish())?.len();
        let metadata = metadata::embedded(&bytes).unwrap_or_default();
        Ok(Self { module, meter, metadata, raw: bytes.len(), gzip })
    }

    fn cluster(&self, inventory: &[Value]) -> FakeCluster {
        let granted = metadata::context_aware_resources(&self.metadata);
        FakeCluster::holding(inventory.iter().cloned()).granting(granted)
    }

    fn validate(&self, payload: &[u8], cluster: &FakeCluster) -> Result<Vec<u8>, CallFailure> {
        self.module.call("validate", payload, cluster)
    }
}

impl Case {
    fn measure(&self, bench: &mut Bench, policy: &Subject, floor: &Subject) -> Result<()> {
        let payload = self.payload()?;
        let of_policy = policy.cluster(&self.inventory).repeating();
        let of_floor = floor.cluster(&self.inventory).repeating();
        policy.validate(&payload, &of_policy)?;
        floor.validate(&payload, &of_floor)?;
        let title = format!("validate: {}", self.title);
        bench.compare(
            Comparison { title: &title, reference: "accept-all", budget: self.budget },
            || time(|| assert!(policy.validate(&payload, &of_policy).is_ok(), "{title}")),
            || time(|| assert!(floor.validate(&payload, &of_floor).is_ok(), "{title}")),
        )
    }

    /// The memory of an instance after a request: the most that it had, because memory never shrinks.
    fn measure_memory(&self, bench: &mut Bench, policy: &Subject) -> Result<()> {
        let cost = policy.meter.call("validate", &self.payload()?, &policy.cluster(&self.inventory))?;
        let title = format!("memory: {}", self.title);
        let comparison = Comparison { title: &title, reference: "budget", budget: RatioBudget::Limit(1.0) };
        bench.sizes(comparison, [cost.memory, MEMORY]);
        Ok(())
    }

    fn payload(&self) -> Result<Vec<u8>> {
        let request = Request::create(self.object.clone()).to_json()?;
        Ok(json!({"request": request, "settings": {}}).to_string().into_bytes())
    }
}

/// A typical NodePool: the one of Karpenter's getting-started guide, with a budget, a taint and a weight.
fn node_pool(name: &str) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name, "labels": {"team": "platform"}},
        "spec": {
            "weight": 10,
            "template": {
                "metadata": {"labels": {"billing-team": "my-team"}},
                "spec": {
                    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                    "taints": [{"key": "example.com/special", "effect": "NoSchedule"}],
                    "expireAfter": "720h",
                    "requirements": [
                        {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
                        {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]},
                        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"]},
                        {"key": "karpenter.k8s.aws/instance-category", "operator": "In", "values": ["c", "m", "r"]},
                        {"key": "karpenter.k8s.aws/instance-generation", "operator": "Gt", "values": ["2"]},
                    ],
                },
            },
            "limits": {"cpu": "1000", "memory": "1000Gi"},
            "disruption": {
                "consolidationPolicy": "WhenEmptyOrUnderutilized",
                "consolidateAfter": "1m",
                "budgets": [{"nodes": "10%"}, {"nodes": "0", "schedule": "0 9 * * mon-fri", "duration": "8h"}],
            },
        },
    })
}

/// A node class with some bytes of user data.
fn node_class(user_data: usize) -> Value {
    let script = format!("#!/bin/bash\n{}", "echo configured\n".repeat(user_data / 16));
    json!({
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "default"},
        "spec": {
            "userData": script,
            "role": "KarpenterNodeRole-my-cluster",
            "amiSelectorTerms": [{"alias": "al2023@v20250101"}],
            "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "my-cluster"}}],
            "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": "my-cluster"}}],
        },
    })
}

fn pod(team: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "nodeSelector": {"kubernetes.io/arch": "amd64", "billing-team": team},
            "tolerations": [{"key": "example.com/special", "operator": "Exists"}],
            "containers": [{"name": "web", "image": "registry.example/web:1", "resources": {"requests": {"cpu": "1"}}}],
        },
    })
}

/// The Deployment with the node selector of a pod that a NodePool takes.
fn selecting_deployment() -> Value {
    let mut deployment = deployment();
    if let Some(spec) = deployment.pointer_mut("/spec/template/spec").and_then(Value::as_object_mut) {
        let of_pod = pod("my-team");
        for key in ["nodeSelector", "tolerations"] {
            spec.extend(of_pod.pointer(&format!("/spec/{key}")).map(|value| (key.to_owned(), value.clone())));
        }
    }
    deployment
}

fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "topologySpreadConstraints": [{
                        "maxSkew": 1,
                        "topologyKey": "topology.kubernetes.io/zone",
                        "whenUnsatisfiable": "ScheduleAnyway",
                        "labelSelector": {"matchLabels": {"app": "web"}},
                    }],
                    "containers": [{
                        "name": "web",
                        "image": "registry.example/web:1",
                        "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
                    }],
                },
            },
        },
    })
}
