//! `karpwarden upgrade`: shows what breaks or changes in the manifests between two Karpenter releases. The command checks
//! against every release on the upgrade path and shows the findings that begin there.

use std::io;

use karpenter::release::Release;
use karpenter::upgrade_path::UpgradePath;
use report::human::printable;
use lint::settings::Target;

use super::arguments::{Check, Color, FixFlags, TargetFlags, Upgrade};
use super::{Status, check, terminal};

pub(crate) fn run(upgrade: Upgrade, color: Color) -> io::Result<Status> {
    let Some(path) = upgrade_path(&upgrade, color) else { return Ok(Status::Usage) };
    let check = Check {
        input: upgrade.input,
        target: TargetFlags {
            karpenter_version: None,
            kubernetes_version: upgrade.facts.kubernetes_version,
            cluster_name: upgrade.facts.cluster_name,
            complete: upgrade.facts.complete,
        },
        choice: upgrade.choice,
        output: upgrade.output,
        fixing: FixFlags::default(),
        bounds: upgrade.bounds,
    };
    check::run_against(&check, Some(Target::on_upgrade(path)), color)
}

/// The upgrade path of the flags. Prints every error in the flags to standard error.
fn upgrade_path(upgrade: &Upgrade, color: Color) -> Option<UpgradePath> {
    let read = |flag: &str, text: &str| match Release::parse(text.trim()) {
        Ok(release) => Some(release),
        Err(error) => {
            terminal::error(color, &printable(&format!("{flag}: {error}")));
            None
        }
    };
    let from = read("--from", &upgrade.from);
    let to = upgrade.to.as_deref().map_or(Some(Release::NEWEST), |to| read("--to", to));
    Some(UpgradePath::new(from?, to?))
}
