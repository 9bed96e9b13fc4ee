//! Accepts every request, with the stock SDK and nothing else.

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

/// Where the host starts: it registers the three functions of the protocol.
#[unsafe(no_mangle)]
pub extern "C" fn wapc_init() {
    register_function("validate", validate);
    register_function("validate_settings", validate_settings::<Settings>);
    register_function("protocol_version", protocol_version_guest);
}

fn validate(payload: &[u8]) -> CallResult {
    // Parsed as any policy would, so that the floor carries the cost of the protocol itself.
    let _: ValidationRequest<Settings> = ValidationRequest::new(payload)?;
    accept_request()
}
