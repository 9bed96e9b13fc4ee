//! Denials of AWS: `User: arn:aws:sts::…:assumed-role/ROLE/SESSION is not authorized to perform: ACTION on resource: ARN …`.
//!
//! Source: "Troubleshoot access denied error messages" in the IAM User Guide.

/// Words between the caller and the action of a denial.
const NOT_AUTHORIZED: &str = " is not authorized to perform: ";

/// Denial of a call with the credentials of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Denial<'t> {
    /// Name of the caller's role.
    pub(super) role: &'t str,
    /// Name of the caller's session.
    session: &'t str,
    /// The action, such as `ec2:RunInstances`.
    pub(super) action: &'t str,
    /// The resource and the reason.
    rest: &'t str,
}

impl<'t> Denial<'t> {
    /// Parses the first denial in a text.
    pub(super) fn parse(text: &'t str) -> Option<Self> {
        let (before, after) = text.split_once(NOT_AUTHORIZED)?;
        let caller = before.rsplit(' ').next()?;
        let (_, principal) = caller.split_once(":assumed-role/")?;
        // A role can have a path; the session has no slash.
        let (role, session) = principal.rsplit_once('/')?;
        let (action, rest) = after.split_once(' ').unwrap_or((after, ""));
        Some(Self { role: role.rsplit('/').next()?, session, action, rest })
    }

    /// Name of the role that the denied call would assume.
    pub(super) fn assumed_role(&self) -> Option<&'t str> {
        if !self.action.eq_ignore_ascii_case("sts:AssumeRole") {
            return None;
        }
        let resource = self.rest.split_once("on resource: ")?.1.split([' ', ',']).next()?;
        let (_, role) = resource.split_once(":role/")?;
        role.trim_end_matches(['.', '"']).rsplit('/').next()
    }

    /// Whether a policy of the organisation, or the boundary of the role, decided.
    pub(super) fn is_by_organization(&self) -> bool {
        const POLICIES: [&str; 4] = [
            "service control policy",
            "resource control policy",
            "permissions boundary",
            "permission boundary",
        ];
        POLICIES.iter().any(|policy| self.rest.contains(policy))
    }

    /// Whether the caller has the credentials of a node: the session of an instance has the instance's id, and the roles of
    /// nodes have customary names.
    pub(super) fn is_of_node(&self) -> bool {
        let is_instance = self.session.strip_prefix("i-").is_some_and(|id| {
            matches!(id.len(), 8 | 17) && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'x')
        });
        is_instance || is_node_role(self.role)
    }
}

/// Whether a role has a name that installers give to the role of nodes: `KarpenterNodeRole-prod` of the getting-started guide,
/// `…-NodeInstanceRole-…` of eksctl and CloudFormation, `…-eks-node-group-…` of terraform-aws-modules/eks.
fn is_node_role(name: &str) -> bool {
    const WORDS: [&str; 4] = ["noderole", "nodeinstancerole", "nodegroup", "workerrole"];
    let name: String =
        name.chars().filter(|char| !matches!(char, '-' | '_' | '.')).collect::<String>().to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word)) && !name.contains("controller")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denial(caller: &str, rest: &str) -> String {
        format!(
            "api error AccessDenied: User: arn:aws:sts::111122223333:assumed-role/{caller} is not authorized to perform: {rest}"
        )
    }

    #[test]
    fn parses_caller_action_and_role() {
        let text = denial(
            "team/karpenter/1760000000000000000",
            "sts:AssumeRole on resource: arn:aws:iam::111122223333:role/team/karpenter",
        );
        let denial = Denial::parse(&text).unwrap();
        assert_eq!((denial.role, denial.action), ("karpenter", "sts:AssumeRole"));
        assert_eq!(denial.assumed_role(), Some("karpenter"));
        assert!(!denial.is_of_node() && !denial.is_by_organization());
        let user = "User: arn:aws:iam::111122223333:user/ci is not authorized to perform: ec2:RunInstances";
        assert_eq!(Denial::parse(user), None);
    }

    #[test]
    fn recognises_credentials_of_a_node() {
        let is_of_node = |caller: &str| {
            Denial::parse(&denial(caller, "ec2:CreateFleet on resource: *")).unwrap().is_of_node()
        };
        for caller in [
            "anything/i-0123456789abcdef0",
            "anything/i-0xxxxxxxxxxxxxxxx",
            "KarpenterNodeRole-prod/1760000000000000000",
            "eksctl-prod-nodegroup-ng-1-NodeInstanceRole-1ABC/1760000000000000000",
            "default-eks-node-group-20230101/1760000000000000000",
        ] {
            assert!(is_of_node(caller), "{caller}");
        }
        for caller in [
            "KarpenterControllerRole-prod/1760000000000000000",
            "karpenter-node-controller-role/1760000000000000000",
            "prod-karpenter/eks-prod-karpenter-5b0c3a52",
            "karpenter/i-am-a-session",
        ] {
            assert!(!is_of_node(caller), "{caller}");
        }
    }
}
