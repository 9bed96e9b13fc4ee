//! The push itself, and what its failures mean.

use core::fmt::Write as _;
use core::time::Duration;

use oci_client::client::{ClientConfig, ClientProtocol, Config, ImageLayer};
use oci_client::errors::{OciDistributionError, OciErrorCode};
use oci_client::manifest::{OciImageManifest, WASM_CONFIG_MEDIA_TYPE, WASM_LAYER_MEDIA_TYPE};
use oci_client::{Client, Reference};

use crate::Failure;
use crate::target::{credentials, is_loopback};

/// How long a registry may take to be reached.
const PATIENCE: Duration = Duration::from_secs(20);

/// A client for a registry: encrypted, unless the registry is on this machine.
pub fn client(reference: &Reference) -> Client {
    // Where another part of the process has chosen one already, that will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let is_here = is_loopback(reference.resolve_registry());
    let protocol = if is_here { ClientProtocol::Http } else { ClientProtocol::Https };
    Client::new(ClientConfig { protocol, connect_timeout: Some(PATIENCE), ..ClientConfig::default() })
}

/// Pushes a module with the annotations of its metadata. Gives the reference that never changes: the one by digest.
pub async fn push(module: &[u8], reference: &Reference) -> Result<String, Failure> {
    let annotations = crate::metadata::annotations(module)?;
    let layers = [ImageLayer::new(module.to_vec(), WASM_LAYER_MEDIA_TYPE.to_owned(), None)];
    let config = Config::new(b"{}".to_vec(), WASM_CONFIG_MEDIA_TYPE.to_owned(), None);
    let manifest = OciImageManifest::build(&layers, &config, Some(annotations));
    let auth = credentials(reference.registry());
    let client = client(reference);
    let pushed = client.push(reference, &layers, config, &auth, Some(manifest)).await;
    pushed.map_err(|error| failure(&error, reference))?;
    // What the registry stores is asked for, not assumed.
    let digest = client.fetch_manifest_digest(reference, &auth).await;
    let digest = digest.map_err(|error| failure(&error, reference))?;
    Ok(format!("{}/{}@{digest}", reference.registry(), reference.repository()))
}

/// What an error of the client means for whoever pushes.
fn failure(error: &OciDistributionError, reference: &Reference) -> Failure {
    let registry = reference.registry();
    let login = "set REGISTRY_USER and REGISTRY_PASSWORD, or log in with `docker login`";
    match error {
        OciDistributionError::AuthenticationFailure(_) | OciDistributionError::UnauthorizedError { .. } => {
            Failure::Denied(format!("{registry} wants to know who pushes: {login}"))
        }
        OciDistributionError::RegistryError { envelope, .. }
            if envelope
                .errors
                .iter()
                .any(|one| matches!(one.code, OciErrorCode::Unauthorized | OciErrorCode::Denied)) =>
        {
            Failure::Denied(format!(
                "{registry} does not let this user push to {}: {login}",
                reference.repository()
            ))
        }
        OciDistributionError::ServerError { code: 401 | 403, .. } => Failure::Denied(format!(
            "{registry} does not let this user push to {}: {login}",
            reference.repository()
        )),
        OciDistributionError::RequestError(error) if error.is_connect() || error.is_timeout() => {
            Failure::Unreachable(format!("{registry} cannot be reached: {}", causes(error)))
        }
        OciDistributionError::RequestError(error) => {
            Failure::Refused(format!("{registry} did not answer as a registry does: {}", causes(error)))
        }
        other => Failure::Refused(format!("{registry} refuses {reference}: {other}")),
    }
}

/// An error and what it comes from: the last is what helps.
fn causes(error: &(dyn core::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = write!(text, ": {cause}");
        source = cause.source();
    }
    text
}
