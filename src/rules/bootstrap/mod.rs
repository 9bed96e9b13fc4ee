//! Family `bootstrap`: user data and taints that keep nodes from joining, registering or becoming initialized.

#[cfg(test)]
mod examples;
#[cfg(test)]
mod labelled;
mod user_data;

pub(crate) mod ami_custom_without_bootstrap;
pub(crate) mod bootstrap_argument_ignored;
pub(crate) mod bootstrap_quoting_fragile;
pub(crate) mod cni_startup_taint_missing;
pub(crate) mod nodeconfig_field_unknown;
pub(crate) mod registration_taint_missing;
pub(crate) mod registration_taint_wrong;
pub(crate) mod startup_taint_deadlocks_agent;
pub(crate) mod startup_taint_never_removed;
pub(crate) mod taint_should_be_startup_taint;
pub(crate) mod userdata_already_encoded;
pub(crate) mod userdata_family_mismatch;
pub(crate) mod userdata_mime_malformed;
pub(crate) mod userdata_nodeconfig_incomplete;
pub(crate) mod userdata_overridden;
pub(crate) mod userdata_script_header;
pub(crate) mod userdata_secret;
pub(crate) mod userdata_template_residue;
pub(crate) mod userdata_toml_invalid;
pub(crate) mod userdata_too_large;
