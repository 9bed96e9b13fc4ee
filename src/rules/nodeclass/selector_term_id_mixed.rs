use karpenter::api::stored::may_be_absent;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::edit::Change;
use manifest::tree::Node;
use objects::node_class::{Ec2NodeClass, SelectorField, SelectorTerm, TermField};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::fix::Fix;
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Checks that a selector term with `id` has no other field, and that a security group term with `name` has no
    /// tags.
    ///
    /// ## Why it is bad
    ///
    /// The API server refuses a list of terms for subnets, security groups or capacity reservations only if *every*
    /// term is mixed: in all releases its rule says `!self.all(…)` instead of `!self.exists(…)`. If one term is mixed
    /// and another is not, the API server accepts the list, and Karpenter ignores the tags of the mixed term: it
    /// selects the resource with the ID, whatever its tags.
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
    ///   subnetSelectorTerms:
    ///   - id: subnet-0123456789abcdef0
    ///     tags:
    ///       zone: private
    ///   - tags:
    ///       karpenter.sh/discovery: prod
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
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
    ///   subnetSelectorTerms:
    ///   - id: subnet-0123456789abcdef0
    ///   - tags:
    ///       karpenter.sh/discovery: prod
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe: the removed fields have no effect.
    ///
    /// ## References
    ///
    /// - `pkg/apis/crds/karpenter.k8s.aws_ec2nodeclasses.yaml` at v1.0.0 to v1.14.1
    /// - `getFilterSets` in pkg/providers/securitygroup/securitygroup.go and pkg/providers/subnet/subnet.go at v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        supersedes: &["api-rule", "api-unknown-field"],
        summary: "a selector term mixes an ID with tags, which Karpenter ignores",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// A list of selector terms, the field that takes precedence in a term, and the fields that it makes Karpenter ignore.
struct Exclusive {
    list: SelectorField,
    winner: TermField,
    ignored: &'static [TermField],
    /// Whether the API server refuses the list because of a single mixed term.
    refused: bool,
}

const EXCLUSIVES: [Exclusive; 5] = [
    Exclusive {
        list: SelectorField::Subnets,
        winner: TermField::Id,
        ignored: &[TermField::Tags],
        refused: false,
    },
    Exclusive {
        list: SelectorField::SecurityGroups,
        winner: TermField::Id,
        ignored: &[TermField::Tags, TermField::Name],
        refused: false,
    },
    Exclusive {
        list: SelectorField::SecurityGroups,
        winner: TermField::Name,
        ignored: &[TermField::Tags],
        refused: false,
    },
    Exclusive {
        list: SelectorField::CapacityReservations,
        winner: TermField::Id,
        ignored: &[TermField::Tags, TermField::OwnerId, TermField::InstanceMatchCriteria],
        refused: false,
    },
    Exclusive {
        list: SelectorField::Amis,
        winner: TermField::Id,
        ignored: &[TermField::Tags, TermField::Name, TermField::Owner, TermField::Alias],
        refused: true,
    },
];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    for exclusive in &EXCLUSIVES {
        let terms = class.terms(exclusive.list);
        let Some(list) = terms.node() else { continue };
        let mut mixed = Vec::new();
        for term in terms.items() {
            if let Some(fields) = ignored(term, exclusive) {
                mixed.push(fields);
            }
        }
        if mixed.is_empty() {
            continue;
        }
        if exclusive.refused || mixed.len() == list.len() {
            findings.push(refused(list, exclusive, &mixed));
            continue;
        }
        for fields in mixed {
            let Some(first) = fields.first().copied() else { continue };
            let message = format!(
                "Karpenter selects by `{}` and ignores `{}` in this term; the API server accepts the mix because another term \
                 is not mixed",
                exclusive.winner.name(),
                first.key()
            );
            let finding = Finding::new(&RULE, Place::key(first), message);
            let changes = fields.iter().map(|field| Change::Remove(*field)).collect();
            let finding = finding.help(help(exclusive));
            findings.push(finding.fix(Fix::safe("remove the ignored fields", changes)));
        }
    }
}

/// Returns the fields of a mixed term that Karpenter ignores.
fn ignored<'d>(term: SelectorTerm<'d>, exclusive: &Exclusive) -> Option<Vec<Node<'d>>> {
    let is_certain = |field: &Node<'d>| !field.is_null() && !may_be_absent(*field);
    let wins = term.text(exclusive.winner).is_some_and(|text| !text.is_empty())
        && term.field(exclusive.winner).is_some_and(|winner| is_certain(&winner));
    // A term with `id` and `name` is reported once, for its `id`.
    if !wins || (exclusive.winner == TermField::Name && term.field(TermField::Id).is_some()) {
        return None;
    }
    let mut fields = Vec::new();
    for key in exclusive.ignored {
        fields.extend(term.field(*key).filter(is_certain));
    }
    (!fields.is_empty()).then_some(fields)
}

/// Reports a list that the API server refuses, at the path that the API server gives.
fn refused<'d>(list: Node<'d>, exclusive: &Exclusive, mixed: &[Vec<Node<'d>>]) -> Finding<'d> {
    let which = if exclusive.refused { "a term" } else { "every term" };
    let message = format!(
        "{which} of `{}` has `{}` and another field; the API server refuses the list",
        exclusive.list.name(),
        exclusive.winner.name()
    );
    let finding = Finding::at(&RULE, list, message).caught_by(CaughtBy::ApiServer).help(help(exclusive));
    let fields = mixed.iter().filter_map(|fields| fields.first());
    fields.fold(finding, |finding, field| {
        // The server refuses a field of the term, whichever it reads first.
        let term = field.parent().into_iter().flat_map(Node::members);
        let finding = term.fold(finding, |finding, (_, member)| finding.explains(member));
        finding.related(Place::key(*field), format!("cannot be combined with `{}`", exclusive.winner.name()))
    })
}

fn help(exclusive: &Exclusive) -> String {
    format!(
        "keep only `{0}`, or remove `{0}`; move the other fields to a separate term if you need them",
        exclusive.winner.name()
    )
}

#[cfg(test)]
mod tests {
    use crate::check;
    use crate::rules::testing::{findings, fixed, silent};
    use cluster::Cluster;
    use manifest::File;
    use objects::embedded::READ_OPTIONS;
    use rule::settings::{Settings, Target};

    /// Returns the findings of all rules about terms that the API server refuses.
    fn refusals(text: &str, release: &str) -> Vec<String> {
        let files = vec![File::read("-", text, READ_OPTIONS)];
        let settings = Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() };
        let findings = check(&[Cluster { name: String::new(), files }], &settings).findings;
        let refusals = findings.iter().filter(|finding| finding.caught_by.name() == "api-server");
        refusals
            .map(|finding| format!("{} {}", finding.rule, finding.path))
            .filter(|refusal| refusal.contains("Terms"))
            .collect()
    }

    #[test]
    fn reports_each_refusal_once() {
        let mixed = class(
            "amiSelectorTerms: [{id: ami-0123456789abcdef0, name: a}, {owner: self}]\n  subnetSelectorTerms: [{id: subnet-1234abcd, tags: {a: b}}]\n  securityGroupSelectorTerms: [{id: sg-1234abcd, name: b}]",
        );
        assert_eq!(
            refusals(&mixed, "1.14"),
            [
                "selector-term-id-mixed spec.amiSelectorTerms",
                "api-rule spec.amiSelectorTerms",
                "selector-term-id-mixed spec.subnetSelectorTerms",
                "selector-term-id-mixed spec.securityGroupSelectorTerms",
            ]
        );
        let later = class("amiSelectorTerms: [{ssmParameter: /a/b}]");
        let ami_refusals = |release: &str| {
            refusals(&later, release)
                .into_iter()
                .filter(|refusal| refusal.contains("ami"))
                .collect::<Vec<_>>()
        };
        assert_eq!(ami_refusals("1.0..1.3"), ["api-unknown-field spec.amiSelectorTerms[0].ssmParameter"]);
        assert!(ami_refusals("1.4").is_empty());
    }

    fn class(spec: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  {spec}
"
        )
    }

    #[test]
    fn reports_a_mixed_term_that_the_api_server_accepts() {
        let text = class(
            r"securityGroupSelectorTerms:
  - id: sg-1
    name: nodes
    tags: {a: b}
  - tags: {karpenter.sh/discovery: prod}",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          8 |     tags: {a: b}
            |     ^^^^
        error EC2NodeClass/a spec.securityGroupSelectorTerms[0].tags [all]
          Karpenter selects by `id` and ignores `tags` in this term; the API server accepts the mix because another term is not mixed
          help: keep only `id`, or remove `id`; move the other fields to a separate term if you need them
          fix: remove the ignored fields: "", ""
        "#);
        assert_eq!(
            fixed(&super::RULE, &text),
            class("securityGroupSelectorTerms:\n  - id: sg-1\n  - tags: {karpenter.sh/discovery: prod}")
        );
    }

    #[test]
    fn security_group_name_takes_precedence_over_tags() {
        let text = class("securityGroupSelectorTerms: [{name: nodes, tags: {a: b}}, {id: sg-1}]");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          5 |   securityGroupSelectorTerms: [{name: nodes, tags: {a: b}}, {id: sg-1}]
            |                                              ^^^^
        error EC2NodeClass/a spec.securityGroupSelectorTerms[0].tags [all]
          Karpenter selects by `name` and ignores `tags` in this term; the API server accepts the mix because another term is not mixed
          help: keep only `name`, or remove `name`; move the other fields to a separate term if you need them
          fix: remove the ignored fields: ""
        "#);
    }

    #[test]
    fn reports_a_list_that_the_api_server_refuses() {
        insta::assert_snapshot!(findings(&super::RULE, &class("subnetSelectorTerms: [{id: subnet-1, tags: {a: b}}]")), @"
          5 |   subnetSelectorTerms: [{id: subnet-1, tags: {a: b}}]
            |   ^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.subnetSelectorTerms [all]
          every term of `subnetSelectorTerms` has `id` and another field; the API server refuses the list
          help: keep only `id`, or remove `id`; move the other fields to a separate term if you need them
          see line 5 spec.subnetSelectorTerms[0].tags: cannot be combined with `id`
        ");
        assert!(
            findings(&super::RULE, &class("amiSelectorTerms: [{id: ami-1, owner: self}, {id: ami-2}]"))
                .contains("a term of `amiSelectorTerms`")
        );
    }

    #[test]
    fn accepts_terms_that_are_not_mixed() {
        silent(&super::RULE, &class("subnetSelectorTerms: [{id: subnet-1}, {tags: {a: b, c: d}}]"));
        silent(&super::RULE, &class("amiSelectorTerms: [{name: a, owner: self, tags: {a: b}}]"));
        silent(
            &super::RULE,
            &class(
                "capacityReservationSelectorTerms: [{ownerID: '1', tags: {a: b}, instanceMatchCriteria: open}]",
            ),
        );
    }
}
