//! The tables of `kubectl get nodeclaims`, `nodepools`, `ec2nodeclasses` and `nodes`.
//!
//! Sources: the print columns in pkg/apis/v1/nodeclaim.go and nodepool.go of kubernetes-sigs/karpenter and in
//! pkg/apis/v1/ec2nodeclass.go of aws/karpenter-provider-aws at v1.0.0 to v1.14.0; `printNode` and `nodeColumnDefinitions` in
//! pkg/printers/internalversion/printers.go of kubernetes/kubernetes at v1.33.0.

use super::columns::Columns;
use crate::conditions::condition_entry;
use crate::entry::{At, Condition, Entry, EntryObject, Fields, Time};

/// A table of objects of one kind.
#[derive(Debug)]
pub(super) struct ObjectTable {
    kind: &'static str,
    columns: Columns,
    /// Whether only rows whose name has this prefix belong to the kind: other kinds have the same columns.
    prefix: Option<&'static str>,
}

/// The columns of a kind, including the columns of `-o wide` and `-A`.
struct KindColumns {
    kind: &'static str,
    columns: &'static [&'static str],
    required: &'static [&'static str],
}

/// The kinds. For nodes also the labels that `-L` adds as columns.
const KINDS: [KindColumns; 4] = [
    KindColumns {
        kind: "NodeClaim",
        columns: &[
            "NAMESPACE",
            "NAME",
            "TYPE",
            "CAPACITY",
            "ZONE",
            "NODE",
            "READY",
            "AGE",
            "IMAGEID",
            "ID",
            "NODEPOOL",
            "NODECLASS",
            "DRIFTED",
        ],
        required: &["NAME", "TYPE", "ZONE", "NODE", "READY", "AGE"],
    },
    KindColumns {
        kind: "NodePool",
        columns: &["NAME", "NODECLASS", "NODES", "READY", "AGE", "WEIGHT", "CPU", "MEMORY"],
        required: &["NAME", "NODECLASS", "NODES", "READY", "AGE"],
    },
    KindColumns {
        kind: "EC2NodeClass",
        columns: &["NAME", "READY", "AGE", "ROLE"],
        required: &["NAME", "READY", "AGE"],
    },
    KindColumns {
        kind: "Node",
        columns: &[
            "NAME",
            "STATUS",
            "ROLES",
            "AGE",
            "VERSION",
            "INTERNAL-IP",
            "EXTERNAL-IP",
            "OS-IMAGE",
            "KERNEL-VERSION",
            "CONTAINER-RUNTIME",
            "NODEPOOL",
            "CAPACITY-TYPE",
            "INSTANCE-TYPE",
            "ZONE",
            "ARCH",
            "LABELS",
        ],
        required: &["NAME", "STATUS", "ROLES", "AGE", "VERSION"],
    },
];

/// Milliseconds for which a new node may be `NotReady`: Karpenter waits as long for the registration of a node.
///
/// Source: `registrationTimeout` in pkg/controllers/nodeclaim/lifecycle/liveness.go of kubernetes-sigs/karpenter at v1.0.0 and v1.14.0.
const STARTS: i64 = 15 * 60_000;

impl ObjectTable {
    /// Reads the header of such a table.
    pub(super) fn begins(text: &str) -> Option<Self> {
        if !text.contains("NAME") || !text.contains("AGE") {
            return None;
        }
        KINDS.iter().find_map(|known| {
            let columns = Columns::read(text, known.columns)?;
            let is_whole = known.required.iter().all(|name| columns.has(name));
            // `NAME  READY  AGE` are the columns of many kinds. kubectl prefixes the names if it prints several kinds.
            let is_shared = known.kind == "EC2NodeClass" && !columns.has("ROLE");
            let prefix = is_shared.then_some("ec2nodeclass.karpenter.k8s.aws/");
            is_whole.then_some(Self { kind: known.kind, columns, prefix })
        })
    }

    /// Emits the condition `Ready` of a row. The other columns become fields. Returns whether the line is a row.
    pub(super) fn row(&self, text: &str, at: At, emit: &mut dyn FnMut(&Entry<'_>)) -> bool {
        let Some(cells) = self.columns.cells(text) else { return false };
        let cell = |name: &str| cells.iter().find(|(other, _)| *other == name).map_or("", |(_, cell)| *cell);
        if self.prefix.is_some_and(|prefix| !cell("NAME").starts_with(prefix)) {
            return false;
        }
        let name = cell("NAME").split_once('/').map_or(cell("NAME"), |(_, name)| name);
        let Some(born) = Time::of_age(cell("AGE")).filter(|_| !name.is_empty()) else { return false };
        let is_node = self.kind == "Node";
        let ready = if is_node { ready_of_node(cell("STATUS")) } else { ready(cell("READY")) };
        let Some(ready) = ready else { return false };
        let is_starting = Time::printed().since(born).is_some_and(|age| age < STARTS);
        if is_node && is_starting && ready != "True" {
            return true;
        }
        let subject = EntryObject { kind: self.kind.into(), namespace: "".into(), name: name.into() };
        let condition = Condition { kind: "Ready".into(), status: ready.into() };
        let entry = condition_entry(subject, condition, "", "", at);
        // A node is printed with its own age, and a NodePool column without a value shows that Karpenter does not manage the node.
        let is_kept =
            |(name, cell): &&(&'static str, &str)| !cell.is_empty() || (is_node && *name == "NODEPOOL");
        let fields = cells.iter().filter(is_kept);
        let fields = fields
            .map(|(name, cell)| ((*name).into(), serde_json::Value::from(*cell).to_string().into()))
            .collect();
        let time = if is_node { None } else { Some(Time::printed()) };
        emit(&Entry { text: text.trim().into(), time, fields: Fields(fields), ..entry });
        true
    }
}

/// The status of the condition `Ready` in the column `READY`.
fn ready(cell: &str) -> Option<&str> {
    match cell {
        "" => Some("Unknown"),
        "True" | "False" | "Unknown" => Some(cell),
        _ => None,
    }
}

/// The status of `Ready` in the column `STATUS` of a node: `Ready`, or `NotReady` for False and Unknown alike, which may be followed by
/// `,SchedulingDisabled`.
fn ready_of_node(cell: &str) -> Option<&'static str> {
    match cell.split(',').next() {
        Some("Ready") => Some("True"),
        Some("NotReady") => Some("NotReady"),
        _ => None,
    }
}
