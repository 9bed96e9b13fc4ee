//! Versions in the shell code blocks of Markdown.

use manifest::code_blocks;
use manifest::source::certain;

use super::script::{TextPin, pins_of_installation};

/// Languages of code blocks that hold commands.
const SHELLS: [&str; 6] = ["bash", "sh", "shell", "zsh", "console", "shell-session"];

/// Returns the pins in the shell code blocks of a Markdown text. They count only if one of the blocks installs Karpenter's chart: other
/// texts mention versions as examples.
pub(super) fn pins(text: &str) -> Vec<TextPin> {
    pins_of_installation(&shell_blocks(text))
}

/// The text in which every byte outside of the shell code blocks is a space, so that each byte keeps its place.
fn shell_blocks(text: &str) -> String {
    let mut shell = String::with_capacity(text.len());
    for block in code_blocks(text).into_iter().filter(|block| SHELLS.contains(&block.language)) {
        blank(certain(text.get(shell.len()..block.body.start)), &mut shell);
        shell.push_str(block.body.text(text));
    }
    blank(certain(text.get(shell.len()..)), &mut shell);
    shell
}

/// Adds a text in which only the line breaks remain.
fn blank(text: &str, to: &mut String) {
    to.extend(text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let line = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        pins(text).iter().map(|pin| format!("{}:{}", pin.version, line(pin.at))).collect()
    }

    const GUIDE: &str = r#"# Karpenter – installation

Tested with `export KARPENTER_VERSION=0.31.0`.

```bash
export KARPENTER_VERSION="1.6.2"
```

1. Install:

   ~~~console
   $ helm upgrade --install karpenter oci://public.ecr.aws/karpenter/karpenter \
       --version "${KARPENTER_VERSION}" --wait
   ~~~
"#;

    #[test]
    fn shell_blocks_that_install_karpenter_pin_its_version() {
        assert_eq!(found(GUIDE), ["1.6.2:6"]);
        let command = "```sh\nhelm install karpenter karpenter/karpenter --version 0.31.0\n```\n";
        assert_eq!(found(command), ["0.31.0:2"]);
    }

    #[test]
    fn other_text_pins_nothing() {
        for text in [
            // No command installs the chart.
            &GUIDE.replace("helm upgrade", "helm uninstall"),
            &GUIDE.replace("bash", "yaml"),
            "Run `helm install karpenter karpenter/karpenter --version 0.31.0` first.\n",
            "```yaml\nrun: helm install karpenter karpenter/karpenter --version 0.31.0\n```\n",
            "````md\n```sh\nhelm install karpenter karpenter/karpenter --version 0.31.0\n```\n````\n",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
