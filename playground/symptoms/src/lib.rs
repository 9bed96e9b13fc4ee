//! The browser door for logs, events and status: bytes in, piece by piece, and the report out.
//!
//! A module of its own: what logs tell is a third of the size of everything else, and whoever checks a manifest should not
//! wait for it. It is fetched when its tab is first opened.

#![expect(clippy::needless_pass_by_value, reason = "JavaScript hands over what may be absent by value")]

use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::manifest::limits::Limits;
use karpwarden::manifest::{Document, File, FileKind};
use karpwarden::reference::symptoms::page_of_symptom;
use karpwarden::lint::settings::{Date, Settings};
use karpwarden::symptoms;
use wasm_bindgen::prelude::wasm_bindgen;

/// Reads files one after another, each in as many pieces as it comes in, and diagnoses them at the end.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Reading(symptoms::Reading);

#[wasm_bindgen]
impl Reading {
    /// Nothing is read yet. Settings are YAML or JSON; today (`2027-03-31`) is for exceptions that end.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: &str, today: Option<String>) -> Result<Self, String> {
        let mut settings = read(settings)?;
        settings.today = today.as_deref().and_then(Date::parse);
        Ok(Self(symptoms::Reading::new(&REGISTRY, settings, Limits::DEFAULT)))
    }

    /// The files that come now are of a cluster of this name; empty where there is only one.
    pub fn cluster(&mut self, name: &str) {
        self.0.cluster(name);
    }

    /// The bytes that come now are of a file of this name.
    pub fn file(&mut self, name: &str) {
        self.0.file(name, FileKind::Unknown);
    }

    /// The next bytes of the file.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.0.feed(bytes);
    }

    /// Everything is read. Gives the bytes of `karpwarden diagnose --format json`.
    pub fn finish(self) -> String {
        self.0.finish().report.to_json()
    }
}

/// The page of a symptom as Markdown; nothing where there is none of this name.
#[wasm_bindgen]
pub fn page(name: &str) -> Option<String> {
    symptoms::find(name).map(page_of_symptom)
}

/// The settings, or everything that is wrong with them.
fn read(text: &str) -> Result<Settings, String> {
    match File::read("karpwarden.yaml", text, &Limits::DEFAULT).documents.as_slice() {
        [] => Ok(Settings::default()),
        [Document::Read(tree)] => Settings::read(tree.root(), &REGISTRY)
            .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
        [..] => Err("the settings are one document, which can be read".to_owned()),
    }
}
