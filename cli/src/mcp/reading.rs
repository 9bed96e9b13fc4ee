//! The arguments of a call as options of the commands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assistant::query::{
    CheckQuery, DiagnoseQuery, DisruptionQuery, PlanQuery, QuerySource, QueryTarget, QueryWorld,
    SimulateQuery, UpgradeQuery,
};
use disruption::forecast::ForecastSettings;
use engine::apply::WantedFixes;
use engine::check::MAX_FINDINGS;
use karpwarden::simulate::Choices;
use symptoms::StoryTarget;

use super::limits::{FILE, MAX_DECOMPRESSED, MAX_INPUT, MAX_WALKED};
use super::roots::Roots;
use crate::disruption::clock::{self, Clock};
use crate::disruption::{DisruptionFormat, DisruptionOptions, StorySubject, time};
use crate::error::CommandError;
use crate::flags::FactFlags;
use crate::form::Format;
use crate::options::{
    CheckOptions, ConfigSource, DiagnoseOptions, InputOptions, ReportOptions, SettingsOptions, StoryOptions,
};
use crate::plan::{PlanFailOn, PlanFormat, PlanOrigin, PlanRun, release};
use crate::simulate::{SimulateOptions, SimulationFlags, SimulationFormat};

/// Name of a text among the files of an answer.
const TEXT: &str = "-";

/// Names of the texts before and after a change.
const OLD: &str = "old.yaml";
const NEW: &str = "new.yaml";

/// Input of a call, with the config file that applies to it.
struct CallInput {
    input: InputOptions,
    config: ConfigSource,
}

/// The files and texts of a call. Each of `texts` has its name.
fn call_input(roots: &Roots, texts: &[(&str, &str)], paths: &[&str]) -> Result<CallInput, CommandError> {
    let resolved: Vec<PathBuf> = paths.iter().map(|path| roots.resolve(path)).collect::<Result<_, _>>()?;
    let start = resolved.first().map(PathBuf::as_path).or_else(|| roots.first());
    let base = start.and_then(|path| roots.root_of(path)).unwrap_or(Path::new(""));
    let config = start.and_then(|path| roots.config_of(path));
    let named = texts.iter().map(|(name, text)| (PathBuf::from(name), Arc::from(text.as_bytes())));
    let texts: BTreeMap<PathBuf, Arc<[u8]>> = named.collect();
    let input = InputOptions {
        paths: texts.keys().cloned().chain(resolved).collect(),
        texts,
        confinement: Some(roots.confinement(base, MAX_INPUT)),
        allow_empty: true,
        limits: FILE,
        max_walked: MAX_WALKED,
        ..InputOptions::default()
    };
    Ok(CallInput { input, config: config.map_or(ConfigSource::None, ConfigSource::At) })
}

fn of_source(roots: &Roots, source: &QuerySource) -> Result<CallInput, CommandError> {
    let texts: Vec<(&str, &str)> = source.text.iter().map(|text| (TEXT, text.as_str())).collect();
    let paths: Vec<&str> = source.paths.iter().map(String::as_str).collect();
    call_input(roots, &texts, &paths)
}

fn settings(config: ConfigSource, karpenter_version: Option<&str>) -> SettingsOptions {
    let mut settings = SettingsOptions { config, ..SettingsOptions::default() };
    settings.set_karpenter_version(karpenter_version);
    settings
}

fn set_facts(
    settings: &mut SettingsOptions,
    kubernetes: Option<&String>,
    cluster: Option<&String>,
    complete: bool,
) {
    settings.set_facts(FactFlags {
        kubernetes_version: kubernetes.cloned(),
        cluster_name: cluster.cloned(),
        complete,
        strict_release: false,
    });
}

fn set_target(settings: &mut SettingsOptions, target: &QueryTarget, complete: bool) {
    set_facts(settings, target.kubernetes_version.as_ref(), target.cluster_name.as_ref(), complete);
}

fn report() -> ReportOptions {
    ReportOptions { format: Format::Json, quiet: true, ..ReportOptions::default() }
}

fn check_options(input: InputOptions, settings: SettingsOptions) -> CheckOptions {
    CheckOptions {
        root: input.root().map(Path::to_owned),
        input,
        settings,
        report: report(),
        render: None,
        force_exclude: false,
        baseline: None,
        fixing: None,
        wanted_fixes: WantedFixes::Safe,
        upgrade_to: None,
        statistics: false,
    }
}

pub(super) fn check(roots: &Roots, query: &CheckQuery) -> Result<CheckOptions, CommandError> {
    let CallInput { input, config } = of_source(roots, &query.source)?;
    let mut settings = settings(config, query.target.karpenter_version.as_deref());
    set_target(&mut settings, &query.target, query.complete);
    settings.set_selection(&query.select, &query.ignore);
    Ok(check_options(input, settings))
}

pub(super) fn upgrade(roots: &Roots, query: &UpgradeQuery) -> Result<CheckOptions, CommandError> {
    let CallInput { input, config } = of_source(roots, &query.source)?;
    let mut settings = settings(config, None);
    let upgrade_to = settings.set_upgrade_path(query.from.as_deref(), query.to.as_deref());
    set_facts(&mut settings, query.kubernetes_version.as_ref(), query.cluster_name.as_ref(), false);
    Ok(CheckOptions { upgrade_to, ..check_options(input, settings) })
}

fn choices(world: &QueryWorld, empty: bool) -> Result<Choices, CommandError> {
    let flags = SimulationFlags {
        replicas: world.replicas.clone(),
        region: world.region.clone(),
        zones: world.zones.clone(),
        feature_gates: world.feature_gates.clone(),
        empty,
        ..SimulationFlags::default()
    };
    flags.try_into()
}

pub(super) fn simulate(roots: &Roots, query: &SimulateQuery) -> Result<SimulateOptions, CommandError> {
    let CallInput { input, config } = of_source(roots, &query.source)?;
    Ok(SimulateOptions {
        input,
        settings: settings(config, query.karpenter_version.as_deref()),
        choices: choices(&query.world, query.empty)?,
        prices: None,
        format: SimulationFormat::Json,
        file: None,
        max_findings: MAX_FINDINGS,
    })
}

pub(super) fn disruption(roots: &Roots, query: &DisruptionQuery) -> Result<DisruptionOptions, CommandError> {
    let subject = match (&query.node, &query.pod) {
        (Some(_), Some(_)) => return Err(CommandError::Usage("pass `node` or `pod`, not both".to_owned())),
        (Some(node), None) => Some(StorySubject::Node(node.clone())),
        (None, pod) => pod.clone().map(StorySubject::Pod),
    };
    let CallInput { input, config } = of_source(roots, &query.source)?;
    Ok(DisruptionOptions {
        input,
        settings: settings(config, query.karpenter_version.as_deref()),
        choices: Choices::default(),
        prices: None,
        at: query.at.as_deref().map_or_else(|| Ok(clock::now()), time)?,
        clock: Clock::parse("UTC")?,
        node_counts: BTreeMap::default(),
        nominated: std::collections::BTreeSet::default(),
        marked_for_deletion: std::collections::BTreeSet::default(),
        subject,
        format: DisruptionFormat::Json,
        all: false,
        file: None,
        max_findings: MAX_FINDINGS,
    })
}

pub(super) fn plan(roots: &Roots, query: &PlanQuery) -> Result<PlanRun, CommandError> {
    let (old, new) = ((OLD, &query.old_text), (NEW, &query.new_text));
    let texts: Vec<(&str, &str)> =
        [old, new].into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?))).collect();
    let paths: Vec<&str> = [&query.new_path, &query.old_path, &query.snapshot]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let CallInput { mut input, config } = call_input(roots, &texts, &paths)?;
    let side = |name: &str, text: &Option<String>, path: &Option<String>| match (text, path) {
        (Some(_), _) => Ok(Some(PathBuf::from(name))),
        (None, Some(path)) => roots.resolve(path).map(Some),
        (None, None) => Ok(None),
    };
    let old = side(OLD, &query.old_text, &query.old_path)?;
    let new = side(NEW, &query.new_text, &query.new_path)?;
    let origin = match (&query.snapshot, &old) {
        (Some(folder), _) => PlanOrigin::Snapshot(vec![roots.resolve(folder)?]),
        (None, Some(_)) => PlanOrigin::Old,
        (None, None) => PlanOrigin::Same,
    };
    input.paths = old.into_iter().chain(new).collect();
    let mut settings = settings(config, query.karpenter_version.as_deref());
    let from = release("--from", query.from.as_deref(), &mut settings);
    let to = release("--to", query.to.as_deref(), &mut settings);
    Ok(PlanRun {
        origin,
        input,
        settings,
        complete: query.complete,
        namespace: None,
        from,
        to,
        at: query.at.as_deref().map_or_else(|| Ok(clock::now()), time)?,
        clock: Clock::parse("UTC")?,
        ca_bundle: None,
        forecast: ForecastSettings::default(),
        choices: choices(&query.world, false)?,
        prices: None,
        format: PlanFormat::Json,
        file: None,
        fail_on: vec![PlanFailOn::None],
    })
}

pub(super) fn diagnose(roots: &Roots, query: &DiagnoseQuery) -> Result<DiagnoseOptions, CommandError> {
    let CallInput { input, config } = of_source(roots, &query.source)?;
    let targets = [
        query.node.clone().map(StoryTarget::Node),
        query.pod.clone().map(StoryTarget::Pod),
        query.nodepool.clone().map(StoryTarget::NodePool),
    ];
    let mut targets = targets.into_iter().flatten();
    let story = targets.next().map(|target| StoryOptions { target, timeline: None });
    if targets.next().is_some() {
        return Err(CommandError::Usage("pass one of `node`, `pod` and `nodepool`".to_owned()));
    }
    let mut settings = settings(config, query.target.karpenter_version.as_deref());
    set_target(&mut settings, &query.target, false);
    settings.set_selection(&query.select, &query.ignore);
    Ok(DiagnoseOptions { input, settings, report: report(), story, max_decompressed_bytes: MAX_DECOMPRESSED })
}
