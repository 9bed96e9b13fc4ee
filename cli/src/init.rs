//! `karpwarden init`: writes a config file that contains every key, with comments.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use answers::report::HOMEPAGE;
use rule::settings::Target;
use rule::settings::keys::{self, SettingKey, SettingScope};

use super::arguments::InitArguments;
use super::config::FILE;
use super::error::CommandError;
use super::form::Color;
use super::status::Status;
use super::terminal;
use super::whole_file::WholeFile;

pub(crate) fn run(init: &InitArguments, color: Color) -> Result<Status, CommandError> {
    if let Some(Err(message)) = init.karpenter_version.as_deref().map(Target::parse) {
        return Err(CommandError::Usage(format!("--karpenter-version: {message}")));
    }
    let written = WholeFile::create(Path::new(FILE)).and_then(|mut file| {
        file.write_all(text(init).as_bytes())?;
        file.finish_new()
    });
    match written {
        Ok(()) => {
            terminal::note(color, &format!("wrote {FILE}; `karpwarden check .` reads it"));
            Ok(Status::Clean)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(CommandError::Usage(format!("{FILE} already exists; not overwritten")))
        }
        Err(error) => Err(io::Error::other(format!("cannot write {FILE}: {error}")).into()),
    }
}

/// Text of the config file: the values of the flags as keys, every other key as a comment with an example.
fn text(init: &InitArguments) -> String {
    let mut text = if HOMEPAGE.is_empty() {
        String::new()
    } else {
        format!("# yaml-language-server: $schema={HOMEPAGE}/schemas/settings.schema.json\n")
    };
    text.push_str("# Without a network: write the output of `karpwarden schema config` to a file, and name the file there.\n");
    for key in keys::ALL.iter().filter(|key| key.scope != SettingScope::Cluster) {
        let _ = write!(text, "\n# {}\n", key.description);
        let given = match key.name {
            "karpenterVersion" => init.karpenter_version.as_deref(),
            "clusterName" => init.cluster_name.as_deref(),
            _ => None,
        };
        match given {
            // Every JSON string is a YAML string, with the necessary quotes and escapes.
            Some(value) => {
                let _ = writeln!(text, "{}: {}", key.name, serde_json::Value::from(value));
            }
            None => example(key).lines().for_each(|line| {
                let _ = writeln!(text, "# {line}");
            }),
        }
    }
    text
}

fn example(key: &SettingKey) -> &'static str {
    match key.name {
        "karpenterVersion" => "karpenterVersion: \"1.8\"",
        "kubernetesVersion" => "kubernetesVersion: \"1.33\"",
        "clusterName" => "clusterName: prod-eu-1",
        "completeInventory" => "completeInventory: true",
        "rules" => "rules:\n  storage: warn",
        "exceptions" => {
            "exceptions:\n  - rule: storageclass-immediate\n    kind: StorageClass\n    name: legacy-*\n    \
             reason: single-zone cluster\n    until: 2027-03-31"
        }
        "strictUpdates" => "strictUpdates: true",
        "exclude" => "exclude:\n  - vendor/",
        "render" => "render: true",
        "overrides" => "overrides:\n  - paths: [clusters/staging/]\n    karpenterVersion: \"1.14\"",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_an_example() {
        for key in keys::ALL.iter().filter(|key| key.scope != SettingScope::Cluster) {
            assert!(example(key).starts_with(key.name), "{}", key.name);
        }
    }
}
