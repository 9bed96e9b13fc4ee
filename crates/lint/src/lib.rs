//! The rule contract, and the driver that runs rules over documents.

mod ahead;
pub mod apply;
mod built;
pub mod built_objects;
mod candidate;
pub mod check;
pub mod classification;
pub mod collect;
pub mod context;
mod coverage;
mod environments;
mod evidence;
pub mod finding;
pub mod fix;
mod folders;
pub mod inventory;
mod pins;
pub mod pod_budgets;
pub mod pod_labels;
pub mod pool_order;
mod ratchet;
pub mod registry;
pub mod report;
pub mod rule;
mod selection;
pub mod settings;
pub mod statistics;
pub mod story;
mod supersession;
pub mod suppression;
mod surroundings;
pub mod tally;
#[cfg(test)]
mod testing;
pub mod upgrade;
mod verify;
