//! Coverage of documents: checked, or skipped for a reason.

use answers::report::Unreadable;
use cluster::charts::LocalCharts;
use cluster::evidence::mentions_karpenter;
use cluster::folders;
use cluster::ids::DocumentId;
use karpenter::auto_mode;
use karpenter::kind::is_karpenter_group;
use karpenter::release::Releases;
use manifest::limits::Limits;
use manifest::tree::{Node, Style, Tree};
use manifest::work::WorkBudget;
use manifest::{Document, File, FileKind, ReadError};
use objects::chart_values;
use objects::controller::Controller;
use objects::object::{Form, Object};
use objects::provider::other_provider;
use objects::type_meta::{TypeKey, TypeMeta};
use rule::settings::{CONFIG_FILE, Settings, is_near_config_file};
use rule::{Rule, Runs};

use crate::pins::{CheckedVersion, FilePins};
use crate::selection::Selection;

/// Kinds that the reason of a skipped list names.
const MAX_KINDS_NAMED: usize = 3;

/// A document of the input.
pub(crate) struct ReadDocument<'d> {
    /// Its objects, which rules may look up although none checks them.
    pub(crate) objects: Vec<Object<'d>>,
    /// Coverage of the document.
    pub(crate) coverage: Coverage,
}

/// Coverage of a document.
pub(crate) enum Coverage {
    /// Rules check it.
    Checked,
    /// It is not checked, for a reason.
    Skipped(String),
    /// It concerns Karpenter, but no rule really checks it, for a reason.
    Uncovered(String),
    /// It could not be parsed.
    Unreadable(Unreadable),
}

/// Reader of documents, with the rules and settings that decide about their coverage.
pub(crate) struct DocumentReader<'c, 'd> {
    pub(crate) selection: &'c Selection<'c, 'd>,
    pub(crate) settings: &'c Settings,
    /// The charts of each cluster whose folders are in the input.
    pub(crate) charts: &'c [LocalCharts],
}

impl<'d> DocumentReader<'_, 'd> {
    /// Reads a document. `skip_reason` is the reason why its objects are not checked for themselves.
    pub(crate) fn read(
        &self,
        file: &'d File,
        document: DocumentId,
        content: &'d Document,
        skip_reason: Option<String>,
        pins: FilePins,
    ) -> ReadDocument<'d> {
        let none = |coverage| ReadDocument { objects: Vec::new(), coverage };
        let tree = match content {
            Document::Read(tree) => tree,
            Document::Template(mark) => {
                return none(Coverage::Skipped(reason_of_template(file.source.slice(*mark)).to_owned()));
            }
            Document::Script(_) => {
                let reason = "script, not checked: no manifest in a here-document";
                return none(Coverage::Skipped(reason.to_owned()));
            }
            Document::Deleted(_) => {
                let reason = "here-document whose objects a script deletes, not checked";
                return none(Coverage::Skipped(reason.to_owned()));
            }
            Document::Unevaluated { reason, .. } | Document::Absent { reason, .. } => {
                return none(Coverage::Skipped(reason.clone()));
            }
            Document::Unreadable { at, error } => {
                let position = file.source.position(*at);
                return none(Coverage::Unreadable(Unreadable {
                    file: file.source.name().to_owned(),
                    document: document.index,
                    line: position.line,
                    column: position.column,
                    message: error.to_string(),
                    exceeded: error.exceeded(),
                    concerns_karpenter: concerns_karpenter(file),
                }));
            }
        };
        if let Some(reason) = skip_reason {
            return none(Coverage::Skipped(reason));
        }
        let mut objects = objects_in(file.kind, tree);
        if objects.is_empty() && self.is_local_values(document, file) {
            objects.extend(Object::local_values(tree));
        }
        if let Some(unreadable) = unreadable_values(file, document, &objects) {
            return ReadDocument { objects, coverage: Coverage::Unreadable(unreadable) };
        }
        let mut gaps = objects.iter().map(|object| gap(*object, pins.version));
        let coverage = match gaps.next() {
            Some(Some(reason)) if gaps.all(|reason| reason.is_some()) => Coverage::Uncovered(reason),
            Some(_) if self.is_checked(&objects) => Coverage::Checked,
            _ if pins.is_pin => {
                Coverage::Skipped("read only for the Karpenter version that it pins".to_owned())
            }
            Some(_) => Coverage::Skipped(reason_without_rule(&objects)),
            None => Coverage::Skipped(reason_without_object(tree, file)),
        };
        ReadDocument { objects, coverage }
    }

    /// Whether a document holds values of a chart in the input.
    fn is_local_values(&self, document: DocumentId, file: &File) -> bool {
        let charts = document.file.cluster.item_of(self.charts);
        charts.is_some_and(|charts| charts.of_values(file.source.name()).is_some())
    }

    /// Whether rules check any of the objects of a document.
    fn is_checked(&self, objects: &[Object<'d>]) -> bool {
        let on_upgrade = self.settings.karpenter.upgrade_path().is_some();
        let counts = |rule: &Rule| {
            let is_on = !rule.opt_in || self.settings.opts_in(rule);
            (is_on && rule.counts_as_checked()) || (on_upgrade && rule.runs == Runs::OnUpgrade)
        };
        objects.iter().any(|object| self.selection.rules_on(*object).iter().copied().any(counts))
    }
}

/// The values of Karpenter's chart in a document that is read, in a text that is not valid YAML. Argo CD cannot render the chart.
fn unreadable_values(file: &File, document: DocumentId, objects: &[Object<'_>]) -> Option<Unreadable> {
    let texts = objects.iter().flat_map(|object| chart_values::unread_texts(*object));
    let mut mistakes = texts.filter_map(mistake_in_text);
    let (at, error) = mistakes.next()?;
    let position = file.source.position(at);
    Some(Unreadable {
        file: file.source.name().to_owned(),
        document: document.index,
        line: position.line,
        column: position.column,
        message: format!("in the Helm values of this Application: {error}"),
        exceeded: error.exceeded(),
        concerns_karpenter: true,
    })
}

/// The first mistake in the YAML that a string holds, and its byte in the file. A literal block scalar has the lines of the file;
/// other strings are only known as a whole.
fn mistake_in_text(string: Node<'_>) -> Option<(usize, ReadError)> {
    let words = string.as_str()?;
    let budget = WorkBudget::of_file(words.len(), &Limits::DEFAULT);
    let documents = File::read_yaml(string.source().name(), words, &Limits::DEFAULT, &budget).documents;
    let (at, error) = documents.into_iter().find_map(|content| match content {
        Document::Unreadable { at, error } => Some((at, error)),
        _ => None,
    })?;
    let start = string.span().start;
    if string.style() != Style::Literal {
        return Some((start, error));
    }
    let above = string.source().text().get(..start).unwrap_or_default();
    let first_line = above.rfind('\n').map_or(0, |at| at + 1);
    let before = words.get(..at).unwrap_or_default();
    let lines = before.matches('\n').count();
    let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
    let block = string.source().text().get(first_line..).unwrap_or_default();
    let line: usize = block.split_inclusive('\n').take(lines).map(str::len).sum();
    Some((first_line + line + (start - first_line) + column, error))
}

/// The objects of a document in a file of some kind.
pub(crate) fn objects_in(kind: FileKind, tree: &Tree) -> Vec<Object<'_>> {
    if kind == FileKind::Values { Object::values(tree) } else { Object::all(tree) }
}

/// Reason why a template is not checked, according to its mark.
fn reason_of_template(mark: &str) -> &'static str {
    match mark {
        "%{" => {
            "template, not checked: it has directives of Terraform, whose variables only `templatefile` gives; render it first"
        }
        "${" => "template, not checked: it is no YAML with this expression; render it first",
        _ => "template, not checked: render it first",
    }
}

/// Whether an unreadable file may be about Karpenter: the caller says so, or the text does, or the text is not known.
fn concerns_karpenter(file: &File) -> bool {
    let text = file.source.text();
    file.is_relevant.unwrap_or_else(|| text.is_empty() || mentions_karpenter(text.as_bytes()))
}

/// Reason why a document without objects is not checked.
fn reason_without_object(tree: &Tree, file: &File) -> String {
    if file.kind == FileKind::Values {
        return "no chart values: the document has no keys, not checked".to_owned();
    }
    let root = tree.root();
    let name = folders::name(file.source.name());
    let keys = TypeMeta::of(root);
    if name == CONFIG_FILE {
        return "config file, no manifest: it applies to runs in its folder and in the folders below it, and to runs that name it"
            .to_owned();
    }
    if is_near_config_file(name) {
        return format!("looks like a config file, but is not read as one: its name must be `{CONFIG_FILE}`");
    }
    if is_stored_state(root) {
        return "state of Terraform, not checked: check the output of `terraform show -json`".to_owned();
    }
    let is_list = keys.kind.text().is_some_and(|kind| kind.ends_with("List"));
    let reason = match (keys.api_version, keys.kind) {
        _ if root.is_sequence() => "the document is a list",
        _ if !root.is_mapping() => "the document is a single value",
        (TypeKey::Written(_), TypeKey::Written(_)) if is_list => {
            "the list has no items with `apiVersion` and `kind`"
        }
        (TypeKey::Written(_), TypeKey::Written(_)) => {
            "the review has no object that is created, updated or deleted"
        }
        (TypeKey::Written(_), _) => "`kind` is missing",
        (_, TypeKey::Written(_)) => "`apiVersion` is missing",
        _ => "`apiVersion` and `kind` are missing",
    };
    format!("no Kubernetes object: {reason}, not checked")
}

/// Whether a document is the state of Terraform as its backend stores it.
///
/// Source: `stateV4` in internal/states/statefile/version4.go of hashicorp/terraform at v1.11.
fn is_stored_state(root: Node<'_>) -> bool {
    ["version", "terraform_version", "serial", "lineage"].iter().all(|key| root.get(key).is_some())
}

/// Reason why a document is not checked whose objects no rule reads.
fn reason_without_rule(objects: &[Object<'_>]) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    for kind in objects.iter().map(|object| object.kind()) {
        if !kinds.contains(&kind) && kinds.len() <= MAX_KINDS_NAMED {
            kinds.push(kind);
        }
    }
    let named: Vec<String> = kinds.iter().take(MAX_KINDS_NAMED).map(|kind| format!("`{kind}`")).collect();
    let plural = if kinds.len() == 1 { "kind" } else { "kinds" };
    let more = if kinds.len() > MAX_KINDS_NAMED { " and others" } else { "" };
    format!("no rule reads the {plural} {}{more}", named.join(", "))
}

/// Reason why rules do not check an object, although they read it.
fn gap(object: Object<'_>, version: CheckedVersion) -> Option<String> {
    let CheckedVersion { target, before_v1 } = version;
    if object.is_older_than_v1()
        && let Some(provider) = other_provider(object)
    {
        return Some(format!(
            "`{}` of `{}` for `{provider}`, not checked: only Karpenter's provider for AWS is covered",
            object.kind(),
            object.api_version()
        ));
    }
    if let Some(version) = before_v1
        && (is_of_controller(object) || object.is_older_than_v1())
    {
        return Some(format!("for Karpenter {version}, not checked: releases before 1.0 are not covered"));
    }
    let (group, kind) = (object.group(), object.kind());
    if object.is_older_than_v1() {
        let is_served = |served: Releases| target.releases().all(|release| served.contains(release));
        return object.served_by().is_some_and(is_served).then(|| {
            format!("`{kind}` of `{}`, not checked: of this kind, only v1 is covered", object.api_version())
        });
    }
    match (group, kind) {
        _ if auto_mode::is_reference(group, kind) => Some(
            "`NodeClass` of EKS Auto Mode, not checked: only fields of EC2NodeClasses are found in it"
                .to_owned(),
        ),
        _ if is_of_other_provider(group) => {
            Some(format!("`{kind}` of `{group}`, not checked: only Karpenter's provider for AWS is covered"))
        }
        _ => None,
    }
}

/// Whether an object configures the controller: its Deployment, the values of its chart, or its settings, which were in a
/// ConfigMap until 0.32.
///
/// Source: charts/karpenter/templates/configmap.yaml of aws/karpenter-provider-aws at v0.31.0.
pub(crate) fn is_of_controller(object: Object<'_>) -> bool {
    let is_settings = object.form() == Form::Api
        && object.kind() == "ConfigMap"
        && object.name() == "karpenter-global-settings";
    is_settings || chart_values::of(object).is_some() || Controller::of(object).is_some()
}

/// Whether a group belongs to a provider of Karpenter for another cloud, such as `karpenter.azure.com`.
fn is_of_other_provider(group: &str) -> bool {
    group.starts_with("karpenter.") && !is_karpenter_group(group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use manifest::{Document, File};
    use objects::embedded::READ_OPTIONS;

    #[test]
    fn broken_values_of_the_chart_are_unreadable() {
        let application = |chart: &str, values: &str| {
            format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: a}}\nspec:\n  source:\n    chart: {chart}\n    helm:\n      values: |\n        settings:\n{values}"
            )
        };
        let unreadable = |text: &str| {
            let report = crate::testing::report(&[("a.yaml", text)]);
            report.unreadable.into_iter().map(|one| (one.line, one.concerns_karpenter)).collect::<Vec<_>>()
        };
        let broken = "          clusterName: a\n         interruptionQueue: b\n";
        assert_eq!(unreadable(&application("karpenter", broken)), [(11, true)]);
        assert_eq!(unreadable(&application("other", broken)), []);
        assert_eq!(unreadable(&application("karpenter", "          clusterName: a\n")), []);
        assert_eq!(unreadable(&application("karpenter", "          {{ .values }}\n")), []);
        let set = |values: &str| {
            let application = application("karpenter", values);
            let (_, spec) = application.split_once("spec:\n").unwrap();
            let spec = spec.replace('\n', "\n    ");
            format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n    {spec}"
            )
        };
        assert_eq!(unreadable(&set(broken)), [(13, true)]);
        assert_eq!(unreadable(&set("          clusterName: '{{name}}'\n")), []);
        assert_eq!(unreadable(&set("          clusterName: {{ .name }}\n")), []);
    }

    fn with_object<T>(text: &str, use_it: impl FnOnce(Object<'_>) -> T) -> T {
        let file = File::read("a.yaml", text, READ_OPTIONS);
        let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
        use_it(Object::all(tree)[0])
    }

    #[test]
    fn names_each_kind_once_and_at_most_three() {
        let reason = |kinds: &[&str]| {
            let items: Vec<_> =
                kinds.iter().map(|kind| format!("- {{apiVersion: v1, kind: {kind}}}")).collect();
            let text = format!("apiVersion: v1\nkind: List\nitems:\n{}\n", items.join("\n"));
            let file = File::read("a.yaml", text, READ_OPTIONS);
            let Some(Document::Read(tree)) = file.documents.first() else { panic!("{kinds:?}") };
            reason_without_rule(&Object::all(tree))
        };
        for (kinds, expected) in [
            (&["A"][..], "kind `A`"),
            (&["A", "B", "A"], "kinds `A`, `B`"),
            (&["A", "B", "C"], "kinds `A`, `B`, `C`"),
            (&["A", "B", "C", "D", "E"], "kinds `A`, `B`, `C` and others"),
        ] {
            assert_eq!(reason(kinds), format!("no rule reads the {expected}"));
        }
    }

    #[test]
    fn recognises_the_settings_of_old_releases_by_kind_and_name() {
        for (kind, name, expected) in [
            ("ConfigMap", "karpenter-global-settings", true),
            ("ConfigMap", "other", false),
            ("Secret", "karpenter-global-settings", false),
        ] {
            let text = format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}}}\n");
            assert_eq!(with_object(&text, is_of_controller), expected, "{text}");
        }
    }
}
