//! Options of the commands. The command line converts its flags into them ([`crate::conversion`]); the language server, which has
//! no flags, writes them itself, and so does the server for assistants.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::apply::WantedFixes;
use engine::check::MAX_FINDINGS;
use karpenter::release::Release;
use manifest::limits::Limits;
use rule::finding::Severity;
use rule::settings::{RuleSelector, Target};
use symptoms::StoryTarget;

use super::error::CommandError;
use super::form::{Format, TimelineForm};
use super::input::Confinement;

/// Files of a run.
#[derive(Clone, Debug)]
pub(crate) struct InputOptions {
    /// Files and folders; `-` is standard input.
    pub(crate) paths: Vec<PathBuf>,
    /// Folders, each with the input of one cluster.
    pub(crate) clusters: Vec<PathBuf>,
    /// Files with values of Karpenter's Helm chart.
    pub(crate) helm_values: Vec<PathBuf>,
    /// Patterns of files and folders to skip, in addition to the config file's.
    pub(crate) exclude: Vec<String>,
    /// Texts in the place of files, by path.
    pub(crate) texts: BTreeMap<PathBuf, Arc<[u8]>>,
    /// Folders outside of which nothing is read; `None` for no bound.
    pub(crate) confinement: Option<Confinement>,
    /// File name of standard input.
    pub(crate) stdin_filename: Option<String>,
    /// Whether standard input may be empty.
    pub(crate) allow_empty: bool,
    /// Bounds of each file.
    pub(crate) limits: Limits,
    /// Maximum number of files and folders to look at in each folder.
    pub(crate) max_walked: usize,
    /// Whether the Markdown files of folders are inputs.
    pub(crate) include_docs: bool,
}

/// Config file of a run.
#[derive(Clone, Debug, Default)]
pub(crate) enum ConfigSource {
    /// The one in the working directory, or else in the nearest parent folder.
    #[default]
    Nearest,
    At(PathBuf),
    None,
}

/// Settings that take precedence over the config file.
#[derive(Clone, Debug, Default)]
pub(crate) struct SettingsOptions {
    pub(crate) config: ConfigSource,
    /// Releases to check against, with a remark for each that is not known.
    pub(crate) karpenter: Option<(Target, Vec<String>)>,
    pub(crate) kubernetes_minor: Option<u8>,
    pub(crate) cluster_name: Option<String>,
    /// Whether the input contains every NodePool and EC2NodeClass of the cluster.
    pub(crate) complete_inventory: bool,
    pub(crate) select: Vec<RuleSelector>,
    pub(crate) ignore: Vec<RuleSelector>,
    /// Whether a release that is not known is an error.
    pub(crate) strict_release: bool,
    /// Remarks on releases that are not known, beside the remarks of `karpenter`.
    pub(crate) remarks: Vec<String>,
    /// Whether remarks are left out.
    pub(crate) quiet: bool,
    /// Messages about invalid flags, which are printed after the errors in the config file.
    pub(crate) problems: Vec<String>,
}

/// Report of a run, and its exit status.
#[derive(Clone, Debug)]
pub(crate) struct ReportOptions {
    pub(crate) format: Format,
    /// File to write to; `None` for a standard stream.
    pub(crate) file: Option<PathBuf>,
    /// Lowest severity that sets the exit status to 1.
    pub(crate) fail_on: Option<Severity>,
    /// Whether every unreadable document sets the exit status to 4.
    pub(crate) strict: bool,
    /// Whether only findings are printed.
    pub(crate) quiet: bool,
    /// Whether everything is printed.
    pub(crate) verbose: bool,
    /// Largest number of findings in the report.
    pub(crate) max_findings: usize,
}

/// Options of `check`.
#[derive(Clone, Debug)]
pub(crate) struct CheckOptions {
    pub(crate) input: InputOptions,
    pub(crate) settings: SettingsOptions,
    pub(crate) report: ReportOptions,
    /// Folder in which the files to which kustomizations refer are read; `None` for the repository of each kustomization.
    pub(crate) root: Option<PathBuf>,
    /// Whether the charts of the input are rendered; `None` if the settings decide.
    pub(crate) render: Option<bool>,
    /// Whether the exclusions apply to named files too.
    pub(crate) force_exclude: bool,
    pub(crate) baseline: Option<BaselineUse>,
    pub(crate) fixing: Option<Fixing>,
    /// The fixes that `fixing` uses.
    pub(crate) wanted_fixes: WantedFixes,
    /// Release to which an upgrade leads, if the input says at which release the upgrade starts.
    pub(crate) upgrade_to: Option<Release>,
    /// Whether the number of findings of each rule is printed.
    pub(crate) statistics: bool,
}

/// Baseline file of a run.
#[derive(Clone, Debug)]
pub(crate) enum BaselineUse {
    /// Its findings are suppressed.
    Read(PathBuf),
    /// Gets the current findings, which are suppressed.
    Write(PathBuf),
}

impl BaselineUse {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Read(path) | Self::Write(path) => path,
        }
    }
}

/// Use of the fixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fixing {
    /// Changes the files.
    Apply,
    /// Prints the changes.
    Diff,
}

/// Options of `diagnose`.
#[derive(Clone, Debug)]
pub(crate) struct DiagnoseOptions {
    pub(crate) input: InputOptions,
    pub(crate) settings: SettingsOptions,
    pub(crate) report: ReportOptions,
    pub(crate) story: Option<StoryOptions>,
    /// Bytes to which a compressed file may decompress.
    pub(crate) max_decompressed_bytes: u64,
}

/// Story that `diagnose` tells in place of its diagnoses.
#[derive(Clone, Debug)]
pub(crate) struct StoryOptions {
    pub(crate) target: StoryTarget,
    /// Form of a timeline; `None` for a text.
    pub(crate) timeline: Option<TimelineForm>,
}

impl Default for InputOptions {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            clusters: Vec::new(),
            helm_values: Vec::new(),
            exclude: Vec::new(),
            texts: BTreeMap::new(),
            confinement: None,
            stdin_filename: None,
            allow_empty: false,
            limits: Limits::DEFAULT,
            max_walked: usize::MAX,
            include_docs: false,
        }
    }
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self {
            format: Format::Human,
            file: None,
            fail_on: Some(Severity::Error),
            strict: false,
            quiet: false,
            verbose: false,
            max_findings: MAX_FINDINGS,
        }
    }
}

impl SettingsOptions {
    /// Whether only some rules run.
    pub(crate) fn is_selection(&self) -> bool {
        !(self.select.is_empty() && self.ignore.is_empty())
    }
}

impl InputOptions {
    /// The folder in which references of the input are followed, if the run is confined.
    pub(crate) fn root(&self) -> Option<&Path> {
        let confinement = self.confinement.as_ref().filter(|confinement| !confinement.roots.is_empty());
        confinement.map(|confinement| confinement.base.as_path())
    }

    /// Refuses a confined run that has read too much beside its inputs.
    pub(crate) fn refuse_overdraft(&self) -> Result<(), CommandError> {
        self.confinement.as_ref().map_or(Ok(()), Confinement::refuse_overdraft)
    }

    /// Whether standard input is read.
    pub(crate) fn reads_stdin(&self) -> bool {
        self.paths.iter().chain(&self.helm_values).any(|path| path.as_os_str() == "-")
    }
}
