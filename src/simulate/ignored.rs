//! Sentences about pods that Karpenter ignores.

use karpenter::operator::Operator;
use scheduling::simulation::{FieldProblem, IgnoredField};
use values::spelling::nearest;

/// The operators of `matchExpressions`.
const OPERATORS: [Operator; 6] =
    [Operator::In, Operator::NotIn, Operator::Exists, Operator::DoesNotExist, Operator::Gt, Operator::Lt];

/// The problem of a field in one sentence.
pub fn problem(field: &IgnoredField<'_>) -> String {
    match &field.problem {
        FieldProblem::RestrictedLabel(key) => {
            format!("Karpenter does not launch nodes for pods that select `{key}`")
        }
        FieldProblem::UnknownValue { key, values, .. } => {
            format!("`{key}` is never {}", listed(values))
        }
        FieldProblem::NoValue(key) => format!("the operator `In` of `{key}` has no value"),
        FieldProblem::NotANumber(key) => format!("the operator of `{key}` needs one whole number"),
        FieldProblem::UnknownOperator(operator) => format!("`{operator}` is not an operator"),
        FieldProblem::MatchFields => {
            "Karpenter does not know the fields of a node that does not exist yet".to_owned()
        }
        FieldProblem::ExcludesKarpenter => {
            "the pod requires a node without `karpenter.sh/nodepool`, which nodes of Karpenter have"
                .to_owned()
        }
        FieldProblem::Gated => "scheduling gates hold the pod back".to_owned(),
    }
}

/// The change with which Karpenter looks at the pod.
pub fn remedy(field: &IgnoredField<'_>) -> String {
    match &field.problem {
        FieldProblem::RestrictedLabel(_) => {
            "select a well-known label, such as `topology.kubernetes.io/zone`, or a label of your NodePool"
                .to_owned()
        }
        FieldProblem::UnknownValue { values, known, .. } => {
            let meant = values.iter().find_map(|value| nearest(value, known.iter().copied()));
            match meant {
                Some(meant) => format!("write `{meant}`"),
                None => format!("write {}", listed(known)),
            }
        }
        FieldProblem::NoValue(_) => "write a value, or use the operator `Exists`".to_owned(),
        FieldProblem::NotANumber(_) => "write one whole number, such as `values: [\"4\"]`".to_owned(),
        FieldProblem::UnknownOperator(operator) => {
            let names: Vec<String> = OPERATORS.iter().map(|known| format!("{known:?}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            match nearest(operator, names.iter().copied()) {
                Some(meant) => format!("write `{meant}`"),
                None => format!("write {}", listed(&names)),
            }
        }
        FieldProblem::MatchFields => {
            "select labels with `matchExpressions` instead of `matchFields`".to_owned()
        }
        FieldProblem::ExcludesKarpenter => {
            "remove the requirement, or add a node that Karpenter does not manage".to_owned()
        }
        FieldProblem::Gated => "remove the gates once the pod may start".to_owned(),
    }
}

/// Names as in `a`, `b` or `c`.
fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
