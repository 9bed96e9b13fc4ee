use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::Object;
use objects::storage::StorageClass;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds StorageClasses with more than one term in `allowedTopologies`.
    ///
    /// ## Why it is bad
    ///
    /// The terms are alternatives. Until 1.12.1 Karpenter reads only the first term, and creates nodes for pods with
    /// such volumes only in the zones of that term. Since 1.12.2 Karpenter tries each term, so nodes may come up in
    /// other zones than before.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.12.1 to 1.13
    /// apiVersion: storage.k8s.io/v1
    /// kind: StorageClass
    /// metadata:
    ///   name: gp3
    /// provisioner: ebs.csi.aws.com
    /// volumeBindingMode: WaitForFirstConsumer
    /// allowedTopologies:
    ///   - matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [eu-west-1a]}]
    ///   - matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [eu-west-1b]}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// Write one term with all zones, which means the same in every release:
    ///
    /// ```yaml,from=1.12.1 to 1.13
    /// apiVersion: storage.k8s.io/v1
    /// kind: StorageClass
    /// metadata:
    ///   name: gp3
    /// provisioner: ebs.csi.aws.com
    /// volumeBindingMode: WaitForFirstConsumer
    /// allowedTopologies:
    ///   - matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [eu-west-1a, eu-west-1b]}]
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#2742, #2743, released in v1.12.1, which the provider uses since 1.12.2
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: ALL_TERMS,
        summary: "Karpenter starts or stops reading every term of `allowedTopologies`",
        runs: Runs::OnUpgrade,
        on: &[On::Kind(Kind::STORAGE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// Releases that read every term of `allowedTopologies`.
const ALL_TERMS: Releases = Releases::since_patch(12, 2);

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(terms) =
        StorageClass::of(object).and_then(StorageClass::allowed_topologies).filter(|terms| terms.len() > 1)
    else {
        return;
    };
    let help = "write one term with all zones, which means the same in every release";
    let up = "Karpenter reads every term of `allowedTopologies` instead of only the first: nodes may come up in other zones than before";
    findings.push(Finding::new(&RULE, Place::key(terms), up).help(help));
    let down = "Karpenter reads only the first term of `allowedTopologies`: nodes for pods with such volumes come up nowhere else";
    let below = Releases::ALL.without(ALL_TERMS);
    findings.push(
        Finding::new(&RULE, Place::key(terms), down).releases(below).severity(Severity::Warning).help(help),
    );
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    const TWO: &str = r"apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: a}
allowedTopologies:
  - {matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [a]}]}
  - {matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [b]}]}
";

    #[test]
    fn every_term_is_read_since_1_12_2() {
        insta::assert_snapshot!(begins(&super::RULE, "1.11", "1.13", TWO), @"
        from 1.12.2 on
          4 | allowedTopologies:
            | ^^^^^^^^^^^^^^^^^
        info StorageClass/a allowedTopologies [since 1.12.2]
          Karpenter reads every term of `allowedTopologies` instead of only the first: nodes may come up in other zones than before
          help: write one term with all zones, which means the same in every release
        ");
        insta::assert_snapshot!(begins(&super::RULE, "1.14", "1.12.1", TWO), @"
        from 1.12.1 down
          4 | allowedTopologies:
            | ^^^^^^^^^^^^^^^^^
        warning StorageClass/a allowedTopologies [until 1.12.1]
          Karpenter reads only the first term of `allowedTopologies`: nodes for pods with such volumes come up nowhere else
          help: write one term with all zones, which means the same in every release
        ");
        begins_nothing(&super::RULE, "1.11", "1.12.1", TWO);
        begins_nothing(&super::RULE, "1.12.2", "1.14", TWO);
        let (one, _) = TWO.rsplit_once("  - ").unwrap();
        begins_nothing(&super::RULE, "1.0", "1.14", one);
    }
}
