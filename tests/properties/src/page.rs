//! Files and settings of a share link, as the modules of the page read them.

use karpwarden::REGISTRY;
use karpwarden::cluster::Cluster;
use karpwarden::manifest::File;
use karpwarden::manifest::limits::Limits;
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::rule::settings::Settings;
use karpwarden_playground as page;
use serde_json::{Value, json};
use terraform_objects::evaluate_given;

use crate::input::{CONFIG, Texts};

/// Calls the functions of the page. A check gives the bytes of the command line.
pub fn assert_page(text: &str) {
    let Texts { files, settings } = Texts::cut(text);
    let sent: Value = files.iter().map(|(name, text)| json!({"name": name, "text": text})).collect();
    let sent = sent.to_string();
    let config = File::read(CONFIG, settings.as_str(), READ_OPTIONS);
    let read = |(name, text): &(&str, String)| File {
        is_relevant: Some(true),
        ..File::from_bytes(*name, text.clone().into_bytes(), READ_OPTIONS)
    };
    let native = Settings::parse_file(&config, &REGISTRY).ok().map(|settings| {
        let mut files = files.iter().map(read).collect();
        evaluate_given(&mut files, &Limits::DEFAULT);
        karpwarden::check(&[Cluster { name: String::new(), files }], &settings).to_json()
    });
    assert_eq!(page::check(&sent, &settings, None, None).ok(), native);
    assert_eq!(page::fix(&sent, &settings, None).is_ok(), native.is_some());
    if let Ok(yaml) = page::settings_as_yaml(&settings) {
        assert_eq!(page::settings_as_yaml(&yaml).as_ref(), Ok(&yaml), "{settings:?}");
    }
    assert_objects(&sent);
}

/// Lists the objects, and what `kubectl` prints for each.
fn assert_objects(files: &str) {
    let objects = page::documents(files, true).map(|json| serde_json::from_str::<Vec<Value>>(&json));
    assert!(matches!(objects, Ok(Ok(_))), "{objects:?}");
    for entry in objects.into_iter().flatten().flatten() {
        let object = entry.get("object").unwrap_or(&Value::Null).to_string();
        let refusal = page::refusal(&object, "1.14", "a.yaml", "creating");
        assert!(refusal.is_ok(), "{refusal:?}");
    }
}
