use karpenter::release::Releases;
use manifest::tree::Node;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Checks that no key occurs twice in one object of the YAML or JSON text.
    ///
    /// ## Why it is bad
    ///
    /// `kubectl` keeps the last occurrence and drops the others before it sends the object, so neither the API server
    /// nor the controller can notice. A label, a taint or a whole block of settings is silently lost.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    ///   labels:
    ///     app: web
    ///   labels:
    ///     tier: front
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    ///   labels:
    ///     app: web
    ///     tier: front
    /// ```
    ///
    /// If both values are equal, nothing is lost, and the finding is a warning.
    ///
    /// A key that overrides a key from a YAML merge (`<<`) is not a duplicate.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/yaml v1.6.0 yaml.go: the conversion to JSON is not strict
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a key occurs twice in one object, and the first occurrence is silently dropped",
        runs: Runs::OnKarpenterFiles,
        on: &[On::Any],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if !context.is_text {
        return;
    }
    for (first, again) in object.duplicates() {
        findings.push(duplicate(first, again).related(Place::key(first), "this occurrence is dropped"));
    }
}

fn duplicate<'d>(first: Node<'d>, again: Node<'d>) -> Finding<'d> {
    let key = again.key();
    if first.to_json() == again.to_json() {
        let message = format!("`{key}` occurs twice in this object, with the same value");
        let finding = Finding::new(&RULE, Place::key(again), message);
        return finding.severity(Severity::Warning).help("keep one of them; kustomize rejects the file");
    }
    if is_blank(first) {
        let message =
            format!("`{key}` occurs twice in this object; the first occurrence is empty and is dropped");
        let finding = Finding::new(&RULE, Place::key(again), message);
        return finding.severity(Severity::Warning).help("remove the first one; kustomize rejects the file");
    }
    let message = format!("`{key}` occurs twice in this object; the first occurrence is dropped");
    Finding::new(&RULE, Place::key(again), message).help("keep one of them, or merge their values")
}

/// Whether a value is null, or an empty string, list or object.
fn is_blank(node: Node<'_>) -> bool {
    let is_collection = node.is_mapping() || node.is_sequence();
    node.is_null() || node.as_str() == Some("") || (is_collection && node.is_empty())
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    #[test]
    fn reports_both_occurrences() {
        insta::assert_snapshot!(findings(&super::RULE, "apiVersion: v1\nkind: Pod\nspec: {a: 1, 'a': 2}\n"), @"
          3 | spec: {a: 1, 'a': 2}
            |              ^^^
        error Pod/ spec.a [all]
          `a` occurs twice in this object; the first occurrence is dropped
          help: keep one of them, or merge their values
          see line 3 spec.a: this occurrence is dropped
        ");
    }

    #[test]
    fn warns_of_equal_values_because_nothing_is_lost() {
        let text =
            |value: &str| format!("apiVersion: v1\nkind: Pod\nspec: {{a: {{b: 1}}, a: {{b: {value}}}}}\n");
        assert!(findings(&super::RULE, &text("1")).contains("warning Pod/ spec.a"));
        assert!(findings(&super::RULE, &text("2")).contains("error Pod/ spec.a"));
    }

    #[test]
    fn warns_of_an_empty_first_value_because_nothing_is_lost() {
        let text = |first: &str| format!("apiVersion: v1\nkind: Pod\nspec: {{a: {first}, a: {{b: 1}}}}\n");
        for empty in ["{}", "[]", "null", "''"] {
            assert!(findings(&super::RULE, &text(empty)).contains("warning Pod/ spec.a"), "{empty}");
        }
        for value in ["0", "false", "[c]"] {
            assert!(findings(&super::RULE, &text(value)).contains("error Pod/ spec.a"), "{value}");
        }
    }

    #[test]
    fn reports_the_object_of_a_list_that_has_the_duplicate() {
        let text = r"apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: a}}
- {apiVersion: v1, kind: Pod, metadata: {name: b, name: c}}
";
        insta::assert_snapshot!(findings(&super::RULE, text), @"
          5 | - {apiVersion: v1, kind: Pod, metadata: {name: b, name: c}}
            |                                                   ^^^^
        error Pod/c metadata.name [all]
          `name` occurs twice in this object; the first occurrence is dropped
          help: keep one of them, or merge their values
          see line 5 metadata.name: this occurrence is dropped
        ");
    }

    #[test]
    fn overriding_a_merged_key_is_not_a_duplicate() {
        silent(&super::RULE, "apiVersion: v1\nkind: Pod\na: &a {x: 1}\nb: {<<: *a, x: 2}\n");
    }
}
