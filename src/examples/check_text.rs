//! Checks manifests in a text: `cargo run --example check_text`.

use karpwarden::{Cluster, File, READ_OPTIONS, Report, Settings, Target, TargetError, check};

const MANIFEST: &str = "\
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: default
spec:
  instanceProfile: arn:aws:iam::111122223333:instance-profile/KarpenterNodeProfile-prod
  amiSelectorTerms: [{alias: al2023@v20250807}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
";

/// Checks a manifest as a release of Karpenter would treat it.
pub(crate) fn report(release: &str) -> Result<Report, TargetError> {
    let settings = Settings { karpenter: Target::parse(release)?, ..Settings::default() };
    let file = File::read("nodeclass.yaml", MANIFEST, READ_OPTIONS);
    let cluster = Cluster { name: String::new(), files: vec![file] };
    Ok(check(&[cluster], &settings))
}

#[allow(dead_code, reason = "tests call only the function above")]
fn main() -> Result<(), TargetError> {
    for finding in report("1.8")?.findings {
        let line = finding.position.line.unwrap_or_default();
        println!("{}:{line}: {}: {} [{}]", finding.file, finding.severity, finding.message, finding.rule);
    }
    Ok(())
}
