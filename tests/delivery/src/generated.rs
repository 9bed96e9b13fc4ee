//! The files that are derived, each with its text.

mod install;
mod metadata;
mod questions;

use karpwarden::report::schema;
use serde_json::Value;

use crate::home;

/// A path of the repository, and the text that belongs there.
pub type File = (String, String);

/// All derived files.
pub fn files() -> Result<Vec<File>, String> {
    let id = |name: &str| format!("{}{name}", home::schemas());
    Ok(vec![
        ("policies/karpenter/metadata.yml".to_owned(), metadata::text()?),
        ("policies/karpenter/questions-ui.yml".to_owned(), questions::text()?),
        ("policies/karpenter/monitor.yaml".to_owned(), install::text("monitor")?),
        ("policies/karpenter/protect.yaml".to_owned(), install::text("protect")?),
        ("schemas/settings.schema.json".to_owned(), json(&schema::settings(&id("settings.schema.json")))?),
        ("schemas/report.schema.json".to_owned(), json(&schema::report(&id("report.schema.json")))?),
    ])
}

fn json(value: &Value) -> Result<String, String> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(|error| error.to_string())
}
