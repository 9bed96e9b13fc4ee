//! The keys of the chart's values.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

/// The keys at the top level, of `settings` and of the feature gates, such as `settings.featureGates.nodeRepair`.
pub(super) fn keys(folder: &Path) -> Result<BTreeSet<String>> {
    let path = folder.join("values.yaml");
    let values: Value =
        serde_saphyr::from_str(&crate::text(&path)?).with_context(|| path.display().to_string())?;
    let mut keys = BTreeSet::new();
    add(&values, "", &mut keys);
    for holder in ["settings", "settings.featureGates", "settings.awsFeatureGates"] {
        let pointer = format!("/{}", holder.replace('.', "/"));
        if let Some(members) = values.pointer(&pointer) {
            add(members, &format!("{holder}."), &mut keys);
        }
    }
    Ok(keys)
}

fn add(members: &Value, prefix: &str, keys: &mut BTreeSet<String>) {
    for key in members.as_object().into_iter().flat_map(serde_json::Map::keys) {
        keys.insert(format!("{prefix}{key}"));
    }
}
