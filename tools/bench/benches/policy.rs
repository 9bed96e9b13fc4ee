//! `bench`: size of the policy module, and the latency of one request in a new instance, beside the accept-all policy.
//!
//! Both modules are measured alternately in one run, so that other load on the machine affects both. The budgets are ratios for
//! this reason. Nothing fails on a number: the table marks what is over its budget.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs};

use flate2::{Compression, write::GzEncoder};
use karpwarden_admit::{FakeCluster, Module, Request, metadata};
use serde_json::{Value, json};

const USAGE: &str = "Usage: bench --module POLICY.wasm --floor FLOOR.wasm [--pairs N]";

/// Budget of the policy module, in bytes. Official policies have up to 768 KiB.
const RAW: usize = 2 * 1024 * 1024;
/// Budget of the policy module after `gzip -9`, in bytes.
const GZIP: usize = 700 * 1024;
/// Number of NodePools in the inventory of the second measurement.
const NODE_POOLS: usize = 200;

const PAIRS: usize = 2_000;
/// Requests before the measurement, while caches fill and the clock rate rises.
const WARM_UP: usize = 100;

/// A request, and the median time that it may take as a multiple of the accept-all policy's.
struct Case {
    title: &'static str,
    object: Value,
    inventory: Vec<Value>,
    budget: f64,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let (mut policy, mut floor, mut pairs) = (None, None, PAIRS);
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        match argument.as_str() {
            "--module" => policy = Some(value),
            "--floor" => floor = Some(value),
            "--pairs" => pairs = value.parse().ok().filter(|pairs| *pairs > 0).ok_or(USAGE)?,
            _ => return Err(USAGE.to_owned()),
        }
    }
    let policy = Subject::load(&policy.ok_or(USAGE)?)?;
    let floor = Subject::load(&floor.ok_or(USAGE)?)?;

    let mut table = vec![format!("{:<28}{:>12}{:>12}{:>12}", "", "policy", "accept-all", "budget")];
    let kib = |bytes: usize| format!("{}.{} KiB", bytes / 1024, bytes % 1024 * 10 / 1024);
    for (title, [policy, floor], budget) in
        [("raw size", [policy.raw, floor.raw], RAW), ("gzip -9", [policy.gzip, floor.gzip], GZIP)]
    {
        let verdict = if policy <= budget { "" } else { "  OVER" };
        table.push(format!("{title:<28}{:>12}{:>12}{:>12}{verdict}", kib(policy), kib(floor), kib(budget)));
    }
    let compiled = |subject: &Subject| format!("{} ms", subject.compiled.as_millis());
    table.push(format!("{:<28}{:>12}{:>12}", "compile, once", compiled(&policy), compiled(&floor)));

    let pools = (0..NODE_POOLS).map(|index| node_pool(&format!("pool-{index}"))).chain([node_class()]);
    let cases = [
        Case { title: "NodePool", object: node_pool("default"), inventory: vec![node_class()], budget: 2.0 },
        Case { title: "Pod, 200 NodePools", object: pod(), inventory: pools.collect(), budget: 4.0 },
    ];
    for case in &cases {
        table.extend(case.measure(&policy, &floor, pairs)?);
    }
    table.push(format!("\n{pairs} pairs of CREATE requests for each case, each in a new instance\n"));
    io::stdout().write_all(table.join("\n").as_bytes()).map_err(|error| error.to_string())
}

/// A module under measurement.
struct Subject {
    module: Module,
    metadata: Value,
    raw: usize,
    gzip: usize,
    compiled: Duration,
}

impl Subject {
    fn load(path: &str) -> Result<Self, String> {
        let bytes = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
        let start = Instant::now();
        let module = Module::load(&bytes).map_err(|error| format!("{path}: {error}"))?;
        let compiled = start.elapsed();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let gzip = encoder.write_all(&bytes).and_then(|()| encoder.finish());
        let gzip = gzip.map_err(|error| format!("{path}: {error}"))?.len();
        let metadata = metadata::embedded(&bytes).unwrap_or_default();
        Ok(Self { module, metadata, raw: bytes.len(), gzip, compiled })
    }

    fn time(&self, payload: &[u8], cluster: &FakeCluster) -> Result<Duration, String> {
        let start = Instant::now();
        self.module.call("validate", payload, cluster).map_err(|error| error.to_string())?;
        Ok(start.elapsed())
    }
}

impl Case {
    /// Lines of the table: the times of both modules, and the ratio of their medians.
    fn measure(&self, policy: &Subject, floor: &Subject, pairs: usize) -> Result<Vec<String>, String> {
        let request = Request::create(self.object.clone()).to_json().map_err(|error| error.to_string())?;
        let payload = json!({"request": request, "settings": {}}).to_string().into_bytes();
        let cluster = |subject: &Subject| {
            let granted = metadata::context_aware_resources(&subject.metadata);
            FakeCluster::holding(self.inventory.iter().cloned()).granting(granted)
        };
        let (policy_cluster, floor_cluster) = (cluster(policy), cluster(floor));
        let (mut policy_times, mut floor_times) = (Vec::new(), Vec::new());
        for pair in 0..WARM_UP + pairs {
            // The module that runs first alternates.
            let (of_policy, of_floor) = if pair % 2 == 0 {
                let of_policy = policy.time(&payload, &policy_cluster)?;
                (of_policy, floor.time(&payload, &floor_cluster)?)
            } else {
                let of_floor = floor.time(&payload, &floor_cluster)?;
                (policy.time(&payload, &policy_cluster)?, of_floor)
            };
            if pair >= WARM_UP {
                policy_times.push(of_policy);
                floor_times.push(of_floor);
            }
        }
        policy_times.sort_unstable();
        floor_times.sort_unstable();

        let micros = |duration: Duration| format!("{:.1} µs", duration.as_secs_f64() * 1e6);
        let mut lines = Vec::new();
        for (name, at) in [("min", 0), ("p50", 50), ("p90", 90)] {
            let title = format!("{}, {name}", self.title);
            let (policy, floor) =
                (micros(percentile(&policy_times, at)), micros(percentile(&floor_times, at)));
            lines.push(format!("{title:<28}{policy:>12}{floor:>12}"));
        }
        let ratio = percentile(&policy_times, 50).as_secs_f64() / percentile(&floor_times, 50).as_secs_f64();
        let verdict = if ratio <= self.budget { "" } else { "  OVER" };
        let title = format!("{}, ratio of p50", self.title);
        lines.push(format!(
            "{title:<28}{:>12}{:>12}{:>12}{verdict}",
            format!("{ratio:.2}"),
            "1.00",
            self.budget
        ));
        Ok(lines)
    }
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let index = sorted.len().saturating_sub(1) * percent / 100;
    sorted.get(index).copied().unwrap_or_default()
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

fn node_class() -> Value {
    json!({
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "default"},
        "spec": {
            "role": "KarpenterNodeRole-my-cluster",
            "amiSelectorTerms": [{"alias": "al2023@v20250101"}],
            "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "my-cluster"}}],
            "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": "my-cluster"}}],
        },
    })
}

fn pod() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "nodeSelector": {"kubernetes.io/arch": "amd64", "billing-team": "my-team"},
            "tolerations": [{"key": "example.com/special", "operator": "Exists"}],
            "containers": [{"name": "web", "image": "registry.example/web:1", "resources": {"requests": {"cpu": "1"}}}],
        },
    })
}
