//! EC2NodeClass manifests for the tests of this family.

/// EC2NodeClass with this AMI family and the user data as a block scalar.
pub(super) fn class(family: &str, user_data: &str) -> String {
    let mut text = format!(
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: a}}\nspec:\n  amiFamily: {family}\n  userData: |\n"
    );
    for line in user_data.lines() {
        if !line.is_empty() {
            text.push_str("    ");
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// EC2NodeClass with `amiFamily: Custom` and the user data as a block scalar.
pub(super) fn custom(user_data: &str) -> String {
    class("Custom", user_data)
}

/// EC2NodeClass with `amiFamily: Custom` and a bash script of these lines.
pub(super) fn script(lines: &str) -> String {
    custom(&format!("#!/bin/bash\n{lines}\n"))
}
