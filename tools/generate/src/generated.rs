//! The derived files and their text.

mod addresses;
mod artifacthub;
mod context;
mod dependencies;
mod install;
mod metadata;
mod questions;
mod screenshot;
mod sessions;
mod versions;

use anyhow::Result;
use sessions::RecordedCluster;

/// A request of the test data for which the policy looks up other objects.
const REQUEST: &str = "deployment-create-unmatched";

/// A path in the repository, and the text of the file.
pub type DerivedFile = (String, String);

/// Every file that names another version or address than Cargo.toml. The other derived files are read from them.
pub fn addresses() -> Result<Vec<DerivedFile>> {
    addresses::files()
}

/// The manifests for the cluster and the pages about them, of which parts are derived. The other derived files are read from them.
pub fn manifests() -> Result<Vec<DerivedFile>> {
    Ok([context::files()?, versions::files()?].concat())
}

/// The other derived files.
pub fn files() -> Result<Vec<DerivedFile>> {
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
            sessions::text(REQUEST, &none, RecordedCluster::Holding)?,
        ),
        (
            "policies/karpenter/test_data/session-error.yml".to_owned(),
            sessions::text(REQUEST, &none, RecordedCluster::Failing)?,
        ),
        ("policies/karpenter/monitor.yaml".to_owned(), install::text()?),
    ])
}
