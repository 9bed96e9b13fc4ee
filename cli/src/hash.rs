//! `karpwarden hash`: prints the hashes by which Karpenter recognises drift.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anstyle::Style;
use answers::hash::{HashAnswer, HashedObject};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use karpwarden::drift::HashOptions;
use karpwarden::hashes;
use karpwarden::karpenter::release::Releases;
use karpwarden::simulate::{Assumption, release_of};
use render::human::printable;

use super::assumed;
use super::error::CommandError;
use super::flags::{Bounds, InputFlags};
use super::form::{Color, ListFormat};
use super::input::read_regular;
use super::one_cluster::{self, OneCluster};
use super::options::SettingsOptions;
use super::output::{self, Stream};
use super::painter::{BAD, BOLD, DIM, Painter, WARN};
use super::safe_writer::Escaping;
use super::stack::on_one_core;
use super::status::Status;

const STATUS: &str = "\
Exit status:
  0  every NodePool and EC2NodeClass has a hash
  1  some of them have no hash
  2  invalid command line or config file
  3  no input files, or no NodePool and no EC2NodeClass in them
  4  some input could not be read or parsed
  5  a file could not be written, or the system refused a resource (takes precedence over all)";

/// Print the hash of each NodePool and EC2NodeClass, and the version of the hash.
///
/// Karpenter replaces a node when the hash of its NodePool or of its EC2NodeClass is no longer the one in the annotations of the
/// NodeClaim: `karpenter.sh/nodepool-hash` and `karpenter.k8s.aws/ec2nodeclass-hash`.
#[derive(Args, Debug)]
#[command(after_help = STATUS)]
pub(crate) struct HashArguments {
    #[command(flatten)]
    input: InputFlags,

    /// Karpenter release, such as 1.8 or 1.8.3 [default: the version that the manifests pin, or else the newest known release].
    #[arg(long, value_name = "RELEASE", help_heading = "What to hash")]
    karpenter_version: Option<String>,

    /// Refuse a Karpenter release that this version does not know, instead of using the nearest known one.
    #[arg(long, help_heading = "What to hash")]
    strict_release: bool,

    /// Take the objects as the API server stores them, as from `kubectl get`: defaults are not filled in again.
    #[arg(long, help_heading = "What to hash")]
    stored: bool,

    /// File with the cluster's CA bundle, in PEM or Base64. It is a part of the hash of an EC2NodeClass since 1.12.
    #[arg(long, value_name = "FILE", help_heading = "What to hash")]
    ca_bundle: Option<PathBuf>,

    /// Config file [default: the nearest karpwarden.yaml in this folder or a parent folder].
    #[arg(long, value_name = "FILE", help_heading = "What to hash")]
    config: Option<PathBuf>,

    /// Skip files and folders that match this pattern, written as in .gitignore; may be repeated.
    #[arg(long, value_name = "PATTERN", help_heading = "What to hash")]
    exclude: Vec<String>,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Output")]
    format: ListFormat,

    /// Write the result to this file instead of standard output.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    bounds: Bounds,
}

pub(crate) fn run(hash: HashArguments, color: Color) -> Result<Status, CommandError> {
    on_one_core(|| read_and_hash(hash, color))?
}

fn read_and_hash(flags: HashArguments, color: Color) -> Result<Status, CommandError> {
    let mut settings = SettingsOptions { strict_release: flags.strict_release, ..SettingsOptions::default() };
    settings.set_config(flags.config);
    settings.set_karpenter_version(flags.karpenter_version.as_deref());
    output::refuse_same(flags.output.as_deref(), "--output", flags.ca_bundle.as_deref())?;
    let ca_bundle = flags.ca_bundle.as_deref().map_or_else(|| Ok(String::new()), ca_bundle)?;
    let input = flags.input.into_options(flags.exclude, None, flags.bounds);
    let OneCluster { settings, cluster } =
        one_cluster::read(&input, &settings, flags.output.as_deref(), "hash", &color)?;
    let (release, assumption) = release_of(&settings, &cluster.files);
    let options = HashOptions { release, is_stored: flags.stored, ca_bundle };
    let (mut answer, left_out) = hashes::answer(&cluster.files, &options);
    let left_out = (!left_out.is_empty()).then_some(Assumption::OverlaysLeftOut(left_out));
    let assumed = assumed::texts(&assumption.into_iter().chain(left_out).collect::<Vec<_>>());
    answer.assumptions.splice(..0, assumed);
    let lacks_ca_bundle = options.ca_bundle.is_empty() && Releases::since(12).contains(release);
    let escaping = match flags.format {
        ListFormat::Json => Escaping::Json,
        ListFormat::Human => Escaping::Symbol,
    };
    let (mut out, has_color) = output::open(flags.output.as_deref(), Stream::Stdout, escaping, color)?;
    output::unless_closed(match flags.format {
        ListFormat::Json => write_json(&mut out, &answer),
        ListFormat::Human => write_table(&mut out, &answer, lacks_ca_bundle, Painter { color: has_color }),
    })?;
    output::unless_closed(out.finish())?;
    let is_unreadable = one_cluster::report_unreadable(&cluster.files, &color);
    Ok(if is_unreadable {
        Status::Unreadable
    } else if answer.objects.is_empty() {
        Status::NoInput
    } else if answer.objects.iter().any(|object| object.hash.is_empty()) {
        Status::Findings
    } else {
        Status::Clean
    })
}

/// The text that Karpenter hashes: the bundle in Base64, as in the option `--cluster-ca-bundle`.
pub(crate) fn ca_bundle(path: &Path) -> Result<String, CommandError> {
    let name = path.display();
    let refused =
        |reason: &dyn std::fmt::Display| CommandError::Usage(format!("`--ca-bundle {name}`: {reason}"));
    let bytes = read_regular(path).map_err(|error| refused(&error))?;
    let text = String::from_utf8(bytes).map_err(|_| refused(&"neither PEM nor Base64"))?;
    if text.contains("-----BEGIN") {
        return Ok(STANDARD.encode(text));
    }
    // `base64` wraps its output.
    let text: String = text.split_ascii_whitespace().collect();
    STANDARD.decode(&text).map_err(|_| refused(&"neither PEM nor Base64"))?;
    Ok(text)
}

fn write_json(out: &mut dyn Write, answer: &HashAnswer) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &answers::sorted(answer)?)?;
    writeln!(out)
}

fn write_table(
    out: &mut dyn Write,
    answer: &HashAnswer,
    lacks_ca_bundle: bool,
    painter: Painter,
) -> io::Result<()> {
    if answer.objects.is_empty() {
        return writeln!(out, "no NodePool and no EC2NodeClass of v1 in the input");
    }
    let rows: Vec<[String; 4]> = answer.objects.iter().map(row).collect();
    let header = ["object", "version", "hash", "place"].map(str::to_owned);
    let widths = [0, 1, 2].map(|column: usize| {
        let cells = std::iter::once(&header).chain(&rows).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    });
    let line = |[object, version, hash, place]: &[String; 4]| {
        let [first, second, third] = widths;
        format!("  {object:<first$}  {version:<second$}  {hash:<third$}  {place}")
    };
    writeln!(out, "Karpenter {}", answer.karpenter_version)?;
    writeln!(out, "{}", painter.paint(BOLD, &line(&header)))?;
    for (cells, object) in rows.iter().zip(&answer.objects) {
        writeln!(out, "{}", line(cells))?;
        for (style, remark) in remarks(object, lacks_ca_bundle) {
            writeln!(out, "    {}", painter.paint(style, &printable(&remark)))?;
        }
    }
    for assumption in &answer.assumptions {
        writeln!(out, "{}", painter.paint(DIM, &format!("assumed: {}", printable(assumption))))?;
    }
    Ok(())
}

fn row(object: &HashedObject) -> [String; 4] {
    let hash = if object.hash.is_empty() { "none" } else { &object.hash };
    [
        printable(&format!("{}/{}", object.kind, object.name)),
        object.hash_version.to_owned(),
        hash.to_owned(),
        printable(&format!("{}:{}", object.file, object.line)),
    ]
}

/// Remarks on the hash of an object. `lacks_ca_bundle` is whether the release hashes a CA bundle that is not known.
fn remarks(object: &HashedObject, lacks_ca_bundle: bool) -> Vec<(Style, String)> {
    if !object.error.is_empty() {
        return vec![(BAD, format!("no hash: {}", object.error))];
    }
    let mut remarks = Vec::new();
    let (annotated, version) = (&object.annotated_hash, &object.annotated_version);
    if annotated.is_empty() {
        return remarks;
    }
    remarks.push(if version != object.hash_version {
        (DIM, format!("the annotation has version {version}: {annotated}"))
    } else if *annotated == object.hash {
        (DIM, "the annotation has the same hash".to_owned())
    } else if lacks_ca_bundle && object.kind == "EC2NodeClass" {
        let text = "its cluster's CA bundle is a part of it (`--ca-bundle`)";
        (WARN, format!("the annotation has another hash, {annotated}; {text}"))
    } else {
        (WARN, format!("the annotation has another hash: {annotated}"))
    });
    remarks
}
