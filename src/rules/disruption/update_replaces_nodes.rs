use std::collections::BTreeMap;

use drift::{
    DriftReason, Effect, FieldChange, HashOptions, HashedKind, StaticHash, field_changes, hash,
    meets_requirements,
};
use karpenter::kind::Kind;
use karpenter::release::{Release, ReleaseSet, Releases};
use manifest::tree::Node;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::settings::Target;
use rule::{Fixes, On, Reviews, Runs};

use crate::rules::nodes_in_use::{NODES, NodesInUse, acceptance, quoted};

rule! {
    /// ## What it does
    ///
    /// Compares the NodePool or EC2NodeClass of an update with the stored one, and says which nodes Karpenter replaces, and
    /// because of which fields. Files have no stored object: the rule runs in the cluster, and on an `AdmissionReview`.
    ///
    /// The message has the number of nodes and some of their NodeClaims, if the NodeClaims are known. Without them it names
    /// the NodePools. Where only EC2 knows the answer, such as for the tags of subnets, it says that nodes *may* be replaced.
    /// There is no finding if no node is concerned, or if the change only counts for new nodes. A node whose NodeClaim already
    /// has the new hash stays: taking back a change saves the nodes that are not replaced yet.
    ///
    /// The fields depend on the Karpenter release. With a range of releases, a field counts if it does in one of them.
    ///
    /// ## Why it is bad
    ///
    /// A node has drifted when the hash of its NodePool or EC2NodeClass changes, or when it no longer fits. Karpenter then
    /// replaces every such node, as fast as the disruption budgets allow: for a label or a tag, too. Upstream reports the
    /// drift only after the change.
    ///
    /// With the level `deny`, this rule is a change freeze. An annotation with a reason lifts it for one object.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: admission.k8s.io/v1
    /// kind: AdmissionReview
    /// request:
    ///   operation: UPDATE
    ///   object:
    ///     apiVersion: karpenter.sh/v1
    ///     kind: NodePool
    ///     metadata: {name: default}
    ///     spec:
    ///       template:
    ///         metadata: {labels: {team: checkout}}
    ///         spec:
    ///           nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///           requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    ///           expireAfter: 720h
    ///   oldObject:
    ///     apiVersion: karpenter.sh/v1
    ///     kind: NodePool
    ///     metadata: {name: default}
    ///     spec:
    ///       template:
    ///         metadata: {labels: {team: shop}}
    ///         spec:
    ///           nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///           requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    ///           expireAfter: 720h
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodeClaim
    /// metadata:
    ///   name: default-7h2kx
    ///   labels: {karpenter.sh/nodepool: default, kubernetes.io/arch: amd64}
    /// spec:
    ///   nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    /// ```
    ///
    /// ## Use instead
    ///
    /// Change such fields together, at a time when nodes may go. A change of the limits, the weight or the budgets replaces no
    /// node:
    ///
    /// ```yaml
    /// apiVersion: admission.k8s.io/v1
    /// kind: AdmissionReview
    /// request:
    ///   operation: UPDATE
    ///   object:
    ///     apiVersion: karpenter.sh/v1
    ///     kind: NodePool
    ///     metadata: {name: default}
    ///     spec:
    ///       limits: {cpu: 200}
    ///       template:
    ///         metadata: {labels: {team: shop}}
    ///         spec:
    ///           nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///           requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    ///           expireAfter: 720h
    ///   oldObject:
    ///     apiVersion: karpenter.sh/v1
    ///     kind: NodePool
    ///     metadata: {name: default}
    ///     spec:
    ///       limits: {cpu: 100}
    ///       template:
    ///         metadata: {labels: {team: shop}}
    ///         spec:
    ///           nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///           requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    ///           expireAfter: 720h
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodeClaim
    /// metadata:
    ///   name: default-7h2kx
    ///   labels: {karpenter.sh/nodepool: default, kubernetes.io/arch: amd64}
    /// spec:
    ///   nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#3197: 4,000 nodes were replaced
    /// - pkg/apis/v1/nodepool.go (`Hash`) and pkg/controllers/nodeclaim/disruption/drift.go of kubernetes-sigs/karpenter at v1.14.1
    /// - pkg/apis/v1/ec2nodeclass.go (`Hash`) and pkg/cloudprovider/drift.go of aws/karpenter-provider-aws at v1.14.1
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "an update replaces nodes",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL), On::Kind(Kind::NODE_CLASS)],
        reviews: Reviews::Updates,
        inventory: &NODES,
        looks_up: |object| replacements(object, core::iter::once(Release::NEWEST)).next().is_some(),
        check: check,
    }
}

/// The changes of an update that Karpenter detects as drift with one reason.
struct Replacement<'d> {
    reason: DriftReason,
    effect: Effect,
    /// The changed fields by path.
    fields: BTreeMap<String, FieldChange<'d>>,
    releases: ReleaseSet,
}

/// Maximum number of values in `spec`. The API server accepts at most 100 requirements, 50 budgets and 30 terms of each selector, and EC2
/// at most 50 tags.
const MAX_VALUES: usize = 10_000;

/// Whether a value and the values within it are at most as many as `left`, which becomes the number that is left.
fn takes_at_most(node: Node<'_>, left: &mut usize) -> bool {
    let is_left = *left > 0;
    *left = left.saturating_sub(1);
    is_left && node.children().all(|child| takes_at_most(child, left))
}

/// The changes of an update that replace nodes, or may, in some releases.
fn replacements<'d>(
    object: Object<'d>,
    releases: impl Iterator<Item = Release>,
) -> impl Iterator<Item = Replacement<'d>> {
    let mut found: BTreeMap<DriftReason, Replacement<'d>> = BTreeMap::new();
    let is_small = |object: Object<'_>| {
        let mut left = MAX_VALUES;
        object.at(&["spec"]).is_none_or(|spec| takes_at_most(spec, &mut left))
    };
    let old = object.stored().filter(|_| !object.is_being_deleted());
    if let Some(old) = old.filter(|old| is_small(*old) && is_small(object)) {
        for release in releases {
            let options = HashOptions { is_stored: true, ..HashOptions::new(release) };
            for change in field_changes(old, object, &options) {
                let Some(reason) = change.reason else { continue };
                let all = found.entry(reason).or_insert_with(|| Replacement {
                    reason,
                    effect: change.effect,
                    fields: BTreeMap::new(),
                    releases: ReleaseSet::none(),
                });
                all.effect = all.effect.max(change.effect);
                all.releases = all.releases.or(Releases::only(release));
                all.fields.entry(change.path.clone()).or_insert(change);
            }
        }
    }
    found.into_values()
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let target = context.settings.karpenter;
    let mut replacements = replacements(object, target.releases()).peekable();
    if replacements.peek().is_none() {
        return;
    }
    let nodes = NodesInUse::of(object, context.inventory);
    for replacement in replacements.filter(|_| nodes.count != Some(0)) {
        let Some(what) = effect_on(&nodes, object, &replacement, target) else { continue };
        let mut fields = replacement.fields.values();
        let Some(first) = fields.next() else { continue };
        let changed = quoted(replacement.fields.keys().map(String::as_str));
        let help = format!(
            "the budgets of the NodePool decide how many nodes go at a time; a budget `nodes: \"0\"` for the reason `Drifted` holds them \
             back{}",
            acceptance(RULE.name, context.settings)
        );
        let finding = Finding::new(&RULE, place(first, object), format!("changing {changed} {what}"));
        // A single release is the release of the cluster.
        let releases = if target.is_range() { replacement.releases } else { ReleaseSet::all() };
        findings.push(finding.help(help).releases(releases));
    }
}

/// The effect of the changes with one reason on nodes; `None` if every node stays.
fn effect_on<'d>(
    nodes: &NodesInUse<'d>,
    object: Object<'d>,
    replacement: &Replacement<'d>,
    target: Target,
) -> Option<String> {
    let reason = format!("the reason of drift is `{}`", replacement.reason.name());
    let is_hash = matches!(replacement.reason, DriftReason::NodePoolDrifted | DriftReason::NodeClassDrift);
    if let Some(claims) = nodes.claims.as_ref().filter(|_| is_hash) {
        let hashes: Option<Vec<StaticHash>> =
            target.releases().map(|release| new_hash(object, release)).collect();
        let keeps =
            |claim: &Object<'d>| hashes.as_ref().is_some_and(|hashes| has_hash(*claim, object, hashes));
        let replaced: Vec<_> = claims.iter().copied().filter(|claim| !keeps(claim)).collect();
        return (!replaced.is_empty())
            .then(|| format!("replaces {}; {reason}", nodes.named(Some(&replaced))));
    }
    if replacement.effect == Effect::ReplacesAll {
        return Some(format!("replaces {}; {reason}", nodes.named(None)));
    }
    if replacement.reason == DriftReason::RequirementsDrifted
        && let Some(claims) = &nodes.claims
    {
        let unfit: Vec<_> =
            claims.iter().copied().filter(|claim| !meets_requirements(object, *claim)).collect();
        let replaced = nodes.named(Some(&unfit));
        return (!unfit.is_empty())
            .then(|| format!("replaces {replaced}, whose labels no longer meet the requirements; {reason}"));
    }
    // The sentence about the field also says what happens to other nodes.
    let sentence = replacement.fields.values().next()?.field.sentence;
    let sentence = sentence.trim_start_matches("not part of the hash: ");
    let sentence = sentence.split("; ").next().unwrap_or_default();
    let owner = if nodes.pools.is_empty() { String::new() } else { format!(" of {}", nodes.owner()) };
    Some(format!("may replace nodes{owner}: {sentence}; {reason}"))
}

/// The hash that Karpenter computes of the object of an update; `None` if it is not known.
///
/// The hash of an EC2NodeClass contains the CA bundle of the cluster since 1.12. A hash is the exclusive or of its parts, so the stored
/// hash and the two objects give the new one. 1.0 compares the kubelet configuration by another hash.
fn new_hash(object: Object<'_>, release: Release) -> Option<StaticHash> {
    let kind = HashedKind::of(object)?;
    let options = HashOptions { is_stored: true, ..HashOptions::new(release) };
    let new = hash(object, &options)?.ok()?;
    if kind == HashedKind::NodePool {
        return Some(new);
    }
    let stored = object.stored().filter(|_| !Releases::until(0).contains(release))?;
    let (version, of_stored) = annotated_hash(stored, kind)?;
    let value = of_stored ^ hash(stored, &options)?.ok()?.value ^ new.value;
    (version == new.version).then_some(StaticHash { value, ..new })
}

/// Whether the annotations of a NodeClaim have one of the hashes of an object, and none with the same version differs.
fn has_hash(claim: Object<'_>, object: Object<'_>, hashes: &[StaticHash]) -> bool {
    let Some((version, value)) = HashedKind::of(object).and_then(|kind| annotated_hash(claim, kind)) else {
        return false;
    };
    let mut of_version = hashes.iter().filter(|hash| hash.version == version).peekable();
    of_version.peek().is_some() && of_version.all(|hash| hash.value == value)
}

/// The version and the hash in the annotations of an object.
fn annotated_hash(object: Object<'_>, kind: HashedKind) -> Option<(&str, u64)> {
    let annotation = |key| object.annotation(key)?.as_str();
    Some((annotation(kind.version_annotation())?, annotation(kind.annotation())?.parse().ok()?))
}

/// The changed value; of a field that is gone, the value around it.
fn place<'d>(change: &FieldChange<'d>, object: Object<'d>) -> Place<'d> {
    let around = || {
        let old = object.old()?;
        let mut path: Vec<Node<'_>> = core::iter::successors(change.old, |node| node.parent())
            .take_while(|node| *node != old)
            .collect();
        path.reverse();
        let mut node = object.root();
        for step in path.into_iter().take_while(|step| step.parent().is_some_and(Node::is_mapping)) {
            let Some(below) = node.get(step.key()) else { break };
            node = below;
        }
        (node != object.root()).then_some(node)
    };
    Place::value(change.new.or_else(around).unwrap_or_else(|| object.name_node()))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::{RuleLevel, RuleSelector, Settings, Target};

    const REFERENCE: &str = "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}";

    /// A NodePool as the API server stores it, in one line.
    fn pool(spec: &str, template: &str, node: &str) -> String {
        format!(
            "{{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {{name: default}}, spec: {{{spec}template: {{{template}spec: {{\
             {node}expireAfter: 720h, nodeClassRef: {REFERENCE}}}}}}}}}"
        )
    }

    fn class(spec: &str) -> String {
        format!(
            "{{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {{name: default}}, spec: {{role: nodes, {spec}}}}}"
        )
    }

    fn update(old: &str, new: &str) -> String {
        format!(
            r"apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request:
  operation: UPDATE
  object:
    {new}
  oldObject:
    {old}
"
        )
    }

    fn claim(pool: &str, name: &str, more: &str) -> String {
        format!(
            r"---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {{name: {name}, labels: {{karpenter.sh/nodepool: {pool}, kubernetes.io/arch: amd64}}{more}}}
spec: {{nodeClassRef: {REFERENCE}}}
"
        )
    }

    fn labels(value: &str) -> String {
        pool("", &format!("metadata: {{labels: {{team: {value}}}}}, "), "")
    }

    fn requirements(values: &str) -> String {
        let item = format!("{{key: kubernetes.io/arch, operator: In, values: [{values}]}}");
        pool("", "", &format!("requirements: [{item}], "))
    }

    /// The lines of the findings with messages.
    fn messages(text: &str) -> Vec<String> {
        let found = findings(&super::RULE, text);
        found
            .lines()
            .filter(|line| line.starts_with("  changing"))
            .map(|line| line.trim().to_owned())
            .collect()
    }

    #[test]
    fn names_the_nodes_and_the_fields_of_the_hash() {
        let old = pool("", "metadata: {labels: {team: shop, tier: web}}, ", "");
        let new = pool("", "metadata: {labels: {team: checkout}, annotations: {a: b}}, ", "taints: [], ");
        let nodes: String = ["a", "b", "c", "d"].map(|name| claim("default", name, "")).concat();
        let going = claim("default", "e", ", deletionTimestamp: '2026-11-27T00:00:00Z'");
        let text = update(&old, &new) + &nodes + &going + &claim("other", "f", "");
        let output = findings(&super::RULE, &text);

        let (_, message) = output.split_once("warning").unwrap();
        insta::assert_snapshot!(message, @r#"
        NodePool/default spec.template.metadata.annotations.a [all]
         changing `spec.template.metadata.annotations.a`, `spec.template.metadata.labels.team`, `spec.template.metadata.labels.tier` and 1 more replaces all 4 nodes of NodePool `default` (`a`, `b`, `c` and 1 more); the reason of drift is `NodePoolDrifted`
         help: the budgets of the NodePool decide how many nodes go at a time; a budget `nodes: "0"` for the reason `Drifted` holds them back
        "#);
    }

    #[test]
    fn changes_that_replace_no_node_are_silent() {
        let nodes = claim("default", "a", "");
        for (old, new) in [
            // The limits, the weight and the budgets act at once, without a replacement.
            (pool("limits: {cpu: 1}, ", "", ""), pool("limits: {cpu: 2}, weight: 3, ", "", "")),
            // The same durations, and another order of the taints.
            (pool("", "", ""), pool("", "", "").replace("720h", "720h0m")),
            (
                labels("a"),
                labels("a").replace("name: default}, spec", "name: default, labels: {x: y}}, spec"),
            ),
            // Wider requirements count for new nodes.
            (requirements("amd64"), requirements("amd64, arm64")),
            // No node has the architecture that goes.
            (requirements("amd64, arm64"), requirements("amd64")),
        ] {
            silent(&super::RULE, &(update(&old, &new) + &nodes));
        }
        // An object that is being deleted only loses finalizers.
        let going = |pool: String| {
            pool.replace(
                "name: default}, spec",
                "name: default, deletionTimestamp: '2026-11-27T00:00:00Z'}, spec",
            )
        };
        silent(&super::RULE, &(update(&going(labels("a")), &going(labels("b"))) + &nodes));
        // A manifest has no stored object.
        silent(&super::RULE, &labels("a"));
        silent(&super::RULE, &update(&labels("a"), &labels("b")).replace("UPDATE", "CREATE"));
    }

    #[test]
    fn number_of_nodes_comes_from_the_status_without_nodeclaims() {
        let changed = |status: &str| {
            let new =
                labels("b").replace("spec: {template", &format!("status: {{{status}}}, spec: {{template"));
            messages(&update(&labels("a"), &new))
        };
        let with = |nodes: &str| {
            vec![format!(
                "changing `spec.template.metadata.labels.team` replaces {nodes} of NodePool `default`; the reason of drift is `NodePoolDrifted`"
            )]
        };
        assert_eq!(changed(""), with("every node"));
        assert_eq!(changed("resources: {nodes: '31'}"), with("all 31 nodes"));
        assert_eq!(changed("resources: {nodes: 1}"), with("the only node"));
        assert_eq!(changed("resources: {nodes: '0'}"), [] as [&str; 0]);
        // The NodeClaims are the truth, where they are known.
        let new =
            labels("b").replace("spec: {template", "status: {resources: {nodes: '31'}}, spec: {template");
        silent(&super::RULE, &(update(&labels("a"), &new) + &claim("other", "a", "")));
    }

    #[test]
    fn narrower_requirements_replace_the_nodes_that_no_longer_fit() {
        let text = update(&requirements("amd64, arm64"), &requirements("arm64"));
        insta::assert_snapshot!(messages(&text).join("\n"), @"changing `spec.template.spec.requirements` may replace nodes of NodePool `default`: the nodes whose labels no longer meet the requirements are replaced; the reason of drift is `RequirementsDrifted`");
        let arm = claim("default", "b", "").replace("amd64", "arm64");
        insta::assert_snapshot!(messages(&(text + &claim("default", "a", "") + &arm)).join("\n"), @"changing `spec.template.spec.requirements` replaces 1 of 2 nodes of NodePool `default` (`a`), whose labels no longer meet the requirements; the reason of drift is `RequirementsDrifted`");
    }

    #[test]
    fn node_class_concerns_the_nodes_of_every_nodepool_that_uses_it() {
        let tagged = update(&class("tags: {a: b}"), &class("tags: {a: c}"));
        let pools = format!(
            "---\n{}\n---\n{}\n",
            labels("a"),
            labels("a").replace("name: default}, spec", "name: batch}, spec")
        );
        insta::assert_snapshot!(messages(&(tagged.clone() + &pools)).join("\n"), @"changing `spec.tags.a` replaces every node of NodePools `batch`, `default`; the reason of drift is `NodeClassDrift`");
        insta::assert_snapshot!(messages(&(tagged.clone() + &pools + &claim("old", "a", ""))).join("\n"), @"changing `spec.tags.a` replaces the only node of NodePool `old` (`a`); the reason of drift is `NodeClassDrift`");
        let other = claim("default", "a", "").replace("kind: EC2NodeClass", "kind: NodeClass");
        silent(&super::RULE, &(tagged + &other));
    }

    #[test]
    fn objects_beyond_a_bound_are_not_compared() {
        let taints = |count: usize| {
            let list = (0..count).map(|index| format!("{{key: 'a/{index}', effect: NoSchedule}}"));
            pool("", "", &format!("taints: [{}], ", list.collect::<Vec<_>>().join(", ")))
        };
        assert_eq!(messages(&update(&taints(3_000), &taints(2_999))).len(), 1);
        silent(&super::RULE, &update(&taints(3_400), &taints(3_399)));
    }

    /// The hash of an object as the API server stores it.
    fn hash_of(object: &str, ca_bundle: &str) -> drift::StaticHash {
        let file = crate::rules::testing::chosen("-", object);
        let Some(manifest::Document::Read(tree)) = file.documents.first() else { panic!("{object}") };
        let object = objects::object::Object::all(tree)[0];
        let options = drift::HashOptions { ca_bundle: ca_bundle.to_owned(), is_stored: true, ..options() };
        drift::hash(object, &options).unwrap().unwrap()
    }

    fn options() -> drift::HashOptions {
        drift::HashOptions::new(karpenter::release::Release::NEWEST)
    }

    fn annotations(key: &str, hash: drift::StaticHash) -> String {
        format!(", annotations: {{{key}: '{hash}', {key}-version: {}}}", hash.version)
    }

    #[test]
    fn taking_a_change_back_saves_the_nodes_with_the_old_hash() {
        const KEY: &str = "karpenter.sh/nodepool-hash";
        let node =
            |name: &str, value: &str| claim("default", name, &annotations(KEY, hash_of(&labels(value), "")));
        let rollback = update(&labels("b"), &labels("a"));
        silent(&super::RULE, &(rollback.clone() + &node("a", "a")));
        insta::assert_snapshot!(messages(&(rollback.clone() + &node("a", "a") + &node("b", "b"))).join("\n"), @"changing `spec.template.metadata.labels.team` replaces 1 of 2 nodes of NodePool `default` (`b`); the reason of drift is `NodePoolDrifted`");
        // A hash of another version says nothing.
        let other = node("a", "a").replace("hash-version: v", "hash-version: w");
        assert!(messages(&(rollback + &other)).join("").contains("the only node"));
    }

    #[test]
    fn taking_back_a_change_of_a_node_class_needs_no_ca_bundle() {
        const KEY: &str = "karpenter.k8s.aws/ec2nodeclass-hash";
        let tagged = |value: &str| class(&format!("tags: {{a: {value}}}"));
        let stored = |value: &str| {
            let metadata =
                format!("name: default{}}}, spec", annotations(KEY, hash_of(&tagged(value), "Y2E=")));
            tagged(value).replace("name: default}, spec", &metadata)
        };
        let node = |value: &str| claim("default", "n", &annotations(KEY, hash_of(&tagged(value), "Y2E=")));
        let rollback = update(&stored("b"), &tagged("a"));
        silent(&super::RULE, &(rollback.clone() + &node("a")));
        assert!(messages(&(rollback + &node("b"))).join("").contains("the only node"));
        // Without the stored hash, the CA bundle is not known.
        assert!(
            messages(&(update(&tagged("b"), &tagged("a")) + &node("a"))).join("").contains("the only node")
        );
    }

    #[test]
    fn what_only_ec2_knows_may_replace_nodes() {
        let terms = |field: &str, old: &str, new: &str| {
            let class = |terms: &str| class(&format!("{field}: [{terms}]"));
            messages(&(update(&class(old), &class(new)) + &claim("default", "a", ""))).join("\n")
        };
        let subnets = "subnetSelectorTerms";
        insta::assert_snapshot!(terms(subnets, "{id: subnet-1}, {id: subnet-2}", "{id: subnet-2}"), @"changing `spec.subnetSelectorTerms` may replace nodes of NodePool `default`: the nodes in subnets that are no longer selected are replaced; the reason of drift is `SubnetDrift`");
        assert_eq!(terms(subnets, "{id: subnet-1}", "{id: subnet-1}, {id: subnet-2}"), "");
        insta::assert_snapshot!(terms("amiSelectorTerms", "{alias: al2023@v20250807}", "{alias: al2023@v20250906}"), @"changing `spec.amiSelectorTerms` replaces the only node of NodePool `default` (`a`); the reason of drift is `AMIDrift`");
        insta::assert_snapshot!(terms("amiSelectorTerms", "{tags: {a: b}}", "{tags: {a: c}}"), @"changing `spec.amiSelectorTerms` may replace nodes of NodePool `default`: the nodes with another image than the new terms select for their instance type are replaced; the reason of drift is `AMIDrift`");
    }

    #[test]
    fn every_release_of_a_range_counts() {
        let text = update(&class("ipPrefixCount: 1, tags: {a: b}"), &class("ipPrefixCount: 2, tags: {a: c}"));
        let text = text + &claim("default", "a", "");
        let found = |target: &str| {
            let settings = Settings { karpenter: Target::parse(target).unwrap(), ..Settings::default() };
            findings_with(&super::RULE, &text, &settings).matches("spec.tags").count()
        };
        assert!(found("1.0..1.14") > 0 && found("1.8") > 0);
    }

    #[test]
    fn frozen_changes_need_an_annotation_with_a_reason() {
        let levels = vec![(RuleSelector::One(super::RULE.names()), RuleLevel::Deny)];
        let settings = Settings { levels, allow_ignore_annotation: true, ..Settings::default() };
        let update = |annotation: &str| {
            let metadata = format!("name: default, annotations: {{karpwarden/ignore: {annotation}}}}}, spec");
            let new = labels("b").replace("name: default}, spec", &metadata);
            findings_with(&super::RULE, &(update(&labels("a"), &new) + &claim("default", "a", "")), &settings)
        };
        let denied = update("''");
        assert!(denied.contains("error NodePool/default"), "{denied}");
        assert!(
            denied.contains("set the annotation `karpwarden/ignore: update-replaces-nodes -- REASON`"),
            "{denied}"
        );
        assert!(update("update-replaces-nodes").contains("error NodePool/default"));
        assert_eq!(update("update-replaces-nodes -- planned for tonight"), "");
        assert_eq!(update("disruption -- planned for tonight"), "");
    }
}
