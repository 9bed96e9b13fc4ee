//! Checking manifests, compared with a YAML parser that reads the same bytes and drops its events.
//!
//! A check uses all cores, as the command does. The parser has one document after the other, so it uses one core; the rows about
//! one core compare both on one.

use std::hint::black_box;
use std::process::ExitCode;

use anyhow::Result;
use granit_parser::Parser;
use karpwarden::REGISTRY;
use karpwarden::cluster::Cluster;

use karpwarden::manifest::limits::Limits;
use karpwarden::manifest::{File, parallel};
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::rule::settings::{RuleSelector, Settings};
use karpwarden_bench::manifests::documents;
use karpwarden_bench::shapes::{InputShape, SHAPES, common};
use karpwarden_bench::{Bench, Comparison, RatioBudget, main_of, time};
use terraform_objects::{NoFilesBeside, evaluate};

/// Time for ten times the documents, as a multiple.
const GROWTH: f64 = 11.0;

/// Time for an input that is made to cost more than its size, as a multiple of the time for common manifests.
const SHAPE: f64 = 100.0;

/// The size of such an input.
const SHAPED: usize = 500;

fn main() -> ExitCode {
    main_of(run)
}

fn run(bench: &mut Bench) -> Result<()> {
    let one_core = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let all = Settings::default();
    let within = Settings { ignore: across_documents(), ..Settings::default() };
    for count in [100, 1_000, 10_000] {
        let text = documents(count).concat();
        let files = [("all.yaml".to_owned(), text.clone())];
        let titled = |rest: &str| format!("check {count} documents{rest}");
        compare(bench, &titled(""), &text, || check(&files, &all))?;
        compare(bench, &titled(", each alone"), &text, || check(&files, &within))?;
        compare(bench, &titled(" on one core"), &text, || one_core.install(|| check(&files, &all)))?;
    }
    let few = [("all.yaml".to_owned(), documents(1_000).concat())];
    let many = [("all.yaml".to_owned(), documents(10_000).concat())];
    let growth = Comparison {
        title: "check 10,000 documents",
        reference: "1,000 documents",
        budget: RatioBudget::Later(GROWTH),
    };
    bench.compare(growth, || time(|| check(&many, &all)), || time(|| check(&few, &all)))?;
    let files: Vec<_> = documents(1_000)
        .into_iter()
        .enumerate()
        .map(|(index, text)| (format!("{index}.yaml"), text))
        .collect();
    let text: String = files.iter().map(|(_, text)| text.as_str()).collect();
    let title = "check 1,000 files of one document";
    compare(bench, title, &text, || check(&files, &all))?;
    let title = "check 1,000 files of one document on one core";
    compare(bench, title, &text, || one_core.install(|| check(&files, &all)))?;
    SHAPES.into_iter().try_for_each(|shape| compare_shape(bench, shape, &all))
}

/// Compares a check of an input that is made to cost more than its size with a check of common manifests of the same length.
fn compare_shape(bench: &mut Bench, shape: InputShape, settings: &Settings) -> Result<()> {
    let text = (shape.text)(SHAPED);
    let (hostile, common) = (named(&text), named(&common(text.len())));
    let comparison = Comparison {
        title: &format!("check {}", shape.name),
        reference: "manifests of the same length",
        budget: RatioBudget::Limit(SHAPE),
    };
    bench.compare(comparison, || time(|| check(&hostile, settings)), || time(|| check(&common, settings)))
}

/// The files of a shape.
fn named(text: &str) -> Vec<(String, String)> {
    let files = text.split("#== ").filter_map(|rest| rest.split_once('\n'));
    files.map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

/// Compares a check of some documents with the parser.
fn compare(bench: &mut Bench, title: &str, text: &str, check: impl Fn()) -> Result<()> {
    let comparison = Comparison { title, reference: "granit-parser", budget: RatioBudget::None };
    bench.compare(comparison, || time(&check), || time(|| parse(text)))
}

/// Every rule that looks up other objects at admission.
fn across_documents() -> Vec<RuleSelector> {
    let rules = REGISTRY.rules().filter(|rule| !rule.inventory.is_empty());
    rules.map(|rule| RuleSelector::One(rule.names())).collect()
}

fn check(files: &[(String, String)], settings: &Settings) {
    let read = |(path, text): &(String, String)| File::read(path, text.clone(), READ_OPTIONS);
    let mut files = parallel::map(files, read);
    evaluate(&mut files, &NoFilesBeside, &Limits::DEFAULT);
    let cluster = Cluster { files, ..Cluster::default() };
    black_box(karpwarden::check(&[cluster], settings));
}

fn parse(text: &str) {
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        black_box(event.is_ok());
    }
}
