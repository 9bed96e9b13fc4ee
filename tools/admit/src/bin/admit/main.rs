//! `admit`: reviews manifests one by one with a policy module, in a cluster that holds the other documents, and prints the
//! verdicts.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, IsTerminal, Write as _},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context as _, Result, bail};
use karpwarden_admit::{FakeCluster, Policy, PolicyModule, Request, metadata, server::Mode};
use serde_json::{Value, json};

mod manifests;
mod verdict;

use manifests::ManifestDocument;
use verdict::{DocumentVerdict, OutputStyle, VerdictCounts};

const USAGE: &str = "\
Usage: admit --module MODULE.wasm [options] PATH...

  PATH               YAML or JSON files, or folders of them
  --module FILE      the policy module
  --settings FILE    the policy's settings, YAML or JSON
  --operation OP     create (default) or delete
  --monitor          run the policy in mode monitor: everything is allowed, warnings are shown
  --mutating         the policy may change objects
  --offline          the policy cannot read the cluster

Exit status: 0 every document allowed; 1 a document denied; 2 invalid usage, module or settings; 3 no document found;
4 a file could not be read.
";

fn main() -> ExitCode {
    let style = OutputStyle::of(&io::stdout());
    match run(&style) {
        Ok(tally) => ExitCode::from(tally.exit_status()),
        Err(error) => {
            eprintln!("{}", format!("{error:#}").trim_end());
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

fn options(mut arguments: impl Iterator<Item = OsString>) -> Result<Options> {
    let (mut module, mut settings, mut paths) = (None, None, Vec::new());
    let (mut delete, mut mode, mut mutating, mut offline) = (false, Mode::Protect, false, false);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--module") => module = arguments.next().map(PathBuf::from),
            Some("--settings") => settings = arguments.next().map(PathBuf::from),
            Some("--operation") => match arguments.next().as_ref().and_then(|name| name.to_str()) {
                Some("create") => delete = false,
                Some("delete") => delete = true,
                _ => bail!("--operation takes `create` or `delete`\n\n{USAGE}"),
            },
            Some("--monitor") => mode = Mode::Monitor,
            Some("--mutating") => mutating = true,
            Some("--offline") => offline = true,
            Some("-h" | "--help") => bail!(USAGE),
            Some(flag) if flag.starts_with('-') => bail!("unknown option `{flag}`\n\n{USAGE}"),
            _ => paths.push(PathBuf::from(argument)),
        }
    }
    match module {
        Some(module) if !paths.is_empty() => {
            Ok(Options { module, settings, paths, delete, mode, mutating, offline })
        }
        Some(_) => bail!("no manifests given\n\n{USAGE}"),
        None => bail!("no module given: --module is missing\n\n{USAGE}"),
    }
}

fn run(style: &OutputStyle) -> Result<VerdictCounts> {
    let options = options(env::args_os().skip(1))?;
    let named = |path: &PathBuf| path.display().to_string();
    let bytes = fs::read(&options.module).with_context(|| named(&options.module))?;
    let metadata = metadata::embedded(&bytes).unwrap_or_default();
    // The manifests set this: in mode `monitor` Kubewarden drops the message of a rejection.
    let installed = json!({"announceErrors": options.mode == Mode::Monitor});
    let settings = match &options.settings {
        None => installed,
        Some(path) => {
            let text = fs::read_to_string(path).with_context(|| named(path))?;
            serde_saphyr::from_str(&text).with_context(|| named(path))?
        }
    };

    let module = compile(&bytes).with_context(|| named(&options.module))?;
    let policy = Policy::new(module).settings(settings).mode(options.mode).mutating(options.mutating);
    let verdict = policy.check_settings(&FakeCluster::offline());
    if !verdict.valid {
        let message = verdict.message.unwrap_or_default();
        bail!("policy-server does not start with these settings: {message}");
    }
    let documents = manifests::read(&options.paths);
    let review = |document: &ManifestDocument| reviewed(&policy, &metadata, &documents, document, &options);
    let mut tally = VerdictCounts::default();
    let mut output = io::stdout().lock();
    let mut file = "";
    for document in &documents {
        let verdict = review(document);
        tally.count(&verdict);
        let heading = if document.file == file { None } else { Some(document.file.as_str()) };
        file = &document.file;
        // A reader that closes the pipe has seen enough.
        let _ = output.write_all(verdict.print(heading, document, style).as_bytes());
    }
    let _ = writeln!(output, "{}", tally.print(style));
    Ok(tally)
}

/// Compiles the module, and shows progress in a terminal: a large module takes a second.
fn compile(bytes: &[u8]) -> Result<PolicyModule, karpwarden_admit::CallFailure> {
    let shown = io::stderr().is_terminal();
    if shown {
        eprint!("compiling the module ({} KiB) ...", bytes.len().div_ceil(1024));
    }
    let module = PolicyModule::load(bytes);
    if shown {
        eprint!("\r\x1b[K");
    }
    module
}

fn reviewed(
    policy: &Policy,
    metadata: &Value,
    documents: &[ManifestDocument],
    document: &ManifestDocument,
    options: &Options,
) -> DocumentVerdict {
    let object = match &document.content {
        Ok(object) => object,
        Err(error) => return DocumentVerdict::Unreadable(error.clone()),
    };
    let plain = Value::clone(object);
    let request = if options.delete { Request::delete(plain) } else { Request::create(plain) };
    let request = match request.to_json() {
        Ok(request) => request,
        Err(error) => return DocumentVerdict::Skipped(error.to_string()),
    };
    if !metadata::matches(metadata, &request) {
        return DocumentVerdict::Skipped("the policy does not match it".to_owned());
    }
    let others = documents.iter().filter_map(|other| other.content.as_ref().ok());
    let others = others.filter(|other| options.delete || !Arc::ptr_eq(other, object)).cloned();
    let cluster = if options.offline {
        FakeCluster::offline()
    } else {
        FakeCluster::holding(others).granting(metadata::context_aware_resources(metadata))
    };
    DocumentVerdict::Answered(policy.review(&request, &cluster))
}
