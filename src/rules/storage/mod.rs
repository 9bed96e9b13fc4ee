//! Volumes that double nodes.

family! {
    storageclass_immediate,
}
