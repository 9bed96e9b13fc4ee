//! The built binary: what it reads, what it prints, how it exits.

mod fixing;
mod folder;
mod reading;
mod reporting;
mod rules;
mod settings;
