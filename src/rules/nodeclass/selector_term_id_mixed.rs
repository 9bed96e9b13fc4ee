use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use lint::fix::Fix;
use manifest::edit::Change;
use karpenter::release::Releases;
use manifest::tree::Node;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Checks that a term which selects by `id` has no other field, and a term which selects a security group by `name`
    /// no tags.
    ///
    /// ## Why it is bad
    ///
    /// The API server refuses a list of subnets, security groups or capacity reservations only where *every* term is
    /// mixed: its rule says `!self.all(…)` where it should say `!self.exists(…)`, in all releases. Where one term is
    /// mixed and another is not, the list is accepted, and the tags of the mixed term are ignored: what has the id is
    /// selected, whatever tags it carries.
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
    /// Safe: what is removed has no effect.
    ///
    /// ## References
    ///
    /// - `pkg/apis/crds/karpenter.k8s.aws_ec2nodeclasses.yaml` at v1.0.0 to v1.14.1
    /// - `getFilterSets` in pkg/providers/securitygroup/securitygroup.go and pkg/providers/subnet/subnet.go at v1.14.1
    RULE {
        name: "selector-term-id-mixed",
        family: Family::Nodeclass,
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "a selector term mixes an id with tags, which are ignored",
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// A list of terms, the field that wins there, and the fields that are ignored beside it.
struct Exclusive {
    list: &'static str,
    winner: &'static str,
    ignored: &'static [&'static str],
    /// One mixed term is enough for the API server to refuse the list.
    refused: bool,
}

const EXCLUSIVES: [Exclusive; 5] = [
    Exclusive { list: "subnetSelectorTerms", winner: "id", ignored: &["tags"], refused: false },
    Exclusive { list: "securityGroupSelectorTerms", winner: "id", ignored: &["tags", "name"], refused: false },
    Exclusive { list: "securityGroupSelectorTerms", winner: "name", ignored: &["tags"], refused: false },
    Exclusive {
        list: "capacityReservationSelectorTerms",
        winner: "id",
        ignored: &["tags", "ownerID", "instanceMatchCriteria"],
        refused: false,
    },
    Exclusive { list: "amiSelectorTerms", winner: "id", ignored: &["tags", "name", "owner", "alias"], refused: true },
];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    for exclusive in &EXCLUSIVES {
        let Some(list) = object.at(&["spec", exclusive.list]) else { continue };
        let mut mixed = Vec::new();
        for term in list.items() {
            if let Some(fields) = ignored(term, exclusive) {
                mixed.push(fields);
            }
        }
        if mixed.is_empty() {
            continue;
        }
        if exclusive.refused || mixed.len() == list.len() {
            drafts.push(refused(list, exclusive, &mixed));
            continue;
        }
        for fields in mixed {
            let Some(first) = fields.first().copied() else { continue };
            let message = format!(
                "the term has `{}`, which alone counts: `{}` is ignored, and the API server does not say so while another term is right",
                exclusive.winner,
                first.key()
            );
            let draft = Draft::new(&RULE, Place::key(first), message);
            let changes = fields.iter().map(|field| Change::Remove(*field)).collect();
            let draft = draft.help(help(exclusive));
            drafts.push(draft.fix(Fix::safe("remove what is ignored", changes)));
        }
    }
}

/// The fields of a term that are ignored.
fn ignored<'d>(term: Node<'d>, exclusive: &Exclusive) -> Option<Vec<Node<'d>>> {
    let wins = term.str_at(&[exclusive.winner]).is_some_and(|text| !text.is_empty());
    // A term with an id is reported once.
    if !wins || (exclusive.winner == "name" && term.get("id").is_some()) {
        return None;
    }
    let mut fields = Vec::new();
    for key in exclusive.ignored {
        if let Some(field) = term.get(key) {
            fields.push(field);
        }
    }
    (!fields.is_empty()).then_some(fields)
}

/// The whole list is refused, at the path that the API server gives.
fn refused<'d>(list: Node<'d>, exclusive: &Exclusive, mixed: &[Vec<Node<'d>>]) -> Draft<'d> {
    let which = if exclusive.refused { "a term" } else { "every term" };
    let message = format_args!(
        "{which} of `{}` has `{}` and another field, and the API server refuses the list",
        exclusive.list, exclusive.winner
    );
    let draft = Draft::at(&RULE, list, message).caught_by(CaughtBy::ApiServer).help(help(exclusive));
    let fields = mixed.iter().filter_map(|fields| fields.first());
    fields.fold(draft, |draft, field| draft.related(Place::key(*field), "this field is too many"))
}

fn help(exclusive: &Exclusive) -> String {
    format!("keep `{0}` alone, or remove `{0}`; write a term of its own for what else is meant", exclusive.winner)
}

#[cfg(test)]
mod tests {
    use crate::check;
    use lint::check::Cluster;
    use manifest::{File, limits::Limits};
    use lint::settings::{Settings, Target};
    use crate::rules::testing::{findings, fixed, silent};

    /// The rules that say that the API server refuses a text, whichever they are.
    fn refusals(text: &str, release: &str) -> Vec<String> {
        let files = vec![File::read("-", text, &Limits::DEFAULT)];
        let settings = Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() };
        let findings = check(&[Cluster { name: String::new(), files }], &settings).findings;
        let refusals = findings.iter().filter(|finding| finding.caught_by.name() == "api-server");
        refusals.map(|finding| format!("{} {}", finding.rule, finding.path)).filter(|refusal| refusal.contains("Terms")).collect()
    }

    #[test]
    fn a_refusal_is_told_once() {
        let mixed = class("amiSelectorTerms: [{id: ami-0123456789abcdef0, name: a}, {owner: self}]\n  subnetSelectorTerms: [{id: subnet-1234abcd, tags: {a: b}}]\n  securityGroupSelectorTerms: [{id: sg-1234abcd, name: b}]");
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
        let of_amis = |release: &str| {
            refusals(&later, release).into_iter().filter(|refusal| refusal.contains("ami")).collect::<Vec<_>>()
        };
        assert_eq!(of_amis("1.0..1.3"), ["api-unknown-field spec.amiSelectorTerms[0].ssmParameter"]);
        assert!(of_amis("1.4").is_empty());
    }

    fn class(spec: &str) -> String {
        format!("apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: a}}\nspec:\n  {spec}\n")
    }

    #[test]
    fn a_mixed_term_beside_a_right_one_slips_through() {
        let text = class("securityGroupSelectorTerms:\n  - id: sg-1\n    name: nodes\n    tags: {a: b}\n  - tags: {karpenter.sh/discovery: prod}");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          8 |     tags: {a: b}
            |     ^^^^
        error EC2NodeClass/a spec.securityGroupSelectorTerms[0].tags [1.0-1.14]
          the term has `id`, which alone counts: `tags` is ignored, and the API server does not say so while another term is right
          help: keep `id` alone, or remove `id`; write a term of its own for what else is meant
          fix: remove what is ignored: "", ""
        "#);
        assert_eq!(
            fixed(&super::RULE, &text),
            class("securityGroupSelectorTerms:\n  - id: sg-1\n  - tags: {karpenter.sh/discovery: prod}")
        );
    }

    #[test]
    fn the_name_of_a_security_group_wins_over_tags() {
        let text = class("securityGroupSelectorTerms: [{name: nodes, tags: {a: b}}, {id: sg-1}]");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          5 |   securityGroupSelectorTerms: [{name: nodes, tags: {a: b}}, {id: sg-1}]
            |                                              ^^^^
        error EC2NodeClass/a spec.securityGroupSelectorTerms[0].tags [1.0-1.14]
          the term has `name`, which alone counts: `tags` is ignored, and the API server does not say so while another term is right
          help: keep `name` alone, or remove `name`; write a term of its own for what else is meant
          fix: remove what is ignored: ""
        "#);
    }

    #[test]
    fn a_list_of_mixed_terms_is_refused() {
        insta::assert_snapshot!(findings(&super::RULE, &class("subnetSelectorTerms: [{id: subnet-1, tags: {a: b}}]")), @"
          5 |   subnetSelectorTerms: [{id: subnet-1, tags: {a: b}}]
            |   ^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.subnetSelectorTerms [1.0-1.14]
          every term of `subnetSelectorTerms` has `id` and another field, and the API server refuses the list
          help: keep `id` alone, or remove `id`; write a term of its own for what else is meant
          see line 5 spec.subnetSelectorTerms[0].tags: this field is too many
        ");
        assert!(findings(&super::RULE, &class("amiSelectorTerms: [{id: ami-1, owner: self}, {id: ami-2}]")).contains("a term of `amiSelectorTerms`"));
    }

    #[test]
    fn terms_with_one_field_are_left_alone() {
        silent(&super::RULE, &class("subnetSelectorTerms: [{id: subnet-1}, {tags: {a: b, c: d}}]"));
        silent(&super::RULE, &class("amiSelectorTerms: [{name: a, owner: self, tags: {a: b}}]"));
        silent(&super::RULE, &class("capacityReservationSelectorTerms: [{ownerID: '1', tags: {a: b}, instanceMatchCriteria: open}]"));
    }
}
