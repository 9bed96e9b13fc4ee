//! The values that the labels of instance types have, and which values a newer instance type may have.
//!
//! Source of the forms: "Amazon EC2 instance type naming conventions" in the EC2 user guide, and the names in the table.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::{InstanceType, TypeLabel, all, category_and_generation_of_family};

/// The label of the names, such as `m5.large`.
pub const TYPE: &str = "node.kubernetes.io/instance-type";
/// The label of the families, such as `m5`.
pub const FAMILY: &str = "karpenter.k8s.aws/instance-family";
/// The label of the sizes, such as `large`.
pub const SIZE: &str = "karpenter.k8s.aws/instance-size";
/// The label of the categories, such as `m`.
pub const CATEGORY: &str = "karpenter.k8s.aws/instance-category";
/// The label of the generations, such as `5`.
pub const GENERATION: &str = "karpenter.k8s.aws/instance-generation";

/// Instance types that EC2 has and the table lacks, because they are sold only in other regions, are retired or are newer than the
/// table. Only their names are known.
///
/// Source: the enum `InstanceType` of the EC2 API, in data/ec2/2016-11-15/service-2.json of boto/botocore at 1.44.8.
const UNLISTED: [&str; 74] = [
    "cc1.4xlarge",
    "cc2.8xlarge",
    "cg1.4xlarge",
    "cr1.8xlarge",
    "dl1.24xlarge",
    "f1.16xlarge",
    "f1.2xlarge",
    "f1.4xlarge",
    "g2.2xlarge",
    "g2.8xlarge",
    "g3.16xlarge",
    "g3.4xlarge",
    "g3.8xlarge",
    "g3s.xlarge",
    "hi1.4xlarge",
    "hs1.8xlarge",
    "i3.metal",
    "m9g.metal-24xl",
    "m9gd.metal-24xl",
    "mac-m3ultra.metal",
    "mac-m4.metal",
    "mac-m4max.metal",
    "mac-m4pro.metal",
    "mac1.metal",
    "mac2-m1ultra.metal",
    "mac2-m2.metal",
    "mac2-m2pro.metal",
    "mac2.metal",
    "p2.16xlarge",
    "p2.8xlarge",
    "p2.xlarge",
    "p3.16xlarge",
    "p3.2xlarge",
    "p3.8xlarge",
    "p6e-gb200.36xlarge",
    "r9g.12xlarge",
    "r9g.16xlarge",
    "r9g.24xlarge",
    "r9g.2xlarge",
    "r9g.48xlarge",
    "r9g.4xlarge",
    "r9g.8xlarge",
    "r9g.large",
    "r9g.medium",
    "r9g.metal-48xl",
    "r9g.xlarge",
    "r9gd.12xlarge",
    "r9gd.16xlarge",
    "r9gd.24xlarge",
    "r9gd.2xlarge",
    "r9gd.48xlarge",
    "r9gd.4xlarge",
    "r9gd.8xlarge",
    "r9gd.large",
    "r9gd.medium",
    "r9gd.metal-48xl",
    "r9gd.xlarge",
    "t8i.medium",
    "t8i.micro",
    "t8i.nano",
    "t8i.small",
    "trn2.3xlarge",
    "trn2u.48xlarge",
    "u-12tb1.112xlarge",
    "u-12tb1.metal",
    "u-18tb1.112xlarge",
    "u-18tb1.metal",
    "u-24tb1.112xlarge",
    "u-24tb1.metal",
    "u-6tb1.metal",
    "u-9tb1.112xlarge",
    "u-9tb1.metal",
    "u7ib-12tb.224xlarge",
    "u7inh-32tb.480xlarge",
];

/// Values of instance types that the table lacks, or that it describes otherwise today.
///
/// Source: website/content/en/preview/reference/instance-types.md of aws/karpenter-provider-aws at v1.0.0 to v1.14.1. The
/// processors of Mac types are from Apple.
const UNLISTED_VALUES: [(&str, &[&str]); 8] = [
    (CPU_MANUFACTURER, &["apple"]),
    ("karpenter.k8s.aws/instance-gpu-count", &["16"]),
    ("karpenter.k8s.aws/instance-gpu-manufacturer", &["habana"]),
    ("karpenter.k8s.aws/instance-gpu-memory", &["12288", "24576", "91553", "183105", "366211"]),
    ("karpenter.k8s.aws/instance-gpu-name", &["gaudi-hl-205", "k80", "m60"]),
    ("karpenter.k8s.aws/instance-local-nvme", &["470", "4000"]),
    ("karpenter.k8s.aws/instance-memory", &["749568", "9437184", "18874368"]),
    ("karpenter.k8s.aws/instance-network-bandwidth", &["14063", "28125", "45000"]),
];

/// Letters of families after the generation. `c` is part of no family yet.
const OPTIONS: &str = "abdefghinqsuz";

/// Number of generations below the newest one of a category that still get new families and sizes: `c8gb` and `m8azn` came after
/// `c9g` and `m9g`.
const OPEN_GENERATIONS: u32 = 2;

/// Longest name of a category: `trn`.
const MAX_CATEGORY_LETTERS: usize = 3;

/// Whether instance types have a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// An instance type has the value.
    Known,
    /// No known instance type has the value, but a newer one may have it.
    Possible,
    /// No instance type has the value. It has the form of a value of an older generation, which gets no new types.
    Absent,
    /// No instance type can have the value: it does not have the form.
    Malformed,
}

/// The names of instance types, and their parts. Each table is built when something asks for it.
static TYPES: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| names().collect());
static FAMILIES: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    let mut families: Vec<_> = parts().map(|(family, _)| family).collect();
    families.dedup();
    families.into_iter().collect()
});
static SIZES: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| parts().map(|(_, size)| size).collect());
static CATEGORIES: LazyLock<BTreeSet<&'static str>> =
    LazyLock::new(|| numbered().map(|(category, _)| category).collect());
static GENERATIONS: LazyLock<BTreeSet<&'static str>> =
    LazyLock::new(|| numbered().map(|(_, generation)| generation).collect());

/// The families and sizes of all names.
fn parts() -> impl Iterator<Item = (&'static str, &'static str)> {
    names().filter_map(|name| name.split_once('.'))
}

/// The categories and generations of all families.
fn numbered() -> impl Iterator<Item = (&'static str, &'static str)> {
    FAMILIES.iter().filter_map(|family| category_and_generation_of_family(family))
}

/// The names of all instance types, including types that the table lacks.
fn names() -> impl Iterator<Item = &'static str> {
    all().iter().map(InstanceType::name).chain(UNLISTED)
}

/// An instance type that the table lacks, as far as its name shows its labels: type, family, size, category, generation, architecture
/// and number of vCPUs.
#[derive(Clone, Debug)]
pub struct UnlistedType {
    labels: Vec<(&'static str, &'static str)>,
    cpu: Option<String>,
    alike: Vec<&'static InstanceType>,
}

static UNLISTED_TYPES: LazyLock<Vec<UnlistedType>> =
    LazyLock::new(|| UNLISTED.into_iter().map(UnlistedType::of_name).collect());

/// The instance types that the table lacks.
pub fn unlisted() -> &'static [UnlistedType] {
    &UNLISTED_TYPES
}

impl UnlistedType {
    fn of_name(name: &'static str) -> Self {
        let mut labels = labels_of_name(name);
        labels.push((ARCH, if is_arm(name) { "arm64" } else { "amd64" }));
        let cpu = cpu_of_name(name).map(|cpu| cpu.to_string());
        let mut unlisted = Self { labels, cpu, alike: Vec::new() };
        unlisted.alike = all().iter().filter(|kind| unlisted.is_like(kind)).collect();
        unlisted
    }

    /// Whether its name shows the value of a label, or that it does not have the label.
    pub fn shows(&self, label: &str) -> bool {
        matches!(label, TYPE | FAMILY | SIZE | CATEGORY | GENERATION | ARCH)
            || (label == CPU && self.cpu.is_some())
    }

    /// The value of a label that its name shows.
    pub fn value(&self, label: &str) -> Option<&str> {
        if label == CPU {
            return self.cpu.as_deref();
        }
        self.labels.iter().find(|(key, _)| *key == label).map(|(_, value)| *value)
    }

    /// The instance types of the table that have the same category, and the same number of vCPUs as far as the name shows it.
    pub fn alike(&self) -> &[&'static InstanceType] {
        &self.alike
    }

    fn is_like(&self, kind: &InstanceType) -> bool {
        let has = |label: &str| {
            let value = TypeLabel::of_key(label).and_then(|label| label.value(kind));
            self.value(label).is_none_or(|own| Some(own) == value)
        };
        self.value(CATEGORY).is_some() && has(CATEGORY) && has(CPU)
    }
}

/// Whether the name of an instance type shows an ARM processor: a `g` after the generation, the first types with processors of AWS, or
/// a Mac after the first.
fn is_arm(name: &str) -> bool {
    let family = name.split('.').next().unwrap_or_default();
    let options = family.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let options = options.trim_start_matches(|c: char| c.is_ascii_digit());
    let letters = options.split('-').next().unwrap_or_default();
    family == "a1" || letters.contains('g') || (family.starts_with("mac") && family != "mac1")
}

/// The number of vCPUs that a size shows: 4 for `xlarge`, and four for each unit of larger sizes.
fn cpu_of_name(name: &str) -> Option<u32> {
    let (family, size) = name.split_once('.')?;
    let units = |size: &str| {
        size.strip_suffix("xlarge")
            .or_else(|| size.strip_prefix("metal-")?.strip_suffix("xl"))
            .and_then(number)
    };
    match size {
        "xlarge" => Some(4),
        "large" => Some(2),
        "nano" | "micro" | "small" | "medium" => Some(if family.starts_with('t') { 2 } else { 1 }),
        _ => units(size).map(|units| 4 * units),
    }
}

/// The labels that the name of an instance type shows.
fn labels_of_name(name: &str) -> Vec<(&'static str, &str)> {
    let mut found = vec![(TYPE, name)];
    let Some((family, size)) = name.split_once('.') else { return found };
    found.extend([(FAMILY, family), (SIZE, size)]);
    if let Some((category, generation)) = category_and_generation_of_family(family) {
        found.extend([(CATEGORY, category), (GENERATION, generation)]);
    }
    found
}

/// Whether instance types have a label.
pub fn is_label(label: &str) -> bool {
    TypeLabel::of_key(label).is_some()
}

/// Whether instance types have a value of a label; `None` for labels that instance types do not have.
pub fn standing(label: &str, value: &str) -> Option<Standing> {
    let or = |set: &BTreeSet<&str>, otherwise: fn(&str) -> Standing| {
        if set.contains(value) { Standing::Known } else { otherwise(value) }
    };
    Some(match label {
        TYPE => or(&TYPES, unknown_type),
        FAMILY => or(&FAMILIES, unknown_family),
        SIZE => or(&SIZES, unknown_size),
        CATEGORY => or(&CATEGORIES, unknown_category),
        GENERATION => or(&GENERATIONS, unknown_generation),
        _ => {
            let label = TypeLabel::of_key(label)?;
            let is_known = all().iter().any(|kind| label.value(kind) == Some(value))
                || UNLISTED_VALUES.iter().any(|(key, values)| *key == label.key && values.contains(&value));
            if is_known { Standing::Known } else { unknown_property(label, value) }
        }
    })
}

fn unknown_type(name: &str) -> Standing {
    let Some((family, size)) = name.split_once('.') else { return Standing::Malformed };
    match (family_standing(family), size_standing(size)) {
        (_, Standing::Malformed) | (Standing::Malformed, _) => Standing::Malformed,
        (Standing::Known, _) if !is_open(family) => Standing::Absent,
        (Standing::Absent, _) => Standing::Absent,
        _ => Standing::Possible,
    }
}

fn family_standing(family: &str) -> Standing {
    if FAMILIES.contains(family) { Standing::Known } else { unknown_family(family) }
}

fn size_standing(size: &str) -> Standing {
    if SIZES.contains(size) { Standing::Known } else { unknown_size(size) }
}

fn unknown_family(family: &str) -> Standing {
    let Some((category, generation)) = category_and_generation_of_family(family) else {
        return Standing::Malformed;
    };
    // The size of `u-12tb1` is before the generation.
    let after_category = family.strip_prefix(category).unwrap_or_default();
    let size = after_category.strip_prefix('-').and_then(|rest| rest.split_once("tb"));
    let numbered = size.map_or(after_category, |(_, rest)| rest);
    let options = numbered.strip_prefix(generation);
    let (letters, extension) = options.map_or(("!", None), |options| match options.split_once('-') {
        Some((letters, extension)) => (letters, Some(extension)),
        None => (options, None),
    });
    let is_extension = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let has_form = letters.chars().all(|letter| OPTIONS.contains(letter))
        && extension.is_none_or(is_extension)
        && category.len() <= MAX_CATEGORY_LETTERS;
    match number(generation) {
        Some(number) if has_form && number <= newest_generation() + 1 => {
            if is_open(family) {
                Standing::Possible
            } else {
                Standing::Absent
            }
        }
        _ => Standing::Malformed,
    }
}

/// Whether a family may get new sizes, and its generation new families.
pub fn is_open(family: &str) -> bool {
    let Some((category, generation)) = category_and_generation_of_family(family) else { return true };
    let of_category = FAMILIES.iter().filter_map(|family| category_and_generation_of_family(family));
    let newest =
        of_category.filter(|(other, _)| *other == category).filter_map(|(_, other)| number(other)).max();
    let Some((newest, generation)) = newest.zip(number(generation)) else { return true };
    generation + OPEN_GENERATIONS >= newest
}

fn newest_generation() -> u32 {
    GENERATIONS.iter().filter_map(|generation| number(generation)).max().unwrap_or_default()
}

fn unknown_size(size: &str) -> Standing {
    let counted = size.strip_suffix("xlarge").or_else(|| size.strip_prefix("metal-")?.strip_suffix("xl"));
    if counted.is_some_and(|count| number(count).is_some()) {
        Standing::Possible
    } else {
        Standing::Malformed
    }
}

fn unknown_category(category: &str) -> Standing {
    let is_word = category.bytes().all(|byte| byte.is_ascii_lowercase());
    if is_word && (1..=MAX_CATEGORY_LETTERS).contains(&category.len()) {
        Standing::Possible
    } else {
        Standing::Malformed
    }
}

fn unknown_generation(generation: &str) -> Standing {
    match number(generation) {
        Some(number) if number == newest_generation() + 1 => Standing::Possible,
        _ => Standing::Malformed,
    }
}

/// Standing of a value that no instance type has of a label that is not part of the name.
fn unknown_property(label: TypeLabel, value: &str) -> Standing {
    let has_form = if label.is_number() {
        // Processors have whole cores, with two threads each.
        number(value).is_some_and(|number| label.key != CPU || number % 2 == 0)
    } else {
        !label.is_closed()
            && value.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !value.is_empty()
    };
    if has_form { Standing::Possible } else { Standing::Malformed }
}

/// The label of the maker of the processor.
const CPU_MANUFACTURER: &str = "karpenter.k8s.aws/instance-cpu-manufacturer";

/// The label of the architecture.
const ARCH: &str = "kubernetes.io/arch";

/// The label of the number of vCPUs.
const CPU: &str = "karpenter.k8s.aws/instance-cpu";

/// Parses a positive number that is written as Karpenter writes it.
fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number: &u32| *number > 0 && number.to_string() == text)
}

/// Every value of a label: numbers by size, and names in alphabetical order.
pub fn values(label: &str) -> &'static [&'static str] {
    VALUES.get(label).map_or(&[], Vec::as_slice)
}

static VALUES: LazyLock<BTreeMap<&'static str, Vec<&'static str>>> =
    LazyLock::new(|| TypeLabel::all().map(|label| (label.key, values_of(label))).collect());

fn values_of(label: TypeLabel) -> Vec<&'static str> {
    let mut values: Vec<&'static str> = match label.key {
        TYPE => TYPES.iter().copied().collect(),
        FAMILY => FAMILIES.iter().copied().collect(),
        SIZE => SIZES.iter().copied().collect(),
        CATEGORY => CATEGORIES.iter().copied().collect(),
        GENERATION => GENERATIONS.iter().copied().collect(),
        _ => {
            let values: BTreeSet<_> = all().iter().filter_map(|kind| label.value(kind)).collect();
            values.into_iter().collect()
        }
    };
    values.sort_by_key(|value| value.parse::<u64>().ok());
    values
}

/// The sizes of a family, by name.
pub fn sizes_of(family: &str) -> impl Iterator<Item = &'static str> {
    TYPES.iter().filter_map(move |name| name.strip_prefix(family)?.strip_prefix('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_are(expected: Standing, label: &str, values: &[&str]) {
        for value in values {
            assert_eq!(standing(label, value), Some(expected), "{label} {value}");
        }
    }

    #[test]
    fn every_name_has_the_form_of_its_parts() {
        for name in names() {
            let (family, size) = name.split_once('.').unwrap();
            let is_word = size.bytes().all(|byte| byte.is_ascii_alphabetic());
            assert!(is_word || unknown_size(size) != Standing::Malformed, "{name}");
            // Mac types have no number after the letters, or the name of their processor.
            let is_mac = family.starts_with("mac");
            assert!(is_mac || unknown_family(family) != Standing::Malformed, "{name}");
        }
        assert!(UNLISTED.iter().all(|name| all().iter().all(|kind| kind.name() != *name)));
    }

    #[test]
    fn knows_the_values_of_every_instance_type() {
        for label in TypeLabel::all() {
            for kind in all() {
                let Some(value) = label.value(kind) else { continue };
                assert_eq!(standing(label.key, value), Some(Standing::Known), "{} {value}", label.key);
            }
        }
        all_are(
            Standing::Known,
            TYPE,
            &["p3.2xlarge", "mac-m4.metal", "g3s.xlarge", "u-24tb1.metal", "t8i.micro"],
        );
        all_are(Standing::Known, FAMILY, &["p2", "g3", "f1", "mac2-m2pro"]);
        assert_eq!(standing("example.com/team", "a"), None);
    }

    #[test]
    fn newer_types_are_possible_where_their_names_have_the_form() {
        all_are(Standing::Possible, TYPE, &["m10g.large", "m9i.48xlarge", "c8g.64xlarge", "inf3.xlarge"]);
        all_are(Standing::Possible, FAMILY, &["inf3", "m9i", "c8gq", "c10g", "p7-b400", "m9i-flex"]);
        all_are(Standing::Possible, SIZE, &["20xlarge", "metal-64xl"]);
        all_are(Standing::Possible, CATEGORY, &["k", "q"]);
        all_are(Standing::Possible, GENERATION, &["10"]);
        all_are(Standing::Possible, "karpenter.k8s.aws/instance-cpu", &["6", "1024"]);
        all_are(Standing::Possible, "karpenter.k8s.aws/instance-gpu-name", &["b400"]);
    }

    #[test]
    fn older_families_get_no_new_types() {
        all_are(Standing::Absent, TYPE, &["m5.7xlarge", "t3.24xlarge", "m5q.large"]);
        all_are(Standing::Absent, FAMILY, &["t5", "c2", "m5q"]);
    }

    #[test]
    fn other_names_are_malformed() {
        all_are(
            Standing::Malformed,
            TYPE,
            &["m5.lage", "m5.lrge", "m5", "large", "", "M5.large", "m55.large"],
        );
        all_are(Standing::Malformed, FAMILY, &["m55", "t", "m5.large", "M5", "", "m5_large", "m05"]);
        all_are(
            Standing::Malformed,
            SIZE,
            &["lagre", "nono", "m5.large", "02xlarge", "2XLarge", "0xlarge", "x-large"],
        );
        all_are(Standing::Malformed, CATEGORY, &["t3", "t3a", "general", "T", "", "m5.large"]);
        all_are(Standing::Malformed, GENERATION, &["m5", "0", "5th", "55", "07", ""]);
        all_are(Standing::Malformed, "karpenter.k8s.aws/instance-cpu", &["5", "two", "0", "-2"]);
        all_are(Standing::Malformed, "karpenter.k8s.aws/instance-local-nvme", &["true", "1TB"]);
        all_are(Standing::Malformed, "karpenter.k8s.aws/instance-hypervisor", &["kvm"]);
        all_are(Standing::Malformed, "karpenter.k8s.aws/instance-cpu-manufacturer", &["Intel", ""]);
        all_are(Standing::Malformed, "karpenter.k8s.aws/instance-capability-flex", &["yes"]);
    }

    #[test]
    fn names_show_the_architecture_and_the_number_of_vcpus() {
        for kind in all() {
            assert_eq!(is_arm(kind.name()), kind.is_arm(), "{}", kind.name());
        }
        // Types of old generations and types without hyperthreading have other numbers.
        let of_general = all().iter().filter(|kind| kind.name().starts_with(['c', 'm', 'r', 't']));
        let recent = of_general.filter(|kind| {
            category_and_generation_of_family(kind.name())
                .is_some_and(|(_, generation)| number(generation) > Some(4))
        });
        for kind in recent.filter(|kind| kind.name().contains("large")) {
            assert_eq!(cpu_of_name(kind.name()).map(i64::from), Some(kind.cpu()), "{}", kind.name());
        }
    }

    #[test]
    fn lists_numbers_by_size() {
        let values = values("karpenter.k8s.aws/instance-cpu");
        assert_eq!(values.get(..4), Some(["1", "2", "4", "8"].as_slice()));
        assert_eq!(sizes_of("t3a").count(), 7);
    }
}
