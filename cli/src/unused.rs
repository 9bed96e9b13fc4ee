//! Settings of the config file that have no effect on a run.

use std::path::Path;

use answers::report::Report;
use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use rule::Runs;
use rule::finding::Family;
use rule::settings::{Exception, ExceptionId, RuleSelector};

use super::config::{Config, FILE};
use super::options::CheckOptions;

/// Returns a remark for each setting without effect.
pub(crate) fn remarks(options: &CheckOptions, config: &Config, report: &Report) -> Vec<String> {
    let settings = &config.settings;
    let mut remarks = Vec::new();
    if !checks_everything(options, config) {
        return remarks;
    }
    // An object that cannot be read may need an exception.
    let exceptions = if report.unreadable.is_empty() { settings.exceptions.as_slice() } else { &[] };
    for (id, exception) in ExceptionId::enumerate(exceptions) {
        let is_used = report.used_exceptions.contains(&id);
        if !is_used && can_be_used(exception) && exception.applies(settings.today) {
            let name = exception.rule.name();
            let index = id.index();
            remarks.push(format!("{FILE}: exceptions[{index}] (`{name}`) accepts no finding; remove it"));
        }
    }
    for (index, one) in settings.overrides.iter().enumerate().filter(|(_, one)| one.files.is_empty()) {
        let paths = one.paths.join("`, `");
        remarks.push(format!("{FILE}: overrides[{index}] matches no file; correct the paths `{paths}`"));
    }
    remarks
}

/// Whether the run checks the whole folder of the config file with every rule, so that a setting without effect is not needed.
fn checks_everything(options: &CheckOptions, config: &Config) -> bool {
    let is_narrowed = options.settings.is_selection() || !options.input.exclude.is_empty();
    let path = config.path.as_deref().and_then(|path| path.canonicalize().ok());
    let Some(folder) = path.as_deref().and_then(Path::parent) else { return false };
    let is_upgrade = config.settings.karpenter.upgrade_path().is_some();
    let holds_folder = |path: &Path| path.canonicalize().is_ok_and(|path| folder.starts_with(path));
    !is_narrowed && !is_upgrade && options.input.paths.iter().any(|path| holds_folder(path))
}

/// Whether `check` can find what the exception accepts: only `diagnose` finds symptoms, and only `upgrade` runs some rules.
fn can_be_used(exception: &Exception) -> bool {
    match exception.rule {
        RuleSelector::Family(family) => family != Family::Symptoms.name(),
        RuleSelector::All => true,
        RuleSelector::One(names) => {
            REGISTRY.find(names.name).is_some_and(|rule| rule.runs != Runs::OnUpgrade)
        }
    }
}
