//! Browser front end: the whole engine, for Node and for what the page does after the first check.
//!
//! Input and output are text, so that a report has the same bytes as on the command line. The page is in `page/`. This
//! module also has the functions of `checker`, the small module that the page loads first.

#![expect(clippy::needless_pass_by_value, reason = "wasm-bindgen passes optional strings by value")]

mod kubectl;
mod outline;
mod policy;
mod yaml;

use std::collections::BTreeMap;
use std::sync::Arc;

use checker::{files, settings, text};
use karpwarden::REGISTRY;
use karpwarden::answers::page::{DescribedField, FixedFiles, SourceFile};
use karpwarden::cluster::Cluster;
use karpwarden::drift::HoveredField;
use karpwarden::engine::apply::{WantedFixes, apply_fixes};
use karpwarden::karpenter::release::Release;
use karpwarden::manifest::File;
use karpwarden::manifest::limits::Limits;
use karpwarden::manifest::source::Source;
use karpwarden::reference::catalog::catalog;
use karpwarden::render::sarif;
use karpwarden::rule::Rule;
use karpwarden::rule::settings::Target;
use terraform_objects::evaluate_given;
use wasm_bindgen::prelude::wasm_bindgen;

/// Reads files, with the objects that configurations and plans of Terraform among them make.
fn read(files: &str) -> Result<Vec<File>, String> {
    let mut files = files::read(files)?;
    evaluate_given(&mut files, &Limits::DEFAULT);
    Ok(files)
}

/// Lists every rule, like `karpwarden rules --format json`.
#[wasm_bindgen]
pub fn rules() -> String {
    serde_json::to_string(&catalog()).unwrap_or_default()
}

/// Checks files: `[{"name", "text"}]`, with settings as YAML or JSON.
///
/// Returns the bytes of `karpwarden check --format json`. A range such as `1.0..1.14` overrides `karpenterVersion` of the
/// settings; `today` (`2027-03-31`) decides which exceptions have expired.
#[wasm_bindgen]
pub fn check(
    files: &str,
    settings: &str,
    range: Option<String>,
    today: Option<String>,
) -> Result<String, String> {
    let mut settings = settings::read(settings)?;
    settings::set_range_and_date(&mut settings, range.as_deref(), today.as_deref())?;
    let cluster = Cluster { name: String::new(), files: read(files)? };
    Ok(karpwarden::check(&[cluster], &settings).to_json())
}

/// Checks files like [`check`] and returns the bytes of `karpwarden check --format sarif`.
///
/// The caller passes the documentation of the rules as one JSON object from name to Markdown, because it would make the
/// module larger for every visitor.
#[wasm_bindgen]
pub fn sarif(
    files: &str,
    settings: &str,
    range: Option<String>,
    today: Option<String>,
    documentation: &str,
) -> Result<String, String> {
    let mut settings = settings::read(settings)?;
    settings::set_range_and_date(&mut settings, range.as_deref(), today.as_deref())?;
    let texts: BTreeMap<&str, String> =
        serde_json::from_str(documentation).map_err(|error| format!("the documentation: {error}"))?;
    let clusters = [Cluster { name: String::new(), files: read(files)? }];
    let report = karpwarden::check(&clusters, &settings);
    let text = |rule: &Rule| texts.get(rule.name).cloned().unwrap_or_default();
    Ok(sarif::sarif(&REGISTRY, &report, &clusters, text).to_string())
}

/// Applies the safe fixes, like `karpwarden check --fix`: `{"files": [{"name", "text"}], "applied", "skipped": [{"rule",
/// "file", "line", "reason"}]}`. Only changed files are returned.
#[wasm_bindgen]
pub fn fix(files: &str, settings: &str, today: Option<String>) -> Result<String, String> {
    let mut settings = settings::read(settings)?;
    settings::set_range_and_date(&mut settings, None, today.as_deref())?;
    let files = read(files)?;
    let before: Vec<Arc<Source>> = files.iter().map(|file| Arc::clone(&file.source)).collect();
    let mut clusters = [Cluster { name: String::new(), files }];
    let result = apply_fixes(&REGISTRY, &mut clusters, &settings, &Limits::DEFAULT, WantedFixes::Safe);
    let [Cluster { files: after, .. }] = &clusters;
    let changed = before.iter().zip(after).filter(|(before, after)| before.text() != after.source.text());
    let files = changed.map(|(_, file)| SourceFile {
        name: file.source.name().to_owned(),
        text: file.source.text().to_owned(),
    });
    text(&FixedFiles { files: files.collect(), applied: result.applied, skipped: result.skipped })
}

/// Lists the objects in the files and their positions: `[{"file", "document", "apiVersion", "kind", "namespace", "name",
/// "operation", "line", "offset", "object", "oldObject"}]`. The last two are present only if `whole` is set.
#[wasm_bindgen]
pub fn documents(files: &str, whole: bool) -> Result<String, String> {
    text(&outline::list(&read(files)?, whole))
}

/// Describes what changing the field at an offset of the one file does to nodes: `{"path", "effect", "words", "message"}`, or
/// `undefined` if there is no field of Karpenter.
#[wasm_bindgen]
pub fn field(files: &str, offset: usize) -> Result<Option<String>, String> {
    let files = read(files)?;
    let described = files.first().and_then(|file| {
        let byte = file.source.byte_at(offset);
        let found = HoveredField::at(file, byte)?;
        Some(DescribedField {
            path: found.shown_path().to_owned(),
            effect: found.effect.effect,
            words: found.effect.effect.words(),
            message: found.effect.sentence,
        })
    });
    described.as_ref().map(text).transpose()
}

/// Prints what `kubectl` shows if the API server itself refuses an object: `{"output", "isDecoded"}`, or `undefined` if
/// the object is valid.
///
/// The object is a manifest or AdmissionReview as JSON, the release decides which definitions the API server has, and
/// `action` is the word of `kubectl` for the request, such as `creating`.
#[wasm_bindgen]
pub fn refusal(object: &str, release: &str, file: &str, action: &str) -> Result<Option<String>, String> {
    let target = Target::parse(release).map_err(|error| error.to_string())?;
    let newest = target.releases().last().unwrap_or(Release::NEWEST);
    let refusal = kubectl::refusal(object, newest, file, action);
    refusal.as_ref().map(text).transpose()
}

/// Renders the manifests that install the policies with these settings: the policy server, its permissions and the
/// policies. The mode is `protect` or `monitor`.
#[wasm_bindgen]
pub fn policy(settings: &str, mode: &str) -> Result<String, String> {
    settings::read(settings)?;
    let mode = if mode == "monitor" { "monitor" } else { "protect" };
    Ok(policy::manifests(&settings::as_json(settings)?, mode))
}

/// Renders settings as the text of `karpwarden.yaml`.
#[wasm_bindgen]
pub fn settings_as_yaml(settings: &str) -> Result<String, String> {
    settings::read(settings)?;
    Ok(yaml::document(&settings::as_json(settings)?.into()))
}
