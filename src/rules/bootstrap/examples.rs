//! Node classes for the tests of this family.

/// A node class of a family with the user data as a block scalar.
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

/// The same for `Custom`.
pub(super) fn custom(user_data: &str) -> String {
    class("Custom", user_data)
}

/// `Custom` with these lines under `#!/bin/bash`.
pub(super) fn script(lines: &str) -> String {
    custom(&format!("#!/bin/bash\n{lines}\n"))
}
