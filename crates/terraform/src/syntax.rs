//! The files of a module: variables, locals, outputs, calls of modules, resources.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hcl_edit::Span as _;
use hcl_edit::expr::Expression;
use hcl_edit::structure::{Block, Body, Structure};
use manifest::source::{Source, Span};

use crate::place::{TextNumber, TextPlace};
use crate::session::EvaluationSession;

/// The declarations of a module.
#[derive(Debug, Default)]
pub(crate) struct ModuleSyntax {
    pub(crate) variables: BTreeMap<String, Located<Block>>,
    pub(crate) locals: BTreeMap<String, Located<Expression>>,
    pub(crate) outputs: BTreeMap<String, Located<Expression>>,
    /// The outputs that Terraform does not show.
    pub(crate) sensitive_outputs: BTreeSet<String>,
    pub(crate) modules: BTreeMap<String, Located<Block>>,
    /// Resources, data sources and other blocks with labels, in the order of files and lines.
    pub(crate) blocks: Vec<Located<Block>>,
    pub(crate) problems: Vec<SyntaxProblem>,
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

impl ModuleSyntax {
    /// Parses the files of a folder that Terraform reads there, without those in folders below.
    pub(crate) fn read(session: &EvaluationSession<'_>, folder: &str) -> Self {
        let mut module = Self::default();
        let mut paths = session.files.paths_in(folder);
        paths.retain(|path| is_configuration(path));
        // OpenTofu reads its own file instead of the one of Terraform.
        let tofu: Vec<String> = paths
            .iter()
            .filter_map(|path| path.strip_suffix(".tofu"))
            .map(|name| format!("{name}.tf"))
            .collect();
        for path in paths.iter().filter(|path| !tofu.contains(path)) {
            let Some((text, source)) = session.text(path) else { continue };
            if !session.spend_text(source.text().len()) {
                let place = TextPlace::new(text, Span::default());
                let message = "The configurations of the input take too many steps to evaluate".to_owned();
                module.problems.push(SyntaxProblem { place, message });
                continue;
            }
            match parse(&source, text) {
                Ok(body) => module.add(body, text, &source),
                Err(problem) => module.problems.push(problem),
            }
        }
        module
    }

    /// Whether the folder declares nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.variables.is_empty()
            && self.locals.is_empty()
            && self.outputs.is_empty()
            && self.modules.is_empty()
            && self.blocks.is_empty()
    }

    fn add(&mut self, body: Body, text: TextNumber, source: &Arc<Source>) {
        for structure in body {
            let Structure::Block(mut block) = structure else { continue };
            let label = block.labels.first().map(|label| label.as_str().to_owned());
            let kind = block.ident.as_str().to_owned();
            match (kind.as_str(), label) {
                ("locals", _) => {
                    for structure in core::mem::take(&mut block.body) {
                        if let Structure::Attribute(attribute) = structure {
                            let name = attribute.key.as_str().to_owned();
                            let node = attribute.value;
                            self.locals.insert(name, Located { text, source: Arc::clone(source), node });
                        }
                    }
                }
                ("output", Some(name)) => {
                    if is_hidden(&block) {
                        self.sensitive_outputs.insert(name.clone());
                    }
                    let value =
                        core::mem::take(&mut block.body).into_iter().find_map(|structure| match structure {
                            Structure::Attribute(attribute) if attribute.key.as_str() == "value" => {
                                Some(attribute.value)
                            }
                            _ => None,
                        });
                    if let Some(node) = value {
                        self.outputs.insert(name, Located { text, source: Arc::clone(source), node });
                    }
                }
                ("variable", Some(name)) => {
                    self.variables.insert(name, Located { text, source: Arc::clone(source), node: block });
                }
                ("module", Some(name)) => {
                    self.modules.insert(name, Located { text, source: Arc::clone(source), node: block });
                }
                _ => self.blocks.push(Located { text, source: Arc::clone(source), node: block }),
            }
        }
    }
}

/// Parses a file of HCL.
pub(crate) fn parse(source: &Arc<Source>, text: TextNumber) -> Result<Body, SyntaxProblem> {
    without_empty_heredocs(source.text()).parse::<Body>().map_err(|error| {
        let location = error.location();
        let at = source.byte_of(location.line(), location.column());
        let message = format!("The file is not valid HCL: {}", error.message());
        SyntaxProblem { place: TextPlace::new(text, Span::new(at, at)), message }
    })
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
    !is_hidden && name.rsplit_once('.').is_some_and(|(_, extension)| matches!(extension, "tf" | "tofu"))
}

/// Whether Terraform does not show the value of a variable or an output.
///
/// Source: website/docs/language/manage-sensitive-data of hashicorp/terraform at v1.11.
pub(crate) fn is_hidden(block: &Block) -> bool {
    ["sensitive", "ephemeral"]
        .iter()
        .any(|name| attribute(block, name).is_some_and(|value| value.as_bool() == Some(true)))
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
