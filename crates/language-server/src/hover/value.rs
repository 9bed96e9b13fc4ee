//! Durations and quantities as Karpenter reads them.

use karpenter::api::Limit;
use karpenter::api::pattern::{BUDGET_DURATION, DURATION, DURATION_OR_NEVER, LOOSE_DURATION, QUANTITY};
use values::duration::NillableDuration;
use values::quantity::{Notation, Quantity};

use crate::outline::EntryStep;
use crate::schema::{SchemaPlace, ends_with};

/// The paths of quantities in objects without a table.
const QUANTITIES: [&str; 3] = ["resources.requests.*", "resources.limits.*", "requests.storage"];

const DAY: i64 = 86_400;

/// The explanation of a scalar; `None` if it is neither a duration nor a quantity.
pub(super) fn explained(path: &[EntryStep<'_>], place: Option<SchemaPlace>, scalar: &str) -> Option<String> {
    let constraints = place.map(|place| place.schema.constraints).unwrap_or_default();
    let has = |patterns: &[&karpenter::api::pattern::FieldPattern]| {
        constraints.iter().any(|constraint| match constraint.limit {
            Limit::Pattern(own) => patterns.iter().any(|known| known.expression == own.expression),
            _ => false,
        })
    };
    if scalar.is_empty() {
        None
    } else if has(&[BUDGET_DURATION, DURATION, DURATION_OR_NEVER, LOOSE_DURATION]) {
        duration(scalar)
    } else if has(&[QUANTITY]) || QUANTITIES.iter().any(|known| ends_with(path, known)) {
        quantity(scalar)
    } else {
        None
    }
}

fn duration(text: &str) -> Option<String> {
    match NillableDuration::parse(text) {
        Ok(NillableDuration::Never) => None,
        Ok(NillableDuration::After(duration)) => {
            Some(format!("`{text}` is {}\n", in_words(duration.seconds())))
        }
        Err(error) => {
            let meant = error.suggestion();
            meant.map(|meant| format!("Karpenter does not read `{text}`; `{meant}` is probably meant\n"))
        }
    }
}

/// A number of seconds in days, hours, minutes and seconds.
fn in_words(seconds: i64) -> String {
    let parts = [(DAY, "day"), (3600, "hour"), (60, "minute"), (1, "second")];
    let mut left = seconds;
    let mut words = Vec::new();
    for (unit, name) in parts {
        let count = left / unit;
        left %= unit;
        if count != 0 {
            words.push(format!("{count} {name}{}", if count == 1 { "" } else { "s" }));
        }
    }
    if words.is_empty() { "no time".to_owned() } else { words.join(" ") }
}

fn quantity(text: &str) -> Option<String> {
    let quantity = match Quantity::parse(text) {
        Ok(quantity) => quantity,
        Err(error) => {
            let meant = error.suggestions();
            let meant: Vec<String> = meant.iter().map(|meant| format!("`{meant}`")).collect();
            let meant = (!meant.is_empty()).then(|| meant.join(" or "))?;
            return Some(format!("Kubernetes does not read `{text}`; {meant} is probably meant\n"));
        }
    };
    let canonical = quantity.to_string();
    let mut amounts = Vec::new();
    if canonical != text {
        amounts.push(format!("`{canonical}`"));
    }
    match quantity.notation() {
        Notation::Binary => amounts.push(format!("{} bytes", quantity.units())),
        _ if canonical == text => amounts.extend(thousandths(quantity)),
        _ => {}
    }
    (!amounts.is_empty()).then(|| format!("`{text}` is {}\n", amounts.join(", ")))
}

/// A quantity such as `1500m` as a decimal number; `None` if it is whole.
fn thousandths(quantity: Quantity) -> Option<String> {
    let milli = quantity.milli();
    let is_exact = quantity.nano() % 1_000_000 == 0 && milli % 1000 != 0 && milli > 0;
    let fraction = format!("{:03}", milli % 1000);
    is_exact.then(|| format!("{}.{}", milli / 1000, fraction.trim_end_matches('0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_how_long_a_duration_is() {
        let says = |text| duration(text).unwrap();
        assert_eq!(says("720h"), "`720h` is 30 days\n");
        assert_eq!(says("1h30m"), "`1h30m` is 1 hour 30 minutes\n");
        assert_eq!(says("0s"), "`0s` is no time\n");
        assert_eq!(duration("Never"), None, "the meaning of the field says it");
        assert_eq!(says("7d"), "Karpenter does not read `7d`; `168h` is probably meant\n");
        assert_eq!(duration("5"), None);
    }

    #[test]
    fn says_how_much_a_quantity_is() {
        assert_eq!(quantity("1.5Gi").unwrap(), "`1.5Gi` is `1536Mi`, 1610612736 bytes\n");
        assert_eq!(quantity("128Mi").unwrap(), "`128Mi` is 134217728 bytes\n");
        assert_eq!(quantity("0.5").unwrap(), "`0.5` is `500m`\n");
        assert_eq!(quantity("1500m").unwrap(), "`1500m` is 1.5\n");
        assert_eq!(quantity("50m").unwrap(), "`50m` is 0.05\n");
        assert_eq!(quantity("1000").unwrap(), "`1000` is `1k`\n");
        assert_eq!(quantity("4"), None);
        assert_eq!(
            quantity("1K").unwrap(),
            "Kubernetes does not read `1K`; `1k` or `1Ki` is probably meant\n"
        );
    }
}
