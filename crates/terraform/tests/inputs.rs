//! Inputs with several configurations.

use core::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use karpwarden_terraform::{ConfigurationInput, EvaluatedConfiguration, FolderFiles, root_folders};
use manifest::source::Source;

/// Files, and how often each was read.
struct CountedFiles {
    sources: BTreeMap<&'static str, Arc<Source>>,
    reads: RefCell<BTreeMap<String, usize>>,
}

impl CountedFiles {
    fn new<const N: usize>(files: [(&'static str, &str); N]) -> Self {
        let sources = files.map(|(path, text)| (path, Arc::new(Source::new(path, text)))).into();
        Self { sources, reads: RefCell::default() }
    }
}

impl FolderFiles for CountedFiles {
    fn read(&self, path: &str) -> Option<Arc<Source>> {
        *self.reads.borrow_mut().entry(path.to_owned()).or_default() += 1;
        self.sources.get(path).cloned()
    }

    fn paths(&self) -> Vec<String> {
        self.sources.keys().map(|path| (*path).to_owned()).collect()
    }
}

#[test]
fn roots_are_folders_that_no_module_calls() {
    let files = CountedFiles::new([
        ("prod/main.tf", r#"module "a" { source = "../modules/a" }"#),
        ("modules/a/main.tf", ""),
        ("modules/unused/main.tf", ""),
        ("README.md", ""),
    ]);
    assert_eq!(root_folders(&ConfigurationInput::new(&files, 0)), ["modules/unused", "prod"]);
}

#[test]
fn configurations_share_the_files_of_an_input_and_keep_their_places() {
    let call = |name: &str| format!("module \"m\" {{\n  source = \"../m\"\n  name   = \"{name}\"\n}}\n");
    let files = CountedFiles::new([
        (
            "m/main.tf",
            r#"
variable "name" {}
resource "a" "b" { v = "${var.name}-${templatefile("${path.module}/t.tftpl", {})}" }
"#,
        ),
        ("m/t.tftpl", "x"),
        ("one/main.tf", &call("one")),
        ("two/main.tf", &call("two")),
    ]);
    let input = ConfigurationInput::new(&files, 1_000);
    let roots = root_folders(&input);
    assert_eq!(roots, ["one", "two"]);
    for root in roots {
        let configuration = EvaluatedConfiguration::evaluate_within(&root, &input, &[]);
        let [block] = configuration.blocks.as_slice() else { panic!("{:?}", configuration.blocks) };
        assert_eq!(block.address, "module.m.a.b");
        let value = block.body.get("v").unwrap();
        assert_eq!(value.as_str(), Some(format!("{root}-x").as_str()));
        assert_eq!(configuration.texts.get(value.place.text).unwrap().name(), "m/main.tf");
        assert!(configuration.texts.slice(value.place).starts_with("\"${var.name}-"));
    }
    assert!(files.reads.borrow().values().all(|times| *times == 1), "{:?}", files.reads);
}
