//! What tells a cluster from others: what its controller is started with, and the role it acts under.

use crate::chart_values;
use crate::controller::{CLUSTER_ENDPOINT, CLUSTER_NAME, Controller, INTERRUPTION_QUEUE, Parameter};
use crate::object::Object;
use karpenter::kind::Kind;
use manifest::tree::Node;
use values::arn;

/// A text that identifies a cluster, the node that holds it and the object that node is in.
#[derive(Clone, Copy, Debug)]
pub struct Mark<'d> {
    /// The text.
    pub text: &'d str,
    /// Where it stands.
    pub node: Node<'d>,
    /// In what.
    pub object: Object<'d>,
}

/// What is known of a cluster. Where two objects say different things, nothing is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Identity<'d> {
    /// Its name.
    pub name: Option<Mark<'d>>,
    /// The address of its API server.
    pub endpoint: Option<Mark<'d>>,
    /// The queue of interruption messages.
    pub queue: Option<Mark<'d>>,
    /// The ARN of the controller's role.
    pub role: Option<Mark<'d>>,
    /// Its region.
    pub region: Option<&'d str>,
}

/// The region that the AWS SDK takes.
const REGION: Parameter = Parameter { flag: "aws-region", variable: "AWS_REGION" };
const ROLE: &str = "eks.amazonaws.com/role-arn";

impl<'d> Identity<'d> {
    /// Reads the identity from the controllers among the objects of a cluster, and where they do not say it, from chart
    /// values.
    pub fn of(objects: &[Object<'d>], controllers: &[Controller<'d>]) -> Self {
        let values: Vec<_> = objects
            .iter()
            .filter_map(|object| Some((*object, chart_values::of_this_cluster(*object)?)))
            .collect();
        let find = |parameter: Parameter, key: &str| {
            let said = controllers.iter().filter_map(|controller| {
                let (text, node) = controller.setting(parameter).text()?;
                Some(Mark { text, node, object: controller.object })
            });
            let settings =
                values.iter().filter_map(|(object, values)| mark(*object, values.at(&["settings", key])?));
            agreed(said).or_else(|| agreed(settings))
        };
        let accounts = objects.iter().filter(|object| is_service_account(**object));
        let annotated = accounts.filter_map(|object| mark(*object, object.annotation(ROLE)?));
        let in_values = values.iter().filter_map(|(object, values)| {
            mark(*object, values.at(&["serviceAccount", "annotations", ROLE])?)
        });
        let region = controllers.iter().find_map(|controller| Some(controller.setting(REGION).text()?.0));
        let mut identity = Self {
            name: find(CLUSTER_NAME, "clusterName"),
            endpoint: find(CLUSTER_ENDPOINT, "clusterEndpoint"),
            queue: find(INTERRUPTION_QUEUE, "interruptionQueue"),
            role: agreed(annotated).or_else(|| agreed(in_values)),
            region,
        };
        let of_endpoint = identity.endpoint.and_then(|mark| region_of_endpoint(mark.text));
        let of_queue = identity.queue.and_then(|mark| mark.text.strip_prefix("arn:")?.split(':').nth(2));
        identity.region = identity.region.or(of_endpoint).or(of_queue);
        identity
    }

    /// The account, where the controller's role or the queue tells it.
    pub fn account(&self) -> Option<&'d str> {
        let of_queue = || self.queue?.text.strip_prefix("arn:")?.split(':').nth(3);
        match self.role.map(|mark| arn::Reference::read(mark.text)) {
            Some(arn::Reference::Arn { account, .. }) => Some(account),
            _ => of_queue(),
        }
    }

    /// Whether two clusters are in one account and region: `None` where that is not known of both.
    pub fn is_beside(&self, other: &Self) -> Option<bool> {
        let same = |one: Option<&str>, other: Option<&str>| Some(one? == other?);
        match (same(self.account(), other.account()), same(self.region, other.region)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        }
    }
}

fn mark<'d>(object: Object<'d>, node: Node<'d>) -> Option<Mark<'d>> {
    node.as_str().filter(|text| !text.is_empty()).map(|text| Mark { text, node, object })
}

/// The first of several, where all say the same.
fn agreed<'d>(mut marks: impl Iterator<Item = Mark<'d>>) -> Option<Mark<'d>> {
    let first = marks.next()?;
    marks.all(|mark| mark.text == first.text).then_some(first)
}

/// Whether an object is the controller's service account.
pub fn is_service_account(object: Object<'_>) -> bool {
    const SERVICE_ACCOUNT: Kind = Kind::of("", "v1", "ServiceAccount");
    let label = object.str_at(&["metadata", "labels", "app.kubernetes.io/name"]);
    object.is(SERVICE_ACCOUNT) && (object.name() == "karpenter" || label == Some("karpenter"))
}

/// The region in the address of an EKS API server: `https://<id>.gr7.eu-west-1.eks.amazonaws.com`.
pub fn region_of_endpoint(address: &str) -> Option<&str> {
    let host = address.split("://").nth(1)?.split(['/', ':']).next()?;
    let host = host.strip_suffix(".cn").unwrap_or(host);
    host.strip_suffix(".eks.amazonaws.com")?.rsplit('.').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_eks_tells_the_region() {
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
