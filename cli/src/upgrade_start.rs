//! Start of an upgrade path without `--from`: the release that the settings or else the pins of the input name.

use cluster::Cluster;
use engine::pins::{PlacedPin, placed_pins};
use karpenter::release::{PinnedRelease, PinnedVersion, Release};
use karpenter::upgrade_path::UpgradePath;
use render::human::printable;
use rule::settings::Target;

use super::config::{Config, FILE};
use super::error::CommandError;

/// Pins that a message names.
const MAX_PINS: usize = 4;

/// The first release of an upgrade path, and the reason for it.
struct UpgradeStart {
    release: Release,
    remark: String,
    /// Whether the release is the version that the input names, and not the nearest known release.
    is_known: bool,
}

/// The same config for an upgrade to a release, with a remark on the release at which the upgrade starts. `is_strict` refuses a pinned
/// version that is not known.
pub(crate) fn with_start(
    config: &Config,
    to: Release,
    clusters: &[Cluster],
    is_strict: bool,
) -> Result<Config, CommandError> {
    let start = if config.settings.is_karpenter_version_set {
        of_settings(config.settings.karpenter)
    } else {
        of_pins(&placed_pins(clusters))
    };
    let UpgradeStart { release, remark, is_known } = start.map_err(CommandError::Usage)?;
    if is_strict && !is_known {
        return Err(CommandError::Usage(format!("{remark}; `--strict-release` refuses it")));
    }
    let mut config = config.clone();
    config.settings.karpenter = Target::on_upgrade(UpgradePath::new(release, to));
    config.settings.unknown_releases.push(remark);
    for one in &mut config.settings.overrides {
        one.karpenter = None;
    }
    Ok(config)
}

fn of_settings(target: Target) -> Result<UpgradeStart, String> {
    let (release, _) = target.ends();
    if target.is_range() {
        return Err(format!(
            "`karpenterVersion` in {FILE} is the range {target}; name the release that runs now, such as `--from {release}`"
        ));
    }
    Ok(UpgradeStart {
        release,
        remark: format!("the upgrade starts at Karpenter {release}, as {FILE} says"),
        is_known: true,
    })
}

fn of_pins(pins: &[PlacedPin]) -> Result<UpgradeStart, String> {
    let [first, others @ ..] = pins else {
        return Err("`--from` is missing, and the input pins no version of Karpenter; name the release that runs now, such as `--from 1.8`".to_owned());
    };
    let common = others.iter().try_fold(first.version, |common, pin| common.common(pin.version));
    let Some(version) = common else {
        let shown = pins.iter().take(MAX_PINS).map(|pin| format!("{} in {}", pin.version, place(pin)));
        let more = if pins.len() > MAX_PINS { ", …" } else { "" };
        let shown = shown.collect::<Vec<_>>().join(", ");
        return Err(format!(
            "`--from` is missing, and the input pins several versions of Karpenter: {shown}{more}; name the release that runs now, or the folder of one cluster"
        ));
    };
    let place = place(first);
    let remark = format!("the upgrade starts at Karpenter {version}, which {place} pins");
    let release = match version.release() {
        PinnedRelease::BeforeV1 => return Err(before_v1(version, &place)),
        PinnedRelease::Known(release) => return Ok(UpgradeStart { release, remark, is_known: true }),
        PinnedRelease::NewerPatch(release) => release,
        PinnedRelease::Newer => Release::NEWEST,
    };
    let nearest = release.name_of_patch();
    let remark = format!("{remark}; it is not known, and checked as {nearest}");
    Ok(UpgradeStart { release, remark, is_known: false })
}

fn before_v1(version: PinnedVersion, place: &str) -> String {
    format!(
        "`--from` is missing, and {place} pins Karpenter {version}, which is older than 1.0, the first release that is covered; to see what an upgrade needs, use `--from 1.0`"
    )
}

fn place(pin: &PlacedPin) -> String {
    printable(&format!("{}:{}", pin.file, pin.line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pins(versions: &[&str]) -> Vec<PlacedPin> {
        let pin = |(index, text): (usize, &&str)| PlacedPin {
            version: PinnedVersion::parse(text).unwrap(),
            file: "a.yaml".to_owned(),
            line: index + 1,
        };
        versions.iter().enumerate().map(pin).collect()
    }

    #[test]
    fn starts_at_the_release_on_which_all_pins_agree() {
        let start = |versions: &[&str]| of_pins(&pins(versions)).map(|start| (start.release, start.remark));
        let known = |text: &str| Release::parse(text).unwrap();
        let remark = |text: &str| format!("the upgrade starts at Karpenter {text}, which a.yaml:1 pins");
        assert_eq!(start(&["1.6.2"]), Ok((known("1.6.2"), remark("1.6.2"))));
        assert_eq!(start(&["1.6.2", "1.6.3"]), Ok((known("1.6"), remark("1.6"))));
        let newer = format!("{}; it is not known, and checked as 1.6.8", remark("1.6.99"));
        assert_eq!(start(&["1.6.99"]), Ok((known("1.6"), newer)));
    }

    #[test]
    fn says_why_the_pins_name_no_start() {
        for (versions, reason) in [
            (&[][..], "pins no version"),
            (&["1.6.2", "1.8.0"], "several versions of Karpenter: 1.6.2 in a.yaml:1, 1.8.0 in a.yaml:2;"),
            (&["0.37.0"], "use `--from 1.0`"),
            (&["0.37.0", "1.8.0"], "several versions"),
        ] {
            let message = of_pins(&pins(versions)).err().unwrap();
            assert!(message.contains(reason), "{message}");
        }
    }

    #[test]
    fn a_range_in_the_settings_names_no_start() {
        assert!(of_settings(Target::parse("1.0..1.8").unwrap()).is_err());
        let start = of_settings(Target::parse("1.6").unwrap()).ok().unwrap();
        assert_eq!(start.release, Release::parse("1.6").unwrap());
    }
}
