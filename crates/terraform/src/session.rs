//! The texts, the modules and the steps of the evaluation of one configuration.

use core::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use manifest::source::Source;

use crate::eval::TemplateLayout;
use crate::input::{ConfigurationInput, ParsedTemplate};
use crate::place::{TextNumber, TextPlace, Texts};
use crate::syntax::ModuleSyntax;
use crate::value::EvaluatedValue;

/// Steps that the evaluation of a configuration may take. A step is an expression, an element of a collection or a few bytes of text.
pub(crate) const MAX_STEPS: usize = 2_000_000;
/// Expressions within expressions, through references and calls.
const MAX_DEPTH: usize = 200;
/// Bytes of text that cost as much as a step.
const BYTES_PER_STEP: usize = 8;
/// Parts of a value that cost as much as a step.
const VALUES_PER_STEP: usize = 32;
/// Bytes of one string.
pub(crate) const MAX_TEXT: usize = 16 << 20;

/// State of the evaluation of one configuration.
pub(crate) struct EvaluationSession<'f> {
    /// Folder of the root module, a path from the root of the input.
    pub(crate) root: &'f str,
    pub(crate) input: &'f ConfigurationInput<'f>,
    texts: RefCell<Texts>,
    modules: RefCell<BTreeMap<String, Rc<ModuleSyntax>>>,
    /// The literals of here-documents, which each instance of a block evaluates.
    layouts: RefCell<BTreeMap<TextPlace, Rc<TemplateLayout>>>,
    /// The steps of the configuration.
    steps: usize,
    left: Cell<usize>,
    is_limited: Cell<bool>,
    depth: Cell<usize>,
}

impl<'f> EvaluationSession<'f> {
    /// A session that adds to the texts of an earlier one, with a part of the steps of the input.
    pub(crate) fn new(root: &'f str, input: &'f ConfigurationInput<'f>, texts: Texts) -> Self {
        Self {
            root,
            input,
            texts: RefCell::new(texts),
            modules: RefCell::default(),
            layouts: RefCell::default(),
            steps: input.steps(),
            left: Cell::new(input.steps()),
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
        let (number, source) = self.input.text(path)?;
        self.texts.borrow_mut().insert(number, &source);
        Some((number, source))
    }

    /// Adds a text that no file has.
    pub(crate) fn add_text(&self, source: &Arc<Source>) -> TextNumber {
        let number = self.input.number();
        self.texts.borrow_mut().insert(number, source);
        number
    }

    /// The template of a file.
    pub(crate) fn template(&self, path: &str) -> Option<Rc<ParsedTemplate>> {
        let template = self.input.template(path)?;
        self.texts.borrow_mut().insert(template.text, &template.source);
        Some(template)
    }

    /// The literals of the here-document at a place.
    pub(crate) fn layout(
        &self,
        place: TextPlace,
        read: impl FnOnce() -> TemplateLayout,
    ) -> Rc<TemplateLayout> {
        Rc::clone(self.layouts.borrow_mut().entry(place).or_insert_with(|| Rc::new(read())))
    }

    /// The declarations of the module in a folder. They are empty if the steps do not suffice for its files.
    pub(crate) fn module(&self, folder: &str) -> Rc<ModuleSyntax> {
        if let Some(module) = self.modules.borrow().get(folder) {
            return Rc::clone(module);
        }
        let mut module = self.input.module(folder);
        for (number, source) in &module.files {
            self.texts.borrow_mut().insert(*number, source);
        }
        if !module.files.iter().all(|(_, source)| self.spend_text(source.text().len())) {
            module = Rc::new(module.refused());
        }
        self.modules.borrow_mut().insert(folder.to_owned(), Rc::clone(&module));
        module
    }

    /// The bytes at a place.
    pub(crate) fn slice(&self, place: TextPlace) -> String {
        self.texts.borrow().slice(place).to_owned()
    }

    /// Ends the session, subtracts its steps from the input's, and returns its texts.
    pub(crate) fn finish(self) -> Texts {
        self.input.spend(self.steps - self.left.get());
        self.input.forget(self.root);
        self.texts.into_inner()
    }
}
