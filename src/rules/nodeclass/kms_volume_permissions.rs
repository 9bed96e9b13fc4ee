use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_class::{BlockDeviceMapping, Ec2NodeClass};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds volumes with `kmsKeyID` that are not encrypted: `encrypted` is false or absent.
    ///
    /// Whether the policy of the key lets Karpenter and EC2 use the key cannot be seen in manifests. If it does not, the
    /// instance stops within seconds (`Client.InternalError: Client error on launch`), which `karpwarden diagnose` explains.
    ///
    /// ## Why it is bad
    ///
    /// EC2 accepts a key only for an encrypted volume, and refuses to launch nodes. Where `encrypted` is absent, that
    /// happens as well, unless the account encrypts volumes by default or the snapshot is encrypted.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   blockDeviceMappings:
    ///     - deviceName: /dev/xvda
    ///       ebs:
    ///         volumeSize: 100Gi
    ///         encrypted: false
    ///         kmsKeyID: 1234abcd-12ab-34cd-56ef-1234567890ab
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
    ///   blockDeviceMappings:
    ///     - deviceName: /dev/xvda
    ///       ebs:
    ///         volumeSize: 100Gi
    ///         encrypted: true
    ///         kmsKeyID: 1234abcd-12ab-34cd-56ef-1234567890ab
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes/kubernetes#31334 and keithvassallomt/parsec-aws-automation#12: EC2 refuses `RunInstances` and `CreateVolume` with
    ///   `The parameter KmsKeyId requires the parameter Encrypted to be set`
    /// - website/content/en/docs/troubleshooting.md of aws/karpenter-provider-aws at v1.14.1, "Node terminates before ready on failed
    ///   encrypted EBS volume"
    /// - aws/karpenter-provider-aws#1407, #3767, #3328
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a volume has a KMS key but is not encrypted, so that EC2 refuses to launch nodes",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    for ebs in class.block_device_mappings().filter_map(BlockDeviceMapping::ebs) {
        let Some(key) = ebs.kms_key_id().filter(|key| key.as_str() != Some("")) else { continue };
        match ebs.encrypted() {
            Some(node) if node.as_bool() == Some(false) => {
                let message =
                    "EC2 accepts a KMS key only for an encrypted volume, and refuses to launch nodes";
                findings.push(
                    Finding::new(&RULE, Place::value(node), message)
                        .help("write `encrypted: true`, or remove `kmsKeyID`")
                        .related(Place::value(key), "the key"),
                );
            }
            Some(_) => {}
            None => {
                let message = "EC2 accepts a KMS key only for an encrypted volume: unless the account encrypts volumes by default or the snapshot is encrypted, it refuses to launch nodes";
                findings.push(
                    Finding::new(&RULE, Place::value(key), message)
                        .severity(Severity::Warning)
                        .help("write `encrypted: true`"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn class(ebs: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  blockDeviceMappings:
  - deviceName: /dev/xvda
    ebs: {{{ebs}}}
"
        )
    }

    #[test]
    fn reports_a_key_for_a_volume_that_is_not_encrypted() {
        insta::assert_snapshot!(findings(&RULE, &class("encrypted: false, kmsKeyID: a")), @"
          7 |     ebs: {encrypted: false, kmsKeyID: a}
            |                      ^^^^^
        error EC2NodeClass/a spec.blockDeviceMappings[0].ebs.encrypted [all]
          EC2 accepts a KMS key only for an encrypted volume, and refuses to launch nodes
          help: write `encrypted: true`, or remove `kmsKeyID`
          see line 7 spec.blockDeviceMappings[0].ebs.kmsKeyID: the key
        ");
        insta::assert_snapshot!(findings(&RULE, &class("kmsKeyID: a")), @"
          7 |     ebs: {kmsKeyID: a}
            |                     ^
        warning EC2NodeClass/a spec.blockDeviceMappings[0].ebs.kmsKeyID [all]
          EC2 accepts a KMS key only for an encrypted volume: unless the account encrypts volumes by default or the snapshot is encrypted, it refuses to launch nodes
          help: write `encrypted: true`
        ");
        silent(&RULE, &class("encrypted: true, kmsKeyID: a"));
        silent(&RULE, &class("encrypted: '${ENCRYPTED}', kmsKeyID: a"));
        silent(&RULE, &class("encrypted: false"));
        silent(&RULE, &class("encrypted: false, kmsKeyID: ''"));
    }
}
