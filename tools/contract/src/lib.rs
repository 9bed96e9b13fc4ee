//! JSON Schemas, TypeScript, sample answers and the tables of `docs/plan.md`, derived from the types in `answers` and from the table of settings.
//!
//! `make generate` writes the files, and a test here fails if one is out of date. This crate is apart from `tools/generate`, because that
//! one compiles a WebAssembly host.

mod effects;
pub mod samples;
pub mod schema;
pub mod settings;
pub mod typescript;

/// Path in the repository, and text of the file.
pub type ContractFile = (String, String);

/// Returns the derived files.
pub fn files() -> Result<Vec<ContractFile>, String> {
    let mut files = vec![
        ("schemas/settings.schema.json".to_owned(), json(&settings::schema())?),
        ("playground/package/answers.d.ts".to_owned(), typescript::text()),
        ("playground/types/samples.ts".to_owned(), samples::text()?),
    ];
    files.push(effects::page()?);
    for (name, schema) in schema::all() {
        files.push((format!("schemas/{name}.schema.json"), json(&schema)?));
    }
    Ok(files)
}

fn json(value: &serde_json::Value) -> Result<String, String> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(|error| error.to_string())
}
