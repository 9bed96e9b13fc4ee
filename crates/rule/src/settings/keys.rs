//! Table of the setting keys. The schema for editors and the form in Rancher are generated from this table.

use super::{LookUps, OnExceededBound};

/// Shape of the value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingShape {
    /// A Karpenter release or a range of releases.
    Releases,
    /// A Kubernetes version.
    Kubernetes,
    /// A string that is not empty.
    Text,
    /// A boolean; the default is false.
    Boolean,
    /// A boolean or `auto`, which is the default.
    Automatic,
    /// One of several words; the first is the default.
    Choice(&'static [&'static str]),
    /// A map from rules and families to levels.
    Levels,
    /// A list of exceptions.
    Exceptions,
    /// A list of path patterns in the syntax of ignore files.
    Paths,
    /// A list of path patterns with settings for the files that match them.
    Overrides,
}

/// Front ends in which a key has an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingScope {
    /// Every front end.
    Everywhere,
    /// The policy in the cluster.
    Cluster,
    /// The command line.
    Terminal,
}

/// A key of the settings.
#[derive(Clone, Copy, Debug)]
pub struct SettingKey {
    /// The key as written.
    pub name: &'static str,
    /// The shape of the value.
    pub shape: SettingShape,
    /// A title of a few words.
    pub title: &'static str,
    /// A description in a few sentences.
    pub description: &'static str,
    /// The front ends in which the key has an effect.
    pub scope: SettingScope,
}

impl SettingKey {
    const fn new(
        name: &'static str,
        shape: SettingShape,
        title: &'static str,
        description: &'static str,
    ) -> Self {
        Self { name, shape, title, description, scope: SettingScope::Everywhere }
    }

    const fn only(mut self, scope: SettingScope) -> Self {
        self.scope = scope;
        self
    }
}

/// All keys, in the order in which generated files list them.
pub const ALL: [SettingKey; 15] = [
    SettingKey::new(
        "karpenterVersion",
        SettingShape::Releases,
        "Karpenter version",
        "The Karpenter release in the cluster, such as 1.8 or 1.8.3, in quotes, or latest. Findings depend on the \
         release. The default is the version that the files pin, or else the newest known release; in the cluster, the \
         newest known release.",
    ),
    SettingKey::new(
        "kubernetesVersion",
        SettingShape::Kubernetes,
        "Kubernetes version",
        "The Kubernetes version of the cluster, such as 1.33, in quotes. Some rules depend on it. By default, no version \
         is assumed.",
    ),
    SettingKey::new(
        "clusterName",
        SettingShape::Text,
        "Cluster name",
        "The cluster name in Karpenter's settings. Rules report objects that name another cluster.",
    ),
    SettingKey::new(
        "completeInventory",
        SettingShape::Boolean,
        "Complete inventory",
        "Whether the input contains every NodePool and node class of the cluster, so that rules can report references to \
         missing ones. The cluster may still have nodes that Karpenter does not manage, such as a managed node group.",
    ),
    SettingKey::new(
        "rules",
        SettingShape::Levels,
        "Rule levels",
        "Levels of rules and families: deny, warn, info or off. The level of a rule takes precedence over the level of its \
         family.",
    ),
    SettingKey::new(
        "allowIgnoreAnnotation",
        SettingShape::Boolean,
        "Allow suppression by annotation",
        "Whether authors can suppress findings in the cluster with the annotation karpwarden/ignore.",
    )
    .only(SettingScope::Cluster),
    SettingKey::new(
        "fix",
        SettingShape::Boolean,
        "Apply safe fixes",
        "Whether the policy returns the object with the safe fixes applied. The policy must be mutating.",
    )
    .only(SettingScope::Cluster),
    SettingKey::new(
        "announceErrors",
        SettingShape::Automatic,
        "Announce errors as warnings",
        "Whether errors are returned as warnings, too. In mode monitor Kubewarden drops the message of a rejection, so true is \
         for mode monitor and false for mode protect, as in the published manifests. The default auto acts like true, because \
         the policy cannot see its mode.",
    )
    .only(SettingScope::Cluster),
    SettingKey::new(
        "strictUpdates",
        SettingShape::Boolean,
        "Strict updates",
        "Whether an update is rejected for an error that the object already had before the update. By default such an \
         error is a warning.",
    ),
    SettingKey::new(
        "context",
        SettingShape::Choice(&LookUps::NAMES),
        "Objects to look up",
        "The objects that the policy looks up in the cluster: all kinds that rules compare with (all), only NodePools \
         (pools), or no objects (none).",
    )
    .only(SettingScope::Cluster),
    SettingKey::new(
        "onExceededBound",
        SettingShape::Choice(&OnExceededBound::NAMES),
        "Objects beyond a bound",
        "The answer to an object that is too large or too deep to be checked: reject it (deny), or accept it with a warning \
         (warn). The default auto rejects objects of Karpenter, and warns of others.",
    )
    .only(SettingScope::Cluster),
    SettingKey::new(
        "exceptions",
        SettingShape::Exceptions,
        "Exceptions",
        "Accepted findings, each with a reason. After the day in `until`, the findings are reported again; the policy reads no clock and ignores the day.",
    ),
    SettingKey::new(
        "exclude",
        SettingShape::Paths,
        "Excluded paths",
        "Files and folders that the search of a folder leaves out, as patterns of an ignore file in the config file's \
         folder. A file that is named on the command line is still checked, unless `--force-exclude` is given.",
    )
    .only(SettingScope::Terminal),
    SettingKey::new(
        "render",
        SettingShape::Boolean,
        "Render charts",
        "Whether the Helm charts of the input are rendered with the helm on the PATH. `--no-render` refuses it.",
    )
    .only(SettingScope::Terminal),
    SettingKey::new(
        "overrides",
        SettingShape::Overrides,
        "Settings for some paths",
        "Settings for the files that match one of the paths. Paths are patterns of an ignore file in the config file's \
         folder.",
    )
    .only(SettingScope::Terminal),
];

/// The names of all keys.
pub const NAMES: [&str; ALL.len()] = {
    let mut names = [""; ALL.len()];
    let mut index = 0;
    while index < names.len() {
        #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
        {
            names[index] = ALL[index].name;
        }
        index += 1;
    }
    names
};

/// Keys of an exception: the name, the description, and whether the key is required.
pub const EXCEPTION: [(&str, &str, bool); 6] = [
    ("rule", "The rule or family.", true),
    ("kind", "The kind of the object. The default is every kind.", false),
    ("namespace", "The namespace of the object; `*` matches any characters.", false),
    ("name", "The name of the object; `*` matches any characters.", false),
    ("reason", "The reason for the exception.", true),
    (
        "until",
        "The last day on which the exception applies, such as 2027-03-31. The policy ignores it.",
        false,
    ),
];

/// Keys that an override can set.
pub const OVERRIDDEN: [&str; 4] = ["karpenterVersion", "kubernetesVersion", "clusterName", "rules"];

/// The keys that the policy accepts. The command line accepts every key, so that it can check the settings of a policy.
pub fn of_policy() -> impl Iterator<Item = &'static SettingKey> {
    ALL.iter().filter(|key| key.scope != SettingScope::Terminal)
}
