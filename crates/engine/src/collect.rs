//! Finding the objects to check among the documents of the input.

use std::collections::BTreeSet;

use answers::report::{Report, Skipped, Unreadable};
use cluster::evidence::mentions_karpenter;
use cluster::ids::{DocumentId, FileId};
use cluster::input::Input;
use cluster::input_object::InputObject;
use manifest::{Document, File, FileKind};

use crate::coverage::{Coverage, DocumentReader};
use crate::objects::Objects;
use crate::pins::FilePins;

/// The objects to check, and the files that hold any.
#[derive(Default)]
pub(crate) struct CollectedObjects<'d> {
    pub(crate) objects: Objects<'d>,
    pub(crate) files: BTreeSet<FileId>,
}

/// Collects the objects of every document, as the kustomizations of the input build them, and counts every document in the report.
pub(crate) fn collect<'d>(
    input: Input<'d>,
    reader: &DocumentReader<'_, 'd>,
    pins_of: impl Fn(DocumentId, &File) -> FilePins,
    report: &mut Report,
) -> CollectedObjects<'d> {
    let mut collected = CollectedObjects::default();
    for (id, file) in input.files() {
        let Some(built) = input.built(id.cluster) else { continue };
        for (index, content) in file.documents.iter().enumerate() {
            let document = id.document(index);
            if built.is_unfinished(document) {
                report.summary.documents += 1;
                let mut files = input.files().filter(|(other, _)| other.cluster == id.cluster);
                let concerns = files.any(|(_, file)| mentions_karpenter(file.source.text().as_bytes()));
                report.unreadable.push(not_built(file, index, concerns));
                continue;
            }
            let (skip_reason, pins) = (built.skip_reason(file, document), pins_of(document, file));
            let read = reader.read(file, document, content, skip_reason, pins);
            let versions = read.objects.into_iter().flat_map(|object| built.versions(object, document));
            if file.kind == FileKind::Referenced {
                // Only what a kustomization or a configuration of the input makes of the document concerns the input.
                let is_made = |version: &InputObject<'_>| {
                    version.overlay.is_some() || version.object.root().tree().is_assembled()
                };
                let mut versions = versions.filter(is_made).peekable();
                let is_checked = matches!(read.coverage, Coverage::Checked) && versions.peek().is_some();
                report.outside.checked += usize::from(is_checked);
                collected.objects.extend(versions);
                if let Coverage::Unreadable(unreadable) = read.coverage {
                    report.unreadable.push(unreadable);
                }
                continue;
            }
            collected.objects.extend(versions);
            report.summary.documents += 1;
            report.uncovered += usize::from(matches!(read.coverage, Coverage::Uncovered(_)));
            match read.coverage {
                Coverage::Checked => {
                    report.summary.checked += 1;
                    collected.files.insert(id);
                    report.partial += usize::from(!hidden_in(content).is_empty());
                    report.skipped.extend(hidden_in(content).iter().map(|reason| {
                        let file = file.source.name().to_owned();
                        Skipped { file, document: index, reason: reason.clone() }
                    }));
                }
                Coverage::Skipped(reason) | Coverage::Uncovered(reason) => {
                    report.summary.skipped += 1;
                    let file = file.source.name().to_owned();
                    report.skipped.push(Skipped { file, document: index, reason });
                }
                Coverage::Unreadable(unreadable) => report.unreadable.push(unreadable),
            }
        }
    }
    collected
}

/// The reasons why fields of a document are not known.
fn hidden_in(document: &Document) -> &[String] {
    if let Document::Read(tree) = document { tree.hidden() } else { &[] }
}

/// A kustomization whose objects are not known.
fn not_built(file: &File, document: usize, concerns_karpenter: bool) -> Unreadable {
    Unreadable {
        file: file.source.name().to_owned(),
        document,
        line: 1,
        column: 1,
        message: "kustomization, not built: the objects of the builds are too large; check the output of `kustomize build`"
            .to_owned(),
        exceeded: None,
        concerns_karpenter,
    }
}

#[cfg(test)]
mod tests {
    use crate::check::check;
    use crate::testing::{class, cluster, registry_of, report};
    use karpenter::kind::Kind;
    use karpenter::release::Release;
    use karpenter::upgrade_path::UpgradePath;
    use rule::settings::{Settings, Target};
    use rule::{On, Rule, Runs};

    #[test]
    fn reports_contradicting_pins_only_beside_a_checked_document() {
        let chart = |version: &str| {
            format!(
                r"apiVersion: helm.cattle.io/v1
kind: HelmChart
spec: {{chart: karpenter/karpenter, version: {version}}}
"
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
