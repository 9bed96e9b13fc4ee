use super::user_data::{UserData, family};
use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::release::Releases;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};
use userdata::kind::{Family as Image, Kind as Format};

rule! {
    /// ## What it does
    ///
    /// Checks that an EC2NodeClass with `amiFamily: Custom` has user data that joins its nodes to a cluster.
    ///
    /// ## Why it is bad
    ///
    /// `Custom` means that Karpenter hands over the user data as it is and adds nothing: no cluster name, no endpoint, no
    /// taints. A node that is not told which cluster to join never does; its NodeClaim waits with `Node not registered
    /// with cluster` and is deleted after 15 minutes, and the next one is started.
    ///
    /// An image of your own may join by itself, which is why this is a warning. Where an alias selects one of AWS's
    /// images it is an error: those do not. Where there is user data that does other things, it is an info.
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
    /// An image that is built on Amazon Linux 2023, Bottlerocket or Windows needs no `Custom`: with `amiFamily: AL2023`
    /// and `amiSelectorTerms` of your own Karpenter writes everything.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#4708; pkg/providers/amifamily/bootstrap/custom.go at v1.14.1
    RULE {
        name: "ami-custom-without-bootstrap",
        family: Family::Bootstrap,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a Custom node class has no user data that joins a cluster",
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    if family(object) != Some(Image::Custom) {
        return;
    }
    let Some(node) = object.at(&["spec", "amiFamily"]) else { return };
    let help = "write user data that joins the cluster and registers the taint, or the family that the image is built on instead of `Custom`";
    let Some(data) = UserData::of(object).filter(|data| Format::of(data.text) != Format::Comments) else {
        let terms = object.at(&["spec", "amiSelectorTerms"]);
        let alias = terms.and_then(|terms| terms.items().find_map(|term| term.str_at(&["alias"])));
        let (joins, severity) = match alias {
            Some(alias) => (format!("the image `{alias}` does not join a cluster by itself"), Severity::Error),
            None => ("nodes join only if the image does so by itself".to_owned(), Severity::Warning),
        };
        let message = format!("`amiFamily: Custom` without user data: {joins}");
        let draft = Draft::new(&RULE, Place::value(node), message).severity(severity);
        return drafts.push(draft.help(help));
    };
    let found = data.registration();
    let runs = data.scripts().iter().any(|shell| !shell.commands.is_empty());
    if found.joins.is_empty() && !found.is_dynamic() && runs && Format::of(data.text) != Format::Unmarked {
        let message = "nothing in this user data joins a cluster; nodes join only if the image does so by itself";
        drafts.push(Draft::new(&RULE, data.whole(), message).help(help).severity(Severity::Info));
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{class, custom, script};
    use crate::rules::testing::{findings, silent};

    const CLASS: &str = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec:\n  amiFamily: Custom\n";

    #[test]
    fn no_user_data_is_a_warning_and_an_error_for_the_images_of_aws() {
        insta::assert_snapshot!(findings(&super::RULE, CLASS), @"
          5 |   amiFamily: Custom
            |              ^^^^^^
        warning EC2NodeClass/a spec.amiFamily [1.0-1.14]
          `amiFamily: Custom` without user data: nodes join only if the image does so by itself
          help: write user data that joins the cluster and registers the taint, or the family that the image is built on instead of `Custom`
        ");
        insta::assert_snapshot!(findings(&super::RULE, &format!("{CLASS}  amiSelectorTerms: [{{alias: al2023@latest}}]\n")), @"
          5 |   amiFamily: Custom
            |              ^^^^^^
        error EC2NodeClass/a spec.amiFamily [1.0-1.14]
          `amiFamily: Custom` without user data: the image `al2023@latest` does not join a cluster by itself
          help: write user data that joins the cluster and registers the taint, or the family that the image is built on instead of `Custom`
        ");
        assert!(!findings(&super::RULE, &format!("{CLASS}  userData: ''\n")).is_empty());
        assert!(!findings(&super::RULE, &custom("# later\n")).is_empty());
    }

    #[test]
    fn user_data_that_joins_nothing_is_an_info() {
        insta::assert_snapshot!(findings(&super::RULE, &script("yum install -y jq")), @"
          6 |   userData: |
            |   ^^^^^^^^
        info EC2NodeClass/a spec.userData [1.0-1.14]
          nothing in this user data joins a cluster; nodes join only if the image does so by itself
          help: write user data that joins the cluster and registers the taint, or the family that the image is built on instead of `Custom`
        ");
    }

    #[test]
    fn what_joins_or_may_join_is_left_alone() {
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
