//! The settings: the same keys in the policy, in the command line's config file and in the playground's form.

mod exception;
mod file_name;
pub mod keys;
mod look_ups;
mod on_exceeded_bound;
mod overrides;
mod parse;
mod problem;
mod selector;
mod severity;
mod target;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use karpenter::release::Release;

pub use exception::{Exception, ExceptionId, ObjectName};
pub use file_name::{CONFIG_FILE, is_near_config_file};
pub use look_ups::LookUps;
pub use on_exceeded_bound::OnExceededBound;
pub use overrides::Override;
pub use problem::SettingsProblem;
pub use selector::{RuleLevel, RuleSelector, UnknownName};
pub use target::{Target, TargetError};
pub use values::calendar::Date;

/// The settings of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings")]
pub struct Settings {
    /// The Karpenter releases to check against.
    pub karpenter: Target,
    /// Whether the author set the Karpenter version; if not, it comes from the log or from the pins of the input.
    pub is_karpenter_version_set: bool,
    /// Remarks on releases in the settings that this build does not know, and checks as the nearest known release.
    pub unknown_releases: Vec<String>,
    /// The minor of the cluster's Kubernetes 1.x.
    pub kubernetes_minor: Option<u8>,
    /// The name of the cluster, if known.
    pub cluster_name: Option<String>,
    /// Whether an object that is absent from the inventory is absent from the cluster.
    pub complete_inventory: bool,
    /// The levels of rules and families.
    pub levels: Vec<(RuleSelector, RuleLevel)>,
    /// The only rules that report findings; empty: all rules do.
    pub select: Vec<RuleSelector>,
    /// Rules that report no findings.
    pub ignore: Vec<RuleSelector>,
    /// Whether the annotation of an author counts in admission.
    pub allow_ignore_annotation: bool,
    /// Whether the policy returns the object with the safe fixes applied.
    pub fix: bool,
    /// Whether the policy returns errors as warnings, too. `auto` means yes: the host does not tell a policy its mode, and in mode
    /// `monitor` the errors would otherwise be lost (kubewarden/adm-controller crates/policy-evaluator, `runtimes/wapc/runtime.rs`:
    /// the payload of `validate` has only `request` and `settings`).
    pub announce_errors: bool,
    /// Whether an update is rejected for an error that the stored object already has.
    pub strict_updates: bool,
    /// The objects that the policy looks up.
    pub look_ups: LookUps,
    /// The policy's answer to a request whose check a bound stopped.
    pub on_exceeded_bound: OnExceededBound,
    /// Accepted findings, each with a reason.
    pub exceptions: Vec<Exception>,
    /// Paths to leave out when the command line searches a folder.
    pub exclude: Vec<String>,
    /// Whether the command line renders the Helm charts of the input.
    pub render: bool,
    /// Settings for some of the files.
    pub overrides: Vec<Override>,
    /// The current date, for exceptions with a last day. The front end sets it, because the engine reads no clock.
    pub today: Option<Date>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            karpenter: Target::only(Release::NEWEST),
            is_karpenter_version_set: false,
            unknown_releases: Vec::new(),
            kubernetes_minor: None,
            cluster_name: None,
            complete_inventory: false,
            levels: Vec::new(),
            select: Vec::new(),
            ignore: Vec::new(),
            allow_ignore_annotation: false,
            fix: false,
            announce_errors: true,
            strict_updates: false,
            look_ups: LookUps::All,
            on_exceeded_bound: OnExceededBound::Auto,
            exceptions: Vec::new(),
            exclude: Vec::new(),
            render: false,
            overrides: Vec::new(),
            today: None,
        }
    }
}

impl Settings {
    /// The settings for a file. Later overrides take precedence over earlier ones.
    pub fn of_file(&self, file: &str) -> Cow<'_, Self> {
        let mut settings = Cow::Borrowed(self);
        for overriding in self.overrides_of(file) {
            let changed = settings.to_mut();
            changed.karpenter = overriding.karpenter.unwrap_or(changed.karpenter);
            changed.kubernetes_minor = overriding.kubernetes_minor.or(changed.kubernetes_minor);
            if overriding.cluster_name.is_some() {
                changed.cluster_name.clone_from(&overriding.cluster_name);
            }
            changed.levels.extend(overriding.levels.iter().copied());
        }
        settings
    }

    /// Whether an override names the releases for a file.
    pub fn overrides_release_of(&self, file: &str) -> bool {
        self.overrides_of(file).any(|overriding| overriding.karpenter.is_some())
    }

    /// The releases to check a file against.
    pub fn release_of_file(&self, file: &str) -> Target {
        self.overrides_of(file).filter_map(|overriding| overriding.karpenter).last().unwrap_or(self.karpenter)
    }

    fn overrides_of(&self, file: &str) -> impl Iterator<Item = &Override> {
        let includes = |overriding: &&Override| {
            overriding.files.binary_search_by(|name| name.as_str().cmp(file)).is_ok()
        };
        self.overrides.iter().filter(includes)
    }
}

/// Parses the minor of a Kubernetes version such as `1.33`, `v1.33.2` or `1.33.2-eks-1234567`.
pub fn kubernetes_minor(text: &str) -> Option<u8> {
    let rest = text.strip_prefix('v').unwrap_or(text).strip_prefix("1.")?;
    let minor = rest.split(['.', '-', '+']).next()?;
    minor.parse().ok()
}
