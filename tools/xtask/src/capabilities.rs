//! Comparison of the host capabilities that a module uses with the capabilities that its metadata declares.
//!
//! Source: kubewarden/kubewarden-controller `crates/kwctl/src/wasm_scanner.rs`: a capability counts as used if its
//! namespace and its operation both occur in the module's data segments. `crates/policy-evaluator/src/host_capabilities.rs` has
//! the list.

use std::collections::BTreeSet;

const KNOWN: &[(&str, &str)] = &[
    ("crypto", "v1/is_certificate_trusted"),
    ("kubernetes", "can_i"),
    ("kubernetes", "get_resource"),
    ("kubernetes", "list_resources_all"),
    ("kubernetes", "list_resources_by_namespace"),
    ("net", "v1/dns_lookup_host"),
    ("oci", "v1/manifest_digest"),
    ("oci", "v1/oci_manifest"),
    ("oci", "v1/oci_manifest_config"),
    ("oci", "v1/verify"),
    ("oci", "v2/verify"),
];

/// The capabilities whose names occur in the data segments.
pub(crate) fn used(data: &[&[u8]]) -> BTreeSet<String> {
    let occurs = |word: &str| data.iter().any(|segment| occurrences(segment, word).next().is_some());
    let known =
        KNOWN.iter().filter(|(namespace, operation)| occurs(namespace) && occurs_alone(data, operation));
    known.map(|(namespace, operation)| format!("{namespace}/{operation}")).collect()
}

/// Whether the operation occurs other than as a prefix of a longer one.
fn occurs_alone(data: &[&[u8]], operation: &str) -> bool {
    let longer = |other: &&(&str, &str)| other.1 != operation && other.1.starts_with(operation);
    let longer: Vec<_> = KNOWN.iter().filter(longer).collect();
    data.iter().any(|segment| {
        let mut found = occurrences(segment, operation);
        found.any(|rest| !longer.iter().any(|(_, other)| rest.starts_with(other.as_bytes())))
    })
}

/// The rest of the segment from each occurrence of the word.
fn occurrences<'a>(segment: &'a [u8], word: &'a str) -> impl Iterator<Item = &'a [u8]> {
    let tails = (0..segment.len()).filter_map(|start| segment.get(start..));
    tails.filter(move |tail| tail.starts_with(word.as_bytes()))
}

/// Differences between the metadata and the module, one sentence each.
pub(crate) fn disagreements(declared: &BTreeSet<String>, used: &BTreeSet<String>) -> Vec<String> {
    let undeclared = used.difference(declared).map(|capability| {
        format!("the module uses the host capability `{capability}`, which hostCapabilities does not list")
    });
    let unused = declared
        .difference(used)
        .map(|capability| format!("hostCapabilities lists `{capability}`, which the module does not use"));
    undeclared.chain(unused).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn capability_needs_namespace_and_operation() {
        assert_eq!(
            used(&[b"kubernetes", b"xxlist_resources_allxx"]),
            set(&["kubernetes/list_resources_all"])
        );
        assert_eq!(used(&[b"list_resources_all"]), set(&[]));
    }

    #[test]
    fn prefix_of_a_longer_operation_does_not_count() {
        assert_eq!(used(&[b"oci v1/oci_manifest_config"]), set(&["oci/v1/oci_manifest_config"]));
        let both = set(&["oci/v1/oci_manifest", "oci/v1/oci_manifest_config"]);
        assert_eq!(used(&[b"oci v1/oci_manifest_config v1/oci_manifest"]), both);
    }

    #[test]
    fn reports_undeclared_and_unused_capabilities() {
        let reported = disagreements(&set(&["kubernetes/can_i"]), &set(&["kubernetes/get_resource"]));
        assert_eq!(
            reported,
            [
                "the module uses the host capability `kubernetes/get_resource`, which hostCapabilities does not list",
                "hostCapabilities lists `kubernetes/can_i`, which the module does not use",
            ]
        );
    }
}
