//! The keys of the settings, each described once: the schema for editors and the form in Rancher are made from this.

/// What may be said under a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A Karpenter release or a range of them.
    Releases,
    /// A Kubernetes version.
    Kubernetes,
    /// Text that is not empty.
    Text,
    /// True or false; false where it is not said.
    Truth,
    /// Rules and families, each with a level.
    Levels,
    /// Exceptions, each with its reason.
    Exceptions,
    /// Patterns of paths, as ignore files have them.
    Paths,
    /// Patterns of paths, each with settings for the files that fit.
    Overrides,
}

/// Where a key means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// At every door.
    Everywhere,
    /// To the policy in the cluster.
    Cluster,
    /// On the command line.
    Terminal,
}

/// A key of the settings.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The key itself.
    pub name: &'static str,
    /// What may be said.
    pub shape: Shape,
    /// A title of a few words.
    pub title: &'static str,
    /// One or two sentences.
    pub description: &'static str,
    /// Where it means something.
    pub scope: Scope,
}

impl Key {
    const fn new(name: &'static str, shape: Shape, title: &'static str, description: &'static str) -> Self {
        Self { name, shape, title, description, scope: Scope::Everywhere }
    }

    const fn only(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }
}

/// All keys, in the order in which they are written.
pub const ALL: [Key; 10] = [
    Key::new(
        "karpenterVersion",
        Shape::Releases,
        "Karpenter version",
        "The release that runs in the cluster, such as 1.8 or 1.8.3, in quotes. What is wrong depends on it. Where it is \
         not said, the newest release that is known.",
    ),
    Key::new(
        "kubernetesVersion",
        Shape::Kubernetes,
        "Kubernetes version",
        "The version of the cluster, such as 1.33, in quotes, for what depends on it. Where it is not said, none is assumed.",
    ),
    Key::new(
        "clusterName",
        Shape::Text,
        "Cluster name",
        "The name that Karpenter was told. Objects that name another cluster are found by it.",
    ),
    Key::new(
        "completeInventory",
        Shape::Truth,
        "Every NodePool and node class is there",
        "Whether every NodePool and node class of the cluster is there to be looked at, so that what is absent is missing. Pods may still run on nodes of another maker, such as a managed node group.",
    ),
    Key::new(
        "rules",
        Shape::Levels,
        "Rule levels",
        "A rule or a family of rules, with deny, warn, info or off. What is said of a rule wins over what is said of its family.",
    ),
    Key::new(
        "allowIgnoreAnnotation",
        Shape::Truth,
        "Let authors accept findings",
        "Whether the annotation karpwarden/ignore of an object counts in the cluster.",
    )
    .only(Scope::Cluster),
    Key::new(
        "fix",
        Shape::Truth,
        "Make the safe fixes",
        "Return the object with the fixes that mean what its author meant. The policy has to be mutating for it.",
    )
    .only(Scope::Cluster),
    Key::new(
        "exceptions",
        Shape::Exceptions,
        "Exceptions",
        "Findings that are accepted, each with a reason; after the day in `until` they are back.",
    ),
    Key::new(
        "exclude",
        Shape::Paths,
        "Excluded paths",
        "Files and folders that a walk leaves out, as patterns of an ignore file in the config file's folder. A file named \
         outright is checked all the same, unless `--force-exclude` is given.",
    )
    .only(Scope::Terminal),
    Key::new(
        "overrides",
        Shape::Overrides,
        "Settings for some paths",
        "Settings for the files that fit one of the paths, which are patterns of an ignore file in the config file's folder.",
    )
    .only(Scope::Terminal),
];

/// A key of an exception, what it says, and whether it must be there.
pub const EXCEPTION: [(&str, &str, bool); 6] = [
    ("rule", "The rule or family.", true),
    ("kind", "The kind of object; any where absent.", false),
    ("namespace", "The namespace; `*` stands for any letters.", false),
    ("name", "The name; `*` stands for any letters.", false),
    ("reason", "Why the finding is accepted.", true),
    ("until", "The last day on which the exception holds, such as 2027-03-31.", false),
];

/// What may be said for some paths besides the paths themselves.
pub const OVERRIDDEN: [&str; 4] = ["karpenterVersion", "kubernetesVersion", "clusterName", "rules"];
