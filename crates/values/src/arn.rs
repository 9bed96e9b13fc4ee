//! Names, paths and ARNs of IAM.

/// How a role or an instance profile is referred to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference<'t> {
    /// `arn:<partition>:iam::<account>:<kind>/<path>/<name>`.
    Arn {
        /// `aws`, `aws-cn`, `aws-us-gov` and so on.
        partition: &'t str,
        /// The twelve digits of the account.
        account: &'t str,
        /// `role`, `instance-profile` and so on.
        kind: &'t str,
        /// What follows the last slash.
        name: &'t str,
    },
    /// Something with a slash that is no ARN.
    Path {
        /// What follows the last slash.
        name: &'t str,
    },
    /// Anything else.
    Name,
}

impl<'t> Reference<'t> {
    /// Reads a reference; what IAM allows in a name is not checked.
    pub fn read(text: &'t str) -> Self {
        let last = text.rsplit('/').next().unwrap_or_default();
        // `${AWS::Partition}` has colons of its own.
        let mut open = false;
        let mut parts = text.splitn(6, |char| {
            open = (open || char == '{') && char != '}';
            char == ':' && !open
        });
        let arn = (parts.next(), parts.next(), parts.next(), parts.next(), parts.next(), parts.next());
        if let (Some("arn"), Some(partition), Some("iam"), Some(_), Some(account), Some(resource)) = arn {
            let kind = resource.split('/').next().unwrap_or_default();
            return Self::Arn { partition, account, kind, name: last };
        }
        if text.contains('/') { Self::Path { name: last } } else { Self::Name }
    }
}

/// The longest name of a role. Source: IAM's quotas for names.
pub const ROLE_NAME_MAX: usize = 64;

/// The longest name of an instance profile. Source: as above.
pub const PROFILE_NAME_MAX: usize = 128;

/// Whether IAM takes the text for a name, its length aside: letters, digits and `+=,.@_-`.
///
/// Source: pkg/controllers/nodeclass/validation.go on main after v1.14.1, which checks `^[\w+=,.@-]+$`.
pub fn is_name(text: &str) -> bool {
    let allowed = |char: char| char.is_ascii_alphanumeric() || "+=,.@_-".contains(char);
    !text.is_empty() && text.chars().all(allowed)
}
