//! Fixes of documents that configurations of Terraform make: edits of the configuration, verified by evaluating it again.

use std::collections::BTreeMap;

use cluster::Cluster;
use cluster::files::files_of;
use cluster::ids::{ClusterId, DocumentId, FileId};
use cluster::input::Input;
use manifest::edit::{Change, TextEdit, apply, differences};
use manifest::source::Source;
use manifest::tree::{Node, Tree};
use manifest::{Document, File};
use objects::embedded::READ_OPTIONS;

use super::ChangedDocument;
use super::candidate::{FixPart, joined};
use crate::locations::Locations;

/// Evaluates the configurations among files, and replaces their documents.
pub(super) type Evaluate = fn(&mut Vec<File>);

/// The parts of a fix that changes a document of a configuration: one for each text. The first one has the changes. `None` for a plan.
pub(super) fn parts<'d>(
    declared: Vec<Change<'d>>,
    document: DocumentId,
    tree: &'d Tree,
    locations: &Locations<'d>,
) -> Option<Vec<FixPart<'d>>> {
    // A plan is made of a configuration, and Terraform applies no other text.
    if terraform_objects::planned_address(tree).is_some() {
        return None;
    }
    let mut by_file = BTreeMap::<FileId, (&'d Source, Vec<TextEdit>)>::new();
    for change in &declared {
        let source = change.node().source();
        let file = locations.file_with(source)?;
        by_file.entry(file).or_insert_with(|| (source, Vec::new())).1.push(change.edit()?);
    }
    let mut declared = Some(declared);
    let part = |(file, (source, edits)): (FileId, (&'d Source, Vec<TextEdit>))| FixPart {
        document,
        file,
        source,
        tree,
        changes: declared.take().unwrap_or_default(),
        edits: joined(edits),
        built: None,
    };
    Some(by_file.into_iter().map(part).collect())
}

/// The documents that change if the parts of fixes are applied to configurations of one cluster. `None` if a document changes in another
/// way than the fixes declare.
pub(super) fn changed_documents<'d>(
    parts: &[&FixPart<'d>],
    input: Input<'d>,
    evaluate: Evaluate,
) -> Option<Vec<ChangedDocument<'d>>> {
    let id = parts.first()?.file.cluster;
    let cluster = input.cluster(id)?;
    let edits = edits_by_file(parts)?;
    let after = evaluated(id, cluster, &edits, evaluate)?;
    let mut changed = Vec::new();
    for ((file, before), after) in files_of(id, &cluster.files).zip(after) {
        let Some(after) = after else { continue };
        if before.documents.len() != after.documents.len() {
            return None;
        }
        for (index, (before, after)) in before.documents.iter().zip(after.documents).enumerate() {
            match (before, after) {
                (Document::Read(before), Document::Read(after)) => {
                    let document = file.document(index);
                    if !is_as_declared(document, before, &after, parts, input, &edits)? {
                        changed.push(ChangedDocument { id: document, before, after, has_objects: true });
                    }
                }
                (before, after) if core::mem::discriminant(before) == core::mem::discriminant(&after) => {}
                _ => return None,
            }
        }
    }
    Some(changed)
}

/// The edits of each file, in order. `None` if they overlap.
fn edits_by_file(parts: &[&FixPart<'_>]) -> Option<BTreeMap<FileId, Vec<TextEdit>>> {
    let mut by_file = BTreeMap::<FileId, Vec<TextEdit>>::new();
    for part in parts {
        by_file.entry(part.file).or_default().extend(part.edits.iter().cloned());
    }
    for edits in by_file.values_mut() {
        edits.sort_by_key(|edit| edit.span);
        edits.dedup();
        if !edits.windows(2).all(|pair| matches!(pair, [one, two] if one.span.end <= two.span.start)) {
            return None;
        }
    }
    Some(by_file)
}

/// The files of a cluster after edits, evaluated again; none for a file that no configuration has a part in.
fn evaluated(
    id: ClusterId,
    cluster: &Cluster,
    edits: &BTreeMap<FileId, Vec<TextEdit>>,
    evaluate: Evaluate,
) -> Option<Vec<Option<File>>> {
    let is_made = |file: &File| {
        let is_assembled =
            |document: &Document| matches!(document, Document::Read(tree) if tree.is_evaluated());
        terraform_objects::is_configuration(file.source.name()) || file.documents.iter().any(is_assembled)
    };
    let is_compared: Vec<bool> =
        files_of(id, &cluster.files).map(|(id, file)| is_made(file) || edits.contains_key(&id)).collect();
    let read = |((id, file), is_compared): ((FileId, &File), &bool)| {
        let (kind, is_relevant) = (file.kind, file.is_relevant);
        if !is_compared {
            let source = std::sync::Arc::clone(&file.source);
            return File { source, documents: Vec::new(), kind, is_relevant };
        }
        let text = apply(file.source.text(), edits.get(&id).map_or(&[][..], Vec::as_slice));
        File { kind, is_relevant, ..File::read(file.source.name(), text, READ_OPTIONS) }
    };
    let mut files: Vec<File> = files_of(id, &cluster.files).zip(&is_compared).map(read).collect();
    evaluate(&mut files);
    if files.len() < is_compared.len() {
        return None;
    }
    Some(files.into_iter().zip(is_compared).map(|(file, is_compared)| is_compared.then_some(file)).collect())
}

/// Whether a document is the same as before. `None` if it differs in another way than the changes declare, or, if it has the text of a
/// changed document, at another place.
fn is_as_declared(
    id: DocumentId,
    before: &Tree,
    after: &Tree,
    parts: &[&FixPart<'_>],
    input: Input<'_>,
    edits: &BTreeMap<FileId, Vec<TextEdit>>,
) -> Option<bool> {
    let all = differences(before.root(), after.root(), &[]);
    if all.is_empty() {
        return Some(true);
    }
    let own = parts.iter().filter(|part| core::ptr::eq(part.tree, before));
    let declared: Vec<&Change<'_>> = own.flat_map(|part| &part.changes).collect();
    let is_declared = if declared.is_empty() {
        let shares_text = |part: &&FixPart<'_>| is_sibling(part.document, id, input);
        let is_edited = |node: &Node<'_>| {
            let place =
                if node.key_span().is_empty() { node.span() } else { node.key_span().to(node.span()) };
            let holds = |edit: &TextEdit| place.start <= edit.span.start && edit.span.end <= place.end;
            let of_file = |(file, edits): (&FileId, &Vec<TextEdit>)| {
                input.file(*file).is_some_and(|file| core::ptr::eq(file.source.as_ref(), node.source()))
                    && edits.iter().any(holds)
            };
            edits.iter().any(of_file)
        };
        parts.iter().any(shares_text) && all.iter().all(is_edited)
    } else {
        differences(before.root(), after.root(), &declared).is_empty()
    };
    is_declared.then_some(false)
}

/// Whether two documents are made of the same text, for two instances of a resource for example.
fn is_sibling(one: DocumentId, other: DocumentId, input: Input<'_>) -> bool {
    let start = |id: DocumentId| input.document(id).map(Document::start);
    one.file == other.file && start(one) == start(other)
}

/// The documents that are made of the same text as a document, the document itself included.
pub(crate) fn siblings(document: DocumentId, input: Input<'_>) -> impl Iterator<Item = DocumentId> {
    let all = input.file(document.file).map_or(&[][..], |file| &file.documents);
    let start = all.get(document.index).map_or(0, Document::start);
    let first = all.partition_point(|one| one.start() < start);
    let end = all.partition_point(|one| one.start() <= start);
    (first..end).map(move |index| document.file.document(index))
}

#[cfg(test)]
mod tests {
    use crate::apply::{WantedFixes, apply_fixes};
    use crate::check::check;
    use crate::testing::{REGISTRY, cluster};
    use manifest::limits::Limits;
    use rule::settings::Settings;
    use terraform_objects::{NoFilesBeside, evaluate};

    /// The numbers of findings and of offered fixes, and the first text with its fixes.
    fn fixed(files: &[(&str, &str)]) -> (usize, usize, String) {
        let mut cluster = cluster(files);
        evaluate(&mut cluster.files, &NoFilesBeside, &Limits::DEFAULT);
        let mut clusters = [cluster];
        let report = check(&REGISTRY, &clusters, &Settings::default());
        let offered = report.findings.iter().filter(|finding| finding.fix.is_some()).count();
        apply_fixes(&REGISTRY, &mut clusters, &Settings::default(), &Limits::DEFAULT, WantedFixes::Safe);
        (report.findings.len(), offered, clusters[0].files[0].source.text().to_owned())
    }

    const NAME: &str = "variable \"x\" { default = \"known\" }\n";

    /// A node class in a here-document with a known value.
    fn heredoc(spec: &str) -> String {
        format!(
            "{NAME}resource \"kubectl_manifest\" \"a\" {{\n  yaml_body = <<-EOT\n    apiVersion: karpenter.k8s.aws/v1\n    kind: EC2NodeClass\n    metadata: {{name: \"${{var.x}}\"}}\n    spec:\n      {spec}\n  EOT\n}}\n"
        )
    }

    /// A node class in HCL.
    fn encoded(spec: &str) -> String {
        format!(
            "{NAME}resource \"kubectl_manifest\" \"a\" {{\n  yaml_body = yamlencode({{\n    apiVersion = \"karpenter.k8s.aws/v1\"\n    kind = \"EC2NodeClass\"\n    metadata = {{ name = var.x }}\n    spec = {{\n      {spec}\n    }}\n  }})\n}}\n"
        )
    }

    #[test]
    fn fixes_what_stands_literally_in_a_here_document() {
        for (before, after) in [
            ("instanceProfile: arn:a/b", "instanceProfile: b"),
            (
                "instanceProfile: 'arn:a/b' # why\n      x: ${var.x}",
                "instanceProfile: 'b' # why\n      x: ${var.x}",
            ),
            ("profiles: ['arn:a/b', \"${var.x}\", 'arn:a/c']", "profiles: ['b', \"${var.x}\", 'c']"),
            ("rename: ${var.x}", "renamed: ${var.x}"),
            ("replace: an old value", "replace: an new value"),
            (
                "replace: |\n        a ${var.x}\n        an old one",
                "replace: |\n        a ${var.x}\n        an new one",
            ),
            ("add: ${var.x}", "add: ${var.x}\n      added: new"),
            ("both: [old, old]", "both: [new, new]"),
        ] {
            let (findings, offered, text) = fixed(&[("main.tf", &heredoc(before))]);
            assert!(findings > 0 && offered == findings, "{before}: {findings}, {offered}");
            assert_eq!(text, heredoc(after));
        }
    }

    #[test]
    fn fixes_values_and_keys_in_hcl() {
        for (before, after) in [
            ("instanceProfile = \"arn:a/b\"", "instanceProfile = \"b\""),
            ("profiles = [\"arn:a/b\", var.x]", "profiles = [\"b\", var.x]"),
            ("rename = var.x", "renamed = var.x"),
            ("replace = \"${var.x}-old\"", "replace = \"${var.x}-new\""),
            (
                "replace = <<-EOT\n        a ${var.x}\n        an old one\n      EOT",
                "replace = <<-EOT\n        a ${var.x}\n        an new one\n      EOT",
            ),
        ] {
            let (findings, offered, text) = fixed(&[("main.tf", &encoded(before))]);
            assert!(findings > 0 && offered == findings, "{before}: {findings}, {offered}");
            assert_eq!(text, encoded(after));
        }
    }

    #[test]
    fn fixes_values_in_json() {
        let json = |spec: &str, body: &str| {
            format!(
                "{{\"resource\": {{\"kubernetes_manifest\": {{\"a\": {{\"manifest\": {{\n  \"apiVersion\": \"karpenter.k8s.aws/v1\", \"kind\": \"EC2NodeClass\",\n  \"metadata\": {{\"name\": \"x\"}}, \"spec\": {{{spec}}} }} }} }},\n  \"kubectl_manifest\": {{\"b\": {{\"yaml_body\": \"apiVersion: karpenter.k8s.aws/v1\\nkind: EC2NodeClass\\nmetadata: {{name: b}}\\nspec:\\n{body}\"}} }} }} }}\n"
            )
        };
        for (spec, body, fixed_spec, fixed_body) in [
            ("\"instanceProfile\": \"arn:a/b\"", "", "\"instanceProfile\": \"b\"", ""),
            ("\"profiles\": [\"arn:a/b\", \"${1}\"]", "", "\"profiles\": [\"b\", \"${1}\"]", ""),
            ("\"rename\": 1", "", "\"renamed\": 1", ""),
            ("", "  instanceProfile: arn:a/b\\n", "", "  instanceProfile: b\\n"),
        ] {
            let (findings, offered, text) = fixed(&[("main.tf.json", &json(spec, body))]);
            assert!(findings > 0 && offered == findings, "{spec} {body}: {findings}, {offered}");
            assert_eq!(text, json(fixed_spec, fixed_body));
        }
        // A line of YAML cannot be added to a string of JSON.
        let added = json("", "  add: 1\\n");
        let (findings, offered, text) = fixed(&[("main.tf.json", &added)]);
        assert_eq!((findings > 0, offered, text), (true, 0, added));
    }

    #[test]
    fn offers_no_fix_for_what_is_computed_or_used_elsewhere() {
        let value = "locals { value = \"arn:a/b\" }\n";
        for text in [
            heredoc("instanceProfile: 'arn:a/${var.x}'"),
            heredoc("replace: 'old${var.x}'").replace("'old", "${replace(\"ald\", \"a\", \"o\")}'"),
            encoded("instanceProfile = local.value") + value,
            encoded("instanceProfile = \"arn:a/${var.x}\""),
            encoded("x = local.spec") + "locals { spec = { set = \"old\" } }\n",
        ] {
            let (_, offered, after) = fixed(&[("main.tf", &text)]);
            assert_eq!((offered, after), (0, text));
        }
    }

    #[test]
    fn fixes_the_text_of_all_instances_and_of_templates() {
        let each = heredoc("instanceProfile: arn:a/b")
            .replace("  yaml_body", "  for_each = toset([\"one\", \"two\"])\n  yaml_body")
            .replace("var.x", "each.key");
        let (findings, offered, text) = fixed(&[("main.tf", &each)]);
        assert!(findings > 0 && findings == offered, "{findings} {offered}");
        assert_eq!(text, each.replace("arn:a/b", "b"));
        let template = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: '${name}'}\nspec: {set: old}\n";
        let main = "resource \"kubectl_manifest\" \"a\" {\n  yaml_body = templatefile(\"${path.module}/a.tftpl\", { name = \"a\" })\n}\n";
        let (findings, offered, text) = fixed(&[("a.tftpl", template), ("main.tf", main)]);
        assert_eq!((findings, offered, text), (1, 1, template.replace("old", "new")));
    }
}
