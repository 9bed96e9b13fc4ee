//! Flags of `karpwarden report` and `karpwarden open`.

use std::path::PathBuf;

use clap::Args;

use super::PageOptions;
use crate::disruption::{clock, time};
use crate::error::CommandError;
use crate::flags::{Bounds, TargetFlags};
use crate::options::{InputOptions, SettingsOptions};

const STATUS: &str = "\
Exit status:
  0  the page is written, whatever it shows
  2  invalid command line or config file
  3  no input files
  4  the page is written, but some input that may concern Karpenter could not be read or parsed
  5  a file could not be written, or the system refused a resource (takes precedence over all)";

/// Pattern of pages: an earlier one in the folder of the input is no log.
const PAGES: &str = "*.html";

/// Write one page to send: findings, placement and cost, disruption, blocked nodes, symptoms.
///
/// The page is one HTML file with all its data. It opens from disk, asks nothing of the network, and has no text of the input
/// except the sentences of the answers and the log lines that prove a diagnosis. Values that `collect` redacts are redacted
/// there too.
#[derive(Args, Debug)]
#[command(after_help = STATUS)]
pub(crate) struct PageArguments {
    #[command(flatten)]
    pub(crate) page: PageFlags,

    /// Write the page to this file instead of standard output.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,

    /// Print no note about the page and the input.
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}

/// Input and facts of a page.
#[derive(Args, Debug)]
pub(crate) struct PageFlags {
    /// Files and folders, such as a snapshot of `collect`; all are of one cluster [default: this folder].
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) target: TargetFlags,

    /// Config file [default: the nearest karpwarden.yaml in this folder or a parent folder].
    #[arg(long, value_name = "FILE", help_heading = "What to check against")]
    pub(crate) config: Option<PathBuf>,

    /// Skip files and folders that match this pattern, written as in .gitignore; may be repeated.
    #[arg(long, value_name = "PATTERN", help_heading = "What to look for")]
    pub(crate) exclude: Vec<String>,

    /// Time to judge disruption at, such as 2026-03-11T10:30:00Z [default: now].
    #[arg(long, value_name = "TIME", help_heading = "What to look for")]
    pub(crate) at: Option<String>,

    /// File with on-demand prices: an AWS price list, or an object of instance types and numbers.
    #[arg(long, value_name = "FILE", help_heading = "What to look for")]
    pub(crate) prices: Option<PathBuf>,

    /// Title of the page [default: the names of the paths].
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub(crate) title: Option<String>,

    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

impl TryFrom<PageFlags> for PageOptions {
    type Error = CommandError;

    fn try_from(flags: PageFlags) -> Result<Self, CommandError> {
        let mut settings = SettingsOptions::default();
        settings.set_config(flags.config);
        settings.set_karpenter_version(flags.target.karpenter_version.as_deref());
        settings.set_facts(flags.target.facts);
        let paths = if flags.paths.is_empty() { vec![PathBuf::from(".")] } else { flags.paths };
        if paths.iter().any(|path| path.as_os_str() == "-") {
            let text = "a page needs files or folders, because it reads them several times; write standard input to a file";
            return Err(CommandError::Usage(text.to_owned()));
        }
        Ok(Self {
            title: flags.title,
            input: InputOptions {
                paths,
                exclude: flags.exclude.into_iter().chain([PAGES.to_owned()]).collect(),
                limits: flags.bounds.limits(),
                ..InputOptions::default()
            },
            settings,
            at: flags.at.as_deref().map(time).transpose()?,
            prices: flags.prices,
            file: None,
            max_findings: flags.bounds.max_findings,
        })
    }
}

impl PageOptions {
    /// The time to judge at.
    pub(super) fn time(&self) -> values::timestamp::Timestamp {
        self.at.unwrap_or_else(clock::now)
    }
}
