use crate::rules::absent_fields::AbsentFields;
use karpenter::api::{FieldSchema, KIND_SCHEMAS, KindSchema, Schema, SchemaType};
use karpenter::release::{ReleaseSet, Releases};
use manifest::tree::Node;
use objects::object::Object;
use objects::validation::What;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, Runs};
use values::spelling::nearest;

rule! {
    /// ## What it does
    ///
    /// Checks that the release knows every field of a Karpenter object. If the field exists at another path or in
    /// another release, the finding says so.
    ///
    /// ## Why it is bad
    ///
    /// `kubectl apply` refuses the object with `unknown field`. If a tool applies the object without strict validation,
    /// the API server drops the field silently, and the field has no effect. In an admission request the field is
    /// already gone, so this rule reports nothing there.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
    ///   disruption:
    ///     consolidateAfter: 1m
    ///     expireAfter: 720h
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
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
    ///       expireAfter: 720h
    ///   disruption:
    ///     consolidateAfter: 1m
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Unsafe: the field with the nearest name may not be the field that was meant.
    ///
    /// ## References
    ///
    /// - pkg/apis/crds of aws/karpenter-provider-aws at the tags v1.0.0 to v1.14.1
    /// - website/content/en/docs/upgrading/v1-migration.md, for the fields that moved
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::Unsafe,
        supersedes: &["api-rule"],
        summary: "a field that the API server does not know",
        runs: Runs::OnKarpenterFiles,
        on: super::KARPENTER,
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let target = context.settings.karpenter;
    let mut absent = AbsentFields::default();
    super::report(object, context, findings, |refusal| match refusal.what {
        What::Unknown(fields, root) => {
            let known = fields.iter().filter(|field| target.meets(field.releases)).map(|field| field.name);
            let absent = absent.around(refusal.place.node(), known);
            let finding = explain(refusal.place.clone(), fields, absent, root);
            // An item whose only choice is a field of a later release is also refused for having no choice. Selected on
            // its own, the family reports both.
            let item =
                refusal.place.node().parent().filter(|item| item.parent().is_some_and(Node::is_sequence));
            let is_later = refusal.releases != Releases::ALL && context.settings.select.is_empty();
            Some(item.filter(|_| is_later).into_iter().fold(finding, Finding::explains))
        }
        _ => None,
    });
}

/// Reports a field that its object does not have. `absent` are the names of the fields that the object could have; without
/// them the finding names no other field.
fn explain<'d>(
    place: Place<'d>,
    fields: &'static [FieldSchema],
    absent: Option<&[&'static str]>,
    root: Option<&'static KindSchema>,
) -> Finding<'d> {
    let node = place.node();
    let name = node.key();
    let known = fields.iter().filter(|field| field.name == name);
    let known = known.fold(ReleaseSet::none(), |all, field| all.or(field.releases));
    if !known.is_empty() {
        let message = format!("`{name}` exists in Karpenter only {}", known.when());
        return Finding::new(&RULE, place, message)
            .help(format!("remove `{name}`, or use a release that has it"));
    }
    let holder = node.parent().map(super::name_of).filter(|holder| !holder.is_empty());
    let of_item = node.parent().and_then(Node::parent).is_some_and(Node::is_sequence);
    let part = if of_item { "an item of " } else { "" };
    let message = match holder {
        Some(holder) => format!("{part}`{holder}` has no field `{name}`"),
        None => format!("there is no field `{name}`"),
    };
    let finding = Finding::new(&RULE, place, message);
    if let Some(near) = absent.and_then(|absent| nearest(name, absent.iter().copied())) {
        let shapes = fields.iter().filter(|field| field.name == near).map(|field| field.schema.shape);
        return match shapes.reduce(|first, other| if takes(first, node) { first } else { other }) {
            Some(shape) if !takes(shape, node) => finding.help(format!(
                "the field with the nearest name is `{near}`, and its value is {}",
                shape.name()
            )),
            _ => finding.rename(node, near),
        };
    }
    let moved = moved(node, holder).map(str::to_owned);
    let help = moved.or_else(|| absent.and_then(|_| elsewhere(name, root)));
    finding.help(help.unwrap_or_else(|| format!("remove `{name}`")))
}

/// Whether a value may be one of a type: a list, an object, or neither.
fn takes(shape: SchemaType, value: Node<'_>) -> bool {
    match shape {
        SchemaType::Any => true,
        SchemaType::List(_) => value.is_sequence() || value.is_null(),
        SchemaType::Object(_) | SchemaType::Map(_) => value.is_mapping() || value.is_null(),
        _ => !value.is_sequence() && !value.is_mapping(),
    }
}

/// Help for fields of v1beta1 and v1alpha5 that have new names.
fn moved(node: Node<'_>, holder: Option<&str>) -> Option<&'static str> {
    let in_limits = || node.parent().and_then(Node::parent).is_some_and(|above| above.key() == "limits");
    Some(match (holder, node.key()) {
        (Some("nodeClassRef"), "apiVersion") => "write `group: karpenter.k8s.aws`, without a version",
        (_, "ttlSecondsUntilExpired") => "write `spec.template.spec.expireAfter`, such as `720h`",
        (_, "ttlSecondsAfterEmpty" | "consolidation") => {
            "write `spec.disruption` with `consolidationPolicy` and `consolidateAfter`"
        }
        (_, "providerRef") => "write `spec.template.spec.nodeClassRef` with `group`, `kind` and `name`",
        (_, "kubeletConfiguration") => "write `spec.kubelet` of the EC2NodeClass",
        (_, "provider") => "write an EC2NodeClass, and refer to it with `nodeClassRef`",
        (_, "subnetSelector") => "write `subnetSelectorTerms`, a list with `tags` or `id` in each item",
        (_, "securityGroupSelector") => {
            "write `securityGroupSelectorTerms`, a list with `tags`, `id` or `name` in each item"
        }
        (_, "amiSelector") => {
            "write `amiSelectorTerms`, a list with `alias`, `tags`, `id` or `name` in each item"
        }
        (Some("resources"), _) if in_limits() => "write the amounts directly below `spec.limits`",
        (Some("taints" | "startupTaints"), "operator") => {
            "remove `operator`: a taint has a key, a value and an effect; only a toleration has an operator"
        }
        (Some("budgets"), "crontab") => "write `schedule` together with `duration`",
        _ => return None,
    })
}

/// Help with the only path that has a field of this name: in the same kind, or else in another kind.
fn elsewhere(name: &str, root: Option<&'static KindSchema>) -> Option<String> {
    let own = root?;
    let mut found = Vec::new();
    let mut kind = String::new();
    collect_paths(&own.spec.schema, name, "spec", &mut found);
    for other in KIND_SCHEMAS {
        let of_users = !matches!(other.kind.name, "NodeOverlay" | "NodeClaim");
        if found.is_empty() && of_users && !core::ptr::eq(other, own) {
            collect_paths(&other.spec.schema, name, "spec", &mut found);
            kind = format!(" of the {}", other.kind.name);
        }
    }
    match found.as_slice() {
        [path] => Some(format!("move it to `{path}`{kind}")),
        _ => None,
    }
}

/// Collects the paths of all fields with a name.
fn collect_paths(schema: &Schema, name: &str, path: &str, found: &mut Vec<String>) {
    match schema.shape {
        SchemaType::Object(fields) => {
            for field in fields {
                let path = format!("{path}.{}", field.name);
                collect_paths(&field.schema, name, &path, found);
                // A field may have one schema for each of several releases.
                if field.name == name && !found.contains(&path) {
                    found.push(path);
                }
            }
        }
        SchemaType::List(items) => collect_paths(items, name, &format!("{path}[]"), found),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with};
    use rule::settings::{Settings, Target};

    #[test]
    fn names_the_right_field_or_path() {
        let text = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a, lables: {}}
spec:
  disruption: {consolidateAfter: 0s, expireAfter: 1h}
  ttlSecondsUntilExpired: 10
  template:
    spec:
      nodeClassRef: {apiVersion: karpenter.k8s.aws/v1, group: g, kind: k, name: a}
      kubelet: {maxPods: 10}
      requirements: [{key: a, operator: In, value: [b]}]
";
        insta::assert_snapshot!(findings(&super::RULE, text), @r#"
          3 | metadata: {name: a, lables: {}}
            |                     ^^^^^^
        error NodePool/a metadata.lables [all]
          `metadata` has no field `lables`; `kubectl apply` refuses the NodePool
          help: write `labels`
          unsafe fix: write `labels`: "labels"
          5 |   disruption: {consolidateAfter: 0s, expireAfter: 1h}
            |                                      ^^^^^^^^^^^
        error NodePool/a spec.disruption.expireAfter [all]
          `disruption` has no field `expireAfter`; `kubectl apply` refuses the NodePool
          help: move it to `spec.template.spec.expireAfter`
          6 |   ttlSecondsUntilExpired: 10
            |   ^^^^^^^^^^^^^^^^^^^^^^
        error NodePool/a spec.ttlSecondsUntilExpired [all]
          `spec` has no field `ttlSecondsUntilExpired`; `kubectl apply` refuses the NodePool
          help: write `spec.template.spec.expireAfter`, such as `720h`
          9 |       nodeClassRef: {apiVersion: karpenter.k8s.aws/v1, group: g, kind: k, name: a}
            |                      ^^^^^^^^^^
        error NodePool/a spec.template.spec.nodeClassRef.apiVersion [all]
          `nodeClassRef` has no field `apiVersion`; `kubectl apply` refuses the NodePool
          help: write `group: karpenter.k8s.aws`, without a version
         10 |       kubelet: {maxPods: 10}
            |       ^^^^^^^
        error NodePool/a spec.template.spec.kubelet [all]
          `spec` has no field `kubelet`; `kubectl apply` refuses the NodePool
          help: move it to `spec.kubelet` of the EC2NodeClass
         11 |       requirements: [{key: a, operator: In, value: [b]}]
            |                                             ^^^^^
        error NodePool/a spec.template.spec.requirements[0].value [all]
          an item of `requirements` has no field `value`; `kubectl apply` refuses the NodePool
          help: write `values`
          unsafe fix: write `values`: "values"
        "#);
    }

    #[test]
    fn fields_of_v1beta1_have_their_help_among_many_unknown_fields() {
        let many: Vec<_> = (0..200).map(|number| format!("  zz{number}: 1")).collect();
        let text = format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
{}
  ttlSecondsUntilExpired: 1
",
            many.join("\n")
        );
        assert!(findings(&super::RULE, &text).contains("write `spec.template.spec.expireAfter`"));
    }

    #[test]
    fn suggests_no_limits_in_a_node_claim() {
        let text = r"apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: a}
spec:
  resources: {qqq: 1}
";
        assert!(findings(&super::RULE, text).contains("help: remove `qqq`\n"));
    }

    #[test]
    fn placeholder_in_the_key_is_an_info_and_in_the_value_an_error() {
        let pool = |field: &str| {
            let spec = "nodeClassRef: {group: g, kind: k, name: a}, requirements: []";
            let text = format!(
                r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec: {{template: {{spec: {{{spec}}}}}, {field}}}
"
            );
            findings(&super::RULE, &text)
        };
        assert!(pool("'${FIELD}': 1").contains("info NodePool/a"));
        assert!(pool("bogus: '${VALUE}'").contains("error NodePool/a"));
    }

    #[test]
    fn names_the_releases_that_have_the_field() {
        let range = Settings { karpenter: Target::parse("1.0..1.14").unwrap(), ..Settings::default() };
        let text = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  replicas: 1
  template:
    spec:
      nodeClassRef: {group: g, kind: k, name: a}
      requirements: []
";
        insta::assert_snapshot!(findings_with(&super::RULE, text, &range), @"
          5 |   replicas: 1
            |   ^^^^^^^^
        error NodePool/a spec.replicas [until 1.7]
          `replicas` exists in Karpenter only since 1.8; `kubectl apply` refuses the NodePool (until 1.7)
          help: remove `replicas`, or use a release that has it
        ");
    }

    #[test]
    fn names_what_replaces_a_field_of_an_older_version() {
        let pool = |fields: &str| {
            format!(
                r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec: {{{fields}}}
"
            )
        };
        let class = |fields: &str| {
            format!(
                r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec: {{{fields}}}
"
            )
        };
        for (text, help) in [
            (pool("ttlSecondsAfterEmpty: 30"), "`consolidationPolicy` and `consolidateAfter`"),
            (pool("consolidation: {enabled: true}"), "`consolidationPolicy` and `consolidateAfter`"),
            (pool("providerRef: {name: a}"), "write `spec.template.spec.nodeClassRef`"),
            (pool("kubeletConfiguration: {maxPods: 10}"), "write `spec.kubelet` of the EC2NodeClass"),
            (pool("provider: {instanceProfile: a}"), "write an EC2NodeClass"),
            (class("subnetSelector: {a: b}"), "write `subnetSelectorTerms`, a list"),
            (class("securityGroupSelector: {a: b}"), "write `securityGroupSelectorTerms`, a list"),
            (class("amiSelector: {a: b}"), "write `amiSelectorTerms`, a list"),
            (
                pool("template: {spec: {taints: [{key: a, operator: Exists, effect: NoSchedule}]}}"),
                "a taint has a key, a value and an effect",
            ),
            (
                pool("disruption: {budgets: [{crontab: '@daily'}]}"),
                "write `schedule` together with `duration`",
            ),
            (pool("limits: {resources: {cpu: 100}}"), "write the amounts directly below `spec.limits`"),
            (
                class("amiSelectorTerms: [{name: a, owners: [amazon]}]"),
                "the field with the nearest name is `owner`, and its value is a string",
            ),
            (class("alias: al2023@latest"), "move it to `spec.amiSelectorTerms[].alias`"),
        ] {
            assert!(findings(&super::RULE, &text).contains(help), "{text}");
        }
    }
}
