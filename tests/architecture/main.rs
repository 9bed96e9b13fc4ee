//! Tests that no crate knows what docs/dev/architecture.md forbids. The compiler refuses circles between crates; the rest is here.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use karpwarden::REGISTRY;

/// The crates of the engine. A crate depends only on crates above it.
const CRATES: [&str; 20] = [
    "ids",
    "manifest",
    "values",
    "terraform",
    "kustomize",
    "karpenter",
    "userdata",
    "objects",
    "terraform-objects",
    "scheduling",
    "drift",
    "disruption",
    "cluster",
    "rule",
    "answers",
    "engine",
    "symptoms",
    "render",
    "language-server",
    "assistant",
];

/// Crates above others that these still must not know.
const INDEPENDENT: [(&str, &[&str]); 11] = [
    ("values", &["manifest"]),
    ("kustomize", &["values", "terraform"]),
    ("karpenter", &["kustomize"]),
    ("userdata", &["kustomize", "karpenter"]),
    ("drift", &["kustomize", "userdata"]),
    ("cluster", &["scheduling", "disruption"]),
    ("rule", &["kustomize", "scheduling", "disruption"]),
    ("engine", &["scheduling", "disruption", "kustomize"]),
    ("render", &["engine", "symptoms"]),
    ("language-server", &["engine", "symptoms", "render", "cluster"]),
    ("assistant", &["engine", "symptoms", "render", "cluster", "rule", "language-server"]),
];

/// Libraries of the command line, which a user of the engine does not get.
const OF_THE_COMMAND_LINE: [&str; 8] =
    ["clap", "indicatif", "ignore", "zip", "flate2", "jiff", "tokio", "rmcp"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names in the section `[dependencies]` of a manifest of Cargo.
fn dependencies(manifest: &str) -> Vec<String> {
    let lines = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let own = lines.take_while(|line| !line.starts_with('['));
    own.filter_map(|line| Some(line.split_once(" = ")?.0.to_owned())).collect()
}

/// The source files of a crate, without tests: each with its path and text.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && name != "tests" && name != "testing" {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && !matches!(name, "tests.rs" | "testing.rs")
            {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
                found.push((path, code.to_owned()));
            }
        }
    }
    assert!(!found.is_empty(), "{folder}");
    found
}

/// The string literals of a source text on one line each, without comments.
fn literals(code: &str) -> impl Iterator<Item = &str> {
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| line.split('"').skip(1).step_by(2))
}

/// The folders with the source files of every crate of the workspace, except the crates of tests.
fn source_folders() -> Vec<String> {
    let mut folders =
        ["src", "cli/src", "policies/karpenter/src", "playground/src"].map(str::to_owned).to_vec();
    for group in ["crates", "playground", "tools"] {
        for entry in fs::read_dir(root().join(group)).unwrap() {
            let path = entry.unwrap().path();
            if path.join("Cargo.toml").is_file() {
                folders.push(format!("{group}/{}/src", path.file_name().unwrap().to_str().unwrap()));
            }
        }
    }
    folders
}

/// The names of the types in a source text that other files can use, and of such ids that the macro `ids` declares.
fn public_types(code: &str) -> impl Iterator<Item = &str> {
    let declared = code.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix("pub")?;
        let rest = rest.strip_prefix('(').map_or(Some(rest), |rest| Some(rest.split_once(')')?.1))?;
        let (keyword, rest) = rest.trim_start().split_once(' ')?;
        let is_type = matches!(keyword, "struct" | "enum" | "trait" | "type" | "union");
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        is_type.then(|| rest.get(..end.unwrap_or(rest.len()))).flatten()
    });
    let lists = code.split("ids! {\n").skip(1).map(|rest| rest.split("\n}").next().unwrap_or_default());
    let ids = lists.flat_map(str::lines).map(str::trim).filter(|line| line.starts_with("pub"));
    declared.chain(ids.filter_map(|line| line.strip_suffix(';')?.split(' ').next_back()))
}

#[test]
fn finds_the_types_that_other_files_can_use() {
    let code = "pub struct A<'d> {\n    pub(crate) enum B {\npub(in super::super) type C = u8;\nstruct D;\npub fn e() {}\n\
                ids! {\n    /// Group.\n    pub F;\n    G;\n}\npub trait H: I {";
    assert_eq!(public_types(code).collect::<Vec<_>>(), ["A", "B", "C", "H", "F"]);
}

#[test]
fn no_two_public_types_share_a_name() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for folder in source_folders() {
        for (path, code) in sources(&folder) {
            let path = path.strip_prefix(root()).unwrap().display().to_string();
            for name in public_types(&code) {
                places.entry(name.to_owned()).or_default().push(path.clone());
            }
        }
    }
    assert!(places.contains_key("Report") && places.contains_key("NodePool"));
    places.retain(|_, places| places.len() > 1);
    assert!(places.is_empty(), "{places:#?}");
}

#[test]
fn a_crate_depends_only_on_crates_above_it() {
    for (index, name) in CRATES.into_iter().enumerate() {
        let own = dependencies(&text(format!("crates/{name}/Cargo.toml")));
        let of_engine = own.iter().filter(|one| CRATES.contains(&one.as_str()));
        for dependency in of_engine {
            assert!(CRATES[..index].contains(&dependency.as_str()), "{name} depends on {dependency}");
        }
        let forbidden = INDEPENDENT.iter().find(|(crate_name, _)| *crate_name == name);
        for unknown in forbidden.map_or(&[][..], |(_, unknown)| unknown) {
            assert!(!own.iter().any(|one| one == unknown), "{name} must not know {unknown}");
        }
    }
    let folders = fs::read_dir(root().join("crates")).unwrap();
    assert_eq!(folders.count(), CRATES.len(), "name every crate");
}

#[test]
fn a_user_of_the_library_gets_no_library_of_the_command_line() {
    let folders = CRATES.map(|name| format!("crates/{name}/Cargo.toml"));
    for manifest in folders.iter().map(String::as_str).chain(["Cargo.toml"]) {
        for dependency in dependencies(&text(manifest)) {
            assert!(!OF_THE_COMMAND_LINE.contains(&dependency.as_str()), "{manifest}: {dependency}");
        }
    }
}

#[test]
fn the_engine_reads_no_files_and_no_clock() {
    let folders = CRATES.map(|name| format!("crates/{name}/src"));
    for folder in folders.iter().map(String::as_str).chain(["src"]) {
        for (path, code) in sources(folder) {
            for forbidden in ["std::fs", "std::env", "std::net", "std::process", "SystemTime", "Instant::now"]
            {
                assert!(!code.contains(forbidden), "{}: {forbidden}", path.display());
            }
        }
    }
}

#[test]
fn the_reader_of_manifests_knows_no_field_of_kubernetes() {
    let fields = ["apiVersion", "kind", "metadata", "spec", "status", "namespace", "karpenter"];
    for (path, code) in sources("crates/manifest/src") {
        for literal in literals(&code) {
            assert!(!fields.contains(&literal), "{}: {literal}", path.display());
        }
    }
}

#[test]
fn only_the_vocabulary_of_symptoms_names_rules() {
    for name in CRATES {
        for (path, code) in sources(&format!("crates/{name}/src")) {
            // A symptom lists the rules that find its cause in a manifest.
            if path
                .components()
                .any(|part| part.as_os_str() == "vocabulary" || part.as_os_str() == "correlations")
            {
                continue;
            }
            for literal in literals(&code) {
                assert!(REGISTRY.find(literal).is_none(), "{}: names the rule {literal}", path.display());
            }
        }
    }
}

#[test]
fn only_the_view_of_the_terminal_names_flags() {
    let arguments = sources("cli/src").into_iter().map(|(_, code)| code).collect::<String>();
    let is_of_flag = |letter: &char| letter.is_ascii_lowercase() || *letter == '-';
    let named =
        arguments.split("--").skip(1).map(|rest| rest.chars().take_while(is_of_flag).collect::<String>());
    let mut flags: Vec<String> =
        named.filter(|flag| flag.len() > 2).map(|flag| format!("--{flag}")).collect();
    flags.sort();
    flags.dedup();
    assert!(flags.iter().any(|flag| flag == "--max-depth"), "{flags:?}");
    // Flags of other programs, which objects and user data have.
    flags.retain(|flag| {
        !matches!(
            flag.as_str(),
            "--cluster-name" | "--feature-gates" | "--help" | "--all" | "--prefix" | "--previous"
        )
    });
    let folders = CRATES.map(|name| format!("crates/{name}/src"));
    for folder in folders.iter().map(String::as_str).chain(["src/simulate", "src/disrupt"]) {
        for (path, code) in sources(folder) {
            let is_terminal = path.components().any(|part| part.as_os_str() == "human");
            for literal in literals(&code).filter(|_| !is_terminal) {
                let words = literal.split(|letter: char| letter.is_whitespace() || "`=,;".contains(letter));
                for word in words {
                    assert!(
                        !flags.iter().any(|flag| flag == word),
                        "{}: {word} in {literal:?}",
                        path.display()
                    );
                }
            }
        }
    }
}

#[test]
fn the_page_about_the_architecture_says_what_each_crate_must_not_know() {
    let page = text("docs/dev/architecture.md");
    for name in CRATES {
        let own = page
            .split("\n- **")
            .chain(page.split("\n  "))
            .find(|part| part.starts_with(&format!("{name}** ")));
        let is_within = page.contains(&format!("**{name}**"));
        assert!(is_within, "{name} has no paragraph");
        if let Some(own) = own.filter(|_| name != "scheduling") {
            assert!(
                own.contains("must not") || own.contains("must\n  not"),
                "{name}: say what it must not know"
            );
        }
    }
}
