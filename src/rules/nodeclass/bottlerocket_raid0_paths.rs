use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Phase, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds EC2NodeClasses with `instanceStorePolicy: RAID0` and a Bottlerocket alias of 1.46.0 or later.
    ///
    /// ## Why it is bad
    ///
    /// Until 1.7 Karpenter's user data moves three folders to the local disks: `/var/lib/containerd`, `/var/lib/kubelet`
    /// and `/var/log/pods`. Since 1.8 it moves the folders that the image names, if the version of Bottlerocket has such a
    /// list. New nodes can therefore keep other data on local disks than existing nodes. This is usually wanted; check what
    /// else needs space on the volumes of the block device mappings.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.7 to 1.8
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: bottlerocket@v1.46.0}]
    ///   instanceStorePolicy: RAID0
    /// ```
    ///
    /// ## Use instead
    ///
    /// Nothing to change, unless the nodes do not use RAID0:
    ///
    /// ```yaml,from=1.7 to 1.8
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: bottlerocket@v1.46.0}]
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#8478
    /// - pkg/providers/amifamily/bootstrap/bottlerocket.go and pkg/providers/version/version.go of
    ///   aws/karpenter-provider-aws at v1.8.0
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(8),
        summary: "`instanceStorePolicy: RAID0` moves other folders of Bottlerocket to local disks",
        phase: Phase::After,
        runs: Runs::OnUpgrade,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// First minor version of Bottlerocket with its own list of folders: `SupportsDefaultBind` in pkg/providers/version/version.go.
const FIRST_MINOR: u16 = 46;

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    let Some(policy) = class.instance_store_policy().filter(|policy| policy.as_str() == Some("RAID0")) else {
        return;
    };
    for alias in class.ami_aliases() {
        let Some(version) = alias.as_str().and_then(|alias| alias.strip_prefix("bottlerocket@")) else {
            continue;
        };
        let is_new = version == "latest"
            || super::bottlerocket_raid0_too_old::minor(version).is_some_and(|minor| minor >= FIRST_MINOR);
        if is_new {
            let message = format!(
                "Karpenter lets Bottlerocket {version} choose the folders that move to local disks: new nodes may keep other data there than existing nodes"
            );
            findings.push(
                Finding::new(&RULE, Place::value(policy), message)
                    .help("compare the space that new nodes use on their volumes after the upgrade")
                    .related(Place::value(alias), "this version has a list of folders"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn class(alias: &str, policy: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  {policy}
  amiSelectorTerms:
    - alias: {alias}
"
        )
    }

    const RAID0: &str = "instanceStorePolicy: RAID0";

    #[test]
    fn folders_change_in_1_8_with_bottlerocket_1_46() {
        insta::assert_snapshot!(begins(&super::RULE, "1.7", "1.8.0", &class("bottlerocket@v1.46.0", RAID0)), @"
        from 1.8 on
          5 |   instanceStorePolicy: RAID0
            |                        ^^^^^
        info EC2NodeClass/a spec.instanceStorePolicy [since 1.8]
          Karpenter lets Bottlerocket v1.46.0 choose the folders that move to local disks: new nodes may keep other data there than existing nodes
          help: compare the space that new nodes use on their volumes after the upgrade
          see line 7 spec.amiSelectorTerms[0].alias: this version has a list of folders
        ");
        assert!(!begins(&super::RULE, "1.0", "1.15", &class("bottlerocket@latest", RAID0)).is_empty());
        for alias in ["bottlerocket@v1.45.0", "al2023@latest", "bottlerocket@${VERSION}"] {
            begins_nothing(&super::RULE, "1.7", "1.8", &class(alias, RAID0));
        }
        begins_nothing(
            &super::RULE,
            "1.7",
            "1.8",
            &class("bottlerocket@v1.46.0", "detailedMonitoring: true"),
        );
        begins_nothing(&super::RULE, "1.8", "1.15", &class("bottlerocket@v1.46.0", RAID0));
        begins_nothing(&super::RULE, "1.0", "1.7", &class("bottlerocket@v1.46.0", RAID0));
    }
}
