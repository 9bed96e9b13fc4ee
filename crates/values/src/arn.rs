//! Names, paths and ARNs of IAM.

/// A reference to a role or an instance profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IamReference<'t> {
    /// `arn:<partition>:iam::<account>:<kind>/<path>/<name>`.
    Arn {
        /// `aws`, `aws-cn`, `aws-us-gov` and so on.
        partition: &'t str,
        /// The twelve digits of the account.
        account: &'t str,
        /// `role`, `instance-profile` and so on.
        kind: &'t str,
        /// The text after the last slash.
        name: &'t str,
    },
    /// A text with a slash that is not an ARN.
    Path {
        /// The text after the last slash.
        name: &'t str,
    },
    /// A name.
    Name,
}

impl<'t> IamReference<'t> {
    /// Parses a reference. Names are not validated.
    pub fn parse(text: &'t str) -> Self {
        let last = text.rsplit_once('/').map_or(text, |(_, last)| last);
        // The colons in `${AWS::Partition}` do not separate parts.
        let mut open = false;
        let mut parts = text.splitn(6, |char| {
            open = (open || char == '{') && char != '}';
            char == ':' && !open
        });
        let arn = (parts.next(), parts.next(), parts.next(), parts.next(), parts.next(), parts.next());
        if let (Some("arn"), Some(partition), Some("iam"), Some(_), Some(account), Some(resource)) = arn {
            let kind = resource.split_once('/').map_or(resource, |(kind, _)| kind);
            return Self::Arn { partition, account, kind, name: last };
        }
        if text.contains('/') { Self::Path { name: last } } else { Self::Name }
    }
}

/// The longest name of a role, in characters. Source: IAM quotas for names.
pub const MAX_ROLE_NAME: usize = 64;

/// The longest name of an instance profile, in characters. Source: IAM quotas for names.
pub const MAX_PROFILE_NAME: usize = 128;

/// Whether IAM accepts the characters of a name: letters, digits and `+=,.@_-`. The length is not checked.
///
/// Source: pkg/controllers/nodeclass/validation.go on main after v1.14.1, which checks `^[\w+=,.@-]+$`.
pub fn is_name(text: &str) -> bool {
    let allowed = |char: char| char.is_ascii_alphanumeric() || "+=,.@_-".contains(char);
    !text.is_empty() && text.chars().all(allowed)
}

/// The reference without its last word, `arn`, if a value is one reference that ends with it, such as `${module.karpenter.node_iam_role_arn}`
/// or `${aws_iam_role.node.arn}`. A function of such a reference may return the name.
pub fn without_arn(value: &str) -> Option<&str> {
    let inner = value.strip_prefix("${")?.strip_suffix('}')?;
    let is_part = |char: char| char.is_ascii_alphanumeric() || "_-.[]\"'*".contains(char);
    let name = inner.get(..inner.len().checked_sub("arn".len())?)?;
    let is_arn = inner.get(name.len()..).is_some_and(|word| word.eq_ignore_ascii_case("arn"));
    (is_arn && inner.chars().all(is_part)).then_some(name)
}

/// Whether a reference that [`without_arn`] returns is to an attribute of a resource or a data source of Terraform, such as `aws_iam_role`.
pub fn is_attribute_of(reference: &str, kind: &str) -> bool {
    let label = reference.strip_prefix("data.").unwrap_or(reference).strip_prefix(kind);
    label.is_some_and(|label| label.starts_with('.') && label.ends_with('.'))
}
