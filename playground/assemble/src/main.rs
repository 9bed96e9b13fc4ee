//! Makes what the page loads from what Cargo built.
//!
//! `bindgen MODULE.wasm FOLDER` writes the module with its JavaScript glue and types; `rules FILE` writes the rules'
//! documentation as one JSON object from name to Markdown.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use karpwarden::rules;
use wasm_bindgen_cli_support::Bindgen;

type Problem = Box<dyn core::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["bindgen", module, folder] => bindgen(module, folder),
        ["rules", file] => documentation(file),
        _ => Err("usage: bindgen MODULE FOLDER | rules FILE".into()),
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

fn documentation(file: &str) -> Result<(), Problem> {
    let texts: BTreeMap<&str, String> =
        rules::all().map(|rule| (rule.name, rules::documentation(rule))).collect();
    if let Some(folder) = Path::new(file).parent() {
        std::fs::create_dir_all(folder)?;
    }
    Ok(std::fs::write(file, serde_json::to_string(&texts)?)?)
}
