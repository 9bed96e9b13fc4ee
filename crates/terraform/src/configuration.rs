//! Evaluated configurations: the blocks of all modules with the values of their attributes.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use hcl_edit::expr::Expression;
use manifest::source::{Source, Span};

use crate::contents::contents_of;
use crate::eval::{Evaluation, NameScope};
use crate::functions::whole_file;
use crate::input::{ConfigurationInput, FolderFiles};
use crate::instance::{BlockInstances, InstanceKey, instances};
use crate::module::{Module, local_folder, names_of_variables};
use crate::paths;
use crate::place::{TextPlace, Texts};
use crate::session::EvaluationSession;
use crate::syntax::{Declaration, Located, ModuleSyntax, SyntaxProblem, is_configuration};
use crate::value::EvaluatedValue;

/// Blocks that all modules together may have.
const MAX_BLOCKS: usize = 100_000;

/// Evaluated configuration of a root module and the local modules that it calls.
#[derive(Debug)]
pub struct EvaluatedConfiguration {
    /// The blocks in the order of modules, files and lines. Each instance of a block is one.
    pub blocks: Vec<EvaluatedBlock>,
    /// The resources without an instance, because `count` is 0 or `for_each` is empty.
    pub absent: Vec<AbsentResource>,
    /// The files that are not read.
    pub problems: Vec<SyntaxProblem>,
    /// The texts that places point into.
    pub texts: Texts,
}

/// Resource without an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsentResource {
    /// The type and the name.
    pub labels: Vec<String>,
    /// The word and the labels that start the block.
    pub place: TextPlace,
    /// The whole block.
    pub whole: TextPlace,
    /// The reason, a part of a sentence.
    pub reason: String,
}

/// Instance of a resource, a data source, a call of a module that is elsewhere, or another block of a module.
#[derive(Clone, Debug)]
pub struct EvaluatedBlock {
    /// The address as Terraform prints it, such as `module.eks.aws_iam_role.node["spot"]`.
    pub address: String,
    /// The start of the addresses in the module of the block, such as `module.eks.`; empty in the root module.
    pub module: String,
    /// The word that starts the block, such as `resource`.
    pub kind: String,
    /// The labels, such as the type and the name of a resource.
    pub labels: Vec<String>,
    /// The key of the instance.
    pub key: InstanceKey,
    /// The condition on which the instance exists, if only Terraform knows it: `count` or `for_each` of the block, or of a module around it.
    pub existence: Option<String>,
    /// The word and the labels that start the block.
    pub place: TextPlace,
    /// The contents.
    pub body: BlockBody,
}

/// Attributes and blocks of a block.
#[derive(Clone, Debug, Default)]
pub struct BlockBody {
    /// The attributes in the order of their lines.
    pub attributes: Vec<EvaluatedAttribute>,
    /// The blocks in the order of their lines. Each instance of a `dynamic` block is one.
    pub blocks: Vec<NestedBlock>,
}

/// Attribute of a block.
#[derive(Clone, Debug)]
pub struct EvaluatedAttribute {
    /// The name.
    pub name: String,
    /// The place of the name.
    pub key: TextPlace,
    /// The value.
    pub value: EvaluatedValue,
}

/// Block within a block.
#[derive(Clone, Debug)]
pub struct NestedBlock {
    /// The word that starts the block.
    pub kind: String,
    /// The labels.
    pub labels: Vec<String>,
    /// The word and the labels that start the block.
    pub place: TextPlace,
    /// Whether the number of such blocks is known. If not, this one represents all of a `dynamic` block.
    pub is_counted: bool,
    /// The contents.
    pub body: BlockBody,
}

impl BlockBody {
    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<&EvaluatedValue> {
        Some(&self.attributes.iter().find(|attribute| attribute.name == name)?.value)
    }
}

/// The variables that a command sets.
#[derive(Clone, Copy, Debug, Default)]
pub struct CommandVariables<'v> {
    /// The paths of the files of variables that the command names, as in `terraform plan -var-file`.
    pub files: &'v [String],
    /// The paths of files of variables that it may name too. What they set is not known.
    pub possible: &'v [String],
    /// The names of variables that it may set to other values than their defaults and the files that it names.
    pub open: &'v [String],
}

impl EvaluatedConfiguration {
    /// Evaluates the configuration in a folder of an input, a path from its root. `variable_files` are paths of further files of
    /// variables, as in `terraform plan -var-file`.
    pub fn evaluate(folder: &str, files: &dyn FolderFiles, variable_files: &[String]) -> Self {
        Self::evaluate_within(folder, &ConfigurationInput::new(files, 0), variable_files)
    }

    /// Evaluates one of several configurations.
    pub fn evaluate_within(folder: &str, input: &ConfigurationInput<'_>, variable_files: &[String]) -> Self {
        let command = CommandVariables { files: variable_files, ..CommandVariables::default() };
        Self::evaluate_for(folder, input, command)
    }

    /// Evaluates one of several configurations as a command does.
    pub fn evaluate_for(folder: &str, input: &ConfigurationInput<'_>, command: CommandVariables<'_>) -> Self {
        let session = EvaluationSession::new(folder, input, Texts::default());
        let mut collected = Collected::default();
        let root = Module::root(&session, command, &mut collected.problems);
        collected.add_module(&root);
        drop(root);
        let Collected { blocks, absent, problems } = collected;
        Self { blocks, absent, problems, texts: session.finish() }
    }
}

/// Template of a file with its variables.
#[derive(Clone, Debug)]
pub struct TemplateRequest {
    /// The path from the root of the input.
    pub path: String,
    /// The variables, a map or an object. `None` takes the text of the file as it is.
    pub variables: Option<EvaluatedValue>,
    /// The expression that the text is used in.
    pub used: TextPlace,
}

impl EvaluatedConfiguration {
    /// The texts that templates write, as strings of this configuration. `None` for a file that the input does not have, and for a file that
    /// is not a template.
    pub fn templates(
        &mut self,
        folder: &str,
        input: &ConfigurationInput<'_>,
        requests: &[TemplateRequest],
    ) -> Vec<Option<EvaluatedValue>> {
        let session = EvaluationSession::new(folder, input, core::mem::take(&mut self.texts));
        let text = |request: &TemplateRequest| {
            let Some(variables) = &request.variables else {
                let (number, source) = session.text(&request.path)?;
                return Some(EvaluatedValue::text(whole_file(number, source.text()), request.used));
            };
            let template = session.template(&request.path)?;
            let (parsed, layout) = template.parsed.as_ref().ok()?;
            let members = variables.members()?.as_map().iter();
            let names: Vec<(&str, EvaluatedValue)> =
                members.map(|(name, member)| (name.as_ref(), member.value.clone())).collect();
            let evaluation = Evaluation {
                session: &session,
                scope: &NameScope::within(&NameScope::ROOT, &names),
                references: None,
                folder,
                text: template.text,
                source: &template.source,
            };
            let whole = TextPlace::new(template.text, Span::whole(template.source.text()));
            Some(evaluation.template_file(parsed, layout, whole).at(request.used))
        };
        let texts = requests.iter().map(text).collect();
        self.texts = session.finish();
        texts
    }
}

/// The paths of the files of an input that match a path with `*` and `?`, relative to a folder.
pub fn matching_files(folder: &str, pattern: &str, input: &ConfigurationInput<'_>) -> Vec<String> {
    let Some(pattern) = paths::join(folder, pattern) else { return Vec::new() };
    let pattern: Vec<&str> = pattern.split('/').collect();
    let mut found = input.files.paths();
    found.retain(|path| paths::matches(&pattern, &path.split('/').collect::<Vec<_>>()));
    found.sort();
    found
}

/// The folders with configurations that no other folder of the input calls as a module.
pub fn root_folders(input: &ConfigurationInput<'_>) -> Vec<String> {
    // The source of a local module starts with its quote.
    let calls_local = |text: &str| text.contains("\"./") || text.contains("\"../");
    let mut folders: BTreeMap<String, bool> = BTreeMap::new();
    for path in input.files.paths().iter().filter(|path| is_configuration(path)) {
        let calls = input.text(path).is_some_and(|(_, source)| calls_local(source.text()));
        *folders.entry(paths::folder(path).to_owned()).or_default() |= calls;
    }
    let mut called = BTreeSet::new();
    for (folder, _) in folders.iter().filter(|(_, calls)| **calls) {
        let syntax = input.module(folder);
        called.extend(syntax.modules.values().filter_map(|call| local_folder(folder, call)));
    }
    folders.into_keys().filter(|folder| !called.contains(folder)).collect()
}

/// The names of the variables that the module in a folder declares.
pub fn declared_variables(input: &ConfigurationInput<'_>, folder: &str) -> BTreeSet<String> {
    input.module(folder).variables.keys().cloned().collect()
}

/// The names of the variables that a file of variables sets, in HCL or in JSON. A file with mistakes sets none.
pub fn variables_in(input: &ConfigurationInput<'_>, path: &str) -> BTreeSet<String> {
    names_of_variables(input, path)
}

/// The texts of a module, and of the local modules that it calls, also through others.
pub fn texts_of_modules(input: &ConfigurationInput<'_>, folder: &str) -> Vec<Arc<Source>> {
    let mut texts = Vec::new();
    for folder in local_modules(folder.to_owned(), |folder| input.module(folder)) {
        texts.extend(input.module(&folder).files.iter().map(|(_, source)| Arc::clone(source)));
    }
    texts
}

/// A folder, and the folders of the local modules that its module calls, also through others.
fn local_modules(folder: String, module: impl Fn(&str) -> Rc<ModuleSyntax>) -> Vec<String> {
    let (mut folders, mut known) = (vec![folder.clone()], BTreeSet::from([folder]));
    let mut next = 0;
    while let Some(folder) = folders.get(next).cloned() {
        next += 1;
        for called in module(&folder).modules.values().filter_map(|call| local_folder(&folder, call)) {
            if known.insert(called.clone()) {
                folders.push(called);
            }
        }
    }
    folders
}

/// The values of expressions in the root module of a folder, as `terraform console` evaluates them. A text that is no expression has the
/// message of the parser.
pub fn evaluate_expressions(
    folder: &str,
    files: &dyn FolderFiles,
    texts: &[&str],
) -> Vec<Result<EvaluatedValue, String>> {
    let input = ConfigurationInput::new(files, 0);
    let session = EvaluationSession::new(folder, &input, Texts::default());
    let root = Module::root(&session, CommandVariables::default(), &mut Vec::new());
    let value = |text: &&str| {
        let expression: Expression =
            text.parse().map_err(|error: hcl_edit::parser::Error| error.message().to_owned())?;
        let source = Arc::new(Source::new("console", *text));
        let located = Located { text: session.add_text(&source), source, node: expression };
        session.renew();
        Ok(root.value_of(&located))
    };
    texts.iter().map(value).collect()
}

/// The blocks of the modules of a configuration.
#[derive(Default)]
struct Collected {
    blocks: Vec<EvaluatedBlock>,
    absent: Vec<AbsentResource>,
    problems: Vec<SyntaxProblem>,
}

impl Collected {
    fn add_module(&mut self, module: &Rc<Module<'_>>) {
        for problem in &module.syntax.problems {
            if !self.problems.contains(problem) {
                self.problems.push(problem.clone());
            }
        }
        for block in &module.syntax.blocks {
            self.add_block(module, block);
        }
        for (name, call) in &module.syntax.modules {
            match module.called(name) {
                Some(children) => {
                    for (_, child) in children.iter() {
                        self.add_module(child);
                    }
                    if children.is_empty()
                        && let Some((folder, _)) = module.local_module(call)
                    {
                        let reason = emptiness(call, &format!(" of `module.{name}`"));
                        self.add_absent_module(module.session, folder, &reason);
                    }
                }
                None => self.add_block(module, call),
            }
        }
    }

    /// Adds the resources of a module without an instance, and of the local modules that it calls.
    fn add_absent_module(&mut self, session: &EvaluationSession<'_>, folder: String, reason: &str) {
        for folder in local_modules(folder, |folder| session.module(folder)) {
            let syntax = session.module(&folder);
            syntax.blocks.iter().for_each(|block| self.add_absent(session, block, reason));
        }
    }

    fn add_absent(&mut self, session: &EvaluationSession<'_>, block: &Declaration, reason: &str) {
        if block.kind != "resource" || self.absent.len() >= MAX_BLOCKS || !session.spend(1) {
            return;
        }
        self.absent.push(AbsentResource {
            labels: block.labels.clone(),
            place: block.header,
            whole: block.whole,
            reason: reason.to_owned(),
        });
    }

    fn add_block(&mut self, module: &Rc<Module<'_>>, block: &Declaration) {
        let BlockInstances { instances, repetition } = instances(module, block);
        if instances.is_empty() {
            self.add_absent(module.session, block, &emptiness(block, ""));
        }
        for instance in instances {
            if self.blocks.len() >= MAX_BLOCKS || !module.session.spend(1) {
                self.add_unevaluated(block);
                return;
            }
            let own = match block.kind.as_str() {
                "resource" => block.labels.join("."),
                _ => [core::slice::from_ref(&block.kind), &block.labels].concat().join("."),
            };
            self.blocks.push(EvaluatedBlock {
                address: format!("{}{own}{}", module.prefix, instance.suffix()),
                module: module.prefix.clone(),
                kind: block.kind.clone(),
                labels: block.labels.clone(),
                place: block.header,
                body: contents_of(module, block, &instance, repetition.as_ref()),
                existence: module.existence_of(&instance).map(|decides| decides.to_string()),
                key: instance.key,
            });
        }
        if !module.session.spend(0) {
            self.add_unevaluated(block);
        }
    }

    /// Says that the steps do not suffice for a block. The first of a file is enough.
    fn add_unevaluated(&mut self, block: &Declaration) {
        let problem = SyntaxProblem::too_many_steps(block.header);
        let is_same = |known: &SyntaxProblem| {
            known.place.text == problem.place.text && known.message == problem.message
        };
        if !self.problems.iter().any(is_same) {
            self.problems.push(problem);
        }
    }
}

/// The reason for which a block has no instances.
fn emptiness(block: &Declaration, of: &str) -> String {
    let is_counted = block.attribute("count").is_some();
    if is_counted { format!("`count`{of} is 0") } else { format!("`for_each`{of} is empty") }
}
