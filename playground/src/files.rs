//! Files sent by the page.

use karpwarden::manifest::File;
use karpwarden::manifest::limits::Limits;
use serde::Deserialize;

#[derive(Deserialize)]
struct Sent {
    name: String,
    text: String,
}

/// Reads `[{"name", "text"}]`.
pub(crate) fn read(json: &str) -> Result<Vec<File>, String> {
    let sent: Vec<Sent> = serde_json::from_str(json).map_err(|error| format!("the files: {error}"))?;
    let read = |file: Sent| File::from_bytes(file.name, file.text.into_bytes(), &Limits::DEFAULT);
    Ok(sent.into_iter().map(read).collect())
}
