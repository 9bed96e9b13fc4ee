//! Fingerprints, which identify a finding by its rule, object and field. A fingerprint does not change when lines move.

use std::collections::BTreeMap;

use answers::report::ReportedFinding;

/// Key of the fingerprint in SARIF. A change of the algorithm needs a new key.
pub const NAME: &str = "karpwardenFinding/v1";

/// Returns a fingerprint for each finding, in the same order. Findings with equal fields are numbered.
pub fn fingerprints(findings: &[ReportedFinding]) -> Vec<String> {
    fingerprints_of(findings, str::to_owned)
}

/// Returns a fingerprint for each finding, with other names for its file and the folder of its cluster.
pub fn fingerprints_of(findings: &[ReportedFinding], name: impl Fn(&str) -> String) -> Vec<String> {
    let mut seen: BTreeMap<u64, usize> = BTreeMap::new();
    let number = |finding: &ReportedFinding| {
        let hash = hash(finding, &name(&finding.cluster), &name(&finding.file));
        let count = seen.entry(hash).or_default();
        *count += 1;
        format!("{hash:016x}:{count}")
    };
    findings.iter().map(number).collect()
}

/// FNV-1a with 64 bits, which is the same on every machine and in every version.
fn hash(finding: &ReportedFinding, cluster: &str, file: &str) -> u64 {
    let ReportedFinding { rule, kind, namespace, name, path, .. } = finding;
    let parts = [rule, cluster, file, kind.as_str(), namespace, name, path];
    let bytes = parts.into_iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
