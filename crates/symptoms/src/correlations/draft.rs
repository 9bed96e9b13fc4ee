//! A diagnosis under construction.

use crate::diagnosis::{Diagnosis, Quote};
use crate::entry::{At, EntryObject, Time};
use crate::history::{History, Record};
use crate::symptom::Symptom;
use answers::grouped;
use answers::report::Confidence;
use cluster::ids::ClusterId;
use rule::finding::Severity;

/// Number of quoted lines.
const MAX_QUOTES: usize = 8;
/// Number of named objects.
const MAX_OBJECTS: usize = 10;
/// Number of details.
const MAX_DETAILS: usize = 20;

/// A diagnosis under construction. The quotes are sorted at the end.
#[derive(Debug)]
pub(super) struct DiagnosisDraft {
    diagnosis: Diagnosis,
    quotes: Vec<(Option<Time>, Quote)>,
}

impl DiagnosisDraft {
    pub(super) fn new(
        symptom: &'static Symptom,
        cluster: ClusterId,
        confidence: Confidence,
        message: String,
    ) -> Self {
        let diagnosis = Diagnosis::new(symptom, cluster, confidence, message);
        Self { diagnosis, quotes: Vec::new() }
    }

    pub(super) fn help(mut self, help: String) -> Self {
        self.diagnosis.help = help;
        self
    }

    pub(super) fn severity(mut self, severity: Severity) -> Self {
        self.diagnosis.severity = severity;
        self
    }

    pub(super) fn count(mut self, count: u64) -> Self {
        self.diagnosis.count = count;
        self
    }

    /// Sets the number of NodeClaims. If the history forgot some, it is a lower bound.
    pub(super) fn count_of_lives<'h>(self, count: usize, history: impl Into<Option<&'h History>>) -> Self {
        let draft = self.count(count as u64);
        match history.into() {
            Some(history) => draft.at_least(history),
            None => draft,
        }
    }

    /// Makes the count a lower bound if the history forgot NodeClaims.
    pub(super) fn at_least(self, history: &History) -> Self {
        self.lower_bound(history.forgotten > 0)
    }

    /// Sets whether more occurrences than counted are possible.
    pub(super) fn lower_bound(mut self, is_lower_bound: bool) -> Self {
        self.diagnosis.is_lower_bound = is_lower_bound;
        self
    }

    /// Adds objects of one kind, as `namespace/name` or as name. An empty name is not known.
    pub(super) fn objects<'n>(mut self, kind: &str, names: impl IntoIterator<Item = &'n str>) -> Self {
        for name in names.into_iter().filter(|name| !name.is_empty()) {
            let (namespace, name) = name.split_once('/').unwrap_or(("", name));
            let object = EntryObject { kind: kind.into(), namespace: namespace.into(), name: name.into() }
                .into_owned();
            if self.diagnosis.objects.contains(&object) {
                continue;
            }
            self.diagnosis.objects_in_all += 1;
            if self.diagnosis.objects.len() < MAX_OBJECTS {
                self.diagnosis.objects.push(object);
            }
        }
        self
    }

    pub(super) fn details<'n>(mut self, details: impl IntoIterator<Item = &'n str>) -> Self {
        for detail in details {
            let known = self.diagnosis.details.iter().any(|known| known == detail);
            if !known && !detail.is_empty() && self.diagnosis.details.len() < MAX_DETAILS {
                self.diagnosis.details.push(detail.to_owned());
            }
        }
        self
    }

    /// Sets the first and last time, if the quoted lines do not show it.
    pub(super) fn span(mut self, first: Option<Time>, last: Option<Time>) -> Self {
        let dated = |time: Option<Time>| time.filter(|time| !time.is_age());
        (self.diagnosis.first, self.diagnosis.last) = (dated(first), dated(last));
        self
    }

    /// Adds lines of a cluster as evidence.
    pub(super) fn quote<'s>(
        mut self,
        cluster: ClusterId,
        record: impl IntoIterator<Item = Option<&'s Record>>,
    ) -> Self {
        for record in record.into_iter().flatten() {
            let quote = Quote { cluster, at: record.at, text: record.text.to_string() };
            if self.quotes.len() < MAX_QUOTES && !self.quotes.iter().any(|(_, known)| *known == quote) {
                self.quotes.push((record.time, quote));
            }
        }
        self
    }

    pub(super) fn done(mut self) -> Diagnosis {
        // Records without a time, such as objects, come last.
        let key = |(time, quote): &(Option<Time>, Quote)| -> (bool, Option<Time>, ClusterId, At) {
            (time.is_none(), *time, quote.cluster, quote.at)
        };
        self.quotes.sort_by_key(key);
        let dated = || self.quotes.iter().filter_map(|(time, _)| *time).filter(|time| !time.is_age());
        self.diagnosis.first = self.diagnosis.first.or_else(|| dated().min());
        self.diagnosis.last = self.diagnosis.last.or_else(|| dated().max());
        self.diagnosis.evidence = self.quotes.into_iter().map(|(_, quote)| quote).collect();
        self.diagnosis
    }
}

/// The words before a number of NodeClaims of a history that forgot some.
pub(super) fn at_least(history: &History) -> &'static str {
    if history.forgotten > 0 { "at least " } else { "" }
}

/// A duration as text: `4 seconds`, `15 minutes`.
pub(super) fn duration(millis: i64) -> String {
    let seconds = (millis.abs() + 500) / 1000;
    let (number, unit) = match seconds {
        ..120 => (seconds, "second"),
        120..7200 => (seconds / 60, "minute"),
        _ => (seconds / 3600, "hour"),
    };
    if number == 1 { format!("1 {unit}") } else { format!("{number} {unit}s") }
}

/// A number of times as text: `once`, `twice`, `5 times`.
pub(super) fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{} times", grouped(count)),
    }
}

/// The first few names in back-ticks, and the number of further ones: `` `a`, `b` and 3 more``.
pub(super) fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    const NAMED: usize = 3;
    let all: Vec<_> = names.into_iter().collect();
    let first: Vec<_> = all.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    match all.len().saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_numbers_as_text() {
        assert_eq!(duration(4_400), "4 seconds");
        assert_eq!(duration(900), "1 second");
        assert_eq!(duration(15 * 60_000), "15 minutes");
        assert_eq!(duration(3 * 3_600_000), "3 hours");
        assert_eq!(times(1), "once");
        assert_eq!(times(7), "7 times");
        assert_eq!(names(["a"]), "`a`");
        assert_eq!(names(["a", "b", "c", "d", "e"]), "`a`, `b`, `c` and 2 more");
    }
}
