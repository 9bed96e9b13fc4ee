use karpenter::release::Releases;
use objects::iam_policy::{IamCondition, IamStatement, PolicyOwner, PolicyText, Truth};
use objects::identity::ServiceAccountNames;
use objects::object::{Form, Object};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use crate::rules::indexes::{ClusterIdentity, Iam, ServiceAccounts};

rule! {
    /// ## What it does
    ///
    /// Checks the trust policy of the controller's role: a role in CloudFormation, of the AWS Controllers for Kubernetes or of
    /// Crossplane, and trust policies in JSON or YAML files.
    ///
    /// | fault | severity |
    /// |---|---|
    /// | the key of the condition is the ARN of the identity provider, instead of its address | error |
    /// | `StringEquals` on `sub` or `aud` with a `*`, which it compares as text | error |
    /// | the condition names another identity provider than the principal | error |
    /// | a principal `Federated` without `sts:AssumeRoleWithWebIdentity` | error |
    /// | EKS Pod Identity without `sts:AssumeRole` and `sts:TagSession` | error |
    /// | `sub` names another namespace or ServiceAccount than the controller's in the input | warning |
    /// | the identity provider has another id than the cluster's endpoint in the settings | warning |
    ///
    /// The rule reads only trust policies that name a ServiceAccount of Karpenter, or that belong to its role.
    ///
    /// ## Why it is bad
    ///
    /// STS refuses the controller's token (`Not authorized to perform sts:AssumeRoleWithWebIdentity`). The controller has no
    /// credentials, or uses the credentials of its node, and does not start or launches nothing.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// Version: "2012-10-17"
    /// Statement:
    /// - Effect: Allow
    ///   Principal:
    ///     Federated: arn:aws:iam::111122223333:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE
    ///   Action: sts:AssumeRoleWithWebIdentity
    ///   Condition:
    ///     StringEquals:
    ///       oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE:sub: system:serviceaccount:*:karpenter
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// Version: "2012-10-17"
    /// Statement:
    /// - Effect: Allow
    ///   Principal:
    ///     Federated: arn:aws:iam::111122223333:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE
    ///   Action: sts:AssumeRoleWithWebIdentity
    ///   Condition:
    ///     StringEquals:
    ///       oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE:sub: system:serviceaccount:kube-system:karpenter
    ///       oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE:aud: sts.amazonaws.com
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#1666
    /// - Amazon EKS User Guide, "Assign IAM roles to Kubernetes service accounts" and "Create IAM role with trust policy required by EKS Pod Identity"
    /// - website/content/en/docs/getting-started/migrating-from-cas/scripts/step04-controller-iam.sh of aws/karpenter-provider-aws at v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the trust policy of the controller's role refuses the controller",
        runs: Runs::OnFiles,
        on: &[On::IamPolicy],
        inventory: &[],
        check: check,
    }
}

const WEB_IDENTITY: &str = "sts:AssumeRoleWithWebIdentity";
const PODS: &str = "pods.eks.amazonaws.com";
const ACCOUNT: &str = "system:serviceaccount:";

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let access = context.inventory.index::<Iam>();
    if let Some((role, owner)) = access.role(object) {
        let is_own = owner == PolicyOwner::Controller;
        check_statements(&role.trusted, is_own, context, findings);
    }
    if object.form() == Form::IamPolicy {
        for owned in access.policies_of(object) {
            check_statements(&owned.policy.statements, false, context, findings);
        }
    }
}

/// Checks the statements of a trust policy. Only statements that name Karpenter's ServiceAccount are known to be meant for the
/// controller, unless the role is the controller's.
fn check_statements<'d>(
    statements: &[IamStatement<'d>],
    is_own: bool,
    context: &Context<'_, 'd>,
    findings: &mut Vec<Finding<'d>>,
) {
    let names = &context.inventory.index::<ServiceAccounts>().names;
    let mut conditions = statements.iter().flat_map(|statement| &statement.conditions);
    let names_it = conditions.any(|condition| names_controller(condition, names));
    if !is_own && !names_it {
        return;
    }
    for statement in statements.iter().filter(|one| one.allows && !one.principals.is_empty()) {
        findings.extend(action(statement));
        findings.extend(keys(statement));
        findings.extend(wildcard(statement));
        findings.extend(other_provider(statement));
        findings.extend(other_account(statement, context));
        findings.extend(other_cluster(statement, context));
    }
    if is_own {
        findings.extend(pod_identity(statements));
    }
}

/// The service accounts that a condition on `sub` names.
fn accounts<'c, 'd>(condition: &'c IamCondition<'d>) -> impl Iterator<Item = (&'c PolicyText<'d>, &'c str)> {
    let is_subject = condition.key.text.ends_with(":sub");
    let values = condition.values.iter().filter(move |_| is_subject);
    values.filter_map(|word| Some((word, word.text.strip_prefix(ACCOUNT)?)))
}

/// Whether a condition names Karpenter's ServiceAccount, with or without a wildcard in the name or the namespace.
fn names_controller(condition: &IamCondition<'_>, names: &ServiceAccountNames<'_>) -> bool {
    accounts(condition).any(|(_, account)| {
        let (namespace, name) = account.rsplit_once(':').unwrap_or(("", account));
        let start = name.split(['*', '?']).next().unwrap_or_default();
        let is_start = start.len() < name.len() && "karpenter".starts_with(start);
        name == "karpenter"
            || names.contains(name)
            || (is_start && (namespace == "karpenter" || start.len() >= "karp".len()))
    })
}

/// The address of an identity provider in an ARN, or in the key of a condition: `oidc.eks.eu-west-1.amazonaws.com/id/X`.
fn provider(text: &str) -> Option<&str> {
    let text = text.split_once(":oidc-provider/").map_or(text, |(_, provider)| provider);
    let end = [":sub", ":aud"].iter().find_map(|end| text.strip_suffix(end));
    let provider = end.unwrap_or(text);
    (provider.starts_with("oidc.eks.") && provider.contains("/id/") && !has_placeholder(provider))
        .then_some(provider)
}

fn federated<'s, 'd>(statement: &'s IamStatement<'d>) -> impl Iterator<Item = &'s PolicyText<'d>> {
    let principals = statement.principals.iter().filter(|principal| principal.kind == "Federated");
    principals.map(|principal| &principal.name)
}

/// Reports an identity provider whose token the statement does not take.
fn action<'d>(statement: &IamStatement<'d>) -> Option<Finding<'d>> {
    federated(statement).find(|name| name.text.contains(":oidc-provider/"))?;
    if statement.covers_action(WEB_IDENTITY) != Truth::No {
        return None;
    }
    let word = statement.actions.first()?;
    let message = format!(
        "the controller proves its identity with a token, for which STS needs `{WEB_IDENTITY}`; `{}` refuses it",
        word.text
    );
    let finding = Finding::new(&RULE, Place::of_policy(word.at), message);
    Some(finding.help(format!("write `{WEB_IDENTITY}`")))
}

/// Reports a condition whose key is the ARN of the provider.
fn keys<'d>(statement: &IamStatement<'d>) -> Option<Finding<'d>> {
    let condition = statement.conditions.iter().find(|one| one.key.text.contains(":oidc-provider/"))?;
    let (_, key) = condition.key.text.split_once(":oidc-provider/")?;
    let message = "no request has a condition key that is an ARN, so STS refuses every token".to_owned();
    let finding = Finding::new(&RULE, Place::of_policy(condition.key.at), message);
    Some(finding.help(format!("write `{key}`, without the part up to `oidc-provider/`")))
}

/// Reports a `*` that the operator compares as text.
fn wildcard<'d>(statement: &IamStatement<'d>) -> Option<Finding<'d>> {
    let is_on_token =
        |one: &&IamCondition<'_>| one.key.text.ends_with(":sub") || one.key.text.ends_with(":aud");
    let mut literal =
        statement.conditions.iter().filter(is_on_token).filter(|one| one.compares_wildcards_literally());
    let condition = literal.next()?;
    let word = condition.values.first()?;
    let operator = &condition.operator.name;
    let message = format!(
        "`{operator}` compares with the text `{}`, which no token has; STS refuses every token",
        word.text
    );
    let help = format!(
        "write the namespace and the ServiceAccount in full, or `{}`, which reads `*` as any text",
        operator.replace("StringEquals", "StringLike")
    );
    Some(Finding::new(&RULE, Place::of_policy(word.at), message).help(help))
}

/// Reports a condition on the token of another provider than the principal.
fn other_provider<'d>(statement: &IamStatement<'d>) -> Option<Finding<'d>> {
    let principals: Vec<_> = federated(statement).collect();
    let trusted: Vec<&str> = principals.iter().filter_map(|name| provider(&name.text)).collect();
    if trusted.is_empty() || trusted.len() < principals.len() {
        return None;
    }
    let condition = statement.conditions.iter().find(|one| {
        let of_key = provider(&one.key.text).filter(|_| !one.key.text.contains(":oidc-provider/"));
        one.requires_value() && of_key.is_some_and(|of_key| !trusted.contains(&of_key))
    })?;
    let of_key = provider(&condition.key.text)?;
    let message = format!(
        "the condition is about tokens of `{of_key}`, but the principal is another identity provider, so STS refuses every token"
    );
    let finding = Finding::new(&RULE, Place::of_policy(condition.key.at), message)
        .help("write the identity provider of the cluster in both places");
    let principal = principals.first()?;
    Some(finding.related(Place::of_policy(principal.at), "the principal"))
}

/// Reports a namespace or ServiceAccount that is not the controller's.
fn other_account<'d>(statement: &IamStatement<'d>, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    let own = context.inventory.index::<ServiceAccounts>();
    let (first, node) = own.known.first()?;
    let conditions = statement.conditions.iter().filter(|one| one.requires_value());
    let named: Vec<_> = conditions.flat_map(accounts).collect();
    let may_be = |account: &str| {
        let (namespace, name) = account.split_once(':').unwrap_or_default();
        has_placeholder(account) || account.contains(['*', '?']) || own.may_have(namespace, name)
    };
    let (word, account) = *named.first()?;
    if named.iter().any(|(_, account)| may_be(account)) {
        return None;
    }
    let message = format!(
        "the role trusts the ServiceAccount `{account}`, but the controller runs as `{first}`; STS refuses its token"
    );
    let finding = Finding::new(&RULE, Place::of_policy(word.at), message)
        .severity(Severity::Warning)
        .help(format!("write `{ACCOUNT}{first}`"));
    Some(finding.related(Place::value(*node), "the controller's ServiceAccount"))
}

/// Reports the identity provider of another cluster. The host of an EKS endpoint and its identity provider have the same id.
fn other_cluster<'d>(statement: &IamStatement<'d>, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    let endpoint = context.inventory.index::<ClusterIdentity>().endpoint?;
    let host = endpoint.text.strip_prefix("https://")?.split(['/', ':']).next()?;
    let own = host.split('.').next().filter(|_| host.contains(".eks.amazonaws.com"))?;
    let is_id = |id: &str| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut of_others = Vec::new();
    for name in federated(statement) {
        let (_, id) = provider(&name.text)?.rsplit_once('/')?;
        if !is_id(id) || !is_id(own) || id.eq_ignore_ascii_case(own) {
            return None;
        }
        of_others.push((name, id));
    }
    let (name, id) = of_others.first()?;
    let message = format!(
        "the role trusts the identity provider `{id}`, but the cluster in the settings has `{own}`; STS refuses the controller's token"
    );
    let finding = Finding::new(&RULE, Place::of_policy(name.at), message)
        .severity(Severity::Warning)
        .help("write the identity provider of this cluster: `aws eks describe-cluster --query cluster.identity.oidc.issuer`");
    Some(finding.related(Place::value(endpoint.node), "the endpoint of this cluster"))
}

/// Reports a role for EKS Pod Identity that allows only one of the two actions.
fn pod_identity<'d>(statements: &[IamStatement<'d>]) -> Option<Finding<'d>> {
    let is_for_pods = |one: &&IamStatement<'_>| {
        one.allows
            && one
                .principals
                .iter()
                .any(|principal| principal.kind == "Service" && principal.name.text == PODS)
    };
    let trusting: Vec<_> = statements.iter().filter(is_for_pods).collect();
    let first = trusting.first()?;
    let allows = |action: &str| trusting.iter().any(|one| one.covers_action(action) != Truth::No);
    let missing: Vec<&str> =
        ["sts:AssumeRole", "sts:TagSession"].into_iter().filter(|action| !allows(action)).collect();
    let word = first.actions.first()?;
    if missing.is_empty() {
        return None;
    }
    let missing = missing.join("` and `");
    let message =
        format!("EKS Pod Identity needs `{missing}` too, and gives the controller no credentials without it");
    Some(
        Finding::new(&RULE, Place::of_policy(word.at), message)
            .help("allow `sts:AssumeRole` and `sts:TagSession` to `pods.eks.amazonaws.com`"),
    )
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    const PROVIDER: &str = "oidc.eks.eu-west-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF";

    /// A trust policy that is right.
    fn policy() -> String {
        format!(
            r"Version: '2012-10-17'
Statement:
- Effect: Allow
  Principal: {{Federated: 'arn:aws:iam::111122223333:oidc-provider/{PROVIDER}'}}
  Action: sts:AssumeRoleWithWebIdentity
  Condition:
    StringEquals:
      '{PROVIDER}:sub': system:serviceaccount:kube-system:karpenter
      '{PROVIDER}:aud': sts.amazonaws.com
"
        )
    }

    /// The same as a role of a template.
    fn role(trust: &str) -> String {
        let document: String = trust.lines().flat_map(|line| ["        ", line, "\n"]).collect();
        format!(
            r"Resources:
  KarpenterControllerRole:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument:
{document}"
        )
    }

    #[test]
    fn accepts_a_policy_that_is_right() {
        silent(&super::RULE, &policy());
        silent(&super::RULE, &role(&policy()));
        silent(&super::RULE, &policy().replace("StringEquals", "StringLike").replace("kube-system", "*"));
        silent(&super::RULE, &policy().replace(PROVIDER, "${OIDCProvider}"));
    }

    #[test]
    fn reports_faults_in_the_policy_itself() {
        for (from, to, expected) in [
            ("      '", "      'arn:aws:iam::111122223333:oidc-provider/", "is an ARN"),
            ("kube-system", "*", "compares with the text"),
            (
                "Action: sts:AssumeRoleWithWebIdentity",
                "Action: sts:AssumeRole",
                "needs `sts:AssumeRoleWithWebIdentity`",
            ),
            (
                "      'oidc.eks.eu-west-1.amazonaws.com/id/0",
                "      'oidc.eks.eu-west-1.amazonaws.com/id/F",
                "another identity provider",
            ),
        ] {
            for text in [policy().replace(from, to), role(&policy().replace(from, to))] {
                let found = findings(&super::RULE, &text);
                assert!(found.contains(expected) && found.contains("error "), "{found}\n{text}");
            }
        }
        insta::assert_snapshot!(findings(&super::RULE, &policy().replace("kube-system", "*")), @"
          8 |       'oidc.eks.eu-west-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF:sub': system:serviceaccount:*:karpenter
            |                                                                                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error / Statement[0].Condition.StringEquals.oidc.eks.eu-west-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF:sub [all]
          `StringEquals` compares with the text `system:serviceaccount:*:karpenter`, which no token has; STS refuses every token
          help: write the namespace and the ServiceAccount in full, or `StringLike`, which reads `*` as any text
        ");
    }

    #[test]
    fn reports_a_wildcard_in_the_name_of_the_service_account() {
        for account in ["karpenter:*", "karpenter:karp*", "kube-system:karpenter*"] {
            let text = policy().replace("kube-system:karpenter", account);
            let found = findings(&super::RULE, &text);
            assert!(
                found.contains("error ") && found.contains("compares with the text"),
                "{account}: {found}"
            );
            silent(&super::RULE, &text.replace("StringEquals", "StringLike"));
        }
        silent(&super::RULE, &policy().replace("kube-system:karpenter", "kube-system:*"));
    }

    #[test]
    fn reads_the_name_of_the_service_account_from_the_values_and_the_controller() {
        let account = "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: karpenter-sa, namespace: kube-system}\n";
        let values = "---\nsettings: {clusterName: prod, interruptionQueue: prod}\nserviceAccount: {name: karpenter-sa}\n";
        let controller = r"---
apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter, namespace: kube-system}
spec:
  template:
    spec:
      serviceAccountName: karpenter-sa
      containers: [{name: controller, image: 'public.ecr.aws/karpenter/controller:1.8.2'}]
";
        for named in [values, controller] {
            let found = findings(&super::RULE, &format!("{}{account}{named}", policy()));
            assert!(found.contains("trusts the ServiceAccount `kube-system:karpenter`, but the controller runs as `kube-system:karpenter-sa`"), "{found}");
            let right = policy().replace("kube-system:karpenter", "kube-system:karpenter-sa");
            silent(&super::RULE, &format!("{right}{account}{named}"));
            // Another ServiceAccount with the default name is not the controller's.
            let other = account.replace("karpenter-sa", "karpenter");
            silent(&super::RULE, &format!("{right}{account}{other}{named}"));
        }
        silent(&super::RULE, &format!("{}{account}", policy()));
    }

    /// A ServiceAccount in the namespace `kube-system`.
    fn account(name: &str) -> String {
        format!(
            "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: {name}, namespace: kube-system}}\n"
        )
    }

    #[test]
    fn a_renamed_service_account_hides_no_other_cluster() {
        let values = |account: &str| {
            format!(
                "---\nsettings: {{clusterName: prod, interruptionQueue: prod}}\nserviceAccount: {{{account}}}\n"
            )
        };
        let trusting = |name: &str| policy().replace("kube-system:karpenter", &format!("kube-system:{name}"));
        let (renamed, default) = (values("name: karpenter-sa"), values("create: true"));
        let both = format!("{}{}{renamed}{default}", account("karpenter-sa"), account("karpenter"));
        // The namespace of neither ServiceAccount.
        for trusted in ["other:karpenter", "other:karpenter-sa"] {
            let text = format!("{}{both}", policy().replace("kube-system:karpenter", trusted));
            assert!(
                findings(&super::RULE, &text).contains(&format!("trusts the ServiceAccount `{trusted}`"))
            );
        }
        // The chart of the one cluster makes a ServiceAccount that the input does not have.
        let others = [account("karpenter-sa"), account("karpenter"), String::new()];
        for trusted in ["karpenter-sa", "karpenter"] {
            for other in &others {
                silent(&super::RULE, &format!("{}{other}{renamed}{default}", trusting(trusted)));
            }
        }
        // A name of which the input has no ServiceAccount.
        let only = format!("{}{}{renamed}", trusting("karpenter-sa"), account("karpenter"));
        silent(&super::RULE, &only);
        let wrong = only.replace("kube-system:karpenter-sa", "other:karpenter");
        assert!(findings(&super::RULE, &wrong).contains("the controller runs as `kube-system:karpenter`"));
    }

    #[test]
    fn reads_the_policy_of_a_renamed_service_account() {
        let renamed = policy().replace("kube-system:karpenter", "kube-system:node-scaler");
        let wrong = renamed.replace("Action: sts:AssumeRoleWithWebIdentity", "Action: sts:AssumeRole");
        let values = "---\nsettings: {clusterName: prod, interruptionQueue: prod}\nserviceAccount: {name: node-scaler}\n";
        let found = findings(&super::RULE, &format!("{wrong}{values}"));
        assert!(found.contains("needs `sts:AssumeRoleWithWebIdentity`"), "{found}");
        silent(&super::RULE, &format!("{renamed}{values}"));
        silent(&super::RULE, &wrong);
    }

    #[test]
    fn policies_for_other_software_are_not_read() {
        silent(&super::RULE, &policy().replace("kube-system:karpenter", "*:ci"));
    }

    #[test]
    fn reports_a_service_account_that_is_not_the_controllers() {
        let account = r"---
apiVersion: v1
kind: ServiceAccount
metadata: {name: karpenter, namespace: karpenter}
";
        let found = findings(&super::RULE, &format!("{}{account}", policy()));
        assert!(found.contains("trusts the ServiceAccount `kube-system:karpenter`, but the controller runs as `karpenter:karpenter`"), "{found}");
        silent(
            &super::RULE,
            &format!("{}{}", policy(), account.replace("namespace: karpenter", "namespace: kube-system")),
        );
    }

    #[test]
    fn reports_the_identity_provider_of_another_cluster() {
        let values = |id: &str| {
            format!(
                "---\nsettings: {{clusterName: prod, clusterEndpoint: 'https://{id}.gr7.eu-west-1.eks.amazonaws.com'}}\n"
            )
        };
        let found =
            findings(&super::RULE, &format!("{}{}", policy(), values("FFFF456789ABCDEF0123456789ABCDEF")));
        assert!(found.contains("trusts the identity provider `0123456789ABCDEF0123456789ABCDEF`"), "{found}");
        silent(&super::RULE, &format!("{}{}", policy(), values("0123456789ABCDEF0123456789ABCDEF")));
    }

    #[test]
    fn reports_pod_identity_without_tags() {
        let trust = r"Statement:
- Effect: Allow
  Principal: {Service: pods.eks.amazonaws.com}
  Action: sts:AssumeRole
";
        let found = findings(&super::RULE, &role(trust));
        assert!(found.contains("EKS Pod Identity needs `sts:TagSession` too"), "{found}");
        silent(&super::RULE, &role(&trust.replace("sts:AssumeRole", "[sts:AssumeRole, sts:TagSession]")));
        silent(&super::RULE, &role(trust).replace("KarpenterControllerRole", "CiRole"));
    }
}
