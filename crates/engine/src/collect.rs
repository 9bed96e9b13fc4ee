//! Finding the objects to check among the documents of the input.

use std::collections::BTreeSet;

use karpenter::api::served::is_own_group;
use manifest::tree::Tree;
use manifest::{Document, File, FileKind};
use objects::object::Object;

use crate::coverage;
use crate::objects::Objects;
use crate::pins::Pins;
use crate::selection::Selection;
use answers::report::{Report, Skipped, Unreadable};
use cluster::built::BuiltCluster;
use cluster::evidence::mentions_karpenter;
use cluster::ids::{DocumentId, FileId};
use cluster::input::Input;
use rule::settings::Settings;
use rule::{Rule, Runs};

/// The objects to check, and the files that hold any.
#[derive(Default)]
pub(crate) struct Collected<'d> {
    pub(crate) objects: Objects<'d>,
    pub(crate) files: BTreeSet<FileId>,
}

/// Finds the objects to check, and counts every document in the report.
pub(crate) struct Collector<'c, 'd> {
    pub(crate) selection: &'c Selection<'c, 'd>,
    pub(crate) settings: &'c Settings,
    pub(crate) pins: &'c Pins<'c>,
    pub(crate) report: &'c mut Report,
}

impl<'d> Collector<'_, 'd> {
    /// Collects the objects of every document, as the kustomizations of the input build them.
    pub(crate) fn collect(mut self, input: Input<'d>) -> Collected<'d> {
        let mut collected = Collected::default();
        for (id, file) in input.files() {
            let Some(built) = input.built(id.cluster) else { continue };
            let checked_before = self.report.summary.checked;
            for (index, content) in file.documents.iter().enumerate() {
                let document = id.document(index);
                let objects = self.objects(file, document, content, built).into_iter();
                collected.objects.extend(objects.flat_map(|object| built.versions(object, document)));
            }
            if self.report.summary.checked > checked_before {
                collected.files.insert(id);
            }
        }
        collected
    }

    /// The objects of a document.
    fn objects(
        &mut self,
        file: &'d File,
        document: DocumentId,
        content: &'d Document,
        built: &BuiltCluster,
    ) -> Vec<Object<'d>> {
        let skip_reason = built.skip_reason(file, document);
        let is_pin = skip_reason.is_none() && self.pins.is_pin(document);
        let objects = objects_of_document(
            self.report,
            self.selection,
            self.settings,
            file,
            document.index,
            content,
            skip_reason,
        );
        if is_pin {
            coverage::note_pin(self.report, file, document.index);
        }
        let version = self.pins.version_of(document.file, file.source.name());
        coverage::count_unchecked(self.report, &objects, version, file, document.index);
        objects
    }
}

/// Whether every object of a file belongs to Karpenter's API groups.
pub(crate) fn has_own_objects_only(file: &File) -> bool {
    file.documents.iter().all(|document| match document {
        Document::Read(tree) => {
            objects_in(file.kind, tree).into_iter().all(|object| is_own_group(object.group()))
        }
        _ => true,
    })
}

/// The objects of a document in a file of some kind.
pub(crate) fn objects_in(kind: FileKind, tree: &Tree) -> Vec<Object<'_>> {
    if kind == FileKind::Values { Object::values(tree) } else { Object::all(tree) }
}

/// Returns the objects of a document, and counts the document as checked, skipped or unreadable.
fn objects_of_document<'d>(
    report: &mut Report,
    selection: &Selection<'_, 'd>,
    settings: &Settings,
    file: &'d File,
    document: usize,
    read: &'d Document,
    skip_reason: Option<String>,
) -> Vec<Object<'d>> {
    report.summary.documents += 1;
    let name = || file.source.name().to_owned();
    let mut skip = |reason: &str| {
        report.summary.skipped += 1;
        report.skipped.push(Skipped { file: name(), document, reason: reason.to_owned() });
        Vec::new()
    };
    match read {
        Document::Read(tree) => {
            if let Some(reason) = skip_reason {
                return skip(&reason);
            }
            let objects = objects_in(file.kind, tree);
            if objects.is_empty() && file.kind == FileKind::Values {
                return skip("no chart values: the document has no keys, not checked");
            }
            if objects.is_empty() {
                return skip(&coverage::reason_without_object(tree, file.source.name()));
            }
            let on_upgrade = settings.karpenter.upgrade_path().is_some();
            let counts = |rule: &Rule| {
                let is_on = !rule.opt_in || settings.opts_in(rule);
                (is_on && rule.counts_as_checked()) || (on_upgrade && rule.runs == Runs::OnUpgrade)
            };
            if !objects.iter().any(|object| selection.rules_on(*object).iter().copied().any(counts)) {
                skip(&coverage::reason_without_rule(&objects));
                return objects;
            }
            report.summary.checked += 1;
            objects
        }
        Document::Template(_) => skip("template, not checked: render it first"),
        Document::Script(_) => skip("script, not checked: no manifest in a here-document"),
        Document::Unreadable { at, error } => {
            let position = file.source.position(*at);
            report.unreadable.push(Unreadable {
                file: name(),
                document,
                line: position.line,
                column: position.column,
                message: error.to_string(),
                exceeded: error.exceeded(),
                concerns_karpenter: concerns_karpenter(file),
            });
            Vec::new()
        }
    }
}

/// Whether an unreadable file may be about Karpenter: the caller says so, or the text does, or the text is not known.
fn concerns_karpenter(file: &File) -> bool {
    let text = file.source.text();
    file.is_relevant.unwrap_or_else(|| text.is_empty() || mentions_karpenter(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check;
    use crate::testing::{class, cluster, registry_of, report};
    use karpenter::kind::Kind;
    use karpenter::release::Release;
    use karpenter::upgrade_path::UpgradePath;
    use rule::On;
    use rule::settings::Target;

    #[test]
    fn reports_contradicting_pins_only_beside_a_checked_document() {
        let chart = |version: &str| {
            format!(
                "apiVersion: helm.cattle.io/v1\nkind: HelmChart\nspec: {{chart: karpenter/karpenter, version: {version}}}\n"
            )
        };
        let folders = |text: &str| {
            let files = [
                ("a/chart.yaml", chart("1.5.0")),
                ("b/chart.yaml", chart("1.6.2")),
                ("c.yaml", text.to_owned()),
            ];
            let report = report(&files.each_ref().map(|(name, text)| (*name, text.as_str())));
            report.pins.into_iter().map(|pin| pin.folder).collect::<Vec<_>>()
        };
        assert_eq!(folders(&class("a", "x: 1")), ["", "a", "b"]);
        assert_eq!(folders("apiVersion: v1\nkind: ConfigMap\n"), ["a", "b"]);
    }

    #[test]
    fn counts_a_document_of_upgrade_rules_as_checked_only_for_an_upgrade() {
        static UPGRADE: Rule = Rule {
            name: "upgrade",
            on: &[On::Kind(Kind::NODE_CLASS)],
            runs: Runs::OnUpgrade,
            ..Rule::DEFAULTS
        };
        let registry = registry_of(&UPGRADE);
        let counts = |target: Target| {
            let settings = Settings { karpenter: target, ..Settings::default() };
            let summary = check(&registry, &[cluster(&[("a.yaml", &class("a", "x: 1"))])], &settings).summary;
            (summary.checked, summary.skipped)
        };
        let first = Release::all().next().unwrap();
        assert_eq!(counts(Target::on_upgrade(UpgradePath::new(first, Release::NEWEST))), (1, 0));
        assert_eq!(counts(Target::only(Release::NEWEST)), (0, 1));
    }
}
