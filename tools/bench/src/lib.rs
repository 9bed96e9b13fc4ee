//! Benchmarks with Criterion whose results are ratios, and the table of all results.
//!
//! Criterion measures one function after the other, and on a shared machine the ratio of two such times depends on what else ran
//! meanwhile. Here a benchmark is a [`Comparison`]: each iteration runs both sides, one directly after the other, and the measured
//! value is the ratio of their times. Load slows both sides, but a side that uses several cores more. Every program prints rows of
//! one table, which `cargo xtask bench` collects.

pub mod corpus;
pub mod manifests;
pub mod rollout;
pub mod shapes;
pub mod simulated;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fmt, fs};

use anyhow::{Context as _, Result};
use criterion::measurement::{Measurement, ValueFormatter};
use criterion::{Criterion, SamplingMode, Throughput};
use serde_json::Value;

/// Time for the samples of a comparison. Criterion takes longer if its samples need more.
const MEASURING: Duration = Duration::from_secs(4);
const WARM_UP: Duration = Duration::from_millis(500);
const SAMPLES: usize = 30;
/// Resamples for the confidence interval that Criterion prints. The table has the median only.
const RESAMPLES: usize = 10_000;

/// Runs comparisons, and prints their rows.
pub struct Bench {
    criterion: Criterion<Ratio>,
    /// The folder of Criterion's results.
    results: PathBuf,
    is_over_budget: bool,
}

/// Two things to compare.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// The measured thing.
    pub title: &'a str,
    /// The thing that it is compared with.
    pub reference: &'a str,
    /// The most that the ratio may be.
    pub budget: RatioBudget,
}

/// Budget of a ratio.
#[derive(Clone, Copy, Debug)]
pub enum RatioBudget {
    /// Nobody set a budget.
    None,
    /// A program fails if the ratio is greater.
    Limit(f64),
    /// A goal for later: the table shows it, and no program fails.
    Later(f64),
}

/// A time, a size or a number of instructions.
enum Quantity {
    Time(Duration),
    Bytes(usize),
    Instructions(usize),
}

impl Bench {
    /// Prepares benchmarks. The program accepts Criterion's arguments: `cargo bench -p karpwarden-bench --bench check -- files` runs
    /// the comparisons with `files` in their names.
    fn new() -> Result<Self> {
        let results =
            results().context("no folder for the results: the program is not in a target folder")?;
        // Criterion hides `output_directory` in its documentation. Without it, the folder depends on the environment.
        let criterion = Criterion::default()
            .with_measurement(Ratio)
            .output_directory(&results)
            .without_plots()
            .nresamples(RESAMPLES)
            .measurement_time(MEASURING)
            .warm_up_time(WARM_UP)
            .sample_size(SAMPLES)
            .configure_from_args();
        Ok(Self { criterion, results, is_over_budget: false })
    }

    /// Measures the ratio of two times, and prints its row with the mean times. Each function returns the time that it took.
    pub fn compare(
        &mut self,
        comparison: Comparison<'_>,
        mut measured: impl FnMut() -> Duration,
        mut reference: impl FnMut() -> Duration,
    ) -> Result<()> {
        let [title, reference_name] = [comparison.title, comparison.reference].map(name_of);
        let estimates = self.results.join(&title).join(&reference_name).join("new/estimates.json");
        // An earlier run may have left it.
        let _ = fs::remove_file(&estimates);
        let (mut of_measured, mut of_reference) = (Duration::ZERO, Duration::ZERO);
        let mut rounds = 0_u32;
        let mut group = self.criterion.benchmark_group(&title);
        group.sampling_mode(SamplingMode::Flat);
        group.bench_function(&reference_name, |bencher| {
            bencher.iter_custom(|iterations| {
                let (mut one, mut other) = (Duration::ZERO, Duration::ZERO);
                for _ in 0..iterations {
                    one += measured();
                    other += reference();
                }
                of_measured += one;
                of_reference += other;
                rounds = rounds.saturating_add(u32::try_from(iterations).unwrap_or(u32::MAX));
                one.as_secs_f64() / other.as_secs_f64() * as_number(iterations)
            });
        });
        group.finish();
        if rounds == 0 {
            // The arguments select other comparisons.
            return Ok(());
        }
        let ratio = median(&estimates)?;
        let times = [of_measured / rounds, of_reference / rounds].map(Quantity::Time);
        self.row(comparison, times, ratio);
        Ok(())
    }

    /// Measures the ratio of two times that are too long for samples, and prints its row. Says on standard error what runs.
    pub fn compare_once(
        &mut self,
        comparison: Comparison<'_>,
        measured: impl FnOnce() -> Duration,
        reference: impl FnOnce() -> Duration,
    ) {
        eprintln!("{} …", comparison.reference);
        let of_reference = reference();
        eprintln!("{} …", comparison.title);
        let of_measured = measured();
        let ratio = of_measured.as_secs_f64() / of_reference.as_secs_f64();
        self.row(comparison, [of_measured, of_reference].map(Quantity::Time), ratio);
    }

    /// Prints the row of two sizes.
    pub fn sizes(&mut self, comparison: Comparison<'_>, sizes: [usize; 2]) {
        self.row(comparison, sizes.map(Quantity::Bytes), ratio(sizes));
    }

    /// Prints the row of two numbers of instructions.
    pub fn instructions(&mut self, comparison: Comparison<'_>, counts: [usize; 2]) {
        self.row(comparison, counts.map(Quantity::Instructions), ratio(counts));
    }

    /// Prints a row. A ratio above its budget is marked, and the program fails.
    fn row(&mut self, comparison: Comparison<'_>, [measured, of_reference]: [Quantity; 2], ratio: f64) {
        let Comparison { title, reference, budget } = comparison;
        let budget = match budget {
            RatioBudget::None => String::new(),
            RatioBudget::Limit(limit) if ratio > limit => {
                self.is_over_budget = true;
                format!("≤ {limit} OVER")
            }
            RatioBudget::Limit(limit) => format!("≤ {limit}"),
            RatioBudget::Later(goal) => format!("later: ≤ {goal}"),
        };
        println!("| {title} | {measured} | {reference} {of_reference} | {ratio:.3} | {budget} |");
    }

    /// The exit status: 1 if a row exceeds its budget.
    fn finish(self) -> ExitCode {
        ExitCode::from(u8::from(self.is_over_budget))
    }
}

impl fmt::Debug for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bench").field("results", &self.results).finish_non_exhaustive()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a ratio of two digits")]
fn ratio([measured, reference]: [usize; 2]) -> f64 {
    measured as f64 / reference as f64
}

/// The time that a function takes.
pub fn time<T>(function: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(function());
    start.elapsed()
}

/// Runs the benchmarks of a program. Prints the error and returns 2 if a benchmark cannot run.
pub fn main_of(run: impl FnOnce(&mut Bench) -> Result<()>) -> ExitCode {
    let finish = |mut bench: Bench| run(&mut bench).map(|()| bench.finish());
    Bench::new().and_then(finish).unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::from(2)
    })
}

/// Folder `criterion` of the target folder that holds this program as `target/PROFILE/deps/NAME`.
fn results() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    Some(program.parent()?.parent()?.parent()?.join("criterion"))
}

/// A text as the name of a folder, for which Criterion changes nothing up to 64 bytes.
fn name_of(text: &str) -> String {
    let words = text.split(|char: char| !char.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// The median among the estimates that Criterion wrote.
fn median(path: &Path) -> Result<f64> {
    let file = || path.display().to_string();
    let text = fs::read_to_string(path)
        .with_context(file)
        .context("Criterion wrote no estimates; run the program with `cargo bench`")?;
    let estimates: Value = serde_json::from_str(&text).with_context(file)?;
    let median = estimates.pointer("/median/point_estimate").and_then(Value::as_f64);
    median.with_context(|| format!("{}: no median", path.display()))
}

/// Measurement of Criterion: a ratio of two times, multiplied by the iterations because Criterion divides by them.
struct Ratio;

impl Measurement for Ratio {
    type Intermediate = ();
    type Value = f64;

    fn start(&self) {}

    /// Not called: [`Bench::compare`] measures with `iter_custom`.
    fn end(&self, (): ()) -> f64 {
        0.0
    }

    fn add(&self, one: &f64, other: &f64) -> f64 {
        one + other
    }

    fn zero(&self) -> f64 {
        0.0
    }

    fn to_f64(&self, value: &f64) -> f64 {
        *value
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        self
    }
}

impl ValueFormatter for Ratio {
    fn scale_values(&self, _: f64, _: &mut [f64]) -> &'static str {
        "×"
    }

    fn scale_throughputs(&self, _: f64, _: &Throughput, _: &mut [f64]) -> &'static str {
        "×"
    }

    fn scale_for_machines(&self, _: &mut [f64]) -> &'static str {
        "×"
    }
}

#[expect(clippy::cast_precision_loss, reason = "a number of iterations")]
fn as_number(iterations: u64) -> f64 {
    iterations as f64
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) if time.as_millis() < 10 => write!(f, "{:.1} µs", time.as_secs_f64() * 1e6),
            Self::Time(time) => write!(f, "{:.1} ms", time.as_secs_f64() * 1e3),
            Self::Bytes(bytes) => write!(f, "{}.{} KiB", bytes / 1024, bytes % 1024 * 10 / 1024),
            Self::Instructions(count) => write!(f, "{} million", count / 1_000_000),
        }
    }
}
