//! Replica counts as people write them.

use scheduling::simulation::ReplicaCount;
use thiserror::Error;

/// Text that is not a replica count such as `deploy/web=50`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplicaCountError {
    /// The count is missing.
    #[error("`{0}` has no `=`")]
    NoCount(String),
    /// The workload is not named with its kind.
    #[error("`{0}` is not written as KIND/NAME")]
    NoKind(String),
    /// The count is not a number.
    #[error("`{0}` is not a number")]
    NotANumber(String),
}

/// Short names of kinds, as kubectl has them.
const SHORT: [(&str, &str); 8] = [
    ("deploy", "Deployment"),
    ("deployments", "Deployment"),
    ("sts", "StatefulSet"),
    ("statefulsets", "StatefulSet"),
    ("rs", "ReplicaSet"),
    ("jobs", "Job"),
    ("cj", "CronJob"),
    ("cronjobs", "CronJob"),
];

/// Parses a replica count such as `deploy/web=50`.
pub fn parse(text: &str) -> Result<ReplicaCount, ReplicaCountError> {
    let pair = text.split_once('=').ok_or_else(|| ReplicaCountError::NoCount(text.to_owned()));
    let (workload, count) = pair?;
    let named = workload.split_once('/').ok_or_else(|| ReplicaCountError::NoKind(workload.to_owned()));
    let (kind, name) = named?;
    let count = count.parse().map_err(|_| ReplicaCountError::NotANumber(count.to_owned()))?;
    let long = SHORT.iter().find(|(short, _)| short.eq_ignore_ascii_case(kind));
    Ok(ReplicaCount { kind: long.map_or(kind, |(_, long)| long).to_owned(), name: name.to_owned(), count })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_short_and_long_kinds() {
        let count = parse("deploy/web=50").unwrap();
        assert_eq!((count.kind.as_str(), count.name.as_str(), count.count), ("Deployment", "web", 50));
        assert_eq!(parse("Rollout/web=0").unwrap().kind, "Rollout");
        assert_eq!(parse("web=5").unwrap_err().to_string(), "`web` is not written as KIND/NAME");
        assert!(parse("deploy/web").is_err() && parse("deploy/web=x").is_err());
    }
}
