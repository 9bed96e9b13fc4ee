use karpenter::api::FieldSchema;
use karpenter::release::Releases;
use objects::object::Object;
use objects::validation::What;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, Runs};

rule! {
    /// ## What it does
    ///
    /// Checks that a Karpenter object has all required fields.
    ///
    /// ## Why it is bad
    ///
    /// The API server refuses the whole object, so `kubectl apply` changes nothing in the cluster. An Argo CD or Flux
    /// application that contains the object stays out of sync.
    ///
    /// Manifests that are only half migrated from v1beta1 lack `nodeClassRef.group`, which replaces `apiVersion`.
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
    ///       nodeClassRef: {kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
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
    /// ```
    ///
    /// ## References
    ///
    /// - pkg/apis/crds of aws/karpenter-provider-aws at the tags v1.0.0 to v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::None,
        supersedes: &["api-rule"],
        summary: "a required field is missing",
        runs: Runs::InAdmission,
        on: super::KARPENTER,
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    super::report(object, context, findings, |refusal| match refusal.what {
        What::Required(field) => Some(explain(refusal.place.clone(), field, object)),
        _ => None,
    });
}

/// Reports a required field that is absent or null.
fn explain<'d>(place: Place<'d>, field: &'static FieldSchema, object: Object<'d>) -> Finding<'d> {
    let path = place.path(object.root());
    let finding = Finding::new(&RULE, place, format!("`{path}` is missing")).help(help(&path, field));
    // Without terms there is no alias either, and the same line cures both.
    let spec = object.at(&["spec"]).filter(|_| path == "spec.amiSelectorTerms");
    spec.into_iter().fold(finding, Finding::explains)
}

/// Help for fields that need more than the name of their type, by the end of their path.
const HELP: [(&str, &str); 5] = [
    (
        "nodeClassRef.group",
        "write `group: karpenter.k8s.aws`, without a version, instead of v1beta1's `apiVersion`",
    ),
    ("nodeClassRef.kind", "write `kind: EC2NodeClass`"),
    ("amiSelectorTerms", "write `amiSelectorTerms: [{alias: al2023@latest}]`, or better, pin an AMI version"),
    ("consolidateAfter", "write `consolidateAfter`, such as `1m`, or remove `disruption` completely"),
    ("requirements", "write `requirements: []`, or the requirements of the nodes"),
];

fn help(path: &str, field: &FieldSchema) -> String {
    match HELP.iter().find(|(end, _)| path.ends_with(end)) {
        Some((_, help)) => (*help).to_owned(),
        None => format!("write `{}`, {}", field.name, field.schema.shape.name()),
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};
    use cluster::Cluster;
    use manifest::File;
    use objects::embedded::READ_OPTIONS;
    use rule::finding::Family;
    use rule::settings::Settings;

    #[test]
    fn reports_absent_and_null_fields() {
        let text = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  disruption: {consolidationPolicy: WhenEmpty}
  template:
    spec:
      nodeClassRef: {kind: EC2NodeClass, name: a}
      requirements: null
";
        insta::assert_snapshot!(findings(&super::RULE, text), @"
          8 |       nodeClassRef: {kind: EC2NodeClass, name: a}
            |       ^^^^^^^^^^^^
        error NodePool/a spec.template.spec.nodeClassRef.group [all]
          `spec.template.spec.nodeClassRef.group` is missing; the API server refuses the NodePool
          help: write `group: karpenter.k8s.aws`, without a version, instead of v1beta1's `apiVersion`
          9 |       requirements: null
            |       ^^^^^^^^^^^^
        error NodePool/a spec.template.spec.requirements [all]
          `spec.template.spec.requirements` is missing; the API server refuses the NodePool
          help: write `requirements: []`, or the requirements of the nodes
        ");
    }

    #[test]
    fn missing_ami_selector_terms_explain_why_no_alias_gives_the_family() {
        let rules = |spec: &str| {
            let text = format!(
                r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec: {{{spec}}}
"
            );
            let files = vec![File::read("-", text, READ_OPTIONS)];
            let settings = Settings::default();
            let report = crate::check(&[Cluster { name: String::new(), files }], &settings);
            let of_server = report.findings.into_iter().filter(|finding| finding.family == Family::ApiServer);
            of_server.map(|finding| (finding.rule, finding.path)).collect::<Vec<_>>()
        };
        let (ami, subnet, group) = (
            "amiSelectorTerms: [{id: ami-0123}]",
            "subnetSelectorTerms: [{id: subnet-0123}]",
            "securityGroupSelectorTerms: [{id: sg-0123}]",
        );
        let required = |field: &str| ("api-required", format!("spec.{field}"));
        let family = ("api-rule", "spec".to_owned());
        assert_eq!(rules(&format!("role: r, {subnet}, {group}")), [required("amiSelectorTerms")]);
        assert_eq!(rules(&format!("role: r, {ami}, {group}")), [required("subnetSelectorTerms"), family]);
    }

    #[test]
    fn accepts_missing_fields_that_are_optional_or_have_a_default() {
        let text = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  disruption: null
  template:
    spec:
      nodeClassRef: {group: g, kind: k, name: a}
      requirements: []
      expireAfter: null
";
        silent(&super::RULE, text);
        silent(
            &super::RULE,
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
",
        );
    }
}
