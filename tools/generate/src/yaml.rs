//! YAML documents as JSON values.

use serde::Deserialize as _;
use serde_json::Value;

/// The documents of a text that are not empty.
pub fn documents(text: &str) -> Result<Vec<Value>, String> {
    let read = serde_yaml_ng::Deserializer::from_str(text).map(Value::deserialize);
    let all: Vec<Value> = read.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    Ok(all.into_iter().filter(|document| !document.is_null()).collect())
}

/// The YAML blocks of a Markdown text.
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
