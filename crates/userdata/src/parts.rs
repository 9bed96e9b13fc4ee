//! The parts of a text that several rules read.

use std::cell::OnceCell;

use crate::registration::Registration;
use crate::shell::Script;

/// Parts of the user data of one object. Each is parsed when it is first asked for.
#[derive(Debug, Default)]
pub struct ParsedParts {
    registration: OnceCell<Registration>,
    scripts: OnceCell<Vec<Script>>,
}

impl ParsedParts {
    /// How the user data joins the cluster, and which taints it registers. The text must be the same in every call.
    pub fn registration(&self, text: &str) -> &Registration {
        self.registration.get_or_init(|| Registration::parse(text))
    }

    /// The scripts in the user data, which the first caller parses.
    pub fn scripts(&self, parse: impl FnOnce() -> Vec<Script>) -> &[Script] {
        self.scripts.get_or_init(parse)
    }
}
