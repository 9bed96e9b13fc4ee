//! The rule contract, and the driver that runs rules over documents.

pub mod check;
pub mod finding;
pub mod fix;
pub mod inventory;
pub mod mend;
pub mod report;
pub mod rule;
pub mod settings;
mod supersession;
pub mod suppression;
pub mod upgrade;
#[cfg(test)]
mod testing;
