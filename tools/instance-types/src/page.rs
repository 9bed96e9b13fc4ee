//! The reference page of instance types.

use std::collections::BTreeMap;
use std::mem;

use crate::limits::NetworkLimits;

/// The columns of the table.
pub(crate) const COLUMNS: [&str; 22] = [
    "name",
    "cpu",
    "memory",
    "arch",
    "cpu-manufacturer",
    "clock-speed",
    "ebs-bandwidth",
    "network-bandwidth",
    "hypervisor",
    "encryption-in-transit",
    "local-nvme",
    "gpu-manufacturer",
    "gpu-name",
    "gpu-count",
    "gpu-memory",
    "accelerator-manufacturer",
    "accelerator-name",
    "accelerator-count",
    "neuron-cores",
    "efa",
    "interfaces/addresses",
    "branch-interfaces",
];

/// The labels of the columns from `cpu` to `accelerator-count`.
const LABELS: [&str; 17] = [
    "karpenter.k8s.aws/instance-cpu",
    "karpenter.k8s.aws/instance-memory",
    "kubernetes.io/arch",
    "karpenter.k8s.aws/instance-cpu-manufacturer",
    "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz",
    "karpenter.k8s.aws/instance-ebs-bandwidth",
    "karpenter.k8s.aws/instance-network-bandwidth",
    "karpenter.k8s.aws/instance-hypervisor",
    "karpenter.k8s.aws/instance-encryption-in-transit-supported",
    "karpenter.k8s.aws/instance-local-nvme",
    "karpenter.k8s.aws/instance-gpu-manufacturer",
    "karpenter.k8s.aws/instance-gpu-name",
    "karpenter.k8s.aws/instance-gpu-count",
    "karpenter.k8s.aws/instance-gpu-memory",
    "karpenter.k8s.aws/instance-accelerator-manufacturer",
    "karpenter.k8s.aws/instance-accelerator-name",
    "karpenter.k8s.aws/instance-accelerator-count",
];

/// Labels and resources of an instance type. A name occurs in one of the two tables only.
#[derive(Debug, Default)]
pub(crate) struct TypePage(BTreeMap<String, String>);

impl TypePage {
    fn field(&self, name: &str) -> &str {
        self.0.get(name).map_or("-", String::as_str)
    }

    /// The interfaces as the number of pods implies them, for the few types that the table of limits lacks. These have 50
    /// addresses on an interface.
    pub(crate) fn interfaces(&self) -> Option<NetworkLimits> {
        let pods: u32 = self.field("pods").parse().ok()?;
        let interfaces = pods.checked_sub(2)? / 49;
        Some(NetworkLimits { interfaces, addresses: 50, branches: 0 })
    }

    /// The line of the table.
    pub(crate) fn line(&self, name: &str, limits: NetworkLimits) -> String {
        let labels: Vec<&str> = LABELS.iter().map(|label| self.field(label)).collect();
        let NetworkLimits { interfaces, addresses, branches } = limits;
        let cores = self.field("aws.amazon.com/neuroncore");
        let efa = self.field("vpc.amazonaws.com/efa");
        format!("{name} {} {cores} {efa} {interfaces}/{addresses} {branches}\n", labels.join(" "))
    }
}

/// Parses the page: a heading for each type, then the rows of its tables.
pub(crate) fn parse(text: &str) -> BTreeMap<String, TypePage> {
    let mut all: BTreeMap<String, TypePage> = BTreeMap::new();
    let mut open = TypePage::default();
    let mut name = String::new();
    for line in text.lines().chain(["### `end`"]) {
        if let Some(next) = line.strip_prefix("### `").and_then(|rest| rest.strip_suffix('`')) {
            let (last, page) = (mem::replace(&mut name, next.to_owned()), mem::take(&mut open));
            if !last.is_empty() {
                all.insert(last, page);
            }
        } else if let Some((key, value)) = line.trim().strip_prefix('|').and_then(|row| row.split_once('|')) {
            open.0.insert(key.to_owned(), value.trim_end_matches('|').to_owned());
        }
    }
    all
}
