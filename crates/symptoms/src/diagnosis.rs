//! Diagnoses: a problem, the confidence, and the lines that show it.

use super::entry::{At, EntryObject, Time};
use super::symptom::Symptom;
use answers::report::Confidence;
use cluster::ids::ClusterId;
use rule::finding::Severity;

/// A quoted line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// Its cluster.
    pub cluster: ClusterId,
    /// The location of the line.
    pub at: At,
    /// The text, cut if it is very long.
    pub text: String,
}

/// A problem that log lines, events or status show.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// The symptom.
    pub symptom: &'static Symptom,
    /// The affected cluster.
    pub cluster: ClusterId,
    /// The severity; by default the symptom's.
    pub severity: Severity,
    /// The confidence.
    pub confidence: Confidence,
    /// The problem in one sentence, without a full stop.
    pub message: String,
    /// The remedy in one or two sentences.
    pub help: String,
    /// Number of occurrences in the input. A log with sampling lacks some.
    pub count: u64,
    /// Whether the count is a lower bound, because the history forgot some occurrences.
    pub is_lower_bound: bool,
    /// Time of the first occurrence.
    pub first: Option<Time>,
    /// Time of the last occurrence.
    pub last: Option<Time>,
    /// The first few affected objects.
    pub objects: Vec<EntryObject<'static>>,
    /// Number of affected objects, if the list is incomplete.
    pub objects_in_all: usize,
    /// The lines that show it: a few of each kind.
    pub evidence: Vec<Quote>,
    /// Labels, names or values that identify the cause in a manifest.
    pub details: Vec<String>,
}

impl Diagnosis {
    /// One occurrence of a symptom, without time, objects and evidence.
    pub(crate) fn new(
        symptom: &'static Symptom,
        cluster: ClusterId,
        confidence: Confidence,
        message: String,
    ) -> Self {
        Self {
            symptom,
            cluster,
            severity: symptom.severity,
            confidence,
            message,
            help: symptom.remedy.to_owned(),
            count: 1,
            is_lower_bound: false,
            first: None,
            last: None,
            objects: Vec::new(),
            objects_in_all: 0,
            evidence: Vec::new(),
            details: Vec::new(),
        }
    }
}
