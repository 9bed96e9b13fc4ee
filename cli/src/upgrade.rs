//! `karpwarden upgrade`: checks the manifests against every release on an upgrade path, and reports the problems that begin
//! there.

use std::io;

use karpenter::release::{NearestRelease, Release};
use karpenter::upgrade_path::UpgradePath;
use render::human::printable;
use rule::settings::Target;

use super::arguments::{Check, Color, FixFlags, TargetFlags, Upgrade};
use super::status::Status;
use super::{check, terminal};

pub(crate) fn run(upgrade: Upgrade, color: Color) -> io::Result<Status> {
    let Some((path, notes)) = upgrade_path(&upgrade, color) else { return Ok(Status::Usage) };
    let check = Check {
        input: upgrade.input,
        target: TargetFlags {
            karpenter_version: None,
            kubernetes_version: upgrade.facts.kubernetes_version,
            cluster_name: upgrade.facts.cluster_name,
            complete: upgrade.facts.complete,
            strict_release: upgrade.facts.strict_release,
        },
        choice: upgrade.choice,
        output: upgrade.output,
        fixing: FixFlags::default(),
        statistics: false,
        bounds: upgrade.bounds,
    };
    check::run_against(&check, Some((Target::on_upgrade(path), notes)), color)
}

/// Parses `--from` and `--to`. Also returns a remark for each release that is not known. Prints an error for each invalid flag.
fn upgrade_path(upgrade: &Upgrade, color: Color) -> Option<(UpgradePath, Vec<String>)> {
    let mut notes = Vec::new();
    let mut parse = |flag: &str, text: &str| match NearestRelease::parse(text.trim()) {
        Ok(nearest) => {
            notes.extend(nearest.note().map(|note| format!("{flag}: {} is not known; {note}", text.trim())));
            Some(nearest.release())
        }
        Err(error) => {
            terminal::error(color, &printable(&format!("{flag}: {error}")));
            None
        }
    };
    let from = parse("--from", &upgrade.from);
    let to = upgrade.to.as_deref().map_or(Some(Release::NEWEST), |to| parse("--to", to));
    Some((UpgradePath::new(from?, to?), notes))
}
