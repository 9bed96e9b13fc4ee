//! Flags as options.

use std::path::PathBuf;

use engine::apply::WantedFixes;
use karpenter::release::{NearestRelease, Release};
use karpenter::upgrade_path::UpgradePath;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use rule::settings::{RuleSelector, Target, kubernetes_minor};
use symptoms::StoryTarget;

use super::arguments::{CheckArguments, DiagnoseArguments, UpgradeArguments};
use super::flags::{Bounds, ChoiceFlags, FactFlags, FixFlags, InputFlags, OutputFlags, StoryFlags};
use super::options::{
    BaselineUse, CheckOptions, ConfigSource, DiagnoseOptions, Fixing, InputOptions, ReportOptions,
    SettingsOptions, StoryOptions,
};

impl From<CheckArguments> for CheckOptions {
    fn from(flags: CheckArguments) -> Self {
        let CheckArguments { input, target, choice, output, fixing, statistics, watch: _, bounds } = flags;
        let mut settings = SettingsOptions { quiet: output.quiet, ..SettingsOptions::default() };
        settings.set_karpenter_version(target.karpenter_version.as_deref());
        settings.set_facts(target.facts);
        Self {
            fixing: fixing.fixing(),
            wanted_fixes: fixing.wanted(),
            statistics,
            ..check_options(input, settings, choice, output, bounds)
        }
    }
}

impl From<UpgradeArguments> for CheckOptions {
    fn from(flags: UpgradeArguments) -> Self {
        let UpgradeArguments { input, from, to, facts, choice, output, bounds } = flags;
        let mut settings = SettingsOptions { quiet: output.quiet, ..SettingsOptions::default() };
        let upgrade_to = settings.set_upgrade_path(from.as_deref(), to.as_deref());
        settings.set_facts(facts);
        Self { upgrade_to, ..check_options(input, settings, choice, output, bounds) }
    }
}

fn check_options(
    input: InputFlags,
    mut settings: SettingsOptions,
    choice: ChoiceFlags,
    mut output: OutputFlags,
    bounds: Bounds,
) -> CheckOptions {
    settings.set_config(choice.config);
    settings.set_selection(&choice.select, &choice.ignore);
    let baseline = choice.baseline.map(BaselineUse::Read);
    let mut input = input.into_options(choice.exclude, output.stdin_filename.take(), bounds);
    input.include_docs = choice.include_docs;
    if input.paths.is_empty() && input.clusters.is_empty() && input.helm_values.is_empty() {
        input.paths.push(PathBuf::from("."));
    }
    CheckOptions {
        input,
        settings,
        report: output.into_options(bounds),
        root: choice.root,
        render: if choice.no_render { Some(false) } else { choice.render.then_some(true) },
        force_exclude: choice.force_exclude,
        baseline: baseline.or(choice.write_baseline.map(BaselineUse::Write)),
        fixing: None,
        wanted_fixes: WantedFixes::Safe,
        upgrade_to: None,
        statistics: false,
    }
}

impl From<DiagnoseArguments> for DiagnoseOptions {
    fn from(flags: DiagnoseArguments) -> Self {
        let mut settings = SettingsOptions { quiet: flags.quiet, ..SettingsOptions::default() };
        settings.set_config(flags.config);
        settings.set_karpenter_version(flags.target.karpenter_version.as_deref());
        settings.set_facts(flags.target.facts);
        settings.set_selection(&flags.select, &flags.ignore);
        Self {
            input: flags.input.into_options(flags.exclude, flags.stdin_filename, flags.bounds),
            settings,
            report: ReportOptions {
                format: flags.format,
                file: flags.output,
                fail_on: flags.fail_on.severity(),
                strict: flags.strict,
                quiet: flags.quiet,
                verbose: flags.verbose,
                max_findings: flags.bounds.max_findings,
            },
            story: flags.story.into_options(),
            max_decompressed_bytes: flags.max_decompressed_bytes,
        }
    }
}

impl InputFlags {
    pub(crate) fn into_options(
        self,
        exclude: Vec<String>,
        stdin_filename: Option<String>,
        bounds: Bounds,
    ) -> InputOptions {
        InputOptions {
            paths: self.paths,
            clusters: self.cluster,
            helm_values: self.helm_values,
            exclude,
            stdin_filename,
            allow_empty: self.allow_empty,
            limits: bounds.limits(),
            ..InputOptions::default()
        }
    }
}

impl OutputFlags {
    fn into_options(self, bounds: Bounds) -> ReportOptions {
        ReportOptions {
            format: self.format,
            file: self.output,
            fail_on: self.fail_on.severity(),
            strict: self.strict,
            quiet: self.quiet,
            verbose: self.verbose,
            max_findings: bounds.max_findings,
        }
    }
}

impl FixFlags {
    fn fixing(&self) -> Option<Fixing> {
        match self {
            Self { diff: true, .. } => Some(Fixing::Diff),
            Self { fix: true, .. } | Self { unsafe_fixes: true, .. } => Some(Fixing::Apply),
            _ => None,
        }
    }

    fn wanted(&self) -> WantedFixes {
        if self.unsafe_fixes { WantedFixes::All } else { WantedFixes::Safe }
    }
}

impl StoryFlags {
    fn into_options(self) -> Option<StoryOptions> {
        let target = self.node.map(StoryTarget::Node);
        let target = target.or_else(|| self.pod.map(StoryTarget::Pod));
        let target = target.or_else(|| self.nodepool.map(StoryTarget::NodePool));
        let target = target.or_else(|| self.timeline.map(|_| StoryTarget::Cluster));
        target.map(|target| StoryOptions { target, timeline: self.timeline })
    }
}

impl SettingsOptions {
    pub(crate) fn set_config(&mut self, path: Option<PathBuf>) {
        self.config = path.map_or(ConfigSource::Nearest, ConfigSource::At);
    }

    /// Parses `--karpenter-version`.
    pub(crate) fn set_karpenter_version(&mut self, text: Option<&str>) {
        match text.map(Target::parse_with_notes) {
            None => {}
            Some(Ok((target, notes))) => {
                let remarks = notes.into_iter().map(|note| format!("--karpenter-version: {note}"));
                self.karpenter = Some((target, remarks.collect()));
            }
            Some(Err(message)) => self.problems.push(format!("--karpenter-version: {message}")),
        }
    }

    /// Parses `--from` and `--to`. Returns the end of the upgrade path if the input has to say where the path starts.
    pub(crate) fn set_upgrade_path(&mut self, from: Option<&str>, to: Option<&str>) -> Option<Release> {
        let mut remarks = Vec::new();
        let mut parse = |flag: &str, text: &str| match NearestRelease::parse(text.trim()) {
            Ok(nearest) => {
                let note = nearest.note();
                remarks.extend(note.map(|note| format!("{flag}: {} is not known; {note}", text.trim())));
                Some(nearest.release())
            }
            Err(error) => {
                self.problems.push(format!("{flag}: {error}"));
                None
            }
        };
        let start = from.map(|from| parse("--from", from));
        let to = to.map_or(Some(Release::NEWEST), |to| parse("--to", to));
        let Some(from) = start else {
            self.remarks = remarks;
            return to;
        };
        let path = from.zip(to).map(|(from, to)| UpgradePath::new(from, to));
        self.karpenter = path.map(|path| (Target::on_upgrade(path), remarks));
        None
    }

    pub(crate) fn set_facts(&mut self, facts: FactFlags) {
        if let Some(text) = &facts.kubernetes_version {
            self.kubernetes_minor = kubernetes_minor(text);
            if self.kubernetes_minor.is_none() {
                self.problems.push(format!(
                    "--kubernetes-version: `{text}` is not a Kubernetes version; write a version such as 1.33"
                ));
            }
        }
        if facts.cluster_name.as_ref().is_some_and(|name| name.trim().is_empty()) {
            self.problems.push("--cluster-name: must not be empty".to_owned());
        }
        self.cluster_name = facts.cluster_name;
        self.complete_inventory = facts.complete;
        self.strict_release = facts.strict_release;
    }

    pub(crate) fn set_selection(&mut self, select: &[String], ignore: &[String]) {
        let mut parse = |flag: &str, names: &[String]| -> Vec<RuleSelector> {
            let parsed = names.iter().map(|name| RuleSelector::parse_selection(name.trim(), &REGISTRY));
            let parsed = parsed.filter_map(|selector| {
                let problem = |message| format!("{flag}: {message}; `karpwarden rules` lists them");
                selector.map_err(|message| self.problems.push(problem(message))).ok()
            });
            parsed.collect()
        };
        let (select, ignore) = (parse("--select", select), parse("--ignore", ignore));
        (self.select, self.ignore) = (select, ignore);
    }
}
