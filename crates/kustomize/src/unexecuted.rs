//! Fields of a kustomization that a build does not execute, and the objects that they may change.
//!
//! Sources: `builtinplugins` in api/internal/builtins and `TransformerConfig` in api/internal/plugins/builtinconfig/transformerconfig.go of
//! kustomize v5.5.0.

use std::collections::BTreeSet;

use manifest::tree::{Node, items_of};
use manifest::{Document, File};

use crate::field_spec::FieldSpec;
use crate::kustomization::Kustomization;
use crate::path;
use crate::resource::Resource;
use crate::selector::TargetSelector;
use crate::value::BuiltValue;

/// Transformers that change the objects of their `target`.
const OF_TARGET: [&str; 2] = ["PatchTransformer", "PatchJson6902Transformer"];

/// Transformers that change the fields of their `fieldSpecs`.
const OF_FIELDS: [&str; 4] =
    ["LabelTransformer", "AnnotationsTransformer", "PrefixTransformer", "SuffixTransformer"];

/// Lists that the transformer of images changes, wherever they are.
///
/// Source: `findContainers` in api/filters/imagetag/legacy.go of kustomize v5.5.0.
const CONTAINERS: [&str; 2] = ["containers", "initContainers"];

/// A field that is not executed.
#[derive(Debug)]
pub(crate) struct UnexecutedField<'d> {
    pub(crate) name: &'d str,
    reach: Vec<Reach<'d>>,
}

/// The objects that a part of such a field may change.
#[derive(Debug)]
enum Reach<'d> {
    All,
    /// The objects with a field.
    Field(FieldSpec<'d>),
    /// The objects that a selector selects.
    Target(Box<TargetSelector>),
    /// The objects in which one of some variables is used, such as `$(TEAM)`.
    Variables(BTreeSet<&'d str>),
    /// The objects that have a key.
    Key(&'static str),
    /// The objects of the kinds that a text names.
    Kinds(&'d str),
}

impl<'d> UnexecutedField<'d> {
    /// The fields of a kustomization that are not executed. `file` finds the file at a path.
    pub(crate) fn all_of(
        kustomization: Kustomization<'d>,
        file: impl Fn(&str) -> Option<&'d File>,
    ) -> Vec<Self> {
        let reach = |(name, value): (&'d str, Node<'d>)| {
            let reach = match name {
                "vars" => vec![Reach::of_variables(value)],
                "openapi" => {
                    vec![value.str_at(&["path"]).and_then(&file).map_or(Reach::All, Reach::of_schema)]
                }
                "configurations" => of_files(value, &file, Reach::of_configuration),
                "transformers" => of_files(value, &file, Reach::of_transformer),
                _ => vec![Reach::All],
            };
            Self { name, reach }
        };
        kustomization.unexecuted().map(reach).collect()
    }

    /// The number of parts, each of which looks at every object.
    pub(crate) const fn len(&self) -> usize {
        self.reach.len()
    }

    /// Whether the kustomizations that use this one have the field too. kustomize replaces variables once, at the end of the outermost build, and the
    /// transformers of an overlay obey the configurations of its bases.
    ///
    /// Source: `makeCustomizedResMap` and `runTransformers` in api/internal/target/kusttarget.go, and `MergeAccumulator` in
    /// api/internal/accumulator/resaccumulator.go of kustomize v5.5.0.
    pub(crate) fn is_inherited(&self) -> bool {
        ["vars", "configurations"].contains(&self.name)
    }

    /// Whether the field may change an object.
    pub(crate) fn may_change(&self, resource: &Resource<'_>) -> bool {
        self.reach.iter().any(|reach| reach.includes(resource))
    }
}

/// The objects that the documents of some files may change. Each file has a reach, and a file that is not in the input reaches all objects.
fn of_files<'d>(
    paths: Node<'d>,
    file: &impl Fn(&str) -> Option<&'d File>,
    of_document: impl Fn(Node<'d>) -> Vec<Reach<'d>>,
) -> Vec<Reach<'d>> {
    let of_path = |item: Node<'d>| {
        let documents = item.as_str().and_then(file).map_or(&[][..], |file| file.documents.as_slice());
        let roots: Option<Vec<Node<'d>>> = documents.iter().map(root).collect();
        match roots.filter(|roots| !roots.is_empty()) {
            Some(roots) => roots.into_iter().flat_map(&of_document).collect(),
            None => vec![Reach::All],
        }
    };
    items_of(Some(paths)).flat_map(of_path).collect()
}

fn root(document: &Document) -> Option<Node<'_>> {
    if let Document::Read(tree) = document { Some(tree.root()) } else { None }
}

impl<'d> Reach<'d> {
    fn of_variables(variables: Node<'d>) -> Self {
        let names = items_of(Some(variables)).map(|variable| variable.str_at(&["name"]));
        names.collect::<Option<_>>().map_or(Self::All, Self::Variables)
    }

    /// The schemas of a file say how patches of the kinds in it are merged.
    fn of_schema(file: &'d File) -> Self {
        Self::Kinds(file.source.text())
    }

    /// The lists of a configuration name fields. The ones for variables count only with the variables themselves.
    fn of_configuration(root: Node<'d>) -> Vec<Self> {
        let lists = root.members().filter(|(list, _)| *list != "varReference");
        let fields = lists.flat_map(|(list, items)| {
            items_of(Some(items)).flat_map(move |item| match list {
                "nameReference" => items_of(item.get("fieldSpecs")).collect(),
                _ => vec![item],
            })
        });
        fields.map(|field| Self::Field(FieldSpec::read(field))).collect()
    }

    fn of_transformer(root: Node<'d>) -> Vec<Self> {
        let kind = root.str_at(&["kind"]).unwrap_or_default();
        let is_builtin = root.str_at(&["apiVersion"]) == Some("builtin");
        let fields: Vec<Self> =
            items_of(root.get("fieldSpecs")).map(|field| Self::Field(FieldSpec::read(field))).collect();
        match kind {
            _ if !is_builtin => vec![Self::All],
            "ImageTagTransformer" => fields.into_iter().chain(CONTAINERS.map(Self::Key)).collect(),
            _ if OF_FIELDS.contains(&kind) && !fields.is_empty() => fields,
            _ if OF_TARGET.contains(&kind) => {
                let target = root.get("target").and_then(TargetSelector::parse);
                vec![target.map_or(Self::All, |target| Self::Target(Box::new(target)))]
            }
            _ => vec![Self::All],
        }
    }

    fn includes(&self, resource: &Resource<'_>) -> bool {
        match self {
            Self::All => true,
            Self::Field(field) => field.applies(&resource.id()),
            Self::Target(target) => target.selects(resource),
            Self::Variables(names) => {
                let uses = |text: &str| variables_in(text).any(|name| names.contains(name));
                any_part(&resource.value, &|_, text| text.is_some_and(uses))
            }
            Self::Key(key) => any_part(&resource.value, &|own, _| own == *key),
            Self::Kinds(text) => text.contains(&resource.id().kind),
        }
    }
}

/// The names of the variables that a text uses, such as `TEAM` in `$(TEAM)`.
fn variables_in(text: &str) -> impl Iterator<Item = &str> {
    text.split("$(").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0))
}

/// Whether the key or the text of any value below a value is the wanted one.
fn any_part(value: &BuiltValue<'_>, is_wanted: &dyn Fn(&str, Option<&str>) -> bool) -> bool {
    let parts = value.parts();
    parts.iter().any(|(key, part)| is_wanted(key, part.text()) || any_part(part, is_wanted))
}

/// Names of the files and folders on which the fields of a kustomization that a build does not execute depend, as they would be in the input.
/// Files that such a file names count too.
pub fn unexecuted_files<'f>(file: &File, find: impl Fn(&str) -> Option<&'f File>) -> BTreeSet<String> {
    let Some(kustomization) = Kustomization::find(file, manifest::FileNumber::new(0)) else {
        return BTreeSet::new();
    };
    let name = path::join("", file.source.name());
    let folder = path::folder(&name);
    let mut found = BTreeSet::new();
    for (_, value) in kustomization.unexecuted() {
        let paths = items_of(Some(value)).filter_map(Node::as_str).chain(value.str_at(&["path"]));
        found.extend(paths.filter(|path| !path.contains('\n')).map(|path| path::join(folder, path)));
    }
    let documents = found.iter().filter_map(|name| find(name)).flat_map(|file| &file.documents);
    let named: Vec<String> = documents
        .filter_map(root)
        .filter_map(|root| root.str_at(&["path"]))
        .map(|path| path::join(folder, path))
        .collect();
    found.extend(named);
    found
}

/// The fields of a kustomization that a build does not execute, each with its value; none for another file.
pub fn unexecuted_fields(file: &File) -> Vec<String> {
    let kustomization = Kustomization::find(file, manifest::FileNumber::new(0));
    let fields = kustomization.into_iter().flat_map(Kustomization::unexecuted);
    fields.map(|(name, value)| format!("{name}: {}", value.to_json())).collect()
}

/// Kind and name of each object from which a variable of a kustomization has its value.
pub fn sources_of_variables(file: &File) -> Vec<(&str, &str)> {
    let Some(kustomization) = Kustomization::find(file, manifest::FileNumber::new(0)) else {
        return Vec::new();
    };
    let variables = items_of(kustomization.root.get("vars"));
    variables
        .filter_map(|variable| {
            let source = variable.get("objref")?;
            source.str_at(&["kind"]).zip(source.str_at(&["name"]))
        })
        .collect()
}
