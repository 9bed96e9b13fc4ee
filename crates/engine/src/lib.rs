//! The driver: collects the objects of an input, runs rules on each, and reports the findings with fixes that work.

pub mod apply;
pub mod check;
mod check_one;
mod collect;
mod coverage;
mod locations;
mod objects;
mod offer;
pub mod pins;
mod ratchet;
pub mod release_changes;
pub mod request;
mod selection;
mod show;
mod stages;
mod supersession;
mod surroundings;
pub mod tally;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod upgrade;
mod verify;
