//! The parts of a text that several rules read.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use manifest::limits::Limits;
use manifest::source::Span;
use manifest::work::WorkBudget;

use crate::mime::Archive;
use crate::node_config::Yaml;
use crate::registration::Registration;
use crate::shell::Script;

/// Parts of the user data of one object. Each is parsed once, when it is first asked for, and all that are YAML share a budget.
#[derive(Debug)]
pub struct ParsedParts {
    values: usize,
    budget: OnceCell<WorkBudget>,
    archive: OnceCell<Archive>,
    yaml: RefCell<BTreeMap<Span, Rc<Yaml>>>,
    registration: OnceCell<Registration>,
    shell: RefCell<BTreeMap<Span, Rc<Script>>>,
    scripts: OnceCell<Vec<Rc<Script>>>,
}

impl Default for ParsedParts {
    fn default() -> Self {
        Self::sharing(Limits::DEFAULT.nodes)
    }
}

impl ParsedParts {
    /// The parts of user data whose aliases may make this number of values altogether. The text must be the same in every call.
    pub fn sharing(values: usize) -> Self {
        Self {
            values,
            budget: OnceCell::new(),
            archive: OnceCell::new(),
            yaml: RefCell::default(),
            registration: OnceCell::new(),
            shell: RefCell::default(),
            scripts: OnceCell::new(),
        }
    }

    /// The text as a MIME archive.
    pub fn archive(&self, text: &str) -> &Archive {
        self.archive.get_or_init(|| Archive::parse(text))
    }

    /// A part of the text as YAML.
    pub fn yaml(&self, text: &str, part: Span) -> Rc<Yaml> {
        let parsed = self.yaml.borrow().get(&part).cloned();
        parsed.unwrap_or_else(|| {
            let yaml = Rc::new(Yaml::parse(part.text(text), self.budget(text)));
            self.yaml.borrow_mut().insert(part, Rc::clone(&yaml));
            yaml
        })
    }

    /// The way in which the user data joins the cluster, and the taints that it registers.
    pub fn registration(&self, text: &str) -> &Registration {
        self.registration.get_or_init(|| Registration::of_parts(text, self))
    }

    /// A part of the text as a script of a shell.
    pub fn script(&self, text: &str, part: Span) -> Rc<Script> {
        let mut parsed = self.shell.borrow_mut();
        Rc::clone(parsed.entry(part).or_insert_with(|| Rc::new(Script::parse(text, part))))
    }

    /// The scripts in the user data, which the first caller finds.
    pub fn scripts(&self, find: impl FnOnce() -> Vec<Rc<Script>>) -> &[Rc<Script>] {
        self.scripts.get_or_init(find)
    }

    /// The work that the parts of the text have taken so far.
    pub fn work(&self) -> usize {
        self.budget.get().map_or(0, WorkBudget::spent)
    }

    fn budget(&self, text: &str) -> &WorkBudget {
        self.budget.get_or_init(|| WorkBudget::new(self.values, text.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that aliases may make in these tests.
    const VALUES: usize = 100_000;

    /// A NodeConfig whose aliases make some 11,000 values.
    fn config() -> String {
        let level = |name: &str, item: &str| format!("  {name}: &{name} [{}]\n", [item; 10].join(","));
        let levels = [("a", "x"), ("b", "*a"), ("c", "*b"), ("d", "*c")];
        let levels: String = levels.map(|(name, item)| level(name, item)).concat();
        format!("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n{levels}")
    }

    fn archive(media_type: &str, bodies: &[String]) -> String {
        let part = |body: &String| format!("--b\nContent-Type: {media_type}\n\n{body}\n");
        let parts: String = bodies.iter().map(part).collect();
        format!("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n{parts}--b--\n")
    }

    /// Reads all that the rules read, and returns the work and the number of parts that were not read.
    fn read(text: &str) -> (usize, usize) {
        let parts = ParsedParts::sharing(VALUES);
        let spans = parts.registration(text).node_configs.clone();
        let unread = spans.iter().filter(|span| parts.yaml(text, **span).problem().is_some()).count();
        (parts.work(), unread)
    }

    #[test]
    fn all_parts_share_one_budget() {
        let limit = |text: &str| WorkBudget::new(VALUES, text.len()).limit();
        let heredocs = |config: String| format!("cat > /etc/a <<EOF\n{config}EOF\n").repeat(36);
        let of_strings = format!(
            "kind: NodeConfig\napiVersion: node.eks.aws/v1alpha1\nspec:\n a: &a {}\n b: [{}]\n",
            "t".repeat(900),
            ["*a"; 300].join(",")
        );
        let deep = format!("kind: NodeConfig\nspec: {}{}\n", "[".repeat(100), "]".repeat(100));
        for (text, unread) in [
            (archive("application/node.eks.aws", &vec![config(); 36]), true),
            (archive("application/node.eks.aws", &[[config().as_str(); 36].join("---\n")]), true),
            (archive("application/node.eks.aws", &[[config().as_str(); 36].join("...\n")]), true),
            (archive("text/x-shellscript", &[format!("#!/bin/sh\n{}", heredocs(config()))]), true),
            (format!("#!/bin/sh\n{}", heredocs(config())), true),
            (archive("application/node.eks.aws", &vec![of_strings; 30]), true),
            (archive("application/node.eks.aws", &vec![deep; 200]), false),
            (archive("application/node.eks.aws", &vec!["kind: NodeConfig\n".to_owned(); 900]), false),
        ] {
            let (work, parts) = read(&text);
            assert!(
                work <= limit(&text),
                "{work} of {}: {}",
                limit(&text),
                text.get(..200).unwrap_or_default()
            );
            assert_eq!(parts > 0, unread, "{}", text.get(..200).unwrap_or_default());
            assert!(unread || work > 0, "{work}");
        }
    }

    #[test]
    fn a_part_is_parsed_once() {
        // A longer text may have more values.
        let long = format!("# {}\n{}", "x".repeat(100), config());
        let text = archive("application/node.eks.aws", &[long]);
        let parts = ParsedParts::sharing(VALUES);
        let spans = parts.registration(&text).node_configs.clone();
        let work = parts.work();
        assert!(work > 11_000 && work < 14_000, "{work}");
        for _ in 0..10 {
            for span in &spans {
                let problem = parts.yaml(&text, *span).problem();
                assert!(problem.is_none(), "{problem:?}");
            }
        }
        assert_eq!(parts.work(), work);
    }
}
