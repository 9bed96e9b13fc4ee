//! Files that data sources of the providers `kubectl` and `template` read.
//!
//! Source: `kubectl_path_documents.md`, `kubectl_filename_list.md` and `kubectl_file_documents.md` in docs/data-sources of
//! alekc/terraform-provider-kubectl, and `kubernetes/data_source_kubectl_path_documents.go`: the variables are strings, and relative
//! patterns start from the folder in which Terraform runs. `docs/data-sources/file.html.md` of hashicorp/terraform-provider-template at
//! v2.2.0.

use terraform::{
    ConfigurationInput, EvaluatedAttribute, EvaluatedBlock, EvaluatedConfiguration, EvaluatedValue,
    TemplateRequest, TextPlace, matching_files,
};

use super::ResourceInstance;
use crate::draft::DocumentDraft;
use crate::input::path_of;

/// The data sources with files, and the attribute of the evaluated block that gets their texts.
const WITH_PATTERN: [&str; 2] = ["kubectl_path_documents", "kubectl_filename_list"];
/// The data source with documents in one string.
const WITH_CONTENT: &str = "kubectl_file_documents";
/// The data source with a template in a string, which is mostly the text of a file.
const WITH_TEMPLATE: &str = "template_file";
/// Prefix of the attributes with the texts of files. No attribute of Terraform has such a name.
const TEXT: &str = "text of a file";

/// Adds the texts of the files to the data sources of a configuration in a folder.
pub(crate) fn read(configuration: &mut EvaluatedConfiguration, folder: &str, input: &ConfigurationInput<'_>) {
    let (mut requests, mut owners) = (Vec::new(), Vec::new());
    for (index, block) in configuration.blocks.iter().enumerate() {
        if let Some((path, used)) = template(block, configuration) {
            requests.push(TemplateRequest { path, variables: Some(variables(block)), used });
            owners.push(index);
            continue;
        }
        let is_read = block.kind == "data"
            && block.labels.first().is_some_and(|kind| WITH_PATTERN.contains(&kind.as_str()));
        let pattern = block.body.get("pattern").filter(|_| is_read);
        let Some((pattern, used)) = pattern.and_then(|value| Some((value.as_str()?, value.place))) else {
            continue;
        };
        let is_plain = block.labels.first().is_some_and(|kind| kind == "kubectl_filename_list")
            || block.body.get("disable_template").and_then(EvaluatedValue::as_bool) == Some(true);
        for path in matching_files(folder, pattern, input) {
            let variables = (!is_plain).then(|| variables(block));
            requests.push(TemplateRequest { path, variables, used });
            owners.push(index);
        }
    }
    let texts = configuration.templates(folder, input, &requests);
    for (index, text) in owners.into_iter().zip(texts) {
        if let Some((block, value)) = configuration.blocks.get_mut(index).zip(text) {
            let key = block.place;
            block.body.attributes.push(EvaluatedAttribute { name: TEXT.to_owned(), key, value });
        }
    }
}

/// The file whose text is the template of a `template_file`, and the expression that reads it.
fn template(block: &EvaluatedBlock, configuration: &EvaluatedConfiguration) -> Option<(String, TextPlace)> {
    let is_read = block.kind == "data" && block.labels.first().is_some_and(|kind| kind == WITH_TEMPLATE);
    let value = block.body.get("template").filter(|_| is_read)?;
    let text = value.as_text()?;
    let source = configuration.texts.get(text.pieces().first()?.place.text)?;
    (source.text() == text.as_str()).then(|| (path_of(source.name()), value.place))
}

/// The variables of a template.
fn variables(block: &EvaluatedBlock) -> EvaluatedValue {
    let given = block.body.get("vars").filter(|value| value.members().is_some());
    given.cloned().unwrap_or_else(|| EvaluatedValue::empty_object(block.place))
}

/// The documents of the data source that `for_each`, `count` or the body of a resource refers to.
pub(super) fn documents(resource: &ResourceInstance<'_>, body: &str) -> Option<Vec<DocumentDraft>> {
    let source = ["for_each", "count", body].iter().find_map(|name| {
        let value = resource.attribute(name)?;
        data_source(resource, value.as_unknown()?.text.as_str())
    })?;
    if source.labels.first().is_some_and(|kind| kind == WITH_TEMPLATE) && source.body.get(TEXT).is_none() {
        return None;
    }
    let attributes = source.body.attributes.iter();
    let texts = attributes.filter(|attribute| match source.labels.first().map(String::as_str) {
        Some(WITH_CONTENT) => attribute.name == "content",
        _ => attribute.name == TEXT,
    });
    Some(texts.flat_map(|attribute| resource.documents_in("content", &attribute.value)).collect())
}

/// The data source in a reference such as `${data.kubectl_file_documents.all.manifests}`.
fn data_source<'v>(resource: &ResourceInstance<'v>, reference: &str) -> Option<&'v EvaluatedBlock> {
    let types = WITH_PATTERN.iter().chain(&[WITH_CONTENT, WITH_TEMPLATE]);
    let start = types.filter_map(|name| reference.find(&format!("data.{name}."))).min()?;
    let path = reference.get(start..)?;
    let name = path.split('.').nth(2)?;
    let end = name.find(|char: char| !(char.is_alphanumeric() || matches!(char, '_' | '-')));
    let name = name.get(..end.unwrap_or(name.len()))?;
    let kind = path.split('.').nth(1)?;
    resource.beside(&format!("data.{kind}.{name}"))
}
