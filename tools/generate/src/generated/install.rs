//! A Kustomize overlay as one file, for `kubectl apply -f`.

use crate::{home, kustomize, yaml};

const FOLDER: &str = "policies/karpenter/kustomize";

/// The files of the base with their comments, in the mode of the overlay.
pub(super) fn text(mode: &str) -> Result<String, String> {
    let base = format!("{FOLDER}/base");
    let list: serde_json::Value = serde_saphyr::from_str(&home::text(&format!("{base}/kustomization.yaml"))?)
        .map_err(|error| error.to_string())?;
    let names =
        list.get("resources").and_then(serde_json::Value::as_array).ok_or("the base has no resources")?;
    let mut parts = Vec::new();
    for name in names.iter().filter_map(serde_json::Value::as_str) {
        parts.push(home::text(&format!("{base}/{name}"))?.replace("mode: monitor", &format!("mode: {mode}")));
    }
    let head = format!(
        "# kubectl apply -f {}/raw/v{}/policies/karpenter/{mode}.yaml\n#\n\
         # Rendered from kustomize/overlays/{mode}. Set your Karpenter release and cluster name under `settings`:\n\
         # karpenterVersion: \"1.8\", clusterName: prod-eu-1.\n",
        home::REPOSITORY,
        home::VERSION
    );
    let text = format!("{head}{}", parts.join("---\n"));
    if yaml::documents(&text)? != kustomize::render(&format!("{FOLDER}/overlays/{mode}"))? {
        return Err(format!("the overlay {mode} differs from the base in more than the mode"));
    }
    Ok(text)
}
