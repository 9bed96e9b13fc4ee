//! Diagnoses → findings, in order of importance; a finding whose cause is in a manifest points at its line.

use super::audit;
use super::cluster::DiagnosedCluster;
use super::diagnosis::Diagnosis;
use super::entry::{EntryObject, LogFileId};
use super::summary;
use super::symptom::Symptom;
use answers::report::Confidence;
use answers::report::{
    Evidence, LogSummary, Occurrences, RelatedLocation, Report, ReportedFinding, Skipped, TextRange,
};
use cluster::Cluster;
use cluster::ids::ClusterId;
use engine::check::check_within;
use manifest::File;
use manifest::source::Span;
use rule::finding::{CaughtBy, Family, Severity};
use rule::registry::Registry;
use rule::settings::Settings;

/// Number of objects that a finding lists.
const MAX_OBJECTS: usize = 5;

/// Reason for which a binary file is skipped.
pub const BINARY: &str = "a binary file, not read";

/// The places of a finding about a list that is missing in a status.
const STATUS_LISTS: [&str; 3] = ["status.amis", "status.securityGroups", "status.subnets"];

/// A finding and its sort key.
struct Ranked {
    finding: ReportedFinding,
    correlated: bool,
    count: u64,
}

/// Checks the manifests, and puts the diagnoses before their findings. The flag of a diagnosis says whether a correlation
/// gave it.
pub(super) fn report(
    registry: &Registry,
    diagnoses: Vec<(Diagnosis, bool)>,
    inputs: &[DiagnosedCluster],
    clusters: &[Cluster],
    settings: &Settings,
    max_findings: usize,
) -> Report {
    let mut report = check_within(registry, clusters, settings, max_findings);
    // The causes do not depend on the rules that the user selects.
    let mut causes = if settings.select.is_empty() && settings.ignore.is_empty() {
        report.findings.clone()
    } else {
        let all = Settings { select: Vec::new(), ignore: Vec::new(), ..settings.clone() };
        check_within(registry, clusters, &all, max_findings).findings
    };
    sort_by_path(&mut causes);
    let answer = Answer { inputs, clusters, causes: &causes };
    let open: Vec<&'static Symptom> = diagnoses
        .iter()
        .filter(|(one, _)| one.confidence != Confidence::Certain)
        .map(|(one, _)| one.symptom)
        .collect();
    let mut ranked = Vec::new();
    for (diagnosis, correlated) in diagnoses {
        let own = diagnosis.severity.min(Severity::Warning);
        let Some(severity) = settings.severity_of_symptom(diagnosis.symptom.name, own) else { continue };
        let objects: Vec<_> = diagnosis.objects.iter().map(EntryObject::names).collect();
        if settings
            .exceptions
            .iter()
            .any(|one| one.covers_symptom(diagnosis.symptom.name, &objects, settings.today))
        {
            report.summary.suppressed += 1;
            continue;
        }
        report.count(severity);
        ranked.push(Ranked {
            count: diagnosis.count,
            correlated,
            finding: answer.finding(&diagnosis, severity),
        });
    }
    let mut rest = Vec::new();
    for finding in std::mem::take(&mut report.findings) {
        let Some(causes) = registry.find(finding.rule).and_then(|rule| rule.diagnoses) else {
            rest.push(finding);
            continue;
        };
        let before = finding.severity;
        let finding = answer.contradiction(finding, causes);
        report.recount(before, finding.severity);
        ranked.push(Ranked { finding, correlated: true, count: 1 });
    }
    let known = rest.iter().chain(ranked.iter().map(|one| &one.finding));
    let audited = audit::read(registry, clusters, settings, known);
    report.summary.suppressed += audited.suppressed;
    // No rule reads the kinds of reports, but they are read here.
    let skipped = report.skipped.len();
    report.skipped.retain(|one| !audited.documents.contains(&(one.file.clone(), one.document)));
    report.summary.skipped = report.summary.skipped.saturating_sub(skipped - report.skipped.len());
    for finding in audited.found {
        report.count(finding.severity);
        ranked.push(Ranked { finding, correlated: true, count: 1 });
    }
    ranked.sort_by_key(|one| {
        let confidence = one.finding.confidence.unwrap_or(Confidence::Possible);
        (one.finding.severity, confidence, !one.correlated, std::cmp::Reverse(one.count))
    });
    report.findings = ranked.into_iter().map(|one| one.finding).collect();
    report.findings.extend(rest.into_iter().map(|mut finding| {
        finding.confidence = Some(Confidence::Certain);
        finding.evidence = Some(Vec::new());
        finding
    }));
    if report.findings.len() > max_findings {
        report.findings.truncate(max_findings);
        report.truncated = true;
    }
    let binary = inputs.iter().flat_map(|input| &input.binary);
    report.skipped.extend(binary.map(|file| Skipped {
        file: file.clone(),
        document: 0,
        reason: BINARY.to_owned(),
    }));
    let logs = inputs.iter().map(|input| {
        let counts = audited.counts.get(&input.name).copied().unwrap_or_default();
        LogSummary {
            audit_reports: counts.reports,
            audit_errors: counts.errors,
            ..summary::log(input, &open)
        }
    });
    report.logs = Some(logs.collect());
    report
}

struct Answer<'a> {
    inputs: &'a [DiagnosedCluster],
    clusters: &'a [Cluster],
    causes: &'a [ReportedFinding],
}

impl Answer<'_> {
    fn file_of(&self, cluster: ClusterId, file: LogFileId) -> &str {
        cluster.item_of(self.inputs).and_then(|input| input.files.get(file)).map_or("", String::as_str)
    }

    fn manifest(&self, name: &str) -> Option<&File> {
        self.clusters.iter().flat_map(|cluster| &cluster.files).find(|file| file.source.name() == name)
    }

    fn finding(&self, diagnosis: &Diagnosis, severity: Severity) -> ReportedFinding {
        let symptom = diagnosis.symptom;
        let cluster = diagnosis.cluster.item_of(self.inputs).map_or("", |input| input.name.as_str());
        let about = diagnosis.objects.first().cloned().unwrap_or_default();
        let quoted = diagnosis.evidence.iter().map(|quote| Evidence {
            file: self.file_of(quote.cluster, quote.at.file).to_owned(),
            line: Some(quote.at.line).filter(|line| *line > 0),
            text: quote.text.clone(),
        });
        let evidence: Vec<Evidence> = quoted.collect();
        let first = evidence.first();
        let shown = diagnosis.objects.iter().take(MAX_OBJECTS).map(display_name).collect();
        let mut finding = ReportedFinding {
            rule: symptom.name,
            family: Family::Symptoms,
            severity,
            caught_by: if symptom.messages.is_empty() { CaughtBy::Nobody } else { CaughtBy::Controller },
            releases: symptom.releases().to_string(),
            boundary: None,
            phase: None,
            cluster: cluster.to_owned(),
            file: first.map(|first| first.file.clone()).unwrap_or_default(),
            document: 0,
            api_version: api_version(&about.kind).to_owned(),
            kind: about.kind.into_owned(),
            namespace: about.namespace.into_owned(),
            name: about.name.into_owned(),
            path: String::new(),
            position: first.map(|first| self.line(first)).unwrap_or_default(),
            message: diagnosis.message.clone(),
            help: diagnosis.help.clone(),
            url: answers::report::url(symptom.name),
            has_page: true,
            related: Vec::new(),
            fix: None,
            confidence: Some(diagnosis.confidence),
            evidence: Some(evidence),
            seen: Some(Occurrences {
                count: diagnosis.count,
                at_least: diagnosis.is_lower_bound,
                first: diagnosis.first.map(|time| time.to_string()),
                last: diagnosis.last.map(|time| time.to_string()),
                objects: shown,
                objects_in_all: diagnosis.objects_in_all.max(diagnosis.objects.len()),
            }),
        };
        let of_clusters: Vec<&str> = std::iter::once(diagnosis.cluster)
            .chain(diagnosis.evidence.iter().map(|quote| quote.cluster))
            .filter_map(|cluster| cluster.item_of(self.inputs).map(|input| input.name.as_str()))
            .collect();
        let mut causes: Vec<(usize, &ReportedFinding)> = self
            .causes
            .iter()
            .filter(|cause| {
                symptom.rules.contains(&cause.rule) && of_clusters.contains(&cause.cluster.as_str())
            })
            .filter_map(|cause| Some((likeness(diagnosis, cause)?, cause)))
            .collect();
        causes.sort_by_key(|(likeness, _)| std::cmp::Reverse(*likeness));
        point(&mut finding, causes.into_iter().map(|(_, cause)| cause));
        finding
    }

    /// Turns a contradiction in a status into a diagnosis. `causes` are the rules that find its cause.
    fn contradiction(&self, finding: ReportedFinding, causes: &[&str]) -> ReportedFinding {
        let lines = std::iter::once((&finding.file, finding.position.line))
            .chain(finding.related.iter().map(|related| (&related.file, related.line)));
        let evidence = lines.filter_map(|(file, line)| self.quote(file, line?)).collect();
        let undecided = self.text(&finding) == "Unknown";
        let same = |cause: &&ReportedFinding| {
            causes.contains(&cause.rule)
                && cause.file == finding.file
                && cause.name == finding.name
                && cause.cluster == finding.cluster
        };
        let cause = self.causes.iter().find(same);
        // The finding about a missing list points at the status itself. The list may have been cut from the text.
        let is_cut = STATUS_LISTS.contains(&finding.path.as_str());
        // Without its cause, an undecided status may only be new.
        let is_new = undecided && cause.is_none();
        let confidence = if is_new || is_cut { Confidence::Likely } else { Confidence::Certain };
        let mut finding =
            ReportedFinding { confidence: Some(confidence), evidence: Some(evidence), ..finding };
        if let Some(cause) = cause {
            finding.severity = Severity::Error;
            finding.help.clone_from(&cause.help);
        }
        point(&mut finding, cause.into_iter());
        finding
    }

    /// The text that a finding points at.
    fn text(&self, finding: &ReportedFinding) -> &str {
        let (Some(file), Some(start), Some(end)) =
            (self.manifest(&finding.file), finding.position.offset, finding.position.end_offset)
        else {
            return "";
        };
        let source = &file.source;
        source.slice(Span::new(source.byte_at(start), source.byte_at(end))).trim_matches(['"', '\''])
    }

    fn quote(&self, file: &str, line: usize) -> Option<Evidence> {
        let text = self.manifest(file)?.source.text().lines().nth(line.checked_sub(1)?)?;
        let text = text.trim().chars().take(400).collect();
        Some(Evidence { file: file.to_owned(), line: Some(line), text })
    }

    /// The range of an evidence line. For an object the quoted text differs from the line in the manifest.
    fn line(&self, evidence: &Evidence) -> TextRange {
        let Some(line) = evidence.line else { return TextRange::default() };
        let in_manifest = self.manifest(&evidence.file).and_then(|file| {
            let text = file.source.text().lines().nth(line.checked_sub(1)?)?;
            (!text.trim().is_empty()).then(|| text.trim_end().chars().count())
        });
        let columns = in_manifest.unwrap_or_else(|| evidence.text.chars().count());
        TextRange {
            line: Some(line),
            column: Some(1),
            end_line: Some(line),
            end_column: Some(columns + 1),
            offset: None,
            end_offset: None,
        }
    }
}

/// Sorts the findings of each object by path. They come in the order of their positions, in which `status` may be before `spec`, and
/// the first of several causes must not depend on the order of the keys.
fn sort_by_path(causes: &mut [ReportedFinding]) {
    let object = |finding: &ReportedFinding| {
        let ReportedFinding { file, document, api_version, kind, namespace, name, .. } = finding;
        format!("{file} {document} {api_version} {kind} {namespace} {name}")
    };
    for of_object in causes.chunk_by_mut(|one, other| object(one) == object(other)) {
        of_object.sort_by(|one, other| (&one.path, one.rule).cmp(&(&other.path, other.rule)));
    }
}

/// Degree of match between a finding in a manifest and a diagnosis, from 0 to 3; `None` if they are unrelated.
fn likeness(diagnosis: &Diagnosis, cause: &ReportedFinding) -> Option<usize> {
    let mentioned = diagnosis.details.iter().any(|detail| {
        !detail.is_empty()
            && (cause.message.contains(detail) || cause.path.contains(detail) || cause.name == *detail)
    });
    let mut of_kind = diagnosis.objects.iter().filter(|object| object.kind == cause.kind).peekable();
    let has_kind = of_kind.peek().is_some();
    let same = of_kind.any(|object| {
        object.name == cause.name && (object.namespace == cause.namespace || object.namespace.is_empty())
    });
    // The name of a NodeClaim starts with the name of its NodePool.
    let pool = cause.kind == "NodePool"
        && diagnosis.objects.iter().any(|object| {
            object.kind == "NodeClaim"
                && object.name.rsplit_once('-').is_some_and(|(pool, _)| pool == cause.name)
        });
    match (mentioned, same || pool) {
        (true, true) => Some(3),
        (_, true) => Some(2),
        (true, false) => Some(1),
        (false, false) => (diagnosis.details.is_empty() && !has_kind).then_some(0),
    }
}

/// Moves a finding to its first cause; the other causes become related locations.
fn point<'f>(finding: &mut ReportedFinding, mut causes: impl Iterator<Item = &'f ReportedFinding>) {
    let Some(cause) = causes.next() else { return };
    let at_status = !finding.path.is_empty();
    let place = RelatedLocation {
        file: finding.file.clone(),
        document: finding.document,
        path: finding.path.clone(),
        line: finding.position.line,
        column: finding.position.column,
        offset: finding.position.offset,
        end_offset: finding.position.end_offset,
        message: "this is the consequence".to_owned(),
    };
    if at_status {
        finding.related.insert(0, place);
    }
    finding.file.clone_from(&cause.file);
    finding.document = cause.document;
    finding.api_version.clone_from(&cause.api_version);
    finding.kind.clone_from(&cause.kind);
    finding.namespace.clone_from(&cause.namespace);
    finding.name.clone_from(&cause.name);
    finding.path.clone_from(&cause.path);
    finding.position = cause.position;
    finding.fix.clone_from(&cause.fix);
    finding.related.extend(causes.map(|cause| RelatedLocation {
        file: cause.file.clone(),
        document: cause.document,
        path: cause.path.clone(),
        line: cause.position.line,
        column: cause.position.column,
        offset: cause.position.offset,
        end_offset: cause.position.end_offset,
        message: cause.message.clone(),
    }));
}

fn display_name(subject: &EntryObject<'_>) -> String {
    let parts = [subject.kind.as_ref(), subject.namespace.as_ref(), subject.name.as_ref()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

fn api_version(kind: &str) -> &'static str {
    match kind {
        "NodeClaim" | "NodePool" => "karpenter.sh/v1",
        "EC2NodeClass" => "karpenter.k8s.aws/v1",
        "Pod" | "Node" | "PersistentVolumeClaim" | "PersistentVolume" => "v1",
        _ => "",
    }
}
