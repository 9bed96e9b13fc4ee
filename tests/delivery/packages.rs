//! The files in `packaging/` and what they share with a release: version, addresses, names of archives, checksums.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use karpwarden_generate::{home, yaml};
use serde_json::Value;

fn parsed(path: &str) -> Value {
    yaml::documents(&home::text(path).unwrap()).unwrap().remove(0)
}

/// Paths below a folder of the repository.
fn files_in(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(home::path(folder)).unwrap();
    let paths = entries.map(|entry| {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() { files_in(&path) } else { vec![path] }
    });
    paths.flatten().collect()
}

/// The targets that a release has archives for.
fn targets() -> Vec<String> {
    let release = parsed(".github/workflows/release.yml");
    let matrix =
        release.pointer("/jobs/binaries/strategy/matrix/include").unwrap().as_array().unwrap().clone();
    matrix.iter().map(|build| build["target"].as_str().unwrap().to_owned()).collect()
}

/// The archives of the command line in a release.
fn archives() -> BTreeSet<String> {
    let text = home::text(".github/workflows/release.yml").unwrap();
    assert!(
        text.contains(r#"name="karpwarden-$TARGET""#)
            && text.contains(r#"tar -C dist -czf "dist/$name.tar.gz" "$name""#)
    );
    assert!(
        text.contains(r#"if test "$RUNNER_OS" = Windows; then (cd dist && 7z a "$name.zip" "$name"); fi"#)
    );
    let archive = |target: &String| {
        let zip = target.contains("windows").then(|| format!("karpwarden-{target}.zip"));
        [format!("karpwarden-{target}.tar.gz")].into_iter().chain(zip)
    };
    targets().iter().flat_map(archive).collect()
}

/// `owner/name` of the repository.
fn repository_name() -> &'static str {
    home::REPOSITORY.strip_prefix("https://github.com/").unwrap()
}

/// The name of an archive in a line.
fn archive_in(line: &str) -> Option<&str> {
    let name = line.split('/').find(|part| part.starts_with("karpwarden-"))?;
    name.split(['"', ' ']).next()
}

/// The archive without its extension, which is the folder in it.
fn folder(archive: &str) -> &str {
    archive.strip_suffix(".tar.gz").or_else(|| archive.strip_suffix(".zip")).unwrap()
}

#[test]
fn packages_name_archives_of_the_current_release() {
    let archives = archives();
    let download = format!("{}/releases/download/v{}/", home::REPOSITORY, home::VERSION);
    let mut named = 0;
    for path in files_in("packaging") {
        let text = home::text(&path).unwrap();
        for rest in text.split("https://github.com/").skip(1) {
            assert!(rest.starts_with(repository_name()), "{path}: {rest}");
        }
        for line in text.lines().filter(|line| line.contains("/releases/download/")) {
            // Scoop and GitLab fill in the version.
            if line.contains("v$version") || line.contains("$[[") {
                continue;
            }
            assert!(line.contains(&download), "{path}: {line}");
            assert!(archives.contains(archive_in(line).unwrap()), "{path}: {line}");
            named += 1;
        }
    }
    assert_eq!(named, 4 + 1 + 1 + 5, "Homebrew, Scoop, winget and krew");
}

#[test]
fn addresses_outside_the_repository_are_of_the_metadata() {
    assert_eq!(
        parsed("packaging/schemastore/catalog-entry.json")["url"],
        format!("{}/schemas/settings.schema.json", home::HOMEPAGE)
    );
    let image = home::text("Containerfile").unwrap();
    assert!(image.contains(&format!("{}/karpwarden:v{}", home::registry(), home::VERSION)));
    assert!(image.contains(&format!("image.source=\"{}\"", home::REPOSITORY)));
    let release = parsed(".github/workflows/release.yml");
    assert_eq!(release["env"]["IMAGE"], format!("{}/karpwarden", home::registry()));
    assert!(home::text("action.yml").unwrap().contains(&format!("--repo {} ", repository_name())));
}

/// Runs `packaging/fill.sh` for a release with the given checksums. Returns its folder and whether it succeeded.
#[cfg(unix)]
fn filled(name: &str, sums: &BTreeMap<String, String>) -> (PathBuf, bool) {
    use std::fmt::Write as _;

    let folder = std::env::temp_dir().join(format!("karpwarden-{name}-{}", std::process::id()));
    let release = folder.join("release");
    std::fs::create_dir_all(&release).unwrap();
    let mut list = String::new();
    for (archive, sum) in sums {
        writeln!(list, "{sum}  {archive}").unwrap();
    }
    std::fs::write(release.join("SHA256SUMS"), list).unwrap();
    let mut script = std::process::Command::new("sh");
    let run =
        script.arg(home::path("packaging/fill.sh")).arg(&release).arg(folder.join("out")).output().unwrap();
    (folder, run.status.success())
}

#[cfg(unix)]
#[test]
fn a_release_fills_in_the_checksum_of_each_archive() {
    let sums: BTreeMap<String, String> = archives()
        .into_iter()
        .zip(1..)
        .map(|(archive, number)| (archive, format!("{number:064x}")))
        .collect();
    let (folder, is_complete) = filled("fill", &sums);
    assert!(is_complete);
    let mut count = 0;
    for path in
        ["homebrew/karpwarden.rb", "scoop/karpwarden.json", "winget/installer.yaml", "krew/karpwarden.yaml"]
    {
        let text = std::fs::read_to_string(folder.join("out").join(path)).unwrap();
        let mut archive = "";
        for line in text.lines() {
            archive = archive_in(line).unwrap_or(archive);
            let is_sum = |part: &&str| part.len() == 64 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
            if let Some(sum) = line.split('"').find(is_sum) {
                assert_eq!(sum, sums[archive], "{path}: {line}");
                count += 1;
            }
        }
    }
    assert_eq!(count, 4 + 1 + 1 + 5);
    // The commands in docs/dev/release.md run in this folder.
    for path in files_in("packaging") {
        let name = path.trim_start_matches("packaging/");
        let folder_name = name.split_once('/').map(|(folder_name, _)| folder_name);
        // The build reads the others, and pre-commit.
        if folder_name.is_some_and(|name| !["debian", "nix", "pre-commit"].contains(&name)) {
            assert!(folder.join("out").join(name).is_file(), "{name}");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    // A release without one of the archives has no manifests.
    let (folder, is_complete) = filled("fill-missing", &sums.into_iter().skip(1).collect());
    assert!(!is_complete);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn homebrew_installs_the_archive_of_each_platform() {
    let text = home::text("packaging/homebrew/karpwarden.rb").unwrap();
    assert!(text.contains(&format!("\n  version \"{}\"\n", home::VERSION)));
    assert!(text.contains(&format!("\n  homepage \"{}\"\n", home::REPOSITORY)));
    let mut blocks: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.ends_with(" do") || ["class ", "def ", "if "].iter().any(|word| line.starts_with(word)) {
            blocks.push(line);
        } else if line == "end" {
            blocks.pop().unwrap();
        } else if let (true, Some(archive)) = (line.starts_with("url "), archive_in(line)) {
            found.push((blocks[1], blocks[2], folder(archive)));
        }
    }
    assert!(blocks.is_empty(), "{blocks:?}");
    let expected = [
        ("on_macos do", "on_arm do", "karpwarden-aarch64-apple-darwin"),
        ("on_macos do", "on_intel do", "karpwarden-x86_64-apple-darwin"),
        ("on_linux do", "on_arm do", "karpwarden-aarch64-unknown-linux-musl"),
        ("on_linux do", "on_intel do", "karpwarden-x86_64-unknown-linux-musl"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn scoop_and_winget_install_the_program_in_the_archive() {
    let program = "karpwarden-x86_64-pc-windows-msvc\\karpwarden.exe";
    let scoop = parsed("packaging/scoop/karpwarden.json");
    assert_eq!(scoop["version"], home::VERSION);
    let built = &scoop["architecture"]["64bit"];
    assert_eq!(
        format!("{}\\{}", built["extract_dir"].as_str().unwrap(), scoop["bin"].as_str().unwrap()),
        program
    );
    // `autoupdate` leads to the same address.
    let update = scoop["autoupdate"]["architecture"]["64bit"]["url"].as_str().unwrap();
    assert_eq!(update.replace("$version", home::VERSION), built["url"].as_str().unwrap());

    let owner = repository_name().split('/').next().unwrap();
    let manifests = [("version", "version"), ("installer", "installer"), ("locale.en-US", "defaultLocale")];
    for (name, kind) in manifests {
        let manifest = parsed(&format!("packaging/winget/{name}.yaml"));
        assert_eq!(manifest["PackageIdentifier"], format!("{owner}.karpwarden"), "{name}");
        assert_eq!(manifest["PackageVersion"], home::VERSION, "{name}");
        assert_eq!(manifest["ManifestType"], kind, "{name}");
        assert_eq!(manifest["ManifestVersion"], "1.10.0", "{name}");
    }
    let installer = parsed("packaging/winget/installer.yaml");
    assert_eq!(installer["NestedInstallerFiles"][0]["RelativeFilePath"], program);
    assert!(installer["Installers"][0]["InstallerSha256"].as_str().is_some_and(|sum| sum.len() == 64));
}

/// The checks of `validate-krew-manifest`: kubernetes-sigs/krew v0.4.5 `internal/index/validation/validate.go`.
#[test]
fn krew_accepts_the_plugin() {
    let plugin = parsed("packaging/krew/karpwarden.yaml");
    assert_eq!(plugin["apiVersion"], "krew.googlecontainertools.github.com/v1alpha2");
    assert_eq!(plugin["kind"], "Plugin");
    assert_eq!(plugin["metadata"]["name"], "karpwarden", "`karpenter` is another plugin");
    let spec = &plugin["spec"];
    assert_eq!(spec["version"], format!("v{}", home::VERSION));
    assert!(!spec["shortDescription"].as_str().unwrap().contains('\n'));
    let mut selected = BTreeSet::new();
    for platform in spec["platforms"].as_array().unwrap() {
        let labels = platform["selector"]["matchLabels"].as_object().unwrap();
        assert!(labels.keys().all(|key| key == "os" || key == "arch"), "{labels:?}");
        assert!(selected.insert(labels["os"].to_string() + &labels["arch"].to_string()), "twice: {labels:?}");
        let sum = platform["sha256"].as_str().unwrap();
        assert!(sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let archive = folder(platform["uri"].as_str().unwrap().rsplit('/').next().unwrap());
        let files: Vec<&str> =
            platform["files"].as_array().unwrap().iter().map(|file| file["from"].as_str().unwrap()).collect();
        let program = platform["bin"].as_str().unwrap();
        assert_eq!(files, [format!("{archive}/{program}"), format!("{archive}/LICENSE")]);
    }
    assert_eq!(selected.len(), 5);
}

#[test]
fn aqua_and_mise_find_the_archive_of_each_platform() {
    let package = parsed("packaging/aqua/registry.yaml")["packages"][0].clone();
    let name =
        format!("{}/{}", package["repo_owner"].as_str().unwrap(), package["repo_name"].as_str().unwrap());
    assert_eq!(name, repository_name());
    let replaced = |word: &str| package["replacements"][word].as_str().unwrap().to_owned();
    for (os, arch) in [
        ("linux", "amd64"),
        ("linux", "arm64"),
        ("darwin", "amd64"),
        ("darwin", "arm64"),
        ("windows", "amd64"),
    ] {
        let asset = package["asset"].as_str().unwrap();
        let asset = asset.replace("{{.OS}}", &replaced(os)).replace("{{.Arch}}", &replaced(arch));
        let asset = asset.replace("{{.Format}}", package["format"].as_str().unwrap());
        assert!(archives().contains(&asset), "{asset}");
    }
    assert!(package["github_artifact_attestations"]["signer_workflow"].as_str().unwrap().starts_with(&name));
    let mise = home::text("packaging/mise/karpwarden.toml").unwrap();
    assert!(mise.contains(&format!("backends = [\"aqua:{name}\", \"ubi:{name}\"]")), "{mise}");
}

#[test]
fn binstall_downloads_the_archives() {
    let manifest = home::text("cli/Cargo.toml").unwrap();
    let value = |key: &str| {
        let line = manifest.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        line.unwrap()
            .trim_matches('"')
            .replace("{ repo }", home::REPOSITORY)
            .replace("{ version }", home::VERSION)
    };
    for target in targets() {
        let url = value("pkg-url").replace("{ target }", &target);
        let (download, archive) = url.rsplit_once('/').unwrap();
        assert_eq!(download, format!("{}/releases/download/v{}", home::REPOSITORY, home::VERSION));
        assert!(archives().contains(archive), "{archive}");
        let program = value("bin-dir").replace("{ target }", &target).replace("{ bin }", "karpwarden");
        assert_eq!(program.replace("{ binary-ext }", ""), format!("{}/karpwarden", folder(archive)));
    }
}

#[test]
fn debian_package_holds_what_the_release_writes() {
    let manifest = home::text("cli/Cargo.toml").unwrap();
    let release = home::text(".github/workflows/release.yml").unwrap();
    let (_, assets) = manifest.split_once("assets = [\n").unwrap();
    let assets: Vec<&str> = assets.split("\n]").next().unwrap().lines().collect();
    for line in &assets {
        let source = line.split('"').nth(1).unwrap();
        let Some(file) = source.strip_prefix("../") else { continue };
        match file.strip_prefix("dist/extra/karpwarden.") {
            Some("1") => assert!(release.contains("-- man > \"dist/$name/karpwarden.1\"")),
            Some(shell) => assert!(
                release.contains("for shell in bash elvish fish powershell zsh")
                    && ["bash", "fish", "zsh"].contains(&shell)
            ),
            None => assert!(home::path(file).is_file(), "{file}"),
        }
    }
    assert!(assets.iter().any(|line| line.contains("\"usr/share/man/man1/\"")), "{assets:?}");
}

#[test]
fn flake_reads_version_and_address_from_the_workspace() {
    let (flake, package) =
        (home::text("flake.nix").unwrap(), home::text("packaging/nix/package.nix").unwrap());
    assert!(flake.contains("callPackage ./packaging/nix/package.nix { }"));
    for text in [
        "builtins.readFile ../../Cargo.toml",
        "inherit (manifest) version;",
        "homepage = manifest.repository;",
    ] {
        assert!(package.contains(text), "{text}");
    }
    assert!(!package.contains(home::VERSION) && !package.contains("https://"));
    for path in ["Cargo.toml", "Cargo.lock", "examples"] {
        assert!(package.contains(&format!("../../{path}")) && home::path(path).exists(), "{path}");
    }
}

#[test]
fn megalinter_runs_the_wheel_of_this_version() {
    let folder = Path::new("packaging/mega-linter-plugin-karpwarden");
    let descriptor = parsed(folder.join("karpwarden.megalinter-descriptor.yml").to_str().unwrap());
    let install = descriptor["install"]["dockerfile"][0].as_str().unwrap();
    assert!(install.ends_with(&format!(" karpwarden=={}", home::VERSION)), "{install}");
    let linter = &descriptor["linters"][0];
    assert_eq!(linter["name"], "KARPENTER_KARPWARDEN");
    assert_eq!(linter["linter_repo"], home::REPOSITORY);
    let error = regex::Regex::new(linter["cli_lint_errors_regex"].as_str().unwrap()).unwrap();
    let shown = home::text("README.md").unwrap();
    assert_eq!(error.find_iter(&shown).count(), 1, "the README shows one error");
}

#[cfg(unix)]
fn bash(script: &str, variables: &[(&str, &str)]) -> String {
    let mut bash = std::process::Command::new("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]).envs(variables.iter().copied());
    let run = bash.output().unwrap();
    assert!(run.status.success(), "{run:?}");
    String::from_utf8(run.stdout).unwrap()
}

#[cfg(unix)]
#[test]
fn super_linter_gets_commands_and_the_wheel_of_this_version() {
    let text = home::text("packaging/super-linter/karpwarden.sh").unwrap();
    assert!(text.contains(&format!("karpwarden=={}`", home::VERSION)));
    let print = "\nprintf '%s ' \"${LINTER_COMMANDS_ARRAY_KUBERNETES_KARPWARDEN[@]}\" \"${KUBERNETES_KARPWARDEN_FIX_MODE_OPTIONS[@]}\"
        karpwarden() { echo \"karpwarden 1.2.3\"; }
        linter_version";
    assert_eq!(bash(&(text + print), &[]), "karpwarden check --force-exclude --fix 1.2.3\n");
}

#[cfg(unix)]
#[test]
fn component_of_gitlab_passes_its_inputs_to_the_command_line() {
    let path = "packaging/gitlab/templates/check.yml";
    let documents = yaml::documents(&home::text(path).unwrap()).unwrap();
    let [head, body] = &documents[..] else { panic!("{} documents", documents.len()) };
    let inputs = head["spec"]["inputs"].as_object().unwrap();
    assert_eq!(inputs["version"]["default"], format!("v{}", home::VERSION));
    let (text, job) = (body.to_string(), body.as_object().unwrap().values().next().unwrap());
    for input in inputs.keys() {
        assert!(text.contains(&format!("$[[ inputs.{input} ]]")), "{input} is not used");
    }
    assert!(job["variables"]["RELEASE"].as_str().unwrap().starts_with(home::REPOSITORY));
    let script = job["script"][0].as_str().unwrap();
    let archive = script.lines().find_map(|line| line.trim().strip_prefix("archive=")).unwrap();
    for machine in ["x86_64", "aarch64"] {
        let archive = archive.replace("$machine", machine);
        assert!(archives().contains(&archive), "{archive}");
    }
    // A program in place of karpwarden prints its arguments.
    let script = script.replace("$[[ inputs.paths ]]", "a b").replace("$[[ inputs.fail-on ]]", "warning");
    let run = |release| bash(&script, &[("KARPWARDEN", "echo"), ("KARPENTER_VERSION", release)]);
    let report = "check --format gitlab --output gl-code-quality-report.json --fail-on never";
    assert_eq!(run(""), format!("{report} -- a b\ncheck --fail-on warning -- a b\n"));
    let version = "--karpenter-version 1.8 -- a b";
    assert_eq!(run("1.8"), format!("{report} {version}\ncheck --fail-on warning {version}\n"));
    assert_eq!(job["artifacts"]["reports"]["codequality"], "gl-code-quality-report.json");
}

/// A hook of pre-commit gets the command line as the wheel that `cli/pyproject.toml` describes.
#[test]
fn hooks_depend_on_the_wheel() {
    let (hooks, wheel) = (home::text("pyproject.toml").unwrap(), home::text("cli/pyproject.toml").unwrap());
    assert!(
        hooks.contains("\nrequires = []\n") && hooks.contains("backend-path = [\"packaging/pre-commit\"]")
    );
    assert!(wheel.contains("\nname = \"karpwarden\"\n") && wheel.contains("\nbindings = \"bin\"\n"));
    let backend = home::text("packaging/pre-commit/hooks.py").unwrap();
    assert!(backend.contains("Requires-Dist: karpwarden=={version}"));
    let manifest = home::text("Cargo.toml").unwrap();
    assert!(
        manifest.contains(&format!("\n[workspace.package]\nversion = \"{}\"\n", home::VERSION)),
        "as the backend reads it"
    );
}
