//! Cluster names: their place in tags and names, and placeholders for them.

use values::placeholder::{Placeholder, has_placeholder, is_bare_reference};

/// A text in the place of a cluster name that names no cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterNamePlaceholder {
    /// A placeholder such as `${CLUSTER_NAME}` or `<cluster-name>`, or the words `cluster-name`.
    Unreplaced,
    /// A name from examples, such as `my-cluster`, which some clusters have.
    Example,
}

/// The kind of placeholder that a text is; `None` for a cluster name.
pub fn placeholder(text: &str) -> Option<ClusterNamePlaceholder> {
    /// Names of the value itself.
    const WORDS: [&str; 5] =
        ["cluster-name", "clustername", "eks-cluster-name", "my-cluster-name", "the-cluster-name"];
    const EXAMPLES: [&str; 4] = ["my-cluster", "my-eks-cluster", "example-cluster", "mycluster"];
    let words = text.to_ascii_lowercase().replace(['_', ' '], "-");
    if has_placeholder(text) || is_bare_reference(text) || WORDS.contains(&words.as_str()) {
        return Some(ClusterNamePlaceholder::Unreplaced);
    }
    EXAMPLES.contains(&words.as_str()).then_some(ClusterNamePlaceholder::Example)
}

/// Whether the placeholder in a text is a variable for something else than the name of a cluster, such as `${environment}`.
pub fn is_other_variable(text: &str) -> bool {
    const OTHERS: [&str; 11] = [
        "env",
        "stage",
        "tier",
        "region",
        "account",
        "stack",
        "project",
        "tenant",
        "workspace",
        "team",
        "vpc",
    ];
    let found = Placeholder::find(text).and_then(|placeholder| text.get(placeholder.range));
    let name = found.unwrap_or_default().to_ascii_lowercase();
    !name.contains("cluster") && OTHERS.iter().any(|other| name.contains(other))
}

/// Whether EKS accepts a text as the name of a cluster.
///
/// Source: `name` of `CreateCluster` in the API reference of EKS: `^[0-9A-Za-z][A-Za-z0-9\-_]*$`, at most 100.
pub fn is_name(text: &str) -> bool {
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    text.len() <= 100
        && text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
        && text.bytes().all(letters)
}

/// The tag or name that contains a cluster name. The variants differ in how reliable the name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterNameSource {
    /// The tag `kubernetes.io/cluster/<name>`, which EKS and its controllers define.
    Owner,
    /// The tag `karpenter.sh/discovery/<name>`.
    DiscoveryKey,
    /// The tag `karpenter.sh/discovery`, whose value is the cluster's name by convention only.
    Discovery,
    /// A role or profile such as `KarpenterNodeRole-<name>`, as the getting started guide names them.
    NodeRole,
}

/// The cluster name in a tag, and its source.
pub fn in_tag<'t>(key: &'t str, value: &'t str) -> Option<(ClusterNameSource, &'t str)> {
    /// Values that mark a resource without naming a cluster.
    const FLAGS: [&str; 9] = ["", "true", "yes", "1", "enabled", "owned", "shared", "enable", "karpenter"];
    if let Some(name) = key.strip_prefix("kubernetes.io/cluster/") {
        return (!name.is_empty()).then_some((ClusterNameSource::Owner, name));
    }
    if let Some(name) = key.strip_prefix("karpenter.sh/discovery/") {
        return (!name.is_empty()).then_some((ClusterNameSource::DiscoveryKey, name));
    }
    let names = key == "karpenter.sh/discovery"
        && !FLAGS.contains(&value.to_ascii_lowercase().as_str())
        && !value.contains(['*', '?']);
    names.then_some((ClusterNameSource::Discovery, value))
}

/// The name of a cluster in the name of a node role.
///
/// Source: website/content/en/docs/getting-started/getting-started-with-karpenter/cloudformation.yaml at v1.14.1.
pub fn in_role(name: &str) -> Option<&str> {
    after_prefix(name, &["KarpenterNodeRole-"])
}

/// The name of a cluster in the name of an instance profile. Source: the same file at v0.32.0.
pub fn in_profile(name: &str) -> Option<&str> {
    after_prefix(name, &["KarpenterNodeInstanceProfile-", "KarpenterNodeProfile-"])
}

/// The name of a cluster in the name of the controller's role. Source: the migration guide, and terraform-aws-modules/eks.
pub fn in_controller_role(name: &str) -> Option<&str> {
    after_prefix(name, &["KarpenterControllerRole-"])
}

/// The name of a cluster in the name of a queue. Source: modules/karpenter/main.tf of terraform-aws-modules/eks.
pub fn in_queue(name: &str) -> Option<&str> {
    after_prefix(name, &["Karpenter-"])
}

fn after_prefix<'t>(name: &'t str, prefixes: &[&str]) -> Option<&'t str> {
    let name = name.rsplit_once('/').map_or(name, |(_, name)| name);
    let rest = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix));
    rest.filter(|name| !name.is_empty())
}

/// Whether one name is the other name with words before or after it, such as `prod` and `prod-eu-1`. Such names often mean
/// the same cluster, or its network.
pub fn related(one: &str, other: &str) -> bool {
    if one.is_empty() || other.is_empty() {
        return false;
    }
    let words = |text: &str| format!("-{}-", text.to_ascii_lowercase().replace(['_', '.', '/', ' '], "-"));
    let (one, other) = (words(one), words(other));
    one.contains(&other) || other.contains(&one)
}

/// Whether a name looks like the name of a network, which clusters may share.
pub fn names_network(name: &str) -> bool {
    const WORDS: [&str; 10] =
        ["shared", "vpc", "network", "net", "common", "private", "public", "intra", "subnet", "subnets"];
    name.split(['-', '_', '.', '/', ' ']).any(|word| WORDS.contains(&word.to_ascii_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_placeholders_from_names() {
        use ClusterNamePlaceholder::{Example, Unreplaced};
        for (text, expected) in [
            ("${CLUSTER_NAME}", Some(Unreplaced)),
            ("$CLUSTER_NAME", Some(Unreplaced)),
            ("<cluster-name>", Some(Unreplaced)),
            ("<<CLUSTER_NAME>>", Some(Unreplaced)),
            ("{{ .Values.clusterName }}", Some(Unreplaced)),
            ("CLUSTER_NAME", Some(Unreplaced)),
            ("Cluster_Name", Some(Unreplaced)),
            ("REPLACE_WITH_CLUSTER_NAME", Some(Unreplaced)),
            ("CLUSTER_NAME_TO_REPLACE", Some(Unreplaced)),
            ("your-cluster-name", Some(Unreplaced)),
            ("my-cluster", Some(Example)),
            ("__CLUSTER_NAME__", Some(Unreplaced)),
            ("changeme", Some(Unreplaced)),
            ("var.cluster_name", Some(Unreplaced)),
            ("${environment}", Some(Unreplaced)),
            ("prod-eu-1", None),
            ("my-cluster-2", None),
            ("yours", None),
            ("", None),
        ] {
            assert_eq!(placeholder(text), expected, "{text}");
        }
    }

    #[test]
    fn variables_for_other_things_are_told_from_the_name_of_the_cluster() {
        for (text, expected) in [
            ("${environment}", true),
            ("${ENV}-eks", true),
            ("{{ .Values.stage }}", true),
            ("$REGION", true),
            ("${cluster_env}", false),
            ("${CLUSTER_NAME}", false),
            ("${X}", false),
            ("REPLACE_ME", false),
            ("environment", false),
        ] {
            assert_eq!(is_other_variable(text), expected, "{text}");
        }
    }

    #[test]
    fn accepts_names_that_eks_accepts() {
        for (text, expected) in [
            ("prod_eu-1", true),
            ("1a", true),
            ("-a", false),
            ("a.b", false),
            ("", false),
            (&"a".repeat(101), false),
        ] {
            assert_eq!(is_name(text), expected, "{text}");
        }
    }

    #[test]
    fn finds_cluster_name_in_key_or_value_of_a_tag() {
        for (key, value, expected) in [
            ("karpenter.sh/discovery", "prod", Some((ClusterNameSource::Discovery, "prod"))),
            ("karpenter.sh/discovery", "true", None),
            ("karpenter.sh/discovery", "*", None),
            ("karpenter.sh/discovery/prod", "*", Some((ClusterNameSource::DiscoveryKey, "prod"))),
            ("kubernetes.io/cluster/prod", "owned", Some((ClusterNameSource::Owner, "prod"))),
            ("example.com/cluster", "prod", None),
        ] {
            assert_eq!(in_tag(key, value), expected, "{key}={value}");
        }
        assert_eq!(in_role("KarpenterNodeRole-prod"), Some("prod"));
        assert_eq!(in_role("eks-prod-karpenter-node"), None);
    }

    #[test]
    fn relates_names_that_contain_one_another() {
        assert!(related("prod", "prod-eu-1") && related("eks-prod", "prod") && related("PROD", "prod"));
        assert!(!related("prod", "production") && !related("prod-eu-1", "prod-eu-2") && !related("", "prod"));
    }

    #[test]
    fn empty_name_is_not_related() {
        assert!(related("prod", "Prod_eu") && related("prod-eu", "eu"));
        assert!(!related("prod-", "") && !related("", "prod-"));
        assert!(!related("production", "prod"));
    }
}
