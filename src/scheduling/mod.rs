//! What decides where a pod runs, read from documents.

pub mod elsewhere;
pub mod fit;
pub mod pod;
pub mod pools;
