//! What decides where a pod runs, read from documents.

pub mod pod;
