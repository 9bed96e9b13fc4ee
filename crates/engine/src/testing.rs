//! A reader of texts, and the report about them, for the tests of the driver.

use cluster::Cluster;
use manifest::File;
use manifest::edit::{TextEdit, apply};
use manifest::source::{Source, Span};
use objects::embedded::READ_OPTIONS;
use rule::settings::Settings;

use crate::check::check;
use answers::report::{Report, ReportedFinding};

pub(crate) use rule::testing::*;

/// The files of one cluster without a name.
pub(crate) fn cluster(files: &[(&str, &str)]) -> Cluster {
    let read = |(name, text): &(&str, &str)| File::read(*name, *text, READ_OPTIONS);
    Cluster { name: String::new(), files: files.iter().map(read).collect() }
}

/// The report about the files of one cluster.
pub(crate) fn report(files: &[(&str, &str)]) -> Report {
    check(&REGISTRY, &[cluster(files)], &Settings::default())
}

/// The text of the file of a finding with the fix of the finding; `None` if the finding has no fix.
pub(crate) fn with_fix(files: &[(&str, &str)], finding: &ReportedFinding) -> Option<String> {
    let edits = &finding.fix.as_ref()?.edits;
    let (name, text) = files.iter().find(|(name, _)| *name == edits[0].file)?;
    let source = Source::new(*name, *text);
    let edits = edits.iter().map(|edit| TextEdit {
        span: Span::new(source.byte_at(edit.offset), source.byte_at(edit.end_offset)),
        text: edit.text.clone(),
    });
    Some(apply(text, &edits.collect::<Vec<_>>()))
}
