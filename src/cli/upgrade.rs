//! `karpwarden upgrade`: what the manifests lose or break on the way from one release to another. It is a check against
//! every release on the way that shows what begins there.

use std::io;

use karpenter::release::Release;
use karpenter::way::Way;
use report::human::printable;
use lint::settings::Target;

use super::arguments::{Check, Color, FixFlags, TargetFlags, Upgrade};
use super::{Status, check, terminal};

pub(crate) fn run(upgrade: Upgrade, color: Color) -> io::Result<Status> {
    let Some(way) = way(&upgrade, color) else { return Ok(Status::Usage) };
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
    check::run_against(&check, Some(Target::on_the_way(way)), color)
}

/// The way that the flags name. What is wrong with them is said on standard error, all of it.
fn way(upgrade: &Upgrade, color: Color) -> Option<Way> {
    let read = |flag: &str, text: &str| match Release::parse(text.trim()) {
        Ok(release) => Some(release),
        Err(error) => {
            terminal::error(color, &printable(&format!("{flag}: {error}")));
            None
        }
    };
    let from = read("--from", &upgrade.from);
    let to = upgrade.to.as_deref().map_or(Some(Release::NEWEST), |to| read("--to", to));
    Some(Way::new(from?, to?))
}
