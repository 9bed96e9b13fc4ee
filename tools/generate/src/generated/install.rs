//! The base of the overlays as one file, for `kubectl apply -f`.

use anyhow::{Context as _, Result, bail};

use crate::{home, kustomize, yaml};

const BASE: &str = "policies/karpenter/kustomize/base";

/// The files of the base with their comments.
pub(super) fn text() -> Result<String> {
    let list: serde_json::Value =
        serde_saphyr::from_str(&home::text(&format!("{BASE}/kustomization.yaml"))?)?;
    let names =
        list.get("resources").and_then(serde_json::Value::as_array).context("the base has no resources")?;
    let parts: Result<Vec<_>> = names
        .iter()
        .filter_map(serde_json::Value::as_str)
        .map(|name| home::text(&format!("{BASE}/{name}")))
        .collect();
    let head = format!(
        "# kubectl apply -f {}/raw/v{}/policies/karpenter/monitor.yaml\n#\n\
         # Rendered from kustomize/base, to try the policies. To keep them, write an overlay: docs/install.md.\n",
        home::REPOSITORY,
        home::VERSION
    );
    let text = format!("{head}{}", parts?.join("---\n"));
    if yaml::documents(&text)? != kustomize::render(BASE)? {
        bail!("the base renders to something else than its files");
    }
    Ok(text)
}
