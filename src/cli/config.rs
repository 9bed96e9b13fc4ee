//! The settings of a run: the config file, and the flags, which win over it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use manifest::limits::Limits;
use manifest::source::{Source, Span};
use manifest::{Document, File};
use report::human;
use lint::settings::{Date, Level, Selector, Settings, Target, kubernetes_minor};

use super::arguments::{Check, Color};
use super::input::Input;
use super::patterns::Patterns;
use super::{input, terminal};

/// The name under which a config file is looked for.
pub(super) const FILE: &str = "karpwarden.yaml";

/// The settings, and the config file they come from.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) settings: Settings,
    pub(crate) path: Option<PathBuf>,
}

impl Config {
    /// The same for these files: each override knows which of them it is about. A pattern that cannot be read is said on
    /// standard error.
    pub(crate) fn for_files<'i>(
        mut self,
        inputs: &(impl Iterator<Item = &'i Input> + Clone),
        color: Color,
    ) -> Option<Self> {
        for one in &mut self.settings.overrides {
            let patterns = Patterns::new(self.path.as_deref(), &one.paths, &[], color)?;
            let fits = |input: &&Input| input.place().is_some_and(|path| patterns.fit(path, false));
            one.files = inputs.clone().filter(fits).map(|input| input.name.clone()).collect();
            one.files.sort_unstable();
        }
        Some(self)
    }
}

/// Reads the settings of a run. What is wrong is said on standard error, all of it.
pub(crate) fn read(check: &Check, color: Color) -> Option<Config> {
    let path = check.choice.config.clone().or_else(nearest);
    let mut sound = true;
    let mut settings = match &path {
        None => Settings::default(),
        Some(path) => from_file(path, color).unwrap_or_else(|| {
            sound = false;
            Settings::default()
        }),
    };
    for problem in apply(check, &mut settings) {
        terminal::error(color, &human::printable(&problem));
        sound = false;
    }
    settings.today = today();
    sound.then_some(Config { settings, path })
}

/// The config file of this folder, or of the nearest one above it that has one.
fn nearest() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let found = here.ancestors().enumerate().find(|(_, folder)| folder.join(FILE).is_file());
    // Named relative to where we are, as a person would.
    found.map(|(above, _)| std::iter::repeat_n("..", above).collect::<PathBuf>().join(FILE))
}

fn from_file(path: &Path, color: Color) -> Option<Settings> {
    let name = path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let reason = input::unread(&error);
            terminal::error(color, &format!("cannot read the config file `{name}`: {reason}"));
            return None;
        }
    };
    let file = File::from_bytes(name.clone(), bytes, &Limits::DEFAULT);
    let say = |span: Span, message: &str| show(&file.source, span, message, color);
    match file.documents.as_slice() {
        [] => Some(Settings::default()),
        [Document::Read(tree)] => match Settings::read(tree.root(), &REGISTRY) {
            Ok(settings) => Some(settings),
            Err(problems) => {
                for problem in problems {
                    say(problem.span, &problem.to_string());
                }
                None
            }
        },
        [Document::Unreadable { message, .. }] if file.source.text().is_empty() => {
            terminal::error(color, &format!("cannot read the config file `{name}`: {message}"));
            None
        }
        [Document::Unreadable { at, message }] => {
            say(Span::new(*at, at + 1), message);
            None
        }
        [Document::Template(span)] => {
            say(*span, "the config file is a template; render it first");
            None
        }
        [_, second, ..] => {
            say(
                Span::new(second.start(), second.start() + 1),
                "the config file holds one document; this is a second",
            );
            None
        }
    }
}

fn show(source: &Source, span: Span, message: &str, color: Color) {
    use std::io::Write as _;
    let mut stream = terminal::stderr(color);
    let text = human::problem(source, span, message, color.on_stderr());
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(stream, "{text}\n");
}

/// Lets the flags win over the settings, and tells everything that is wrong with them.
fn apply(check: &Check, settings: &mut Settings) -> Vec<String> {
    let mut problems = Vec::new();
    let flags = &check.target;
    if let Some(text) = &flags.karpenter_version {
        match Target::parse(text) {
            Ok(target) => {
                settings.karpenter = target;
                settings.karpenter_is_said = true;
            }
            Err(message) => problems.push(format!("--karpenter-version: {message}")),
        }
    }
    if let Some(text) = &flags.kubernetes_version {
        settings.kubernetes_minor = kubernetes_minor(text);
        if settings.kubernetes_minor.is_none() {
            problems.push(format!(
                "--kubernetes-version: `{text}` is no Kubernetes version; write one such as 1.33"
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
    let mut selectors = |flag: &str, names: &[String]| -> Vec<Selector> {
        let read = names.iter().filter_map(|name| match Selector::parse(name.trim(), &REGISTRY) {
            Ok(selector) => Some(selector),
            Err(message) => {
                problems.push(format!("{flag}: {message}; `karpwarden rules` lists them"));
                None
            }
        });
        read.collect()
    };
    settings.select = selectors("--select", &check.choice.select);
    settings.ignore = selectors("--ignore", &check.choice.ignore);
    let selected = settings.select.clone();
    settings.levels.retain(|(selector, level)| *level != Level::Off || !overrules(&selected, *selector));
    problems
}

/// Whether what is selected by a flag is what the config file turns off, or a part of it.
fn overrules(selected: &[Selector], off: Selector) -> bool {
    selected.iter().any(|selector| match (selector, off) {
        (Selector::One(_, own), Selector::Family(family)) => *own == family,
        (one, other) => *one == other,
    })
}

/// Today in UTC: the engine reads no clock.
fn today() -> Option<Date> {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs() / 86_400;
    i64::try_from(days).ok().map(Date::since_epoch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selected_rule_wins_over_a_family_that_is_off() {
        let rule = Selector::parse("instance-profile-is-arn", &REGISTRY).unwrap();
        let family = Selector::parse("nodeclass", &REGISTRY).unwrap();
        assert!(overrules(&[rule], family));
        assert!(overrules(&[family], family));
        assert!(!overrules(&[family], rule));
    }
}
