//! Flags of `simulate` and `disruption` as choices.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::str::FromStr;

use karpenter::chart::{AWS_GATES, GATES};
use karpenter::kind::Kind;
use karpwarden::simulate::{ChoiceError, Choices, replicas};
use manifest::tree::{Node, items_of};
use objects::object::Object;
use scheduling::simulation::{ReplicaCount, Zone};
use values::spelling::did_you_mean;

use super::flags::SimulationFlags;
use crate::error::CommandError;
use crate::input::read_finite;

impl TryFrom<SimulationFlags> for Choices {
    type Error = CommandError;

    fn try_from(flags: SimulationFlags) -> Result<Self, CommandError> {
        let preference_policy = flags.preference_policy.as_deref();
        let min_values_policy = flags.min_values_policy.as_deref();
        Ok(Self {
            ignores_preferences: preference_policy.map(ignores_preferences).transpose()?,
            min_values_best_effort: min_values_policy.map(is_best_effort).transpose()?,
            feature_gates: feature_gates(&flags.feature_gates)?,
            reservation_capacity: numbers("--reservation-capacity", &flags.reservation_capacity)?,
            replicas: flags.replicas.iter().map(|text| replica_count(text)).collect::<Result<_, _>>()?,
            without_nodes: flags.empty,
            without_binding: flags.no_bind,
            rounds: flags.rounds,
            region: flags.region,
            zones: zones(&flags.zones),
            prices: None,
            spot_discount: flags.spot_discount,
            vm_memory_overhead: flags.vm_memory_overhead_percent,
            reserved_enis: flags.reserved_enis,
        })
    }
}

/// The choices with the text of the file of prices.
pub(crate) fn with_prices(choices: Choices, path: Option<&Path>) -> Result<Choices, CommandError> {
    let read = |path: &Path| {
        let name = path.display();
        let read = read_finite(path).and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
        read.map_err(|error| CommandError::Usage(format!("cannot read `{name}`: {error}")))
    };
    Ok(Choices { prices: path.map(read).transpose()?, ..choices })
}

/// Checks that the replica counts name workloads of the input.
pub(super) fn check_replicas(choices: &Choices, objects: &[Object<'_>]) -> Result<(), CommandError> {
    replicas::check(&choices.replicas, objects)
        .map_err(|error| CommandError::Usage(format!("`--replicas`: {error}")))
}

/// The error for a choice, with its flag.
pub(crate) fn refused(error: &ChoiceError, prices: Option<&Path>) -> CommandError {
    CommandError::Usage(match error {
        ChoiceError::Zone(_) => format!("`--zones`: {error}"),
        ChoiceError::Region(..) => format!("`--region`: {error}"),
        ChoiceError::Prices(_) => {
            format!("`--prices {}`: {error}", prices.unwrap_or(Path::new("")).display())
        }
    })
}

/// Parses zones such as `us-east-1a=use1-az1`.
pub(crate) fn zones(list: &[String]) -> Vec<Zone> {
    let zone = |text: &String| {
        let (name, id) = text.split_once('=').unwrap_or((text, ""));
        Zone { name: name.trim().to_owned(), id: id.trim().to_owned() }
    };
    list.iter().map(zone).collect()
}

pub(crate) fn ignores_preferences(text: &str) -> Result<bool, CommandError> {
    is_second("--preference-policy", text, ["Respect", "Ignore"])
}

pub(crate) fn is_best_effort(text: &str) -> Result<bool, CommandError> {
    is_second("--min-values-policy", text, ["Strict", "BestEffort"])
}

/// Parses feature gates such as `NodeOverlay=true`.
pub(crate) fn feature_gates(list: &[String]) -> Result<BTreeMap<String, bool>, CommandError> {
    let gates = by_name("--feature-gates", list, "neither `true` nor `false`")?;
    let known: BTreeSet<&str> = GATES.iter().chain(&AWS_GATES).map(|gate| gate.name).collect();
    check_names("--feature-gates", "Karpenter has no feature gate", gates.keys(), &known)?;
    Ok(gates)
}

/// Checks that the capacity reservations of a choice are in the input: in the status of an EC2NodeClass, or in the label of a node.
pub(super) fn check_reservations(choices: &Choices, objects: &[Object<'_>]) -> Result<(), CommandError> {
    const LABEL: &str = "karpenter.k8s.aws/capacity-reservation-id";
    let mut known = BTreeSet::new();
    for object in objects {
        if object.is(Kind::NODE_CLASS) {
            let reservations = items_of(object.at(&["status", "capacityReservations"]));
            known.extend(reservations.filter_map(|item| item.str_at(&["id"])));
        }
        known.extend(object.metadata().label(LABEL).and_then(Node::as_str));
    }
    let what = "no EC2NodeClass of the input has a capacity reservation in its status with the ID";
    check_names("--reservation-capacity", what, choices.reservation_capacity.keys(), &known)
}

/// Checks that names are known. `problem` is the start of the message about a name that is not.
pub(crate) fn check_names<'n>(
    flag: &str,
    problem: &str,
    names: impl IntoIterator<Item = &'n String>,
    known: &BTreeSet<&str>,
) -> Result<(), CommandError> {
    let Some(name) = names.into_iter().find(|name| !known.contains(name.as_str())) else { return Ok(()) };
    let hint = did_you_mean(name, known.iter().copied());
    Err(CommandError::Usage(format!("`{flag}`: {problem} `{name}`{hint}")))
}

/// Parses numbers such as `default=3`.
pub(crate) fn numbers<N: FromStr>(flag: &str, list: &[String]) -> Result<BTreeMap<String, N>, CommandError> {
    by_name(flag, list, "not a number")
}

fn by_name<V: FromStr>(
    flag: &str,
    list: &[String],
    problem: &str,
) -> Result<BTreeMap<String, V>, CommandError> {
    let usage = |text: &str, problem: &str| CommandError::Usage(format!("`{flag}`: `{text}` {problem}"));
    let pair = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| usage(text, "has no `=`"))?;
        let value = value.parse().map_err(|_| usage(value, &format!("is {problem}")))?;
        Ok((name.to_owned(), value))
    };
    list.iter().map(pair).collect()
}

fn is_second(flag: &str, text: &str, [first, second]: [&str; 2]) -> Result<bool, CommandError> {
    match text {
        _ if text == first => Ok(false),
        _ if text == second => Ok(true),
        _ => Err(CommandError::Usage(format!("`{flag}`: `{text}` is neither `{first}` nor `{second}`"))),
    }
}

fn replica_count(text: &str) -> Result<ReplicaCount, CommandError> {
    replicas::parse(text).map_err(|error| CommandError::Usage(format!("`--replicas`: {error}")))
}
