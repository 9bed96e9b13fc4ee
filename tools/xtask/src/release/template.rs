//! The CloudFormation template of the getting started guide, and the page with the metrics, as lines.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

/// Prefixes of the actions in the policies of the controller.
const SERVICES: [&str; 7] = ["ec2", "iam", "pricing", "ssm", "eks", "sqs", "arc-zonal-shift"];

/// The actions of the policies, and the types of messages that rules send to the queue. The template has functions as tags, so
/// that it is read as text.
pub(super) fn lines(file: &Path) -> Result<BTreeSet<String>> {
    Ok(lines_of(&crate::text(file)?))
}

pub(super) fn lines_of(text: &str) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for quoted in text.split('"').skip(1).step_by(2) {
        let action = quoted.split_once(':').filter(|(service, _)| SERVICES.contains(service));
        if action.is_some_and(|(_, name)| name.bytes().all(|byte| byte.is_ascii_alphanumeric())) {
            lines.insert(format!("CloudFormation . action {quoted}"));
        }
    }
    for line in text.lines() {
        let item = line.trim().strip_prefix("- ").unwrap_or_default().trim_matches(['"', '\'']);
        if item.starts_with("EC2 ") || item == "AWS Health Event" {
            lines.insert(format!("CloudFormation . detail-type {item}"));
        }
    }
    lines
}

/// The names of the metrics on the reference page.
pub(super) fn metrics(file: &Path) -> Result<BTreeSet<String>> {
    let text = crate::text(file)?;
    let headings = text.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'));
    Ok(headings.map(|name| format!("Metrics . name {name}")).collect())
}
