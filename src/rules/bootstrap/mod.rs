//! Family `bootstrap`: user data and taints that keep nodes from joining, registering or becoming initialized.

#[cfg(test)]
mod examples;
#[cfg(test)]
mod labelled;
mod user_data;

family! {
    ami_custom_without_bootstrap,
    bootstrap_argument_ignored,
    bootstrap_quoting_fragile,
    cni_startup_taint_missing,
    registration_taint_missing,
    registration_taint_wrong,
    startup_taint_deadlocks_agent in "kubernetes",
    startup_taint_never_removed,
    taint_should_be_startup_taint,
    userdata_already_encoded,
    userdata_family_mismatch,
    userdata_mime_malformed,
    userdata_nodeconfig_incomplete,
    userdata_overridden,
    userdata_script_header,
    userdata_secret,
    userdata_template_residue,
    userdata_toml_invalid,
    userdata_too_large,
}
