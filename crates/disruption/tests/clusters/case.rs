//! The recorded cases.

use std::collections::BTreeMap;
use std::io::Read as _;

use karpenter::release::Release;
use karpwarden_disruption::settings::DisruptionSettings;
use manifest::File;
use manifest::limits::Limits;
use serde_json::{Value as Json, json};
use values::duration::Duration;
use values::timestamp::Timestamp;

/// Case with what Karpenter's controllers did.
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) topic: String,
    pub(crate) releases: Vec<Release>,
    pub(crate) expect: Json,
    now: Timestamp,
    options: Json,
    manifests: Json,
}

/// All cases except those about the drain of a node.
pub(crate) fn all() -> Vec<Case> {
    let packed: &[u8] = include_bytes!("cases.jsonl.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let lines: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let manifests: BTreeMap<&str, &Json> =
        lines.iter().map(|line| (line["id"].as_str().unwrap(), &line["manifests"])).collect();
    let read = |line: &Json| {
        let of = line["manifestsOf"].as_str().or(line["id"].as_str()).unwrap();
        Case::read(line, manifests[of])
    };
    lines.iter().filter(|line| line["topic"] != "drain").map(read).collect()
}

impl Case {
    fn read(json: &Json, manifests: &Json) -> Self {
        let same = json["sameIn"].as_array().into_iter().flatten();
        let releases = std::iter::once(&json["release"]).chain(same).map(|name| name.as_str().unwrap());
        Self {
            id: json["id"].as_str().unwrap().to_owned(),
            topic: json["topic"].as_str().unwrap().to_owned(),
            releases: releases.map(|name| Release::parse(recorded(name)).unwrap()).collect(),
            now: Timestamp::parse(json["now"].as_str().unwrap()).unwrap(),
            options: json["options"].clone(),
            expect: json["expect"].clone(),
            manifests: manifests.clone(),
        }
    }

    /// The method that waits before its command is validated, where the case is about the wait.
    pub(crate) fn waits_for(&self) -> Option<&str> {
        self.options["validation"]["method"].as_str()
    }

    /// The objects as JSON.
    #[allow(dead_code, reason = "the forecasts replay the objects")]
    pub(crate) fn manifests(&self) -> &Json {
        &self.manifests
    }

    /// The objects.
    pub(crate) fn file(&self) -> File {
        read(&self.manifests)
    }

    /// The objects after the wait.
    pub(crate) fn later_file(&self) -> File {
        let change = &self.options["validation"];
        let mut manifests = self.manifests.clone();
        let items = manifests.as_array_mut().unwrap();
        let protected = names(&change["annotate"]);
        for node in items.iter_mut().filter(|item| item["kind"] == "Node") {
            if protected.iter().any(|name| node["metadata"]["name"] == name.as_str()) {
                node["metadata"]["annotations"] = json!({"karpenter.sh/do-not-disrupt": "true"});
            }
        }
        items.extend(change["newPods"].as_array().into_iter().flatten().cloned());
        read(&manifests)
    }

    /// The facts that the objects do not show.
    pub(crate) fn options(&self, release: Release) -> DisruptionSettings {
        let mut options = DisruptionSettings::new(release, self.now);
        let written = &self.options;
        for (node, seconds) in written["nominated"].as_object().into_iter().flatten() {
            let ago = Duration::from_nanoseconds(-seconds.as_i64().unwrap() * 1_000_000_000);
            options.nominated.insert(node.clone(), self.now.plus(ago));
        }
        options.marked_for_deletion.extend(names(&written["markedForDeletion"]));
        options.in_queue.extend(names(&written["inQueue"]));
        for (node, count) in written["bufferPods"].as_object().into_iter().flatten() {
            options.buffer_pods.insert(node.clone(), usize::try_from(count.as_u64().unwrap()).unwrap());
        }
        options.simulation.ignores_preferences = written["preferencePolicy"] == "Ignore";
        options.simulation.min_values_best_effort = written["minValuesPolicy"] == "BestEffort";
        for (gate, on) in written["featureGates"].as_object().into_iter().flatten() {
            match gate.as_str() {
                "SpotToSpotConsolidation" => options.spot_to_spot = on.as_bool().unwrap(),
                other => panic!("unknown gate {other}"),
            }
        }
        options
    }

    /// The facts that the objects do not show after the wait.
    pub(crate) fn later_options(&self, release: Release) -> DisruptionSettings {
        let change = &self.options["validation"];
        let mut options = self.options(release);
        let seconds = change["advanceSeconds"].as_i64().unwrap_or_default();
        options.now = self.now.plus(Duration::from_nanoseconds(seconds * 1_000_000_000));
        for node in names(&change["nominate"]) {
            options.nominated.insert(node, options.now);
        }
        options.marked_for_deletion.extend(names(&change["markForDeletion"]));
        options
    }
}

fn names(list: &Json) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|name| name.as_str().unwrap().to_owned()).collect()
}

fn read(manifests: &Json) -> File {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": manifests});
    File::read("case.json", list.to_string(), &Limits::DEFAULT)
}

/// The patch release that ran for a minor release.
fn recorded(minor: &str) -> &str {
    match minor {
        "1.14" => "1.14.1",
        "1.8" => "1.8.2",
        "1.4" => "1.4.1",
        other => other,
    }
}
