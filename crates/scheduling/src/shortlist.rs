//! The NodePools of a long list that decide whether pods match any NodePool, so that a program parses only these whole.

use std::collections::BTreeSet;

use karpenter::labels;
use objects::pod::Pod;

use crate::demand::Demand;
use crate::matching::selects;
use crate::pool_index::is_of_this_provider;
use crate::requirements::Requirements;
use crate::taints::Toleration;
use crate::template::{NodeTemplate, check_labels, check_taints};

/// Maximum number of NodePools that a shortlist has as examples: the first of the list, and the first that share a label with
/// a pod.
const MAX_EXAMPLES: usize = 16;

/// Maximum number of different pods. More pods would take time in proportion to pods times NodePools.
const MAX_PODS: usize = 16;

/// NodePool of a list, read as far as a [`Shortlist`] needs it.
#[derive(Clone, Debug, Default)]
pub struct ListedPool<'t> {
    /// The name.
    pub name: &'t str,
    /// The group of the node class.
    pub node_class_group: &'t str,
    /// The taints, and the requirements and labels that a pod mentions.
    pub template: NodeTemplate<'t>,
}

/// Relevance of a NodePool for the pods of a [`Shortlist`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relevance {
    /// The NodePool decides about a pod.
    Needed,
    /// A message about a pod that no NodePool takes can name the NodePool.
    Example,
    /// Other NodePools say as much.
    Irrelevant,
}

/// Choice of the NodePools that decide whether pods match any NodePool, and why not.
#[derive(Debug)]
pub struct Shortlist<'d> {
    pods: Vec<PodChoice<'d>>,
    /// The labels that the pods mention.
    keys: BTreeSet<&'d str>,
    /// The labels that no NodePool has set so far.
    unset: BTreeSet<&'d str>,
    /// The number of NodePools so far.
    count: usize,
    /// Whether all NodePools so far belong to the AWS provider.
    is_known: bool,
}

/// Choice of NodePools for a pod.
#[derive(Debug)]
struct PodChoice<'d> {
    alternatives: Vec<Requirements<'d>>,
    tolerations: Vec<Toleration<'d>>,
    /// Whether a NodePool takes the pod.
    is_taken: bool,
    /// Whether the pod selects a NodePool whose taint it does not tolerate.
    has_untolerated: bool,
    /// The number of NodePools that share a label with the pod.
    related: usize,
}

impl<'d> Shortlist<'d> {
    /// An empty shortlist for some pods; `None` without pods, or with too many.
    pub fn new(pods: &[Pod<'d>]) -> Option<Self> {
        let demands: BTreeSet<Demand<'d>> = pods.iter().map(|pod| Demand::relaxed(*pod)).collect();
        if demands.is_empty() || demands.len() > MAX_PODS {
            return None;
        }
        let expressions = pods.iter().flat_map(|pod| pod.expressions());
        let keys: BTreeSet<_> = expressions.map(|expression| labels::normalised(expression.key)).collect();
        let pods = demands.into_iter().map(PodChoice::new).collect();
        Some(Self { pods, unset: keys.clone(), keys, count: 0, is_known: true })
    }

    /// Whether a pod mentions a label.
    pub fn asks(&self, key: &str) -> bool {
        self.keys.contains(labels::normalised(key))
    }

    /// Whether a NodePool takes each pod, so that examples are not needed.
    pub fn is_decided(&self) -> bool {
        self.pods.iter().all(|pod| pod.is_taken)
    }

    /// Whether further NodePools change nothing: a NodePool takes each pod, and a NodePool sets each label that a pod mentions.
    pub fn is_settled(&self) -> bool {
        self.count > 0 && self.unset.is_empty() && self.is_decided()
    }

    /// Matches the pods against the next NodePool of the list.
    pub fn relevance(&mut self, pool: &mut ListedPool<'_>) -> Relevance {
        let is_known = is_of_this_provider(pool.node_class_group);
        let mut is_needed = self.count == 0 || (self.is_known && !is_known);
        let mut is_example = self.count < MAX_EXAMPLES;
        self.is_known &= is_known;
        self.count += 1;
        if self.keys.contains(labels::NODEPOOL) {
            pool.template.label(labels::NODEPOOL, pool.name);
        }
        for (key, _) in pool.template.requirements.iter() {
            is_needed |= self.unset.remove(key);
        }
        for pod in &mut self.pods {
            match pod.relevance(&pool.template) {
                Relevance::Needed => is_needed = true,
                Relevance::Example => is_example = true,
                Relevance::Irrelevant => {}
            }
        }
        match (is_needed, is_example) {
            (true, _) => Relevance::Needed,
            (_, true) => Relevance::Example,
            _ => Relevance::Irrelevant,
        }
    }
}

impl<'d> PodChoice<'d> {
    fn new(demand: Demand<'d>) -> Self {
        Self {
            alternatives: demand.alternatives(),
            tolerations: demand.tolerations,
            is_taken: false,
            has_untolerated: false,
            related: 0,
        }
    }

    fn relevance(&mut self, template: &NodeTemplate<'_>) -> Relevance {
        if self.is_taken {
            return Relevance::Irrelevant;
        }
        let mut relevance = Relevance::Irrelevant;
        for asked in &self.alternatives {
            if check_labels(&template.requirements, asked).is_ok() {
                self.is_taken = check_taints(&template.taints, &self.tolerations).is_ok();
                if self.is_taken {
                    return Relevance::Needed;
                }
                if !self.has_untolerated && selects(asked, template) {
                    self.has_untolerated = true;
                    relevance = Relevance::Example;
                }
            }
            if self.related < MAX_EXAMPLES && shares_label(asked, template) {
                self.related += 1;
                relevance = Relevance::Example;
            }
        }
        relevance
    }
}

/// Whether a NodePool has the name, or a value of a custom label, that a pod asks.
fn shares_label(asked: &Requirements<'_>, template: &NodeTemplate<'_>) -> bool {
    asked.iter().any(|(key, requirement)| {
        let is_custom = || key == labels::NODEPOOL || labels::well_known(key).is_empty();
        let offered = template.requirements.get(key).filter(|_| !requirement.is_negative());
        offered.is_some_and(|offered| offered.intersects(requirement)) && is_custom()
    })
}
