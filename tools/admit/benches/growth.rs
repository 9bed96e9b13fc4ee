//! Growth: the example of every rule, with each of its lists and maps, and the example itself, made longer.
//!
//! All rules check each input at three sizes, each twice the one before, as a WebAssembly module (`tools/counted`) whose
//! instructions are counted. The report in each format is counted for copies of the whole example. The same for the inputs that are made
//! to cost more than their size (`karpwarden_bench::shapes`), which must also cost at most so many times what common manifests of
//! their length cost. The program prints every input that grows faster than n log n, or than pairs if an example has pods and
//! what is compared with each of them, and fails; the same for simulations (`karpwarden_bench::simulated`); `--rule NAME` checks one example, `--shapes` only those inputs.

use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, thread};

use karpwarden::manifest::{Document, File};
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::{REGISTRY, reference};
use karpwarden_admit::{FakeCluster, Meter, built};
use karpwarden_bench::shapes::{InputShape, SHAPES, common};
use karpwarden_bench::simulated::SIMULATED;
use serde_json::Value;

/// The smallest size of a list or map, and the smallest number of copies of an example.
const SIZE: usize = 250;
/// The same for copies of an example that are reported: excerpts with marks take most instructions.
const REPORTED: usize = 50;
/// Maximum cost of the second doubling, in percent of the cost of the first. It is 200 in linear growth, 220 for n log n,
/// and 400 for n².
const MAX_GROWTH: u64 = 250;
/// The same, if an example has pods, and NodePools or PodDisruptionBudgets: each pod is compared with each NodePool, and with
/// each budget that names one of its labels, so copies of both grow like n².
const MAX_GROWTH_OF_PAIRS: u64 = 440;
/// The smallest number of copies of such an example.
const PAIRED: usize = 25;
/// The smallest size of an input that is made to cost more than its size.
const SHAPED: usize = 500;
/// The smallest number of pods of a simulation.
const SIMULATED_PODS: usize = 40;
/// Maximum cost of such an input, as a multiple of the cost of common manifests of the same length.
const MAX_FACTOR: u64 = 100;
/// Fewer instructions for the second doubling say nothing about growth.
const LEAST: u64 = 2_000_000;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let wanted = words.iter().position(|word| word == "--rule").and_then(|at| words.get(at + 1));
    let meter = match built::counted().and_then(|module| Meter::load(&module)) {
        Ok(meter) => meter,
        Err(error) => {
            eprintln!("{error:#}");
            return ExitCode::FAILURE;
        }
    };
    let has_shapes = wanted.is_none();
    let only_shapes = words.iter().any(|word| word == "--shapes");
    let rules =
        REGISTRY.rules().filter(|_| !only_shapes).filter(|rule| wanted.is_none_or(|name| name == rule.name));
    let inputs: Vec<Input> = rules.flat_map(|rule| Input::all(rule.name, &reference::page(rule))).collect();
    let (next, faults) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some(input) = inputs.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(fault) = input.fault(&meter) {
                faults.fetch_add(1, Ordering::Relaxed);
                println!("{}: {}: {:?}: {fault}", input.rule, input.operation, input.growth);
            }
        }
    };
    let shapes: Vec<InputShape> = SHAPES.into_iter().filter(|_| has_shapes).collect();
    let next_shape = AtomicUsize::new(0);
    let work = || {
        work();
        while let Some(shape) = shapes.get(next_shape.fetch_add(1, Ordering::Relaxed)) {
            if let Some(fault) = fault_of_shape(*shape, &meter) {
                faults.fetch_add(1, Ordering::Relaxed);
                println!("{}: {fault}", shape.name);
            }
        }
    };
    let simulated: Vec<InputShape> = SIMULATED.into_iter().filter(|_| has_shapes).collect();
    let next_simulated = AtomicUsize::new(0);
    let work = || {
        work();
        while let Some(shape) = simulated.get(next_simulated.fetch_add(1, Ordering::Relaxed)) {
            if let Some(fault) = fault_of_simulation(*shape, &meter) {
                faults.fetch_add(1, Ordering::Relaxed);
                println!("simulate: {}: {fault}", shape.name);
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let faults = faults.into_inner();
    println!("{} inputs, {faults} of them grow too fast", inputs.len() + shapes.len() + simulated.len());
    ExitCode::from(u8::from(faults > 0))
}

/// An example and the way in which it becomes longer.
struct Input {
    /// The rule whose example it is.
    rule: &'static str,
    example: Arc<Vec<Value>>,
    growth: Growth,
    /// The operation of the module: `check` or `report`.
    operation: &'static str,
}

impl Input {
    /// The inputs that are made of the examples on a rule's page.
    fn all(rule: &'static str, page: &str) -> Vec<Self> {
        let mut inputs = Vec::new();
        for example in examples(page).into_iter().map(Arc::new) {
            for growth in growths(&example) {
                let input =
                    |operation, growth| Self { rule, example: Arc::clone(&example), growth, operation };
                if matches!(growth, Growth::Documents) {
                    inputs.push(input("report", Growth::Documents));
                }
                inputs.push(input("check", growth));
            }
        }
        inputs
    }

    /// The growth of the cost, if it is too fast. It is measured again with more items, because the copies of a buffer that
    /// doubles, or a product that a limit bounds, look like fast growth at one size only.
    fn fault(&self, meter: &Meter) -> Option<String> {
        let (size, most) = match self.growth {
            Growth::Documents if compares_pods(&self.example) => (PAIRED, MAX_GROWTH_OF_PAIRS),
            _ if self.operation == "report" => (REPORTED, MAX_GROWTH),
            _ => (SIZE, MAX_GROWTH),
        };
        let first = self.fault_at(meter, size, most)?;
        Some(format!("{first}; {}", self.fault_at(meter, size * 4, most)?))
    }

    /// The same from one size on.
    fn fault_at(&self, meter: &Meter, size: usize, most: u64) -> Option<String> {
        let text = |size| text(&self.example, &self.growth, size);
        match counts(meter, self.operation, text, size) {
            Ok(counts) => too_fast(counts, size, most),
            Err(error) => Some(error),
        }
    }
}

/// The instructions for a text of one size, of twice and of four times the size.
fn counts(
    meter: &Meter,
    operation: &str,
    text: impl Fn(usize) -> String,
    size: usize,
) -> Result<[u64; 3], String> {
    let mut counts = [0; 3];
    for (count, factor) in counts.iter_mut().zip([1, 2, 4]) {
        *count = instructions(meter, operation, &text(size * factor))?;
    }
    Ok(counts)
}

fn instructions(meter: &Meter, operation: &str, text: &str) -> Result<u64, String> {
    let cost = meter.call(operation, text.as_bytes(), &FakeCluster::offline());
    // The lines before the last are a backtrace of WebAssembly.
    cost.map(|cost| cost.instructions)
        .map_err(|error| error.to_string().lines().last().unwrap_or_default().to_owned())
}

/// The growth of the cost, if it is too fast.
fn too_fast([one, two, four]: [u64; 3], size: usize, most: u64) -> Option<String> {
    let (first, second) = (two.saturating_sub(one), four.saturating_sub(two));
    (second > LEAST && second > first.saturating_mul(most) / 100).then(|| {
        format!("{size}, {} and {} items take {one}, {two} and {four} instructions", size * 2, size * 4)
    })
}

/// The fault of an input that is made to cost more than its size: its growth is too fast, also with more items, or it costs too much
/// for its length.
fn fault_of_shape(shape: InputShape, meter: &Meter) -> Option<String> {
    let growth = |size| match counts(meter, "files", shape.text, size) {
        Ok(counts) => too_fast(counts, size, MAX_GROWTH),
        Err(error) => Some(error),
    };
    let fault = growth(SHAPED).and_then(|first| Some(format!("{first}; {}", growth(SHAPED * 4)?)));
    fault.or_else(|| {
        let text = (shape.text)(SHAPED);
        let cost = instructions(meter, "files", &text);
        let common = instructions(meter, "files", &common(text.len()));
        let (cost, common) = match (cost, common) {
            (Ok(cost), Ok(common)) => (cost, common.max(1)),
            (Err(error), _) | (_, Err(error)) => return Some(error),
        };
        println!("{}: {} bytes cost {} times as much as common ones", shape.name, text.len(), cost / common);
        (cost / common > MAX_FACTOR)
            .then(|| format!("{} bytes take {cost} instructions, common ones {common}", text.len()))
    })
}

/// The growth of a simulation, if it is too fast. The scheduler compares each pod with each NodePool and each node.
fn fault_of_simulation(shape: InputShape, meter: &Meter) -> Option<String> {
    let growth = |size| match counts(meter, "simulate", shape.text, size) {
        Ok(counts) => too_fast(counts, size, MAX_GROWTH_OF_PAIRS),
        Err(error) => Some(error),
    };
    let first = growth(SIMULATED_PODS)?;
    Some(format!("{first}; {}", growth(SIMULATED_PODS * 4)?))
}

/// Whether an example has pods, and objects that are compared with each of them.
fn compares_pods(example: &[Value]) -> bool {
    let has = |kinds: &[&str]| {
        example.iter().any(|document| document["kind"].as_str().is_some_and(|kind| kinds.contains(&kind)))
    };
    has(&["NodePool", "PodDisruptionBudget"])
        && has(&["Pod", "Deployment", "DaemonSet", "StatefulSet", "Job", "CronJob"])
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
        let file = File::read("example.yaml", text.to_owned(), READ_OPTIONS);
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
        Value::Array(items) => {
            // The items of a list have the same form.
            let Some(first) = items.first() else { return };
            pointers.push(at.to_owned());
            containers(first, &format!("{at}/0"), pointers);
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
            documents.extend((0..size).zip(example.get(*index).into_iter().cycle()).map(|(copy, one)| {
                let mut document = one.clone();
                if let Some(name) = document.pointer_mut("/metadata/name") {
                    rename(name, copy, &|_| true);
                }
                document
            }));
        }
        Growth::Items { document, pointer, differ } => {
            let document = documents.get_mut(*document);
            if let Some(container) = document.and_then(|document| document.pointer_mut(pointer)) {
                lengthen(container, size, *differ);
            }
        }
    }
    documents.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// The name of an object, or of the object that a review is about.
fn name_of(document: &Value) -> Option<&str> {
    let places = ["/metadata/name", "/request/object/metadata/name", "/request/oldObject/metadata/name"];
    places.into_iter().find_map(|place| document.pointer(place)?.as_str())
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
            items.extend((0..size).zip(first.iter().cycle()).map(|(copy, value)| copy_of(value, copy)));
        }
        Value::Object(entries) => {
            let first = entries.clone();
            let copies = (0..size).zip(first.iter().cycle());
            entries
                .extend(copies.map(|(copy, (key, value))| (format!("{key}-{copy}"), copy_of(value, copy))));
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
