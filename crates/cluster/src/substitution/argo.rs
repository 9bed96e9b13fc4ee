//! The list generator of Argo CD's `ApplicationSet`.
//!
//! Source: docs/operator-manual/applicationset/Generators-List.md and Template.md of argoproj/argo-cd: the parameters are `{{cluster}}`, or
//! `{{.cluster}}` with `goTemplate: true`.

use kustomize::{Builds, Origin};
use manifest::tree::{Node, NodeId};
use manifest::{Document, File, FileNumber};

use super::{Writer, with_values};

/// Adds an overlay for each element of the lists: the `ApplicationSet` with the values of the element. What another generator gives, and
/// templates with more than a name, stay placeholders.
pub(super) fn add(builds: &mut Builds, files: &[File], writer: &mut Writer) {
    for (number, file) in FileNumber::enumerate(files).filter(|(_, file)| file.is_input()) {
        for (position, document) in file.documents.iter().enumerate() {
            let Document::Read(tree) = document else { continue };
            let root = tree.root();
            let Some(elements) = elements(root).filter(|_| !tree.is_assembled()) else { continue };
            let is_go = root.at_path(&["spec", "goTemplate"]).and_then(Node::as_bool) == Some(true);
            let name = root.str_at(&["metadata", "name"]).unwrap_or_default();
            for (index, element) in elements.into_iter().enumerate() {
                let parameters = parameters(element);
                let replace = |text: &str| replaced_in(text, &parameters, is_go);
                let origin = Origin { document: number.document(position), root: NodeId::ROOT };
                let label =
                    ["cluster", "name", "env", "environment"].iter().find_map(|key| element.str_at(&[*key]));
                let label = label.map_or_else(|| index.to_string(), str::to_owned);
                let objects = [(origin, Some(root), None)];
                let Some(overlay) = writer.overlay(format!("{name} ({label})"), objects, &replace) else {
                    return;
                };
                builds.overlays.push(overlay);
            }
        }
    }
}

/// The texts that a text in the template of an `ApplicationSet` is for the elements of its only generator; `None` if not all of them are known.
pub(crate) fn texts_of_elements(root: Node<'_>, text: &str) -> Option<Vec<String>> {
    let is_go = root.at_path(&["spec", "goTemplate"]).and_then(Node::as_bool) == Some(true);
    let of_element = |element: Node<'_>| {
        replaced_in(text, &parameters(element), is_go).filter(|replaced| !replaced.contains("{{"))
    };
    elements(root)?.into_iter().map(of_element).collect()
}

/// The elements of the only generator, if it is a list and no text replaces the template.
fn elements(root: Node<'_>) -> Option<Vec<Node<'_>>> {
    let is_set = root.str_at(&["kind"]) == Some("ApplicationSet")
        && root.str_at(&["apiVersion"]).is_some_and(|version| version.starts_with("argoproj.io/"));
    let generators = root.at_path(&["spec", "generators"]).filter(|list| is_set && list.is_sequence())?;
    let mut all = generators.items();
    let elements = all.next().filter(|_| all.next().is_none())?.at_path(&["list", "elements"])?;
    let elements: Vec<Node<'_>> = elements.items().collect();
    (!elements.is_empty()).then_some(elements)
}

/// The parameters of an element: its texts, also in objects, with dots between the names.
fn parameters(element: Node<'_>) -> Vec<(String, &str)> {
    let mut parameters = Vec::new();
    let mut open = vec![(String::new(), element)];
    while let Some((path, node)) = open.pop() {
        for (key, value) in node.members() {
            let name = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            match value.as_str() {
                Some(text) if !text.contains("{{") => parameters.push((name, text)),
                _ => open.push((name, value)),
            }
        }
    }
    parameters
}

/// The text with the values of the parameters that it names.
fn replaced_in(text: &str, parameters: &[(String, &str)], is_go: bool) -> Option<String> {
    with_values(text, ["{{", "}}"], |inner| {
        let inner = inner.trim();
        let name = if is_go { inner.strip_prefix('.')? } else { inner };
        parameters.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use kustomize::BuildOutcome;
    use manifest::limits::Limits;
    use objects::embedded::READ_OPTIONS;
    use objects::object::Object;

    /// The form of docs/operator-manual/applicationset/Generators-List.md of argoproj/argo-cd.
    const SET: &str = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: karpenter}\nspec:\n  goTemplate: GO\n  generators:\n  - list:\n      elements:\n      - {cluster: dev, url: 'https://1.2.3.4', values: {queue: q1}}\n      - {cluster: prod, url: 'https://2.4.6.8', values: {queue: q2}}\n  template:\n    spec:\n      destination: {server: 'MARKurl}}'}\n      source:\n        chart: karpenter\n        helm:\n          values: |\n            settings:\n              clusterName: 'MARKcluster}}'\n              interruptionQueue: 'MARKvalues.queue}}'\n              other: '{{ .x | quote }}'\n";

    fn built(text: &str) -> Vec<(String, String)> {
        let files = [File::read("a.yaml", text, READ_OPTIONS)];
        let mut builds = Builds::of(&files, &Limits::DEFAULT);
        super::super::add(&mut builds, (&files, ""), &BTreeMap::new(), &Limits::DEFAULT);
        let overlays = builds.overlays.iter().filter_map(|overlay| {
            let BuildOutcome::Changed(tree) = &overlay.objects.first()?.outcome else { return None };
            let objects = Object::all(tree);
            let helm = objects.first()?.at(&["spec", "template", "spec", "source", "helm", "values"])?;
            Some((overlay.name.clone(), helm.embedded()?.to_json().to_string()))
        });
        overlays.collect()
    }

    #[test]
    fn each_element_gives_its_values() {
        for (is_go, mark) in [("true", "{{."), ("false", "{{")] {
            let built = built(&SET.replace("GO", is_go).replace("MARK", mark));
            let shown = |queue: &str, cluster: &str| {
                format!(
                    r#"{{"settings":{{"clusterName":"{cluster}","interruptionQueue":"{queue}","other":"{{{{ .x | quote }}}}"}}}}"#
                )
            };
            assert_eq!(
                built,
                [
                    ("karpenter (dev)".to_owned(), shown("q1", "dev")),
                    ("karpenter (prod)".to_owned(), shown("q2", "prod"))
                ]
            );
        }
    }

    #[test]
    fn values_need_no_quotes_in_a_block() {
        let unquoted = SET
            .replace("'MARKcluster}}'", "{{cluster}}")
            .replace("'MARKvalues.queue}}'", "{{ values.queue }}");
        let built = built(&unquoted.replace("GO", "false").replace("MARK", "{{"));
        let shown: Vec<&str> = built.iter().map(|(_, values)| values.as_str()).collect();
        assert_eq!(
            shown,
            [
                r#"{"settings":{"clusterName":"dev","interruptionQueue":"q1","other":"{{ .x | quote }}"}}"#,
                r#"{"settings":{"clusterName":"prod","interruptionQueue":"q2","other":"{{ .x | quote }}"}}"#
            ]
        );
    }

    #[test]
    fn other_generators_and_other_marks_stay_placeholders() {
        let clusters =
            SET.replace("MARK", "{{").replace("GO", "false").replace("- list:", "- clusters: {}\n  - list:");
        assert!(built(&clusters).is_empty());
        assert!(built(&SET.replace("MARK", "{{").replace("GO", "true")).is_empty());
    }
}
