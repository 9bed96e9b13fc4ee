//! Code blocks of an article, and the links that open them in the playground.

use std::io::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use karpwarden::manifest::FileKind;
use karpwarden::manifest::limits::Limits;
use karpwarden::rule::finding::Severity;
use karpwarden::rule::settings::Settings;
use karpwarden::symptoms::Reading;
use maud::{Markup, html};
use serde_json::{Map, Value as Json, json};

use crate::article::Surface;

/// Version of the share link, as `page/src/share.ts` reads it.
const VERSION: u8 = 1;

/// A code block with a link to the playground.
///
/// The link is left out where the playground would show nothing: it knows neither an upgrade, nor several clusters of
/// one rule, nor another day, and many symptoms take more than one line of a log.
pub(crate) fn block(name: &str, info: &str, text: &str, surface: Surface) -> Markup {
    let mut words = info.split(',');
    let language = words.next().unwrap_or_default();
    let fragment = match language {
        "yaml" => {
            settings(name, words).and_then(|settings| fragment(&format!("{name}.yaml"), text, &settings))
        }
        "text" if is_diagnosed(name, text) => fragment(&format!("{name}.log"), text, &Map::new()),
        _ => None,
    };
    html! {
        div.block tabindex="0" role="group" aria-label="Example" { pre { code { (text) } } }
        @if let Some(fragment) = fragment {
            @if surface == Surface::Page {
                p { a.try href={ "../#" (fragment) } { "Open in the playground" } }
            } @else {
                button.small.quiet.try type="button" { "Open in the editor" }
            }
        }
    }
}

/// Settings of the share link from the words after the language of a code block, such as `karpenter=1.8`; nothing if the
/// playground has no such setting. A rule that is off by default gets the level that its own severity has.
fn settings<'a>(name: &str, words: impl Iterator<Item = &'a str>) -> Option<Map<String, Json>> {
    let opt_in = karpwarden::REGISTRY.find(name).filter(|rule| rule.opt_in);
    let level = opt_in.map(|rule| Some(("rules".to_owned(), json!({name: level(rule.severity)}))));
    let others = words.map(|word| {
        let (key, value) = match word.split_once('=').unwrap_or((word, "")) {
            ("karpenter", value) => ("karpenterVersion", value.into()),
            ("kubernetes", value) => ("kubernetesVersion", value.into()),
            ("cluster", value) => ("clusterName", value.into()),
            ("complete", _) => ("completeInventory", true.into()),
            _ => return None,
        };
        Some((key.to_owned(), value))
    });
    others.chain(level).collect()
}

/// Name of the level in the settings that keeps this severity.
fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "deny",
        Severity::Warning => "warn",
        Severity::Info => "info",
    }
}

/// Fragment of a share link with one file.
fn fragment(file: &str, text: &str, settings: &Map<String, Json>) -> Option<String> {
    // The documentation abbreviates one manifest that is wrong only because it is long.
    let text = text.replace("... and 16 KiB more", &"x".repeat(16 << 10));
    let shared = json!({"f": [[file, text]], "s": settings}).to_string();
    let mut encoder = DeflateEncoder::new(vec![VERSION], Compression::best());
    encoder.write_all(shared.as_bytes()).ok()?;
    Some(BASE64_URL_SAFE_NO_PAD.encode(encoder.finish().ok()?))
}

/// Whether these lines alone are enough to diagnose the symptom.
fn is_diagnosed(symptom: &str, log: &str) -> bool {
    let mut reading = Reading::new(&karpwarden::REGISTRY_WITH_SYMPTOMS, Settings::default(), Limits::DEFAULT);
    reading.file("example.log", FileKind::Unknown);
    reading.feed(log.as_bytes());
    reading.finish().report.findings.iter().any(|finding| finding.rule == symptom)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use base64::Engine as _;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD;
    use flate2::read::DeflateDecoder;

    use maud::Markup;

    use crate::article::Surface;

    fn block(name: &str, info: &str, text: &str) -> Markup {
        super::block(name, info, text, Surface::Page)
    }

    fn shared(html: &str) -> Option<String> {
        let (_, fragment) = html.split_once("../#")?;
        let packed = BASE64_URL_SAFE_NO_PAD.decode(fragment.split('"').next()?).unwrap();
        let mut json = String::new();
        DeflateDecoder::new(packed.get(1..)?).read_to_string(&mut json).unwrap();
        Some(json)
    }

    #[test]
    fn links_an_example_with_its_settings() {
        let html = block("api-enum", "yaml,karpenter=1.8,complete", "a: 1\n").into_string();
        let expected =
            r#"{"f":[["api-enum.yaml","a: 1\n"]],"s":{"completeInventory":true,"karpenterVersion":"1.8"}}"#;
        assert_eq!(shared(&html).as_deref(), Some(expected));
    }

    #[test]
    fn turns_on_a_rule_that_is_off_by_default() {
        let html = block("ami-alias-latest", "yaml", "a: 1\n").into_string();
        let expected =
            r#"{"f":[["ami-alias-latest.yaml","a: 1\n"]],"s":{"rules":{"ami-alias-latest":"info"}}}"#;
        assert_eq!(shared(&html).as_deref(), Some(expected));
    }

    #[test]
    fn leaves_out_the_link_where_the_playground_finds_nothing() {
        for info in ["yaml,from=1.0 to 1.1", "yaml,clusters", "yaml,today=2027-04-01", "text", "sh"] {
            assert_eq!(shared(&block("api-enum", info, "a: 1\n").into_string()), None, "{info}");
        }
    }
}
