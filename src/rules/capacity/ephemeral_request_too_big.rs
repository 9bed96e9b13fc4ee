use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::Object;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::simulation::{Misfit, MissingResource, Shortage};

use crate::rules::node_room::{self, amount, request};

rule! {
    /// ## What it does
    ///
    /// Compares the `ephemeral-storage` that a pod requests with the volume of the node class of every NodePool that
    /// takes the pod, and reports the pod if it fits none of them. The comparison is the same as in
    /// `karpwarden simulate`: the kubelet keeps 1Gi and 10 % of the volume.
    ///
    /// ## Why it is bad
    ///
    /// The pod stays Pending, and the controller logs `no instance type has enough resources`. Without
    /// `blockDeviceMappings` a node has a volume of 20Gi, of which 17Gi are for pods. On Bottlerocket `/dev/xvda` is the
    /// volume of the system, and pods use `/dev/xvdb`. The local disks of an instance count only with
    /// `instanceStorePolicy: RAID0`.
    ///
    /// The finding is an error if the input holds every NodePool (`--complete`) and the pod selects a label that only
    /// Karpenter's nodes have, such as `karpenter.sh/nodepool`. Otherwise it is a warning or, if nothing shows that the
    /// pod belongs on nodes of Karpenter, an info. A custom image without a mapping marked with `rootVolume` is not judged.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: node
    ///   amiSelectorTerms: [{alias: al2023@v20250505}]
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: []
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: build
    /// spec:
    ///   nodeSelector: {karpenter.sh/nodepool: default}
    ///   containers:
    ///   - name: build
    ///     image: "example.com/build:1"
    ///     resources: {requests: {ephemeral-storage: 60Gi}}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: node
    ///   amiSelectorTerms: [{alias: al2023@v20250505}]
    ///   blockDeviceMappings:
    ///   - deviceName: /dev/xvda
    ///     ebs: {volumeSize: 100Gi, volumeType: gp3}
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: []
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: build
    /// spec:
    ///   nodeSelector: {karpenter.sh/nodepool: default}
    ///   containers:
    ///   - name: build
    ///     image: "example.com/build:1"
    ///     resources: {requests: {ephemeral-storage: 60Gi}}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must contain the pod, the NodePools and their node classes. The policy in the cluster does not look up
    /// volumes of node classes, so the finding is only in the report of files.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#5169, #2723, #5588
    /// - pkg/providers/instancetype/types.go (`ephemeralStorage`) of aws/karpenter-provider-aws at v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a pod requests more ephemeral storage than the volume of a node has",
        runs: Runs::OnFiles,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

const STORAGE: &str = "ephemeral-storage";

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object) else { return };
    let Some(misfit) = node_room::misfit(pod, context) else { return };
    findings.extend(finding(pod, &misfit, context));
}

fn finding<'d>(pod: Pod<'d>, misfit: &Misfit, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    let shortages = &misfit.shortages;
    let lacking: Option<Vec<(&Shortage, &MissingResource)>> =
        shortages.iter().map(|one| Some((one, missing(one)?))).collect();
    let lacking = lacking?;
    let (first, missing) = lacking.first()?;
    let message = format!(
        "Karpenter launches no node for this pod: it requests {} ephemeral storage, and a node of the NodePool `{}` has {} for pods",
        request(STORAGE, missing.requested),
        first.pool,
        amount(STORAGE, missing.largest)
    );
    let mut finding = Finding::new(&RULE, node_room::place_of_request(pod, STORAGE), message)
        .severity(node_room::severity(pod, shortages, context)?)
        .help("raise `volumeSize` of the volume for pods in `blockDeviceMappings` (on Bottlerocket: `/dev/xvdb`): the kubelet keeps 10 % and 1Gi of it");
    for class in lacking.iter().map(|(shortage, _)| shortage.node_class.as_str()) {
        if let Some(class) = context.inventory.find(Kind::NODE_CLASS.group, Kind::NODE_CLASS.name, class) {
            let mappings = class.at(&["spec", "blockDeviceMappings"]);
            let place = mappings.map_or_else(|| Place::value(class.name_node()), Place::key);
            finding = finding.related(place, format!("the volumes of the EC2NodeClass `{}`", class.name()));
        }
    }
    Some(finding)
}

fn missing(shortage: &Shortage) -> Option<&MissingResource> {
    shortage.missing.iter().find(|missing| missing.name == STORAGE)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::node_room::fixtures::{al2023, class, pod, pool};
    use crate::rules::testing::{findings, silent};

    const NAMED: &str = "nodeSelector: {karpenter.sh/nodepool: default}";
    const MAPPINGS: &str = "blockDeviceMappings";

    fn text(class: &str, types: &str, size: &str) -> String {
        class.to_owned() + &pool("default", types, "") + &pod(&format!("ephemeral-storage: {size}"), NAMED)
    }

    fn with(fields: &str, types: &str, size: &str) -> String {
        text(&class("default", fields), types, size)
    }

    #[test]
    fn reports_requests_beyond_the_default_volume() {
        insta::assert_snapshot!(findings(&RULE, &text(&al2023(), "m6i.large", "18Gi")), @"
         25 |     resources: {requests: {ephemeral-storage: 18Gi}}
            |                                               ^^^^
        warning Pod/a spec.containers[0].resources.requests.ephemeral-storage [all]
          Karpenter launches no node for this pod: it requests 18Gi ephemeral storage, and a node of the NodePool `default` has 17Gi for pods
          help: raise `volumeSize` of the volume for pods in `blockDeviceMappings` (on Bottlerocket: `/dev/xvdb`): the kubelet keeps 10 % and 1Gi of it
          see line 3 metadata.name: the volumes of the EC2NodeClass `default`
        ");
        silent(&RULE, &text(&al2023(), "m6i.large", "17Gi"));
    }

    #[test]
    fn knows_the_volume_for_pods() {
        let bottlerocket = |device: &str| {
            let fields = format!(
                "amiFamily: Bottlerocket\n  {MAPPINGS}: [{{deviceName: {device}, ebs: {{volumeSize: 200Gi}}}}]"
            );
            with(&fields, "m6i.large", "60Gi")
        };
        insta::assert_snapshot!(findings(&RULE, &bottlerocket("/dev/xvda")), @"
         26 |     resources: {requests: {ephemeral-storage: 60Gi}}
            |                                               ^^^^
        warning Pod/a spec.containers[0].resources.requests.ephemeral-storage [all]
          Karpenter launches no node for this pod: it requests 60Gi ephemeral storage, and a node of the NodePool `default` has 17Gi for pods
          help: raise `volumeSize` of the volume for pods in `blockDeviceMappings` (on Bottlerocket: `/dev/xvdb`): the kubelet keeps 10 % and 1Gi of it
          see line 7 spec.blockDeviceMappings: the volumes of the EC2NodeClass `default`
        ");
        silent(&RULE, &bottlerocket("/dev/xvdb"));
    }

    #[test]
    fn counts_local_disks_only_with_raid0() {
        let raid = "amiSelectorTerms: [{alias: al2023@latest}]\n  instanceStorePolicy: RAID0";
        silent(&RULE, &with(raid, "m6id.large", "60Gi"));
        assert!(!findings(&RULE, &with(raid, "m6i.large", "60Gi")).is_empty());
        assert!(!findings(&RULE, &text(&al2023(), "m6id.large", "60Gi")).is_empty());
    }

    #[test]
    fn ignores_custom_images_without_a_root_volume() {
        let custom = "amiFamily: Custom\n  amiSelectorTerms: [{id: ami-0123456789abcdef0}]";
        silent(&RULE, &with(custom, "m6i.large", "60Gi"));
        let root = format!(
            "{custom}\n  {MAPPINGS}: [{{deviceName: /dev/sda1, rootVolume: true, ebs: {{volumeSize: 30Gi}}}}]"
        );
        assert!(!findings(&RULE, &with(&root, "m6i.large", "60Gi")).is_empty());
        let size = format!(
            "amiFamily: AL2023\n  {MAPPINGS}: [{{deviceName: /dev/xvda, ebs: {{volumeSize: '${{SIZE}}'}}}}]"
        );
        silent(&RULE, &with(&size, "m6i.large", "60Gi"));
    }
}
