//! The texts, the files and the budget that the evaluations of one configuration share.

use core::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use hcl_edit::template::Template;
use manifest::source::Source;

use crate::eval::TemplateLayout;
use crate::paths;
use crate::place::{TextNumber, TextPlace, Texts};
use crate::syntax::ModuleSyntax;
use crate::value::EvaluatedValue;

/// Steps that the evaluation of a configuration may take. A step is an expression, an element of a collection or a few bytes of text.
const MAX_STEPS: usize = 2_000_000;
/// Steps of all configurations of an input, for each byte of them.
const STEPS_PER_BYTE: usize = 16;
/// Expressions within expressions, through references and calls.
const MAX_DEPTH: usize = 200;
/// Bytes of text that cost as much as a step.
const BYTES_PER_STEP: usize = 8;
/// Parts of a value that cost as much as a step.
const VALUES_PER_STEP: usize = 32;
/// Bytes of one string.
pub(crate) const MAX_TEXT: usize = 16 << 20;

/// The files of a folder, as an input has them. No other file is read.
pub trait FolderFiles {
    /// The text of a file, by its path from the root of the input with `/` and without `.` and `..`. None if the input does not have it.
    fn read(&self, path: &str) -> Option<Arc<Source>>;

    /// The paths of all files.
    fn paths(&self) -> Vec<String>;

    /// The paths of the files of a folder, without those in folders below, sorted.
    fn paths_in(&self, folder: &str) -> Vec<String> {
        let mut paths = self.paths();
        paths.retain(|path| paths::folder(path) == folder);
        paths.sort();
        paths
    }
}

/// Steps that the evaluation of several configurations may take together.
#[derive(Debug)]
pub struct EvaluationBudget {
    left: usize,
}

impl EvaluationBudget {
    /// The steps for configurations with a number of bytes, so that the cost is linear in their size.
    pub fn of_bytes(bytes: usize) -> Self {
        Self { left: bytes.saturating_mul(STEPS_PER_BYTE).saturating_add(MAX_STEPS) }
    }

    /// The steps for one configuration.
    fn of_one(&self) -> usize {
        self.left.min(MAX_STEPS)
    }
}

/// State of the evaluation of one configuration.
pub(crate) struct EvaluationSession<'f> {
    /// Folder of the root module, a path from the root of the input.
    pub(crate) root: &'f str,
    pub(crate) files: &'f dyn FolderFiles,
    texts: RefCell<Texts>,
    numbers: RefCell<BTreeMap<String, TextNumber>>,
    templates: RefCell<BTreeMap<String, Rc<ParsedTemplate>>>,
    modules: RefCell<BTreeMap<String, Rc<ModuleSyntax>>>,
    /// The steps of the configuration.
    steps: usize,
    left: Cell<usize>,
    is_limited: Cell<bool>,
    depth: Cell<usize>,
}

/// Template of a file.
pub(crate) struct ParsedTemplate {
    pub(crate) text: TextNumber,
    pub(crate) source: Arc<Source>,
    /// The template with its literals, or the message of the parser.
    pub(crate) parsed: Result<(Template, TemplateLayout), String>,
}

impl<'f> EvaluationSession<'f> {
    /// A session that adds to the texts of an earlier one, with a part of a budget.
    pub(crate) fn new(
        root: &'f str,
        files: &'f dyn FolderFiles,
        texts: Texts,
        budget: &EvaluationBudget,
    ) -> Self {
        Self {
            root,
            files,
            texts: RefCell::new(texts),
            numbers: RefCell::default(),
            templates: RefCell::default(),
            modules: RefCell::default(),
            steps: budget.of_one(),
            left: Cell::new(budget.of_one()),
            is_limited: Cell::new(false),
            depth: Cell::new(0),
        }
    }

    /// Takes steps; false if the budget does not have them.
    pub(crate) fn spend(&self, steps: usize) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(steps));
        self.is_limited.set(self.is_limited.get() || left <= steps);
        left > steps
    }

    /// Takes the steps of looking at all parts of some values.
    pub(crate) fn spend_values<'v>(&self, values: impl IntoIterator<Item = &'v EvaluatedValue>) -> bool {
        let size = values.into_iter().map(EvaluatedValue::size).fold(0, usize::saturating_add);
        self.spend(size / VALUES_PER_STEP)
    }

    /// Starts anew with all steps.
    pub(crate) fn renew(&self) {
        self.left.set(self.steps);
        self.is_limited.set(false);
    }

    /// Whether a bound was exceeded, so that a failure says nothing about what Terraform does.
    pub(crate) fn is_limited(&self) -> bool {
        self.is_limited.get()
    }

    /// Takes the steps of a text; false if the text is too long or the budget does not have them.
    pub(crate) fn spend_text(&self, bytes: usize) -> bool {
        self.is_limited.set(self.is_limited.get() || bytes > MAX_TEXT);
        bytes <= MAX_TEXT && self.spend(bytes / BYTES_PER_STEP)
    }

    /// Runs a function one level deeper; none if that is too deep.
    pub(crate) fn deeper<T>(&self, run: impl FnOnce() -> T) -> Option<T> {
        let depth = self.depth.get();
        if depth >= MAX_DEPTH {
            self.is_limited.set(true);
            return None;
        }
        self.depth.set(depth + 1);
        let result = run();
        self.depth.set(depth);
        Some(result)
    }

    /// The text of a file of the input, with its number.
    pub(crate) fn text(&self, path: &str) -> Option<(TextNumber, Arc<Source>)> {
        let known = self.numbers.borrow().get(path).copied();
        if let Some(number) = known {
            return Some((number, Arc::clone(self.texts.borrow().get(number)?)));
        }
        let source = self.files.read(path)?;
        let number = self.texts.borrow_mut().push(Arc::clone(&source));
        self.numbers.borrow_mut().insert(path.to_owned(), number);
        Some((number, source))
    }

    /// Adds a text that no file has.
    pub(crate) fn add_text(&self, source: Arc<Source>) -> TextNumber {
        self.texts.borrow_mut().push(source)
    }

    /// The template of a file, parsed once.
    pub(crate) fn template(&self, path: &str) -> Option<Rc<ParsedTemplate>> {
        if let Some(template) = self.templates.borrow().get(path) {
            return Some(Rc::clone(template));
        }
        let (text, source) = self.text(path)?;
        let parsed = source.text().parse::<Template>().map_err(|error| error.to_string());
        let parsed = parsed.map(|template| {
            let layout = TemplateLayout::of_template(&template, &source, text);
            (template, layout)
        });
        let template = Rc::new(ParsedTemplate { text, source, parsed });
        self.templates.borrow_mut().insert(path.to_owned(), Rc::clone(&template));
        Some(template)
    }

    /// The declarations of the module in a folder, read once.
    pub(crate) fn module(&self, folder: &str) -> Rc<ModuleSyntax> {
        if let Some(module) = self.modules.borrow().get(folder) {
            return Rc::clone(module);
        }
        let module = Rc::new(ModuleSyntax::read(self, folder));
        self.modules.borrow_mut().insert(folder.to_owned(), Rc::clone(&module));
        module
    }

    /// The bytes at a place.
    pub(crate) fn slice(&self, place: TextPlace) -> String {
        self.texts.borrow().slice(place).to_owned()
    }

    /// Ends the session, takes its steps from the budget, and returns its texts.
    pub(crate) fn finish(self, budget: &mut EvaluationBudget) -> Texts {
        budget.left = budget.left.saturating_sub(self.steps - self.left.get());
        self.texts.into_inner()
    }
}
