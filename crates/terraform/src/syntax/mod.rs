//! The files of a module: variables, locals, outputs, calls of modules, resources.

mod body;
mod json;
mod repeated_key;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use hcl_edit::Span as _;
use hcl_edit::expr::Expression;
use hcl_edit::structure::{Block, Body, Structure};
use manifest::source::{Source, Span};

pub(crate) use body::{BodySyntax, Declaration};
pub(crate) use json::{COMMENT, name_of};

use crate::input::ConfigurationInput;
use crate::place::{TextNumber, TextPlace};

/// The declarations of a module.
#[derive(Debug, Default)]
pub(crate) struct ModuleSyntax {
    pub(crate) variables: BTreeMap<String, Declaration>,
    pub(crate) locals: BTreeMap<String, Located<Expression>>,
    pub(crate) outputs: BTreeMap<String, Declaration>,
    pub(crate) modules: BTreeMap<String, Declaration>,
    /// Resources, data sources and other blocks with labels, in the order of files and lines.
    pub(crate) blocks: Vec<Declaration>,
    pub(crate) problems: Vec<SyntaxProblem>,
    /// The files of the module.
    pub(crate) files: Vec<(TextNumber, Arc<Source>)>,
}

/// Part of a file with the text that its spans point into.
#[derive(Debug)]
pub(crate) struct Located<T> {
    pub(crate) text: TextNumber,
    pub(crate) source: Arc<Source>,
    pub(crate) node: T,
}

/// Reason for which a file is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxProblem {
    /// The byte at which the parser stopped.
    pub place: TextPlace,
    /// The reason, a sentence.
    pub message: String,
}

impl SyntaxProblem {
    /// The steps do not suffice for the blocks from a place on.
    pub(crate) fn too_many_steps(place: TextPlace) -> Self {
        let message = "The configurations of the input take too many steps to evaluate".to_owned();
        Self { place, message }
    }
}

impl ModuleSyntax {
    /// Parses the files of a folder that Terraform reads there, without those in folders below.
    pub(crate) fn read(input: &ConfigurationInput<'_>, folder: &str) -> Self {
        let mut module = Self::default();
        let mut paths = input.files.paths_in(folder);
        paths.retain(|path| is_configuration(path));
        // OpenTofu reads its own file instead of the one of Terraform.
        let of_terraform = |path: &String| match path.strip_suffix(".tofu") {
            Some(name) => Some(format!("{name}.tf")),
            None => path.strip_suffix(".tofu.json").map(|name| format!("{name}.tf.json")),
        };
        let replaced: Vec<String> = paths.iter().filter_map(of_terraform).collect();
        paths.retain(|path| !replaced.contains(path));
        let (overrides, primary): (Vec<String>, Vec<String>) =
            paths.into_iter().partition(|path| is_override(path));
        for path in primary {
            module.read_file(input, &path).into_iter().for_each(|declaration| module.add(declaration));
        }
        let name = |block: &Declaration| (block.kind.clone(), block.labels.clone());
        let by_name: BTreeMap<_, usize> = if overrides.is_empty() {
            BTreeMap::new()
        } else {
            module.blocks.iter().enumerate().map(|(index, block)| (name(block), index)).collect()
        };
        for path in overrides {
            for declaration in module.read_file(input, &path) {
                let base = by_name.get(&name(&declaration)).copied();
                module.merge(declaration, base);
            }
        }
        module
    }

    /// The blocks of a file. Their order is the order of their lines.
    fn read_file(&mut self, input: &ConfigurationInput<'_>, path: &str) -> Vec<Declaration> {
        let Some((text, source)) = input.text(path) else { return Vec::new() };
        let declarations = declarations(&source, text);
        self.files.push((text, source));
        declarations.unwrap_or_else(|problem| {
            self.problems.push(problem);
            Vec::new()
        })
    }

    /// The module without declarations, because it takes too many steps.
    pub(crate) fn refused(&self) -> Self {
        let start = |(text, _): &(TextNumber, Arc<Source>)| TextPlace::new(*text, Span::default());
        let problems = self.files.iter().map(start).map(SyntaxProblem::too_many_steps).collect();
        Self { problems, files: self.files.clone(), ..Self::default() }
    }

    /// The bytes of the files.
    pub(crate) fn bytes(&self) -> usize {
        self.files.iter().map(|(_, source)| source.text().len()).sum()
    }

    /// Whether the folder declares nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.variables.is_empty()
            && self.locals.is_empty()
            && self.outputs.is_empty()
            && self.modules.is_empty()
            && self.blocks.is_empty()
    }

    fn add(&mut self, declaration: Declaration) {
        let label = declaration.labels.first().cloned();
        match (declaration.kind.as_str(), label) {
            ("locals", _) => self.locals.extend(declaration.into_attributes()),
            ("output", Some(name)) => {
                self.outputs.insert(name, declaration);
            }
            ("variable", Some(name)) => {
                self.variables.insert(name, declaration);
            }
            ("module", Some(name)) => {
                self.modules.insert(name, declaration);
            }
            _ => self.blocks.push(declaration),
        }
    }

    /// Changes the block that a block of an override file has the name of. `base` is the number of the resource with its name.
    ///
    /// Source: hashicorp/terraform at v1.11 `internal/configs/module.go`, `mergeFile`, and `module_merge.go`.
    fn merge(&mut self, declaration: Declaration, base: Option<usize>) {
        let Declaration { kind, labels, header, .. } = &declaration;
        let name = labels.first().map_or("", String::as_str);
        let base = match kind.as_str() {
            "locals" => {
                for (name, local) in declaration.into_attributes() {
                    self.locals.insert(name, local);
                }
                return;
            }
            "output" => self.outputs.get_mut(name),
            "variable" => self.variables.get_mut(name),
            "module" => self.modules.get_mut(name),
            "resource" | "data" | "ephemeral" => base.and_then(|base| self.blocks.get_mut(base)),
            // The settings of providers, and the requirements on versions, are not evaluated.
            _ => return,
        };
        let Some(base) = base else {
            let name = [core::slice::from_ref(kind), labels].concat().join(".");
            let message = format!("The file overrides `{name}`, which no other file declares.");
            self.problems.push(SyntaxProblem { place: *header, message });
            return;
        };
        base.parts.extend(declaration.parts);
    }
}

/// The blocks of a file, in the order of their lines.
fn declarations(source: &Arc<Source>, text: TextNumber) -> Result<Vec<Declaration>, SyntaxProblem> {
    if is_json(source.name()) {
        return json::declarations(source, text);
    }
    let block = |structure| match structure {
        Structure::Block(block) => Some(Declaration::of_block(block, text, source)),
        Structure::Attribute(_) => None,
    };
    Ok(parse(source, text)?.into_iter().filter_map(block).collect())
}

/// End of the message of hcl-edit 0.9.9 about a key that an object has twice.
const REDEFINED: &str = "found redefined object key";
/// Names to try for the keys that objects of a file have twice.
const MAX_NAMES: usize = 100;

/// Parses a file of HCL. The keys of objects are in the text of the source, and may have other names in the result.
pub(crate) fn parse(source: &Arc<Source>, text: TextNumber) -> Result<Body, SyntaxProblem> {
    let mut code = without_empty_heredocs(source.text());
    for name in (b'a'..=b'z').cycle().take(MAX_NAMES) {
        let error = match code.parse::<Body>() {
            Ok(body) => return Ok(body),
            Err(error) => error,
        };
        let location = error.location();
        let at = source.byte_of(location.line(), location.column());
        let is_renamed =
            error.message().contains(REDEFINED) && repeated_key::rename(&mut code, at, char::from(name));
        if !is_renamed {
            let message = format!("The file is not valid HCL: {}", error.message());
            return Err(SyntaxProblem { place: TextPlace::new(text, Span::new(at, at)), message });
        }
    }
    let message = "The file is not evaluated: its objects have too many keys twice.".to_owned();
    Err(SyntaxProblem { place: TextPlace::new(text, Span::default()), message })
}

/// The text with `""` and spaces instead of each here-document without lines, which hcl-edit 0.9.9 reads up to the next line with the
/// same word. All bytes stay where they are.
fn without_empty_heredocs(text: &str) -> Cow<'_, str> {
    let mut changed = Cow::Borrowed(text);
    let mut at = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find("<<")).map(|found| at + found) {
        at = start + 2;
        let rest = text.get(at..).unwrap_or_default();
        let opening = rest.strip_prefix('-').unwrap_or(rest);
        let Some((word, below)) = opening.split_once('\n') else { continue };
        let word = word.trim_end_matches('\r');
        let is_word = !word.is_empty() && word.chars().all(is_of_word);
        let Some(after) = below.trim_start_matches([' ', '\t']).strip_prefix(word).filter(|_| is_word) else {
            continue;
        };
        if !after.starts_with(is_of_word) {
            let end = text.len() - after.len();
            changed.to_mut().replace_range(start..end, &format!("{:width$}", "\"\"", width = end - start));
            at = end;
        }
    }
    changed
}

fn is_of_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_' || char == '-'
}

/// Whether Terraform or OpenTofu reads a file of this name as configuration.
pub fn is_configuration(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_hidden = name.starts_with('.') || name.ends_with('~') || name.starts_with('#');
    !is_hidden && stem(name).is_some()
}

/// The name of a configuration without its extension.
///
/// Source: hashicorp/terraform at v1.11 `internal/configs/parser_config_dir.go`, `fileExt`.
fn stem(name: &str) -> Option<&str> {
    [".tf", ".tofu", ".tf.json", ".tofu.json"].iter().find_map(|extension| name.strip_suffix(extension))
}

/// Whether a configuration is in JSON.
pub fn is_json(path: &str) -> bool {
    path.strip_suffix(".json").is_some() && is_configuration(path)
}

/// Whether the blocks of a configuration change the blocks of other files.
///
/// Source: "Override Files" in the documentation of the Terraform language.
fn is_override(path: &str) -> bool {
    let name = stem(path.rsplit('/').next().unwrap_or_default());
    name.is_some_and(|name| name == "override" || name.ends_with("_override"))
}

/// The expression of an attribute of a block.
pub(crate) fn attribute<'b>(block: &'b Block, name: &str) -> Option<&'b Expression> {
    Some(&block.body.get_attribute(name)?.value)
}

/// The place of the words and labels that start a block.
pub(crate) fn header(block: &Block, text: TextNumber) -> TextPlace {
    let start = block.ident.span().map_or(0, |span| span.start);
    let end = block.labels.last().and_then(hcl_edit::Span::span).or_else(|| block.ident.span());
    TextPlace::new(text, Span::new(start, end.map_or(start, |span| span.end)))
}
