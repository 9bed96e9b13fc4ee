//! Network interfaces, placement groups and connection tracking of an EC2NodeClass.

use super::super::stored::{may_be_absent, present};
use super::relation::{CheckedValue, Relation, Violations, always, is_unknown};
use manifest::tree::{Node, Value};

/// `spec.networkInterfaces`.
pub(in super::super) const INTERFACES: &[Relation] = &[always(has_a_primary), always(each_once)];

/// `spec.placementGroupSelector`.
pub(in super::super) const PLACEMENT_GROUP: &[Relation] = &[always(name_or_id)];

/// `spec.connectionTracking`.
pub(in super::super) const CONNECTION_TRACKING: &[Relation] = &[always(some_timeout)];

/// The network card and the device of an interface.
fn place(interface: Node<'_>) -> (Option<Value<'_>>, Option<Value<'_>>) {
    let value = |field| present(interface, field).map(Node::value);
    (value("networkCardIndex"), value("deviceIndex"))
}

fn has_a_primary<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    let primary = |interface: Node<'d>| {
        let may_be = |field: &str, wanted: Value<'_>| {
            present(interface, field).is_some_and(|value| is_unknown(value) || value.value() == wanted)
        };
        is_unknown(interface)
            || may_be("networkCardIndex", Value::Int(0))
                && may_be("deviceIndex", Value::Int(0))
                && may_be("interfaceType", Value::String("interface"))
    };
    if checked.node.is_sequence() && !checked.node.is_empty() && !checked.node.items().any(primary) {
        violations.add(
            checked.node,
            "`networkInterfaces` has no primary interface",
            "add an interface with `interfaceType: interface`, `networkCardIndex: 0` and `deviceIndex: 0`; do not write fractions",
        ).says("networkInterfaces must include a primary interface with interfaceType='interface'");
    }
}

/// The API server's message about interfaces that are not distinct.
const ONCE: &str = "networkInterfaces must not have duplicate networkCardIndex and deviceIndex pairs, and can have at most one efa device per network card";

fn each_once<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    let mut places = Vec::new();
    let mut fabric_cards = Vec::new();
    for interface in checked.node.items() {
        let (card, device) = place(interface);
        // The server cannot compare a number with a fraction, even `.0`.
        let fraction = |value: Option<Value<'_>>| matches!(value, Some(Value::Float(_)));
        let (Some(Value::Int(card)), Some(Value::Int(device))) = (card, device) else {
            if fraction(card) || fraction(device) {
                violations
                    .add(
                        interface,
                        "an interface has an index with a fraction",
                        "write whole numbers without a fraction",
                    )
                    .says(ONCE);
            }
            continue;
        };
        places.push((card, device, interface));
        if interface.str_at(&["interfaceType"]) == Some("efa-only") {
            fabric_cards.push((card, 0, interface));
        }
    }
    for (card, device, interface) in repeated(places) {
        violations
            .add(
                interface,
                format!("two interfaces are device {device} of network card {card}"),
                "give each interface a different `deviceIndex`",
            )
            .says(ONCE);
    }
    for (card, _, interface) in repeated(fabric_cards) {
        violations
            .add(
                interface,
                format!("network card {card} has two interfaces of type `efa-only`"),
                "keep one `efa-only` interface on each network card",
            )
            .says(ONCE);
    }
}

/// An interface with its card and its device.
type Placed<'d> = (i64, i64, Node<'d>);

/// The interfaces at the place of an earlier interface.
fn repeated(mut interfaces: Vec<Placed<'_>>) -> Vec<Placed<'_>> {
    interfaces.sort_by_key(|(card, device, interface)| (*card, *device, interface.id()));
    let pairs = interfaces.iter().zip(interfaces.iter().skip(1));
    pairs.filter(|(one, other)| (one.0, one.1) == (other.0, other.1)).map(|(_, other)| *other).collect()
}

fn name_or_id<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    match (checked.get("name"), checked.get("id")) {
        (Some(one), Some(other)) if may_be_absent(one) || may_be_absent(other) => {}
        (Some(name), Some(_)) => {
            violations
                .add_key(
                    name,
                    "`placementGroupSelector` has both a `name` and an `id`",
                    "keep one of the two",
                )
                .says("'name' and 'id' are mutually exclusive");
        }
        (None, None) => {
            violations
                .add(
                    checked.node,
                    "`placementGroupSelector` has neither a `name` nor an `id`",
                    "write one of the two",
                )
                .says("expected at least one, got none, ['name', 'id']");
        }
        _ => {}
    }
}

fn some_timeout<'d>(checked: CheckedValue<'d>, violations: &mut Violations<'d>) {
    let timeouts = ["tcpEstablishedTimeout", "udpStreamTimeout", "udpTimeout"];
    // The server does not find a number with a fraction, even `.0`.
    let there =
        |field: &&str| checked.get(field).is_some_and(|timeout| !matches!(timeout.value(), Value::Float(_)));
    if checked.node.is_mapping() && !timeouts.iter().any(there) {
        violations.add(
            checked.node,
            "`connectionTracking` sets no timeout",
            "write a whole number of seconds for `tcpEstablishedTimeout`, `udpStreamTimeout` or `udpTimeout`, or remove `connectionTracking`",
        ).says("at least one of tcpEstablishedTimeout, udpStreamTimeout, or udpTimeout must be set");
    }
}
