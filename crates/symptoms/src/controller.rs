//! Containers and pods of Karpenter's controller, recognised by image and name.

/// Characters of random names in Kubernetes.
/// Source: `alphanums` in staging/src/k8s.io/apimachinery/pkg/util/rand/rand.go of kubernetes/kubernetes at v1.33.0.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// Whether a container runs the controller: by its image, or by its name in a pod of the chart.
/// Sources: charts/karpenter/templates/deployment.yaml and charts/karpenter/values.yaml of aws/karpenter-provider-aws at v1.0.0
/// and v1.14.0.
pub fn is_controller(container: &str, image: &str, is_in_chart: bool) -> bool {
    image.contains("karpenter/controller") || (is_in_chart && container == "controller")
}

/// Whether a pod is named as in the chart's Deployment: `karpenter-`, a hash of up to ten characters, five random characters.
/// Source: `ComputeHash` in `pkg/controller/controller_utils.go` of kubernetes/kubernetes at v1.33.0, which encodes 32 bits in
/// decimal digits. Fewer than six digits are too improbable to be read as a hash.
pub(super) fn has_pod_name_of_chart(name: &str) -> bool {
    let is_random = |part: &str| part.bytes().all(|byte| ALPHABET.contains(&byte));
    name.strip_prefix("karpenter-").and_then(|rest| rest.split_once('-')).is_some_and(|(hash, suffix)| {
        (6..=10).contains(&hash.len()) && suffix.len() == 5 && is_random(hash) && is_random(suffix)
    })
}

#[cfg(test)]
mod tests {
    use super::{has_pod_name_of_chart, is_controller};

    #[test]
    fn distinguishes_the_controller_from_its_sidecars() {
        for (container, image, is_in_chart, expected) in [
            ("controller", "", true, true),
            ("controller", "registry.example/mirror:1.4.2", true, true),
            ("manager", "public.ecr.aws/karpenter/controller:1.4.2", false, true),
            ("controller", "registry.example/web:1", false, false),
            ("istio-proxy", "docker.io/istio/proxyv2:1.24.0", true, false),
        ] {
            assert_eq!(is_controller(container, image, is_in_chart), expected, "{container} {image}");
        }
    }

    #[test]
    fn recognises_the_pod_names_of_the_chart() {
        for (name, expected) in [
            ("karpenter-5d8f7c9b6-x2x4z", true),
            ("karpenter-bcdf24-x2x4z", true),
            ("karpenter-bcdf24bcdf-x2x4z", true),
            ("karpenter-bcdf2-x2x4z", false),
            ("karpenter-bcdf24bcdf2-x2x4z", false),
            ("karpenter-5d8f7c9b6-x2x4", false),
            ("karpenter-5d8f7c9b6-x2x4z4", false),
            ("karpenter-dashboard-5d8f7c9b6-x2x4z", false),
            ("karpenter-dashboard-x2x4z", false),
            ("my-karpenter-demo-5d8f7c9b6-x2x4z", false),
            ("karpenter-system", false),
        ] {
            assert_eq!(has_pod_name_of_chart(name), expected, "{name}");
        }
    }
}
