use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_class::Ec2NodeClass;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Finds values that change with each deployment where a change makes nodes drift: in `spec.tags` of an EC2NodeClass, and
    /// in the labels and annotations of a NodePool's template. Such a value is a commit, that is 40 hexadecimal digits, or a
    /// time.
    ///
    /// ## Why it is bad
    ///
    /// The tags belong to the hash of the EC2NodeClass, and the labels and annotations to the hash of the NodePool. Each
    /// deployment changes the hash, all nodes drift, and Karpenter replaces them as fast as the budgets allow, although
    /// nothing of importance changed.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   tags:
    ///     team: web
    ///     deployed-at: "2026-03-11T10:30:00Z"
    /// ```
    ///
    /// ## Use instead
    ///
    /// A label or annotation of the object itself, which no node gets:
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    ///   annotations:
    ///     example.com/deployed-at: "2026-03-11T10:30:00Z"
    /// spec:
    ///   tags:
    ///     team: web
    /// ```
    ///
    /// ## References
    ///
    /// - `Hash` in pkg/apis/v1/ec2nodeclass.go of aws/karpenter-provider-aws, and in pkg/apis/v1/nodepool.go of
    ///   kubernetes-sigs/karpenter, at v1.14.0
    /// - aws/karpenter-provider-aws#3760
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a value that changes with each deployment makes all nodes drift",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS), On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let mut report = |(key, node): (&'d str, Node<'d>), what: &str| {
        let Some(kind) = node.as_str().and_then(volatile) else { return };
        let message = format!(
            "the {what} `{key}` is {kind}: if it changes with each deployment, all nodes drift each time, and Karpenter replaces them"
        );
        findings.push(Finding::new(&RULE, Place::value(node), message).help(
            "write the value into the labels or annotations of the object itself, which nodes do not get",
        ));
    };
    if let Some(class) = Ec2NodeClass::of(object) {
        class.tags().for_each(|tag| report(tag, "tag"));
    } else if let Some(template) = NodePool::of(object).and_then(NodePool::template) {
        template.metadata().labels().for_each(|label| report(label, "label"));
        template.metadata().annotations().for_each(|annotation| report(annotation, "annotation"));
    }
}

/// The kind of a value that probably changes with each deployment.
fn volatile(text: &str) -> Option<&'static str> {
    const COMMIT_DIGITS: usize = 40;
    let is_commit = text.len() == COMMIT_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if has_placeholder(text) {
        None
    } else if is_commit {
        Some("a commit")
    } else if is_time(text) {
        Some("a time")
    } else {
        None
    }
}

/// Whether a text starts with a date and goes on with a time: `2026-03-11T10:30`, also without or with other separators, as
/// labels have no colons. A date alone may be the end of a contract.
fn is_time(text: &str) -> bool {
    let shape: String =
        text.chars().take(16).map(|char| if char.is_ascii_digit() { '0' } else { char }).collect();
    let is_separated = |separator: char| {
        shape
            .strip_prefix("0000-00-00")
            .and_then(|rest| rest.strip_prefix(['T', ' ', '_', '-', 't']))
            .is_some_and(|rest| rest.starts_with(&format!("00{separator}00")))
    };
    is_separated(':') || is_separated('-') || is_separated('.') || shape.starts_with("00000000T000000")
}

#[cfg(test)]
mod tests {
    use super::{RULE, volatile};
    use crate::rules::testing::{findings, silent};

    #[test]
    fn reports_values_that_change_with_each_deployment() {
        let class = |value: &str| {
            format!(
                r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec: {{tags: {{commit: '{value}'}}}}
"
            )
        };
        let commit = "0123456789abcdef0123456789abcdef01234567";
        insta::assert_snapshot!(findings(&RULE, &class(commit)), @"
          4 | spec: {tags: {commit: '0123456789abcdef0123456789abcdef01234567'}}
            |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        info EC2NodeClass/a spec.tags.commit [all]
          the tag `commit` is a commit: if it changes with each deployment, all nodes drift each time, and Karpenter replaces them
          help: write the value into the labels or annotations of the object itself, which nodes do not get
        ");
        silent(&RULE, &class(commit.trim_start_matches('0')));
        silent(&RULE, &class("${COMMIT}"));
        let pool = |place: &str| {
            format!(
                r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a, labels: {{commit: '{commit}'}}}}
spec: {{template: {{metadata: {{{place}: {{commit: '{commit}'}}}}}}}}
"
            )
        };
        assert!(findings(&RULE, &pool("labels")).contains("the label `commit` is a commit"));
        assert!(findings(&RULE, &pool("annotations")).contains("the annotation `commit` is a commit"));
        silent(&RULE, &pool("other"));
    }

    #[test]
    fn recognises_times_but_not_dates() {
        for text in [
            "2026-03-11T10:30:00Z",
            "2026-03-11 10:30",
            "2026-03-11-10-30",
            "2026-03-11_10.30",
            "20260311T103000Z",
        ] {
            assert_eq!(volatile(text), Some("a time"), "{text}");
        }
        for text in ["2026-03-11", "20260311", "v1.2.3", "web", "2026-03-11T", ""] {
            assert_eq!(volatile(text), None, "{text}");
        }
    }
}
