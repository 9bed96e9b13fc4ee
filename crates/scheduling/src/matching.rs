//! Matching of a pod against the NodePools of a cluster.

use std::sync::Arc;

use karpenter::labels;
use objects::object::Object;
use objects::pod::Pod;

use crate::demand::Demand;
use crate::pool_index::{PoolGroup, PoolIndex};
use crate::requirements::{Mismatch, Requirements};
use crate::taints::PoolTaint;
use crate::template::{NodeTemplate, Obstacle, check_labels, check_taints};

/// Maximum number of NodePools to name.
const MAX_NAMED: usize = 3;

/// Maximum number of comparisons for a pod. A pod that needs more counts as schedulable, because many pods and many
/// NodePools would otherwise take quadratic time.
const MAX_COMPARISONS: usize = 250;

/// Maximum number of NodePools that a pod may select in [`selected_pools`], so that many pods and NodePools take linear time.
const MAX_SELECTED: usize = 50;

/// Result of matching a pod against every NodePool.
#[derive(Debug)]
pub enum Verdict<'d> {
    /// A NodePool can launch a node for the pod, or the answer is unknown.
    Fits,
    /// No NodePool can.
    Unschedulable(Box<Unschedulable<'d>>),
}

/// Reasons for which no NodePool can launch a node for a pod.
#[derive(Debug)]
pub struct Unschedulable<'d> {
    /// A NodePool that the pod selects, with a taint that the pod does not tolerate. Set only if every NodePool that the pod
    /// selects has such a taint.
    pub untolerated: Option<(Object<'d>, PoolTaint<'d>)>,
    /// A reason of each of the first NodePools: a label if a label does not agree, else a taint. Karpenter names the taint
    /// first, but the author of the pod has to select a NodePool before its taint matters.
    pub reasons: Vec<(Object<'d>, Obstacle<'d>)>,
    /// The number of NodePools without a reason here.
    pub others: usize,
}

/// Matches a pod against the NodePools. Pods with equal demands share the result.
pub fn verdict<'d>(pod: Pod<'d>, pools: &PoolIndex<'d>) -> Arc<Verdict<'d>> {
    pools.verdict(Demand::relaxed(pod), |demand| match_pools(demand, pools))
}

/// The NodePools whose labels meet a pod's requirements, each with the first taint that the pod does not tolerate. `None` if
/// there are too many to compare.
pub fn selected_pools<'d>(pod: Pod<'d>, pools: &PoolIndex<'d>) -> Option<Vec<SelectedPool<'d>>> {
    let demand = Demand::relaxed(pod);
    let mut selected: Vec<SelectedPool<'d>> = Vec::new();
    for alternative in demand.alternatives() {
        let names = alternative.get(labels::NODEPOOL);
        for group in pools.candidates(&alternative, MAX_SELECTED + 1) {
            if check_group(group, &alternative).is_err() {
                continue;
            }
            let untolerated = match check_taints(&group.template.taints, &demand.tolerations) {
                Err(Obstacle::Taint(taint)) => Some(taint),
                _ => None,
            };
            if group.pools.len() > MAX_SELECTED {
                return None;
            }
            for pool in &group.pools {
                let is_named = names.is_none_or(|names| names.has(pool.name()));
                if is_named && !selected.iter().any(|(present, _)| present == pool) {
                    selected.push((*pool, untolerated));
                }
            }
            if selected.len() > MAX_SELECTED {
                return None;
            }
        }
    }
    Some(selected)
}

/// A NodePool whose labels meet a pod's requirements, and the first taint that the pod does not tolerate.
pub type SelectedPool<'d> = (Object<'d>, Option<PoolTaint<'d>>);

/// Matches the name and the labels of a group against a pod's requirements.
fn check_group<'d>(group: &PoolGroup<'d>, asked: &Requirements<'d>) -> Result<(), Obstacle<'d>> {
    if group.named(asked.get(labels::NODEPOOL)).is_none() {
        return Err(Obstacle::Label(Mismatch::Conflict(labels::NODEPOOL)));
    }
    check_labels(&group.template.requirements, asked)
}

/// Whether a pod's requirements select NodePools by their name or by a custom label of the template.
pub(crate) fn selects(asked: &Requirements<'_>, template: &NodeTemplate<'_>) -> bool {
    asked.iter().any(|(key, requirement)| {
        let custom = labels::well_known(key).is_empty() && template.requirements.get(key).is_some();
        !requirement.is_negative() && (custom || key == labels::NODEPOOL)
    })
}

fn match_pools<'d>(demand: &Demand<'d>, pools: &PoolIndex<'d>) -> Verdict<'d> {
    let alternatives = demand.alternatives();
    let mut left = MAX_COMPARISONS;
    let mut untolerated = None;
    for alternative in &alternatives {
        for group in pools.candidates(alternative, left + 1) {
            let Some(rest) = left.checked_sub(1) else { return Verdict::Fits };
            left = rest;
            if check_group(group, alternative).is_err() {
                continue;
            }
            let Err(Obstacle::Taint(taint)) = check_taints(&group.template.taints, &demand.tolerations)
            else {
                return Verdict::Fits;
            };
            let pool = group.named(alternative.get(labels::NODEPOOL));
            if let Some(pool) =
                pool.filter(|_| untolerated.is_none() && selects(alternative, &group.template))
            {
                untolerated = Some((pool, taint));
            }
        }
    }
    let reasons = alternatives.first().map(|first| reasons(first, demand, pools)).unwrap_or_default();
    let others = pools.len().saturating_sub(reasons.len());
    Verdict::Unschedulable(Box::new(Unschedulable { untolerated, reasons, others }))
}

/// Returns a reason of each of the first NodePools, for one alternative of a pod.
fn reasons<'d>(
    alternative: &Requirements<'d>,
    demand: &Demand<'d>,
    pools: &PoolIndex<'d>,
) -> Vec<(Object<'d>, Obstacle<'d>)> {
    let mut reasons: Vec<(Object<'d>, Obstacle<'d>)> = Vec::new();
    // The NodePools that the pod selects come first, because the author most likely means them.
    let candidates = pools.candidates(alternative, MAX_NAMED);
    for groups in [candidates, pools.groups().iter().take(MAX_NAMED).collect()] {
        for group in groups.into_iter().take(MAX_NAMED) {
            let named = group.named(alternative.get(labels::NODEPOOL));
            let Some(pool) = named.or_else(|| group.pools.first().copied()) else {
                continue;
            };
            let taints = || check_taints(&group.template.taints, &demand.tolerations);
            let Err(reason) = check_group(group, alternative).and_then(|()| taints()) else { continue };
            if !reasons.iter().any(|(present, _)| *present == pool) {
                reasons.push((pool, reason));
            }
        }
    }
    reasons.truncate(MAX_NAMED);
    reasons
}
