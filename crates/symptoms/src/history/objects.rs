//! Objects → history, except their conditions.

use super::life::{REGISTRATION_TAINT, SPOT, set_if_empty};
use super::record::Record;
use super::{FEW, History, Labelled, NodeObject, Profile, put_few};
use crate::entry::{At, Time};
use ::objects::object::Object;
use karpenter::labels::{self, LabelField};
use manifest::tree::Node;
use objects::storage::{self, Binding, Reach};
use values::arn;

impl History {
    /// Adds an object, such as the labels of a NodeClaim or the taints of a Node.
    pub fn object(&mut self, object: Object<'_>, at: At) {
        match object.kind() {
            "NodeClaim" if object.group() == "karpenter.sh" => self.claim_object(object),
            "NodePool" if object.group() == "karpenter.sh" => {
                let class = object.str_at(&["spec", "template", "spec", "nodeClassRef", "name"]);
                self.set_class(object.name(), class.unwrap_or_default());
            }
            "EC2NodeClass" if object.group() == "karpenter.k8s.aws" => self.class_object(object, at),
            "Node" if object.group().is_empty() => self.node_object(object, at),
            "VolumeAttachment" => self.attachment_object(object, at),
            "StorageClass" => {
                let at_once = matches!(Binding::of(object), Binding::Immediate(_) | Binding::Default);
                let reach = storage::reach(object.str_at(&["provisioner"]).unwrap_or_default());
                if at_once && matches!(reach, Reach::Zone | Reach::Node) && self.immediate.len() < FEW {
                    self.immediate.push(object.name().into());
                }
            }
            _ => {}
        }
        self.see_times(object);
        self.repair.observe(object);
        if let Some(pod) = object.pod() {
            self.workload(object, pod.spec);
        }
    }

    fn claim_object(&mut self, object: Object<'_>) {
        let label = |key: &str| object.str_at(&["metadata", "labels", key]).unwrap_or_default();
        let time = |key: &str| object.str_at(&["metadata", key]).and_then(Time::parse);
        let mut pool = String::new();
        self.lives.update(object.name(), |life| {
            life.set_pool(label(labels::NODEPOOL));
            life.set_born(time("creationTimestamp"));
            life.deleting = time("deletionTimestamp");
            set_if_empty(&mut life.zone, label("topology.kubernetes.io/zone"));
            life.is_spot |= label(labels::CAPACITY_TYPE) == SPOT;
            set_if_empty(&mut life.provider_id, object.str_at(&["status", "providerID"]).unwrap_or_default());
            life.pool().clone_into(&mut pool);
        });
        let node = object.str_at(&["status", "nodeName"]).unwrap_or_default();
        self.lives.set_node(object.name(), node);
        self.set_class(&pool, object.str_at(&["spec", "nodeClassRef", "name"]).unwrap_or_default());
    }

    fn class_object(&mut self, object: Object<'_>, at: At) {
        let value = object.str_at(&["spec", "instanceProfile"]).unwrap_or_default();
        if matches!(arn::IamReference::parse(value), arn::IamReference::Arn { .. }) {
            let text = format!("EC2NodeClass {} with the instance profile {value}", object.name());
            let profile = || Profile { value: value.into(), record: Record::new(None, at, &text) };
            put_few(&mut self.profiles, object.name(), profile);
        }
    }

    pub(super) fn set_class(&mut self, pool: &str, class: &str) {
        if !class.is_empty() {
            put_few(&mut self.classes, pool, || class.into());
        }
    }

    fn node_object(&mut self, object: Object<'_>, at: At) {
        self.node_of_pool(object);
        let id = object.str_at(&["spec", "providerID"]).unwrap_or_default();
        if id.is_empty() || self.nodes.len() >= FEW * 20 {
            return;
        }
        let taints = || object.at(&["spec", "taints"]).into_iter().flat_map(Node::items);
        let is_registered = object.str_at(&["metadata", "labels", "karpenter.sh/registered"]) == Some("true");
        let has_registration_taint = taints().any(|taint| {
            taint.str_at(&["key"]) == Some(REGISTRATION_TAINT)
                && taint.str_at(&["effect"]) == Some("NoExecute")
        });
        let keys: Vec<_> = taints().filter_map(|taint| taint.str_at(&["key"])).collect();
        let taints =
            if keys.is_empty() { "no taint".to_owned() } else { format!("the taints {}", keys.join(", ")) };
        let record = Record::new(None, at, &format!("Node {} with {taints}", object.name()));
        let name = object.name().into();
        self.nodes.insert(id.into(), NodeObject { name, is_registered, has_registration_taint, record });
    }

    /// Adds the labels of a workload that its NodeClaim would get, and that the API server refuses on a NodeClaim.
    fn workload(&mut self, object: Object<'_>, spec: Node<'_>) {
        let selector = spec.get("nodeSelector").into_iter().flat_map(Node::members).map(|(key, _)| key);
        let affinity = spec.at_path(&["affinity", "nodeAffinity"]);
        let required = affinity.and_then(|affinity| {
            affinity.at_path(&["requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"])
        });
        let preferred =
            affinity.and_then(|affinity| affinity.get("preferredDuringSchedulingIgnoredDuringExecution"));
        let preferences =
            preferred.into_iter().flat_map(Node::items).filter_map(|preferred| preferred.get("preference"));
        let terms = required.into_iter().flat_map(Node::items).chain(preferences);
        let expressions = terms.filter_map(|term| term.get("matchExpressions")).flat_map(Node::items);
        let keys = selector.chain(expressions.filter_map(|expression| expression.str_at(&["key"])));
        for key in keys {
            let key = labels::normalised(key);
            if labels::refused_at_apply(LabelField::ClaimRequirement, key).is_empty()
                || self.restricted.len() >= FEW
            {
                continue;
            }
            let (kind, namespace, name) = (object.kind(), object.namespace(), object.name());
            let labelled = Labelled {
                kind: kind.into(),
                namespace: namespace.into(),
                name: name.into(),
                key: key.into(),
            };
            if !self.restricted.contains(&labelled) {
                self.restricted.push(labelled);
            }
        }
    }
}
