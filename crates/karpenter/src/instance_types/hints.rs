//! Likely meaning of a value that no instance type has.

use values::spelling::{add_quoted, nearest};

use super::category_and_generation_of_family;
use super::names::{CATEGORY, FAMILY, GENERATION, SIZE, Standing, TYPE, sizes_of, standing, values};

/// The value that an author means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A value in another spelling.
    Spelling(String),
    /// The nearest value.
    Near(String),
    /// Advice.
    Advice(String),
}

/// Maximum number of values that advice lists.
const MAX_LISTED: usize = 24;

/// The label of the memory in MiB.
const MEMORY: &str = "karpenter.k8s.aws/instance-memory";
/// The label of the size of the local disks in GB.
const LOCAL_NVME: &str = "karpenter.k8s.aws/instance-local-nvme";
/// The label of the maker of the processor.
const CPU_MANUFACTURER: &str = "karpenter.k8s.aws/instance-cpu-manufacturer";

/// Returns what an author means by an unknown value of a label; `None` if nothing is near.
pub fn hint(label: &str, value: &str) -> Option<Hint> {
    let is_known = |label: &str, value: &str| standing(label, value) == Some(Standing::Known);
    let lower = value.trim().to_ascii_lowercase();
    if lower != value && is_known(label, &lower) {
        return Some(Hint::Spelling(lower));
    }
    let near =
        || nearest(&lower, values(label).iter().rev().copied()).map(|near| Hint::Near(near.to_owned()));
    let family = lower.split_once('.').map_or(lower.as_str(), |(family, _)| family);
    match label {
        TYPE if is_known(FAMILY, &lower) => Some(of_other_label("family", &lower, FAMILY)),
        TYPE => near_type(&lower).or_else(near),
        FAMILY if is_known(FAMILY, family) => Some(Hint::Near(family.to_owned())),
        FAMILY if is_known(CATEGORY, &lower) => Some(of_other_label("category", &lower, CATEGORY)),
        FAMILY => near_family(&lower).map(|near| Hint::Near(near.to_owned())),
        SIZE => {
            let size = lower.rsplit_once('.').map(|(_, size)| size);
            size.filter(|size| is_known(SIZE, size)).map(|size| Hint::Near(size.to_owned())).or_else(near)
        }
        CATEGORY => {
            let parts = category_and_generation_of_family(family);
            let category =
                parts.map(|(category, _)| category).filter(|category| is_known(CATEGORY, category));
            Some(category.map_or_else(|| listed(label), |category| Hint::Near(category.to_owned())))
        }
        GENERATION => {
            let parts = category_and_generation_of_family(family);
            let generation =
                parts.map(|(_, generation)| generation).filter(|number| is_known(GENERATION, number));
            Some(generation.map_or_else(|| listed(label), |number| Hint::Near(number.to_owned())))
        }
        LOCAL_NVME if value.parse::<u64>().is_err() => Some(Hint::Advice(
            "the value is the size of the local disks in GB: for any local disk write `operator: Exists`"
                .to_owned(),
        )),
        CPU_MANUFACTURER if lower.contains("graviton") || lower.contains("arm") => {
            Some(Hint::Near("aws".to_owned()))
        }
        _ => {
            let ends = |known: &&&str| lower.strip_suffix(**known).is_some_and(|start| start.ends_with('-'));
            let known = values(label);
            let ending = known.iter().find(ends).map(|known| Hint::Near((*known).to_owned()));
            Some(of_property(label, value).or(ending).or_else(near).unwrap_or_else(|| listed(label)))
        }
    }
}

fn of_other_label(what: &str, value: &str, label: &str) -> Hint {
    Hint::Advice(format!("`{value}` is an instance {what}: write it with the key `{label}`"))
}

/// The nearest instance type: first of the same family, then of the nearest family.
fn near_type(name: &str) -> Option<Hint> {
    let (family, size) = name.split_once('.')?;
    let is_known = |label: &str, value: &str| standing(label, value) == Some(Standing::Known);
    let of_family = |family: &str| {
        let near = nearest(size, sizes_of(family))?;
        Some(Hint::Near(format!("{family}.{near}")))
    };
    if is_known(FAMILY, family) { of_family(family) } else { near_family(family).and_then(of_family) }
}

/// The nearest family: one that lacks one letter or has one more at its end, else the newest one that differs least.
fn near_family(name: &str) -> Option<&'static str> {
    let families = values(FAMILY);
    let is_longer_by_one =
        |word: &str, other: &str| word.strip_prefix(other).is_some_and(|rest| rest.len() == 1);
    let begins = families
        .iter()
        .filter(|family| is_longer_by_one(name, family))
        .chain(families.iter().filter(|family| is_longer_by_one(family, name)));
    let same = category_and_generation_of_family(name).map(|(category, _)| category);
    let is_same = |family: &&&str| {
        same.is_some() && category_and_generation_of_family(family).map(|(category, _)| category) == same
    };
    let of_category = families.iter().rev().filter(is_same).copied();
    begins
        .copied()
        .next()
        .or_else(|| nearest(name, of_category))
        .or_else(|| nearest(name, families.iter().rev().copied()))
}

/// Advice about a number: the values next to it, or the unit.
fn of_property(label: &str, value: &str) -> Option<Hint> {
    let known: Vec<u64> = values(label).iter().map(|value| value.parse().ok()).collect::<Option<_>>()?;
    if label == MEMORY && value.parse::<u64>().is_err() {
        let unit = value.trim_start_matches(|c: char| c.is_ascii_digit());
        let number: u64 = value.strip_suffix(unit)?.parse().ok()?;
        let mib = match unit.trim_start().chars().next()? {
            'G' | 'g' => number.checked_mul(1024)?,
            'M' | 'm' => number,
            _ => return None,
        };
        return Some(Hint::Advice(format!("the value is in MiB, without a unit: for {value} write `{mib}`")));
    }
    let number: u64 = value.parse().ok()?;
    let below = known.iter().rev().find(|known| **known < number);
    let above = known.iter().find(|known| **known > number);
    Some(Hint::Advice(match (below, above) {
        (Some(below), Some(above)) => format!("the nearest values are `{below}` and `{above}`"),
        (Some(one), None) | (None, Some(one)) => format!("the nearest value is `{one}`"),
        (None, None) => return None,
    }))
}

fn listed(label: &str) -> Hint {
    let values = values(label);
    let mut list = String::new();
    values
        .iter()
        .filter(|value| !value.is_empty())
        .take(MAX_LISTED)
        .for_each(|value| add_quoted(&mut list, value));
    let more = if values.len() > MAX_LISTED { " and others" } else { "" };
    Hint::Advice(format!("the values of `{label}` are {list}{more}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(label: &str, value: &str) -> String {
        match hint(label, value) {
            Some(Hint::Near(near)) => near,
            Some(Hint::Spelling(spelling)) => format!("={spelling}"),
            Some(Hint::Advice(advice)) => format!("!{advice}"),
            None => String::new(),
        }
    }

    #[test]
    fn names_the_nearest_instance_type() {
        for (value, expected) in [
            ("m5.lage", "m5.large"),
            ("m5.lrge", "m5.large"),
            ("M5.Large", "=m5.large"),
            ("m55.large", "m5.large"),
            ("m5a.2xlarg", "m5a.2xlarge"),
            ("inf3.xlarge", "inf2.xlarge"),
        ] {
            assert_eq!(near(TYPE, value), expected, "{value}");
        }
        assert!(near(TYPE, "m5").contains("is an instance family"));
        assert_eq!(near(TYPE, "Standard_D2s_v3"), "");
    }

    #[test]
    fn names_the_nearest_part_of_a_name() {
        for (label, value, expected) in [
            (FAMILY, "m55", "m5"),
            (FAMILY, "inf3", "inf2"),
            (FAMILY, "p4", "p4d"),
            (FAMILY, "m5.large", "m5"),
            (FAMILY, "C6I", "=c6i"),
            (SIZE, "lagre", "large"),
            (SIZE, "nono", "nano"),
            (SIZE, "x-large", "xlarge"),
            (SIZE, "t3.large", "large"),
            (CATEGORY, "t3", "t"),
            (CATEGORY, "t3a", "t"),
            (CATEGORY, "m5.large", "m"),
            (CATEGORY, "C", "=c"),
            (GENERATION, "m5", "5"),
            (CPU_MANUFACTURER, "Intel", "=intel"),
            (CPU_MANUFACTURER, "graviton", "aws"),
            (CPU_MANUFACTURER, "intell", "intel"),
            ("karpenter.k8s.aws/instance-gpu-name", "nvidia-a100", "a100"),
        ] {
            assert_eq!(near(label, value), expected, "{label} {value}");
        }
        assert!(near(FAMILY, "t").contains("is an instance category: write it with the key"));
        assert!(near(CATEGORY, "general-purpose").contains("the values of"));
    }

    #[test]
    fn advises_on_numbers_and_units() {
        assert!(near("karpenter.k8s.aws/instance-cpu", "5").contains("the nearest values are `4` and `8`"));
        assert!(near(MEMORY, "16Gi").contains("for 16Gi write `16384`"));
        assert!(near(MEMORY, "8192Mi").contains("for 8192Mi write `8192`"));
        assert!(near(MEMORY, "17000").contains("the nearest values are `16384` and `17510`"));
        assert!(near(LOCAL_NVME, "true").contains("write `operator: Exists`"));
        assert!(near("karpenter.k8s.aws/instance-gpu-name", "tesla-t44").contains("the values of"));
    }
}
