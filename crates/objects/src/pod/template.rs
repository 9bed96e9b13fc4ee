//! Pod templates in Kubernetes' own kinds and in custom resources that make pods.

use manifest::tree::{Node, items_of};

/// A pod, or a template from which pods are made, within an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PodTemplate<'d> {
    /// The node that has the `metadata` of the pods.
    pub holder: Node<'d>,
    /// The specification of the pods.
    pub spec: Node<'d>,
    /// The node whose node selector, tolerations, affinity and scheduler apply where `spec` has none.
    pub defaults: Option<Node<'d>>,
}

impl<'d> PodTemplate<'d> {
    /// The template that has its specification, with a list of containers, under `spec`.
    fn of_holder(holder: Node<'d>) -> Option<Self> {
        let spec = holder.get("spec")?;
        let has_containers = spec.get("containers").is_some_and(Node::is_sequence);
        has_containers.then_some(Self { holder, spec, defaults: None })
    }

    /// Whether the first container has an image.
    fn has_image(self) -> bool {
        let first = items_of(self.spec.get("containers")).next();
        first.is_some_and(|container| container.str_at(&["image"]).is_some())
    }

    /// A part of a custom resource that has the fields of a pod's specification beside others.
    fn inline(node: Node<'d>, defaults: Node<'d>) -> Self {
        Self { holder: node, spec: node, defaults: Some(defaults) }
    }
}

/// Levels of a custom resource that are searched for templates. A `JobSet` has 5.
const MAX_DEPTH: usize = 16;

/// Groups whose objects may contain what looks like a pod template but is a schema, a pattern of a policy, a patch, values of
/// a chart, or a part that a controller merges with others, such as the `podTemplate` of Flink.
const WITHOUT_PODS: [&str; 13] = [
    "admissionregistration.k8s.io",
    "apiextensions.crossplane.io",
    "apiextensions.k8s.io",
    "core.oam.dev",
    "flink.apache.org",
    "helm.toolkit.fluxcd.io",
    "karpenter.k8s.aws",
    "karpenter.sh",
    "kustomize.config.k8s.io",
    "kustomize.toolkit.fluxcd.io",
    "kyverno.io",
    "policies.kyverno.io",
    "policy.karmada.io",
];

/// Returns the first templates of an object, at most `most`. The search is linear in the size of the object.
pub(crate) fn find<'d>(root: Node<'d>, group: &str, kind: &str, most: usize) -> Vec<PodTemplate<'d>> {
    let known = at_known_path(root, kind == "Pod" && group.is_empty());
    let mut found: Vec<_> = known.into_iter().collect();
    let spec = || root.get("spec");
    let more = match (group, kind) {
        _ if found.len() >= most || !group.contains('.') || is_without_pods(group, kind) => Vec::new(),
        ("argoproj.io", "Workflow" | "WorkflowTemplate" | "ClusterWorkflowTemplate") => of_workflow(spec()),
        ("argoproj.io", "CronWorkflow") => of_workflow(root.at_path(&["spec", "workflowSpec"])),
        ("sparkoperator.k8s.io", "SparkApplication") => of_spark(spec()),
        ("sparkoperator.k8s.io", "ScheduledSparkApplication") => {
            of_spark(root.at_path(&["spec", "template"]))
        }
        _ => search(root, most),
    };
    found.extend(more.into_iter().filter(|template| known != Some(*template)));
    found.truncate(most);
    found
}

/// Finds a template under the same path as in a built-in kind, such as the Rollout of Argo, or the object itself if it is a
/// pod.
fn at_known_path(root: Node<'_>, is_pod: bool) -> Option<PodTemplate<'_>> {
    const PATHS: [&[&str]; 3] =
        [&["spec", "template"], &["spec", "jobTemplate", "spec", "template"], &["template"]];
    let template = PATHS.iter().find_map(|path| PodTemplate::of_holder(root.at_path(path)?));
    template.or_else(|| PodTemplate::of_holder(root).filter(|_| is_pod))
}

fn is_without_pods(group: &str, kind: &str) -> bool {
    let of_argo_cd =
        group == "argoproj.io" && matches!(kind, "Application" | "ApplicationSet" | "AppProject");
    let is_policy = group.ends_with(".gatekeeper.sh") || group == "policy.open-cluster-management.io";
    of_argo_cd || is_policy || WITHOUT_PODS.contains(&group)
}

/// Searches a custom resource, in document order, for mappings with a pod's specification under `spec`: a list of
/// containers, of which the first has an image. The parts of a template that a controller merges with another seldom have
/// one.
fn search(root: Node<'_>, most: usize) -> Vec<PodTemplate<'_>> {
    let mut found = Vec::new();
    let scheduler = root.str_at(&["spec", "schedulerName"]).unwrap_or("default-scheduler");
    if scheduler != "default-scheduler" {
        return found;
    }
    let mut open: Vec<_> = root.get("spec").map(|spec| (spec, 1)).into_iter().collect();
    while let Some((node, depth)) = open.pop() {
        if found.len() >= most {
            break;
        }
        if is_object(node) {
            continue;
        }
        if let Some(template) = PodTemplate::of_holder(node).filter(|template| template.has_image()) {
            found.push(template);
        } else if depth < MAX_DEPTH {
            let children: Vec<_> =
                node.children().filter(|node| node.is_mapping() || node.is_sequence()).collect();
            open.extend(children.into_iter().rev().map(|node| (node, depth + 1)));
        }
    }
    found
}

/// Whether a node within a custom resource is an object itself. Such an object is often for another cluster, as in a
/// `ManifestWork`, or changed before it is created, as in a policy.
fn is_object(node: Node<'_>) -> bool {
    node.str_at(&["apiVersion"]).is_some() && node.str_at(&["kind"]).is_some()
}

/// The templates of an Argo Workflow that run a pod. The workflow's own node selector, tolerations and affinity apply to the
/// templates that have none.
///
/// Source: `addSchedulingConstraints` in workflow/controller/workflowpod.go of argoproj/argo-workflows at v3.6.0. A
/// `podSpecPatch` or `templateDefaults` can set each of these fields as well.
fn of_workflow(spec: Option<Node<'_>>) -> Vec<PodTemplate<'_>> {
    const RUN_A_POD: [&str; 5] = ["container", "containerSet", "script", "resource", "data"];
    let is_patched =
        |node: Node<'_>| node.get("podSpecPatch").is_some() || node.get("templateDefaults").is_some();
    let Some(spec) = spec.filter(|spec| !is_patched(*spec)) else { return Vec::new() };
    let runs = |template: &Node<'_>| RUN_A_POD.iter().any(|key| template.get(key).is_some());
    let templates = items_of(spec.get("templates")).filter(runs).filter(|template| !is_patched(*template));
    templates.map(|template| PodTemplate::inline(template, spec)).collect()
}

/// The driver and the executors of a `SparkApplication`. The application's own `nodeSelector` applies where they have none.
///
/// Source: `SparkApplicationSpec` and `SparkPodSpec` in `api/v1beta2/sparkapplication_types.go` of kubeflow/spark-operator at
/// v2.1.0. A pod template, another scheduler and the properties of Spark can set each of these fields as well.
fn of_spark(spec: Option<Node<'_>>) -> Vec<PodTemplate<'_>> {
    let Some(spec) = spec.filter(|spec| spec.get("batchScheduler").is_none()) else { return Vec::new() };
    let sets_pods = |key: &str| key.contains(".node.selector.") || key.contains("podTemplateFile");
    if spec.members_at(&["sparkConf"]).any(|(key, _)| sets_pods(key)) {
        return Vec::new();
    }
    let parts = ["driver", "executor"].into_iter().filter_map(|part| spec.get(part));
    let whole = parts.filter(|part| part.is_mapping() && part.get("template").is_none());
    whole.map(|part| PodTemplate::inline(part, spec)).collect()
}

#[cfg(test)]
mod tests {
    use crate::embedded::READ_OPTIONS;
    use crate::location::path_of;
    use crate::object::Object;
    use crate::pod::Pod;
    use manifest::{Document, File};

    /// The paths of the specifications, each with the path of its node selector.
    fn paths(text: &str) -> Vec<String> {
        let file = File::read("-", text, READ_OPTIONS);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
        let object = Object::all(tree)[0];
        let path = |pod: &Pod<'_>| {
            let selector = pod.spec().node_selector_map().map(|node| path_of(node, object.root()));
            let spec = path_of(pod.spec().node(), object.root());
            selector.map_or(spec.clone(), |selector| format!("{spec} <- {selector}"))
        };
        Pod::all(object).iter().map(path).collect()
    }

    const POD: &str = "{spec: {containers: [{name: a, image: b}]}}";

    #[test]
    fn finds_every_template_of_a_custom_resource_in_document_order() {
        for (kind, spec, expected) in [
            (
                "ray.io/v1, kind: RayCluster",
                "{headGroupSpec: {template: POD}, workerGroupSpecs: [{template: POD}, {template: POD}]}",
                vec![
                    "spec.headGroupSpec.template.spec",
                    "spec.workerGroupSpecs[0].template.spec",
                    "spec.workerGroupSpecs[1].template.spec",
                ],
            ),
            (
                "ray.io/v1, kind: RayJob",
                "{rayClusterSpec: {headGroupSpec: {template: POD}}, submitterPodTemplate: POD}",
                vec!["spec.rayClusterSpec.headGroupSpec.template.spec", "spec.submitterPodTemplate.spec"],
            ),
            ("serving.knative.dev/v1, kind: Service", "{template: POD}", vec!["spec.template.spec"]),
            ("argoproj.io/v1alpha1, kind: Rollout", "{template: POD}", vec!["spec.template.spec"]),
            (
                "kubeflow.org/v1, kind: PyTorchJob",
                "{pytorchReplicaSpecs: {Master: {template: POD}, Worker: {template: POD}}}",
                vec![
                    "spec.pytorchReplicaSpecs.Master.template.spec",
                    "spec.pytorchReplicaSpecs.Worker.template.spec",
                ],
            ),
            (
                "jobset.x-k8s.io/v1alpha2, kind: JobSet",
                "{replicatedJobs: [{name: a, template: {spec: {template: POD}}}]}",
                vec!["spec.replicatedJobs[0].template.spec.template.spec"],
            ),
            (
                "leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet",
                "{leaderWorkerTemplate: {leaderTemplate: POD, workerTemplate: POD}}",
                vec![
                    "spec.leaderWorkerTemplate.leaderTemplate.spec",
                    "spec.leaderWorkerTemplate.workerTemplate.spec",
                ],
            ),
        ] {
            let text =
                format!("{{apiVersion: {kind}, metadata: {{name: a}}, spec: {}}}", spec.replace("POD", POD));
            assert_eq!(paths(&text), expected, "{text}");
        }
    }

    #[test]
    fn argo_templates_use_the_selector_of_the_workflow_where_they_have_none() {
        let spec = "{nodeSelector: {a: b}, templates: [{name: main, steps: []}, {name: x, container: {image: a}}, \
                    {name: y, script: {image: a}, nodeSelector: {c: d}}, {name: z, container: {}, podSpecPatch: '{}'}]}";
        let expected = |spec: &str| {
            vec![
                format!("{spec}.templates[1] <- {spec}.nodeSelector"),
                format!("{spec}.templates[2] <- {spec}.templates[2].nodeSelector"),
            ]
        };
        let workflow = format!("{{apiVersion: argoproj.io/v1alpha1, kind: WorkflowTemplate, spec: {spec}}}");
        assert_eq!(paths(&workflow), expected("spec"));
        let cron = format!(
            "{{apiVersion: argoproj.io/v1alpha1, kind: CronWorkflow, spec: {{workflowSpec: {spec}}}}}"
        );
        assert_eq!(paths(&cron), expected("spec.workflowSpec"));
        assert_eq!(paths(&workflow.replace("{nodeSelector: {a: b}, t", "{podSpecPatch: '{}', t")), [""; 0]);
    }

    #[test]
    fn spark_has_a_driver_and_executors() {
        let text = "{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, spec: {nodeSelector: {a: b}, \
                    driver: {nodeSelector: {c: d}}, executor: {instances: 2}}}";
        assert_eq!(
            paths(text),
            ["spec.driver <- spec.driver.nodeSelector", "spec.executor <- spec.nodeSelector"]
        );
        let conf = "sparkConf: {spark.kubernetes.executor.podTemplateFile: a}, driver";
        assert_eq!(paths(&text.replace("driver", conf)), [""; 0]);
        assert_eq!(paths(&text.replace("driver", "batchScheduler: volcano, driver")), [""; 0]);
    }

    #[test]
    fn finds_one_template_in_a_kind_of_kubernetes() {
        let deployment =
            format!("{{apiVersion: apps/v1, kind: Deployment, spec: {{template: {POD}, extra: {POD}}}}}");
        assert_eq!(paths(&deployment), ["spec.template.spec"]);
        let pod = "{apiVersion: v1, kind: Pod, spec: {containers: [{image: a}]}}";
        assert_eq!(paths(pod), ["spec"]);
    }

    #[test]
    fn ignores_schemas_policies_patches_and_parts_of_templates() {
        for (kind, spec) in [
            (
                "apiextensions.k8s.io/v1, kind: CustomResourceDefinition",
                "{versions: [{schema: {openAPIV3Schema: {properties: {spec: {properties: {template: POD}}}}}}]}",
            ),
            ("kyverno.io/v1, kind: ClusterPolicy", "{rules: [{validate: {pattern: POD}}]}"),
            ("helm.toolkit.fluxcd.io/v2, kind: HelmRelease", "{values: {extra: POD}}"),
            ("argoproj.io/v1alpha1, kind: ApplicationSet", "{templatePatch: POD}"),
            ("flink.apache.org/v1beta1, kind: FlinkDeployment", "{podTemplate: POD}"),
            ("batch.volcano.sh/v1alpha1, kind: Job", "{schedulerName: volcano, tasks: [{template: POD}]}"),
            ("example.com/v1, kind: Thing", "{containers: [{name: a, image: b}]}"),
            ("example.com/v1, kind: Thing", "{podTemplate: {spec: {containers: [{name: a}]}}}"),
            (
                "work.open-cluster-management.io/v1, kind: ManifestWork",
                "{workload: {manifests: [{apiVersion: apps/v1, kind: Deployment, spec: {template: POD}}]}}",
            ),
        ] {
            let text =
                format!("{{apiVersion: {kind}, metadata: {{name: a}}, spec: {}}}", spec.replace("POD", POD));
            assert_eq!(paths(&text), [""; 0], "{text}");
        }
    }

    #[test]
    fn stops_at_a_bound_on_depth() {
        let nested = |levels: usize| {
            let spec = format!("{}{POD}{}", "{a: ".repeat(levels), "}".repeat(levels));
            paths(&format!("{{apiVersion: example.com/v1, kind: Thing, spec: {spec}}}")).len()
        };
        assert_eq!(nested(super::MAX_DEPTH - 1), 1);
        assert_eq!(nested(super::MAX_DEPTH), 0);
    }
}
