//! The engine with every rule as a WebAssembly module. A host can count the instructions of a check, which are the same in
//! every run; a time is not.

use karpwarden::REGISTRY;
use karpwarden::answers::report::Report;
use karpwarden::cluster::Cluster;
use karpwarden::manifest::File;
use karpwarden::manifest::limits::Limits;
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::rule::settings::{RuleSelector, Settings};
use karpwarden::simulate::Choices;
use render::{github, human, junit, markdown, sarif};
use terraform_objects::{NoFilesBeside, evaluate};
use wapc_guest::{CallResult, register_function};

/// Registers the functions that the host calls.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the host finds the entry point by its name")]
pub extern "C" fn wapc_init() {
    register_function("check", check);
    register_function("report", report);
    register_function("simulate", simulate);
    register_function("files", files);
}

/// Checks lines of JSON, each with one document, by every rule, and returns the number of findings.
#[expect(clippy::unnecessary_wraps, reason = "the signature that the host calls")]
fn check(lines: &[u8]) -> CallResult {
    let file = File::from_bytes("all.jsonl".to_owned(), lines.to_vec(), READ_OPTIONS);
    let (_, report) = checked(vec![file]);
    Ok(report.findings.len().to_string().into_bytes())
}

/// Checks like [`check`], and returns the report in each format.
fn report(lines: &[u8]) -> CallResult {
    let file = File::from_bytes("all.jsonl".to_owned(), lines.to_vec(), READ_OPTIONS);
    rendered(vec![file])
}

/// Checks files, each after a line `#== NAME`, with the objects of configurations of Terraform, and returns the report in each format.
fn files(texts: &[u8]) -> CallResult {
    let texts = str::from_utf8(texts)?;
    let named = texts.split("#== ").filter_map(|rest| rest.split_once('\n'));
    let mut files: Vec<File> = named.map(|(name, text)| File::read(name, text, READ_OPTIONS)).collect();
    evaluate(&mut files, &NoFilesBeside, &Limits::DEFAULT);
    rendered(files)
}

fn rendered(files: Vec<File>) -> CallResult {
    let (cluster, report) = checked(files);
    let clusters = [cluster];
    let files = clusters.iter().flat_map(|cluster| &cluster.files).map(|file| file.source.name());
    let mut all = Vec::new();
    all.extend(report.to_json().into_bytes());
    all.extend(sarif::sarif(&REGISTRY, &report, &clusters, |_| String::new()).to_string().into_bytes());
    all.extend(github::github(&report).into_bytes());
    all.extend(junit::junit(&report, files).into_bytes());
    all.extend(markdown::markdown(&report, &clusters).into_bytes());
    let options = human::Options { color: true, quiet: false, verbose: true, width: None };
    human::write(&mut all, &report, &clusters, options)?;
    Ok(all)
}

/// Simulates the pods of lines of JSON, each with one document, and returns the sentence about the result.
fn simulate(lines: &[u8]) -> CallResult {
    let file = File::from_bytes("all.jsonl".to_owned(), lines.to_vec(), READ_OPTIONS);
    let answer = karpwarden::simulate::answer(&[file], &Choices::default(), &Settings::default())?;
    Ok(answer.verdict.into_bytes())
}

fn checked(files: Vec<File>) -> (Cluster, Report) {
    let settings = Settings { select: vec![RuleSelector::All], ..Settings::default() };
    let cluster = Cluster { files, ..Cluster::default() };
    let report = karpwarden::check(std::slice::from_ref(&cluster), &settings);
    (cluster, report)
}
