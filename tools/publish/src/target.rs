//! The target of a push, and the credentials for it.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{env, fs};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use oci_client::Reference;
use oci_client::secrets::RegistryAuth;
use serde_json::Value;

use crate::PublishFailure;

/// Parses `registry.example/policies/karpenter:v1.0.0`, with or without the prefix `registry://`.
pub fn reference(text: &str) -> Result<Reference, PublishFailure> {
    let plain = text.strip_prefix("registry://").unwrap_or(text);
    let example = "write it as registry.example/policies/karpenter:v1.0.0";
    // The client takes a first word without dot or port for a user of Docker Hub.
    let host = plain.split('/').next().unwrap_or_default();
    if !plain.contains('/') || !(host.contains(['.', ':']) || host == "localhost") {
        return Err(PublishFailure::Usage(format!("no registry in `{text}`; {example}")));
    }
    let reference: Reference = plain
        .parse()
        .map_err(|error| PublishFailure::Usage(format!("`{text}` is not a reference: {error}; {example}")))?;
    let is_tagged = plain.rsplit('/').next().is_some_and(|last| last.contains(':'));
    if reference.digest().is_some() || !is_tagged {
        return Err(PublishFailure::Usage(format!("no tag in `{text}`; {example}")));
    }
    Ok(reference)
}

/// Whether a registry is on this machine, so that it needs no TLS.
pub fn is_loopback(registry: &str) -> bool {
    let host = registry.rsplit_once(':').map_or(registry, |(host, _)| host);
    matches!(host, "127.0.0.1" | "localhost" | "[::1]")
}

/// Credentials for a registry: `REGISTRY_USER` and `REGISTRY_PASSWORD`, or the credentials that `docker login` stored in its
/// configuration or in a credential helper. Anonymous otherwise.
pub fn credentials(registry: &str) -> RegistryAuth {
    let variable = |name| env::var(name).ok().filter(|text| !text.is_empty());
    if let (Some(user), Some(password)) = (variable("REGISTRY_USER"), variable("REGISTRY_PASSWORD")) {
        return RegistryAuth::Basic(user, password);
    }
    let login = docker_config().and_then(|config| login(&config, registry));
    login.map_or(RegistryAuth::Anonymous, |(user, password)| RegistryAuth::Basic(user, password))
}

/// Credentials from a Docker configuration, in order of precedence: the registry's credential helper, the stored login, the
/// default credential helper. The key of Docker Hub is a URL.
fn login(config: &Value, registry: &str) -> Option<(String, String)> {
    let registry = if registry == "docker.io" { "https://index.docker.io/v1/" } else { registry };
    let own = config.get("credHelpers").and_then(|helpers| helpers.get(registry)?.as_str());
    if let Some(helper) = own {
        return from_helper(helper, registry);
    }
    stored(config, registry).or_else(|| from_helper(config.get("credsStore")?.as_str()?, registry))
}

/// Credentials from a helper: `docker-credential-NAME get` reads the registry's name and prints JSON
/// (docker/docker-credential-helpers `credentials/credentials.go`). The user name `<token>` marks an identity token, which this
/// client does not support.
fn from_helper(helper: &str, registry: &str) -> Option<(String, String)> {
    let mut command = Command::new(format!("docker-credential-{helper}"));
    command.arg("get").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    // A helper that does not read its input fails, which its exit status shows.
    let _ = child.stdin.take()?.write_all(registry.as_bytes());
    let output = child.wait_with_output().ok().filter(|output| output.status.success())?;
    let answer: Value = serde_json::from_slice(&output.stdout).ok()?;
    let word = |key| Some(answer.get(key)?.as_str()?.to_owned());
    Some((word("Username").filter(|user| user != "<token>")?, word("Secret")?))
}

fn docker_config() -> Option<Value> {
    let folder = env::var_os("DOCKER_CONFIG").map(PathBuf::from);
    let folder = folder.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".docker")))?;
    serde_json::from_slice(&fs::read(folder.join("config.json")).ok()?).ok()
}

/// Credentials from `auths.<registry>.auth`: `user:password` in base64.
fn stored(config: &Value, registry: &str) -> Option<(String, String)> {
    let auth = config.get("auths")?.get(registry)?.get("auth")?.as_str()?;
    let text = String::from_utf8(STANDARD.decode(auth).ok()?).ok()?;
    let (user, password) = text.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn target_needs_registry_repository_and_tag() {
        for text in
            ["registry://ghcr.io/karpwarden/policies/karpenter:v1.0.0", "127.0.0.1:5000/karpenter:v1.0.0"]
        {
            assert_eq!(
                reference(text).map(|reference| reference.tag().map(str::to_owned)),
                Ok(Some("v1.0.0".to_owned()))
            );
        }
        for (text, reason) in [
            ("karpenter:v1", "no registry in"),
            ("karpwarden/karpenter:v1", "no registry in"),
            ("ghcr.io/karpenter", "no tag in"),
            ("ghcr.io:443/karpenter", "no tag in"),
            ("ghcr.io/Karpenter:v1", "is not a reference"),
        ] {
            let error = reference(text).map(|_| ()).map_err(|error| error.to_string());
            assert!(error.clone().is_err_and(|error| error.contains(reason)), "{text}: {error:?}");
        }
    }

    #[test]
    fn recognises_loopback_registries() {
        assert!(is_loopback("127.0.0.1:5000") && is_loopback("localhost:5000") && is_loopback("[::1]:5000"));
        assert!(!is_loopback("ghcr.io") && !is_loopback("10.0.0.1:5000"));
    }

    #[test]
    fn reads_credentials_of_docker_login() {
        let config = json!({"auths": {"ghcr.io": {"auth": STANDARD.encode("eve:a:b")}}});
        assert_eq!(stored(&config, "ghcr.io"), Some(("eve".to_owned(), "a:b".to_owned())));
        assert_eq!(stored(&config, "docker.io"), None);
        let hub = json!({"auths": {"https://index.docker.io/v1/": {"auth": STANDARD.encode("eve:a")}}});
        assert_eq!(login(&hub, "docker.io"), Some(("eve".to_owned(), "a".to_owned())));
        // A helper that is not installed gives no credentials.
        assert_eq!(login(&json!({"credsStore": "no-such-helper"}), "ghcr.io"), None);
    }
}
