//! Makes what the page loads from what Cargo built.
//!
//! `bindgen MODULE.wasm FOLDER` writes the module with its JavaScript glue and types; `rules FILE` and `symptoms FILE`
//! write their documentation as one JSON object from name to Markdown; `pack MODULE.wasm FILE [BEFORE.wasm]` packs a
//! module for the way to the page, as `page/src/unpack.ts` reads it, where it is said against the bytes of another one.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use karpwarden::reference::symptoms::page_of_symptom;
use karpwarden::{rules, symptoms};
use lzma_rust2::{LzmaOptions, LzmaWriter};
use wasm_bindgen_cli_support::Bindgen;

type Problem = Box<dyn core::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done =
        match words.as_slice() {
            ["bindgen", module, folder] => bindgen(module, folder),
            ["rules", file] => write(file, karpwarden::REGISTRY.rules().map(|rule| (rule.name, rules::documentation(rule)))),
            ["symptoms", file] => write(file, symptoms::all().map(|one| (one.name, page_of_symptom(one)))),
            ["pack", module, file] => pack(module, file, None),
            ["pack", module, file, before] => pack(module, file, Some(before)),
            _ => Err("usage: bindgen MODULE FOLDER | rules FILE | symptoms FILE | pack MODULE FILE [BEFORE]"
                .into()),
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

/// LZMA takes a fifth off what gzip leaves of a module; and of two modules with the same engine in them, the second is
/// packed to a half once more where the first is the dictionary.
fn pack(module: &str, file: &str, before: Option<&str>) -> Result<(), Problem> {
    let bytes = std::fs::read(module)?;
    let dictionary = before.map(std::fs::read).transpose()?;
    let reach = bytes.len() + dictionary.as_ref().map_or(0, Vec::len);
    let options = LzmaOptions {
        dict_size: u32::try_from(reach.next_power_of_two())?,
        pb: 0,
        preset_dict: dictionary,
        ..LzmaOptions::with_preset(9)
    };
    let mut packed = u32::try_from(bytes.len())?.to_le_bytes().to_vec();
    let mut writer = LzmaWriter::new_no_header(&mut packed, &options, false)?;
    writer.write_all(&bytes)?;
    writer.finish()?;
    Ok(std::fs::write(file, packed)?)
}

fn write(file: &str, texts: impl Iterator<Item = (&'static str, String)>) -> Result<(), Problem> {
    let texts: BTreeMap<&str, String> = texts.collect();
    if let Some(folder) = Path::new(file).parent() {
        std::fs::create_dir_all(folder)?;
    }
    Ok(std::fs::write(file, serde_json::to_string(&texts)?)?)
}
