//! Files sent by the page.

use karpwarden::answers::page::SourceFile;
use karpwarden::manifest::File;
use karpwarden::objects::embedded::READ_OPTIONS;

/// Reads `[{"name", "text"}]`.
pub fn read(json: &str) -> Result<Vec<File>, String> {
    let sent: Vec<SourceFile> = serde_json::from_str(json).map_err(|error| format!("the files: {error}"))?;
    // A visitor chooses each file, like a user who names it on the command line.
    let read = |file: SourceFile| {
        let read = File::from_bytes(file.name, file.text.into_bytes(), READ_OPTIONS);
        File { is_relevant: Some(true), ..read }
    };
    Ok(sent.into_iter().map(read).collect())
}
