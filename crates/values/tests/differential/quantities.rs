//! Quantities: `resource.ParseQuantity`, the canonical form, `Value` and `MilliValue`.

use karpwarden_values::quantity::Quantity;
use serde_json::Value as Json;

use crate::compare::{Difference, compare};

/// The canonical form, the units and the thousandths, or `None` for a refused text.
type Parsed = Option<(String, i64, i64)>;

const DIFFERENCES: &[Difference<Parsed>] = &[
    Difference {
        reason: "amounts end at 10^29 units here, and have no limit in Go",
        texts: 2_905,
        explains: |text, go, ours| {
            let (Some(go), Some(ours)) = (go, ours) else { return false };
            amount(text).abs() > 1.7e29 && (go.1, go.2) == (ours.1, ours.2)
        },
    },
    Difference {
        reason: "Go prints a multiple of 1000E without the suffix, which is another amount",
        texts: 68,
        explains: |_, go, ours| {
            let (Some(go), Some(ours)) = (go, ours) else { return false };
            let bare = ours.0.strip_suffix("000E").map(|number| number.trim_end_matches("000"));
            bare == Some(&go.0) && (go.1, go.2) == (ours.1, ours.2)
        },
    },
];

/// The approximate amount of a quantity in the decimal notations.
fn amount(text: &str) -> f64 {
    let suffixes = [
        ("n", "e-9"),
        ("u", "e-6"),
        ("m", "e-3"),
        ("k", "e3"),
        ("M", "e6"),
        ("G", "e9"),
        ("T", "e12"),
        ("P", "e15"),
        ("E", "e18"),
    ];
    let suffix =
        suffixes.iter().find_map(|(suffix, power)| Some(text.strip_suffix(suffix)?.to_owned() + power));
    suffix.as_deref().unwrap_or(text).parse().unwrap_or(0.0)
}

#[test]
fn parses_prints_and_rounds_quantities_as_go_does() {
    compare(include_bytes!("quantities.jsonl.gz"), DIFFERENCES, go, |text, _| {
        let quantity = Quantity::parse(text).ok()?;
        Some((quantity.to_string(), quantity.units(), quantity.milli()))
    });
}

fn go(results: &[Json]) -> Parsed {
    let [canonical, units, milli] = results else { return None };
    let canonical = canonical.as_str().unwrap();
    // Go's `Value` overflows where ours saturates.
    let most = if canonical.starts_with('-') { i64::MIN } else { i64::MAX };
    let number = |number: &Json| if number.is_null() { most } else { number.as_i64().unwrap() };
    Some((canonical.to_owned(), number(units), number(milli)))
}
