//! Makes what the page loads from what Cargo built.
//!
//! `bindgen MODULE.wasm FOLDER` writes the module with its JavaScript glue and types; `rules FILE` writes the rules'
//! documentation as one JSON object from name to Markdown; `reports` answers lines of `{"files", "settings", "range",
//! "today"}` on standard input with the report of each, for the tests that hold the page's answers against these.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use karpwarden::rules;
use serde_json::Value as Json;
use wasm_bindgen_cli_support::Bindgen;

type Problem = Box<dyn core::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["bindgen", module, folder] => bindgen(module, folder),
        ["rules", file] => documentation(file),
        ["reports"] => reports(),
        _ => Err("usage: bindgen MODULE FOLDER | rules FILE | reports".into()),
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
    bindgen.input_path(module).out_name("karpwarden").typescript(true).remove_producers_section(true).remove_name_section(true);
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

fn reports() -> Result<(), Problem> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let request: Json = serde_json::from_str(&line?)?;
        let text = |key: &str| request.get(key).and_then(Json::as_str).map(str::to_owned);
        let part = |key: &str| request.get(key).map(Json::to_string).unwrap_or_default();
        let report =
            karpwarden_playground::check(&part("files"), &part("settings"), text("range"), text("today"));
        match report {
            Ok(report) => writeln!(output, "{report}")?,
            Err(problem) => writeln!(output, "{}", serde_json::json!({"problem": problem}))?,
        }
    }
    Ok(())
}
