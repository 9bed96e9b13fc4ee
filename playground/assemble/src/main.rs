//! Builds the parts of the page that come from the Rust crates.
//!
//! - `bindgen MODULE.wasm FOLDER` writes a module with its JavaScript glue and types.
//! - `rules FILE` writes the documentation of the rules as one JSON object, from name to Markdown: SARIF and the npm
//!   package carry it.
//! - `reference FOLDER` writes a static page for each rule and symptom, their index, and `articles.json`, which the
//!   playground shows in its panel.

mod article;
mod example;
mod site;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use karpwarden::rules;
use wasm_bindgen_cli_support::Bindgen;

type Problem = Box<dyn core::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["bindgen", module, folder] => bindgen(module, folder),
        ["rules", file] => write_rules(Path::new(file)),
        ["reference", folder] => site::write(Path::new(folder)),
        _ => Err("usage: bindgen MODULE FOLDER | rules FILE | reference FOLDER".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem:#}");
            ExitCode::FAILURE
        }
    }
}

fn bindgen(module: &str, folder: &str) -> Result<(), Problem> {
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(module)
        .out_name("karpwarden")
        .typescript(true)
        .remove_producers_section(true)
        .remove_name_section(true);
    bindgen.web(true).map_err(|error| error.to_string())?;
    bindgen.generate(folder).map_err(|error| format!("{error:?}").into())
}

fn write_rules(file: &Path) -> Result<(), Problem> {
    let texts: BTreeMap<&str, String> =
        karpwarden::REGISTRY.rules().map(|rule| (rule.name, rules::documentation(rule))).collect();
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    Ok(std::fs::write(file, serde_json::to_string(&texts)?)?)
}
