//! The effect of another release of the controller on nodes, for the plan of a change and for the report of an upgrade.

use std::collections::BTreeMap;

use answers::plan::ControllerChange;
use drift::{Effect, HashedKind};
use karpenter::kind::Kind;
use karpenter::release::{Release, Releases};
use manifest::tree::{Node, items_of};
use objects::object::Object;
use values::placeholder::{has_placeholder, is_in_capitals};

/// The releases in which the CA bundle is a part of the hash of an EC2NodeClass.
pub const HASHES_CA_BUNDLE: Releases = Releases::since(12);

/// Subject of a change of the image that an alias selects.
pub const AMI_ALIAS: &str = "AMI alias";

/// Number of EC2NodeClasses that a message names.
const MAX_NAMED: usize = 5;

/// The hashes that another release computes in another way. No node is replaced because of them.
///
/// Source: kubernetes-sigs/karpenter pkg/controllers/nodepool/hash/controller.go and aws/karpenter-provider-aws
/// pkg/controllers/nodeclass/hash/controller.go at v1.14.1.
pub fn hash_changes(before: Release, after: Release) -> Vec<ControllerChange> {
    if before == after {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (kind, name) in [(HashedKind::NodePool, "NodePool"), (HashedKind::NodeClass, "EC2NodeClass")] {
        let (old, new) = (kind.version(before), kind.version(after));
        if old != new {
            let text = "Karpenter writes the hash of the new version into each NodeClaim that has not drifted, and replaces no node for it; \
                        an edit that is made while no controller runs is absorbed, so that the nodes keep what they have";
            found.push(change(&format!("{name} hash version"), old, new, Effect::None, text.to_owned()));
        }
    }
    let keep =
        if found.is_empty() { "; the hashes of NodePools and EC2NodeClasses keep their version" } else { "" };
    let text = format!("another release replaces no node by itself{keep}");
    found.insert(0, change("release", &before.to_string(), &after.to_string(), Effect::None, text));
    if !HASHES_CA_BUNDLE.contains(before) && HASHES_CA_BUNDLE.contains(after) {
        let text = "the cluster's CA bundle becomes a part of the hash of each EC2NodeClass: the upgrade itself replaces no node that has not \
                    drifted, but from then on another bundle replaces every node";
        found.push(change("EC2NodeClass hash", "", "CA bundle", Effect::None, text.to_owned()));
    }
    found
}

/// The images that the aliases of the EC2NodeClasses among objects find when the controller restarts.
///
/// Source: aws/karpenter-provider-aws pkg/providers/amifamily and pkg/providers/ssm at v1.14.1.
pub fn alias_changes<'d>(objects: impl IntoIterator<Item = Object<'d>>) -> Vec<ControllerChange> {
    let mut classes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for class in objects.into_iter().filter(|object| object.is(Kind::NODE_CLASS)) {
        let terms = items_of(class.at(&["spec", "amiSelectorTerms"]));
        for alias in terms.filter_map(|term| term.get("alias").and_then(Node::as_str)) {
            let names = classes.entry(alias).or_default();
            // Overlays repeat the object.
            if !names.contains(&class.name()) {
                names.push(class.name());
            }
        }
    }
    let of_alias = |(alias, names): (&str, Vec<&str>)| {
        let is_open = |text: &str| has_placeholder(text) || is_in_capitals(text);
        let (family, version) = match alias.split_once('@') {
            Some(parts) => parts,
            None if is_open(alias) => ("", alias),
            // The API server refuses it.
            None => return None,
        };
        let shown: Vec<String> = names.iter().take(MAX_NAMED).map(|name| format!("`{name}`")).collect();
        let more = names.len().saturating_sub(MAX_NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let kind = if names.len() == 1 { "EC2NodeClass" } else { "EC2NodeClasses" };
        let classes = format!("{kind} {}{more}", shown.join(", "));
        let (effect, text) = if version == "latest" {
            // The API server takes only `latest` for Windows.
            let example = match family {
                "al2" | "al2023" => "v20250807",
                "bottlerocket" => "v1.46.0",
                _ => "",
            };
            let remedy = if example.is_empty() {
                String::new()
            } else {
                format!("; an alias with a version, such as `{family}@{example}`, keeps the image")
            };
            let text = format!(
                "the restart of the controller empties its cache of `{alias}`, which may be a day old: nodes of {classes} with an older \
                 image drift{remedy}"
            );
            (Effect::Unknown, text)
        } else if is_open(version) {
            let text = format!(
                "the alias has a placeholder: if its version is `latest`, nodes of {classes} with an older image drift when the controller restarts"
            );
            (Effect::Unknown, text)
        } else {
            (Effect::None, format!("the alias names a version: the nodes of {classes} keep their image"))
        };
        Some(change(AMI_ALIAS, alias, alias, effect, text))
    };
    classes.into_iter().filter_map(of_alias).collect()
}

fn change(subject: &str, old: &str, new: &str, effect: Effect, message: String) -> ControllerChange {
    let [subject, old, new] = [subject, old, new].map(str::to_owned);
    ControllerChange { cluster: String::new(), subject, old, new, effect, message }
}
