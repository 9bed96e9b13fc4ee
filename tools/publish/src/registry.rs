//! The push, and its errors.

use core::fmt::Write as _;
use core::time::Duration;

use oci_client::client::{ClientConfig, ClientProtocol, Config, ImageLayer};
use oci_client::errors::{OciDistributionError, OciErrorCode};
use oci_client::manifest::{OciImageManifest, WASM_CONFIG_MEDIA_TYPE, WASM_LAYER_MEDIA_TYPE};
use oci_client::{Client, Reference};

use crate::PublishFailure;
use crate::target::{credentials, is_loopback};

/// Timeout of a connection to a registry.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A client for a registry. It uses TLS, unless the registry is on this machine.
pub fn client(reference: &Reference) -> Client {
    // Fails if the process has a provider already, which works as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let is_here = is_loopback(reference.resolve_registry());
    let protocol = if is_here { ClientProtocol::Http } else { ClientProtocol::Https };
    Client::new(ClientConfig { protocol, connect_timeout: Some(TIMEOUT), ..ClientConfig::default() })
}

/// Pushes a module with the annotations of its metadata. Returns its immutable reference, by digest.
pub async fn push(module: &[u8], reference: &Reference) -> Result<String, PublishFailure> {
    let annotations = crate::metadata::annotations(module)?;
    let layers = [ImageLayer::new(module.to_vec(), WASM_LAYER_MEDIA_TYPE.to_owned(), None)];
    let config = Config::new(b"{}".to_vec(), WASM_CONFIG_MEDIA_TYPE.to_owned(), None);
    let manifest = OciImageManifest::build(&layers, &config, Some(annotations));
    let auth = credentials(reference.registry());
    let client = client(reference);
    let pushed = client.push(reference, &layers, config, &auth, Some(manifest)).await;
    pushed.map_err(|error| failure(&error, reference))?;
    // Asks the registry for the digest that it stored.
    let digest = client.fetch_manifest_digest(reference, &auth).await;
    let digest = digest.map_err(|error| failure(&error, reference))?;
    Ok(format!("{}/{}@{digest}", reference.registry(), reference.repository()))
}

/// The cause of a client's error, in terms of the user.
fn failure(error: &OciDistributionError, reference: &Reference) -> PublishFailure {
    let registry = reference.registry();
    let login = "set REGISTRY_USER and REGISTRY_PASSWORD, or log in with `docker login`";
    match error {
        OciDistributionError::AuthenticationFailure(_) | OciDistributionError::UnauthorizedError { .. } => {
            PublishFailure::Denied(format!("{registry} requires a login: {login}"))
        }
        OciDistributionError::RegistryError { envelope, .. }
            if envelope
                .errors
                .iter()
                .any(|one| matches!(one.code, OciErrorCode::Unauthorized | OciErrorCode::Denied)) =>
        {
            PublishFailure::Denied(format!(
                "this user may not push to {} on {registry}: {login}",
                reference.repository()
            ))
        }
        OciDistributionError::ServerError { code: 401 | 403, .. } => PublishFailure::Denied(format!(
            "this user may not push to {} on {registry}: {login}",
            reference.repository()
        )),
        OciDistributionError::RequestError(error) if error.is_connect() || error.is_timeout() => {
            PublishFailure::Unreachable(format!("{registry} cannot be reached: {}", causes(error)))
        }
        OciDistributionError::RequestError(error) => {
            PublishFailure::Refused(format!("{registry} does not answer like a registry: {}", causes(error)))
        }
        other => PublishFailure::Refused(format!("{registry} rejects {reference}: {other}")),
    }
}

/// An error with its causes. The last one is usually the helpful one.
fn causes(error: &(dyn core::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = write!(text, ": {cause}");
        source = cause.source();
    }
    text
}
