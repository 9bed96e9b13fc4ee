//! The controller's Deployment: how it is recognised, and the options it is started with.
//!
//! Source: charts/karpenter/templates/deployment.yaml, pkg/operator/options/options.go at v1.0.0 to v1.14.1.

use crate::object::Object;
use karpenter::kind::Kind;
use manifest::tree::Node;

/// The Deployment of Karpenter's controller, whatever its name and namespace.
#[derive(Clone, Copy, Debug)]
pub struct Controller<'d> {
    /// The Deployment.
    pub object: Object<'d>,
    /// The container that runs the controller.
    pub container: Node<'d>,
    /// Whether the image says so, and not only the labels.
    pub certain: bool,
}

/// What an option is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting<'d> {
    /// Nothing sets it.
    Absent,
    /// It comes from somewhere else: a ConfigMap, a Secret, a field, another variable.
    Elsewhere,
    /// A text, and the node that holds it: the value, or the argument, or the item where the value is left out.
    Text(&'d str, Node<'d>),
}

impl<'d> Setting<'d> {
    /// The text, where it is known and not empty.
    pub fn text(self) -> Option<(&'d str, Node<'d>)> {
        if let Self::Text(text, node) = self { (!text.is_empty()).then_some((text, node)) } else { None }
    }
}

/// An option of the controller: its flag and its variable.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Without dashes.
    pub flag: &'static str,
    /// In capitals.
    pub variable: &'static str,
}

/// The name of the cluster.
pub const CLUSTER_NAME: Parameter = Parameter { flag: "cluster-name", variable: "CLUSTER_NAME" };
/// The address of the API server.
pub const CLUSTER_ENDPOINT: Parameter = Parameter { flag: "cluster-endpoint", variable: "CLUSTER_ENDPOINT" };
/// The queue of interruption messages.
pub const INTERRUPTION_QUEUE: Parameter =
    Parameter { flag: "interruption-queue", variable: "INTERRUPTION_QUEUE" };
/// Whether replicas do without a leader.
pub const LEADER_ELECTION_OFF: Parameter =
    Parameter { flag: "disable-leader-election", variable: "DISABLE_LEADER_ELECTION" };
/// The feature gates.
pub const FEATURE_GATES: Parameter = Parameter { flag: "feature-gates", variable: "FEATURE_GATES" };

impl<'d> Controller<'d> {
    /// The controller, where the object is its Deployment: by the image, else by the label or name `karpenter` together
    /// with a container named `controller` that is given a cluster's name.
    pub fn of(object: Object<'d>) -> Option<Self> {
        if !object.is(Kind::DEPLOYMENT) {
            return None;
        }
        let containers = object.pod()?.at_path(&["spec", "containers"])?;
        let image = |container: Node<'d>| container.str_at(&["image"]).unwrap_or_default();
        if let Some(container) = containers.items().find(|container| is_controller(image(*container))) {
            return Some(Self { object, container, certain: true });
        }
        let label = object.str_at(&["metadata", "labels", "app.kubernetes.io/name"]);
        if label.unwrap_or_else(|| object.name()) != "karpenter" {
            return None;
        }
        let named = containers.items().find(|container| {
            container.str_at(&["name"]) == Some("controller") && !is_elsewhere(image(*container))
        });
        let controller = Self { object, container: named?, certain: false };
        (controller.setting(CLUSTER_NAME) != Setting::Absent).then_some(controller)
    }

    /// What an option is set to: a flag counts more than its variable, and of several the last.
    pub fn setting(&self, parameter: Parameter) -> Setting<'d> {
        match self.flag(parameter.flag) {
            Setting::Absent => self.variable(parameter.variable),
            set => set,
        }
    }

    /// The items of `env` that set a variable, in order: the last one counts.
    pub fn variables(&self, name: &'static str) -> impl Iterator<Item = Node<'d>> {
        let env = self.container.items_at(&["env"]);
        env.filter(move |item| item.str_at(&["name"]) == Some(name))
    }

    fn variable(&self, name: &'static str) -> Setting<'d> {
        let Some(item) = self.variables(name).last() else {
            let elsewhere = self.container.get("envFrom").is_some_and(|list| !list.is_empty());
            return if elsewhere { Setting::Elsewhere } else { Setting::Absent };
        };
        match item.get("value") {
            _ if item.get("valueFrom").is_some() => Setting::Elsewhere,
            None => Setting::Text("", item),
            Some(value) if value.is_null() => Setting::Text("", item),
            Some(value) => match value.as_str() {
                Some(text) if !self.refers(text) => Setting::Text(text, value),
                _ => Setting::Elsewhere,
            },
        }
    }

    fn flag(&self, name: &str) -> Setting<'d> {
        let lists = ["command", "args"].iter().filter_map(|key| self.container.get(key));
        let mut words = lists.flat_map(Node::items).filter_map(|word| Some((word, word.as_str()?)));
        let mut setting = Setting::Absent;
        while let Some((node, word)) = words.next() {
            let Some(flag) = word.strip_prefix('-') else { continue };
            let flag = flag.strip_prefix('-').unwrap_or(flag);
            let found = match flag.strip_prefix(name) {
                Some("") => words.next(),
                Some(rest) => rest.strip_prefix('=').map(|value| (node, value)),
                None => None,
            };
            if let Some((node, value)) = found {
                setting = if self.refers(value) { Setting::Elsewhere } else { Setting::Text(value, node) };
            }
        }
        setting
    }

    /// Whether a text refers to a variable that the container has: `$(NAME)`, which the kubelet replaces.
    fn refers(&self, text: &str) -> bool {
        let Some(name) = text.split_once("$(").and_then(|(_, rest)| rest.split_once(')')) else {
            return false;
        };
        let env = self.container.items_at(&["env"]);
        let from = self.container.get("envFrom").is_some();
        from || env.into_iter().any(|item| item.str_at(&["name"]) == Some(name.0))
    }
}

/// Whether an image is that of the AWS provider's controller, also from a mirror.
fn is_controller(image: &str) -> bool {
    let name = image.split('@').next().unwrap_or_default();
    let path = match name.rsplit_once(':') {
        Some((path, tag)) if !tag.contains('/') => path,
        _ => name,
    };
    (path == "karpenter/controller" || path.ends_with("/karpenter/controller")) && !is_elsewhere(image)
}

/// Whether an image is that of Karpenter for another cloud.
fn is_elsewhere(image: &str) -> bool {
    ["mcr.microsoft.com/", "/aks/", "azure", "alibaba", "cloudpilot", "kwok"]
        .iter()
        .any(|word| image.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use manifest::limits::Limits;
    use manifest::{Document, File};

    fn with<T>(container: &str, labels: &str, check: impl Fn(Option<Controller<'_>>) -> T) -> T {
        let text = format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: k, labels: {labels}}}\nspec: {{template: {{spec: {{containers: [{container}]}}}}}}\n"
        );
        let file = File::read("-", text, &Limits::DEFAULT);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{:?}", file.documents) };
        check(Object::all(tree).first().copied().and_then(Controller::of))
    }

    fn name_of(container: &str) -> String {
        with(container, "{}", |controller| match controller.unwrap().setting(CLUSTER_NAME) {
            Setting::Text(text, _) => format!("`{text}`"),
            other => format!("{other:?}"),
        })
    }

    #[test]
    fn the_controller_is_known_by_its_image_or_its_labels() {
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
    fn a_flag_counts_more_than_a_variable_and_the_last_more_than_the_first() {
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
