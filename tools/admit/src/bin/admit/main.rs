//! `admit`: sends manifests through a policy module, one by one, as `kubectl apply` would in a cluster where the other
//! documents exist, and prints the verdicts.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, IsTerminal, Write as _},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
};

use karpwarden_admit::{Cluster, Module, Policy, Request, metadata, server::Mode};
use serde_json::Value;

mod manifests;
mod verdict;

use manifests::Document;
use verdict::{Style, Tally, Verdict};

const USAGE: &str = "\
Usage: admit --module MODULE.wasm [options] PATH...

  PATH               YAML or JSON files, or folders of them
  --module FILE      the policy module
  --settings FILE    the policy's settings, YAML or JSON
  --operation OP     create (default) or delete
  --monitor          the policy's mode is monitor: everything is allowed, warnings are shown
  --mutating         the policy may change objects
  --offline          the policy sees nothing of the cluster

Exit status: 0 everything allowed; 1 something denied; 2 wrong usage, module or settings; 3 no document at all;
4 a file could not be read.
";

/// Nothing but 0 to 4, as the `karpwarden` command line has it.
enum Stop {
    Usage(String),
}

fn main() -> ExitCode {
    let style = Style::of(&io::stdout());
    match run(&style) {
        Ok(tally) => ExitCode::from(tally.exit_status()),
        Err(Stop::Usage(message)) => {
            eprintln!("{}", message.trim_end());
            ExitCode::from(2)
        }
    }
}

struct Options {
    module: PathBuf,
    settings: Option<PathBuf>,
    paths: Vec<PathBuf>,
    delete: bool,
    mode: Mode,
    mutating: bool,
    offline: bool,
}

fn options(mut arguments: impl Iterator<Item = OsString>) -> Result<Options, Stop> {
    let usage = |reason: &str| Stop::Usage(format!("{reason}\n\n{USAGE}"));
    let (mut module, mut settings, mut paths) = (None, None, Vec::new());
    let (mut delete, mut mode, mut mutating, mut offline) = (false, Mode::Protect, false, false);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--module") => module = arguments.next().map(PathBuf::from),
            Some("--settings") => settings = arguments.next().map(PathBuf::from),
            Some("--operation") => match arguments.next().as_ref().and_then(|name| name.to_str()) {
                Some("create") => delete = false,
                Some("delete") => delete = true,
                _ => return Err(usage("--operation is `create` or `delete`")),
            },
            Some("--monitor") => mode = Mode::Monitor,
            Some("--mutating") => mutating = true,
            Some("--offline") => offline = true,
            Some("-h" | "--help") => return Err(Stop::Usage(USAGE.to_owned())),
            Some(flag) if flag.starts_with('-') => return Err(usage(&format!("unknown option `{flag}`"))),
            _ => paths.push(PathBuf::from(argument)),
        }
    }
    match module {
        Some(module) if !paths.is_empty() => {
            Ok(Options { module, settings, paths, delete, mode, mutating, offline })
        }
        Some(_) => Err(usage("no manifests are named")),
        None => Err(usage("no module is named")),
    }
}

fn run(style: &Style) -> Result<Tally, Stop> {
    let options = options(env::args_os().skip(1))?;
    let named =
        |path: &PathBuf, error: &dyn core::fmt::Display| Stop::Usage(format!("{}: {error}", path.display()));
    let bytes = fs::read(&options.module).map_err(|error| named(&options.module, &error))?;
    let metadata = metadata::embedded(&bytes).unwrap_or_default();
    let settings = options.settings.as_ref().map_or(Ok(Value::Object(serde_json::Map::new())), |path| {
        let text = fs::read_to_string(path).map_err(|error| named(path, &error))?;
        serde_saphyr::from_str(&text).map_err(|error| named(path, &error))
    })?;

    let module = compile(&bytes).map_err(|error| named(&options.module, &error))?;
    let policy = Policy::new(module).settings(settings).mode(options.mode).mutating(options.mutating);
    let verdict = policy.check_settings(&Cluster::offline());
    if !verdict.valid {
        let message = verdict.message.unwrap_or_default();
        return Err(Stop::Usage(format!(
            "policy-server would not start: policy settings are invalid: {message}"
        )));
    }
    let documents = manifests::read(&options.paths);
    let review = |document: &Document| reviewed(&policy, &metadata, &documents, document, &options);
    let mut tally = Tally::default();
    let mut output = io::stdout().lock();
    let mut file = "";
    for document in &documents {
        let verdict = review(document);
        tally.count(&verdict);
        let heading = if document.file == file { None } else { Some(document.file.as_str()) };
        file = &document.file;
        // A closed pipe is the reader's wish.
        let _ = output.write_all(verdict.print(heading, document, style).as_bytes());
    }
    let _ = writeln!(output, "{}", tally.print(style));
    Ok(tally)
}

/// Compiling a large module takes a moment; a terminal shows that something happens.
fn compile(bytes: &[u8]) -> Result<Module, karpwarden_admit::Failure> {
    let shown = io::stderr().is_terminal();
    if shown {
        eprint!("compiling the module ({} KiB) ...", bytes.len().div_ceil(1024));
    }
    let module = Module::load(bytes);
    if shown {
        eprint!("\r\x1b[K");
    }
    module
}

fn reviewed(
    policy: &Policy,
    metadata: &Value,
    documents: &[Document],
    document: &Document,
    options: &Options,
) -> Verdict {
    let object = match &document.content {
        Ok(object) => object,
        Err(error) => return Verdict::Unreadable(error.clone()),
    };
    let plain = Value::clone(object);
    let request = if options.delete { Request::delete(plain) } else { Request::create(plain) };
    let request = match request.to_json() {
        Ok(request) => request,
        Err(error) => return Verdict::Skipped(error.to_string()),
    };
    if !metadata::is_about(metadata, &request) {
        return Verdict::Skipped("no rule of the policy is about it".to_owned());
    }
    let others = documents.iter().filter_map(|other| other.content.as_ref().ok());
    let others = others.filter(|other| options.delete || !Arc::ptr_eq(other, object)).cloned();
    let cluster = if options.offline {
        Cluster::offline()
    } else {
        Cluster::holding(others).granting(metadata::context_aware_resources(metadata))
    };
    Verdict::Answered(policy.review(&request, &cluster))
}
