//! Network interfaces, placement groups and connection tracking of an EC2NodeClass.

use super::super::stored::present;
use super::{Breaches, Held, Relation, always};
use manifest::tree::{Node, Value};

/// `spec.networkInterfaces`.
pub(in super::super) const INTERFACES: &[Relation] = &[always(has_a_primary), always(each_once)];

/// `spec.placementGroupSelector`.
pub(in super::super) const PLACEMENT_GROUP: &[Relation] = &[always(name_or_id)];

/// `spec.connectionTracking`.
pub(in super::super) const CONNECTION_TRACKING: &[Relation] = &[always(some_timeout)];

/// An interface: its card and its device.
fn place(interface: Node<'_>) -> (Option<Value<'_>>, Option<Value<'_>>) {
    let value = |field| present(interface, field).map(Node::value);
    (value("networkCardIndex"), value("deviceIndex"))
}

fn has_a_primary<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    let primary = |interface: Node<'d>| {
        place(interface) == (Some(Value::Int(0)), Some(Value::Int(0)))
            && interface.str_at(&["interfaceType"]) == Some("interface")
    };
    if held.node.is_sequence() && !held.node.is_empty() && !held.node.items().any(primary) {
        breaches.add(
            held.node,
            "`networkInterfaces` has no primary interface",
            "write one of `interfaceType: interface` with `networkCardIndex: 0` and `deviceIndex: 0`, without a fraction",
        );
    }
}

fn each_once<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    let mut places = Vec::new();
    let mut fabric_cards = Vec::new();
    for interface in held.node.items() {
        let (card, device) = place(interface);
        // A number with a fraction, even `.0`, stops the server's comparison.
        let fraction = |value: Option<Value<'_>>| matches!(value, Some(Value::Float(_)));
        let (Some(Value::Int(card)), Some(Value::Int(device))) = (card, device) else {
            if fraction(card) || fraction(device) {
                breaches.add(
                    interface,
                    "an interface has an index with a fraction",
                    "write whole numbers without a fraction",
                );
            }
            continue;
        };
        places.push((card, device, interface));
        if interface.str_at(&["interfaceType"]) == Some("efa-only") {
            fabric_cards.push((card, interface));
        }
    }
    places.sort_by_key(|(card, device, interface)| (*card, *device, interface.order()));
    for pair in places.windows(2) {
        if let [one, other] = pair
            && (one.0, one.1) == (other.0, other.1)
        {
            breaches.add(
                other.2,
                format!("two interfaces are device {} of network card {}", other.1, other.0),
                "give each interface a `deviceIndex` of its own",
            );
        }
    }
    fabric_cards.sort_by_key(|(card, interface)| (*card, interface.order()));
    for pair in fabric_cards.windows(2) {
        if let [one, other] = pair
            && one.0 == other.0
        {
            breaches.add(
                other.1,
                format!("network card {} has two interfaces of type `efa-only`", other.0),
                "keep one `efa-only` interface on each network card",
            );
        }
    }
}

fn name_or_id<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    match (held.get("name"), held.get("id")) {
        (Some(name), Some(_)) => {
            breaches.add_key(
                name,
                "`placementGroupSelector` has a `name` and an `id`",
                "keep one of the two",
            );
        }
        (None, None) if held.node.is_mapping() => {
            breaches.add(
                held.node,
                "`placementGroupSelector` has neither a `name` nor an `id`",
                "write one of the two",
            );
        }
        _ => {}
    }
}

fn some_timeout<'d>(held: Held<'d>, breaches: &mut Breaches<'d>) {
    let timeouts = ["tcpEstablishedTimeout", "udpStreamTimeout", "udpTimeout"];
    // A number with a fraction, even `.0`, stops the server's question whether it is there.
    let there =
        |field: &&str| held.get(field).is_some_and(|timeout| !matches!(timeout.value(), Value::Float(_)));
    if held.node.is_mapping() && !timeouts.iter().any(there) {
        breaches.add(
            held.node,
            "`connectionTracking` sets no timeout",
            "write a whole number of seconds for `tcpEstablishedTimeout`, `udpStreamTimeout` or `udpTimeout`, or remove `connectionTracking`",
        );
    }
}
