//! Nodes that never register.

#[cfg(test)]
mod examples;
mod user_data;

family! {
    bootstrap_argument_ignored,
    registration_taint_missing,
    registration_taint_wrong,
}
