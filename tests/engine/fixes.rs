//! Safe fixes, applied to texts.

use karpwarden::REGISTRY;
use lint::apply::{AppliedFixes, apply_fixes};
use lint::check::Cluster;
use lint::settings::{Selector, Settings};
use manifest::File;
use manifest::limits::Limits;

const CLASS: &str =
    "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec:\n  instanceProfile: ";

fn mended(text: &str) -> (String, AppliedFixes) {
    let limits = Limits::DEFAULT;
    let selector = Selector::parse("instance-profile-is-arn", &REGISTRY).unwrap();
    let settings = Settings { select: vec![selector], ..Settings::default() };
    let mut clusters = [Cluster { name: String::new(), files: vec![File::read("a.yaml", text, &limits)] }];
    let mended = apply_fixes(&REGISTRY, &mut clusters, &settings, &limits);
    (clusters[0].files[0].source.text().to_owned(), mended)
}

#[test]
fn applies_every_safe_fix() {
    let bad = format!("{CLASS}arn:aws:iam::111122223333:instance-profile/b\n");
    let (text, result) = mended(&[bad.as_str(); 3].join("---\n"));
    let good = format!("{CLASS}b\n");
    assert_eq!(text, [good.as_str(); 3].join("---\n"));
    assert_eq!((result.applied, result.skipped.len()), (3, 0));
}

#[test]
fn fixes_a_shared_anchor_once() {
    let bad = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: karpenter.k8s.aws/v1\n  kind: EC2NodeClass\n  \
               spec: &spec {instanceProfile: 'arn:aws:iam::111122223333:instance-profile/b'}\n\
               - apiVersion: karpenter.k8s.aws/v1\n  kind: EC2NodeClass\n  spec: *spec\n";
    let (text, result) = mended(bad);
    assert!(text.contains("{instanceProfile: 'b'}") && text.contains("spec: *spec"), "{text}");
    assert_eq!(result.skipped, []);
}
