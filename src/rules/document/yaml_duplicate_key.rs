use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::release::Releases;
use objects::object::Object;
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Checks that no key stands twice in one object of the YAML or JSON text.
    ///
    /// ## Why it is bad
    ///
    /// `kubectl` takes the last one and drops the others before anything is sent, so neither the API server nor the
    /// controller can tell: a label, a taint or a whole block of settings is gone in silence.
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
    /// A key that overrides what a merge key (`<<`) brought is no duplicate.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/yaml v1.6.0 yaml.go: the conversion to JSON is not strict
    RULE {
        name: "yaml-duplicate-key",
        family: Family::Document,
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a key stands twice in one object, and the first is dropped in silence",
        on: &[On::Any],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    if !context.is_text {
        return;
    }
    for (first, again) in object.duplicates() {
        drafts.push(
            Draft::new(
                &RULE,
                Place::key(again),
                format!("`{}` stands twice in this object; the first one is dropped", again.key()),
            )
            .help("keep one of them, or merge what they hold")
            .related(Place::key(first), "the one that is dropped"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    #[test]
    fn both_places_are_named() {
        insta::assert_snapshot!(findings(&super::RULE, "apiVersion: v1\nkind: Pod\nspec: {a: 1, 'a': 2}\n"), @"
          3 | spec: {a: 1, 'a': 2}
            |              ^^^
        error Pod/ spec.a [1.0-1.14]
          `a` stands twice in this object; the first one is dropped
          help: keep one of them, or merge what they hold
          see line 3 spec.a: the one that is dropped
        ");
    }

    #[test]
    fn each_object_of_a_list_has_its_own() {
        let text = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n\
                    - {apiVersion: v1, kind: Pod, metadata: {name: b, name: c}}\n";
        insta::assert_snapshot!(findings(&super::RULE, text), @"
          5 | - {apiVersion: v1, kind: Pod, metadata: {name: b, name: c}}
            |                                                   ^^^^
        error Pod/c metadata.name [1.0-1.14]
          `name` stands twice in this object; the first one is dropped
          help: keep one of them, or merge what they hold
          see line 5 metadata.name: the one that is dropped
        ");
    }

    #[test]
    fn overriding_what_a_merge_key_brought_is_no_duplicate() {
        silent(&super::RULE, "apiVersion: v1\nkind: Pod\na: &a {x: 1}\nb: {<<: *a, x: 2}\n");
    }
}
