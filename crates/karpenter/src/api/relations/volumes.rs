//! The volumes of an EC2NodeClass.

use super::super::stored::present;
use super::relation::{CheckedValue, Relation, Violations, always};

/// `spec.blockDeviceMappings`.
pub(in super::super) const MAPPINGS: &[Relation] = &[always(one_root_volume)];

/// `spec.blockDeviceMappings[].ebs`.
pub(in super::super) const EBS: &[Relation] = &[always(has_a_size), always(rate_has_a_snapshot).since(5)];

fn one_root_volume<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    let roots = checked.node.items().filter_map(|mapping| present(mapping, "rootVolume"));
    for second in roots.filter(|root| root.as_bool() == Some(true)).skip(1) {
        violations
            .add_key(
                second,
                "two block device mappings have `rootVolume: true`",
                "keep `rootVolume: true` in one of them",
            )
            .says("must have only one blockDeviceMappings with rootVolume");
    }
}

fn has_a_size<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    if !checked.has("snapshotID") && !checked.has("volumeSize") {
        violations.add(
            checked.node,
            "a volume has neither a `volumeSize` nor a `snapshotID`",
            "write `volumeSize`, such as `100Gi`, or `snapshotID`, the snapshot to create the volume from",
        ).says("snapshotID or volumeSize must be defined");
    }
}

fn rate_has_a_snapshot<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    let Some(rate) = checked.certain("volumeInitializationRate") else { return };
    if checked.get("snapshotID").is_none_or(|snapshot| snapshot.as_str() == Some("")) {
        violations.add_key(
            rate,
            "a volume has a `volumeInitializationRate` but no `snapshotID`; AWS initializes only volumes from snapshots",
            "write `snapshotID`, or remove `volumeInitializationRate`",
        ).says("snapshotID must be set when volumeInitializationRate is set");
    }
}
