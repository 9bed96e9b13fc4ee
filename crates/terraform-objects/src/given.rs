//! Files by their names: templates, and files of variables, which a walk through a folder does not take for manifests.

use manifest::limits::Limits;
use manifest::source::Span;
use manifest::{Document, File, FileKind};
use objects::embedded::READ_OPTIONS;
use terraform::{is_configuration, is_plan};

use crate::{NoFilesBeside, evaluate};

/// Whether a name is the name of a template of Terraform or another program. Many such templates are no manifests. A name that starts with
/// `_` is a part of a Helm chart.
pub fn is_template(name: &str) -> bool {
    let name = file_name(name);
    !name.starts_with('_') && [".tftpl", ".tpl"].iter().any(|end| name.ends_with(end))
}

/// Whether a name is the name of a file of variables in HCL.
pub fn is_variables(name: &str) -> bool {
    file_name(name).ends_with(".tfvars")
}

fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or_default()
}

/// Whether a file has no documents before [`evaluate_given`]: a configuration, a file of variables, a plan or a state.
pub fn needs_evaluation(file: &File) -> bool {
    let name = file.source.name();
    let has_plan = || matches!(file.documents.as_slice(), [Document::Read(tree)] if is_plan(tree));
    is_configuration(name) || is_variables(name) || has_plan()
}

/// Evaluates files that were given one by one, such as the files that a visitor of a page drops. A file of variables is no manifest. Beside a
/// configuration, a template counts only as far as it has manifests, as in a folder.
pub fn evaluate_given(files: &mut Vec<File>, limits: &Limits) {
    let has_configuration = files.iter().any(|file| is_configuration(file.source.name()));
    for file in files.iter_mut() {
        if is_variables(file.source.name()) {
            file.documents.clear();
            file.kind = FileKind::TextOnly;
        } else if has_configuration && is_template(file.source.name()) {
            file.is_relevant = None;
            keep_manifests(file);
        }
    }
    evaluate(files, &NoFilesBeside, limits);
}

/// Leaves out the documents of a template that are no manifests. A template that is no YAML is no mistake.
pub fn keep_manifests(file: &mut File) {
    if !["apiVersion", "kind"].iter().all(|key| file.source.text().contains(key)) {
        file.documents.clear();
    }
    file.documents.retain(|document| match document {
        Document::Read(tree) => (READ_OPTIONS.is_manifest)(tree.root()),
        document => !matches!(document, Document::Script(_)),
    });
    for document in &mut file.documents {
        if let Document::Unreadable { at, error } = document
            && error.exceeded().is_none()
        {
            let reason = format!("template, not checked: {error}");
            *document = Document::Unevaluated { span: Span::new(*at, *at), reason };
        }
    }
}

#[cfg(test)]
mod tests {
    use manifest::File;
    use manifest::limits::Limits;
    use objects::embedded::READ_OPTIONS;

    use super::{evaluate_given, needs_evaluation};

    #[test]
    fn files_of_one_folder_are_a_configuration_with_its_variables_and_templates() {
        let main = "variable \"name\" {}\nresource \"kubectl_manifest\" \"a\" {\n  yaml_body = templatefile(\"${path.module}/a.tftpl\", { name = var.name })\n}\n";
        let template = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: '${name}'}\n";
        let script = "#!/bin/bash\nset -e\necho ${name} : [\n";
        let given = [
            ("a.tftpl", template),
            ("main.tf", main),
            ("terraform.tfvars", "name = \"spot\"\n"),
            ("user-data.sh.tpl", script),
        ];
        let read = |(name, text): (&str, &str)| File {
            is_relevant: Some(true),
            ..File::read(name, text, READ_OPTIONS)
        };
        let mut files: Vec<File> = given.map(read).into();
        assert_eq!(files.iter().map(needs_evaluation).collect::<Vec<_>>(), [false, true, true, false]);
        evaluate_given(&mut files, &Limits::DEFAULT);
        let shown: Vec<String> = files.iter().map(|file| format!("{:?}", file.documents)).collect();
        let trees = files.iter().flat_map(|file| &file.documents).filter_map(|document| match document {
            manifest::Document::Read(tree) => {
                Some((tree.root().source().name(), tree.root().to_json().to_string()))
            }
            _ => None,
        });
        let expected = r#"{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"spot"}}"#;
        assert_eq!(trees.collect::<Vec<_>>(), [("a.tftpl", expected.to_owned())], "{shown:?}");
        assert!(files[2].documents.is_empty() && files[3].documents.is_empty(), "{shown:?}");
    }
}
