//! The plan of a change between two texts of the same cluster.

use std::collections::BTreeSet;

use karpwarden::answers::plan::PlanAnswer;
use karpwarden::cluster::Cluster;
use karpwarden::cluster::built_objects::BuiltObjects;
use karpwarden::disruption::forecast::ForecastSettings;
use karpwarden::karpenter::kind::Kind;
use karpwarden::manifest::File;
use karpwarden::manifest::limits::Limits;
use karpwarden::plan::{Plan, PlanError, PlanOptions, PlanPair, PlanSide, WallClock, plan};
use karpwarden::rule::settings::Settings;
use karpwarden::simulate::Choices;
use karpwarden::values::timestamp::Timestamp;
use terraform_objects::evaluate_given;

use crate::read;

/// The start of the names of the files before the change.
const BEFORE: &str = "before/";

/// Plans the change from one text of a cluster to another.
///
/// If a side has NodeClaims, the old objects count as a snapshot. Visitors often paste the old NodePool alone beside a whole
/// cluster, so the nodes after the change serve where there are none before.
pub(crate) fn answer(
    before: &Cluster,
    after: &Cluster,
    settings: &Settings,
    at: Timestamp,
) -> Result<PlanAnswer, PlanError> {
    let (has_before, has_after) = (has_nodes(before), has_nodes(after));
    let joined = (has_after && !has_before).then(|| {
        let files = [before, after].into_iter().flat_map(read_again);
        Cluster { name: String::new(), files: files.collect() }
    });
    let options = PlanOptions {
        at,
        from: None,
        to: None,
        ca_bundle: String::new(),
        is_snapshot: has_before || has_after,
        is_complete: has_after,
        namespace: None,
        by_terraform: BTreeSet::new(),
        clock: WallClock::utc(),
        forecast: ForecastSettings::default(),
        choices: Choices::default(),
        settings: settings.clone(),
    };
    let pair = PlanPair {
        name: "",
        old: PlanSide { cluster: joined.as_ref().unwrap_or(before), folder: BEFORE },
        new: PlanSide { cluster: after, folder: "" },
    };
    let Plan { mut answer, assumptions, .. } = plan(&[pair], &options)?;
    answer.assumptions = assumptions.iter().map(ToString::to_string).collect();
    Ok(answer)
}

/// The files of a cluster.
fn read_again(cluster: &Cluster) -> Vec<File> {
    let files = cluster.files.iter().map(|file| read(file.source.name(), file.source.text()));
    let mut files: Vec<File> = files.collect();
    evaluate_given(&mut files, &Limits::DEFAULT);
    files
}

fn has_nodes(cluster: &Cluster) -> bool {
    let built = BuiltObjects::of(&cluster.files);
    built.objects(&cluster.files).iter().any(|object| object.is(Kind::NODE_CLAIM))
}
