//! Browser front end of `karpwarden diagnose`: takes logs, events and status in chunks and returns the report.
//!
//! This is a separate module because most visitors only check a manifest. The page fetches it when the Symptoms tab
//! opens.

use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::manifest::limits::Limits;
use karpwarden::manifest::{File, FileKind};
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::rule::settings::{Date, Settings};
use karpwarden::symptoms::{self, StoryTarget};
use wasm_bindgen::prelude::wasm_bindgen;

/// Reads files one after another, each in chunks, and diagnoses them at the end.
#[wasm_bindgen(js_name = Reading)]
#[derive(Debug)]
pub struct LogReading(symptoms::Reading);

#[wasm_bindgen(js_class = Reading)]
impl LogReading {
    /// Starts a diagnosis. Settings are YAML or JSON; `today` (`2027-03-31`) decides which exceptions have expired.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: &str, today: Option<String>) -> Result<Self, String> {
        let mut settings = read(settings)?;
        if let Some(today) = today {
            let date = Date::parse(&today);
            settings.today = Some(date.ok_or_else(|| format!("`{today}` is not a date such as 2027-03-31"))?);
        }
        Ok(Self(symptoms::Reading::new(&REGISTRY, settings, Limits::DEFAULT)))
    }

    /// Also tells the story of a `Node`, `Pod` or `NodePool`, or gives the timeline of every NodeClaim (`Cluster`, without a
    /// name). The report then has `stories`, as with `karpwarden diagnose --timeline`. Call it before the first file.
    pub fn about(self, kind: &str, name: &str) -> Result<Self, String> {
        let name = name.to_owned();
        let target = match kind {
            "Node" => StoryTarget::Node(name),
            "Pod" => StoryTarget::Pod(name),
            "NodePool" => StoryTarget::NodePool(name),
            "Cluster" => StoryTarget::Cluster,
            _ => return Err(format!("`{kind}` has no story")),
        };
        Ok(Self(self.0.about(target)))
    }

    /// Names the cluster of the files that follow. The name is empty if there is only one cluster.
    pub fn cluster(&mut self, name: &str) {
        self.0.cluster(name);
    }

    /// Starts the next file.
    pub fn file(&mut self, name: &str) {
        self.0.file(name, FileKind::Unknown);
    }

    /// Adds the next bytes of the file.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.0.feed(bytes);
    }

    /// Returns the report, byte for byte as `karpwarden diagnose --format json` prints it.
    pub fn finish(self) -> String {
        self.0.finish().report.to_json()
    }
}

/// Reads the settings, or returns every mistake in them.
fn read(text: &str) -> Result<Settings, String> {
    Settings::parse_file(&File::read("karpwarden.yaml", text, READ_OPTIONS), &REGISTRY)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}
