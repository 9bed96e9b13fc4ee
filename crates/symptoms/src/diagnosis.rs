//! A diagnosis: what is wrong, how sure that is, and the lines that tell it.

use super::Symptom;
use super::entry::{At, Subject, Time};
use lint::finding::Severity;
use lint::report::Confidence;

/// A line that tells something, quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// The position of its cluster among the inputs.
    pub cluster: usize,
    /// Where it stands.
    pub at: At,
    /// What it says, cut where it is very long.
    pub text: String,
}

/// What is wrong, as the lines of a log, events or status tell it.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// What is diagnosed.
    pub symptom: &'static Symptom,
    /// The position of the cluster that it is about among the inputs.
    pub cluster: usize,
    /// How grave it is; the symptom's own where nothing else is known.
    pub severity: Severity,
    /// How sure it is.
    pub confidence: Confidence,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// What to do, in one sentence or two.
    pub help: String,
    /// How often it was seen. A sampling log says less often than it was.
    pub count: u64,
    /// When it was first seen.
    pub first: Option<Time>,
    /// When it was last seen.
    pub last: Option<Time>,
    /// The objects concerned, the first few of them.
    pub objects: Vec<Subject<'static>>,
    /// How many objects are concerned, where more than the list holds.
    pub objects_in_all: usize,
    /// The lines that tell it: the first of each kind, at most a handful.
    pub evidence: Vec<Quote>,
    /// What else is said of it: the labels, names or values by which a cause in a manifest is recognised.
    pub details: Vec<String>,
}
