//! The recorded cases.

use std::io::Read as _;

use karpenter::release::Release;
use karpwarden_scheduling::simulation::SimulationSettings;
use manifest::File;
use manifest::limits::Limits;
use serde_json::Value as Json;

/// Case with the result that Karpenter's scheduler had.
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) topic: String,
    releases: Vec<Release>,
    options: Json,
    manifests: Json,
    pub(crate) expect: Json,
}

/// A case at one release.
pub(crate) struct Run {
    pub(crate) release: Release,
}

/// All cases.
pub(crate) fn all() -> Vec<Case> {
    let packed: &[u8] = include_bytes!("cases.jsonl.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text.lines().map(|line| Case::read(&serde_json::from_str(line).unwrap())).collect()
}

impl Case {
    fn read(json: &Json) -> Self {
        let text = |key: &str| json[key].as_str().unwrap().to_owned();
        let same =
            json["sameIn"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap().to_owned());
        let releases = std::iter::once(text("release")).chain(same);
        Self {
            id: text("id"),
            topic: text("topic"),
            releases: releases.map(|name| Release::parse(recorded(&name)).unwrap()).collect(),
            options: json["options"].clone(),
            manifests: json["manifests"].clone(),
            expect: json["expect"].clone(),
        }
    }

    /// The case at each of its releases.
    pub(crate) fn runs(&self) -> Vec<Run> {
        self.releases.iter().map(|release| Run { release: *release }).collect()
    }

    /// The manifests as a file.
    pub(crate) fn file(&self) -> File {
        let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": self.manifests});
        File::read("case.json", list.to_string(), &Limits::DEFAULT)
    }

    /// The settings of the recorded world.
    pub(crate) fn settings(&self, release: Release) -> SimulationSettings {
        let mut settings = SimulationSettings::new(release);
        let options = &self.options;
        if let Some(enis) = options["reservedENIs"].as_i64() {
            settings.reserved_enis = enis;
        }
        settings.ignores_preferences = options["preferencePolicy"] == "Ignore";
        settings.min_values_best_effort = options["minValuesPolicy"] == "BestEffort";
        for (id, count) in options["reservationCapacity"].as_object().into_iter().flatten() {
            settings.reservation_capacity.insert(id.clone(), u32::try_from(count.as_u64().unwrap()).unwrap());
        }
        for (gate, on) in options["featureGates"].as_object().into_iter().flatten() {
            match gate.as_str() {
                "NodeOverlay" => settings.node_overlays = on.as_bool().unwrap(),
                "ReservedCapacity" => settings.reserved_capacity = on.as_bool().unwrap(),
                other => panic!("unknown gate {other}"),
            }
        }
        settings
    }
}

/// The patch release that ran for a minor release.
fn recorded(minor: &str) -> &str {
    match minor {
        "1.14" => "1.14.1",
        "1.8" => "1.8.2",
        "1.4" => "1.4.1",
        "1.0" => "1.0.9",
        other => other,
    }
}
