//! Versions in the shell code blocks of Markdown.

use super::script::{TextPin, pins_of_installation};

/// Languages of code blocks that hold commands.
const SHELLS: [&str; 6] = ["bash", "sh", "shell", "zsh", "console", "shell-session"];

/// Returns the pins in the shell code blocks of a Markdown text. They count only if one of the blocks installs Karpenter's chart: other
/// texts mention versions as examples.
pub(super) fn pins(text: &str) -> Vec<TextPin> {
    pins_of_installation(&shell_blocks(text))
}

/// The text in which every line outside of the shell code blocks consists of spaces, so that each byte keeps its place.
fn shell_blocks(text: &str) -> String {
    let mut shell = String::with_capacity(text.len());
    let mut open: Option<(&str, bool)> = None;
    for line in text.split_inclusive('\n') {
        let is_kept = match (open, fence(line)) {
            (None, Some((marks, language))) => {
                open = Some((marks, SHELLS.contains(&language)));
                false
            }
            // Source: spec.txt of commonmark/commonmark-spec, "Fenced code blocks".
            (Some((marks, _)), Some((end, ""))) if end.starts_with(marks) => {
                open = None;
                false
            }
            (Some((_, is_shell)), _) => is_shell,
            (None, None) => false,
        };
        if is_kept {
            shell.push_str(line);
        } else {
            let spaces = line.trim_end_matches('\n').len();
            shell.extend(core::iter::repeat_n(' ', spaces));
            shell.push_str(line.get(spaces..).unwrap_or_default());
        }
    }
    shell
}

/// The marks and the language of a line that opens or closes a code block: `` ``` `` and `bash`.
fn fence(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let marks = line.get(..line.len() - info.len()).filter(|marks| marks.len() >= 3)?;
    Some((marks, info.split([' ', '{', ',']).find(|word| !word.is_empty()).unwrap_or_default()))
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
