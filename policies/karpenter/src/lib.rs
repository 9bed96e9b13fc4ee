//! The cluster door: Karpwarden as a Kubewarden policy.
//!
//! [`admission::validate`] turns a request into documents and settings and the findings into a response; the functions
//! here only register it with the host. The library can be used natively too, with any [`host::Host`].

pub mod admission;
#[cfg(target_arch = "wasm32")]
mod heap;
pub mod host;
pub mod inventory;
pub mod response;

use wapc_guest::CallResult;

/// Registers the three functions that a Kubewarden host calls.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the host finds the entry point by its name")]
pub extern "C" fn wapc_init() {
    wapc_guest::register_function("validate", validate);
    wapc_guest::register_function("validate_settings", validate_settings);
    wapc_guest::register_function("protocol_version", kubewarden_policy_sdk::protocol_version_guest);
    #[cfg(target_arch = "wasm32")]
    heap::HEAP.keep();
}

fn validate(payload: &[u8]) -> CallResult {
    answered(payload, |payload| admission::validate(payload, &host::Wapc).to_json())
}

fn validate_settings(payload: &[u8]) -> CallResult {
    answered(payload, admission::validate_settings)
}

/// Answers a request, in the memory of the one before it.
#[expect(clippy::unnecessary_wraps, reason = "the host's functions may fail, and these do not")]
fn answered(payload: &[u8], answer: impl FnOnce(&[u8]) -> String) -> CallResult {
    #[cfg(target_arch = "wasm32")]
    heap::HEAP.next_request(payload);
    Ok(answer(payload).into_bytes())
}
