//! Browser front end: the module that the page loads first, with the code that a first finding needs.
//!
//! It checks Karpenter's own objects, outside kustomizations and Terraform. The page loads the whole engine (`karpwarden-playground`) for
//! every other object, and for fixes, exports and admission.

#![expect(clippy::needless_pass_by_value, reason = "wasm-bindgen passes optional strings by value")]

pub mod files;
pub mod settings;

use karpwarden::answers::page::{About, KnownRelease};
use karpwarden::answers::{VERSION, sorted};
use karpwarden::cluster::Cluster;
use karpwarden::karpenter::release::Release;
use karpwarden::rule::settings::keys;
use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;

/// Checks files like `check` of the whole engine. Returns nothing if the files need the whole engine.
#[wasm_bindgen(js_name = checkKarpenterObjects)]
pub fn check_karpenter_objects(
    files: &str,
    settings: &str,
    range: Option<String>,
    today: Option<String>,
) -> Result<Option<String>, String> {
    let mut settings = settings::read(settings)?;
    settings::set_range_and_date(&mut settings, range.as_deref(), today.as_deref())?;
    let cluster = Cluster { name: String::new(), files: files::read(files)? };
    Ok(karpwarden::check_karpenter_objects(&[cluster], &settings).map(|report| report.to_json()))
}

/// Validates settings and returns their mistakes, or the settings as JSON if they have none:
/// `{"problems": [{"path", "message", "line", "column", "offset", "endOffset"}], "settings"}`.
#[wasm_bindgen]
pub fn settings(text: &str) -> Result<String, String> {
    self::text(&settings::problems(text))
}

/// Describes this build: `{"version", "keys", "releases": [{"name", "newest"}]}`.
#[wasm_bindgen]
pub fn about() -> Result<String, String> {
    let release =
        |release: Release| KnownRelease { name: release.to_string(), newest: release.name_of_patch() };
    text(&About {
        version: VERSION,
        keys: keys::NAMES.to_vec(),
        releases: Release::minors().map(release).collect(),
    })
}

/// Prints an answer with sorted keys.
pub fn text(answer: &impl Serialize) -> Result<String, String> {
    sorted(answer).map(|json| json.to_string()).map_err(|error| error.to_string())
}
