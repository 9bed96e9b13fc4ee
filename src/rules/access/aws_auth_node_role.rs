use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_access::{AwsAuth, CONFIG_MAP, RoleMapping};
use objects::node_class::Ec2NodeClass;
use objects::object::{Object, Operation};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use userdata::image_family::ImageFamily;
use values::arn::IamReference;
use values::placeholder::has_placeholder;

use crate::rules::ami_family;
use crate::rules::indexes::AccessOfNodes;

rule! {
    /// ## What it does
    ///
    /// Checks the ConfigMap `aws-auth` for the roles of nodes: the roles of the EC2NodeClasses in the input, and every role
    /// that is mapped to a node's user name or groups.
    ///
    /// | fault | severity |
    /// |---|---|
    /// | the groups lack `system:bootstrappers` or `system:nodes` | error |
    /// | the user name is not `system:node:{{EC2PrivateDNSName}}` | error |
    /// | `rolearn` has a path, or is no ARN of a role | error |
    /// | `mapRoles` is a list instead of a string | error |
    /// | the role of Windows nodes lacks the group `eks:kube-proxy-windows` | warning |
    /// | neither `aws-auth` nor an access entry in the input has the role of an EC2NodeClass | warning if `aws-auth` maps other node roles, otherwise info |
    ///
    /// A role that nothing maps is reported in files only, because the policy looks up no other objects for it. The policy
    /// matches no ConfigMaps unless you add them.
    ///
    /// ## Why it is bad
    ///
    /// The instance starts, but the API server refuses its kubelet (`Unauthorized`). Karpenter deletes the NodeClaim after 15
    /// minutes (`Node not registered with cluster`), launches the next one, and the pods stay Pending.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: aws-auth
    ///   namespace: kube-system
    /// data:
    ///   mapRoles: |
    ///     - rolearn: arn:aws:iam::111122223333:role/KarpenterNodeRole-prod
    ///       username: system:node:{{EC2PrivateDNSName}}
    ///       groups:
    ///         - system:bootstrappers
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: aws-auth
    ///   namespace: kube-system
    /// data:
    ///   mapRoles: |
    ///     - rolearn: arn:aws:iam::111122223333:role/KarpenterNodeRole-prod
    ///       username: system:node:{{EC2PrivateDNSName}}
    ///       groups:
    ///         - system:bootstrappers
    ///         - system:nodes
    /// ```
    ///
    /// ## References
    ///
    /// - Amazon EKS User Guide, "Create access entries" (no path in `aws-auth`) and "Create self-managed Amazon Linux nodes"
    /// - website/content/en/docs/getting-started/migrating-from-cas/_index.md of aws/karpenter-provider-aws at v1.14.1
    /// - aws/karpenter-provider-aws#6973, #7469, #1225
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the API server refuses nodes, because `aws-auth` does not map their role as a node's",
        runs: Runs::InAdmission,
        on: &[On::Kind(CONFIG_MAP)],
        inventory: &[],
        check: check,
    }
}

const USER_NAME: &str = "system:node:{{EC2PrivateDNSName}}";
/// The group that the node authorizer admits.
const NODES: &str = "system:nodes";
const GROUPS: [&str; 2] = ["system:bootstrappers", NODES];
const WINDOWS: &str = "eks:kube-proxy-windows";

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(aws_auth) = AwsAuth::of(object) else { return };
    if let Some(list) = aws_auth.map_roles().filter(|node| node.is_sequence() || node.is_mapping()) {
        let message = "`mapRoles` is a list, but the values of a ConfigMap are strings: the API server refuses the ConfigMap";
        findings
            .push(Finding::new(&RULE, Place::key(list), message).help("write `mapRoles: |` above the list"));
        return;
    }
    let access = context.inventory.index::<AccessOfNodes>();
    let mut maps_nodes = false;
    for mapping in aws_auth.roles() {
        let class = mapping.role().and_then(|role| access.roles.get(role).copied());
        if mapping.role().is_some_and(|role| access.with_entry.contains(role)) {
            maps_nodes |= class.is_some() || is_of_nodes(mapping);
        } else if class.is_some() || is_of_nodes(mapping) {
            maps_nodes = true;
            check_mapping(mapping, class, findings);
        }
    }
    let is_first = access.aws_auth.is_some_and(|first| first.map_roles() == aws_auth.map_roles());
    if object.operation() != Operation::Apply {
        return;
    }
    // A text that is no list, such as a template, may hold any role.
    let Some(roles) = aws_auth.map_roles().filter(|node| is_first && node.embedded().is_some()) else {
        return;
    };
    if access.granted.iter().any(|granted| has_placeholder(granted)) {
        return;
    }
    for (role, class) in &access.roles {
        if !access.granted.contains(*role) && !has_placeholder(role) {
            findings.extend(not_mapped(roles, role, *class, maps_nodes));
        }
    }
}

/// Whether a mapping is meant for nodes. A pod execution role of Fargate has the group of its proxy, and the nodes of EKS
/// Hybrid Nodes have the name of their session.
fn is_of_nodes(mapping: RoleMapping<'_>) -> bool {
    let is_node =
        mapping.user_name().and_then(Node::as_str).is_some_and(|name| name.starts_with("system:node:{{EC2"));
    let has = |group: &str| mapping.groups().any(|node| node.as_str() == Some(group));
    is_node || (GROUPS.into_iter().all(has) && !has("system:node-proxier") && !names_session(mapping))
}

fn names_session(mapping: RoleMapping<'_>) -> bool {
    mapping.user_name().and_then(Node::as_str).is_some_and(|name| name.contains("SessionName"))
}

fn check_mapping<'d>(
    mapping: RoleMapping<'d>,
    class: Option<Ec2NodeClass<'d>>,
    findings: &mut Vec<Finding<'d>>,
) {
    let mut report = |finding: Finding<'d>| {
        let node = class.and_then(Ec2NodeClass::role);
        findings.push(match node {
            Some(role) => finding.related(Place::value(role), "the role of these nodes"),
            None => finding,
        });
    };
    if let Some((node, arn)) = mapping.role_arn().and_then(|node| Some((node, node.as_str()?)))
        && let Some(finding) = wrong_arn(node, arn)
    {
        report(finding);
    }
    if let Some((node, name)) = mapping.user_name().and_then(|node| Some((node, node.as_str()?)))
        && name != USER_NAME
        && !(names_session(mapping) && class.is_none())
        && !has_placeholder(&name.replace("{{EC2PrivateDNSName}}", "").replace("{{SessionName}}", ""))
    {
        let message = format!(
            "the API server refuses the nodes of this role: it admits a kubelet only under the name of its node, which `{name}` does not give"
        );
        report(Finding::at(&RULE, node, message).write(USER_NAME));
    }
    let groups: Vec<_> = mapping.groups().filter_map(Node::as_str).collect();
    if groups.iter().any(|group| has_placeholder(group)) {
        return;
    }
    let place = || mapping.group_list().map_or(Place::missing(mapping.node(), "groups"), Place::key);
    let missing: Vec<_> = GROUPS.into_iter().filter(|group| !groups.contains(group)).collect();
    if !missing.is_empty() {
        let missing = missing.join("` and `");
        let finding = if groups.contains(&NODES) {
            let message =
                format!("this role of nodes is not in the group `{missing}`, in which EKS expects it");
            Finding::new(&RULE, place(), message).severity(Severity::Warning)
        } else {
            let message = format!(
                "the API server refuses the nodes of this role, because it is not in the group `{missing}`"
            );
            Finding::new(&RULE, place(), message)
        };
        report(finding.help(format!("add `{missing}` to `groups`")));
    }
    let is_windows = class.and_then(ami_family::family_of) == Some(ImageFamily::Windows);
    if is_windows && !groups.contains(&WINDOWS) {
        let message = format!(
            "kube-proxy does not work on the Windows nodes of this role, because it is not in the group `{WINDOWS}`"
        );
        report(
            Finding::new(&RULE, place(), message)
                .severity(Severity::Warning)
                .help(format!("add `{WINDOWS}` to `groups`")),
        );
    }
}

/// Reports an ARN that the authenticator matches with no role.
fn wrong_arn<'d>(node: Node<'d>, arn: &'d str) -> Option<Finding<'d>> {
    if has_placeholder(arn) {
        return None;
    }
    let message = match IamReference::parse(arn) {
        IamReference::Arn { kind: "role", name, .. } if arn.ends_with(&format!(":role/{name}")) => {
            return None;
        }
        IamReference::Arn { kind: "role", name, .. } => {
            let start = arn.split(":role/").next().unwrap_or_default();
            let message = format!(
                "`aws-auth` knows no paths of roles, so this entry matches no node with the role `{name}`"
            );
            return Some(Finding::at(&RULE, node, message).write(&format!("{start}:role/{name}")));
        }
        _ => format!("`{arn}` is not the ARN of a role, so this entry matches no node"),
    };
    Some(Finding::at(&RULE, node, message).help(
        "write the ARN of the nodes' role, such as `arn:aws:iam::111122223333:role/KarpenterNodeRole-prod`",
    ))
}

fn not_mapped<'d>(
    roles: Node<'d>,
    role: &str,
    class: Ec2NodeClass<'d>,
    maps_nodes: bool,
) -> Option<Finding<'d>> {
    let message = format!(
        "neither `aws-auth` nor an access entry in this input has the role `{role}` of the EC2NodeClass `{}`: without one of them the API server refuses its nodes",
        class.object().name()
    );
    // EKS itself adds the entries of managed node groups, and other tools may add the access entry of this role.
    let severity = if maps_nodes { Severity::Warning } else { Severity::Info };
    let finding = Finding::new(&RULE, Place::key(roles), message).severity(severity);
    let finding = finding.help(format!(
        "map the role to the user `{USER_NAME}` and the groups `{}`, or create an access entry of type `EC2_LINUX`",
        GROUPS.join("` and `")
    ));
    Some(finding.related(Place::value(class.role().or(class.instance_profile())?), "the role of these nodes"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    const NODE: &str = "system:node:{{EC2PrivateDNSName}}";
    const ARN: &str = "arn:aws:iam::111122223333:role/nodes";

    fn aws_auth(arn: &str, name: &str, groups: &str) -> String {
        format!(
            r"apiVersion: v1
kind: ConfigMap
metadata: {{name: aws-auth, namespace: kube-system}}
data:
  mapRoles: |
    - rolearn: {arn}
      username: {name}
      groups: [{groups}]
"
        )
    }

    fn class(role: &str, alias: &str) -> String {
        format!(
            r"---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: web}}
spec:
  role: {role}
  amiSelectorTerms: [{{alias: {alias}}}]
"
        )
    }

    /// A node class with an instance profile, and the profile with its role.
    fn with_profile(role: &str) -> String {
        let profile = format!(
            "---\nResources:\n  kp: {{Type: 'AWS::IAM::InstanceProfile', Properties: {{InstanceProfileName: kp, Roles: [{role}]}}}}\n"
        );
        profile + &class("x", "al2023@latest").replace("role: x", "instanceProfile: kp")
    }

    #[test]
    fn the_role_of_an_instance_profile_counts_and_a_reference_to_a_role_is_no_name() {
        let others = aws_auth("arn:aws:iam::111122223333:role/other-nodes", NODE, BOTH);
        assert!(findings(&RULE, &(others.clone() + &with_profile("nodes"))).contains("has the role `nodes`"));
        silent(&RULE, &(aws_auth(ARN, NODE, BOTH) + &with_profile("nodes")));
        for reference in ["!Ref KarpenterNodeRole", "'${NodeRole}'"] {
            silent(&RULE, &(others.clone() + &with_profile(reference)));
        }
    }

    const BOTH: &str = "'system:bootstrappers', 'system:nodes'";

    #[test]
    fn reports_missing_groups() {
        let text = aws_auth(ARN, NODE, "'system:bootstrappers'") + &class("nodes", "al2023@latest");
        insta::assert_snapshot!(findings(&RULE, &text), @"
          8 |       groups: ['system:bootstrappers']
            |       ^^^^^^
        error ConfigMap/aws-auth data.mapRoles[0].groups [all]
          the API server refuses the nodes of this role, because it is not in the group `system:nodes`
          help: add `system:nodes` to `groups`
          see line 14 spec.role: the role of these nodes
        ");
        assert!(
            findings(&RULE, &aws_auth(ARN, NODE, "")).contains("`system:bootstrappers` and `system:nodes`")
        );
        silent(&RULE, &(aws_auth(ARN, NODE, BOTH) + &class("nodes", "al2023@latest")));
        silent(&RULE, &aws_auth(ARN, NODE, "'${GROUP}'"));
        let nodes_only = findings(&RULE, &aws_auth(ARN, NODE, "'system:nodes'"));
        assert!(nodes_only.contains("warning ConfigMap/aws-auth"), "{nodes_only}");
    }

    #[test]
    fn access_entry_takes_the_place_of_a_mapping() {
        let entry = |role: &str| {
            format!(
                r"---
apiVersion: eks.services.k8s.aws/v1alpha1
kind: AccessEntry
metadata: {{name: a}}
spec: {{principalARN: 'arn:aws:iam::111122223333:role/{role}', type: EC2_LINUX}}
"
            )
        };
        let wrong = aws_auth(ARN, "node", BOTH) + &class("nodes", "al2023@latest");
        silent(&RULE, &(wrong.clone() + &entry("nodes")));
        assert!(findings(&RULE, &(wrong + &entry("other"))).contains("error ConfigMap/aws-auth"));
    }

    #[test]
    fn reports_another_user_name() {
        insta::assert_snapshot!(findings(&RULE, &aws_auth(ARN, "node", BOTH)), @"
          7 |       username: node
            |                 ^^^^
        error ConfigMap/aws-auth data.mapRoles[0].username [all]
          the API server refuses the nodes of this role: it admits a kubelet only under the name of its node, which `node` does not give
          help: write `system:node:{{EC2PrivateDNSName}}`
        ");
        silent(
            &RULE,
            &aws_auth(
                ARN,
                "system:node:{{SessionName}}",
                "'system:bootstrappers', 'system:nodes', 'system:node-proxier'",
            ),
        );
        silent(&RULE, &aws_auth(ARN, "'${USER}'", BOTH));
        silent(&RULE, &aws_auth("arn:aws:iam::111122223333:role/admin", "admin", "'system:masters'"));
    }

    #[test]
    fn reports_arns_that_match_no_role() {
        let path = "arn:aws:iam::111122223333:role/eks/nodes";
        insta::assert_snapshot!(findings(&RULE, &aws_auth(path, NODE, BOTH)), @"
          6 |     - rolearn: arn:aws:iam::111122223333:role/eks/nodes
            |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error ConfigMap/aws-auth data.mapRoles[0].rolearn [all]
          `aws-auth` knows no paths of roles, so this entry matches no node with the role `nodes`
          help: write `arn:aws:iam::111122223333:role/nodes`
        ");
        assert!(findings(&RULE, &aws_auth("nodes", NODE, BOTH)).contains("is not the ARN of a role"));
        let profile = "arn:aws:iam::111122223333:instance-profile/nodes";
        assert!(findings(&RULE, &aws_auth(profile, NODE, BOTH)).contains("is not the ARN of a role"));
        silent(&RULE, &aws_auth("'arn:${AWS::Partition}:iam::${AWS::AccountId}:role/a/${ROLE}'", NODE, BOTH));
        silent(&RULE, &aws_auth("arn:aws-cn:iam::111122223333:role/nodes", NODE, BOTH));
    }

    #[test]
    fn reports_a_role_that_nothing_maps() {
        let text = aws_auth(ARN, NODE, BOTH) + &class("other", "al2023@latest");
        insta::assert_snapshot!(findings(&RULE, &text), @"
          5 |   mapRoles: |
            |   ^^^^^^^^
        warning ConfigMap/aws-auth data.mapRoles [all]
          neither `aws-auth` nor an access entry in this input has the role `other` of the EC2NodeClass `web`: without one of them the API server refuses its nodes
          help: map the role to the user `system:node:{{EC2PrivateDNSName}}` and the groups `system:bootstrappers` and `system:nodes`, or create an access entry of type `EC2_LINUX`
          see line 14 spec.role: the role of these nodes
        ");
        let admin = aws_auth("arn:aws:iam::111122223333:role/admin", "admin", "'system:masters'");
        assert!(
            findings(&RULE, &(admin + &class("other", "al2023@latest"))).contains("info ConfigMap/aws-auth")
        );
        let entry = r"---
apiVersion: eks.services.k8s.aws/v1alpha1
kind: AccessEntry
metadata: {name: a}
spec: {principalARN: 'arn:aws:iam::1:role/other', type: EC2_LINUX}
";
        silent(&RULE, &(text + entry));
        silent(&RULE, &(aws_auth(ARN, NODE, BOTH) + &class("'${ROLE}'", "al2023@latest")));
        silent(&RULE, &(aws_auth("'${ROLE_ARN}'", NODE, BOTH) + &class("other", "al2023@latest")));
        let template = r"apiVersion: v1
kind: ConfigMap
metadata: {name: aws-auth, namespace: kube-system}
data:
  mapRoles: |
    {{- range .Values.roles }}
    - {{ . }}
    {{- end }}
";
        silent(&RULE, &(template.to_owned() + &class("other", "al2023@latest")));
    }

    #[test]
    fn windows_nodes_need_the_group_of_their_proxy() {
        let windows = |groups: &str| aws_auth(ARN, NODE, groups) + &class("nodes", "windows2022@latest");
        assert!(findings(&RULE, &windows(BOTH)).contains("warning ConfigMap/aws-auth"));
        silent(&RULE, &windows(&format!("{BOTH}, 'eks:kube-proxy-windows'")));
    }

    #[test]
    fn reports_a_list_in_place_of_the_string() {
        let list = aws_auth(ARN, NODE, BOTH).replace("mapRoles: |", "mapRoles:").replace(NODE, "x");
        assert!(findings(&RULE, &list).contains("`mapRoles` is a list"));
        silent(&RULE, &list.replace("kube-system", "other"));
    }

    #[test]
    fn mapping_of_nodes_makes_a_missing_role_probable() {
        let severity = |user: &str, groups: &str, entry: &str| {
            let text = aws_auth(ARN, user, groups) + &class("other", "al2023@latest") + entry;
            findings(&RULE, &text).contains("warning ConfigMap/aws-auth data.mapRoles [")
        };
        let entry = r"---
apiVersion: eks.services.k8s.aws/v1alpha1
kind: AccessEntry
metadata: {name: a}
spec: {principalARN: 'arn:aws:iam::111122223333:role/nodes', type: EC2_LINUX}
";
        assert!(severity(NODE, BOTH, entry));
        assert!(!severity("admin", "'system:masters'", entry));
    }

    #[test]
    fn ignores_mappings_of_sessions() {
        silent(&RULE, &aws_auth(ARN, "'team:{{SessionName}}'", BOTH));
    }
}
