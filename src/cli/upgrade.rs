//! `karpwarden upgrade`: checks the manifests against every release on an upgrade path, and reports the problems that begin
//! there.

use std::io;

use karpenter::release::Release;
use karpenter::upgrade_path::UpgradePath;
use lint::settings::Target;
use report::human::printable;

use super::arguments::{Check, Color, FixFlags, TargetFlags, Upgrade};
use super::status::Status;
use super::{check, terminal};

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

/// Parses `--from` and `--to`. Prints an error for each invalid flag.
fn upgrade_path(upgrade: &Upgrade, color: Color) -> Option<UpgradePath> {
    let parse = |flag: &str, text: &str| match Release::parse(text.trim()) {
        Ok(release) => Some(release),
        Err(error) => {
            terminal::error(color, &printable(&format!("{flag}: {error}")));
            None
        }
    };
    let from = parse("--from", &upgrade.from);
    let to = upgrade.to.as_deref().map_or(Some(Release::NEWEST), |to| parse("--to", to));
    Some(UpgradePath::new(from?, to?))
}
