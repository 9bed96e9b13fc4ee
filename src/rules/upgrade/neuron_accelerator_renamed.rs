use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::release::Releases;
use manifest::tree::{Node, items_of};
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::On;
use scheduling::pod::{Expression, Origin, Pod};

rule! {
    /// ## What it does
    ///
    /// Looks for values of `karpenter.k8s.aws/instance-accelerator-name` that name a Neuron accelerator in NodePools and pods.
    ///
    /// ## Why it is bad
    ///
    /// Up to 1.0 every Neuron accelerator is called `inferentia`. From 1.1 on there are `inferentia`, `inferentia2` and
    /// `trainium`: what asks for `inferentia` finds Inf1 alone, and no node is made on Inf2, Trn1 and Trn2. On the way down
    /// the new names find nothing.
    ///
    /// ## What is not reported
    ///
    /// `inferentia` beside one of the other names: that was written with both in mind.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.0 to 1.1
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: train
    /// spec:
    ///   nodeSelector: {karpenter.k8s.aws/instance-accelerator-name: inferentia}
    ///   containers: [{name: train, image: "example.com/train:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// Ask for the maker, which is the same in every release, and for the family where it matters:
    ///
    /// ```yaml,from=1.0 to 1.1
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: train
    /// spec:
    ///   nodeSelector:
    ///     karpenter.k8s.aws/instance-accelerator-manufacturer: aws
    ///     karpenter.k8s.aws/instance-family: trn1
    ///   containers: [{name: train, image: "example.com/train:1"}]
    /// ```
    ///
    /// ## References
    ///
    /// - Upgrade guide, 1.1.0
    /// - pkg/providers/instancetype/types.go of aws/karpenter-provider-aws at v1.0.14 (`Inferentia` for all)
    UPGRADE {
        name: "neuron-accelerator-renamed",
        family: Family::Labels,
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(1),
        summary: "the name of a Neuron accelerator means others than before",
        on: &[On::Kind(Kind::NODE_POOL), On::Workload],
        inventory: &[],
    }
}

const KEY: &str = "karpenter.k8s.aws/instance-accelerator-name";
const NEW: [&str; 2] = ["inferentia2", "trainium"];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    if object.is(Kind::NODE_POOL) {
        let template = object.at(&["spec", "template"]);
        let requirements = template.and_then(|template| template.at_path(&["spec", "requirements"]));
        for requirement in items_of(requirements) {
            if requirement.str_at(&["key"]) == Some(KEY) {
                let values = requirement.items_at(&["values"]);
                asked(&values.collect::<Vec<_>>(), drafts);
            }
        }
    }
    let Some(pod) = Pod::of(object) else { return };
    let of_key = |expression: &Expression<'_>| {
        expression.key == KEY && !matches!(expression.origin, Origin::Preferred { .. })
    };
    for expression in pod.expressions().filter(of_key) {
        asked(&expression.values().collect::<Vec<_>>(), drafts);
    }
}

/// What is said of the values of one selector.
fn asked<'d>(values: &[Node<'d>], drafts: &mut Vec<Draft<'d>>) {
    let is_new = |value: &&Node<'d>| value.as_str().is_some_and(|value| NEW.contains(&value));
    let old = values.iter().find(|value| value.as_str() == Some("inferentia"));
    let new = values.iter().find(is_new);
    match (old, new) {
        (Some(old), None) => {
            let message = "`inferentia` means Inf1 alone: Inf2, Trn1 and Trn2, which were called so too, are `inferentia2` and `trainium`";
            let help = "name every accelerator that is meant, or ask for `karpenter.k8s.aws/instance-accelerator-manufacturer` `aws`";
            drafts.push(Draft::new(&RULE, Place::value(*old), message).help(help));
        }
        (None, Some(new)) => {
            let message = format!("`{}` means nothing: every Neuron accelerator is called `inferentia`", new.as_str().unwrap_or_default());
            let help = "write `inferentia` beside it, and choose by `karpenter.k8s.aws/instance-family`";
            drafts.push(Draft::new(&RULE, Place::value(*new), message).releases(Releases::until(0)).help(help));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn pool(values: &str) -> String {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n      requirements:\n      - key: {}\n        operator: In\n        values: {values}\n",
            super::KEY
        )
    }

    fn pod(value: &str) -> String {
        format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers: []\n  nodeSelector:\n    {}: {value}\n", super::KEY)
    }

    #[test]
    fn inferentia_means_less_from_1_1_on() {
        insta::assert_snapshot!(begins(&super::RULE, "1.0", "1.1.0", &pool("[inferentia]")), @"
        from 1.1 on
         10 |         values: [inferentia]
            |                  ^^^^^^^^^^
        error NodePool/a spec.template.spec.requirements[0].values[0] [1.1-1.14]
          `inferentia` means Inf1 alone: Inf2, Trn1 and Trn2, which were called so too, are `inferentia2` and `trainium`
          help: name every accelerator that is meant, or ask for `karpenter.k8s.aws/instance-accelerator-manufacturer` `aws`
        ");
        insta::assert_snapshot!(begins(&super::RULE, "1.0", "1.14", &pod("inferentia")), @"
        from 1.1 on
          7 |     karpenter.k8s.aws/instance-accelerator-name: inferentia
            |                                                  ^^^^^^^^^^
        error Pod/a spec.nodeSelector.karpenter.k8s.aws/instance-accelerator-name [1.1-1.14]
          `inferentia` means Inf1 alone: Inf2, Trn1 and Trn2, which were called so too, are `inferentia2` and `trainium`
          help: name every accelerator that is meant, or ask for `karpenter.k8s.aws/instance-accelerator-manufacturer` `aws`
        ");
        begins_nothing(&super::RULE, "1.1.0", "1.14", &pod("inferentia"));
        begins_nothing(&super::RULE, "1.14", "1.0", &pod("inferentia"));
        begins_nothing(&super::RULE, "1.0", "1.14", &pool("[inferentia, inferentia2]"));
        begins_nothing(&super::RULE, "1.0", "1.14", &pool("[gaudi-hl-205]"));
    }

    #[test]
    fn the_new_names_mean_nothing_on_the_way_down() {
        insta::assert_snapshot!(begins(&super::RULE, "1.1", "1.0", &pod("trainium")), @"
        from 1.0 down
          7 |     karpenter.k8s.aws/instance-accelerator-name: trainium
            |                                                  ^^^^^^^^
        error Pod/a spec.nodeSelector.karpenter.k8s.aws/instance-accelerator-name [1.0]
          `trainium` means nothing: every Neuron accelerator is called `inferentia`
          help: write `inferentia` beside it, and choose by `karpenter.k8s.aws/instance-family`
        ");
        begins_nothing(&super::RULE, "1.0", "1.1", &pod("trainium"));
        begins_nothing(&super::RULE, "1.14", "1.1.0", &pod("trainium"));
    }
}
