//! Karpenter's messages, as kinds of reasons.

/// The recorded text for a pod that is neither placed nor reported.
pub(crate) const UNREPORTED: &str = "<no error: neither placed nor reported>";

/// The kinds of a message that says that each criterion is met by another type.
const UNNAMED: [&str; 2] = ["requirements", "resources"];

/// A part of a message, and the kinds that it can have. The message about instance types names the
/// criteria that no type met; one of them is the kind.
const KINDS: [(&str, &[&str]); 24] = [
    ("did not tolerate", &["taint"]),
    ("incompatible requirements,", &["requirements"]),
    ("incompatible volume requirements,", &["volume"]),
    ("unsatisfiable topology constraint", &["topology"]),
    ("checking host port usage", &["host-port"]),
    ("exceed limits for nodepool", &["limits"]),
    ("node limits have been exhausted", &["limits"]),
    ("minValues requirement", &["min-values"]),
    ("compatible reserved offering", &["reservation"]),
    (
        "no instance type met the scheduling requirements or had enough resources or had a required offering",
        &["requirements", "resources", "offering", "host-port"],
    ),
    (
        "no instance type met the scheduling requirements or had enough resources",
        &["requirements", "resources"],
    ),
    (
        "no instance type met the scheduling requirements or had a required offering",
        &["requirements", "offering"],
    ),
    ("no instance type had enough resources or had a required offering", &["resources", "offering"]),
    ("no instance type met all requirements", &["requirements"]),
    ("no instance type has enough resources", &["resources"]),
    ("no instance type has the required offering", &["offering"]),
    ("no instance type which met the scheduling requirements and had enough resources", &UNNAMED),
    ("no instance type which had enough resources", &UNNAMED),
    ("no instance type which met the scheduling requirements and the required offering", &UNNAMED),
    ("no instance type met the requirements/resources/offering tuple", &UNNAMED),
    ("key ", &["topology"]),
    ("no nodepools found", &[]),
    ("no dynamic nodepools found", &[]),
    ("nodepool requirements filtered out", &[]),
];

/// The kinds of each part of a message.
fn kinds(message: &str) -> Vec<(&'static str, &'static [&'static str])> {
    message.split("; ").filter_map(of_part).collect()
}

fn of_part(part: &str) -> Option<(&'static str, &'static [&'static str])> {
    let at = |(text, _): &(&str, &[&str])| part.find(text);
    let found = KINDS.iter().filter(|entry| at(entry).is_some() && entry.0 != "key ");
    let longest = found.max_by_key(|(text, _)| text.len());
    longest.or_else(|| KINDS.iter().find(|entry| entry.0 == "key " && part.contains("not in"))).copied()
}

/// Whether a recorded message and a message have the same reasons.
pub(crate) fn agree(recorded: &str, message: &str, reasons: &[&str]) -> bool {
    if recorded == UNREPORTED || message == UNREPORTED {
        return recorded == message;
    }
    // Several bad labels are joined like several NodePools.
    let mut last = None;
    let mut expected: Vec<_> = kinds(recorded).into_iter().collect();
    expected.retain(|(text, _)| {
        let repeated = *text == "key " && last == Some("incompatible requirements,");
        last = Some(*text);
        !repeated
    });
    let named = expected.iter().filter(|(_, kinds)| !kinds.is_empty()).count();
    let found: Vec<&str> = kinds(message).into_iter().map(|(text, _)| text).collect();
    let texts: Vec<&str> = expected.iter().map(|(text, _)| *text).collect();
    let pairs = expected.iter().filter(|(_, kinds)| !kinds.is_empty()).zip(reasons);
    found == texts
        // Without a usable NodePool the message names none, and the reasons do.
        && (named == 0 || named == reasons.len())
        && pairs.into_iter().all(|((_, kinds), reason)| kinds.contains(reason))
}
