//! Requests and settings, as the policy server sends them: every payload has a well-formed response.

use karpwarden::REGISTRY;
use karpwarden::manifest::File;
use karpwarden::rule::settings::Settings;
use karpwarden_policy::admission::{validate, validate_settings};
use karpwarden_policy::host::Host;
use render::human::problem;
use serde_json::{Map, Value};

use crate::formats::assert_printable;
use crate::input::LIMITS;

/// Largest number of warnings, and of their characters. The line that counts the others adds to both.
const WARNINGS: (usize, usize) = (41, 3_900);

/// Line between the payload and the answer of the host.
const ANSWER: &[u8] = b"\n#== answer\n";

/// A host that gives the same answer to every call.
struct Answering<'a>(Result<&'a [u8], &'a str>);

impl Host for Answering<'_> {
    fn call(&self, _operation: &str, _payload: &[u8]) -> Result<Vec<u8>, String> {
        self.0.map(<[u8]>::to_vec).map_err(str::to_owned)
    }
}

/// Answers a payload of `validate`, with a host that refuses every call, and with a host that gives an answer: the bytes
/// after the line `#== answer`.
pub fn assert_request(bytes: &[u8]) {
    let (payload, answer) = split(bytes);
    for host in [Answering(Err("denied")), Answering(Ok(answer))] {
        assert_response(&validate(payload, &host).to_json());
    }
}

fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let at = bytes.windows(ANSWER.len()).position(|window| window == ANSWER);
    let parts = at.and_then(|at| Some((bytes.get(..at)?, bytes.get(at + ANSWER.len()..)?)));
    parts.unwrap_or((bytes, b""))
}

/// Checks the JSON of a `ValidationResponse`.
fn assert_response(json: &str) {
    let response: Result<Map<String, Value>, _> = serde_json::from_str(json);
    assert!(response.is_ok(), "{response:?}: {json}");
    let response = response.unwrap_or_default();
    let field = |name| response.get(name).unwrap_or(&Value::Null);
    let accepted = field("accepted").as_bool();
    let has_message = field("message").as_str().is_some_and(|message| !message.is_empty());
    assert_eq!(accepted, Some(!has_message), "{json}");
    let mutated = field("mutated_object");
    assert!(mutated.is_null() || (mutated.is_object() && accepted == Some(true)), "{json}");
    let warnings = field("warnings").as_array().map(Vec::as_slice).unwrap_or_default();
    let warnings: Vec<&str> = warnings.iter().filter_map(Value::as_str).collect();
    for warning in &warnings {
        assert!(!warning.contains('\n'), "{warning:?}");
        assert_printable(warning);
    }
    let characters = warnings.iter().map(|warning| warning.chars().count()).sum::<usize>();
    assert!(warnings.len() <= WARNINGS.0 && characters <= WARNINGS.1, "{json}");
}

/// Validates settings as the policy does, and as the command line does for a config file.
pub fn assert_settings(bytes: &[u8]) {
    let json = validate_settings(bytes);
    let answer: Result<Value, _> = serde_json::from_str(&json);
    assert!(answer.is_ok(), "{answer:?}: {json}");
    let answer = answer.unwrap_or_default();
    let message = answer.get("message").and_then(Value::as_str);
    let is_valid = answer.get("valid").and_then(Value::as_bool);
    assert_eq!(is_valid, Some(message.is_none()), "{json}");
    if is_valid == Some(true) {
        let payload = [b"{\"request\":{},\"settings\":", bytes, b"}"].concat();
        assert!(validate(&payload, &Answering(Err("denied"))).accepted, "{json}");
    }
    assert_config(&File::from_bytes("karpwarden.yaml", bytes.to_vec(), &LIMITS));
}

/// Checks that each mistake in a config file has a place in the text, and that a terminal can show it.
fn assert_config(file: &File) {
    let text = file.source.text();
    for mistake in Settings::parse_file(file, &REGISTRY).err().into_iter().flatten() {
        assert!(text.get(mistake.span.start..mistake.span.end).is_some(), "{mistake:?} in {text:?}");
        assert_printable(&problem(&file.source, mistake.span, &mistake.to_string(), false));
    }
}
