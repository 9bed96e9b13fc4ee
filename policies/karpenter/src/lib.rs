//! Karpwarden as a Kubewarden policy.
//!
//! [`admission::validate`] turns a request into documents and settings, and the findings into a response. The functions in
//! this file register it with the waPC host. The library also works natively, with any [`host::Host`].

pub mod admission;
mod claims;
pub mod host;
pub mod inventory;
mod list;
mod mutation;
pub mod response;
mod warnings;

use wapc_guest::{CallResult, register_function};

/// Registers the three functions that a Kubewarden host calls.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the host finds the entry point by its name")]
pub extern "C" fn wapc_init() {
    register_function("validate", validate);
    register_function("validate_settings", validate_settings);
    register_function("protocol_version", kubewarden_policy_sdk::protocol_version_guest);
}

#[expect(clippy::unnecessary_wraps, reason = "the signature that the host calls")]
fn validate(payload: &[u8]) -> CallResult {
    Ok(admission::validate(payload, &host::Wapc).to_json().into_bytes())
}

#[expect(clippy::unnecessary_wraps, reason = "the signature that the host calls")]
fn validate_settings(payload: &[u8]) -> CallResult {
    Ok(admission::validate_settings(payload).into_bytes())
}
