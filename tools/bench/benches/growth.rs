//! Growth: the example of every rule, with each of its lists and maps, and the example itself, made longer.
//!
//! All rules check each input at two sizes, one four times the other. A time that grows much faster than the input shows a rule
//! or a report that is worse than n log n. The program prints every such input and fails; `--rule NAME` checks one example.

use std::env;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use karpwarden::lint::check::Cluster;
use karpwarden::lint::settings::{Selector, Settings};
use karpwarden::manifest::limits::Limits;
use karpwarden::manifest::{Document, File};
use karpwarden::{REGISTRY, reference};
use serde_json::Value;

/// The smaller size of a list or map, and the number of copies of an example.
const SMALL: usize = 500;
/// The larger size, as a multiple of the smaller one.
const FACTOR: usize = 4;
/// The time for the larger size, as a multiple of the time for the smaller one. Linear growth is 4; n log n, cold caches and a
/// growing heap make it up to 6, and n² makes it 16.
const MOST: f64 = 8.0;
/// Shorter times say nothing about growth.
const LEAST: Duration = Duration::from_millis(10);
/// Rounds in which an input has to grow too fast each time.
const ROUNDS: usize = 3;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let wanted = words.iter().position(|word| word == "--rule").and_then(|at| words.get(at + 1));
    let settings = Settings { select: vec![Selector::All], ..Settings::default() };
    let (mut inputs, mut faults) = (0, 0);
    for rule in REGISTRY.rules().filter(|rule| wanted.is_none_or(|name| name == rule.name)) {
        for example in examples(&reference::page(rule)) {
            for growth in growths(&example) {
                inputs += 1;
                if let Some(ratio) = excess(&example, &growth, &settings) {
                    faults += 1;
                    println!(
                        "{}: {growth:?}: {FACTOR} times the input takes {ratio:.1} times as long",
                        rule.name
                    );
                }
            }
        }
    }
    println!("{inputs} inputs, {faults} of them grow faster than n log n");
    ExitCode::from(u8::from(faults > 0))
}

/// A way to make an example longer.
#[derive(Debug)]
enum Growth {
    /// Copies of all documents, each copy with its own names.
    Documents,
    /// Copies of one document, with its own name.
    Document(usize),
    /// Copies of the items of a list or map, which are equal or differ.
    Items { document: usize, pointer: String, differ: bool },
}

/// The documents of each bad example on a rule's page that are YAML.
fn examples(page: &str) -> Vec<Vec<Value>> {
    let section = page.split("\n## ").find(|section| section.starts_with("Example\n")).unwrap_or_default();
    let blocks =
        section.split("```yaml").skip(1).filter_map(|rest| rest.split_once('\n')?.1.split("```").next());
    let parsed = blocks.map(|text| {
        let file = File::read("example.yaml", text.to_owned(), &Limits::DEFAULT);
        let trees = file.documents.iter().filter_map(|document| match document {
            Document::Read(tree) => Some(tree.root().to_json()),
            _ => None,
        });
        trees.filter(Value::is_object).collect::<Vec<_>>()
    });
    parsed.filter(|documents| !documents.is_empty()).collect()
}

fn growths(example: &[Value]) -> Vec<Growth> {
    let mut growths = vec![Growth::Documents];
    for (document, value) in example.iter().enumerate() {
        growths.push(Growth::Document(document));
        let mut pointers = Vec::new();
        containers(value, "", &mut pointers);
        for pointer in pointers {
            for differ in [false, true] {
                growths.push(Growth::Items { document, pointer: pointer.clone(), differ });
            }
        }
    }
    growths
}

/// The paths of all lists and maps that are not empty.
fn containers(value: &Value, at: &str, pointers: &mut Vec<String>) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            pointers.push(at.to_owned());
            // The items of a list have the same form.
            containers(&items[0], &format!("{at}/0"), pointers);
        }
        Value::Object(entries) if !entries.is_empty() => {
            pointers.push(at.to_owned());
            for (key, value) in entries {
                let key = key.replace('~', "~0").replace('/', "~1");
                containers(value, &format!("{at}/{key}"), pointers);
            }
        }
        _ => {}
    }
}

/// How many times as long the larger input takes, if it takes too long in every round.
fn excess(example: &[Value], growth: &Growth, settings: &Settings) -> Option<f64> {
    let [small, large] = [SMALL, SMALL * FACTOR].map(|size| text(example, growth, size));
    let mut least = f64::MAX;
    for _ in 0..ROUNDS {
        let [of_small, of_large] = [&small, &large].map(|text| time(text, settings));
        least = least.min(of_large.as_secs_f64() / of_small.as_secs_f64());
        if of_large < LEAST || least < MOST {
            return None;
        }
    }
    Some(least)
}

fn time(text: &str, settings: &Settings) -> Duration {
    let start = Instant::now();
    let file = File::read("all.jsonl", text.to_owned(), &Limits::DEFAULT);
    let cluster = Cluster { files: vec![file], ..Cluster::default() };
    black_box(karpwarden::check(&[cluster], settings));
    start.elapsed()
}

/// The longer example, one document in each line.
fn text(example: &[Value], growth: &Growth, size: usize) -> String {
    let mut documents = example.to_vec();
    match growth {
        Growth::Documents => {
            let names: Vec<&str> = example.iter().filter_map(name_of).collect();
            documents = (0..size)
                .flat_map(|copy| example.iter().map(move |one| (copy, one)))
                .map(|(copy, one)| {
                    let mut document = one.clone();
                    rename(&mut document, copy, &|text| names.contains(&text));
                    document
                })
                .collect();
        }
        Growth::Document(index) => {
            let one = example[*index].clone();
            documents.extend((0..size).map(|copy| {
                let mut document = one.clone();
                if let Some(name) = document.pointer_mut("/metadata/name") {
                    rename(name, copy, &|_| true);
                }
                document
            }));
        }
        Growth::Items { document, pointer, differ } => {
            if let Some(container) = documents[*document].pointer_mut(pointer) {
                lengthen(container, size, *differ);
            }
        }
    }
    documents.iter().map(|document| format!("{document}\n")).collect()
}

fn name_of(document: &Value) -> Option<&str> {
    document.pointer("/metadata/name")?.as_str()
}

fn lengthen(container: &mut Value, size: usize, differ: bool) {
    let copy_of = |value: &Value, copy: usize| {
        let mut value = value.clone();
        if differ {
            rename(&mut value, copy, &|_| true);
        }
        value
    };
    match container {
        Value::Array(items) => {
            let first = items.clone();
            items.extend((0..size).map(|copy| copy_of(&first[copy % first.len()], copy)));
        }
        Value::Object(entries) => {
            let first: Vec<_> = entries.clone().into_iter().collect();
            entries.extend((0..size).map(|copy| {
                let (key, value) = &first[copy % first.len()];
                (format!("{key}-{copy}"), copy_of(value, copy))
            }));
        }
        _ => {}
    }
}

/// Adds a number to the strings of a value that `which` accepts.
fn rename(value: &mut Value, copy: usize, which: &impl Fn(&str) -> bool) {
    match value {
        Value::String(text) if which(text) => *text = format!("{text}-{copy}"),
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, copy, which)),
        Value::Object(entries) => entries.values_mut().for_each(|value| rename(value, copy, which)),
        _ => {}
    }
}
