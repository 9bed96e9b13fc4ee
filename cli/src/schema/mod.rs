//! `karpwarden schema`: prints JSON Schemas, or writes the schemas of a release as files, for programs that check manifests with them.

mod definition;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use karpenter::api::{KIND_SCHEMAS, KindSchema};
use karpenter::release::{NearestRelease, Release};
use values::spelling::did_you_mean_name;

use super::error::CommandError;
use super::form::Color;
use super::status::Status;
use super::terminal;
use super::whole_file::WholeFile;

const SCHEMA_STATUS: &str = "\
Exit status:
  0  the schemas are printed or written
  2  invalid command line, or the release does not have the kind
  5  a file could not be written, or the system refused a resource (takes precedence over all)";

/// Print JSON Schemas of Karpenter's objects, of the config file, and of answers in JSON.
///
/// The schemas of the objects are for kubeconform, editors and other programs that read JSON Schema (draft 7). They hold the types, required
/// fields, values, patterns and limits of the API server in one release, and refuse unknown fields. JSON Schema cannot express the
/// rules over several fields (CEL): `karpwarden check` applies those too.
#[derive(Args, Debug)]
#[command(after_help = SCHEMA_STATUS)]
pub(crate) struct SchemaArguments {
    /// Kind such as nodepool, ec2nodeclass, nodeclaim or nodeoverlay; config for karpwarden.yaml; report, simulation, disruption, plan, hash,
    /// why or rules for an answer of `--format json`. With --output, kinds only [default: all kinds].
    #[arg(value_name = "NAME", required_unless_present = "output")]
    names: Vec<String>,

    /// Karpenter release, such as 1.8 or 1.8.3 [default: the newest known release].
    #[arg(long, value_name = "RELEASE")]
    karpenter_version: Option<String>,

    /// Write the schemas of the kinds into this folder, as `GROUP/KIND_VERSION.json`, which is the layout of Datree's catalogue.
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Schemas of the config file and of the answers in JSON.
const PUBLISHED: [(&str, &str); 8] = [
    ("config", include_str!("../../../schemas/settings.schema.json")),
    ("report", include_str!("../../../schemas/report.schema.json")),
    ("simulation", include_str!("../../../schemas/simulation.schema.json")),
    ("disruption", include_str!("../../../schemas/disruption.schema.json")),
    ("plan", include_str!("../../../schemas/plan.schema.json")),
    ("hash", include_str!("../../../schemas/hash.schema.json")),
    ("why", include_str!("../../../schemas/why.schema.json")),
    ("rules", include_str!("../../../schemas/rules.schema.json")),
];

pub(crate) fn run(arguments: &SchemaArguments, color: Color) -> Result<Status, CommandError> {
    let release = release(arguments.karpenter_version.as_deref(), color)?;
    if let Some(folder) = &arguments.output {
        return write_all(folder, &arguments.names, release, color);
    }
    let texts: Result<Vec<String>, CommandError> =
        arguments.names.iter().map(|name| text(name, release)).collect();
    for text in texts? {
        io::stdout().write_all(text.as_bytes())?;
    }
    Ok(Status::Clean)
}

fn release(text: Option<&str>, color: Color) -> Result<Release, CommandError> {
    let Some(text) = text else { return Ok(Release::NEWEST) };
    let nearest = NearestRelease::parse(text.trim())
        .map_err(|error| CommandError::Usage(format!("--karpenter-version: {error}")))?;
    if let Some(note) = nearest.note() {
        terminal::note(color, &format!("--karpenter-version: {} is not known; {note}", text.trim()));
    }
    Ok(nearest.release())
}

/// Text of a schema, by the name on the command line.
fn text(name: &str, release: Release) -> Result<String, CommandError> {
    match PUBLISHED.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => Ok((*text).to_owned()),
        None => text_of_kind(kind(name)?, release),
    }
}

/// The kind of a name in any case, which may be a plural.
fn kind(name: &str) -> Result<&'static KindSchema, CommandError> {
    let lower = name.to_lowercase();
    let is_named = |name: &str| {
        let kind = name.to_lowercase();
        lower == kind || lower.strip_prefix(&kind).is_some_and(|rest| rest == "s" || rest == "es")
    };
    KIND_SCHEMAS.into_iter().find(|schema| is_named(schema.kind.name)).ok_or_else(|| {
        let kinds: Vec<String> = KIND_SCHEMAS.iter().map(|schema| schema.kind.name.to_lowercase()).collect();
        let known: Vec<&str> =
            kinds.iter().map(String::as_str).chain(PUBLISHED.iter().map(|(name, _)| *name)).collect();
        let hint = did_you_mean_name(&lower, known.iter().copied());
        CommandError::Usage(format!("there is no schema `{name}`{hint}; the names are {}", known.join(", ")))
    })
}

fn text_of_kind(kind: &'static KindSchema, release: Release) -> Result<String, CommandError> {
    let schema = definition::schema(kind, release).ok_or_else(|| {
        let (name, since) = (kind.kind.name, kind.releases.when());
        CommandError::Usage(format!(
            "Karpenter {release} does not have the kind {name}; the releases that do: {since}"
        ))
    })?;
    let mut text = serde_json::to_string_pretty(&schema).map_err(io::Error::from)?;
    text.push('\n');
    Ok(text)
}

/// Writes the schemas of the named kinds, or of all kinds of the release. Source of the layout: `-schema-location` with
/// `{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json` in Readme.md of yannh/kubeconform.
fn write_all(
    folder: &Path,
    names: &[String],
    release: Release,
    color: Color,
) -> Result<Status, CommandError> {
    let kinds: Vec<&'static KindSchema> = if names.is_empty() {
        KIND_SCHEMAS.into_iter().filter(|kind| kind.releases.contains(release)).collect()
    } else {
        names.iter().map(|name| kind(name)).collect::<Result<_, _>>()?
    };
    let mut texts = Vec::new();
    for kind in kinds {
        texts.push((kind.kind, text_of_kind(kind, release)?));
    }
    for (kind, text) in &texts {
        let path =
            folder.join(kind.group).join(format!("{}_{}.json", kind.name.to_lowercase(), kind.version));
        let written = fs::create_dir_all(folder.join(kind.group))
            .and_then(|()| WholeFile::create(&path))
            .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.finish()));
        written.map_err(|error| io::Error::other(format!("cannot write `{}`: {error}", path.display())))?;
    }
    terminal::note(
        color,
        &format!("wrote {} schemas of Karpenter {release} to `{}`", texts.len(), folder.display()),
    );
    Ok(Status::Clean)
}
