//! Sessions for `kwctl run --replay-host-capabilities-interactions`: the policy's host calls and the answers to them.
//!
//! They are recorded from the policy, so that they follow its host calls. Format: kubewarden/kubewarden-controller
//! `crates/kwctl/src/callback_handler/proxy.rs`.

use std::cell::RefCell;
use std::fmt::Write as _;

use anyhow::Context as _;
use karpwarden_admit::FakeCluster;
use karpwarden_policy::admission::validate;
use karpwarden_policy::host::{Host, api_version};
use serde_json::{Value, json};

use crate::home;

const FOLDER: &str = "policies/karpenter/test_data";

/// State of the recorded cluster.
#[derive(Clone, Copy)]
pub(super) enum RecordedCluster {
    /// The cluster has a valid NodePool and a valid EC2NodeClass.
    Holding,
    /// The API server fails.
    Failing,
}

struct Recorder {
    cluster: FakeCluster,
    text: RefCell<String>,
}

impl Host for Recorder {
    fn call(&self, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        let answer = self.cluster.answer("kubewarden", "kubernetes", operation, payload);
        let answer = answer.map_err(|error| error.to_string());
        let request: Value = serde_json::from_slice(payload).map_err(|error| error.to_string())?;
        let mut text = self.text.borrow_mut();
        text.push_str("- type: Exchange\n  request: |\n    !KubernetesListResourceAll\n");
        for (key, value) in request.as_object().into_iter().flatten() {
            let _ = writeln!(text, "    {key}: {value}");
        }
        text.push_str("  response:\n");
        let (kind, key, content) = match &answer {
            Ok(bytes) => ("Success", "payload", String::from_utf8_lossy(bytes).into_owned()),
            Err(error) => ("Error", "message", error.replace("Callback evaluation failure: ", "")),
        };
        let _ = writeln!(text, "    type: {kind}\n    {key}: '{}'", content.replace('\'', "''"));
        answer
    }
}

/// The recorded session of a request in the test data.
pub(super) fn text(request: &str, settings: &Value, world: RecordedCluster) -> anyhow::Result<String> {
    let read = |name: &str| -> anyhow::Result<Value> {
        let path = format!("{FOLDER}/{name}.json");
        serde_json::from_str(&home::text(&path)?).context(path)
    };
    let cluster = match world {
        RecordedCluster::Failing => {
            FakeCluster::failing("the server is currently unable to handle the request")
        }
        RecordedCluster::Holding => {
            let names = ["nodepool-create-good", "nodeclass-create-good"];
            let objects = names
                .map(|name| read(name).map(|request| request.get("object").cloned().unwrap_or_default()));
            FakeCluster::holding(objects.into_iter().collect::<Result<Vec<_>, _>>()?)
        }
    };
    let granted: Vec<_> = super::context::kinds().map(|kind| (api_version(kind), kind.name)).collect();
    let cluster = cluster.granting(granted.iter().map(|(version, kind)| (version.as_str(), *kind)));
    let recorder = Recorder { cluster, text: RefCell::default() };
    let payload = json!({"request": read(request)?, "settings": settings});
    validate(payload.to_string().as_bytes(), &recorder);
    Ok(format!(
        "# Written by `make generate`: the policy's host calls for {request}.json.\n{}",
        recorder.text.into_inner()
    ))
}
