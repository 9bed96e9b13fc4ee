//! The algebra of requirements: the labels of the nodes that a NodePool can launch, and the labels that a pod requires.
//!
//! Source: pkg/scheduling/requirement.go and requirements.go of kubernetes-sigs/karpenter at v1.14.0. Older releases
//! differ in one case: until 1.8, two bounds without an integer between them (`Gt 5`, `Lt 6`) do not count as empty.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

use karpenter::labels;
use karpenter::operator::Operator;

/// The accepted values of one label: a set, or all except a set, within bounds. The empty set means that the label must be
/// absent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirement<'t> {
    complement: bool,
    values: BTreeSet<&'t str>,
    /// Inclusive bounds. If there is a bound, only whole numbers are accepted.
    lower: Option<i64>,
    upper: Option<i64>,
    /// The number of different values that the instance types of a node must have at least.
    min_values: Option<i64>,
}

/// The operator that a requirement has after intersections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectiveOperator {
    /// One of the values.
    In,
    /// None of the values.
    NotIn,
    /// Any value, or any within the bounds.
    Exists,
    /// No value.
    DoesNotExist,
}

impl<'t> Requirement<'t> {
    /// Converts an operator and values; `None` for a bound that is not a whole number.
    pub fn new(operator: Operator, values: impl IntoIterator<Item = &'t str>) -> Option<Self> {
        let mut values = values.into_iter();
        let mut requirement =
            Self { complement: true, values: BTreeSet::new(), lower: None, upper: None, min_values: None };
        let mut bound = || values.next().and_then(|value| value.parse::<i64>().ok());
        match operator {
            Operator::Exists => {}
            Operator::DoesNotExist => requirement.complement = false,
            Operator::In => {
                requirement.complement = false;
                requirement.values = values.collect();
            }
            Operator::NotIn => requirement.values = values.collect(),
            Operator::Gt => match bound()?.checked_add(1) {
                Some(lower) => requirement.lower = Some(lower),
                None => requirement.complement = false,
            },
            Operator::Lt => requirement.upper = Some(bound()?.saturating_sub(1)),
            Operator::Gte => requirement.lower = Some(bound()?),
            Operator::Lte => requirement.upper = Some(bound()?),
        }
        Some(requirement)
    }

    /// Requirement that accepts one value.
    pub fn is(value: &'t str) -> Self {
        Self::one_of([value])
    }

    /// Requirement that accepts some values.
    pub fn one_of(values: impl IntoIterator<Item = &'t str>) -> Self {
        Self {
            complement: false,
            values: values.into_iter().collect(),
            lower: None,
            upper: None,
            min_values: None,
        }
    }

    /// Requirement that accepts every value.
    pub fn exists() -> Self {
        Self { complement: true, values: BTreeSet::new(), lower: None, upper: None, min_values: None }
    }

    /// The same requirement with `minValues`.
    #[must_use]
    pub fn with_min_values(self, min_values: Option<i64>) -> Self {
        Self { min_values, ..self }
    }

    /// `minValues`.
    pub fn min_values(&self) -> Option<i64> {
        self.min_values
    }

    /// The operator.
    pub fn operator(&self) -> EffectiveOperator {
        match (self.complement, self.values.is_empty()) {
            (true, true) => EffectiveOperator::Exists,
            (true, false) => EffectiveOperator::NotIn,
            (false, false) => EffectiveOperator::In,
            (false, true) => EffectiveOperator::DoesNotExist,
        }
    }

    /// The values that the requirement names: the accepted values of `In`, the rejected values of `NotIn`.
    pub fn named_values(&self) -> impl Iterator<Item = &'t str> + Clone + use<'_, 't> {
        self.values.iter().copied()
    }

    /// The requirement as an author writes it: `In a,b`, `Gte 5`, `Exists`, with `minValues`. Releases without inclusive
    /// operators have `Gt 4` instead.
    pub fn written(&self, inclusive: bool) -> String {
        let values: Vec<&str> = self.values.iter().copied().collect();
        let mut parts = Vec::new();
        match self.operator() {
            operator @ (EffectiveOperator::In | EffectiveOperator::NotIn) => {
                parts.push(format!("{operator:?} {}", values.join(",")));
            }
            EffectiveOperator::Exists if self.lower.is_some() || self.upper.is_some() => {}
            operator => parts.push(format!("{operator:?}")),
        }
        let (least, most) = if inclusive { ("Gte", "Lte") } else { ("Gt", "Lt") };
        let step = i64::from(!inclusive);
        parts.extend(self.lower.map(|lower| format!("{least} {}", lower.saturating_sub(step))));
        parts.extend(self.upper.map(|upper| format!("{most} {}", upper.saturating_add(step))));
        parts.extend(self.min_values.map(|least| format!("minValues {least}")));
        parts.join(" ")
    }

    /// The requirement that also accepts a value.
    pub(crate) fn allowing(&self, value: &'t str) -> Self {
        let mut wider = self.clone();
        if wider.complement {
            wider.values.remove(value);
        } else {
            wider.values.insert(value);
        }
        if let Ok(number) = value.parse::<i64>() {
            wider.lower = wider.lower.map(|lower| lower.min(number));
            wider.upper = wider.upper.map(|upper| upper.max(number));
        }
        wider
    }

    /// Whether every value is accepted.
    pub(crate) fn accepts_all(&self) -> bool {
        self.operator() == EffectiveOperator::Exists && self.lower.is_none() && self.upper.is_none()
    }

    /// The accepted values, if they are a finite set.
    pub(crate) fn listed(&self) -> Option<&BTreeSet<&'t str>> {
        (!self.complement).then_some(&self.values)
    }

    /// Whether a node without the label is accepted: `NotIn`, `DoesNotExist`, and an intersection that is empty.
    pub fn is_negative(&self) -> bool {
        self.complement != self.values.is_empty()
    }

    /// Whether a value is accepted.
    pub fn has(&self, value: &str) -> bool {
        self.takes(value) && within(value, self.lower, self.upper)
    }

    /// Like [`Self::has`], without the bounds.
    fn takes(&self, value: &str) -> bool {
        self.values.contains(value) != self.complement
    }

    /// The requirement that accepts what both accept.
    pub fn intersection(&self, other: &Self) -> Self {
        let complement = self.complement && other.complement;
        let (lower, upper) = (self.lower.max(other.lower), least(self.upper, other.upper));
        let min_values = self.min_values.max(other.min_values);
        if matches!((lower, upper), (Some(lower), Some(upper)) if lower > upper) {
            return Self::one_of([]).with_min_values(min_values);
        }
        let (listed, other) = if self.complement { (other, self) } else { (self, other) };
        let further = other.values.iter().filter(|_| complement);
        let is_accepted = |value: &&&str| (complement || other.takes(value)) && within(value, lower, upper);
        let values = listed.values.iter().chain(further).filter(is_accepted).copied().collect();
        let (lower, upper) = if complement { (lower, upper) } else { (None, None) };
        Self { complement, values, lower, upper, min_values }
    }

    /// Whether both accept a common value.
    pub fn intersects(&self, other: &Self) -> bool {
        let (lower, upper) = (self.lower.max(other.lower), least(self.upper, other.upper));
        if matches!((lower, upper), (Some(lower), Some(upper)) if lower > upper) {
            return false;
        }
        match (self.complement, other.complement) {
            (true, true) => true,
            (false, true) => self.values.iter().any(|value| other.has(value)),
            (true, false) => other.values.iter().any(|value| self.has(value)),
            (false, false) if self.values.len() > other.values.len() => {
                other.values.iter().any(|value| self.has(value))
            }
            (false, false) => self.values.iter().any(|value| other.has(value)),
        }
    }
}

/// Prints the operator with at most five values, the bounds and `minValues`, as in Karpenter's messages.
impl fmt::Display for Requirement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MAX_PRINTED: usize = 5;
        match self.operator() {
            EffectiveOperator::Exists => f.write_str("Exists")?,
            EffectiveOperator::DoesNotExist => f.write_str("DoesNotExist")?,
            operator @ (EffectiveOperator::In | EffectiveOperator::NotIn) => {
                let first: Vec<&str> = self.values.iter().copied().take(MAX_PRINTED).collect();
                write!(f, "{operator:?} [{}", first.join(" "))?;
                if self.values.len() > MAX_PRINTED {
                    write!(f, " and {} others", self.values.len() - MAX_PRINTED)?;
                }
                f.write_str("]")?;
            }
        }
        if let Some(lower) = self.lower {
            write!(f, " >={lower}")?;
        }
        if let Some(upper) = self.upper {
            write!(f, " <={upper}")?;
        }
        self.min_values.map_or(Ok(()), |least| write!(f, " minValues {least}"))
    }
}

/// Returns the smaller of two bounds; no bound is the largest.
fn least(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

fn within(value: &str, lower: Option<i64>, upper: Option<i64>) -> bool {
    if lower.is_none() && upper.is_none() {
        return true;
    }
    let Ok(value) = value.parse::<i64>() else { return false };
    lower.is_none_or(|lower| lower <= value) && upper.is_none_or(|upper| value <= upper)
}

/// Requirements on several labels. Requirements on the same label are intersected.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirements<'t>(BTreeMap<&'t str, Requirement<'t>>);

/// Reason for which a pod's requirements cannot be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch<'t> {
    /// A custom label is not set: `label "x" does not have known values`.
    Undefined(&'t str),
    /// No value of the label is accepted by both sides.
    Conflict(&'t str),
}

impl<'t> Mismatch<'t> {
    /// The key of the label.
    pub fn key(self) -> &'t str {
        let (Self::Undefined(key) | Self::Conflict(key)) = self;
        key
    }
}

impl<'t> Requirements<'t> {
    /// The number of keys.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds a requirement; an alias of a well-known key counts as that key.
    pub fn add(&mut self, key: &'t str, requirement: Requirement<'t>) {
        let key = labels::normalised(key);
        let both = self.0.get(key).map(|present| present.intersection(&requirement));
        self.0.insert(key, both.unwrap_or(requirement));
    }

    /// Adds several requirements, each with its key.
    pub(crate) fn extend(&mut self, all: impl IntoIterator<Item = (&'t str, Requirement<'t>)>) {
        for (key, requirement) in all {
            self.add(key, requirement);
        }
    }

    /// The requirement on a key.
    pub fn get(&self, key: &str) -> Option<&Requirement<'t>> {
        self.0.get(key)
    }

    /// The requirements, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&'t str, &Requirement<'t>)> {
        self.0.iter().map(|(key, requirement)| (*key, requirement))
    }

    /// Whether a node with these requirements can meet a pod's requirements. A custom label has to be set here, unless the
    /// pod accepts its absence; a well-known label may be absent (`Compatible` with `AllowUndefinedWellKnownLabels`).
    pub fn compatible(&self, asked: &Self) -> Result<(), Mismatch<'t>> {
        self.compatible_unless(asked, |key| !labels::well_known(key).is_empty())
    }

    /// Whether a node with exactly these labels meets a pod's requirements (`Compatible` without options).
    pub fn compatible_strictly(&self, asked: &Self) -> Result<(), Mismatch<'t>> {
        self.compatible_unless(asked, |_| false)
    }

    /// Compares with requirements; a key for which `may_be_absent` holds need not be set here.
    fn compatible_unless(
        &self,
        asked: &Self,
        may_be_absent: impl Fn(&str) -> bool,
    ) -> Result<(), Mismatch<'t>> {
        for (key, asked) in asked.iter() {
            let accepted = self.get(key).is_some() || asked.is_negative() || may_be_absent(key);
            if !accepted {
                return Err(Mismatch::Undefined(key));
            }
        }
        self.conflict(asked).map_or(Ok(()), |key| Err(Mismatch::Conflict(key)))
    }

    /// The first key on which both have requirements without a common value (`Intersects`).
    pub fn conflict(&self, other: &Self) -> Option<&'t str> {
        other.iter().map(|(key, _)| key).find(|key| {
            let (Some(present), Some(asked)) = (self.get(key), other.get(key)) else { return false };
            let excused = present.is_negative() && asked.is_negative();
            !excused && !present.intersects(asked)
        })
    }

    /// Replaces the requirement on a key.
    pub fn replace(&mut self, key: &'t str, requirement: Requirement<'t>) {
        self.0.insert(key, requirement);
    }

    /// Removes the requirement on a key.
    pub fn remove(&mut self, key: &str) {
        self.0.remove(key);
    }

    /// Whether a requirement has `minValues`.
    pub fn has_min_values(&self) -> bool {
        self.0.values().any(|requirement| requirement.min_values.is_some())
    }

    /// The requirements as Karpenter prints them in messages, without the host name.
    pub(crate) fn text(&self) -> String {
        let all = self.iter().filter(|(key, _)| *key != labels::HOSTNAME);
        let texts: Vec<String> = all.map(|(key, requirement)| format!("{key} {requirement}")).collect();
        texts.join(", ")
    }

    /// The labels of a node.
    pub fn of_labels(labels: impl IntoIterator<Item = (&'t str, &'t str)>) -> Self {
        let mut all = Self::default();
        all.extend(labels.into_iter().map(|(key, value)| (key, Requirement::is(value))));
        all
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &'static str) -> Requirements<'static> {
        let mut all = Requirements::default();
        for line in text.split(';').filter(|line| !line.trim().is_empty()) {
            let mut words = line.split_whitespace();
            let (key, operator) = (words.next().unwrap(), Operator::parse(words.next().unwrap()).unwrap());
            all.add(key, Requirement::new(operator, words).unwrap());
        }
        all
    }

    #[test]
    fn requires_custom_labels_unless_they_may_be_absent() {
        let pool = of("kubernetes.io/arch In amd64; team Exists");
        for fine in [
            "team In blue",
            "other NotIn x",
            "other DoesNotExist",
            "topology.kubernetes.io/zone In a",
            "beta.kubernetes.io/arch In amd64",
            "karpenter.k8s.aws/instance-local-nvme Gt 100",
        ] {
            assert_eq!(pool.compatible(&of(fine)), Ok(()), "{fine}");
        }
        for asked in ["other In x", "other Exists", "other Gt 1", "other NotIn"] {
            assert_eq!(pool.compatible(&of(asked)), Err(Mismatch::Undefined("other")), "{asked}");
        }
        assert_eq!(
            pool.compatible(&of("beta.kubernetes.io/arch In arm64")),
            Err(Mismatch::Conflict("kubernetes.io/arch"))
        );
        assert_eq!(pool.compatible(&of("team DoesNotExist")), Err(Mismatch::Conflict("team")));
    }

    #[test]
    fn accepts_a_pod_whose_requirements_contradict_each_other() {
        assert!(of("a In 1; a In 2").get("a").unwrap().is_negative());
        assert_eq!(of("").compatible(&of("a In 1; a In 2")), Ok(()));
        assert_eq!(of("a NotIn 1").compatible(&of("a DoesNotExist")), Ok(()));
    }

    #[test]
    fn accepts_only_whole_numbers_within_inclusive_bounds() {
        let cpu = of("cpu Gt 4; cpu Lt 8");
        let cpu = cpu.get("cpu").unwrap();
        assert_eq!(
            ["4", "5", "7", "8", "x", ""].map(|value| cpu.has(value)),
            [false, true, true, false, false, false]
        );
        assert!(!of("a Gt 5").get("a").unwrap().intersects(of("a Lt 6").get("a").unwrap()));
        assert!(
            of("size In large")
                .get("size")
                .unwrap()
                .intersection(of("size Gt 1").get("size").unwrap())
                .is_negative()
        );
        assert_eq!(Requirement::new(Operator::Gt, ["x"]), None);
        assert!(Requirement::new(Operator::Gt, ["9223372036854775807"]).unwrap().is_negative());
    }

    const VALUES: [&str; 9] = ["a", "b", "0", "1", "2", "3", "4", "-1", ""];

    fn any_requirement() -> impl Strategy<Value = Requirement<'static>> {
        let operators = [Operator::In, Operator::NotIn, Operator::Exists, Operator::DoesNotExist];
        let bounds = [Operator::Gt, Operator::Lt, Operator::Gte, Operator::Lte];
        let sets = (prop::sample::select(operators.to_vec()), prop::sample::subsequence(&VALUES[..], 0..=4));
        let sets = sets.prop_map(|(operator, values)| Requirement::new(operator, values).unwrap()).boxed();
        let bound = (prop::sample::select(bounds.to_vec()), prop::sample::select(&VALUES[2..8]));
        let bound = bound.prop_map(|(operator, value)| Requirement::new(operator, [value]).unwrap()).boxed();
        prop_oneof![sets, bound]
    }

    proptest! {
        #[test]
        fn intersection_accepts_what_both_accept(one in any_requirement(), other in any_requirement()) {
            let both = one.intersection(&other);
            for value in VALUES {
                prop_assert_eq!(both.has(value), one.has(value) && other.has(value), "{}", value);
            }
            prop_assert_eq!(&both, &other.intersection(&one));
            prop_assert_eq!(&one.intersection(&one).intersection(&other), &both);
        }

        #[test]
        fn requirements_with_a_common_value_intersect(one in any_requirement(), other in any_requirement()) {
            if VALUES.iter().any(|value| one.has(value) && other.has(value)) {
                prop_assert!(one.intersects(&other));
            }
            prop_assert_eq!(one.intersects(&other), other.intersects(&one));
            let both = one.intersection(&other);
            prop_assert_eq!(one.intersects(&other), both.complement || !both.values.is_empty());
            // Unless both are complements, a common value is in one of the lists.
            if (one.listed().is_some() || other.listed().is_some()) && one.intersects(&other) {
                prop_assert!(VALUES.iter().any(|value| one.has(value) && other.has(value)));
            }
        }

        #[test]
        fn adding_is_independent_of_order(one in any_requirement(), other in any_requirement(), third in any_requirement()) {
            let add = |all: [&Requirement<'static>; 3]| {
                let mut made = Requirements::default();
                for requirement in all {
                    made.add("k", requirement.clone());
                }
                VALUES.map(|value| made.get("k").is_some_and(|requirement| requirement.has(value)))
            };
            prop_assert_eq!(add([&one, &other, &third]), add([&third, &one, &other]));
        }

        #[test]
        fn requirements_are_compatible_with_themselves(one in any_requirement(), key in prop::sample::select(&["own", "kubernetes.io/arch"][..])) {
            let mut pool = Requirements::default();
            pool.add(key, one);
            prop_assert_eq!(pool.compatible(&pool), Ok(()));
        }
    }
}
