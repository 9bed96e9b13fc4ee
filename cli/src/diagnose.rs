//! `karpwarden diagnose`: reads logs, events, status and manifests as streams, and reports the causes of problems.

use std::collections::BTreeSet;
use std::io::{self, Read};

use engine::report::{Report, Unreadable};
use engine::story::Story;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::reference::symptoms::described;
use karpwarden::rules::documentation;
use render::{github, human, junit, markdown, sarif};
use symptoms::{BINARY, Diagnosed, Reading};

use super::arguments::{Check, ChoiceFlags, Color, Diagnose, FixFlags, Format, OutputFlags};
use super::check::STACK;
use super::config::{self, Config};
use super::input::{self, ClusterInputs, Input, Patterns, Wanted};
use super::output::{self, Stream};
use super::progress::{Progress, Unit};
use super::status::Status;
use super::story::StoryFlags;
use super::terminal;

/// Bytes to read at once.
const CHUNK: usize = 1 << 18;

pub(crate) fn run(diagnose: Diagnose, color: Color) -> io::Result<Status> {
    let max_decompressed = diagnose.max_decompressed_bytes;
    let story = diagnose.story.clone();
    let check = as_check(diagnose);
    let Some(config) = config::read(&check, color) else { return Ok(Status::Usage) };
    let excluded =
        Patterns::new(config.path.as_deref(), &config.settings.exclude, &check.choice.exclude, color);
    let Some(excluded) = excluded else { return Ok(Status::Usage) };
    let clusters = input::by_cluster(&check, config.path.as_deref(), &excluded, Wanted::Texts);
    let config = config.for_files(&clusters.iter().flat_map(|cluster| &cluster.inputs), color);
    let Some(config) = config else { return Ok(Status::Usage) };
    if input::count(&clusters) == 0 {
        let has_paths = !(check.input.paths.is_empty() && check.input.cluster.is_empty());
        let reason =
            if has_paths { "found no files" } else { "name files or folders, or `-` for standard input" };
        terminal::error(color, &format!("nothing to diagnose: {reason}"));
        if check.output.format != Format::Human {
            let reading = Reading::new(&REGISTRY, config.settings.clone(), check.bounds.limits());
            output::unless_closed(print(&reading.finish(), &[], &check, color))?;
        }
        return Ok(Status::NoInput);
    }
    // The input may contain deeply nested manifests.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(STACK).build();
    pool.map_err(io::Error::other)?
        .install(|| read_and_report(&check, color, &config, &clusters, &story, max_decompressed))
}

/// The flags of `diagnose` as flags of `check`, which reads the same config file and the same inputs.
fn as_check(diagnose: Diagnose) -> Check {
    Check {
        input: diagnose.input,
        target: diagnose.target,
        choice: ChoiceFlags {
            config: diagnose.config,
            select: diagnose.select,
            ignore: diagnose.ignore,
            exclude: diagnose.exclude,
            force_exclude: false,
            baseline: None,
            write_baseline: None,
        },
        output: OutputFlags {
            format: diagnose.format,
            output: diagnose.output,
            stdin_filename: diagnose.stdin_filename,
            fail_on: diagnose.fail_on,
            strict: diagnose.strict,
            quiet: diagnose.quiet,
        },
        fixing: FixFlags::default(),
        statistics: false,
        bounds: diagnose.bounds,
    }
}

fn read_and_report(
    check: &Check,
    color: Color,
    config: &Config,
    clusters: &[ClusterInputs],
    story: &StoryFlags,
    max_decompressed: u64,
) -> io::Result<Status> {
    let bytes = clusters.iter().flat_map(|cluster| &cluster.inputs).map(Input::len).sum();
    let progress = Progress::new(bytes, Unit::Bytes, check.output.quiet);
    let mut reading = Reading::new(&REGISTRY, config.settings.clone(), check.bounds.limits())
        .at_most(check.bounds.max_findings);
    if let Some(target) = story.target() {
        reading = reading.about(target);
    }
    let mut feeding = Feeding {
        reading,
        chunk: vec![0; CHUNK],
        max_decompressed,
        names: Vec::new(),
        named: BTreeSet::new(),
    };
    let mut is_empty = false;
    for ClusterInputs { cluster, inputs } in clusters {
        feeding.reading.cluster(cluster);
        for input in inputs {
            let was_empty = feeding.feed(input, &progress);
            is_empty |= input.is_stdin() && was_empty && !check.input.allow_empty;
        }
    }
    let Feeding { reading, names, named, .. } = feeding;
    let mut diagnosed = reading.finish();
    require(&mut diagnosed.report, &named);
    drop(progress);
    if is_empty {
        terminal::error(color, output::EMPTY);
    }
    if let Some(stories) = &diagnosed.report.stories {
        if stories.is_empty() {
            terminal::note(color, &story.absence());
        }
        if check.output.format == Format::Human {
            output::unless_closed(tell(story, stories, check, color))?;
            return Ok(output::status_after_story(&diagnosed.report, &check.output, is_empty));
        }
    }
    output::unless_closed(print(&diagnosed, &names, check, color))?;
    Ok(output::status_after(&diagnosed.report, &check.output, is_empty))
}

/// Prints stories in the place of the report.
fn tell(story: &StoryFlags, stories: &[Story], check: &Check, color: Color) -> io::Result<()> {
    let (mut out, _) = output::open(&check.output, Stream::Stdout, color)?;
    story.write(&mut out, stories)?;
    out.flush()
}

/// Marks what could not be read of the files that the command line names: they concern Karpenter, whatever they contain.
fn require(report: &mut Report, named: &BTreeSet<String>) {
    let is_named_binary = |file: &str, reason: &str| reason == BINARY && named.contains(file);
    let (binary, skipped) = std::mem::take(&mut report.skipped)
        .into_iter()
        .partition(|skipped| is_named_binary(&skipped.file, &skipped.reason));
    report.skipped = skipped;
    for unreadable in &mut report.unreadable {
        unreadable.concerns_karpenter |= named.contains(&unreadable.file);
    }
    let binary: Vec<engine::report::Skipped> = binary;
    report.unreadable.extend(binary.into_iter().map(|skipped| Unreadable {
        file: skipped.file,
        document: 0,
        line: 1,
        column: 1,
        message: skipped.reason,
        concerns_karpenter: true,
    }));
}

/// Inputs that are fed to a reading one after another.
struct Feeding {
    reading: Reading,
    chunk: Vec<u8>,
    max_decompressed: u64,
    /// Names of the texts: of the inputs, and of the files in archives.
    names: Vec<String>,
    /// The texts that the command line names.
    named: BTreeSet<String>,
}

impl Feeding {
    /// Reads each text of an input up to its end or to the first error. Returns whether the input is readable and empty.
    fn feed(&mut self, input: &Input, progress: &Progress) -> bool {
        let (mut bytes, mut is_readable) = (0, true);
        let Self { reading, chunk, max_decompressed, names, named } = self;
        let mut begin = |name: &str| {
            names.push(name.to_owned());
            // Files in an archive count as files in a folder.
            if input.is_named && input.name == name {
                named.insert(name.to_owned());
            }
        };
        let result = input::each_text(
            input,
            |from| Box::new(Counted { from, progress }),
            *max_decompressed,
            &mut |name, from| {
                begin(name);
                let result = from.and_then(|from| {
                    reading.file(name, input.kind);
                    feed_text(reading, from, chunk, &mut bytes).map_err(|error| input::read_error(&error))
                });
                if let Err(reason) = result {
                    is_readable = false;
                    reading.unreadable(name, &reason);
                }
            },
        );
        if let Err(reason) = result {
            is_readable = false;
            begin(&input.name);
            reading.unreadable(&input.name, &reason);
        }
        is_readable && bytes == 0
    }
}

/// Feeds a text to a reading, and adds its length to `bytes`.
fn feed_text(
    reading: &mut Reading,
    from: &mut dyn Read,
    chunk: &mut [u8],
    bytes: &mut usize,
) -> io::Result<()> {
    loop {
        match from.read(chunk) {
            Ok(0) => return Ok(()),
            Ok(read) => {
                *bytes += read;
                reading.feed(chunk.get(..read).unwrap_or_default());
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A stream whose bytes count as progress.
struct Counted<'p> {
    from: Box<dyn Read>,
    progress: &'p Progress,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.progress.step(read);
        Ok(read)
    }
}

fn print(diagnosed: &Diagnosed, names: &[String], check: &Check, color: Color) -> io::Result<()> {
    let (report, flags) = (&diagnosed.report, &check.output);
    let (mut out, styled) = output::open(flags, Stream::Stdout, color)?;
    match flags.format {
        Format::Json => writeln!(out, "{}", report.to_json())?,
        Format::Sarif => {
            let found = |name: &str| report.findings.iter().any(|finding| finding.rule == name);
            let symptoms = symptoms::all().filter(|symptom| found(symptom.name)).map(described).collect();
            let sarif = sarif::sarif_with(&REGISTRY, report, &diagnosed.clusters, documentation, symptoms);
            writeln!(out, "{sarif}")?;
        }
        Format::Github => out.write_all(github::github(report).as_bytes())?,
        Format::Junit => {
            out.write_all(junit::junit(report, names.iter().map(String::as_str)).as_bytes())?;
        }
        Format::Markdown => {
            out.write_all(markdown::markdown(report, &diagnosed.clusters).as_bytes())?;
        }
        Format::Human => {
            let width = flags.output.is_none().then(terminal::columns).flatten();
            let options = human::Options { color: styled, quiet: flags.quiet, width };
            human::write(&mut out, report, &diagnosed.clusters, options)?;
        }
    }
    out.flush()?;
    // As in `check`: without a summary the log of the job would be empty.
    if !flags.quiet && (flags.output.is_some() || flags.format == Format::Github) {
        terminal::note(color, &human::summary(report));
    }
    output::note_truncation(report, check.bounds.max_findings, color);
    Ok(())
}
