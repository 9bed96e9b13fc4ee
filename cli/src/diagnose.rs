//! `karpwarden diagnose`: reads logs, events, status and manifests as streams, and reports the causes of problems.

use std::collections::BTreeSet;
use std::io::{self, Read, Write as _};

use answers::report::{Report, Unreadable};
use answers::story::Story;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::reference::symptoms::described;
use karpwarden::rules::documentation;
use manifest::source::certain;
use render::{github, gitlab, human, junit, markdown, sarif};
use symptoms::{BINARY, Diagnosed, Reading};

use super::config::{self, Config};
use super::error::CommandError;
use super::form::{Color, Format};
use super::input::{self, ClusterInputs, InputFile, Wanted};
use super::messages::Messages;
use super::options::{DiagnoseOptions, ReportOptions, StoryOptions};
use super::output::{self, Stream};
use super::progress::{Progress, Unit};
use super::safe_writer::Escaping;
use super::stack::on_one_core;
use super::status::Status;
use super::{bounds, terminal};

/// Bytes to read at once.
const CHUNK: usize = 1 << 18;

pub(crate) fn run(options: &DiagnoseOptions, color: Color) -> Result<Status, CommandError> {
    let (config, clusters) = prepared(options, &color)?;
    if input::count(&clusters) == 0 {
        let has_paths = !(options.input.paths.is_empty() && options.input.clusters.is_empty());
        let reason =
            if has_paths { "found no files" } else { "name files or folders, or `-` for standard input" };
        terminal::error(color, &format!("nothing to diagnose: {reason}"));
        if options.report.format != Format::Human {
            let reading = Reading::new(&REGISTRY, config.settings.clone(), options.input.limits);
            output::unless_closed(print(&reading.finish(), &[], &options.report, color))?;
        }
        return Ok(Status::NoInput);
    }
    // The input may contain deeply nested manifests.
    Ok(on_one_core(|| read_and_report(options, color, &config, &clusters))??)
}

/// Reads the settings and finds the inputs.
fn prepared(
    options: &DiagnoseOptions,
    messages: &dyn Messages,
) -> Result<(Config, Vec<ClusterInputs>), CommandError> {
    let config = config::read(&options.settings, &options.input, messages)?;
    let excluded = config.excluded(&options.input, messages)?;
    let clusters = input::by_cluster(&options.input, &config, None, &excluded, Wanted::Texts);
    input::refuse_excess(&options.input, &clusters)?;
    output::refuse_input(options.report.file.as_deref(), "--output", &clusters, config.path.as_deref())?;
    let config = config.for_files(&clusters.iter().flat_map(|cluster| &cluster.inputs), messages)?;
    Ok((config, clusters))
}

/// Reads the input and finds the causes of problems. Prints nothing.
pub(crate) fn report(options: &DiagnoseOptions, messages: &dyn Messages) -> Result<Report, CommandError> {
    let (config, clusters) = prepared(options, messages)?;
    if input::count(&clusters) == 0 {
        return Err(CommandError::NoInput("nothing to diagnose: found no files".to_owned()));
    }
    let (diagnosed, ..) = on_one_core(|| diagnosed(options, &config, &clusters, true))?;
    match (&options.story, &diagnosed.unresolved) {
        (Some(story), Some(reason)) => Err(CommandError::Usage(story.absence(reason))),
        _ => Ok(diagnosed.report),
    }
}

/// Reads the texts of all clusters. Also returns their names, and whether standard input is empty without permission.
fn diagnosed(
    options: &DiagnoseOptions,
    config: &Config,
    clusters: &[ClusterInputs],
    is_quiet: bool,
) -> (Diagnosed, Vec<String>, bool) {
    let bytes = clusters.iter().flat_map(|cluster| &cluster.inputs).map(InputFile::len).sum();
    let progress = Progress::new(bytes, Unit::Bytes, is_quiet);
    let mut reading = Reading::new(&REGISTRY, config.settings.clone(), options.input.limits)
        .at_most(options.report.max_findings);
    if let Some(story) = &options.story {
        reading = reading.about(story.target.clone());
    }
    let mut feeding = Feeding {
        reading,
        chunk: vec![0; CHUNK],
        max_decompressed: options.max_decompressed_bytes,
        names: Vec::new(),
        named: BTreeSet::new(),
    };
    let mut is_empty = false;
    for ClusterInputs { cluster, inputs, .. } in clusters {
        feeding.reading.cluster(cluster);
        for input in inputs {
            let was_empty = feeding.feed(input, &progress);
            is_empty |= input.is_stdin() && was_empty && !options.input.allow_empty;
        }
    }
    let Feeding { reading, names, named, .. } = feeding;
    let mut diagnosed = reading.finish();
    bounds::advise(&mut diagnosed.report);
    require(&mut diagnosed.report, &named);
    (diagnosed, names, is_empty)
}

fn read_and_report(
    options: &DiagnoseOptions,
    color: Color,
    config: &Config,
    clusters: &[ClusterInputs],
) -> io::Result<Status> {
    let (diagnosed, names, is_empty) = diagnosed(options, config, clusters, options.report.quiet);
    if is_empty {
        terminal::error(color, output::EMPTY);
    }
    if let Some((story, reason)) = options.story.as_ref().zip(diagnosed.unresolved.as_ref()) {
        terminal::error(color, &story.absence(reason));
        return Ok(Status::Usage);
    }
    if let Some((story, stories)) = options.story.as_ref().zip(diagnosed.report.stories.as_ref()) {
        if stories.is_empty() {
            terminal::note(color, "no input mentions a NodeClaim");
        }
        if options.report.format == Format::Human {
            output::unless_closed(tell(story, stories, &options.report, color))?;
            return Ok(output::status_after_story(&diagnosed.report, &options.report, is_empty));
        }
    }
    output::unless_closed(print(&diagnosed, &names, &options.report, color))?;
    Ok(output::status_after(&diagnosed.report, &options.report, is_empty))
}

/// Prints stories in the place of the report.
fn tell(story: &StoryOptions, stories: &[Story], options: &ReportOptions, color: Color) -> io::Result<()> {
    let (mut out, _) = output::open(options.file.as_deref(), Stream::Stdout, Escaping::Symbol, color)?;
    story.write(&mut out, stories)?;
    out.finish()
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
    let binary: Vec<answers::report::Skipped> = binary;
    report.unreadable.extend(binary.into_iter().map(|skipped| Unreadable {
        file: skipped.file,
        document: 0,
        line: 1,
        column: 1,
        message: skipped.reason,
        exceeded: None,
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
    fn feed(&mut self, input: &InputFile, progress: &Progress) -> bool {
        let (mut bytes, mut is_readable) = (0, true);
        let Self { reading, chunk, max_decompressed, names, named } = self;
        if let Some(reason) = input.skip_reason() {
            reading.skipped(&input.name, reason);
            return false;
        }
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
                    Ok(feed_text(reading, from, chunk, &mut bytes)?)
                });
                if let Err(reason) = result {
                    is_readable = false;
                    reading.unreadable(name, &reason.to_string());
                }
            },
        );
        if let Err(reason) = result {
            is_readable = false;
            begin(&input.name);
            reading.unreadable(&input.name, &reason.to_string());
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
                reading.feed(certain(chunk.get(..read)));
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

fn print(diagnosed: &Diagnosed, names: &[String], options: &ReportOptions, color: Color) -> io::Result<()> {
    let report = &diagnosed.report;
    let (mut out, styled) =
        output::open(options.file.as_deref(), Stream::Stdout, options.format.escaping(), color)?;
    match options.format {
        Format::Json => writeln!(out, "{}", report.to_json())?,
        Format::Sarif => {
            let found = |name: &str| report.findings.iter().any(|finding| finding.rule == name);
            let symptoms = symptoms::all().filter(|symptom| found(symptom.name)).map(described).collect();
            let sarif = sarif::sarif_with(&REGISTRY, report, &diagnosed.clusters, documentation, symptoms);
            writeln!(out, "{sarif}")?;
        }
        Format::Github => out.write_all(github::github(report).as_bytes())?,
        Format::Gitlab => writeln!(out, "{}", gitlab::gitlab(report))?,
        Format::Junit => {
            out.write_all(junit::junit(report, names.iter().map(String::as_str)).as_bytes())?;
        }
        Format::Markdown => {
            out.write_all(markdown::markdown(report, &diagnosed.clusters).as_bytes())?;
        }
        Format::Human => {
            let width = options.file.is_none().then(terminal::columns).flatten();
            let style =
                human::Options { color: styled, quiet: options.quiet, verbose: options.verbose, width };
            human::write(&mut out, report, &diagnosed.clusters, style)?;
        }
    }
    out.finish()?;
    // As in `check`: without a summary the log of the job would be empty.
    if !options.quiet && (options.file.is_some() || options.format == Format::Github) {
        terminal::note(color, &human::summary(report));
    }
    output::note_truncation(report, options.max_findings, color);
    Ok(())
}
