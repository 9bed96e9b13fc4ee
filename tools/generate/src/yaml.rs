//! YAML documents as JSON values, and back.

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

/// The documents of a text, without the empty ones.
pub fn documents(text: &str) -> Result<Vec<Value>> {
    Ok(serde_saphyr::from_multiple(text)?)
}

/// A value as YAML. List items start in the column of their key, as in the manifests of Kubernetes.
pub fn text(value: &impl Serialize) -> Result<String> {
    let options = serde_saphyr::ser_options! { compact_list_indent: true };
    Ok(serde_saphyr::to_string_with_options(value, options)?)
}

/// The YAML code blocks of a Markdown text.
pub fn blocks(markdown: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut block: Option<String> = None;
    for line in markdown.lines() {
        let mark = line.trim_start();
        match &mut block {
            None if mark.starts_with("```yaml") => block = Some(String::new()),
            Some(_) if mark.starts_with("```") => blocks.extend(block.take()),
            Some(text) => {
                text.push_str(line);
                text.push('\n');
            }
            None => {}
        }
    }
    blocks
}
