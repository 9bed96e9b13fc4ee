//! Diagnosing a controller's log, compared with a JSON parser on its lines.
//!
//! The parser either skips the content of a line or builds a value of it.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::{Result, bail};
use karpwarden::manifest::FileKind;
use karpwarden::manifest::limits::Limits;
use karpwarden::rule::settings::Settings;
use karpwarden::symptoms::Reading;
use karpwarden_bench::{Bench, Comparison, RatioBudget, main_of, time};
use serde::de::IgnoredAny;

/// NodeClaims in the log, which has 64 MB.
const NODE_CLAIMS: usize = 25_000;

/// Bytes that are read at once, as on the command line.
const CHUNK: usize = 1 << 18;

fn main() -> ExitCode {
    main_of(run)
}

fn run(bench: &mut Bench) -> Result<()> {
    let log = log();
    let lines = log.lines().count();
    if parse(&log) != lines || build(&log) != lines {
        bail!("a line of the log is not JSON");
    }
    let title = format!("diagnose {} MB", log.len() / 1_000_000);
    let mut compare = |reference: &str, parse: &dyn Fn(&str) -> usize| {
        let comparison = Comparison { title: &title, reference, budget: RatioBudget::None };
        bench.compare(comparison, || time(|| diagnose(&log)), || time(|| parse(&log)))
    };
    compare("serde_json, skipping values", &parse)?;
    compare("serde_json, building values", &build)
}

/// Number of lines that are JSON, skipping their content.
fn parse(log: &str) -> usize {
    log.lines().filter(|line| serde_json::from_str::<IgnoredAny>(line).is_ok()).count()
}

/// Number of lines that are JSON, building a value of each.
fn build(log: &str) -> usize {
    log.lines().filter(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()).count()
}

/// `karpwarden diagnose`, without reading the file and printing the report.
fn diagnose(log: &str) -> usize {
    let mut reading = Reading::new(&karpwarden::REGISTRY_WITH_SYMPTOMS, Settings::default(), Limits::DEFAULT);
    reading.file("controller.log", FileKind::Unknown);
    for piece in log.as_bytes().chunks(CHUNK) {
        reading.feed(piece);
    }
    reading.finish().report.findings.len()
}

/// Log of a growing cluster, as the controller writes it at level INFO.
fn log() -> String {
    let mut log = String::new();
    for life in 0..NODE_CLAIMS {
        let time = format!(
            "2026-04-{:02}T{:02}:{:02}:{:02}.550Z",
            1 + life / 3600 % 28,
            life / 60 % 24,
            life % 60,
            life * 7 % 60
        );
        let start = |message: &str, controller: &str| {
            format!(
                r#"{{"level":"INFO","time":"{time}","logger":"controller","message":"{message}","commit":"1072d3b","controller":"{controller}""#
            )
        };
        let batch =
            format!(r#","namespace":"","name":"","reconcileID":"8f1c7a0e-0000-4000-8000-{life:012x}""#);
        let claim = format!("default-{life:05x}");
        let about = format!(
            r#","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{{"name":"{claim}"}},"namespace":"","name":"{claim}","reconcileID":"9f1c7a0e-0000-4000-8000-{life:012x}","provider-id":"aws:///eu-west-1a/i-{life:017x}""#
        );
        let node = format!(
            r#","Node":{{"name":"ip-10-0-{}-{}.eu-west-1.compute.internal"}}"#,
            life % 256,
            life % 251
        );
        let resources = r#","allocatable":{"cpu":"1930m","ephemeral-storage":"17Gi","hugepages-1Gi":"0","memory":"3114Mi","pods":"29"}"#;
        for line in [
            format!(
                "{}{batch},\"Pods\":\"shop/web-{life}, shop/cart-{life}\",\"duration\":\"6.204ms\"",
                start("found provisionable pod(s)", "provisioner")
            ),
            format!(
                "{}{batch},\"nodeclaims\":1,\"pods\":2",
                start("computed new nodeclaim(s) to fit pod(s)", "provisioner")
            ),
            format!(
                r#"{}{batch},"NodePool":{{"name":"default"}},"NodeClaim":{{"name":"{claim}"}},"requests":{{"cpu":"1150m","memory":"1130Mi","pods":"7"}},"instance-types":"c6a.2xlarge, c6a.large, c6a.xlarge, c6i.2xlarge, c6i.large and 55 other(s)""#,
                start("created nodeclaim", "provisioner")
            ),
            format!(
                r#"{}{about},"instance-type":"c6a.large","zone":"eu-west-1a","capacity-type":"spot"{resources}"#,
                start("launched nodeclaim", "nodeclaim.lifecycle")
            ),
            format!("{}{about}{node}", start("registered nodeclaim", "nodeclaim.lifecycle")),
            format!("{}{about}{node}{resources}", start("initialized nodeclaim", "nodeclaim.lifecycle")),
        ] {
            let _ = writeln!(log, "{line}}}");
        }
    }
    log
}
