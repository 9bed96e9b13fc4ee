//! The kubelet settings of an EC2NodeClass.

use super::super::stored::{may_be_absent, members, present};
use super::relation::{CheckedValue, Relation, Violations, always, is_unknown};
use manifest::tree::Value;
use values::spelling::nearest;

/// `spec.kubelet`.
pub(in super::super) const KUBELET: &[Relation] = &[
    always(high_above_low),
    always(|checked, violations| paired(checked, "evictionSoft", "evictionSoftGracePeriod", violations)),
    always(|checked, violations| paired(checked, "evictionSoftGracePeriod", "evictionSoft", violations)),
];

/// The maps of eviction signals.
pub(in super::super) const EVICTION_SIGNALS: &[Relation] =
    &[always(|checked, violations| keys_are(checked, &SIGNALS, violations))];

/// `kubeReserved` and `systemReserved`.
pub(in super::super) const RESERVED: &[Relation] = &[
    always(|checked, violations| {
        keys_are(checked, &RESERVABLE, violations);
    }),
    always(not_negative),
];

/// The resources that `kubeReserved` and `systemReserved` may have.
pub const RESERVABLE: [&str; 4] = ["cpu", "memory", "ephemeral-storage", "pid"];

/// The signals of eviction.
pub const SIGNALS: [&str; 6] = [
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "pid.available",
];

fn high_above_low<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    let (Some(high), Some(low)) =
        (checked.get("imageGCHighThresholdPercent"), checked.get("imageGCLowThresholdPercent"))
    else {
        return;
    };
    if is_unknown(high) || is_unknown(low) {
        return;
    }
    // The server cannot compare a number with a fraction, even `.0`.
    let above = match (high.value(), low.value()) {
        (Value::Int(high), Value::Int(low)) => high > low,
        _ => false,
    };
    if !above {
        violations
            .add(
                high,
                "`imageGCHighThresholdPercent` is not above `imageGCLowThresholdPercent`",
                "write whole numbers, the high threshold above the low one, such as 85 and 80",
            )
            .says("imageGCHighThresholdPercent must be greater than imageGCLowThresholdPercent");
    }
}

fn paired<'d>(checked: CheckedValue<'d>, one: &str, other: &str, violations: &mut Violations<'d>) {
    let Some(signals) = checked.get(one) else { return };
    let others = checked.get(other);
    if others.is_some_and(is_unknown) {
        return;
    }
    for (signal, value) in members(signals) {
        if others.is_none_or(|others| present(others, signal).is_none()) && !may_be_absent(value) {
            violations
                .add_key(
                    value,
                    format!("`kubelet.{one}` has `{signal}`, but `kubelet.{other}` does not"),
                    format!("write `{signal}` in both, or in neither"),
                )
                .says(format!("{one} OwnerKey does not have a matching {other}"));
            if others.is_none() {
                violations.stops_with(format!("no such key: {other}"));
            }
        }
    }
}

fn keys_are<'d>(checked: CheckedValue<'d>, known: &[&str], violations: &mut Violations<'d>) {
    for (key, value) in members(checked.node).filter(|(key, _)| !known.contains(key)) {
        let near =
            nearest(key, known.iter().copied()).map(|near| format!("write `{near}`; ")).unwrap_or_default();
        let names: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
        violations
            .add_key(
                value,
                format!("`kubelet.{}` has `{key}`, which is not a valid key there", checked.node.key()),
                format!("{near}the valid keys are {}", names.join(", ")),
            )
            .says(format!("valid keys for {} are ['{}']", checked.node.key(), known.join("','")));
    }
}

fn not_negative<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    for (key, value) in members(checked.node) {
        if value.as_str().is_some_and(|amount| amount.starts_with('-')) {
            violations
                .add(
                    value,
                    format!("`kubelet.{}` reserves a negative amount of `{key}`", checked.node.key()),
                    "write an amount of at least 0",
                )
                .says(format!("{} value cannot be a negative resource quantity", checked.node.key()));
        }
    }
}
