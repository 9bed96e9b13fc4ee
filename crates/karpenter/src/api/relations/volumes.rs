//! The volumes of an EC2NodeClass.

use super::super::stored::present;
use super::{Breaches, Held, Relation, always};

/// `spec.blockDeviceMappings`.
pub(in super::super) const MAPPINGS: &[Relation] = &[always(one_root_volume)];

/// `spec.blockDeviceMappings[].ebs`.
pub(in super::super) const EBS: &[Relation] = &[always(has_a_size), always(rate_has_a_snapshot).since(5)];

fn one_root_volume<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    let roots = held.node.items().filter_map(|mapping| present(mapping, "rootVolume"));
    for second in roots.filter(|root| root.as_bool() == Some(true)).skip(1) {
        breaches.add_key(
            second,
            "two block device mappings are the root volume",
            "keep `rootVolume: true` on one of them",
        );
    }
}

fn has_a_size<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    if !held.has("snapshotID") && !held.has("volumeSize") {
        breaches.add(
            held.node,
            "a volume has neither a `volumeSize` nor a `snapshotID`",
            "write `volumeSize`, such as `100Gi`, or the snapshot that the volume is made from",
        );
    }
}

fn rate_has_a_snapshot<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    let Some(rate) = held.get("volumeInitializationRate") else { return };
    if held.get("snapshotID").is_none_or(|snapshot| snapshot.as_str() == Some("")) {
        breaches.add_key(
            rate,
            "a volume has a `volumeInitializationRate` and no `snapshotID`; only what comes from a snapshot is initialised",
            "write `snapshotID`, or remove `volumeInitializationRate`",
        );
    }
}
