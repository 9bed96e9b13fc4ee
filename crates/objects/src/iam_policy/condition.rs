//! Conditions of a statement, as IAM evaluates them.
//!
//! Sources: "IAM JSON policy elements: Condition operators" and "Conditions with multiple context keys or values" in the
//! IAM User Guide. The values of a key are alternatives, a negated operator excludes all of them, and a condition on a
//! missing key is false unless its operator is negated or ends with `IfExists`.

use values::placeholder::has_placeholder;

use super::pattern::{Pattern, Wildcards};
use super::policy_text::PolicyText;
use super::truth::Truth;

/// Condition of a statement: compares a key with values.
#[derive(Clone, Debug)]
pub struct IamCondition<'d> {
    /// The operator.
    pub operator: IamOperator,
    /// Key such as `aws:ResourceTag/karpenter.sh/nodepool`.
    pub key: PolicyText<'d>,
    /// The values.
    pub values: Vec<PolicyText<'d>>,
}

/// Operator of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IamOperator {
    /// The name as written, such as `StringEqualsIfExists`.
    pub name: String,
    comparison: Comparison,
    negated: bool,
    if_exists: bool,
    quantifier: Option<Quantifier>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    /// `StringEquals`.
    Exact,
    /// `StringEqualsIgnoreCase`.
    ExactIgnoringCase,
    /// `StringLike`. `ArnEquals` and `ArnLike` are the same operator.
    Like,
    /// `Null`: whether the key is missing.
    Null,
    /// Numbers, dates, Booleans, addresses.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantifier {
    ForAllValues,
    ForAnyValue,
}

/// Value of a condition key in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextValue {
    /// The request does not have the key.
    Absent,
    /// The value is known.
    Is(&'static str),
    /// The value is some name, such as a NodePool's.
    Name,
    /// The value is the name of another cluster than the policy's own.
    OtherCluster,
    /// The value satisfies every condition, such as the cluster's own region.
    Suitable,
    /// Nothing is known, not even whether the request has the key.
    Unknown,
}

impl IamOperator {
    /// Parses the name of an operator.
    pub fn parse(name: &str) -> Self {
        let (quantifier, rest) = match name.split_once(':') {
            Some(("ForAllValues", rest)) => (Some(Quantifier::ForAllValues), rest),
            Some(("ForAnyValue", rest)) => (Some(Quantifier::ForAnyValue), rest),
            _ => (None, name),
        };
        let base = rest.strip_suffix("IfExists");
        let (rest, if_exists) = (base.unwrap_or(rest), base.is_some());
        let negated = rest.contains("Not");
        let comparison = match rest {
            "StringEquals" | "StringNotEquals" => Comparison::Exact,
            "StringEqualsIgnoreCase" | "StringNotEqualsIgnoreCase" => Comparison::ExactIgnoringCase,
            "StringLike" | "StringNotLike" | "ArnEquals" | "ArnLike" | "ArnNotEquals" | "ArnNotLike" => {
                Comparison::Like
            }
            "Null" => Comparison::Null,
            _ => Comparison::Other,
        };
        Self { name: name.to_owned(), comparison, negated, if_exists, quantifier }
    }

    /// Whether the condition is true for a request without the key.
    fn without_key(&self) -> bool {
        match self.quantifier {
            Some(Quantifier::ForAllValues) => true,
            Some(Quantifier::ForAnyValue) => self.if_exists,
            None => self.if_exists || self.negated,
        }
    }

    fn pattern(&self, text: &str) -> Pattern {
        match self.comparison {
            Comparison::Like => Pattern::parse(text, Wildcards::Read),
            Comparison::ExactIgnoringCase => Pattern::parse(text, Wildcards::Literal).ignoring_case(),
            _ => Pattern::parse(text, Wildcards::Literal),
        }
    }
}

impl IamCondition<'_> {
    /// Whether the condition is true for a value of its key.
    pub fn holds(&self, value: ContextValue) -> Truth {
        match (self.operator.comparison, value) {
            (_, ContextValue::Suitable) => Truth::Yes,
            (_, ContextValue::Unknown) => Truth::Maybe,
            (Comparison::Null, _) => self.is_null(value == ContextValue::Absent),
            (_, ContextValue::Absent) => self.operator.without_key().into(),
            (Comparison::Other, _) => Truth::Maybe,
            _ => {
                let matched = Truth::any(self.values.iter().map(|word| self.matches(&word.text, value)));
                if self.operator.negated { matched.negated() } else { matched }
            }
        }
    }

    /// Whether a `Null` condition is true.
    fn is_null(&self, absent: bool) -> Truth {
        let expects = |word: &PolicyText<'_>| match word.text.as_str() {
            "true" => Truth::from(absent),
            "false" => Truth::from(!absent),
            _ => Truth::Maybe,
        };
        Truth::any(self.values.iter().map(expects))
    }

    fn matches(&self, text: &str, value: ContextValue) -> Truth {
        let pattern = self.operator.pattern(text);
        match value {
            ContextValue::Is(known) if self.operator.comparison == Comparison::ExactIgnoringCase => {
                pattern.compare(&known.to_ascii_lowercase())
            }
            ContextValue::Is(known) => pattern.compare(known),
            _ if pattern.is_total() => Truth::Yes,
            _ if text.is_empty() || pattern.has_literal_wildcard() => Truth::No,
            // A single name, or a variable for it, names the policy's own cluster.
            ContextValue::OtherCluster if pattern.is_single() => Truth::No,
            _ => Truth::Maybe,
        }
    }

    /// Whether the condition is true only if the request has the key with one of the values.
    pub fn requires_value(&self) -> bool {
        let operator = &self.operator;
        !operator.negated && operator.comparison != Comparison::Null && !operator.without_key()
    }

    /// Whether the values are allowed, not excluded, if the request has the key.
    pub fn is_positive(&self) -> bool {
        !self.operator.negated && self.operator.comparison != Comparison::Null
    }

    /// Whether every value has a `*` or `?` that the operator compares literally.
    pub fn compares_wildcards_literally(&self) -> bool {
        let literal = |word: &PolicyText<'_>| self.operator.pattern(&word.text).has_literal_wildcard();
        let compares_text =
            matches!(self.operator.comparison, Comparison::Exact | Comparison::ExactIgnoringCase);
        compares_text && !self.values.is_empty() && self.values.iter().all(literal)
    }

    /// The tag that the condition compares, of the existing resource or of the request.
    pub fn tag(&self) -> Option<&str> {
        let (prefix, tag) = self.key.text.split_once('/')?;
        let prefix = prefix.to_ascii_lowercase();
        (prefix.ends_with(":resourcetag") || prefix.ends_with(":requesttag")).then_some(tag)
    }

    /// The tag that the condition compares, of the existing resource.
    pub fn resource_tag(&self) -> Option<&str> {
        let existing = self.key.text.to_ascii_lowercase().contains(":resourcetag/");
        self.tag().filter(|_| existing)
    }

    /// Whether the condition compares a key. The names of condition keys are not case-sensitive.
    pub fn is_on(&self, key: &str) -> bool {
        self.key.text.eq_ignore_ascii_case(key)
    }
}

impl<'d> IamCondition<'d> {
    /// The cluster names that the condition requires in tags of Karpenter, without placeholders and wildcards.
    pub fn clusters(&self) -> Vec<PolicyText<'d>> {
        let plain = |text: &str| !text.is_empty() && !text.contains(['*', '?']) && !has_placeholder(text);
        let Some(tag) = self.tag().filter(|_| self.is_positive()) else { return Vec::new() };
        if let Some(name) = tag.strip_prefix("kubernetes.io/cluster/") {
            let word = PolicyText { text: name.to_owned(), at: self.key.at };
            return if plain(name) { vec![word] } else { Vec::new() };
        }
        if tag != "eks:eks-cluster-name" {
            return Vec::new();
        }
        self.values.iter().filter(|word| plain(&word.text)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::embedded::READ_OPTIONS;
    use manifest::File;
    use manifest::{Document, tree::Node};

    use super::*;
    use crate::iam_policy::PolicyLocation;

    /// The truth of `operator: {key: values}` for a value of the key.
    fn holds(operator: &str, values: &[&str], value: ContextValue) -> Truth {
        let file = File::read("-", "x", READ_OPTIONS);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("a document") };
        let root: Node<'_> = tree.root();
        let text = |text: &str| PolicyText { text: text.to_owned(), at: PolicyLocation::Value(root) };
        let values = values.iter().map(|value| text(value)).collect();
        IamCondition { operator: IamOperator::parse(operator), key: text("aws:ResourceTag/a"), values }
            .holds(value)
    }

    #[test]
    fn evaluates_operators_on_a_known_value() {
        use Truth::{Maybe, No, Yes};
        let prod = ContextValue::Is("prod");
        for (operator, values, expected) in [
            ("StringEquals", &["prod"][..], Yes),
            ("StringEquals", &["staging", "prod"], Yes),
            ("StringEquals", &["Prod"], No),
            ("StringEqualsIgnoreCase", &["Prod"], Yes),
            ("StringEquals", &["*"], No),
            ("StringLike", &["*"], Yes),
            ("StringLike", &["p?od"], Yes),
            ("StringLike", &["staging-*"], No),
            ("ArnEquals", &["p*"], Yes),
            ("StringEquals", &["${aws:PrincipalTag/a}"], Maybe),
            ("StringNotEquals", &["staging", "dev"], Yes),
            ("StringNotEquals", &["staging", "prod"], No),
            ("StringNotLike", &["p*"], No),
            ("StringEqualsIfExists", &["staging"], No),
            ("ForAnyValue:StringEquals", &["prod"], Yes),
            ("ForAllValues:StringEquals", &["staging"], No),
            ("Null", &["true"], No),
            ("Null", &["false"], Yes),
            ("NumericLessThan", &["5"], Maybe),
            ("StringEquals", &[], No),
        ] {
            assert_eq!(holds(operator, values, prod), expected, "{operator} {values:?}");
        }
    }

    #[test]
    fn evaluates_operators_on_a_missing_key() {
        for (operator, expected) in [
            ("StringEquals", false),
            ("StringLike", false),
            ("StringNotEquals", true),
            ("ArnNotLike", true),
            ("StringEqualsIfExists", true),
            ("NumericLessThanIfExists", true),
            ("Bool", false),
            ("ForAllValues:StringEquals", true),
            ("ForAnyValue:StringEquals", false),
            ("ForAnyValue:StringNotEquals", false),
        ] {
            assert_eq!(holds(operator, &["true"], ContextValue::Absent), expected.into(), "{operator}");
        }
        assert_eq!(holds("Null", &["true"], ContextValue::Absent), Truth::Yes);
        assert_eq!(holds("Null", &["false"], ContextValue::Absent), Truth::No);
    }

    #[test]
    fn evaluates_names_that_are_not_known() {
        use ContextValue::{Name, OtherCluster, Suitable, Unknown};
        use Truth::{Maybe, No, Yes};
        for (operator, text, value, expected) in [
            ("StringLike", "*", Name, Yes),
            ("StringEquals", "*", Name, No),
            ("StringLike", "default-*", Name, Maybe),
            ("StringEquals", "default", Name, Maybe),
            ("StringEquals", "", Name, No),
            ("StringLike", "*", OtherCluster, Yes),
            ("StringEquals", "prod", OtherCluster, No),
            ("StringEquals", "${ClusterName}", OtherCluster, No),
            ("StringLike", "prod-*", OtherCluster, Maybe),
            ("StringNotEquals", "prod", OtherCluster, Yes),
            ("StringEquals", "eu-west-1", Suitable, Yes),
            ("StringEquals", "x", Unknown, Maybe),
            ("Null", "false", Unknown, Maybe),
        ] {
            assert_eq!(holds(operator, &[text], value), expected, "{operator} {text} {value:?}");
        }
    }
}
