//! Values of Karpenter's Helm chart: in a document of values, in a HelmRelease of Flux or in an Application of Argo CD.
//!
//! The keys that the chart of a release knows are facts, in `karpenter::chart`.

use karpenter::chart;
use manifest::tree::{Node, items_of};

use crate::location::Place;
use crate::object::{Form, Object};
use crate::pod::PodSpec;

/// View of the values that an object gives to the chart: a mapping, and parameters (`helm --set`) that override it.
#[derive(Clone, Copy, Debug)]
pub struct ChartValues<'d> {
    map: Option<Node<'d>>,
    parameters: Option<Node<'d>>,
}

impl<'d> ChartValues<'d> {
    /// `settings.clusterName`.
    pub fn cluster_name(self) -> Option<Node<'d>> {
        self.setting("clusterName")
    }

    /// `settings.clusterEndpoint`.
    pub fn cluster_endpoint(self) -> Option<Node<'d>> {
        self.setting("clusterEndpoint")
    }

    /// `settings.interruptionQueue`.
    pub fn interruption_queue(self) -> Option<Node<'d>> {
        self.setting("interruptionQueue")
    }

    /// Whether the values set a queue, under its key or under a key of older charts, or the object names files of values,
    /// which are not visible.
    pub fn may_set_queue(self, object: Object<'d>) -> bool {
        let is_set =
            |node: Option<Node<'d>>| node.is_some_and(|node| node.as_str() != Some("") && !node.is_null());
        let old = self.settings().is_some_and(|settings| {
            is_set(settings.interruption_queue_name()) || is_set(settings.aws_interruption_queue_name())
        });
        old || is_set(self.interruption_queue()) || names_value_files(object)
    }

    /// `controller.image.repository`.
    pub fn image_repository(self) -> Option<Node<'d>> {
        self.value(&["controller", "image", "repository"])
    }

    /// A member of `settings.featureGates`.
    pub fn feature_gate(self, key: &str) -> Option<Node<'d>> {
        self.value(&["settings", "featureGates", key])
    }

    /// A member of `settings.awsFeatureGates`.
    pub fn aws_feature_gate(self, key: &str) -> Option<Node<'d>> {
        self.value(&["settings", "awsFeatureGates", key])
    }

    /// `settings.reservedENIs`.
    pub fn reserved_enis(self) -> Option<Node<'d>> {
        self.setting("reservedENIs")
    }

    /// A member of `settings` that turns an option on or off.
    pub fn switch(self, key: &str) -> Option<Node<'d>> {
        self.setting(key)
    }

    /// A member of `serviceAccount.annotations`.
    pub fn service_account_annotation(self, key: &str) -> Option<Node<'d>> {
        self.value(&["serviceAccount", "annotations", key])
    }

    /// `serviceAccount.name`.
    pub fn service_account_name(self) -> Option<Node<'d>> {
        self.value(&["serviceAccount", "name"])
    }

    /// The pod settings of the controller, which the mapping has at its top level.
    pub fn pod_spec(self) -> Option<PodSpec<'d>> {
        self.map.map(PodSpec::new)
    }

    /// `settings` of the mapping.
    pub fn settings(self) -> Option<ChartSettings<'d>> {
        self.map?.get("settings").map(ChartSettings)
    }

    /// The keys of `settings`.
    pub fn setting_keys(self) -> Vec<(&'d str, ChartKey<'d>)> {
        self.keys(&["settings"])
    }

    /// The keys under a path that comes from a table of facts, such as `karpenter::chart::REMOVED_KEYS`.
    pub fn keys(self, path: &[&str]) -> Vec<(&'d str, ChartKey<'d>)> {
        let map = self.map.and_then(|map| map.at_path(path));
        let members =
            map.into_iter().flat_map(Node::members).map(|(key, node)| (key, ChartKey::Member(node)));
        let set = self.set().filter_map(|(name, item)| {
            let key = rest(name, path)?.split(['.', '[']).next().filter(|key| !key.is_empty())?;
            Some((key, ChartKey::Parameter(item.get("name")?)))
        });
        members.chain(set).collect()
    }

    /// The value at a path that comes from a table of facts, such as `karpenter::option_values::OPTIONS`.
    pub fn at(self, path: &[&str]) -> Option<Node<'d>> {
        self.value(path)
    }

    fn setting(self, key: &str) -> Option<Node<'d>> {
        self.value(&["settings", key])
    }

    fn value(self, path: &[&str]) -> Option<Node<'d>> {
        let set = self.set().filter(|(name, _)| rest(name, path) == Some(""));
        let set = set.filter_map(|(_, item)| item.get("value")).last();
        set.or_else(|| self.map?.at_path(path))
    }

    fn set(self) -> impl Iterator<Item = (&'d str, Node<'d>)> {
        items_of(self.parameters).filter_map(|item| Some((item.get("name")?.as_str()?, item)))
    }
}

/// View of `settings` in a mapping of values.
#[derive(Clone, Copy, Debug)]
pub struct ChartSettings<'d>(Node<'d>);

impl<'d> ChartSettings<'d> {
    /// The whole section.
    pub fn node(self) -> Node<'d> {
        self.0
    }

    /// `interruptionQueue`.
    pub fn interruption_queue(self) -> Option<Node<'d>> {
        self.0.get("interruptionQueue")
    }

    /// `interruptionQueueName`, the name of the key before 0.33.
    pub fn interruption_queue_name(self) -> Option<Node<'d>> {
        self.0.get("interruptionQueueName")
    }

    /// `aws.interruptionQueueName`, the path of the key before 0.33.
    pub fn aws_interruption_queue_name(self) -> Option<Node<'d>> {
        self.0.get("aws")?.get("interruptionQueueName")
    }
}

/// Location of a key of the values.
#[derive(Clone, Copy, Debug)]
pub enum ChartKey<'d> {
    /// The key of this member.
    Member(Node<'d>),
    /// A part of this name of a parameter.
    Parameter(Node<'d>),
}

impl<'d> ChartKey<'d> {
    /// The place of the key.
    pub fn place(self) -> Place<'d> {
        match self {
            Self::Member(node) => Place::key(node),
            Self::Parameter(name) => Place::value(name),
        }
    }
}

/// Returns the rest of a parameter's name after a path of keys. Dots within a key are escaped.
fn rest<'n>(name: &'n str, path: &[&str]) -> Option<&'n str> {
    path.iter().try_fold(name, |rest, key| {
        let rest = rest.strip_prefix(key.replace('.', "\\.").as_str())?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') }
    })
}

/// Returns the values of an object: a document of values, or a HelmRelease of Flux or an Application or `ApplicationSet` of Argo CD that
/// installs the chart `karpenter`, or a parent chart that passes the values under `karpenter` on.
pub fn of(object: Object<'_>) -> Option<ChartValues<'_>> {
    match (object.form(), object.group(), object.kind()) {
        (Form::ChartValues, ..) => Some(ChartValues { map: Some(object.root()), parameters: None }),
        (Form::Release, ..) => of_chart(Some(true), object.at(&["values"]), object.at(&["set"])),
        (Form::Api, "helm.toolkit.fluxcd.io", "HelmRelease") => {
            let chart = object.str_at(&["spec", "chart", "spec", "chart"]);
            let reference = object.str_at(&["spec", "chartRef", "name"]);
            let is_own = chart.or(reference) == Some("karpenter");
            of_chart(is_own.then_some(true).or(chart.map(|_| false)), object.at(&["spec", "values"]), None)
        }
        _ => sources_of_argo(object).find_map(|source| {
            let helm = source.get("helm")?;
            // The parameters override the values.
            of_chart(is_own(source), values_of_argo(helm), helm.get("parameters"))
        }),
    }
}

/// `spec` of an Application of Argo CD, or of the Applications that an `ApplicationSet` makes.
///
/// Source: `ApplicationSetTemplate` in `pkg/apis/application/v1alpha1/applicationset_types.go` of argoproj/argo-cd.
fn application_spec(object: Object<'_>) -> Option<Node<'_>> {
    match (object.form(), object.group(), object.kind()) {
        (Form::Api, "argoproj.io", "Application") => object.at(&["spec"]),
        (Form::Api, "argoproj.io", "ApplicationSet") => object.at(&["spec", "template", "spec"]),
        _ => None,
    }
}

/// The sources of Argo CD's Applications.
fn sources_of_argo(object: Object<'_>) -> impl Iterator<Item = Node<'_>> {
    application_spec(object).into_iter().flat_map(|spec| {
        let several = items_of(spec.get("sources"));
        spec.get("source").into_iter().chain(several)
    })
}

/// The values that a HelmRelease of Flux or an Application of Argo CD gives to its charts, whatever they are.
pub(crate) fn given_to_charts(object: Object<'_>) -> impl Iterator<Item = Node<'_>> {
    let is_release = object.form() == Form::Api && object.group() == "helm.toolkit.fluxcd.io";
    let of_flux = Some(object).filter(|_| is_release).and_then(|object| object.at(&["spec", "values"]));
    let of_argo = sources_of_argo(object).filter_map(|source| values_of_argo(source.get("helm")?));
    of_flux.into_iter().chain(of_argo)
}

/// The values of a source of Argo CD: it reads the text only if there is no object.
///
/// Source: docs/user-guide/helm.md and `ValuesString` in pkg/apis/application/v1alpha1 of argoproj/argo-cd.
fn values_of_argo(helm: Node<'_>) -> Option<Node<'_>> {
    let text = || helm.get("values").and_then(Node::embedded);
    helm.get("valuesObject").filter(|values| values.is_mapping()).or_else(text)
}

/// The texts with values that Applications of Argo CD give to Karpenter's chart, or to a chart around it, and that are not read as YAML.
pub fn unread_texts(object: Object<'_>) -> Vec<Node<'_>> {
    sources_of_argo(object).filter_map(unread_text).collect()
}

/// The text with values of a source of Argo CD, if it is for Karpenter's chart and is not read as YAML.
fn unread_text(source: Node<'_>) -> Option<Node<'_>> {
    let helm = source.get("helm")?;
    let text = helm.get("values").filter(|_| helm.get("valuesObject").is_none())?;
    let words = text.as_str().filter(|_| text.embedded().is_none())?;
    let is_for_karpenter = is_own(source) == Some(true) || words.contains("karpenter");
    (is_for_karpenter && !words.trim().is_empty() && !words.contains("{{")).then_some(text)
}

/// Whether a source of Argo CD is Karpenter's chart; `None` if it names no chart, as for a Git repository.
fn is_own(source: Node<'_>) -> Option<bool> {
    let chart = source.str_at(&["chart"]).unwrap_or_default();
    let url = source.str_at(&["repoURL"]).unwrap_or_default();
    if chart.is_empty() {
        return url.ends_with("/karpenter/karpenter").then_some(true);
    }
    Some(chart.rsplit('/').next() == Some("karpenter"))
}

/// Returns the values for Karpenter's chart among the values for a chart. If the chart's name is unknown, the keys decide.
fn of_chart<'d>(
    is_own: Option<bool>,
    map: Option<Node<'d>>,
    parameters: Option<Node<'d>>,
) -> Option<ChartValues<'d>> {
    let map = map.filter(|map| map.is_mapping());
    let parameters = parameters.filter(|list| list.is_sequence());
    match is_own {
        Some(true) => (map.is_some() || parameters.is_some()).then_some(ChartValues { map, parameters }),
        Some(false) => Some(ChartValues { map: Some(chart::values_handed_on(map?)?), parameters: None }),
        None => Some(ChartValues { map: Some(chart::values_in(map?)?), parameters }),
    }
}

/// Whether an object takes values from elsewhere: `valuesFrom` of a HelmRelease, files that an Application names, the patch of an
/// `ApplicationSet`, or values of a `helm_release` that only Terraform knows.
pub fn names_value_files(object: Object<'_>) -> bool {
    let is_list = |list: Option<Node<'_>>| list.is_some_and(|list| !list.is_empty());
    let mut files = sources_of_argo(object).map(|source| source.at_path(&["helm", "valueFiles"]));
    let is_patched = object.kind() == "ApplicationSet" && object.at(&["spec", "templatePatch"]).is_some();
    let unevaluated = object.at(&["unevaluated"]).filter(|_| object.form() == Form::Release);
    is_list(object.at(&["spec", "valuesFrom"])) || files.any(is_list) || is_patched || is_list(unevaluated)
}

/// Returns the values of an object that installs the chart into the cluster that the object is applied to. A HelmRelease
/// with `kubeConfig` and an Application with another destination are in a hub cluster and install into another one.
///
/// Source: `spec.kubeConfig` of Flux's HelmRelease v2; `spec.destination` of Argo CD's Application, where `in-cluster` and
/// `https://kubernetes.default.svc` are the cluster that Argo CD runs in. The destination of an `ApplicationSet` is mostly a template.
pub fn of_this_cluster(object: Object<'_>) -> Option<ChartValues<'_>> {
    of(object).filter(|_| object.form() != Form::Api || !installs_elsewhere(object))
}

fn installs_elsewhere(object: Object<'_>) -> bool {
    let destination = |key| application_spec(object)?.str_at(&["destination", key]);
    object.at(&["spec", "kubeConfig"]).is_some()
        || destination("name").is_some_and(|name| name != "in-cluster")
        || destination("server").is_some_and(|server| server != "https://kubernetes.default.svc")
}
