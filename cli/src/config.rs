//! Settings of a run, from the config file and from the flags, which take precedence.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use manifest::limits::Limits;
use manifest::source::{Source, Span};
use manifest::{Document, File};
use render::human;
use rule::settings::{Date, RuleLevel, Selector, Settings, Target, is_near_config_file, kubernetes_minor};
use values::calendar::Day;

use super::arguments::{Check, Color};
use super::input::{Base, Input, Patterns, read_error};
use super::terminal;

pub(super) use rule::settings::CONFIG_FILE as FILE;

/// Settings, and the config file that they come from.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) settings: Settings,
    pub(crate) path: Option<PathBuf>,
    /// Folder that the names of files in the report start from.
    pub(crate) base: Base,
}

impl Config {
    /// Resolves the path patterns of each override to input files. Prints an error for each invalid pattern.
    pub(crate) fn for_files<'i>(
        mut self,
        inputs: &(impl Iterator<Item = &'i Input> + Clone),
        color: Color,
    ) -> Option<Self> {
        for one in &mut self.settings.overrides {
            let patterns = Patterns::new(self.path.as_deref(), &one.paths, &[], color)?;
            let matches =
                |input: &&Input| input.assumed_path().is_some_and(|path| patterns.matches(path, false));
            one.files = inputs.clone().filter(matches).map(|input| input.name.clone()).collect();
            one.files.sort_unstable();
        }
        Some(self)
    }
}

/// Reads the settings of a run. Prints every error.
pub(crate) fn read(check: &Check, color: Color) -> Option<Config> {
    read_for(check, None, color)
}

/// Reads the settings of a run. `target` takes precedence over the releases of the flags and of the config file, and comes with
/// its remarks. Prints every error.
pub(crate) fn read_for(check: &Check, target: Option<(Target, Vec<String>)>, color: Color) -> Option<Config> {
    let path = check.choice.config.clone().or_else(|| nearest(check, color));
    read_from(path, check, target, color)
}

/// Reads the settings of a run from a config file, or from the flags alone. Prints every error.
pub(crate) fn read_from(
    path: Option<PathBuf>,
    check: &Check,
    target: Option<(Target, Vec<String>)>,
    color: Color,
) -> Option<Config> {
    let mut is_valid = true;
    let mut settings = match &path {
        None => Settings::default(),
        Some(path) => from_file(path, color).unwrap_or_else(|| {
            is_valid = false;
            Settings::default()
        }),
    };
    for problem in apply(check, &mut settings) {
        terminal::error(color, &human::printable(&problem));
        is_valid = false;
    }
    if let Some((target, remarks)) = target {
        settings.karpenter = target;
        settings.unknown_releases = remarks;
        settings.overrides.iter_mut().for_each(|one| one.karpenter = None);
    }
    for remark in &settings.unknown_releases {
        let remark = human::printable(remark);
        if check.target.strict_release {
            terminal::error(color, &format!("{remark}; `--strict-release` refuses it"));
            is_valid = false;
        } else if !check.output.quiet {
            terminal::note(color, &remark);
        }
    }
    settings.today = today();
    let base = Base::of_run(check, path.as_deref());
    is_valid.then_some(Config { settings, path, base })
}

/// Finds the config file in the working directory or in the nearest parent folder. Prints a note for each file in these
/// folders that is meant to be the config file, but has another name.
fn nearest(check: &Check, color: Color) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let found = here.ancestors().enumerate().find(|(_, folder)| folder.join(FILE).is_file());
    let searched = found.map_or(usize::MAX, |(above, _)| above + 1);
    for folder in here.ancestors().take(searched).filter(|_| !check.output.quiet) {
        for name in near_names(folder) {
            let path = human::printable(&Base::here().name(&folder.join(name)));
            terminal::note(color, &format!("`{path}` is not read: the name of the config file is `{FILE}`"));
        }
    }
    // A relative path is easier to read in messages.
    found.map(|(above, _)| std::iter::repeat_n("..", above).collect::<PathBuf>().join(FILE))
}

/// Files of a folder that are meant to be the config file, sorted.
fn near_names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = files.filter(|entry| entry.path().is_file());
    let names = files.filter_map(|entry| entry.file_name().into_string().ok());
    let mut near: Vec<String> = names.filter(|name| is_near_config_file(name)).collect();
    near.sort_unstable();
    near
}

fn from_file(path: &Path, color: Color) -> Option<Settings> {
    let name = path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let reason = read_error(&error);
            terminal::error(color, &format!("cannot read the config file `{name}`: {reason}"));
            return None;
        }
    };
    let file = File::from_bytes(name.clone(), bytes, &Limits::DEFAULT);
    if let [Document::Unreadable { message, .. }] = file.documents.as_slice()
        && file.source.text().is_empty()
    {
        terminal::error(color, &format!("cannot read the config file `{name}`: {message}"));
        return None;
    }
    match Settings::parse_file(&file, &REGISTRY) {
        Ok(settings) => Some(settings),
        Err(problems) => {
            for problem in problems {
                show_error(&file.source, problem.span, &problem.to_string(), color);
            }
            None
        }
    }
}

fn show_error(source: &Source, span: Span, message: &str, color: Color) {
    use std::io::Write as _;
    let mut stream = terminal::stderr(color);
    let text = human::problem(source, span, message, color.on_stderr());
    // A closed standard error is not an error.
    let _ = writeln!(stream, "{text}\n");
}

/// Applies the flags, which take precedence over the config file. Returns an error message for each invalid flag.
fn apply(check: &Check, settings: &mut Settings) -> Vec<String> {
    let mut problems = Vec::new();
    apply_target(check, settings, &mut problems);
    let mut selectors = |flag: &str, names: &[String]| -> Vec<Selector> {
        let parsed =
            names.iter().filter_map(|name| match Selector::parse_selection(name.trim(), &REGISTRY) {
                Ok(selector) => Some(selector),
                Err(message) => {
                    problems.push(format!("{flag}: {message}; `karpwarden rules` lists them"));
                    None
                }
            });
        parsed.collect()
    };
    settings.select = selectors("--select", &check.choice.select);
    settings.ignore = selectors("--ignore", &check.choice.ignore);
    let selected = settings.select.clone();
    settings.levels.retain(|(selector, level)| *level != RuleLevel::Off || !overrules(&selected, *selector));
    problems
}

fn apply_target(check: &Check, settings: &mut Settings, problems: &mut Vec<String>) {
    let flags = &check.target;
    if let Some(text) = &flags.karpenter_version {
        match Target::parse_with_notes(text) {
            Ok((target, notes)) => {
                settings.karpenter = target;
                settings.is_karpenter_version_set = true;
                let notes = notes.into_iter().map(|note| format!("--karpenter-version: {note}"));
                settings.unknown_releases = notes.collect();
            }
            Err(message) => problems.push(format!("--karpenter-version: {message}")),
        }
    }
    if let Some(text) = &flags.kubernetes_version {
        settings.kubernetes_minor = kubernetes_minor(text);
        if settings.kubernetes_minor.is_none() {
            problems.push(format!(
                "--kubernetes-version: `{text}` is not a Kubernetes version; write a version such as 1.33"
            ));
        }
    }
    if let Some(name) = &flags.cluster_name {
        if name.trim().is_empty() {
            problems.push("--cluster-name: must not be empty".to_owned());
        }
        settings.cluster_name = Some(name.clone());
    }
    settings.complete_inventory |= flags.complete;
    for one in &mut settings.overrides {
        one.karpenter = one.karpenter.filter(|_| flags.karpenter_version.is_none());
        one.kubernetes_minor = one.kubernetes_minor.filter(|_| flags.kubernetes_version.is_none());
        one.cluster_name = one.cluster_name.take().filter(|_| flags.cluster_name.is_none());
    }
}

/// Whether `--select` names a rule or family that the config file turns off, or a rule of a family that it turns off. `all`
/// names none of them.
fn overrules(selected: &[Selector], off: Selector) -> bool {
    selected.iter().any(|selector| match (selector, off) {
        (Selector::All, _) => false,
        (Selector::One(_, own), Selector::Family(family)) => *own == family,
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
        let rule = Selector::parse("instance-profile-is-arn", &REGISTRY).unwrap();
        let family = Selector::parse("nodeclass", &REGISTRY).unwrap();
        assert!(overrules(&[rule], family));
        assert!(overrules(&[family], family));
        assert!(!overrules(&[Selector::All], family));
        assert!(!overrules(&[family], rule));
    }
}
