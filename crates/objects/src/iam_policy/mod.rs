//! IAM policy documents: what they allow, on what and under which conditions.
//!
//! Statements are read by what they say, never by their Sids. A text with marks such as `${ClusterName}` or
//! `${aws:PrincipalTag/x}` is not guessed: a mark stands for anything.

mod pass_role;
mod read;

use crate::object::Object;
use manifest::source::Span;
use manifest::tree::Node;
use values::placeholder::is_in_name;

pub use pass_role::{PASS_ROLE, PassedRoles};
pub use read::{holds, policies};

/// Where a part of a policy stands.
#[derive(Clone, Copy, Debug)]
pub enum At<'d> {
    /// A value of the document.
    Value(Node<'d>),
    /// The key of a value.
    Key(Node<'d>),
    /// Bytes of a string that holds the policy as JSON.
    Within(Node<'d>, Span),
}

/// A text of a policy, and where it stands.
#[derive(Clone, Debug)]
pub struct Word<'d> {
    /// The text; what CloudFormation fills in stands in `${}`.
    pub text: String,
    /// Where it stands.
    pub at: At<'d>,
}

/// A policy document of an object.
#[derive(Clone, Debug)]
pub struct Policy<'d> {
    /// What holds it.
    pub object: Object<'d>,
    /// Its statements.
    pub statements: Vec<Statement<'d>>,
}

/// One statement.
#[derive(Clone, Debug)]
pub struct Statement<'d> {
    /// `Effect: Allow`; else it denies.
    pub allows: bool,
    /// `Action`, or what `NotAction` leaves out.
    pub actions: Vec<Word<'d>>,
    /// `Resource`, or what `NotResource` leaves out.
    pub resources: Vec<Word<'d>>,
    /// It has `NotAction`.
    pub not_actions: bool,
    /// It has `NotResource`.
    pub not_resources: bool,
    /// Its conditions, all of which have to hold.
    pub conditions: Vec<Condition<'d>>,
}

/// One condition: the key compared with any of the values.
#[derive(Clone, Debug)]
pub struct Condition<'d> {
    /// Such as `StringEquals`.
    pub operator: String,
    /// Such as `aws:ResourceTag/karpenter.sh/nodepool`.
    pub key: Word<'d>,
    /// One of them has to match.
    pub values: Vec<Word<'d>>,
}

impl<'d> Statement<'d> {
    /// The word by which the statement is about an action.
    pub fn action(&self, action: &str) -> Option<&Word<'d>> {
        let action = action.to_ascii_lowercase();
        let named = self.actions.iter().find(|word| matches(&word.text.to_ascii_lowercase(), &action));
        if self.not_actions {
            return if named.is_none() { self.actions.first() } else { None };
        }
        named
    }

    /// Whether the statement names an action letter by letter, rather than by a pattern that covers much else.
    pub fn names(&self, action: &str) -> bool {
        !self.not_actions && self.actions.iter().any(|word| word.text.eq_ignore_ascii_case(action))
    }

    /// Whether the statement is about a resource, given as the last part of its ARN, such as `role/x`, in whatever account
    /// and region. What is filled in elsewhere may be any resource.
    pub fn reaches(&self, resource: &str) -> bool {
        let named = self.resources.iter().any(|word| match resource_part(&word.text) {
            Some(pattern) => matches(pattern, resource),
            None => true,
        });
        if self.not_resources { !named } else { self.resources.is_empty() || named }
    }
}

/// The part of an ARN behind its fifth colon; `None` where the pattern is open, such as `*` or `${Role.Arn}`.
pub fn resource_part(pattern: &str) -> Option<&str> {
    // A mark may hold colons: `arn:${AWS::Partition}:iam::x`.
    let mut depth = 0;
    let mut colons = 0;
    for (at, byte) in pattern.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b':' if depth == 0 => colons += 1,
            _ => {}
        }
        if colons == 5 && pattern.starts_with("arn:") {
            return pattern.get(at + 1..);
        }
    }
    None
}

impl<'d> Condition<'d> {
    /// Whether it takes a value for right, rather than wrong.
    pub fn is_positive(&self) -> bool {
        !self.operator.contains("Not") && !self.operator.contains("Null")
    }

    /// Whether it also holds where the key is absent.
    pub fn if_exists(&self) -> bool {
        self.operator.ends_with("IfExists") || self.operator.starts_with("ForAllValues")
    }

    /// The tag of a resource that it compares: of the resource as it is, or as it is asked for.
    pub fn tag(&self) -> Option<&str> {
        let (prefix, tag) = self.key.text.split_once('/')?;
        let prefix = prefix.to_ascii_lowercase();
        (prefix.ends_with(":resourcetag") || prefix.ends_with(":requesttag")).then_some(tag)
    }

    /// The tag of the resource as it is.
    pub fn resource_tag(&self) -> Option<&str> {
        let existing = self.key.text.to_ascii_lowercase().contains(":resourcetag/");
        self.tag().filter(|_| existing)
    }

    /// Whether a text is among the values.
    pub fn takes(&self, text: &str) -> bool {
        self.values.iter().any(|word| matches(&word.text, text))
    }

    /// The names of clusters it asks for in the tags that Karpenter sets: each with its place, without those that are
    /// filled in elsewhere or have wildcards.
    pub fn clusters(&self) -> Vec<Word<'d>> {
        let plain = |text: &str| !text.is_empty() && !text.contains(['*', '?']) && !is_in_name(text);
        let Some(tag) = self.tag().filter(|_| self.is_positive()) else { return Vec::new() };
        if let Some(name) = tag.strip_prefix("kubernetes.io/cluster/") {
            let word = Word { text: name.to_owned(), at: self.key.at };
            return if plain(name) { vec![word] } else { Vec::new() };
        }
        if tag != "eks:eks-cluster-name" {
            return Vec::new();
        }
        self.values.iter().filter(|word| plain(&word.text)).cloned().collect()
    }
}

impl Policy<'_> {
    /// Whether the policy is one of Karpenter's controller: it knows a tag of Karpenter, or allows by name both to create
    /// fleets and to run or end instances.
    pub fn is_karpenter(&self) -> bool {
        let mut conditions = self.statements.iter().flat_map(|statement| &statement.conditions);
        let tagged = conditions.any(|condition| {
            condition
                .tag()
                .is_some_and(|tag| tag.starts_with("karpenter.sh/") || tag.starts_with("karpenter.k8s.aws/"))
        });
        let names = |action: &str| self.statements.iter().any(|one| one.allows && one.names(action));
        tagged || (names("ec2:CreateFleet") && (names("ec2:RunInstances") || names("ec2:TerminateInstances")))
    }
}

/// Whether a pattern of IAM fits a text: `*` and `?` are wildcards, and so is what `${}` stands for.
pub fn matches(pattern: &str, text: &str) -> bool {
    let pattern = without_marks(pattern);
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut from) = (0, 0);
    // The last star, and the first byte of the text after what it takes.
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(byte) if *byte == b'?' || Some(byte) == text.get(from) => {
                at += 1;
                from += 1;
            }
            _ => {
                let Some((behind, taken)) = star else { return false };
                star = Some((behind, taken + 1));
                (at, from) = (behind + 1, taken + 1);
            }
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}

/// A pattern with a star for each mark such as `${ClusterName}`, `$CLUSTER` or `<name>`.
fn without_marks(pattern: &str) -> String {
    let mut plain = String::new();
    let mut rest = pattern;
    while let Some(at) = rest.find(['$', '<']) {
        let (before, mark) = rest.split_at_checked(at).unwrap_or((rest, ""));
        plain.push_str(before);
        plain.push('*');
        let end = if mark.starts_with("${") {
            mark.find('}').map(|end| end + 1)
        } else if mark.starts_with('<') {
            mark.rfind('>').map(|end| end + 1)
        } else {
            let word =
                mark.bytes().skip(1).take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
            Some(word + 1)
        };
        rest = end.and_then(|end| mark.get(end..)).unwrap_or_default();
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resource_is_what_follows_the_fifth_colon() {
        for (pattern, expected) in [
            ("arn:aws:iam::111122223333:role/a", Some("role/a")),
            ("arn:${AWS::Partition}:iam::${AWS::AccountId}:role/a:b", Some("role/a:b")),
            ("*", None),
            ("${Role.Arn}", None),
        ] {
            assert_eq!(resource_part(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn patterns_fit_as_in_iam_and_marks_stand_for_anything() {
        for (pattern, text, expected) in [
            ("ec2:*", "ec2:terminateinstances", true),
            ("ec2:Terminate*", "ec2:TerminateInstances", true),
            ("arn:aws:iam::*:role/Karpenter*-a", "arn:aws:iam::1:role/KarpenterNodeRole-a", true),
            ("arn:aws:iam::*:role/a", "arn:aws:iam::1:role/ab", false),
            ("${KarpenterNodeRole.Arn}", "arn:aws:iam::1:role/a", true),
            ("arn:${AWS::Partition}:iam::$ACCOUNT:role/Node-${C}", "arn:aws:iam::1:role/Node-prod", true),
            ("arn:aws:iam::<account>:role/a", "arn:aws:iam::1:role/a", true),
            ("a?c", "abc", true),
            ("", "", true),
            ("*", "", true),
            ("a", "", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
