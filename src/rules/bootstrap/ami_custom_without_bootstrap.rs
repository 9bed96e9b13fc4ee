use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use userdata::format::UserDataFormat as Format;
use userdata::image_family::ImageFamily as Image;
use values::placeholder::Placeholder;

use super::user_data::{UserData, family};

rule! {
    /// ## What it does
    ///
    /// Checks that an EC2NodeClass with `amiFamily: Custom` has user data that joins its nodes to a cluster.
    ///
    /// ## Why it is bad
    ///
    /// With `Custom`, Karpenter passes the user data to the instance unchanged and adds nothing: no cluster name, no
    /// endpoint, no taints. A node without this information never joins the cluster. Its NodeClaim reports
    /// `Node not registered with cluster`; after 15 minutes Karpenter deletes it and launches the next one.
    ///
    /// A custom image may join the cluster by itself, so missing user data is a warning. It is an error if an alias
    /// selects an AWS image, because AWS images do not join by themselves. It is an info if there is user data that
    /// does other things.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: hardened
    /// spec:
    ///   amiFamily: Custom
    ///   amiSelectorTerms:
    ///     - id: ami-0f3a9c1d5e7b24680
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: hardened
    /// spec:
    ///   amiFamily: Custom
    ///   amiSelectorTerms:
    ///     - id: ami-0f3a9c1d5e7b24680
    ///   userData: |
    ///     #!/bin/bash
    ///     /etc/eks/bootstrap.sh meadow \
    ///       --kubelet-extra-args '--register-with-taints=karpenter.sh/unregistered:NoExecute'
    /// ```
    ///
    /// An image built on Amazon Linux 2023, Bottlerocket or Windows does not need `Custom`: with `amiFamily: AL2023`,
    /// for example, and `amiSelectorTerms` that select your image, Karpenter writes the user data that joins the
    /// cluster.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#4708; pkg/providers/amifamily/bootstrap/custom.go at v1.14.1
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "an EC2NodeClass with `amiFamily: Custom` has no user data that joins a cluster",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    if family(class) != Some(Image::Custom) {
        return;
    }
    let is_hidden = |data: Node<'_>| data.as_str().is_some_and(|text| Placeholder::is_whole(text.trim()));
    let Some(node) = class.ami_family().filter(|_| !class.user_data().is_some_and(is_hidden)) else { return };
    let help = "write user data that joins the cluster and registers the taint `karpenter.sh/unregistered:NoExecute`, or set `amiFamily` to the family that the image is built on";
    let Some(data) = UserData::of(object).filter(|data| Format::detect(data.text) != Format::Comments) else {
        let alias = class.ami_aliases().find_map(Node::as_str);
        let (joins, severity) = match alias {
            Some(alias) => {
                (format!("the image `{alias}` does not join a cluster by itself"), Severity::Error)
            }
            None => {
                ("nodes join a cluster only if the image does so by itself".to_owned(), Severity::Warning)
            }
        };
        let message = format!("the EC2NodeClass has `amiFamily: Custom` but no user data: {joins}");
        let finding = Finding::new(&RULE, Place::value(node), message).severity(severity);
        return findings.push(finding.help(help));
    };
    let found = data.registration(context);
    let runs = data.scripts(context).iter().any(|shell| !shell.commands.is_empty());
    if found.joins.is_empty() && !found.is_dynamic() && runs && Format::detect(data.text) != Format::Unmarked
    {
        let message =
            "nothing in this user data joins a cluster; nodes join only if the image does so by itself";
        findings.push(Finding::new(&RULE, data.whole(), message).help(help).severity(Severity::Info));
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{class, custom, script};
    use crate::rules::testing::{findings, silent};

    const CLASS: &str = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  amiFamily: Custom
";

    #[test]
    fn missing_user_data_is_a_warning_and_an_error_for_aws_images() {
        insta::assert_snapshot!(findings(&super::RULE, CLASS), @"
          5 |   amiFamily: Custom
            |              ^^^^^^
        warning EC2NodeClass/a spec.amiFamily [all]
          the EC2NodeClass has `amiFamily: Custom` but no user data: nodes join a cluster only if the image does so by itself
          help: write user data that joins the cluster and registers the taint `karpenter.sh/unregistered:NoExecute`, or set `amiFamily` to the family that the image is built on
        ");
        insta::assert_snapshot!(findings(&super::RULE, &format!("{CLASS}  amiSelectorTerms: [{{alias: al2023@latest}}]\n")), @"
          5 |   amiFamily: Custom
            |              ^^^^^^
        error EC2NodeClass/a spec.amiFamily [all]
          the EC2NodeClass has `amiFamily: Custom` but no user data: the image `al2023@latest` does not join a cluster by itself
          help: write user data that joins the cluster and registers the taint `karpenter.sh/unregistered:NoExecute`, or set `amiFamily` to the family that the image is built on
        ");
        assert!(!findings(&super::RULE, &format!("{CLASS}  userData: ''\n")).is_empty());
        assert!(!findings(&super::RULE, &custom("# later\n")).is_empty());
    }

    #[test]
    fn reports_user_data_that_joins_nothing_as_an_info() {
        insta::assert_snapshot!(findings(&super::RULE, &script("yum install -y jq")), @"
          6 |   userData: |
            |   ^^^^^^^^
        info EC2NodeClass/a spec.userData [all]
          nothing in this user data joins a cluster; nodes join only if the image does so by itself
          help: write user data that joins the cluster and registers the taint `karpenter.sh/unregistered:NoExecute`, or set `amiFamily` to the family that the image is built on
        ");
    }

    #[test]
    fn accepts_user_data_that_joins_or_may_join() {
        silent(&super::RULE, &script("/etc/eks/bootstrap.sh demo"));
        silent(&super::RULE, &script("/opt/join.sh"));
        silent(&super::RULE, &script("source /etc/join"));
        silent(&super::RULE, &custom("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n"));
        silent(&super::RULE, &custom("[settings.kubernetes]\ncluster-name = 'a'\n"));
        silent(&super::RULE, &custom("machine:\n  type: worker\n"));
        silent(&super::RULE, &custom("#cloud-config\nruncmd: [/opt/join.sh]\n"));
        silent(&super::RULE, &class("AL2023", ""));
        silent(&super::RULE, CLASS.replace("Custom", "AL2023").as_str());
    }
}
