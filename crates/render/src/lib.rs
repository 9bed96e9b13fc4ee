//! Reports rendered for people and programs: human-readable text, SARIF, GitHub annotations, GitLab Code Quality, JUnit.
//!
//! Every module turns a [`answers::report::Report`] into text. No module runs a rule.

pub mod fingerprint;
pub mod github;
pub mod gitlab;
#[cfg(feature = "human")]
pub mod human;
#[cfg(feature = "junit")]
pub mod junit;
#[cfg(feature = "human")]
pub mod markdown;
#[cfg(feature = "human")]
pub mod plan;
#[cfg(feature = "human")]
pub mod planned;
pub mod sarif;
pub mod words;
