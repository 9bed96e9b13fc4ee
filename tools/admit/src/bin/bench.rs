//! `bench`: the policy module beside the accept-all floor: size, and the latency of one request in a fresh instance.
//!
//! Both are measured in one run, in turns, so that a busy machine is busy for both; what counts is the ratio. Nothing
//! fails on a number: the table says what is over its budget.

use std::{
    env, fs,
    io::{self, Write as _},
    process::ExitCode,
    time::{Duration, Instant},
};

use flate2::{Compression, write::GzEncoder};
use karpwarden_admit::{Cluster, Module, Request, metadata};
use serde_json::{Value, json};

const USAGE: &str = "Usage: bench --module POLICY.wasm --floor FLOOR.wasm [--pairs N]";

// The budgets of a policy module.
const RAW: usize = 700 * 1024;
const GZIP: usize = 260 * 1024;
const RATIO: f64 = 1.5;

const PAIRS: usize = 2_000;
/// Caches fill and clocks rise before anything counts.
const WARM_UP: usize = 100;

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

    let mut table = vec!["                        policy       floor      budget".to_owned()];
    let kib = |bytes: usize| format!("{}.{} KiB", bytes / 1024, bytes % 1024 * 10 / 1024);
    for (title, [policy, floor], budget) in
        [("raw size", [policy.raw, floor.raw], RAW), ("gzip -9", [policy.gzip, floor.gzip], GZIP)]
    {
        let verdict = if policy <= budget { "" } else { "  OVER" };
        table.push(format!("{title:<18}{:>12}{:>12}{:>12}{verdict}", kib(policy), kib(floor), kib(budget)));
    }
    let compiled = |subject: &Subject| format!("{} ms", subject.compiled.as_millis());
    table.push(format!("{:<18}{:>12}{:>12}", "compile, once", compiled(&policy), compiled(&floor)));

    let [policy, floor] = measure(&policy, &floor, pairs)?;
    let micros = |duration: Duration| format!("{:.1} µs", duration.as_secs_f64() * 1e6);
    for (title, at) in [("validate, min", 0), ("validate, p50", 50), ("validate, p90", 90)] {
        let (policy, floor) = (micros(percentile(&policy, at)), micros(percentile(&floor, at)));
        table.push(format!("{title:<18}{policy:>12}{floor:>12}"));
    }
    let ratio = percentile(&policy, 50).as_secs_f64() / percentile(&floor, 50).as_secs_f64();
    let verdict = if ratio <= RATIO { "" } else { "  OVER" };
    let shown = format!("{ratio:.2}");
    table.push(format!("{:<18}{shown:>12}{:>12}{RATIO:>12}{verdict}", "ratio of p50", "1.00"));
    table.push(format!("\n{pairs} pairs, each request in a fresh instance: a NodePool, CREATE\n"));
    io::stdout().write_all(table.join("\n").as_bytes()).map_err(|error| error.to_string())
}

struct Subject {
    module: Module,
    cluster: Cluster,
    payload: Vec<u8>,
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
        let cluster = Cluster::holding([node_class()]).granting(metadata::context_aware_resources(&metadata));
        let request = Request::create(node_pool()).to_json().map_err(|error| error.to_string())?;
        let payload = json!({"request": request, "settings": {}}).to_string().into_bytes();
        Ok(Self { module, cluster, payload, raw: bytes.len(), gzip, compiled })
    }

    fn time(&self) -> Result<Duration, String> {
        let start = Instant::now();
        self.module.call("validate", &self.payload, &self.cluster).map_err(|error| error.to_string())?;
        Ok(start.elapsed())
    }
}

/// The sorted times of both; within each pair, the first one changes.
fn measure(policy: &Subject, floor: &Subject, pairs: usize) -> Result<[Vec<Duration>; 2], String> {
    let (mut policy_times, mut floor_times) = (Vec::new(), Vec::new());
    for pair in 0..WARM_UP + pairs {
        let (of_policy, of_floor) = if pair % 2 == 0 {
            let of_policy = policy.time()?;
            (of_policy, floor.time()?)
        } else {
            let of_floor = floor.time()?;
            (policy.time()?, of_floor)
        };
        if pair >= WARM_UP {
            policy_times.push(of_policy);
            floor_times.push(of_floor);
        }
    }
    policy_times.sort_unstable();
    floor_times.sort_unstable();
    Ok([policy_times, floor_times])
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let index = sorted.len().saturating_sub(1) * percent / 100;
    sorted.get(index).copied().unwrap_or_default()
}

/// A NodePool as people write them: the getting-started guide's, with a budget, a taint and a weight.
fn node_pool() -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "default", "labels": {"team": "platform"}},
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
