//! The derived files and their text.

mod artifacthub;
mod dependencies;
mod install;
mod metadata;
mod questions;
mod screenshot;
mod sessions;

use anyhow::Result;
use karpwarden::render::schema;
use serde_json::Value;

use crate::home;
use sessions::World;

/// A request of the test data for which the policy looks up other objects.
const REQUEST: &str = "deployment-create-unmatched";

/// A path in the repository, and the text of the file.
pub type File = (String, String);

/// All derived files.
pub fn files() -> Result<Vec<File>> {
    let id = |name: &str| format!("{}{name}", home::schemas());
    let none = serde_json::json!({});
    let (metadata, questions) = (metadata::text()?, questions::text()?);
    let package = artifacthub::text(&metadata, &questions)?;
    Ok(vec![
        ("artifacthub/artifacthub-pkg.yml".to_owned(), package),
        (dependencies::PATH.to_owned(), dependencies::text()?),
        (screenshot::PATH.to_owned(), screenshot::text()?),
        ("policies/karpenter/metadata.yml".to_owned(), metadata),
        ("policies/karpenter/questions-ui.yml".to_owned(), questions),
        (
            "policies/karpenter/test_data/session.yml".to_owned(),
            sessions::text(REQUEST, &none, World::Holding)?,
        ),
        (
            "policies/karpenter/test_data/session-error.yml".to_owned(),
            sessions::text(REQUEST, &none, World::Failing)?,
        ),
        ("policies/karpenter/monitor.yaml".to_owned(), install::text()?),
        (
            "schemas/settings.schema.json".to_owned(),
            json(&schema::settings(&karpwarden::REGISTRY, &id("settings.schema.json")))?,
        ),
        ("schemas/report.schema.json".to_owned(), json(&schema::report(&id("report.schema.json")))?),
        (
            "schemas/simulation.schema.json".to_owned(),
            json(&schema::simulation(&id("simulation.schema.json")))?,
        ),
        (
            "schemas/disruption.schema.json".to_owned(),
            json(&schema::disruption(&id("disruption.schema.json")))?,
        ),
    ])
}

fn json(value: &Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}
