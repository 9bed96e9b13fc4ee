//! The surroundings of the module.

use karpwarden::values::timestamp::Timestamp;

/// The functions of the worker around the module.
pub(crate) trait EditorHost {
    /// Sends a message to the editor.
    fn send(&self, message: &str);

    /// The positions of the names that patterns in the syntax of ignore files match.
    fn matching(&self, patterns: &[String], names: &[String]) -> Vec<usize>;

    /// The time.
    fn now(&self) -> Timestamp;
}
