//! The Deployment of Karpenter's controller, and the options that the controller is started with.
//!
//! Source: charts/karpenter/templates/deployment.yaml, pkg/operator/options/options.go at v1.0.0 to v1.14.1.

use karpenter::kind::Kind;
use manifest::tree::Node;

use crate::object::Object;
use crate::pod::{Container, EnvVar, Pod};

/// The Deployment of Karpenter's controller, whatever its name and namespace.
#[derive(Clone, Copy, Debug)]
pub struct Controller<'d> {
    /// The Deployment.
    pub object: Object<'d>,
    /// The container that runs the controller.
    pub container: Container<'d>,
    /// Whether the image shows that this is Karpenter, and not only a label or a name.
    pub certain: bool,
}

/// Value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionValue<'d> {
    /// The option is not set.
    Absent,
    /// The value comes from a ConfigMap, a Secret, a field or another variable, or a placeholder may set it.
    Elsewhere,
    /// A text, and the node that holds it: the value, the argument, or the item of `env` if it has no value.
    Text(&'d str, Node<'d>),
}

impl<'d> OptionValue<'d> {
    /// The text, if it is known and not empty.
    pub fn text(self) -> Option<(&'d str, Node<'d>)> {
        if let Self::Text(text, node) = self { (!text.is_empty()).then_some((text, node)) } else { None }
    }
}

/// Option of the controller: its flag and its environment variable.
#[derive(Clone, Copy, Debug)]
pub struct ControllerOption {
    /// The flag, without dashes.
    pub flag: &'static str,
    /// The variable, in capitals.
    pub variable: &'static str,
}

/// The name of the cluster.
pub const CLUSTER_NAME: ControllerOption =
    ControllerOption { flag: "cluster-name", variable: "CLUSTER_NAME" };
/// The address of the API server.
pub const CLUSTER_ENDPOINT: ControllerOption =
    ControllerOption { flag: "cluster-endpoint", variable: "CLUSTER_ENDPOINT" };
/// The queue with interruption messages.
pub const INTERRUPTION_QUEUE: ControllerOption =
    ControllerOption { flag: "interruption-queue", variable: "INTERRUPTION_QUEUE" };
/// The network interfaces that carry no addresses of pods.
pub const RESERVED_ENIS: ControllerOption =
    ControllerOption { flag: "reserved-enis", variable: "RESERVED_ENIS" };
/// Whether the replicas run without electing a leader.
pub const LEADER_ELECTION_OFF: ControllerOption =
    ControllerOption { flag: "disable-leader-election", variable: "DISABLE_LEADER_ELECTION" };
/// Whether the controller respects or ignores preferences of pods.
pub const PREFERENCE_POLICY: ControllerOption =
    ControllerOption { flag: "preference-policy", variable: "PREFERENCE_POLICY" };
/// The feature gates.
pub const FEATURE_GATES: ControllerOption =
    ControllerOption { flag: "feature-gates", variable: "FEATURE_GATES" };

/// The feature gates of the provider.
pub const AWS_FEATURE_GATES: ControllerOption =
    ControllerOption { flag: "aws-feature-gates", variable: "AWS_FEATURE_GATES" };

/// Whether node repair deletes nodes as it did until 1.14.
pub const LEGACY_NODE_REPAIR: ControllerOption =
    ControllerOption { flag: "legacy-node-repair", variable: "LEGACY_NODE_REPAIR" };

impl<'d> Controller<'d> {
    /// The controller, if the object is its Deployment. The image shows it, or else the label or name `karpenter` together
    /// with a container `controller` that gets a cluster's name.
    pub fn of(object: Object<'d>) -> Option<Self> {
        if !object.is(Kind::DEPLOYMENT) {
            return None;
        }
        let spec = Pod::of(object)?.spec();
        let image = |container: Container<'d>| container.image().and_then(Node::as_str).unwrap_or_default();
        if let Some(container) = spec.containers().find(|container| is_controller(image(*container))) {
            return Some(Self { object, container, certain: true });
        }
        let label = object.metadata().label("app.kubernetes.io/name").and_then(Node::as_str);
        if label.unwrap_or_else(|| object.name()) != "karpenter" {
            return None;
        }
        let named = spec.containers().find(|container| {
            container.name() == Some("controller") && !is_of_other_cloud(image(*container))
        });
        let controller = Self { object, container: named?, certain: false };
        (controller.written(CLUSTER_NAME) != OptionValue::Absent).then_some(controller)
    }

    /// The value of an option: the flag overrides the variable, and the last of several counts.
    pub fn setting(&self, parameter: ControllerOption) -> OptionValue<'d> {
        match self.written(parameter) {
            OptionValue::Absent if self.container.hides_settings() => OptionValue::Elsewhere,
            set => set,
        }
    }

    /// The value of an option, whatever a placeholder may set.
    fn written(&self, parameter: ControllerOption) -> OptionValue<'d> {
        match self.flag(parameter.flag) {
            OptionValue::Absent => self.variable(parameter.variable),
            set => set,
        }
    }

    /// Whether the tag of the image is a release before 1.0, which has other options.
    pub fn is_before_1_0(&self) -> bool {
        let image = self.container.image().and_then(Node::as_str).unwrap_or_default();
        let name = image.split_once('@').map_or(image, |(name, _)| name);
        let tag = name.rsplit_once(':').map_or("", |(_, tag)| tag);
        tag.trim_start_matches('v').starts_with("0.")
    }

    /// The items of `env` that set a variable, in order: the last item counts.
    pub fn variables(&self, name: &'static str) -> impl Iterator<Item = EnvVar<'d>> {
        self.container.variables(name)
    }

    fn variable(&self, name: &'static str) -> OptionValue<'d> {
        let Some(item) = self.variables(name).last() else {
            let elsewhere = self.container.env_from().is_some_and(|list| !list.is_empty());
            return if elsewhere { OptionValue::Elsewhere } else { OptionValue::Absent };
        };
        match item.value() {
            _ if item.value_from().is_some() => OptionValue::Elsewhere,
            None => OptionValue::Text("", item.node()),
            Some(value) if value.is_null() => OptionValue::Text("", item.node()),
            Some(value) => match value.as_str() {
                Some(text) if !self.refers(text) => OptionValue::Text(text, value),
                _ => OptionValue::Elsewhere,
            },
        }
    }

    fn flag(&self, name: &str) -> OptionValue<'d> {
        let mut words = self.container.arguments().filter_map(|word| Some((word, word.as_str()?)));
        let mut setting = OptionValue::Absent;
        while let Some((node, word)) = words.next() {
            let Some(flag) = word.strip_prefix('-') else { continue };
            let flag = flag.strip_prefix('-').unwrap_or(flag);
            let found = match flag.strip_prefix(name) {
                Some("") => words.next(),
                Some(rest) => rest.strip_prefix('=').map(|value| (node, value)),
                None => None,
            };
            if let Some((node, value)) = found {
                setting =
                    if self.refers(value) { OptionValue::Elsewhere } else { OptionValue::Text(value, node) };
            }
        }
        setting
    }

    /// Whether a text refers to a variable that the container has: `$(NAME)`, which the kubelet replaces.
    fn refers(&self, text: &str) -> bool {
        let Some(name) = text.split_once("$(").and_then(|(_, rest)| rest.split_once(')')) else {
            return false;
        };
        self.container.env_from().is_some() || self.container.env().any(|item| item.name() == Some(name.0))
    }
}

/// Whether an image is the controller of the AWS provider, in any registry.
fn is_controller(image: &str) -> bool {
    let (path, _) = path_and_tag(image);
    (path == "karpenter/controller" || path.ends_with("/karpenter/controller")) && !is_of_other_cloud(image)
}

/// The tag of an image of the controller; `None` if the image is another one, or has no tag.
pub(crate) fn controller_tag(image: &str) -> Option<&str> {
    path_and_tag(image).1.filter(|_| is_controller(image))
}

/// The tag of an image of the controller, or of the repository of its chart, which has the same tags and is taken for the
/// image. `None` as in [`controller_tag`].
pub(crate) fn pinned_tag(image: &str) -> Option<&str> {
    let (path, tag) = path_and_tag(image);
    let is_chart = path == "karpenter/karpenter" || path.ends_with("/karpenter/karpenter");
    tag.filter(|_| is_controller(image) || (is_chart && !is_of_other_cloud(image)))
}

/// The parts of an image before its digest: `registry:5000/path` and `tag`.
fn path_and_tag(image: &str) -> (&str, Option<&str>) {
    let name = image.split_once('@').map_or(image, |(name, _)| name);
    match name.rsplit_once(':') {
        Some((path, tag)) if !tag.contains('/') => (path, Some(tag)),
        _ => (name, None),
    }
}

/// Whether an image, chart or repository is Karpenter for another cloud.
pub(crate) fn is_of_other_cloud(image: &str) -> bool {
    [
        "mcr.microsoft.com/",
        "/aks/",
        "azure",
        "alibaba",
        "cloudpilot",
        "kwok",
        "linode",
        "tencent",
        "oracle",
        "ocir.io",
    ]
    .iter()
    .any(|word| image.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::READ_OPTIONS;
    use manifest::{Document, File};

    fn with<T>(container: &str, labels: &str, check: impl Fn(Option<Controller<'_>>) -> T) -> T {
        let text = format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: k, labels: {labels}}}
spec: {{template: {{spec: {{containers: [{container}]}}}}}}
"
        );
        let file = File::read("-", text, READ_OPTIONS);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{:?}", file.documents) };
        check(Object::all(tree).first().copied().and_then(Controller::of))
    }

    fn name_of(container: &str) -> String {
        with(container, "{}", |controller| match controller.unwrap().setting(CLUSTER_NAME) {
            OptionValue::Text(text, _) => format!("`{text}`"),
            other => format!("{other:?}"),
        })
    }

    #[test]
    fn recognises_the_controller_by_image_or_labels() {
        let karpenter = "{app.kubernetes.io/name: karpenter}";
        for (container, labels, expected) in [
            ("{name: x, image: 'public.ecr.aws/karpenter/controller:1.4.2@sha256:ab'}", "{}", true),
            ("{name: x, image: 'mirror.example.net:5000/ecr/karpenter/controller'}", "{}", true),
            ("{name: x, image: 'mcr.microsoft.com/aks/karpenter/controller:1.6'}", "{}", false),
            ("{name: controller, image: 'mirror.example.net/karpenter:1'}", karpenter, false),
            (
                "{name: controller, image: 'mirror.example.net/karpenter:1', env: [{name: CLUSTER_NAME}]}",
                karpenter,
                true,
            ),
            ("{name: controller, image: 'example.net/notkarpenter/controller:1'}", "{}", false),
        ] {
            assert_eq!(with(container, labels, |found| found.is_some()), expected, "{container}");
        }
    }

    #[test]
    fn recognises_releases_before_1_0_by_the_tag() {
        for (tag, expected) in [
            (":v0.37.0", true),
            (":0.37.0@sha256:ab", true),
            (":1.0.0", false),
            ("@sha256:0.1", false),
            ("", false),
        ] {
            let container = format!("{{name: x, image: 'public.ecr.aws/karpenter/controller{tag}'}}");
            assert_eq!(
                with(&container, "{}", |controller| controller.unwrap().is_before_1_0()),
                expected,
                "{tag}"
            );
        }
    }

    #[test]
    fn prefers_flags_to_variables_and_the_last_of_several() {
        let image = "image: karpenter/controller";
        for (container, expected) in [
            ("env: [{name: CLUSTER_NAME, value: a}]", "`a`"),
            ("env: [{name: CLUSTER_NAME, value: a}, {name: CLUSTER_NAME, value: b}]", "`b`"),
            ("env: [{name: CLUSTER_NAME, value: a}], args: [--cluster-name=b]", "`b`"),
            ("args: [-cluster-name, b]", "`b`"),
            ("args: [--cluster-name-x=b]", "Absent"),
            ("env: [{name: CLUSTER_NAME}]", "``"),
            ("env: [{name: CLUSTER_NAME, valueFrom: {}}]", "Elsewhere"),
            ("envFrom: [{configMapRef: {name: a}}]", "Elsewhere"),
            ("env: [{name: X, value: a}, {name: CLUSTER_NAME, value: $(X)}]", "Elsewhere"),
            ("env: [{name: CLUSTER_NAME, value: $(X)}]", "`$(X)`"),
        ] {
            assert_eq!(name_of(&format!("{{{image}, {container}}}")), expected, "{container}");
        }
    }
}
