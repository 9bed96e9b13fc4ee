//! Subnets and security groups of the input that the selector terms of an EC2NodeClass find on one side only.
//!
//! Source: `areSecurityGroupsDrifted` and `isSubnetDrifted` in pkg/cloudprovider/drift.go, and `getFilterSets` in
//! pkg/providers/securitygroup/securitygroup.go of aws/karpenter-provider-aws at v1.14.1: a term finds what has all of its tags, in every
//! network of the region.

use std::collections::BTreeMap;

use drift::{ConcernedPools, Effect, FieldChange, FieldEffect, ObjectChangeKind};
use karpenter::kind::Kind;
use manifest::tree::{Node, items_of, members_of};
use manifest::{Document, is_terraform};
use objects::network_tags::{SECURITY_GROUP, SUBNET};
use objects::object::Object;
use values::placeholder::has_placeholder;

use super::change::{PlanChange, set_effect, unchanged};
use super::scope::{PlanScope, without_start};
use super::{PlanPair, PlanSide};

/// The fields with selector terms, and the type of what they find.
const SELECTORS: [(&str, &str); 2] =
    [("securityGroupSelectorTerms", SECURITY_GROUP), ("subnetSelectorTerms", SUBNET)];

/// A subnet or a security group on one side.
#[derive(Debug)]
struct Network<'p> {
    kind: &'p str,
    /// The address of the resource, and its ID if the side shows it: a resource that is replaced has another one.
    identity: (&'p str, String),
    tags: BTreeMap<&'p str, &'p str>,
    file: &'p str,
    /// Whether it is one resource with all its tags. A configuration may move it to another address, and tag it elsewhere, such as in
    /// `default_tags`. A module may create none or several with its tags.
    is_certain: bool,
}

/// The subnets and security groups of both sides.
#[derive(Debug, Default)]
pub(super) struct Networks<'p> {
    sides: [Vec<Network<'p>>; 2],
}

impl<'p> Networks<'p> {
    pub(super) fn of(pair: PlanPair<'p>) -> Self {
        Self { sides: [pair.old, pair.new].map(of_side) }
    }

    /// Adds the EC2NodeClasses whose terms find other subnets or security groups. Which of several clusters has these is not known.
    pub(super) fn add<'d>(&self, found: &mut Vec<PlanChange<'d>>, scope: &PlanScope<'d>, is_alone: bool) {
        if self.sides.iter().all(Vec::is_empty) {
            return;
        }
        let pools = ConcernedPools::of(scope.old.iter().chain(&scope.new));
        let classes = |side: &[Object<'d>]| -> BTreeMap<&'d str, Object<'d>> {
            let classes = side.iter().filter(|object| object.is(Kind::NODE_CLASS));
            classes.map(|class| (class.name(), *class)).collect()
        };
        let olds = classes(&scope.old);
        for (name, class) in classes(&scope.new) {
            let Some(old) = olds.get(name).copied() else { continue };
            for (field, kind) in SELECTORS {
                let Some((change, message)) = self.change(class, field, kind, is_alone) else { continue };
                let own = |one: &PlanChange<'d>| one.change.new.is_some_and(|new| new == class);
                let at = found.iter().position(own).unwrap_or(found.len());
                if at == found.len() {
                    found.push(unchanged(old, class, &pools));
                }
                let Some(one) = found.get_mut(at) else { continue };
                let is_known = one.change.fields.iter().any(|known| known.path == change.path);
                if one.change.change == ObjectChangeKind::Changed && !is_known {
                    one.change.fields.push(change);
                    set_effect(&mut one.change);
                    one.message = message;
                }
            }
        }
    }

    /// The change of what the terms of an EC2NodeClass find, with the reason.
    fn change<'d>(
        &self,
        class: Object<'d>,
        field: &str,
        kind: &str,
        is_alone: bool,
    ) -> Option<(FieldChange<'d>, String)> {
        let terms = class.at(&["spec", field])?;
        let [old, new] = &self.sides;
        let may_fit = |one: &&Network<'_>| one.kind == kind && one.may_fit(terms);
        let missing_in = |network: &&Network<'p>, side: &[Network<'p>]| {
            !side.iter().any(|one| one.kind == kind && one.identity == network.identity && one.may_fit(terms))
        };
        let lost = old.iter().filter(may_fit).find(|one| missing_in(one, new));
        // A further subnet drifts no node.
        let gained = new.iter().filter(may_fit).find(|one| kind == SECURITY_GROUP && missing_in(one, old));
        let (network, verb) =
            lost.map(|one| (one, "no longer find")).or(gained.map(|one| (one, "now find")))?;
        let path = format!("spec.{field}");
        let row = FieldEffect::of(Kind::NODE_CLASS, &path)?;
        let effect = match (is_alone && network.is_certain && network.fits(terms), kind) {
            (true, SECURITY_GROUP) => Effect::ReplacesAll,
            (true, _) => Effect::ReplacesSome,
            (false, _) => Effect::Unknown,
        };
        let message = format!("{}: the terms {verb} `{}`", network.file, network.identity.0);
        let change =
            FieldChange { path, old: Some(terms), new: Some(terms), effect, reason: row.reason, field: row };
        Some((change, message))
    }
}

impl Network<'_> {
    /// Whether terms find it for certain.
    fn fits(&self, terms: Node<'_>) -> bool {
        self.is_found(terms, |wanted, value| wanted == "*" || wanted == value)
    }

    /// Whether terms may find it.
    fn may_fit(&self, terms: Node<'_>) -> bool {
        let is_open = |text: &str| has_placeholder(text);
        self.is_found(terms, |wanted, value| {
            wanted == "*" || wanted == value || is_open(wanted) || is_open(value)
        })
    }

    fn is_found(&self, terms: Node<'_>, fits: impl Fn(&str, &str) -> bool) -> bool {
        items_of(Some(terms)).any(|term| {
            let mut tags = members_of(term.get("tags")).peekable();
            let fits = |(key, wanted): (&str, Node<'_>)| {
                self.tags.get(key).is_some_and(|value| fits(wanted.as_str().unwrap_or_default(), value))
            };
            tags.peek().is_some() && tags.all(fits)
        })
    }
}

/// The subnets and security groups of a side.
fn of_side(side: PlanSide<'_>) -> Vec<Network<'_>> {
    let mut found = Vec::new();
    for file in &side.cluster.files {
        let file_name = without_start(file.source.name(), side.folder);
        for document in &file.documents {
            let Document::Read(tree) = document else { continue };
            for (name, resource) in members_of(tree.root().get("Resources")) {
                let kind = SELECTORS.iter().find(|(_, kind)| resource.str_at(&["Type"]) == Some(*kind));
                let Some((_, kind)) = kind else { continue };
                let tags = items_of(resource.at_path(&["Properties", "Tags"]));
                let tags = tags.filter_map(|tag| Some((tag.str_at(&["Key"])?, tag.str_at(&["Value"])?)));
                let id = resource.str_at(&["Properties", "Id"]).unwrap_or_default().to_owned();
                // In a plan of Terraform, only a resource has its address as its name.
                let is_certain = !tree.is_evaluated() || (name.contains('.') && !is_terraform(file_name));
                found.push(Network {
                    kind,
                    identity: (name, id),
                    tags: tags.collect(),
                    file: file_name,
                    is_certain,
                });
            }
        }
    }
    found
}
