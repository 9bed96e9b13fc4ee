//! Device plugins: the DaemonSets that register accelerators and other devices on nodes.

use manifest::tree::Node;

use crate::pod::{Container, Pod};

/// Parts of the image names of device plugins, each with the resource that the plugin registers.
const PLUGINS: [(&str, &str); 4] = [
    ("nvidia/k8s-device-plugin", "nvidia.com/gpu"),
    ("rocm/k8s-device-plugin", "amd.com/gpu"),
    ("neuron-device-plugin", "aws.amazon.com/neuron"),
    ("aws-efa-k8s-device-plugin", "vpc.amazonaws.com/efa"),
];

/// The device plugins among the pods of a cluster.
#[derive(Debug, Default)]
pub struct DevicePlugins {
    /// The number of DaemonSets of each plugin.
    counts: [usize; PLUGINS.len()],
    has_operator: bool,
    has_daemon_sets: bool,
}

impl DevicePlugins {
    /// Finds the device plugins among pods.
    pub fn of(pods: &[Pod<'_>]) -> Self {
        let mut plugins = Self::default();
        for pod in pods {
            plugins.has_daemon_sets |= pod.object().kind() == "DaemonSet";
            // Operators run device plugins that the manifests do not show, under other names.
            plugins.has_operator |= images(*pod).any(|image| {
                ["gpu-operator", "device-plugin", "device-config-manager"]
                    .iter()
                    .any(|part| image.contains(part))
            }) && device(*pod).is_none();
            for ((_, resource), count) in PLUGINS.iter().zip(&mut plugins.counts) {
                *count += usize::from(device(*pod) == Some(resource));
            }
        }
        plugins
    }

    /// The number of DaemonSets that register a resource.
    pub fn count(&self, resource: &str) -> usize {
        let count = PLUGINS.iter().zip(self.counts).find(|((_, registered), _)| *registered == resource);
        count.map_or(0, |(_, count)| count)
    }

    /// Whether the pods include DaemonSets, but no device plugin and no operator that could register a resource.
    pub fn lacks(&self, resource: &str) -> bool {
        self.has_daemon_sets && !self.has_operator && self.count(resource) == 0
    }
}

/// The resources that the known device plugins register.
pub fn resources() -> impl Iterator<Item = &'static str> {
    PLUGINS.into_iter().map(|(_, resource)| resource)
}

/// The resource that a DaemonSet registers.
pub fn device(pod: Pod<'_>) -> Option<&'static str> {
    let is_daemon_set = pod.object().kind() == "DaemonSet";
    let runs = |part: &str| images(pod).any(|image| image.contains(part));
    PLUGINS.into_iter().filter(|_| is_daemon_set).find(|(image, _)| runs(image)).map(|(_, resource)| resource)
}

fn images(pod: Pod<'_>) -> impl Iterator<Item = &str> {
    pod.spec().containers().filter_map(Container::image).filter_map(Node::as_str)
}

#[cfg(test)]
mod tests {
    use crate::embedded::READ_OPTIONS;
    use manifest::{Document, File};

    use super::*;
    use crate::object::Object;

    /// The device plugins of a DaemonSet with these images.
    fn plugins(images: &[&str]) -> DevicePlugins {
        let containers: Vec<String> = images.iter().map(|image| format!("{{image: '{image}'}}")).collect();
        let text = format!(
            "{{apiVersion: apps/v1, kind: DaemonSet, metadata: {{name: a}}, spec: {{template: {{spec: {{containers: [{}]}}}}}}}}",
            containers.join(", ")
        );
        let file = File::read("-", text, READ_OPTIONS);
        let Document::Read(tree) = &file.documents[0] else { panic!("{images:?}") };
        let pods: Vec<Pod<'_>> = Object::all(tree).into_iter().flat_map(Pod::all).collect();
        DevicePlugins::of(&pods)
    }

    #[test]
    fn knows_device_plugins_by_their_images() {
        let neuron = plugins(&["public.ecr.aws/neuron/neuron-device-plugin:2.23.30.0"]);
        assert_eq!((neuron.count("aws.amazon.com/neuron"), neuron.count("nvidia.com/gpu")), (1, 0));
        assert!(!neuron.lacks("aws.amazon.com/neuron") && neuron.lacks("nvidia.com/gpu"));
        assert!(plugins(&["fluent-bit:3"]).lacks("nvidia.com/gpu"));
    }

    #[test]
    fn lacks_nothing_where_an_operator_or_an_unknown_plugin_runs() {
        assert!(!plugins(&["nvcr.io/nvidia/gpu-operator:v25.3.0"]).lacks("nvidia.com/gpu"));
        assert!(!plugins(&["example.com/our-device-plugin:1"]).lacks("nvidia.com/gpu"));
        assert!(!DevicePlugins::of(&[]).lacks("nvidia.com/gpu"));
    }
}
