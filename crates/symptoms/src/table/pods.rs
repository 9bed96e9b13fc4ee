//! The table of `kubectl get pods`: only rows of a controller that was killed.

use crate::conditions::{TERMINATED, condition_entry};
use crate::controller::has_pod_name_of_chart;
use crate::entry::{At, Condition, Entry, EntryObject};

/// Reads a row, with or without its header and the column `NAMESPACE`: `karpenter-5d8f7c9b6-x2x4z   0/1   OOMKilled   4`.
/// Returns whether the controller was killed. The status of a pod with sidecars does not show which container was killed.
/// Source: `printPod` in pkg/printers/internalversion/printers.go of kubernetes/kubernetes at v1.33.0.
pub(super) fn row(text: &str, at: At, emit: &mut dyn FnMut(&Entry<'_>)) -> bool {
    if !text.contains("OOMKilled") {
        return false;
    }
    let words: Vec<&str> = text.split_ascii_whitespace().take(4).collect();
    let (namespace, name, ready, status) = match words.as_slice() {
        [namespace, name, ready, status @ "OOMKilled"] => (*namespace, *name, *ready, *status),
        [name, ready, status @ "OOMKilled", ..] => ("", *name, *ready, *status),
        _ => return false,
    };
    let name = name.strip_prefix("pod/").unwrap_or(name);
    if !has_pod_name_of_chart(name) || !ready.ends_with("/1") {
        return false;
    }
    let subject = EntryObject { kind: "Pod".into(), namespace: namespace.into(), name: name.into() };
    let condition = Condition { kind: TERMINATED.into(), status: "".into() };
    let entry = condition_entry(subject, condition, status, "", at);
    emit(&Entry { text: text.trim().into(), ..entry });
    true
}
