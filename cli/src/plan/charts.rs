//! Files that are no manifests, and that only a plan reads: named templates and texts of charts, the files from which kustomizations generate
//! `ConfigMaps` and Secrets, configurations of Terragrunt, templates of helmfiles, and templates of other programs that have NodePools.
//!
//! Source: "Accessing Files Inside Templates" and "Named Templates" in `docs/chart_template_guide` of helm/helm-www.

use std::collections::BTreeSet;
use std::path::Path;

use cluster::folders::{folders_of, name, parent};
use cluster::generator_files;
use karpwarden::plan;
use manifest::{File, FileKind};
use objects::embedded::READ_OPTIONS;

/// Maximum number of bytes of such a file.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// Extensions of templates of other programs: Jinja and Ansible, Ruby, gomplate, Jsonnet, envsubst, Mustache, Handlebars, CUE.
const TEMPLATES: [&str; 12] = [
    ".j2",
    ".jinja",
    ".jinja2",
    ".erb",
    ".tmpl",
    ".template",
    ".jsonnet",
    ".libsonnet",
    ".envsubst",
    ".mustache",
    ".hbs",
    ".cue",
];

/// Files of a chart that templates do not read: Helm's own, and documents for people.
const OTHERS: [&str; 5] = ["Chart.", "README", "LICENSE", "CHANGELOG", "NOTES.txt"];

/// Charts and generators that may read files that are no manifests.
pub(super) struct TextReaders {
    /// The folders of the charts in the input.
    charts: BTreeSet<String>,
    /// The files that generators of kustomizations name.
    generated: BTreeSet<String>,
    /// The paths of files whose texts are values of charts, without the folders at their start.
    given: BTreeSet<String>,
    /// The templates that configurations of Terraform render.
    rendered: BTreeSet<String>,
}

impl TextReaders {
    pub(super) fn of(files: &[File]) -> Self {
        let names = files.iter().map(|file| file.source.name());
        let definitions = names.filter(|file| name(file) == "Chart.yaml");
        let rendered = files.iter().filter(|file| !file.documents.is_empty()).map(|file| file.source.name());
        Self {
            charts: definitions.filter_map(parent).map(str::to_owned).collect(),
            generated: files.iter().flat_map(generator_files).collect(),
            given: files.iter().flat_map(plan::files_with_values).map(str::to_owned).collect(),
            rendered: rendered.filter(|file| is_template(file)).map(str::to_owned).collect(),
        }
    }

    /// Whether a plan reads a file that is no manifest.
    pub(super) fn is_read(&self, file: &str) -> bool {
        let is_other = || is_template(file) && !self.rendered.contains(file);
        is_terragrunt(file) || is_gotmpl(file) || is_inventory(file) || is_other() || self.may_read(file)
    }

    /// Whether a generator or the templates of a chart may read a file that is no manifest.
    fn may_read(&self, file: &str) -> bool {
        let base = name(file);
        let is_other = base.starts_with('.') || OTHERS.iter().any(|other| base.starts_with(other));
        let is_of_chart = || !is_other && folders_of(file).any(|folder| self.charts.contains(folder));
        let is_given = || self.given.iter().any(|path| file == path || file.ends_with(&format!("/{path}")));
        self.generated.contains(file) || is_given() || (!self.charts.is_empty() && is_of_chart())
    }
}

/// A file with a text; `None` for an archive, a picture, or the template of another program without NodePools. A text of Jsonnet without NodePools is only
/// looked up.
pub(super) fn text(name: String, bytes: Vec<u8>) -> Option<File> {
    let text = String::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_BYTES)?;
    Some(if is_terragrunt(&name) {
        File::text_only(name, text)
    } else if is_helmfile(&name) || is_inventory(&name) {
        File { kind: FileKind::Referenced, ..File::read(name, text, READ_OPTIONS) }
    } else if is_template(&name) && !plan::may_have_nodes(&text) {
        // Templates with NodePools may import it.
        return is_jsonnet(&name).then(|| File::text_only(name, text));
    } else {
        File::chart_text(name, text)
    })
}

/// The texts of any kind that texts of Jsonnet import, such as a script with `importstr`.
pub(super) struct ImportedTexts(BTreeSet<String>);

impl ImportedTexts {
    pub(super) fn of(files: &[File]) -> Self {
        let texts = files.iter().filter(|file| is_jsonnet(file.source.name()));
        let paths = texts.flat_map(|file| plan::jsonnet_imports(file.source.text()));
        let plain = paths.map(|path| path.trim_start_matches(['.', '/']));
        Self(plain.filter(|path| !path.is_empty()).map(str::to_owned).collect())
    }

    /// Whether the path of an import may mean a file.
    pub(super) fn is_read(&self, file: &str) -> bool {
        let ends = file.match_indices('/').filter_map(|(at, _)| file.get(at + 1..));
        core::iter::once(file).chain(ends).any(|end| self.0.contains(end))
    }

    /// An imported file; `None` for an archive or a picture.
    pub(super) fn text(name: String, bytes: Vec<u8>) -> Option<File> {
        let text = String::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_BYTES)?;
        Some(File::text_only(name, text))
    }
}

/// Whether a file has variables of an inventory of Ansible, in YAML without an extension.
///
/// Source: "Organizing host and group variables" in `docs/docsite/rst/inventory_guide/intro_inventory.rst` of ansible/ansible-documentation.
fn is_inventory(file: &str) -> bool {
    let is_folder = |folder: &str| ["group_vars", "host_vars"].contains(&name(folder));
    !name(file).contains('.') && folders_of(file).any(is_folder)
}

/// Whether a file is a text of Jsonnet.
fn is_jsonnet(file: &str) -> bool {
    [".jsonnet", ".libsonnet"].iter().any(|extension| file.ends_with(extension))
}

/// Whether a file is a template in a language that is no YAML, not even before it is rendered.
pub(super) fn is_program(file: &str) -> bool {
    is_jsonnet(file) || Path::new(file).extension().is_some_and(|extension| extension == "cue")
}

/// Whether a file is a template of a program that is not known, by its extension.
fn is_template(file: &str) -> bool {
    TEMPLATES.iter().any(|extension| file.ends_with(extension))
}

/// Whether a file is a configuration of Terragrunt.
fn is_terragrunt(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|extension| extension == "hcl") && !name(file).starts_with('.')
}

/// Whether a file is a template of a helmfile, of which most are YAML before they are rendered, too.
fn is_helmfile(file: &str) -> bool {
    let is_one =
        name(file).starts_with("helmfile") || parent(file).is_some_and(|folder| name(folder) == "helmfile.d");
    is_one && is_gotmpl(file)
}

/// Whether a file is a template of helmfile, also of values.
fn is_gotmpl(file: &str) -> bool {
    file.ends_with(".gotmpl")
}
