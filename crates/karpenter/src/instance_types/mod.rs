//! Instance types and the on-demand prices of one region.
//!
//! The tables are text that `tools/instance-types` writes from aws/karpenter-provider-aws; their first lines name the
//! revision. A table is parsed when it is first used, and a program that does not use it does not contain it.

pub mod hints;
mod label;
pub mod names;

use std::sync::LazyLock;

pub use label::{MULTIPLE_TENANCIES, TypeLabel, category_and_generation_of_family, lacks_local_disks};

/// The labels, accelerators and network interfaces of every type.
const TYPES: &str = include_str!("types.txt");

/// On-demand prices in USD per hour.
const PRICES: &str = include_str!("prices.txt");

/// The region of [`prices`].
pub const PRICED_REGION: &str = "us-east-1";

/// The extended resources that Karpenter expects of instance types. The addresses are of Windows nodes.
///
/// Source: `computeCapacity` in pkg/providers/instancetype/types.go and the names in pkg/apis/v1/labels.go of
/// aws/karpenter-provider-aws at v1.14.1.
pub const EXTENDED_RESOURCES: [&str; 8] = [
    "nvidia.com/gpu",
    "amd.com/gpu",
    "habana.ai/gaudi",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "vpc.amazonaws.com/efa",
    "vpc.amazonaws.com/pod-eni",
    "vpc.amazonaws.com/PrivateIPv4Address",
];

/// Number of columns of the table.
const COLUMNS: usize = 22;

/// An instance type as EC2 describes it.
#[derive(Clone, Copy, Debug)]
pub struct InstanceType {
    /// The row of the table.
    row: &'static str,
    /// The end of each column in the row.
    ends: [u8; COLUMNS],
}

/// Column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Name,
    Cpu,
    Memory,
    Arch,
    CpuManufacturer,
    ClockSpeed,
    EbsBandwidth,
    NetworkBandwidth,
    Hypervisor,
    EncryptionInTransit,
    LocalNvme,
    GpuManufacturer,
    GpuName,
    GpuCount,
    GpuMemory,
    AcceleratorManufacturer,
    AcceleratorName,
    AcceleratorCount,
    NeuronCores,
    Efa,
    Interfaces,
    BranchInterfaces,
}

/// Every instance type, by name.
pub fn all() -> &'static [InstanceType] {
    static ALL: LazyLock<Vec<InstanceType>> =
        LazyLock::new(|| rows(TYPES).filter_map(InstanceType::parse).collect());
    &ALL
}

/// The instance types of a family, such as `m5`.
pub fn types_of_family(family: &str) -> &'static [InstanceType] {
    // The table is sorted by name.
    let is_before = |kind: &InstanceType| kind.name().bytes().lt(family.bytes().chain([b'.']));
    let all = all();
    let start = all.partition_point(is_before);
    let rest = all.get(start..).unwrap_or_default();
    let is_in =
        |kind: &InstanceType| kind.name().strip_prefix(family).is_some_and(|rest| rest.starts_with('.'));
    let length = rest.iter().position(|kind| !is_in(kind)).unwrap_or(rest.len());
    rest.get(..length).unwrap_or_default()
}

/// The on-demand price of each type in [`PRICED_REGION`], in USD per hour, by name.
pub fn prices() -> impl Iterator<Item = (&'static str, f64)> {
    rows(PRICES).filter_map(|line| {
        let (name, price) = line.split_once(' ')?;
        Some((name, price.parse().ok()?))
    })
}

fn rows(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.starts_with('#'))
}

impl InstanceType {
    fn parse(row: &'static str) -> Option<Self> {
        let mut ends = [0; COLUMNS];
        let mut columns = ends.iter_mut();
        // A plain loop over the bytes of short words takes less time than searches that are made for long texts.
        for (at, byte) in row.bytes().enumerate() {
            if byte == b' ' {
                *columns.next()? = u8::try_from(at).ok()?;
            }
        }
        *columns.next()? = u8::try_from(row.len()).ok()?;
        Some(Self { row, ends })
    }

    /// The text of a column; `None` if the type has no such label or resource.
    fn text(&self, column: Column) -> Option<&'static str> {
        let (before, columns) = self.ends.split_at_checked(column as usize)?;
        let start = before.last().map_or(0, |end| usize::from(*end) + 1);
        self.row.get(start..usize::from(*columns.first()?)).filter(|text| *text != "-")
    }

    fn number(&self, column: Column) -> i64 {
        self.text(column).and_then(|text| text.parse().ok()).unwrap_or_default()
    }

    /// The name, such as `m5.large`.
    pub fn name(&self) -> &'static str {
        self.text(Column::Name).unwrap_or_default()
    }

    /// Number of vCPUs.
    pub fn cpu(&self) -> i64 {
        self.number(Column::Cpu)
    }

    /// Memory in MiB.
    pub fn memory(&self) -> i64 {
        self.number(Column::Memory)
    }

    /// Whether the processor is an ARM processor.
    pub fn is_arm(&self) -> bool {
        self.text(Column::Arch) == Some("arm64")
    }

    /// Whether the hypervisor is Nitro.
    pub fn is_nitro(&self) -> bool {
        self.text(Column::Hypervisor) == Some("nitro")
    }

    /// Total size of the local disks in GB.
    pub fn local_nvme(&self) -> Option<i64> {
        self.text(Column::LocalNvme).map(|_| self.number(Column::LocalNvme))
    }

    /// Interfaces of the default network card, and IPv4 addresses of an interface.
    pub fn interfaces(&self) -> (i64, i64) {
        let parts = self.text(Column::Interfaces).and_then(|text| text.split_once('/'));
        let number = |text: &str| text.parse().unwrap_or_default();
        parts.map_or((0, 0), |(interfaces, addresses)| (number(interfaces), number(addresses)))
    }

    /// Branch interfaces, accelerators and EFA interfaces as extended resources.
    pub fn extended_resources(&self) -> impl Iterator<Item = (&'static str, i64)> {
        let gpu = match self.text(Column::GpuManufacturer) {
            Some("nvidia") => Some("nvidia.com/gpu"),
            Some("amd") => Some("amd.com/gpu"),
            Some("habana") => Some("habana.ai/gaudi"),
            _ => None,
        };
        let cores = self.number(Column::NeuronCores);
        let all = [
            gpu.map(|name| (name, self.number(Column::GpuCount))),
            Some(("aws.amazon.com/neuron", self.number(Column::AcceleratorCount))).filter(|_| cores > 0),
            Some(("aws.amazon.com/neuroncore", cores)),
            Some(("vpc.amazonaws.com/efa", self.number(Column::Efa))),
            Some(("vpc.amazonaws.com/pod-eni", self.number(Column::BranchInterfaces))),
        ];
        all.into_iter().flatten().filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> &'static InstanceType {
        all().iter().find(|kind| kind.name() == name).unwrap()
    }

    #[test]
    fn parses_every_line_of_the_table() {
        assert_eq!(all().len(), rows(TYPES).count());
        assert_eq!(prices().count(), rows(PRICES).count());
        assert!(all().iter().all(|kind| kind.cpu() > 0 && kind.memory() > 0 && kind.interfaces().0 > 0));
    }

    #[test]
    fn finds_the_types_of_each_family() {
        for kind in all() {
            let (family, _) = kind.name().split_once('.').unwrap();
            let expected =
                all().iter().filter(|other| other.name().split_once('.').unwrap().0 == family).count();
            assert_eq!(types_of_family(family).len(), expected, "{family}");
        }
        assert!(types_of_family("m55").is_empty() && types_of_family("").is_empty());
    }

    #[test]
    fn describes_an_instance_type() {
        let kind = named("m5.large");
        assert_eq!((kind.cpu(), kind.memory(), kind.is_arm(), kind.is_nitro()), (2, 8192, false, true));
        assert_eq!((kind.local_nvme(), kind.interfaces()), (None, (3, 10)));
        assert_eq!(kind.extended_resources().collect::<Vec<_>>(), [("vpc.amazonaws.com/pod-eni", 9)]);
        assert_eq!(named("c5d.large").local_nvme(), Some(50));
        assert!(prices().any(|(name, price)| name == "m5.large" && (price - 0.096).abs() < 1e-9));
    }

    #[test]
    fn lists_every_extended_resource() {
        let mut resources = all().iter().flat_map(InstanceType::extended_resources);
        assert!(resources.all(|(name, _)| EXTENDED_RESOURCES.contains(&name)));
    }

    #[test]
    fn counts_accelerators_as_resources() {
        let resource = |name: &str, resource: &str| {
            named(name).extended_resources().find(|(name, _)| *name == resource).map(|(_, count)| count)
        };
        assert_eq!(resource("p5.48xlarge", "nvidia.com/gpu"), Some(8));
        assert_eq!(resource("p5.48xlarge", "vpc.amazonaws.com/efa"), Some(32));
        assert_eq!(resource("g4ad.xlarge", "amd.com/gpu"), Some(1));
        assert_eq!(resource("inf1.xlarge", "aws.amazon.com/neuron"), Some(1));
        assert_eq!(resource("inf1.xlarge", "aws.amazon.com/neuroncore"), Some(4));
        // Its accelerators are of Qualcomm.
        assert_eq!(resource("dl2q.24xlarge", "aws.amazon.com/neuron"), None);
    }

    #[test]
    fn names_the_resource_of_each_gpu_manufacturer() {
        for (manufacturer, expected) in [
            ("nvidia", Some("nvidia.com/gpu")),
            ("amd", Some("amd.com/gpu")),
            ("habana", Some("habana.ai/gaudi")),
            ("other", None),
        ] {
            let row = named("p4d.24xlarge").row.replacen("nvidia", manufacturer, 1);
            let kind = InstanceType::parse(row.leak()).unwrap();
            let mut resources = kind.extended_resources();
            let gpus = resources.find(|(name, _)| name.ends_with("/gpu") || name.ends_with("/gaudi"));
            assert_eq!(gpus, expected.map(|name| (name, 8)), "{manufacturer}");
        }
    }

    #[test]
    fn reads_processor_and_hypervisor() {
        assert!(named("m7g.large").is_arm() && !named("m5.large").is_arm());
        assert!(named("m5.large").is_nitro() && !named("t2.micro").is_nitro());
    }
}
