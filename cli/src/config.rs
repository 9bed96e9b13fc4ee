//! Settings of a run, from the config file and from the flags, which take precedence.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use manifest::limits::Limits;
use manifest::{Document, File};
use render::human;
use rule::Rule;
use rule::settings::{Date, RuleLevel, RuleSelector, Settings, is_near_config_file};
use values::calendar::Day;

use super::error::CommandError;
use super::input::{BaseFolder, InputError, InputFile, Patterns, read_regular};
use super::messages::Messages;
use super::options::{ConfigSource, InputOptions, SettingsOptions};

pub(super) use rule::settings::CONFIG_FILE as FILE;

/// Settings, and the config file that they come from.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) settings: Settings,
    pub(crate) path: Option<PathBuf>,
    /// Folder that the names of files in the report start from.
    pub(crate) base: BaseFolder,
}

impl Config {
    /// Paths that the config file and the options exclude. Reports each invalid pattern.
    pub(crate) fn excluded(
        &self,
        input: &InputOptions,
        messages: &dyn Messages,
    ) -> Result<Patterns, CommandError> {
        Patterns::new(self.path.as_deref(), &self.settings.exclude, &input.exclude, messages)
    }

    /// Resolves the path patterns of each override to input files. Reports each invalid pattern.
    pub(crate) fn for_files<'i>(
        mut self,
        inputs: &(impl Iterator<Item = &'i InputFile> + Clone),
        messages: &dyn Messages,
    ) -> Result<Self, CommandError> {
        for one in &mut self.settings.overrides {
            let patterns = Patterns::new(self.path.as_deref(), &one.paths, &[], messages)?;
            let matches =
                |input: &&InputFile| input.assumed_path().is_some_and(|path| patterns.matches(path, false));
            one.files = inputs.clone().filter(matches).map(|input| input.name.clone()).collect();
            one.files.sort_unstable();
        }
        Ok(self)
    }
}

/// The config file of a run. Reports each file that is meant to be the config file, but has another name.
pub(crate) fn path(options: &SettingsOptions, messages: &dyn Messages) -> Option<PathBuf> {
    match &options.config {
        ConfigSource::Nearest => nearest(options.quiet, messages),
        ConfigSource::At(path) => Some(path.clone()),
        ConfigSource::None => None,
    }
}

/// Reads the settings of a run. Reports every error.
pub(crate) fn read(
    options: &SettingsOptions,
    input: &InputOptions,
    messages: &dyn Messages,
) -> Result<Config, CommandError> {
    let path = path(options, messages);
    let mut is_valid = true;
    let mut settings = match &path {
        None => Settings::default(),
        Some(path) => from_file(path, messages).unwrap_or_else(|| {
            is_valid = false;
            Settings::default()
        }),
    };
    for problem in &options.problems {
        messages.error(&human::printable(problem));
        is_valid = false;
    }
    apply(options, &mut settings);
    for remark in &settings.unknown_releases {
        let remark = human::printable(remark);
        if options.strict_release {
            messages.error(&format!("{remark}; `--strict-release` refuses it"));
            is_valid = false;
        } else if !options.quiet {
            messages.note(&remark);
        }
    }
    settings.today = today();
    let base = BaseFolder::of_run(input, path.as_deref());
    if is_valid { Ok(Config { settings, path, base }) } else { Err(CommandError::Printed) }
}

/// Finds the config file in the working directory or in the nearest parent folder. Reports each file in these
/// folders that is meant to be the config file, but has another name.
fn nearest(quiet: bool, messages: &dyn Messages) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let found = here.ancestors().enumerate().find(|(_, folder)| folder.join(FILE).is_file());
    let searched = found.map_or(usize::MAX, |(above, _)| above + 1);
    for folder in here.ancestors().take(searched).filter(|_| !quiet) {
        for name in near_names(folder) {
            let path = human::printable(&BaseFolder::here().name(&folder.join(name)));
            messages.note(&format!("`{path}` is not read: the name of the config file is `{FILE}`"));
        }
    }
    // A relative path is easier to read in messages.
    found.map(|(above, _)| std::iter::repeat_n("..", above).collect::<PathBuf>().join(FILE))
}

/// Files of a folder that are meant to be the config file, sorted.
fn near_names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    // Only the names that match are looked up: a folder like `/tmp` has thousands of others.
    let near = names.filter(|name| is_near_config_file(name) && folder.join(name).is_file());
    let mut near: Vec<String> = near.collect();
    near.sort_unstable();
    near
}

fn from_file(path: &Path, messages: &dyn Messages) -> Option<Settings> {
    let name = path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    let bytes = match read_regular(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let reason = InputError::from(error);
            messages.error(&format!("cannot read the config file `{name}`: {reason}"));
            return None;
        }
    };
    let file = File::from_bytes(name.clone(), bytes, &Limits::DEFAULT);
    if let [Document::Unreadable { error, .. }] = file.documents.as_slice()
        && file.source.text().is_empty()
    {
        messages.error(&format!("cannot read the config file `{name}`: {error}"));
        return None;
    }
    match Settings::parse_file(&file, &REGISTRY) {
        Ok(settings) => Some(settings),
        Err(problems) => {
            for problem in problems {
                messages.problem(&file.source, problem.span, &problem.to_string());
            }
            None
        }
    }
}

/// Applies the options, which take precedence over the config file.
fn apply(options: &SettingsOptions, settings: &mut Settings) {
    if let Some((target, remarks)) = &options.karpenter {
        settings.karpenter = *target;
        settings.is_karpenter_version_set |= target.upgrade_path().is_none();
        settings.unknown_releases.clone_from(remarks);
    }
    settings.unknown_releases.extend_from_slice(&options.remarks);
    settings.kubernetes_minor = options.kubernetes_minor.or(settings.kubernetes_minor);
    if options.cluster_name.is_some() {
        settings.cluster_name.clone_from(&options.cluster_name);
    }
    settings.complete_inventory |= options.complete_inventory;
    for one in &mut settings.overrides {
        one.karpenter = one.karpenter.filter(|_| options.karpenter.is_none());
        one.kubernetes_minor = one.kubernetes_minor.filter(|_| options.kubernetes_minor.is_none());
        one.cluster_name = one.cluster_name.take().filter(|_| options.cluster_name.is_none());
    }
    settings.select.clone_from(&options.select);
    settings.ignore.clone_from(&options.ignore);
    let selected = &options.select;
    settings.levels.retain(|(selector, level)| *level != RuleLevel::Off || !overrules(selected, *selector));
}

/// Whether `--select` names a rule or family that the config file turns off, or a rule of a family that it turns off. `all`
/// names none of them.
fn overrules(selected: &[RuleSelector], off: RuleSelector) -> bool {
    selected.iter().any(|selector| match (selector, off) {
        (RuleSelector::All, _) => false,
        (RuleSelector::One(rule), RuleSelector::Family(family)) => rule.is_in(family),
        // A rule that moved belongs to both families.
        (RuleSelector::Family(selected), RuleSelector::Family(family)) => {
            let mut rules = REGISTRY.rules().map(Rule::names);
            selected == &family || rules.any(|rule| rule.is_in(selected) && rule.is_in(family))
        }
        (one, other) => *one == other,
    })
}

/// Today's date in UTC. The engine reads no clock, so the settings carry the date.
fn today() -> Option<Date> {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs() / 86_400;
    Some(Day::since_epoch(i64::try_from(days).ok()?).date())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selected_rule_overrules_a_family_that_is_off() {
        let rule = RuleSelector::parse("instance-profile-is-arn", &REGISTRY).unwrap();
        let family = RuleSelector::parse("nodeclass", &REGISTRY).unwrap();
        assert!(overrules(&[rule], family));
        assert!(overrules(&[family], family));
        assert!(!overrules(&[RuleSelector::All], family));
        assert!(!overrules(&[family], rule));
    }

    #[test]
    fn selected_former_family_overrules_the_present_family_of_its_rules() {
        let family = |name| RuleSelector::parse(name, &REGISTRY).unwrap();
        assert!(overrules(&[family("controller")], family("labels")));
        assert!(overrules(&[family("access")], family("identity")));
        assert!(!overrules(&[family("storage")], family("labels")));
    }
}
