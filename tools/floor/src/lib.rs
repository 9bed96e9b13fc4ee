//! A policy that accepts every request, made with the stock SDK.

use kubewarden_policy_sdk::{
    accept_request, protocol_version_guest, request::ValidationRequest, settings::Validatable,
    validate_settings,
};
use serde::{Deserialize, Serialize};
use wapc_guest::{CallResult, register_function};

#[derive(Default, Deserialize, Serialize)]
struct Settings {}

impl Validatable for Settings {
    fn validate(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Registers the three functions of the protocol. The host calls it first.
#[unsafe(no_mangle)]
pub extern "C" fn wapc_init() {
    register_function("validate", validate);
    register_function("validate_settings", validate_settings::<Settings>);
    register_function("protocol_version", protocol_version_guest);
}

fn validate(payload: &[u8]) -> CallResult {
    // Parses the request as any policy does, so that the measurement includes the cost of the protocol.
    let _: ValidationRequest<Settings> = ValidationRequest::new(payload)?;
    accept_request()
}
