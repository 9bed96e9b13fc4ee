//! Input of several configurations: its files, and the modules and templates in them.

use core::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use hcl_edit::template::Template;
use manifest::source::Source;

use crate::eval::TemplateLayout;
use crate::paths;
use crate::place::TextNumber;
use crate::session::MAX_STEPS;
use crate::syntax::ModuleSyntax;

/// Steps of all configurations of an input, for each byte of them.
const STEPS_PER_BYTE: usize = 16;
/// Bytes of the modules that are kept for further configurations. A syntax tree takes about thirty times the memory of its text.
const MAX_KEPT: usize = 2 << 20;

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

/// The files of several configurations, each parsed once, and the steps that the evaluations of all of them may take together.
pub struct ConfigurationInput<'f> {
    pub(crate) files: &'f dyn FolderFiles,
    /// The texts that were read, by path.
    texts: RefCell<BTreeMap<String, (TextNumber, Arc<Source>)>>,
    next: Cell<TextNumber>,
    /// The modules that are kept, by folder.
    modules: RefCell<BTreeMap<String, Rc<ModuleSyntax>>>,
    /// The bytes of these modules.
    kept: Cell<usize>,
    templates: RefCell<BTreeMap<String, Rc<ParsedTemplate>>>,
    left: Cell<usize>,
    names_show_contents: bool,
}

/// Template of a file.
pub(crate) struct ParsedTemplate {
    pub(crate) text: TextNumber,
    pub(crate) source: Arc<Source>,
    /// The template with its literals, or the message of the parser.
    pub(crate) parsed: Result<(Template, TemplateLayout), String>,
}

impl<'f> ConfigurationInput<'f> {
    /// The input of configurations with a number of bytes. The number of steps is linear in it.
    pub fn new(files: &'f dyn FolderFiles, bytes: usize) -> Self {
        Self {
            files,
            texts: RefCell::default(),
            next: Cell::default(),
            modules: RefCell::default(),
            kept: Cell::new(0),
            templates: RefCell::default(),
            left: Cell::new(bytes.saturating_mul(STEPS_PER_BYTE).saturating_add(MAX_STEPS)),
            names_show_contents: false,
        }
    }

    /// The same input for a comparison with another one: two placeholders have the same name only if their values are the same.
    #[must_use]
    pub fn with_contents_in_names(self) -> Self {
        Self { names_show_contents: true, ..self }
    }

    /// Whether two placeholders have the same name only if their values are the same.
    pub(crate) const fn names_show_contents(&self) -> bool {
        self.names_show_contents
    }

    /// The steps for one configuration.
    pub(crate) fn steps(&self) -> usize {
        self.left.get().min(MAX_STEPS)
    }

    /// Takes the steps of a configuration.
    pub(crate) fn spend(&self, steps: usize) {
        self.left.set(self.left.get().saturating_sub(steps));
    }

    /// The number of a new text.
    pub(crate) fn number(&self) -> TextNumber {
        self.next.replace(self.next.get().next())
    }

    /// The text of a file, with its number.
    pub(crate) fn text(&self, path: &str) -> Option<(TextNumber, Arc<Source>)> {
        if let Some((number, source)) = self.texts.borrow().get(path) {
            return Some((*number, Arc::clone(source)));
        }
        let source = self.files.read(path)?;
        let number = self.number();
        self.texts.borrow_mut().insert(path.to_owned(), (number, Arc::clone(&source)));
        Some((number, source))
    }

    /// The declarations of the module in a folder.
    pub(crate) fn module(&self, folder: &str) -> Rc<ModuleSyntax> {
        if let Some(module) = self.modules.borrow().get(folder) {
            return Rc::clone(module);
        }
        let module = Rc::new(ModuleSyntax::read(self, folder));
        let kept = self.kept.get().saturating_add(module.bytes());
        if kept <= MAX_KEPT {
            self.kept.set(kept);
            self.modules.borrow_mut().insert(folder.to_owned(), Rc::clone(&module));
        }
        module
    }

    /// Frees the module of a folder that no other module calls.
    pub(crate) fn forget(&self, folder: &str) {
        if let Some(module) = self.modules.borrow_mut().remove(folder) {
            self.kept.set(self.kept.get().saturating_sub(module.bytes()));
        }
    }

    /// The template of a file.
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
}
