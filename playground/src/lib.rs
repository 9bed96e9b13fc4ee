//! The browser door: the engine for the page's worker, and for Node.
//!
//! Everything goes in and out as text, so that a report has the same bytes here as from the command line. The page
//! itself is in `page/`.

mod files;
mod outline;
mod policy;
mod settings;

use karpwarden::check::Cluster;
use karpwarden::karpenter::release::{Release, Releases};
use karpwarden::report::catalog::catalog;
use karpwarden::settings::Settings;
use serde_json::{Value as Json, json};
use wasm_bindgen::prelude::wasm_bindgen;

/// Checks files: `[{"name", "text"}]`, with settings as YAML or JSON.
///
/// Gives the bytes of `karpwarden check --format json`. A range such as `1.0..1.14` takes the place of the settings'
/// `karpenterVersion`; today (`2027-03-31`) is for exceptions that end.
#[wasm_bindgen]
pub fn check(
    files: &str,
    settings: &str,
    range: Option<String>,
    today: Option<String>,
) -> Result<String, String> {
    let mut settings = settings::read(settings)?;
    settings::aim(&mut settings, range.as_deref(), today.as_deref())?;
    let cluster = Cluster { name: String::new(), files: files::read(files)? };
    Ok(karpwarden::check(&[cluster], &settings).to_json())
}

/// The objects in the files and where they start: `[{"file", "document", "apiVersion", "kind", "namespace", "name",
/// "operation", "line", "offset", "object", "oldObject"}]`. The last two only where they are asked for.
#[wasm_bindgen]
pub fn documents(files: &str, whole: bool) -> Result<String, String> {
    Ok(outline::of(&files::read(files)?, whole).to_string())
}

/// Every rule, as `karpwarden rules --format json` prints them.
#[wasm_bindgen]
pub fn rules() -> String {
    serde_json::to_string(&catalog()).unwrap_or_default()
}

/// What is wrong with settings, and what they say as JSON where nothing is:
/// `{"problems": [{"path", "message", "line", "column", "offset", "endOffset"}], "settings"}`.
#[wasm_bindgen]
pub fn settings(text: &str) -> String {
    settings::look_at(text).to_string()
}

/// The ClusterAdmissionPolicy that gives these settings to the policy, as YAML.
#[wasm_bindgen]
pub fn policy(settings: &str, mode: &str) -> Result<String, String> {
    let read = settings::read(settings)?;
    Ok(policy::manifest(&settings::as_json(settings)?, &read, mode))
}

/// What this build knows: `{"version", "keys", "releases": [{"name", "newest"}]}`.
#[wasm_bindgen]
pub fn about() -> String {
    let release = |release: Release| json!({"name": release.to_string(), "newest": Releases::only(release).to_string()});
    let releases: Vec<Json> = Release::minors().map(release).collect();
    json!({"version": env!("CARGO_PKG_VERSION"), "keys": Settings::KEYS, "releases": releases}).to_string()
}
