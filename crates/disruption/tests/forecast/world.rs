//! The objects of a cluster while a forecast is replayed.

use std::collections::{BTreeMap, BTreeSet};

use karpwarden_disruption::allowance::{DisruptionReason, PoolBudgets};
use karpwarden_disruption::forecast::{Forecast, ForecastNode, RolloutChange};
use karpwarden_disruption::settings::DisruptionSettings;
use manifest::File;
use manifest::limits::Limits;
use objects::node_pool::NodePool;
use serde_json::{Map, Value as Json, json};
use values::timestamp::Timestamp;

/// The objects of a cluster, and what only the controller knows.
pub(crate) struct World {
    /// The objects. An object that is gone keeps its position, as the position decides about otherwise equal pods.
    items: Vec<Json>,
    gone: BTreeSet<usize>,
    settings: DisruptionSettings,
    /// The nodes that drift.
    pub(crate) drifted: BTreeMap<String, Timestamp>,
    /// The nodes that went from the start.
    going_before: BTreeSet<String>,
    /// The nodes that commands of the forecast disrupt.
    disrupted: BTreeSet<String>,
}

fn name(item: &Json) -> &str {
    item["metadata"]["name"].as_str().unwrap_or_default()
}

fn full_name(pod: &Json) -> String {
    format!("{}/{}", pod["metadata"]["namespace"].as_str().unwrap_or("default"), name(pod))
}

fn pairs(all: &[(String, String)]) -> Map<String, Json> {
    all.iter().map(|(key, value)| (key.clone(), json!(value))).collect()
}

impl World {
    /// The cluster of a case. Its drifted nodes are the recorded ones or all nodes with a NodeClaim.
    pub(crate) fn new(manifests: &Json, settings: DisruptionSettings, all_drift: bool) -> Self {
        let mut items = manifests.as_array().unwrap().clone();
        let alone: Vec<String> = items
            .iter()
            .filter(|item| item["metadata"]["annotations"]["case/no-claim"].is_string())
            .map(|item| name(item).to_owned())
            .collect();
        items.retain(|item| {
            item["kind"] != "NodeClaim"
                || !alone.iter().any(|node| item["status"]["nodeName"] == node.as_str())
        });
        // The engine need not consolidate.
        for pool in items.iter_mut().filter(|item| item["kind"] == "NodePool") {
            pool["spec"]["disruption"]["consolidateAfter"] = json!("Never");
        }
        let mut world = Self {
            items,
            gone: BTreeSet::new(),
            settings,
            drifted: BTreeMap::new(),
            going_before: BTreeSet::new(),
            disrupted: BTreeSet::new(),
        };
        world.set_drifted(all_drift);
        world
    }

    /// Finds the drifted nodes, and writes the condition for them alone.
    fn set_drifted(&mut self, all_drift: bool) {
        let now = self.settings.now;
        for index in 0..self.items.len() {
            if self.items[index]["kind"] != "NodeClaim" {
                continue;
            }
            let node =
                self.node_of(&self.items[index]).unwrap_or_else(|| name(&self.items[index]).to_owned());
            let claim = &mut self.items[index];
            let is_going = claim["metadata"]["deletionTimestamp"].is_string();
            let mut conditions = claim["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let found = conditions.iter().position(|condition| condition["type"] == "Drifted");
            let recorded = found.map(|at| conditions.remove(at)).filter(|old| old["status"] == "True");
            if recorded.is_some() || all_drift {
                let since = recorded.as_ref().and_then(|old| old["lastTransitionTime"].as_str());
                let since = since.and_then(Timestamp::parse).unwrap_or(now).min(now);
                conditions.push(json!({
                    "type": "Drifted", "status": "True", "reason": "NodePoolDrifted",
                    "lastTransitionTime": since.to_string(),
                }));
                self.drifted.insert(node.clone(), since);
            }
            if claim["status"].is_object() {
                claim["status"]["conditions"] = json!(conditions);
            }
            let is_marked =
                self.settings.marked_for_deletion.contains(&node) || self.settings.in_queue.contains(&node);
            if is_going || is_marked {
                self.going_before.insert(node);
            }
        }
    }

    /// The name of the Node of a NodeClaim.
    fn node_of(&self, claim: &Json) -> Option<String> {
        let id = claim["status"]["providerID"].as_str()?;
        self.items
            .iter()
            .find(|item| item["kind"] == "Node" && item["spec"]["providerID"] == id)
            .map(|node| name(node).to_owned())
    }

    fn position(&self, kind: &str, named: &str) -> Option<usize> {
        let is_it = |(index, item): &(usize, &Json)| {
            !self.gone.contains(index) && item["kind"] == kind && name(item) == named
        };
        self.items.iter().enumerate().find(is_it).map(|(index, _)| index)
    }

    /// The position of the NodeClaim of a node.
    fn claim_position(&self, node: &str) -> Option<usize> {
        let Some(at) = self.position("Node", node) else { return self.position("NodeClaim", node) };
        let id = self.items[at]["spec"]["providerID"].as_str()?.to_owned();
        let is_it = |(index, item): &(usize, &Json)| {
            !self.gone.contains(index)
                && item["kind"] == "NodeClaim"
                && item["status"]["providerID"] == id.as_str()
        };
        self.items.iter().enumerate().find(is_it).map(|(index, _)| index)
    }

    /// The objects as they are.
    pub(crate) fn file(&self) -> File {
        self.file_of(|_| true)
    }

    /// Some of the objects as they are.
    fn file_of(&self, is_wanted: impl Fn(&Json) -> bool) -> File {
        let kept = self.items.iter().enumerate().filter(|(index, _)| !self.gone.contains(index));
        let items = kept.filter(|(_, item)| is_wanted(item)).map(|(_, item)| item.to_string());
        let items = items.collect::<Vec<_>>().join(",");
        let list = format!(r#"{{"apiVersion": "v1", "kind": "List", "items": [{items}]}}"#);
        File::read("case.json", list, &Limits::DEFAULT)
    }

    /// The settings at an instant, with the facts that only the controller knows.
    pub(crate) fn settings(&self, now: Timestamp) -> DisruptionSettings {
        DisruptionSettings { now, ..self.settings.clone() }
    }

    /// Applies a change of a forecast.
    pub(crate) fn apply(&mut self, at: Timestamp, change: &RolloutChange, forecast: &Forecast<'_>) {
        match change {
            RolloutChange::Command(step) => {
                for node in &forecast.steps[*step].command.candidates {
                    self.settings.marked_for_deletion.insert(node.clone());
                    self.settings.in_queue.insert(node.clone());
                    self.disrupted.insert(node.clone());
                }
            }
            RolloutChange::Added(node) => self.add(at, node),
            RolloutChange::Nominated(node) => {
                self.settings.nominated.insert(node.clone(), at);
            }
            RolloutChange::Started(node) => self.start(node),
            RolloutChange::Deleted(node) => {
                let Some(claim) = self.claim_position(node) else { return };
                let metadata = self.items[claim]["metadata"].as_object_mut().unwrap();
                metadata.entry("deletionTimestamp").or_insert_with(|| json!(at.to_string()));
            }
            RolloutChange::Gone(node) => self.remove(node),
            RolloutChange::Pending(pod) => {
                let index = self.pod(pod);
                self.gone.remove(&index);
                let pod = self.items[index].as_object_mut().unwrap();
                pod["spec"].as_object_mut().unwrap().remove("nodeName");
                if let Some(status) = pod.get_mut("status").and_then(Json::as_object_mut) {
                    status.remove("conditions");
                }
            }
            RolloutChange::Moved { pod, node } => {
                let index = self.pod(pod);
                self.items[index]["spec"]["nodeName"] = json!(node);
            }
        }
    }

    fn pod(&self, named: &str) -> usize {
        self.items.iter().position(|item| item["kind"] == "Pod" && full_name(item) == named).unwrap()
    }

    fn add(&mut self, at: Timestamp, node: &ForecastNode) {
        let taints = node
            .taints
            .iter()
            .map(|[key, value, effect]| json!({"key": key, "value": value, "effect": effect}));
        let taints: Vec<Json> = taints.collect();
        self.items.push(json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
            "metadata": {"name": node.name, "labels": pairs(&node.labels), "creationTimestamp": at.to_string()},
            "spec": {"taints": taints},
            "status": {
                "providerID": format!("aws:///new/{}", node.name),
                "capacity": pairs(&node.capacity), "allocatable": pairs(&node.allocatable),
            },
        }));
    }

    fn start(&mut self, node: &str) {
        let index = self.position("Node", node).unwrap_or_else(|| self.join(node));
        let item = &mut self.items[index];
        item["metadata"]["labels"]["karpenter.sh/registered"] = json!("true");
        item["metadata"]["labels"]["karpenter.sh/initialized"] = json!("true");
        item["status"]["conditions"] = json!([{"type": "Ready", "status": "True"}]);
    }

    /// Adds the Node of a NodeClaim. Returns its position.
    fn join(&mut self, node: &str) -> usize {
        let claim = self.items[self.position("NodeClaim", node).unwrap()].clone();
        self.items.push(json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": node, "labels": claim["metadata"]["labels"]},
            "spec": {"providerID": claim["status"]["providerID"], "taints": claim["spec"]["taints"]},
            "status": {"capacity": claim["status"]["capacity"], "allocatable": claim["status"]["allocatable"]},
        }));
        self.items.len() - 1
    }

    fn remove(&mut self, node: &str) {
        let claim = self.claim_position(node);
        let own = self.position("Node", node);
        self.gone.extend(claim.into_iter().chain(own));
        let on_node = |item: &Json| item["kind"] == "Pod" && item["spec"]["nodeName"] == node;
        let pods = self.items.iter().enumerate().filter(|(_, item)| on_node(item));
        self.gone.extend(pods.map(|(index, _)| index));
    }

    /// The NodePools in which more nodes go with the candidates of a command than the budgets allow, beside the nodes that went from the
    /// start.
    pub(crate) fn exceeds_budgets(&self, now: Timestamp, candidates: &[String]) -> Vec<String> {
        let file = self.file_of(|item| item["kind"] == "NodePool");
        let objects = crate::objects(&file);
        let pools = objects.iter().filter_map(|object| NodePool::of(*object));
        let mut all = Vec::new();
        for pool in pools {
            let pool_name = pool.object().name();
            let nodes: Vec<&str> = self
                .items
                .iter()
                .enumerate()
                .filter(|(index, item)| {
                    let labels = &item["metadata"]["labels"];
                    item["kind"] == "Node"
                        && !self.gone.contains(index)
                        && labels["karpenter.sh/nodepool"] == pool_name
                        && labels["karpenter.sh/initialized"] == "true"
                        && self.claim_position(name(item)).is_some()
                })
                .map(|(_, item)| name(item))
                .collect();
            let goes = |node: &&&str| {
                let is_new = candidates.iter().any(|candidate| candidate == **node);
                is_new || (self.disrupted.contains(**node) && !self.going_before.contains(**node))
            };
            let going = nodes.iter().filter(goes).count();
            let is_touched = nodes.iter().any(|node| candidates.iter().any(|candidate| candidate == node));
            let budgets = PoolBudgets::parse(pool, self.settings.release()).unwrap();
            let allowed = budgets.allowance(now, nodes.len(), DisruptionReason::Drifted).allowed;
            if is_touched && i64::try_from(going).unwrap() > allowed {
                all.push(format!("{now}: {going} nodes of {pool_name} go, and budgets allow {allowed}"));
            }
        }
        all
    }
}
