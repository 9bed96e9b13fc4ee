//! Findings as a report shows them: positions, texts and names as plain data.

use answers::report::{Accepted, RelatedLocation, Report, ReportedFinding, TextRange, url};
use karpenter::release::ReleaseSet;
use objects::location::Place;
use objects::object::Object;
use rule::finding::Finding;
use rule::settings::Target;

/// The location of a document among the inputs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DocumentLocation<'d> {
    /// The name of the cluster; empty if the check has only one cluster.
    pub(crate) cluster: &'d str,
    /// The file's name.
    pub(crate) file: &'d str,
    /// The position of the document in its file.
    pub(crate) document: usize,
}

impl DocumentLocation<'_> {
    /// A related location in the document.
    pub(crate) fn related(
        &self,
        path: String,
        range: TextRange,
        message: impl Into<String>,
    ) -> RelatedLocation {
        RelatedLocation {
            file: self.file.to_owned(),
            document: self.document,
            path,
            line: range.line,
            column: range.column,
            offset: range.offset,
            end_offset: range.end_offset,
            message: message.into(),
        }
    }
}

/// Records which releases accept a document.
pub(crate) fn accept(
    report: &mut Report,
    place: DocumentLocation<'_>,
    refused: &ReleaseSet,
    object: Object<'_>,
) {
    let karpenter = matches!(object.group(), "karpenter.sh" | "karpenter.k8s.aws");
    let (true, Some(accepted)) = (karpenter, report.accepted.as_mut()) else { return };
    let set = ReleaseSet::all().without(refused);
    let is_same = |last: &&mut Accepted| last.file == place.file && last.document == place.document;
    if let Some(last) = accepted.last_mut().filter(is_same) {
        last.set = last.set.and(set);
        last.releases = report.target.ranges_of(&last.set);
        return;
    }
    accepted.push(Accepted {
        file: place.file.to_owned(),
        document: place.document,
        releases: report.target.ranges_of(&set),
        set,
    });
}

/// A finding without a fix: fixes are added once they are verified. `find` returns the document and object of a related place.
pub(crate) fn reported<'d>(
    finding: &Finding<'d>,
    target: Target,
    object: Object<'d>,
    names: Names<'d>,
    place: &DocumentLocation<'d>,
    find: impl Fn(&Place<'d>) -> Option<(DocumentLocation<'d>, Object<'d>)>,
) -> ReportedFinding {
    let related = finding.related.iter().filter_map(|(at, message)| {
        let (place, object) = find(at)?;
        let range = TextRange::of(at.source(), at.span());
        Some(place.related(at.path(object.root()), range, message.clone()))
    });
    let path = target.upgrade_path();
    ReportedFinding {
        rule: finding.rule.name,
        family: finding.rule.family,
        severity: finding.severity,
        caught_by: finding.caught_by,
        releases: finding.releases.to_string(),
        boundary: path.and_then(|path| path.boundary(&finding.releases)),
        phase: path.map(|_| finding.rule.phase),
        cluster: place.cluster.to_owned(),
        file: place.file.to_owned(),
        document: place.document,
        api_version: object.api_version().to_owned(),
        kind: object.kind().to_owned(),
        namespace: names.namespace.to_owned(),
        name: names.name.to_owned(),
        path: finding.place.path(object.root()),
        position: TextRange::of(finding.place.source(), finding.place.span()),
        message: finding.message.clone(),
        help: finding.help.clone(),
        url: url(finding.rule.name),
        related: related.collect(),
        fix: None,
        confidence: None,
        evidence: None,
        seen: None,
    }
}

/// Name and namespace of an object, looked up once for all its findings: an object may have as many findings as fields, and to
/// search its fields for each of them would take quadratic time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'d> {
    name: &'d str,
    namespace: &'d str,
}

impl<'d> Names<'d> {
    /// The names of an object.
    pub(crate) fn of(object: Object<'d>) -> Self {
        Self { name: object.name(), namespace: object.namespace() }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{class, report};

    #[test]
    fn is_truncated_only_if_findings_are_left_out() {
        let mut report = report(&[("a.yaml", &class("a", "profiles: ['arn:a/b', 'arn:a/c']"))]);
        report.truncate(2);
        assert_eq!((report.findings.len(), report.truncated), (2, false));
        report.truncate(1);
        assert_eq!((report.findings.len(), report.truncated, report.summary.errors), (1, true, 2));
    }
}
