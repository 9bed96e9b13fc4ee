//! The policy module: its size, the memory of an instance, and the latency of one request in a new instance, beside the
//! accept-all policy.
//!
//! policy-server makes an instance for every request, so each time includes making it. Takes the paths of the two modules,
//! or measures the modules that `make modules` builds.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs};

use flate2::{Compression, write::GzEncoder};
use karpwarden_admit::{FakeCluster, Meter, Module, Request, metadata};
use karpwarden_bench::{Quantity, Row, Table};
use serde_json::{Value, json};

/// Budget of the policy module, in bytes. Official policies have up to 768 KiB.
const RAW: usize = 2 * 1024 * 1024;
/// Budget of the policy module after `gzip -9`, in bytes.
const GZIP: usize = 700 * 1024;

/// Budget of the memory of an instance, in bytes. Kubewarden 1.38 stops an evaluation at twice as much (docs/growing.md).
const MEMORY: usize = 128 * 1024 * 1024;

/// Requests to each module, unless [`ENOUGH`] time passes before.
const PAIRS: usize = 1_000;
/// Time for a case. Fewer pairs are enough where a request takes milliseconds.
const ENOUGH: Duration = Duration::from_secs(3);
/// The least number of requests to each module.
const LEAST: usize = 20;
/// Requests before the measurement, while caches fill and the clock rate rises.
const WARM_UP: usize = 10;

/// A request, and the median time that it may take as a multiple of the accept-all policy's.
struct Case {
    title: &'static str,
    object: Value,
    inventory: Vec<Value>,
    budget: Option<f64>,
}

fn main() -> ExitCode {
    run().unwrap_or_else(|message| {
        eprintln!("{message}");
        ExitCode::from(2)
    })
}

fn run() -> Result<ExitCode, String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    // Cargo adds `--bench`.
    let mut paths = env::args().skip(1).filter(|argument| !argument.starts_with('-'));
    let mut path = |built: &str| paths.next().unwrap_or_else(|| format!("{root}/{built}"));
    let policy = Subject::load(&path("policies/karpenter/annotated-policy.wasm"))?;
    let floor = Subject::load(&path("tools/floor/floor.wasm"))?;
    let mut table = Table::default();
    for (title, bytes, budget) in
        [("policy module", policy.raw, RAW), ("policy module, gzip -9", policy.gzip, GZIP)]
    {
        table.row(Row {
            title,
            value: Quantity::Bytes(bytes),
            reference: "budget",
            of_reference: Quantity::Bytes(budget),
            budget: Some(1.0),
        });
    }
    for case in cases() {
        case.measure(&mut table, &policy, &floor)?;
    }
    for case in cases() {
        case.measure_memory(&mut table, &policy)?;
    }
    Ok(table.finish())
}

fn cases() -> Vec<Case> {
    let with_pools = |count: usize| -> Vec<Value> {
        (0..count).map(|index| node_pool(&format!("pool-{index}"))).chain([node_class(0)]).collect()
    };
    let case = |title, object, inventory, budget| Case { title, object, inventory, budget };
    vec![
        case("NodePool", node_pool("default"), vec![node_class(0)], Some(2.0)),
        case("EC2NodeClass, 8 KiB of userData", node_class(8 << 10), vec![], None),
        case("EC2NodeClass, 1 MB", node_class(1_000_000), vec![], None),
        case("Deployment", deployment(), vec![], None),
        case("Pod, 10 NodePools", pod("my-team"), with_pools(10), None),
        case("Pod, 200 NodePools", pod("my-team"), with_pools(200), Some(4.0)),
        case("Pod, 1,000 NodePools", pod("my-team"), with_pools(1_000), None),
        case("Pod that none of 10 NodePools takes", pod("other"), with_pools(10), None),
        case("Pod that none of 200 NodePools takes", pod("other"), with_pools(200), None),
        case("Pod that none of 1,000 NodePools takes", pod("other"), with_pools(1_000), None),
    ]
}

/// A module under measurement.
struct Subject {
    module: Module,
    meter: Meter,
    metadata: Value,
    raw: usize,
    gzip: usize,
}

impl Subject {
    fn load(path: &str) -> Result<Self, String> {
        let bytes = fs::read(path).map_err(|error| format!("{path}: {error}; `make modules` builds it"))?;
        let module = Module::load(&bytes).map_err(|error| format!("{path}: {error}"))?;
        let meter = Meter::load(&bytes)?;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let gzip = encoder.write_all(&bytes).and_then(|()| encoder.finish());
        let gzip = gzip.map_err(|error| format!("{path}: {error}"))?.len();
        let metadata = metadata::embedded(&bytes).unwrap_or_default();
        Ok(Self { module, meter, metadata, raw: bytes.len(), gzip })
    }

    fn cluster(&self, inventory: &[Value]) -> FakeCluster {
        let granted = metadata::context_aware_resources(&self.metadata);
        FakeCluster::holding(inventory.iter().cloned()).granting(granted)
    }

    fn time(&self, payload: &[u8], cluster: &FakeCluster) -> Result<Duration, String> {
        let start = Instant::now();
        self.module.call("validate", payload, cluster).map_err(|error| error.to_string())?;
        Ok(start.elapsed())
    }
}

impl Case {
    fn measure(&self, table: &mut Table, policy: &Subject, floor: &Subject) -> Result<(), String> {
        let payload = self.payload()?;
        let (policy_cluster, floor_cluster) =
            (policy.cluster(&self.inventory), floor.cluster(&self.inventory));
        let (mut policy_times, mut floor_times) = (Vec::new(), Vec::new());
        let start = Instant::now();
        for pair in 0..WARM_UP + PAIRS {
            if pair >= WARM_UP + LEAST && start.elapsed() > ENOUGH {
                break;
            }
            let of_policy = policy.time(&payload, &policy_cluster)?;
            let of_floor = floor.time(&payload, &floor_cluster)?;
            if pair >= WARM_UP {
                policy_times.push(of_policy);
                floor_times.push(of_floor);
            }
        }
        table.row(Row {
            title: &format!("validate: {}", self.title),
            value: Quantity::Time(median(policy_times)),
            reference: "accept-all",
            of_reference: Quantity::Time(median(floor_times)),
            budget: self.budget,
        });
        Ok(())
    }

    /// The memory of an instance after a request: the most that it had, because memory never shrinks.
    fn measure_memory(&self, table: &mut Table, policy: &Subject) -> Result<(), String> {
        let cost = policy.meter.call("validate", &self.payload()?, &policy.cluster(&self.inventory))?;
        table.row(Row {
            title: &format!("memory: {}", self.title),
            value: Quantity::Bytes(cost.memory),
            reference: "budget",
            of_reference: Quantity::Bytes(MEMORY),
            budget: Some(1.0),
        });
        Ok(())
    }

    fn payload(&self) -> Result<Vec<u8>, String> {
        let request = Request::create(self.object.clone()).to_json().map_err(|error| error.to_string())?;
        Ok(json!({"request": request, "settings": {}}).to_string().into_bytes())
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
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
