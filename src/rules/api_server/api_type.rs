use karpenter::api::SchemaType;
use karpenter::release::Releases;
use manifest::edit::Change;
use manifest::tree::{Node, Style, Value};
use objects::object::Object;
use objects::validation::What;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, Runs};
use values::spelling::add_quoted;

rule! {
    /// ## What it does
    ///
    /// Checks that every field of a Karpenter object has a value of the type that the API server expects: a string, a
    /// whole number, `true` or `false`, a list or an object.
    ///
    /// ## Why it is bad
    ///
    /// The API server refuses the whole object, so `kubectl apply` changes nothing in the cluster. An Argo CD or Flux
    /// application that contains the object stays out of sync.
    ///
    /// The most common cause is a tag or an amount without quotes, which YAML turns into a number or a boolean.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   tags:
    ///     cost-center: 1234
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
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   tags:
    ///     cost-center: "1234"
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe where the field accepts any string, as in tags: the value is put in quotes as it is written. Where the
    /// string must be one of a few values or have a certain format, the quotes are unsafe.
    ///
    /// ## References
    ///
    /// - pkg/apis/crds of aws/karpenter-provider-aws at the tags v1.0.0 to v1.14.1
    /// - Order of the server's checks: k8s.io/apiextensions-apiserver pkg/registry/customresource/strategy.go
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "a field has a value of the wrong type",
        runs: Runs::InAdmission,
        on: super::KARPENTER,
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    super::report(object, context, findings, |refusal| match refusal.what {
        What::Type(wanted) => Some(explain(refusal.place.clone(), wanted)),
        What::ScaleType => Some(explain_scale(refusal.place.clone())),
        _ => None,
    });
}

/// Reports a value of the wrong type.
fn explain(place: Place<'_>, wanted: SchemaType) -> Finding<'_> {
    let node = place.node();
    let found = match node.value() {
        Value::String(_) => format!("the string {}", super::shown(node)),
        Value::Bool(_) => format!("the boolean {}", super::shown(node)),
        _ => super::shown(node),
    };
    let name = super::name_of(node);
    let part = if node.parent().is_some_and(Node::is_sequence) { "an item of " } else { "" };
    let message = format!("{part}`{name}` is {found} but must be {}", wanted.name());
    let finding = Finding::new(&RULE, place, message);
    match (wanted, node.value()) {
        (SchemaType::Text | SchemaType::IntOrText, Value::Int(_) | Value::Float(_) | Value::Bool(_)) => {
            let spelling = node.spelling().to_owned();
            if let Some(help) = with_unit(name, &spelling) {
                return finding.help(help);
            }
            let finding = finding.help(super::in_quotes(node));
            if node.style() == Style::Alias || spelling.is_empty() {
                return finding;
            }
            // These maps accept any string.
            let accepts_any =
                node.parent().is_some_and(|parent| matches!(parent.key(), "tags" | "labels" | "annotations"));
            let (title, change) = ("put the value in quotes", Change::Set(node, spelling));
            if accepts_any { finding.safe_fix(title, change) } else { finding.unsafe_fix(title, change) }
        }
        (SchemaType::Integer | SchemaType::Boolean, Value::String(text)) => finding.help(format!(
            "write {} without quotes, such as `{}`",
            wanted.name(),
            example(wanted, text)
        )),
        (SchemaType::Integer, Value::Float(_)) => finding.help("write a whole number that fits in 64 bits"),
        (SchemaType::List(_), Value::Mapping | Value::String(_)) => {
            finding.help("write a list: put `- ` before each item")
        }
        (SchemaType::List(_), Value::Int(_) | Value::Float(_) | Value::Bool(_)) if name == "values" => {
            finding.help(format!("write a list of strings: `[\"{}\"]`", node.spelling()))
        }
        (SchemaType::IntOrText, Value::Mapping) if name == "resources" => {
            finding.help("write the amounts directly below `spec.limits`, as in `limits: {cpu: 100}`")
        }
        (SchemaType::Object(fields), _) => {
            let mut names = String::new();
            for field in fields {
                add_quoted(&mut names, field.name);
            }
            finding.help(format!("write an object with the fields {names}"))
        }
        (SchemaType::Map(_), _) => finding.help("write an object with keys and values"),
        _ => finding.help(format!("write {}", wanted.name())),
    }
}

/// Help for a bare number in a field whose text needs a unit: quotes alone would not help.
fn with_unit(name: &str, number: &str) -> Option<String> {
    match name {
        "volumeSize" => super::volume_size(number).map(|size| format!("write `{size}`")),
        "expireAfter" | "terminationGracePeriod" | "duration" | "consolidateAfter" => {
            super::time_with_unit(name, number)
        }
        _ => None,
    }
}

fn example(wanted: SchemaType, text: &str) -> &str {
    let fits = match wanted {
        SchemaType::Integer => text.parse::<i64>().is_ok(),
        _ => matches!(text, "true" | "false"),
    };
    match wanted {
        _ if fits => text,
        SchemaType::Integer => "10",
        _ => "true",
    }
}

/// Reports a `spec.replicas` that the server cannot read for the scale subresource.
fn explain_scale(place: Place<'_>) -> Finding<'_> {
    let name = place.node().key();
    if name != "replicas" {
        let message = format!(
            "`{name}` is {}, so the scale cannot be read from `replicas`",
            super::shown(place.node())
        );
        return Finding::new(&RULE, place, message).help(format!("write an object for `{name}`"));
    }
    super::invalid_value(&RULE, place, "not a valid number of replicas")
        .help("write a whole number without quotes and without a fraction, such as `3`")
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, fixed, silent};

    const CLASS: &str = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  role: r
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{id: subnet-1}]
  securityGroupSelectorTerms: [{id: sg-1}]
";

    #[test]
    fn quotes_tags_as_they_are_written() {
        let text = format!("{CLASS}  tags: {{a: 0123, b: yes, c: 1.10, d: 'e'}}\n");
        assert_eq!(
            fixed(&super::RULE, &text),
            format!("{CLASS}  tags: {{a: \"0123\", b: \"yes\", c: \"1.10\", d: 'e'}}\n")
        );
        assert!(findings(&super::RULE, &text).contains("`b` is the boolean `true` but must be a string"));
        let with_alias = format!("{CLASS}  detailedMonitoring: &on true\n  tags: {{a: *on}}\n");
        let found = findings(&super::RULE, &with_alias);
        assert!(found.contains("help: write the value in quotes instead of the alias `*on`\n"), "{found}");
        assert!(!found.contains("fix:"), "{found}");
    }

    #[test]
    fn names_the_field_and_the_expected_type() {
        let text = format!(
            r"{CLASS}  detailedMonitoring: 'true'
  kubelet: {{maxPods: '110', clusterDNS: 10.0.0.10}}
  cpuOptions: []
"
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          9 |   detailedMonitoring: 'true'
            |                       ^^^^^^
        error EC2NodeClass/a spec.detailedMonitoring [all]
          `detailedMonitoring` is the string `true` but must be `true` or `false`; the API server refuses the EC2NodeClass
          help: write `true` or `false` without quotes, such as `true`
         11 |   cpuOptions: []
            |   ^^^^^^^^^^
        error EC2NodeClass/a spec.cpuOptions [since 1.13]
          `cpuOptions` is a list but must be an object; the API server refuses the EC2NodeClass (since 1.13)
          help: write an object with the fields `nestedVirtualization`
        ");
    }

    #[test]
    fn names_the_unit_that_a_number_lacks() {
        let pool = |field: &str| {
            format!(
                r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef: {{group: g, kind: k, name: a}}
      {field}
"
            )
        };
        let expiry = findings(&super::RULE, &pool("requirements: []\n      expireAfter: 720"));
        assert!(
            expiry.contains("help: write the unit, such as `720h` for hours or `720m` for minutes"),
            "{expiry}"
        );
        let never = findings(&super::RULE, &pool("requirements: []\n      expireAfter: 0"));
        assert!(never.contains("help: write `Never` for nodes that do not expire"), "{never}");
        let delay = findings(&super::RULE, &pool("requirements: []\n  disruption: {consolidateAfter: 30}"));
        assert!(delay.contains("such as `30s` for seconds"), "{delay}");
        let values = findings(&super::RULE, &pool("requirements: [{key: a, operator: Gt, values: 4}]"));
        assert!(values.contains("help: write a list of strings: `[\"4\"]`"), "{values}");
        let size =
            format!("{CLASS}  blockDeviceMappings: [{{deviceName: /dev/xvda, ebs: {{volumeSize: 100}}}}]\n");
        assert!(findings(&super::RULE, &size).contains("help: write `100Gi`"));
        let limits = pool("requirements: []\n  limits: {resources: {cpu: 100}}");
        assert!(findings(&super::RULE, &limits).contains("directly below `spec.limits`"));
    }

    #[test]
    fn help_matches_the_expected_and_the_given_type() {
        let pool = |fields: &str| {
            format!(
                r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec: {{{fields}, template: {{spec: {{nodeClassRef: {{group: g, kind: k, name: a}}, requirements: []}}}}}}
"
            )
        };
        let class = |field: &str| format!("{CLASS}  {field}\n");
        for (text, help) in [
            (pool("weight: '50'"), "write a whole number without quotes, such as `50`"),
            (pool("weight: heavy"), "write a whole number without quotes, such as `10`"),
            (class("detailedMonitoring: 'false'"), "without quotes, such as `false`"),
            (class("detailedMonitoring: 'on'"), "without quotes, such as `true`"),
            (pool("weight: 1.5"), "write a whole number that fits in 64 bits"),
            (pool("disruption: {consolidateAfter: 1m, budgets: {nodes: 10%}}"), "put `- ` before each item"),
            (pool("disruption: {consolidateAfter: 1m, budgets: 10%}"), "put `- ` before each item"),
            (pool("disruption: {consolidateAfter: 1m, budgets: 10}"), "help: write a list\n"),
            (pool("limits: {cpu: {max: 10}}"), "help: write a whole number or a string\n"),
            (class("tags: team"), "write an object with keys and values"),
            (pool("replicas: three"), "write a whole number without quotes and without a fraction"),
        ] {
            let found = findings(&super::RULE, &text);
            assert!(found.contains(help), "{text}\n{found}");
        }
        let without_spec = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec: none
";
        let found = findings(&super::RULE, without_spec);
        assert!(found.contains("`spec` is `none`, so the scale cannot be read from `replicas`"), "{found}");
    }

    #[test]
    fn reports_metadata_without_a_path() {
        let text = CLASS.replace("{name: a}", "{name: a, labels: {team: 7}, annotations: {note: null}}");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          3 | metadata: {name: a, labels: {team: 7}, annotations: {note: null}}
            |                                    ^
        error EC2NodeClass/a  [all]
          `team` is the number 7 but must be a string; the API server refuses the EC2NodeClass
          help: put the value in quotes: `"7"`
          fix: put the value in quotes: "\"7\""
        "#);
    }

    #[test]
    fn accepts_whole_numbers_with_a_zero_fraction() {
        silent(&super::RULE, &format!("{CLASS}  kubelet: {{maxPods: 110.0}}\n  userData: null\n"));
    }
}
