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

use anyhow::{Context as _, Result, anyhow, bail};
use karpwarden_admit::published::{PolicyMismatch, PublishedPolicy};
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
  --policies PATH    manifests of policies, a file or folder; may be repeated: each document goes to the policies that match it,
                     with their own settings and mode; without it, to one policy for everything that the metadata names
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
    policies: Vec<PathBuf>,
    settings: Option<PathBuf>,
    paths: Vec<PathBuf>,
    delete: bool,
    mode: Mode,
    mutating: bool,
    offline: bool,
}

fn options(mut arguments: impl Iterator<Item = OsString>) -> Result<Options> {
    let (mut module, mut settings, mut paths, mut policies) = (None, None, Vec::new(), Vec::new());
    let (mut delete, mut mode, mut mutating, mut offline) = (false, Mode::Protect, false, false);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--module") => module = arguments.next().map(PathBuf::from),
            Some("--policies") => policies.extend(arguments.next().map(PathBuf::from)),
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
    if !policies.is_empty() && (settings.is_some() || mode == Mode::Monitor || mutating) {
        bail!("the manifests of `--policies` have the settings and the mode\n\n{USAGE}");
    }
    match module {
        Some(module) if !paths.is_empty() => {
            Ok(Options { module, policies, settings, paths, delete, mode, mutating, offline })
        }
        Some(_) => bail!("no manifests given\n\n{USAGE}"),
        None => bail!("no module given: --module is missing\n\n{USAGE}"),
    }
}

fn run(style: &OutputStyle) -> Result<VerdictCounts> {
    let options = options(env::args_os().skip(1))?;
    let named = |path: &PathBuf| path.display().to_string();
    let bytes = fs::read(&options.module).with_context(|| named(&options.module))?;
    let module = compile(&bytes).with_context(|| named(&options.module))?;
    let policies = if options.policies.is_empty() {
        let metadata = metadata::embedded(&bytes).unwrap_or_default();
        Policies::One(Box::new(of_module(module, &options)?), metadata)
    } else {
        Policies::Published(published(&module, &options.policies)?)
    };
    for policy in policies.all() {
        let verdict = policy.check_settings(&FakeCluster::offline());
        if !verdict.valid {
            let message = verdict.message.unwrap_or_default();
            bail!("policy-server does not start with these settings: {message}");
        }
    }
    let documents = manifests::read(&options.paths);
    let mut tally = VerdictCounts::default();
    let mut output = io::stdout().lock();
    let mut file = "";
    for document in &documents {
        for verdict in reviewed(&policies, &documents, document, &options) {
            tally.count(&verdict);
            let heading = if document.file == file { None } else { Some(document.file.as_str()) };
            file = &document.file;
            // A reader that closes the pipe has seen enough.
            let _ = output.write_all(verdict.print(heading, document, style).as_bytes());
        }
    }
    let _ = writeln!(output, "{}", tally.print(style));
    Ok(tally)
}

/// The policies that documents are sent to.
enum Policies {
    /// One policy, and the metadata of its module, which say what it matches.
    One(Box<Policy>, Value),
    Published(Vec<PublishedPolicy>),
}

impl Policies {
    fn all(&self) -> Vec<&Policy> {
        match self {
            Self::One(policy, _) => vec![policy],
            Self::Published(all) => all.iter().map(PublishedPolicy::policy).collect(),
        }
    }
}

/// The policy that the flags describe.
fn of_module(module: PolicyModule, options: &Options) -> Result<Policy> {
    // The manifests set this: in mode `monitor` Kubewarden drops the message of a rejection.
    let installed = json!({"announceErrors": options.mode == Mode::Monitor});
    let settings = match &options.settings {
        None => installed,
        Some(path) => {
            let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
            serde_saphyr::from_str(&text).with_context(|| path.display().to_string())?
        }
    };
    Ok(Policy::new(module).settings(settings).mode(options.mode).mutating(options.mutating))
}

/// The policies of some manifests, in the order in which the API server calls them: policies that change objects first.
fn published(module: &PolicyModule, paths: &[PathBuf]) -> Result<Vec<PublishedPolicy>> {
    let mut policies = Vec::new();
    for document in manifests::read(paths) {
        let manifest = document.content.map_err(|error| anyhow!("{}: {error}", document.file))?;
        policies.extend(PublishedPolicy::of(&manifest, module).with_context(|| document.file)?);
    }
    if policies.is_empty() {
        bail!("no policy in the manifests of `--policies`");
    }
    policies.sort_by_key(|policy| !policy.is_mutating());
    Ok(policies)
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

/// The answers about a document, or the reason why no policy answers.
fn reviewed(
    policies: &Policies,
    documents: &[ManifestDocument],
    document: &ManifestDocument,
    options: &Options,
) -> Vec<DocumentVerdict> {
    let object = match &document.content {
        Ok(object) => object,
        Err(error) => return vec![DocumentVerdict::Unreadable(error.clone())],
    };
    let others = documents.iter().filter_map(|other| other.content.as_ref().ok());
    let others: Vec<Arc<Value>> =
        others.filter(|other| options.delete || !Arc::ptr_eq(other, object)).cloned().collect();
    let cluster = |granted: Vec<(&str, &str)>| {
        if options.offline {
            FakeCluster::offline()
        } else {
            FakeCluster::holding(others.iter().cloned()).granting(granted)
        }
    };
    let request = |object: Value| {
        let request = if options.delete { Request::delete(object) } else { Request::create(object) };
        request.to_json().map_err(|error| error.to_string())
    };
    let plain = match request(Value::clone(object)) {
        Ok(plain) => plain,
        Err(error) => return vec![DocumentVerdict::Skipped(error)],
    };
    match policies {
        Policies::One(_, metadata) if !metadata::matches(metadata, &plain) => {
            vec![DocumentVerdict::Skipped("the policy does not match it".to_owned())]
        }
        Policies::One(policy, metadata) => {
            let response = policy.review(&plain, &cluster(metadata::context_aware_resources(metadata)));
            vec![DocumentVerdict::Answered { policy: String::new(), response }]
        }
        Policies::Published(all) => answers_of(all, plain, &others, cluster),
    }
}

/// The answers of the published policies that match a request. A policy gets the object as the policies before it have changed it.
fn answers_of(
    policies: &[PublishedPolicy],
    mut request: Value,
    others: &[Arc<Value>],
    cluster: impl Fn(Vec<(&str, &str)>) -> FakeCluster,
) -> Vec<DocumentVerdict> {
    let is_namespace = |other: &&Value| other.get("kind").and_then(Value::as_str) == Some("Namespace");
    let namespaces: Vec<&Value> = others.iter().map(AsRef::as_ref).filter(is_namespace).collect();
    let (mut verdicts, mut near) = (Vec::new(), Vec::new());
    for policy in policies {
        let name = policy.name();
        match policy.matches(&request, &namespaces) {
            Err(PolicyMismatch::Rules) => continue,
            Err(reason) => {
                near.push(format!("{name} does not match it: {reason}"));
                continue;
            }
            Ok(()) => {}
        }
        let response = policy.policy().review(&request, &cluster(policy.looked_up()));
        if let (Some(patch), Some(object)) = (response.patch(), request.get_mut("object")) {
            karpwarden_admit::server::apply(&patch, object);
        }
        verdicts.push(DocumentVerdict::Answered { policy: name.to_owned(), response });
    }
    if verdicts.is_empty() {
        let reason = if near.is_empty() { "no policy matches it".to_owned() } else { near.join("\n") };
        verdicts.push(DocumentVerdict::Skipped(reason));
    }
    verdicts
}
