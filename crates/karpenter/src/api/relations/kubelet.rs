//! The kubelet's settings in an EC2NodeClass.

use super::super::stored::members;
use super::{Breaches, Held, Relation, always};
use manifest::tree::Value;
use values::spelling::nearest;

/// `spec.kubelet`.
pub(in super::super) const KUBELET: &[Relation] = &[
    always(high_above_low),
    always(|held, breaches| paired(held, "evictionSoft", "evictionSoftGracePeriod", breaches)),
    always(|held, breaches| paired(held, "evictionSoftGracePeriod", "evictionSoft", breaches)),
];

/// The maps of eviction signals.
pub(in super::super) const EVICTION_SIGNALS: &[Relation] =
    &[always(|held, breaches| keys_are(held, &SIGNALS, breaches))];

/// `kubeReserved` and `systemReserved`.
pub(in super::super) const RESERVED: &[Relation] = &[
    always(|held, breaches| keys_are(held, &["cpu", "memory", "ephemeral-storage", "pid"], breaches)),
    always(not_negative),
];

const SIGNALS: [&str; 6] = [
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "pid.available",
];

fn high_above_low<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    let (Some(high), Some(low)) =
        (held.get("imageGCHighThresholdPercent"), held.get("imageGCLowThresholdPercent"))
    else {
        return;
    };
    // A number with a fraction, even `.0`, stops the server's comparison.
    let above = match (high.value(), low.value()) {
        (Value::Int(high), Value::Int(low)) => high > low,
        _ => false,
    };
    if !above {
        breaches.add(
            high,
            "`imageGCHighThresholdPercent` is not above `imageGCLowThresholdPercent`",
            "write whole numbers with the high one above the low one, such as 85 and 80",
        );
    }
}

fn paired<'d>(held: Held<'d>, one: &str, other: &str, breaches: &mut Breaches<'d>) {
    let Some(signals) = held.get(one) else { return };
    let others = held.get(other);
    for (signal, value) in members(signals) {
        if others.is_none_or(|others| super::present(others, signal).is_none()) {
            breaches.add_key(
                value,
                format!("`kubelet.{one}` has `{signal}` and `kubelet.{other}` has not"),
                format!("write `{signal}` in both, or remove it"),
            );
        }
    }
}

fn keys_are<'d>(held: Held<'d>, known: &[&str], breaches: &mut Breaches<'d>) {
    for (key, value) in members(held.node).filter(|(key, _)| !known.contains(key)) {
        let near =
            nearest(key, known.iter().copied()).map(|near| format!("write `{near}`; ")).unwrap_or_default();
        let names: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
        breaches.add_key(
            value,
            format!("`kubelet.{}` has `{key}`, which the kubelet does not know there", held.node.key()),
            format!("{near}known are {}", names.join(", ")),
        );
    }
}

fn not_negative<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    for (key, value) in members(held.node) {
        if value.as_str().is_some_and(|amount| amount.starts_with('-')) {
            breaches.add(
                value,
                format!("`kubelet.{}` reserves less than nothing of `{key}`", held.node.key()),
                "write an amount from 0 on",
            );
        }
    }
}
