//! Objects in folders that look like clusters.

use crate::check::check;
use crate::testing::{class, cluster, registry_of};
use karpenter::kind::Kind;
use rule::finding::{Finding, Severity};
use rule::settings::Settings;
use rule::{On, Rule};

/// Reports NodePools whose EC2NodeClasses may be in an environment.
static MAY_BE_ELSEWHERE: Rule = Rule {
    name: "may-be-elsewhere",
    severity: Severity::Info,
    on: &[On::Kind(Kind::NODE_POOL)],
    check: |object, context, findings| {
        if context.may_be_in_environment(Kind::NODE_CLASS) {
            findings.push(Finding::at(&MAY_BE_ELSEWHERE, object.root(), "may be elsewhere"));
        }
    },
    ..Rule::DEFAULTS
};

#[test]
fn object_outside_of_environments_may_belong_to_what_only_they_have() {
    const POOL: &str = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\n";
    let registry = registry_of(&MAY_BE_ELSEWHERE);
    let files = |names: &[&str], text: &str, complete_inventory: bool| {
        let mut files: Vec<_> = names.iter().map(|name| (*name, text)).collect();
        files.push(("pool.yaml", POOL));
        let settings = Settings { complete_inventory, ..Settings::default() };
        let found = check(&registry, &[cluster(&files)], &settings).findings;
        found.into_iter().map(|finding| finding.file).collect::<Vec<_>>()
    };
    let class = class("a", "x: 1");
    let environments = ["dev/a.yaml", "prod/a.yaml"];
    assert_eq!(files(&environments, &class, false), ["pool.yaml"]);
    assert!(files(&environments, &class, true).is_empty(), "the input is complete");
    assert!(files(&environments, POOL, false).is_empty(), "no environment has a class");
    assert!(files(&["a/a.yaml", "b/a.yaml"], &class, false).is_empty(), "no environments");
}
