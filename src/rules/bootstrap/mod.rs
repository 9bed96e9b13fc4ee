//! Nodes that never register.

family! {
    startup_taint_never_removed,
    taint_should_be_startup_taint,
}
