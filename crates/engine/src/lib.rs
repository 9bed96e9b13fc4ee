//! The driver: collects the objects of an input, runs rules on each, and reports the findings with fixes that work.

mod ahead;
pub mod apply;
mod built;
mod candidate;
pub mod check;
pub mod collect;
mod coverage;
mod pins;
mod ratchet;
mod report;
mod selection;
mod supersession;
mod surroundings;
pub mod tally;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub mod upgrade;
mod verify;
