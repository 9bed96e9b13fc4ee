//! Identity of a cluster: the options of its controller, and the role that the controller assumes.

use std::collections::BTreeSet;

use karpenter::kind::Kind;
use manifest::tree::Node;
use values::arn;
use values::placeholder::has_placeholder;

use crate::chart_values::{self, ChartValues};
use crate::controller::{
    CLUSTER_ENDPOINT, CLUSTER_NAME, Controller, ControllerOption, INTERRUPTION_QUEUE, OptionValue,
};
use crate::eksctl::EksctlKarpenter;
use crate::object::Object;
use crate::pod::Pod;

/// Text that identifies a cluster, with its node and object.
#[derive(Clone, Copy, Debug)]
pub struct IdentityText<'d> {
    /// The text.
    pub text: &'d str,
    /// The node that holds the text.
    pub node: Node<'d>,
    /// The object that the node belongs to.
    pub object: Object<'d>,
}

/// Known identity of a cluster. A field is `None` if two objects contradict each other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Identity<'d> {
    /// Name of the cluster.
    pub name: Option<IdentityText<'d>>,
    /// Address of the API server.
    pub endpoint: Option<IdentityText<'d>>,
    /// Queue with interruption messages.
    pub queue: Option<IdentityText<'d>>,
    /// Whether any object sets a queue, or may take it from a place that is not visible.
    pub may_have_queue: bool,
    /// ARN of the controller's role.
    pub role: Option<IdentityText<'d>>,
    /// Region of the cluster.
    pub region: Option<&'d str>,
}

/// The region that the AWS SDK uses.
const REGION: ControllerOption = ControllerOption { flag: "aws-region", variable: "AWS_REGION" };
/// Annotation of the service account that names the controller's role.
pub const ROLE_ARN: &str = "eks.amazonaws.com/role-arn";

impl<'d> Identity<'d> {
    /// Collects the identity from the controllers of a cluster, or else from chart values, or else from what eksctl installs.
    pub fn of(objects: &[Object<'d>], controllers: &[Controller<'d>]) -> Self {
        let values: Vec<_> = objects
            .iter()
            .filter_map(|object| Some((*object, chart_values::of_this_cluster(*object)?)))
            .collect();
        let find = |option: ControllerOption, in_chart: fn(ChartValues<'d>) -> Option<Node<'d>>| {
            let options = controllers.iter().filter_map(|controller| {
                let (text, node) = controller.setting(option).text()?;
                Some(IdentityText { text, node, object: controller.object })
            });
            let settings = values.iter().filter_map(|(object, values)| text_of(*object, in_chart(*values)?));
            agreed(options).or_else(|| agreed(settings))
        };
        let accounts = ServiceAccountNames::of(objects, controllers);
        let annotated =
            accounts.among(objects).filter_map(|object| text_of(object, object.annotation(ROLE_ARN)?));
        let in_values = values
            .iter()
            .filter_map(|(object, values)| text_of(*object, values.service_account_annotation(ROLE_ARN)?));
        let region = controllers.iter().find_map(|controller| Some(controller.setting(REGION).text()?.0));
        let installed = || objects.iter().filter_map(|one| Some((*one, EksctlKarpenter::of(*one)?)));
        let by_eksctl = installed().filter_map(|(object, one)| text_of(object, one.cluster_name()?));
        let may_have_queue =
            controllers.iter().any(|controller| may_set(controller.setting(INTERRUPTION_QUEUE)))
                || values.iter().any(|(object, values)| values.may_set_queue(*object))
                || installed().any(|(_, one)| one.creates_queue());
        let mut identity = Self {
            may_have_queue,
            name: find(CLUSTER_NAME, ChartValues::cluster_name).or_else(|| agreed(by_eksctl)),
            endpoint: find(CLUSTER_ENDPOINT, ChartValues::cluster_endpoint),
            queue: find(INTERRUPTION_QUEUE, ChartValues::interruption_queue),
            role: agreed(annotated).or_else(|| agreed(in_values)),
            region,
        };
        let of_endpoint = identity.endpoint.and_then(|endpoint| region_of_endpoint(endpoint.text));
        let of_queue = identity.queue.and_then(|queue| queue.text.strip_prefix("arn:")?.split(':').nth(2));
        let of_eksctl = || installed().find_map(|(_, one)| one.region());
        identity.region = identity.region.or(of_endpoint).or(of_queue).or_else(of_eksctl);
        identity
    }

    /// The AWS account, if the controller's role or the queue names it.
    pub fn account(&self) -> Option<&'d str> {
        let of_queue = || self.queue?.text.strip_prefix("arn:")?.split(':').nth(3);
        match self.role.map(|role| arn::IamReference::parse(role.text)) {
            Some(arn::IamReference::Arn { account, .. }) => Some(account),
            _ => of_queue(),
        }
    }

    /// Whether two clusters are in one account and region; `None` if that is unknown for either.
    pub fn is_beside(&self, other: &Self) -> Option<bool> {
        let same = |one: Option<&str>, other: Option<&str>| Some(one? == other?);
        match (same(self.account(), other.account()), same(self.region, other.region)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        }
    }
}

fn may_set(option: OptionValue<'_>) -> bool {
    option == OptionValue::Elsewhere || option.text().is_some()
}

fn text_of<'d>(object: Object<'d>, node: Node<'d>) -> Option<IdentityText<'d>> {
    node.as_str().filter(|text| !text.is_empty()).map(|text| IdentityText { text, node, object })
}

/// Returns the first of several texts if all are equal.
fn agreed<'d>(mut texts: impl Iterator<Item = IdentityText<'d>>) -> Option<IdentityText<'d>> {
    let first = texts.next()?;
    texts.all(|other| other.text == first.text).then_some(first)
}

const SERVICE_ACCOUNT: Kind = Kind::of("", "v1", "ServiceAccount");
/// Name of the service account that the chart writes by default.
const DEFAULT_SERVICE_ACCOUNT: &str = "karpenter";

/// Whether an object is a service account with the name or the label that the chart writes by default.
pub fn is_service_account(object: Object<'_>) -> bool {
    let label = || object.metadata().label("app.kubernetes.io/name").and_then(Node::as_str);
    object.is(SERVICE_ACCOUNT) && (object.name() == DEFAULT_SERVICE_ACCOUNT || label() == Some("karpenter"))
}

/// Names of the controller's service accounts. An input can have the controllers of several clusters.
#[derive(Debug, Default)]
pub struct ServiceAccountNames<'d> {
    /// Names in Deployments of the controller and in values of its chart.
    named: BTreeSet<&'d str>,
    /// Whether a service account may have the name that the chart writes by default.
    has_default: bool,
}

impl<'d> ServiceAccountNames<'d> {
    /// Collects the names that Deployments and chart values state. The chart's default counts where one of them states no name, and
    /// where the input has none of the named service accounts.
    ///
    /// Source: `karpenter.serviceAccountName` in charts/karpenter/templates/_helpers.tpl of aws/karpenter-provider-aws at v1.14.1.
    pub fn of(objects: &[Object<'d>], controllers: &[Controller<'d>]) -> Self {
        let mut names = Self::default();
        for controller in controllers {
            let spec = Pod::of(controller.object).map(|pod| pod.spec().node());
            names.add(spec.and_then(|spec| spec.str_at(&["serviceAccountName"])));
        }
        for values in objects.iter().filter_map(|object| chart_values::of_this_cluster(*object)) {
            names.add(values.service_account_name().and_then(Node::as_str));
        }
        let is_named =
            |object: &Object<'d>| object.is(SERVICE_ACCOUNT) && names.named.contains(object.name());
        names.has_default |= !objects.iter().any(is_named);
        names
    }

    fn add(&mut self, name: Option<&'d str>) {
        match name.filter(|name| !name.is_empty() && !has_placeholder(name)) {
            Some(name) => {
                self.named.insert(name);
            }
            None => self.has_default = true,
        }
    }

    /// Whether a service account of the controller has a name.
    pub fn contains(&self, name: &str) -> bool {
        self.named.contains(name) || (self.has_default && name == DEFAULT_SERVICE_ACCOUNT)
    }

    /// The controller's service accounts among objects.
    pub fn among(&self, objects: &[Object<'d>]) -> impl Iterator<Item = Object<'d>> {
        let accounts = objects.iter().copied().filter(|object| object.is(SERVICE_ACCOUNT));
        accounts.filter(|object| {
            self.named.contains(object.name()) || (self.has_default && is_service_account(*object))
        })
    }
}

/// Returns the region in the address of an EKS API server: `https://<id>.gr7.eu-west-1.eks.amazonaws.com`.
pub fn region_of_endpoint(address: &str) -> Option<&str> {
    let host = address.split("://").nth(1)?.split(['/', ':']).next()?;
    let host = host.strip_suffix(".cn").unwrap_or(host);
    host.strip_suffix(".eks.amazonaws.com")?.rsplit('.').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_region_from_an_eks_endpoint() {
        for (address, expected) in [
            ("https://0A1B.gr7.eu-west-1.eks.amazonaws.com", Some("eu-west-1")),
            ("https://0A1B.sk1.cn-north-1.eks.amazonaws.com.cn/", Some("cn-north-1")),
            ("https://api.example.net", None),
            ("0A1B.gr7.eu-west-1.eks.amazonaws.com", None),
        ] {
            assert_eq!(region_of_endpoint(address), expected, "{address}");
        }
    }
}
