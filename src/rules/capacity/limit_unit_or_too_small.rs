use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::quantity::{Notation, Quantity};

rule! {
    /// ## What it does
    ///
    /// Finds limits of a NodePool that are smaller than every instance type, and CPU limits that are written like an
    /// amount of memory. A limit of 0 is not reported: it stops a NodePool on purpose.
    ///
    /// ## Why it is bad
    ///
    /// `memory: 1000` is a limit of 1000 bytes, not of 1000 GiB. Karpenter launches no instance type whose capacity
    /// exceeds what the limit leaves, so it launches nothing: `all available instance types exceed limits for nodepool`.
    /// `cpu: 64Gi` is a limit of more than 68 billion cores, which limits nothing.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   limits:
    ///     memory: 1000
    /// ```
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   limits:
    ///     cpu: 64Gi
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   limits:
    ///     cpu: 64
    ///     memory: 1000Gi
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#5975, #6328
    /// - kubernetes-sigs/karpenter `pkg/controllers/provisioning/scheduling/scheduler.go` `filterByRemainingResources`,
    ///   1.0-1.14
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a limit is smaller than every instance type, or has a unit that makes it meaningless",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

/// Memory in bytes that every instance type exceeds. The smallest types, such as `t3.nano`, have 512 MiB, of which
/// Karpenter subtracts an overhead of 7.5 % by default.
const LESS_THAN_ANY_MEMORY: i64 = 256 << 20;

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(limits) = NodePool::of(object).and_then(NodePool::limits) else { return };
    if let Some((node, memory)) = limits.get("memory").and_then(positive)
        && memory.units() < LESS_THAN_ANY_MEMORY
    {
        let message = format!(
            "a limit of {} bytes of memory is smaller than every instance type, so Karpenter launches no nodes from this NodePool",
            memory.units()
        );
        findings.push(Finding::at(&RULE, node, message).help("write a unit, such as `1000Gi`"));
    }
    let Some((node, cpu)) = limits.get("cpu").and_then(positive) else { return };
    if cpu.milli() < 1000 {
        let message = format!(
            "a limit of {} thousandths of a core is smaller than every instance type, so Karpenter launches no nodes from this NodePool",
            cpu.milli()
        );
        findings.push(Finding::at(&RULE, node, message).help("write a number of cores, such as `100`"));
    } else if cpu.notation() == Notation::Binary {
        let message =
            format!("this CPU limit is {} cores, so it limits nothing: the unit is for memory", cpu.units());
        findings.push(
            Finding::at(&RULE, node, message)
                .severity(Severity::Warning)
                .help("write a number of cores without a unit"),
        );
    }
}

/// Returns a limit that is a valid quantity above 0. Placeholders are no quantities.
fn positive(node: Node<'_>) -> Option<(Node<'_>, Quantity)> {
    if node.is_mapping() || node.is_sequence() || node.is_null() {
        return None;
    }
    let quantity = Quantity::parse(node.as_str().unwrap_or_else(|| node.spelling())).ok()?;
    (!quantity.is_zero() && !quantity.is_negative()).then_some((node, quantity))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(limits: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  limits: {{{limits}}}
"
        )
    }

    #[test]
    fn reports_memory_in_bytes_and_fractions_of_a_core() {
        insta::assert_snapshot!(findings(&RULE, &pool("cpu: 100m, memory: 1000")), @"
          5 |   limits: {cpu: 100m, memory: 1000}
            |                 ^^^^
        error NodePool/a spec.limits.cpu [all]
          a limit of 100 thousandths of a core is smaller than every instance type, so Karpenter launches no nodes from this NodePool
          help: write a number of cores, such as `100`
          5 |   limits: {cpu: 100m, memory: 1000}
            |                               ^^^^
        error NodePool/a spec.limits.memory [all]
          a limit of 1000 bytes of memory is smaller than every instance type, so Karpenter launches no nodes from this NodePool
          help: write a unit, such as `1000Gi`
        ");
        assert!(findings(&RULE, &pool("memory: 1000m")).contains("a limit of 1 bytes"));
    }

    #[test]
    fn warns_about_cpu_with_a_unit_of_memory() {
        insta::assert_snapshot!(findings(&RULE, &pool("cpu: 64Gi")), @"
          5 |   limits: {cpu: 64Gi}
            |                 ^^^^
        warning NodePool/a spec.limits.cpu [all]
          this CPU limit is 68719476736 cores, so it limits nothing: the unit is for memory
          help: write a number of cores without a unit
        ");
    }

    #[test]
    fn accepts_the_smallest_possible_limits_zero_and_placeholders() {
        for limits in [
            "cpu: 1, memory: 256Mi",
            "cpu: '1000', memory: 1000Gi",
            "cpu: 1k, memory: 1e12",
            "cpu: 0, memory: '0'",
            "cpu: '${CPU}', memory: '{{ .Values.memory }}'",
            "cpu: {a: b}, memory: null",
            "nodes: 3",
        ] {
            silent(&RULE, &pool(limits));
        }
        assert!(findings(&RULE, &pool("memory: 255Mi")).contains("error"));
        assert!(findings(&RULE, &pool("cpu: 999m")).contains("error"));
    }

    #[test]
    fn ignores_limits_that_are_no_quantities() {
        for limits in [
            "cpu: {a: 100m}",
            "cpu: [100m]",
            "cpu: null",
            "cpu: ~",
            "cpu: ",
            "memory: [1000]",
            "memory: '${MEMORY}'",
        ] {
            silent(&RULE, &pool(limits));
        }
        silent(
            &RULE,
            &pool("").replace("limits: {}", "limits:\n    cpu:\n    - 100m\n    memory:\n      a: 1000"),
        );
    }
}
