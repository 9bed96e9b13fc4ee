//! What makes a finding the same finding after lines have moved: its rule, its object and its field, not its line.

use std::collections::BTreeMap;

use lint::report::Finding;

/// The name under which the fingerprint stands in SARIF; another way to make it would get another name.
pub const NAME: &str = "karpwardenFinding/v1";

/// A fingerprint for each finding, in their order. Findings that are alike in everything are numbered.
pub fn fingerprints(findings: &[Finding]) -> Vec<String> {
    let mut seen: BTreeMap<u64, usize> = BTreeMap::new();
    let number = |finding: &Finding| {
        let hash = hash(finding);
        let count = seen.entry(hash).or_default();
        *count += 1;
        format!("{hash:016x}:{count}")
    };
    findings.iter().map(number).collect()
}

/// FNV-1a, 64 bits: the same on every machine and in every version.
fn hash(finding: &Finding) -> u64 {
    let parts = [
        finding.rule,
        &finding.cluster,
        &finding.file,
        &finding.kind,
        &finding.namespace,
        &finding.name,
        &finding.path,
    ];
    let bytes = parts.into_iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
