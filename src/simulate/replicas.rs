//! Replica counts as people write them.

use std::collections::BTreeSet;

use objects::object::Object;
use scheduling::simulation::{ReplicaCount, WorkloadKey, scalable_workloads};
use thiserror::Error;
use values::spelling::did_you_mean;

/// Text that is not a replica count such as `deploy/web=50`, or a count of a workload that the input lacks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplicaCountError {
    /// The count is missing.
    #[error("`{0}` has no `=`")]
    NoCount(String),
    /// The workload is not named with its kind.
    #[error("`{0}` is not written as KIND/NAME or KIND/NAMESPACE/NAME")]
    NoKind(String),
    /// The count is not a number.
    #[error("`{0}` is not a number")]
    NotANumber(String),
    /// Pods of this kind are not counted by their controller.
    #[error("the number of pods of a {0} cannot be chosen{1}")]
    NotScalable(&'static str, &'static str),
    /// The input has no workload of the kind. The text is a suggestion, or empty.
    #[error("the input has no workload of kind `{0}`{1}")]
    UnknownKind(String, String),
    /// The input has no workload of the name. The text is a suggestion, or empty.
    #[error("the input has no {0} `{1}`{2}")]
    UnknownName(String, String, String),
}

/// Kinds with their short names, as kubectl has them. A kind can also be written in the plural, with its group.
const KINDS: [(&str, &str); 7] = [
    ("deploy", "Deployment"),
    ("sts", "StatefulSet"),
    ("rs", "ReplicaSet"),
    ("job", "Job"),
    ("cj", "CronJob"),
    ("ds", "DaemonSet"),
    ("po", "Pod"),
];

/// Parses a replica count such as `deploy/web=50`, `deployment/shop/web=50` or `deployments.apps/web=50`.
pub fn parse(text: &str) -> Result<ReplicaCount, ReplicaCountError> {
    let pair = text.split_once('=').ok_or_else(|| ReplicaCountError::NoCount(text.to_owned()));
    let (workload, count) = pair?;
    let parts: Vec<&str> = workload.split('/').collect();
    let (kind, namespace, name) = match *parts.as_slice() {
        [kind, name] => (kind, None, name),
        [kind, namespace, name] => (kind, Some(namespace.to_owned()), name),
        _ => return Err(ReplicaCountError::NoKind(workload.to_owned())),
    };
    let count = count.parse().map_err(|_| ReplicaCountError::NotANumber(count.to_owned()))?;
    let (kind, _group) = kind.split_once('.').unwrap_or((kind, ""));
    let written = ReplicaCount { kind: kind.to_owned(), namespace, name: name.to_owned(), count };
    let known = KINDS.iter().find(|(short, long)| written.is_of_kind(short) || written.is_of_kind(long));
    Ok(match known {
        Some((_, long)) => ReplicaCount { kind: (*long).to_owned(), ..written },
        None => written,
    })
}

/// Checks that each replica count names a workload among objects.
pub fn check(counts: &[ReplicaCount], objects: &[Object<'_>]) -> Result<(), ReplicaCountError> {
    if counts.is_empty() {
        return Ok(());
    }
    let workloads = scalable_workloads(objects);
    let is_named = |count: &&ReplicaCount| workloads.iter().any(|workload| count.names(*workload));
    match counts.iter().find(|count| !is_named(count)) {
        None => Ok(()),
        Some(count) => Err(unknown(count, &workloads)),
    }
}

/// The error for a count that names none of the workloads.
fn unknown(count: &ReplicaCount, workloads: &BTreeSet<WorkloadKey<'_>>) -> ReplicaCountError {
    match count.kind.as_str() {
        "DaemonSet" => {
            return ReplicaCountError::NotScalable("DaemonSet", ": one runs on each node that it tolerates");
        }
        "Pod" => return ReplicaCountError::NotScalable("Pod", ": name the workload that owns it"),
        _ => {}
    }
    let of_kind: Vec<WorkloadKey<'_>> =
        workloads.iter().copied().filter(|workload| count.is_of_kind(workload.kind)).collect();
    // The same name may belong to another kind or another namespace.
    let elsewhere = workloads.iter().find(|workload| workload.name == count.name);
    if let Some(workload) = elsewhere {
        let WorkloadKey { namespace, kind, name } = workload;
        let hint = format!(" (did you mean `{kind}/{namespace}/{name}`?)");
        return ReplicaCountError::UnknownName(count.kind.clone(), written_name(count), hint);
    }
    if of_kind.is_empty() {
        let known =
            KINDS.iter().map(|(_, long)| *long).filter(|kind| workloads.iter().any(|one| one.kind == *kind));
        let own = workloads.iter().map(|workload| workload.kind);
        let hint = did_you_mean(&count.kind, known.chain(own));
        return ReplicaCountError::UnknownKind(count.kind.clone(), hint);
    }
    let hint = did_you_mean(&count.name, of_kind.iter().map(|workload| workload.name));
    ReplicaCountError::UnknownName(count.kind.clone(), written_name(count), hint)
}

fn written_name(count: &ReplicaCount) -> String {
    let namespace = count.namespace.as_ref().map(|namespace| format!("{namespace}/")).unwrap_or_default();
    format!("{namespace}{}", count.name)
}

#[cfg(test)]
mod tests {
    use manifest::File;
    use manifest::limits::Limits;

    use super::*;

    #[test]
    fn parses_short_and_long_kinds() {
        for text in ["deploy/web=50", "Deployment/web=50", "deployments/web=50", "deployments.apps/web=50"] {
            let count = parse(text).unwrap();
            assert_eq!(
                (count.kind.as_str(), count.name.as_str(), count.count),
                ("Deployment", "web", 50),
                "{text}"
            );
            assert_eq!(count.namespace, None);
        }
        let count = parse("deployment/shop/web=5").unwrap();
        assert_eq!((count.namespace.as_deref(), count.name.as_str()), (Some("shop"), "web"));
        assert_eq!(parse("Rollout/web=0").unwrap().kind, "Rollout");
        assert_eq!(
            parse("web=5").unwrap_err().to_string(),
            "`web` is not written as KIND/NAME or KIND/NAMESPACE/NAME"
        );
        assert!(parse("deploy/web").is_err() && parse("deploy/web=x").is_err());
    }

    #[test]
    fn names_the_nearest_workload() {
        let text = r"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {template: {spec: {containers: [{name: a, image: b}]}}}
---
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: api, namespace: shop}
spec: {template: {spec: {containers: [{name: a, image: b}]}}}
---
apiVersion: v1
kind: Pod
metadata:
  name: db-0
  ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: u}]
spec: {containers: [{name: a, image: b}]}
";
        let file = File::read("-", text.to_owned(), &Limits::DEFAULT);
        let trees = file.trees();
        let objects: Vec<Object<'_>> = trees.flat_map(Object::all).collect();
        let error =
            |text: &str| check(&[parse(text).unwrap()], &objects).err().map(|error| error.to_string());
        for fine in ["deploy/web=1", "deploy/shop/web=1", "rollouts.argoproj.io/api=2", "sts/db=3"] {
            assert_eq!(error(fine), None, "{fine}");
        }
        for (text, expected) in [
            ("deploy/wob=60", "the input has no Deployment `wob` (did you mean `web`?)"),
            (
                "deploy/shup/web=60",
                "the input has no Deployment `shup/web` (did you mean `Deployment/shop/web`?)",
            ),
            ("deploy/db=3", "the input has no Deployment `db` (did you mean `StatefulSet/default/db`?)"),
            ("deplyment/x=3", "the input has no workload of kind `deplyment` (did you mean `Deployment`?)"),
            (
                "ds/agent=3",
                "the number of pods of a DaemonSet cannot be chosen: one runs on each node that it tolerates",
            ),
        ] {
            assert_eq!(error(text).as_deref(), Some(expected), "{text}");
        }
    }
}
