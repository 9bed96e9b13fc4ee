//! `karpwarden plan --base`: the working tree against a commit of the repository.

use std::process::Command;

use serde_json::Value;

use crate::folder::{Folder, Run};

const POOL: &str = "\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    metadata:
      labels: {team: a}
    spec:
      requirements: []
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
";

fn git(folder: &Folder, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
    let run =
        Command::new("git").arg("-C").arg(folder.path("")).args(identity).args(arguments).output().unwrap();
    assert!(run.status.success(), "{arguments:?}: {run:?}");
}

/// A repository with a NodePool on `main`.
fn repository() -> Folder {
    let folder = Folder::with(&[("nodes/pool.yaml", POOL), (".gitignore", "ignored.yaml\n")]);
    git(&folder, &["init", "-q", "-b", "main"]);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "a"]);
    folder
}

fn plan(folder: &Folder, further: &[&str]) -> Run {
    folder.run(
        &[&["plan", "--karpenter-version", "1.14", "--at", "2026-03-11T10:30:00Z"][..], further].concat(),
    )
}

fn json_of(folder: &Folder, further: &[&str]) -> Value {
    let run = plan(folder, &[&["--format", "json"], further].concat());
    let answer = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    crate::answers::assert_valid("plan", &answer);
    answer
}

#[test]
fn the_working_tree_is_compared_with_the_default_branch() {
    let folder = repository();
    git(&folder, &["checkout", "-q", "-b", "topic"]);
    folder.write("nodes/pool.yaml", POOL.replace("team: a", "team: b").as_bytes());
    let run = plan(&folder, &["--base"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(
        run.stdout
            .starts_with("replaces every node of 1 NodePool (default): spec.template.metadata.labels.team\n")
    );
    assert!(run.stdout.contains("nodes/pool.yaml:7  spec.template.metadata.labels.team  a → b"), "{run:?}");
    assert!(run.stderr.starts_with("note: compared with commit "), "{run:?}");
    // The default branch goes on: what it has changed is not part of the topic.
    git(&folder, &["stash", "-q"]);
    git(&folder, &["checkout", "-q", "main"]);
    folder.write("nodes/other.yaml", POOL.replace("name: default}\nspec", "name: other}\nspec").as_bytes());
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "b"]);
    git(&folder, &["checkout", "-q", "topic"]);
    git(&folder, &["stash", "pop", "-q"]);
    for base in [&["--base"][..], &["--base", "main"], &["--base=main", "nodes"]] {
        let answer = json_of(&folder, base);
        assert_eq!(answer["changes"].as_array().unwrap().len(), 1, "{base:?}: {answer}");
    }
}

#[test]
fn removed_moved_and_ignored_files_are_told_apart() {
    let folder = repository();
    folder.write("nodes/ignored.yaml", POOL.replace("name: default}\nspec", "name: local}\nspec").as_bytes());
    std::fs::rename(folder.path("nodes/pool.yaml"), folder.path("nodes/moved.yaml")).unwrap();
    let answer = json_of(&folder, &["--base", "HEAD"]);
    assert_eq!(answer["verdict"], "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes");
    std::fs::remove_file(folder.path("nodes/moved.yaml")).unwrap();
    for paths in [&["--base=HEAD"][..], &["--base=HEAD", "nodes"], &["--base=HEAD", "nodes/pool.yaml"]] {
        let answer = json_of(&folder, paths);
        assert_eq!(answer["verdict"], "removes the nodes of 1 NodePool (default)", "{paths:?}: {answer}");
    }
}

#[test]
fn the_base_of_an_overlay_outside_of_the_paths_is_read_from_the_commit() {
    let folder = repository();
    folder.write("base/kustomization.yaml", b"resources: [pool.yaml]\n");
    folder.write("base/pool.yaml", POOL.as_bytes());
    folder.write("overlays/a/kustomization.yaml", b"resources: [../../base]\nnameSuffix: -a\n");
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "b"]);
    folder.write("base/pool.yaml", POOL.replace("team: a", "team: b").as_bytes());
    let answer = json_of(&folder, &["--base=HEAD", "overlays/a"]);
    assert_eq!(
        answer["verdict"],
        "replaces every node of 1 NodePool (default-a): spec.template.metadata.labels.team"
    );
    assert_eq!(answer["changes"][0]["fields"][0]["file"], "base/pool.yaml");
}

#[test]
fn a_base_outside_of_the_paths_that_only_the_commit_uses_is_read_from_the_commit() {
    let folder = repository();
    let other = POOL.replace("name: default}\nspec", "name: other}\nspec");
    folder.write("base/kustomization.yaml", b"resources: [pool.yaml, ../more]\n");
    folder.write("base/pool.yaml", POOL.as_bytes());
    folder.write("more/kustomization.yaml", b"resources: [other.yaml]\n");
    folder.write("more/other.yaml", other.as_bytes());
    folder.write("prod/kustomization.yaml", b"resources: [../base, map.yaml]\n");
    folder.write("prod/map.yaml", b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "b"]);
    let verdict = || json_of(&folder, &["--base=HEAD", "prod"])["verdict"].as_str().unwrap().to_owned();
    folder.write("more/README.md", b"a");
    assert_eq!(verdict(), "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes");
    folder.write("base/kustomization.yaml", b"resources: [pool.yaml]\n");
    assert_eq!(verdict(), "removes the nodes of 1 NodePool (other)");
    // The files of the base are gone, too.
    std::fs::remove_file(folder.path("more/other.yaml")).unwrap();
    assert_eq!(verdict(), "removes the nodes of 1 NodePool (other)");
    folder.write("prod/kustomization.yaml", b"resources: [map.yaml]\n");
    assert_eq!(verdict(), "removes the nodes of 2 NodePools (default, other)");
}

#[cfg(unix)]
#[test]
fn files_behind_symbolic_links_are_compared_with_the_same_files_of_the_commit() {
    let folder = repository();
    std::fs::create_dir_all(folder.path("clusters/prod")).unwrap();
    std::os::unix::fs::symlink("../../nodes", folder.path("clusters/prod/nodes")).unwrap();
    std::os::unix::fs::symlink("../nodes/pool.yaml", folder.path("clusters/pool.yaml")).unwrap();
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "b"]);
    let paths = ["clusters/prod", "clusters/prod/nodes", "clusters/pool.yaml", "."];
    let verdicts =
        || paths.map(|path| json_of(&folder, &["--base=HEAD", path])["verdict"].as_str().unwrap().to_owned());
    folder.write("README.md", b"a");
    for verdict in verdicts() {
        assert_eq!(verdict, "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes");
    }
    folder.write("nodes/pool.yaml", POOL.replace("team: a", "team: b").as_bytes());
    for verdict in verdicts() {
        assert_eq!(
            verdict,
            "replaces every node of 1 NodePool (default): spec.template.metadata.labels.team"
        );
    }
    // The folder has another name, and so have the links.
    folder.write("nodes/pool.yaml", POOL.as_bytes());
    std::fs::rename(folder.path("nodes"), folder.path("pools")).unwrap();
    for (link, target) in
        [("clusters/prod/nodes", "../../pools"), ("clusters/pool.yaml", "../pools/pool.yaml")]
    {
        std::fs::remove_file(folder.path(link)).unwrap();
        std::os::unix::fs::symlink(target, folder.path(link)).unwrap();
    }
    for verdict in verdicts() {
        assert_eq!(verdict, "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes");
    }
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_that_becomes_a_file_or_the_reverse_shows_the_change() {
    let none = "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes";
    let (link, same, other) = (None, Some(POOL.to_owned()), Some(POOL.replace("team: a", "team: b")));
    // The names of a link before and after its target in the order of a walk, without and with kustomizations.
    for (name, has_kustomization) in [("prod", false), ("a", false), ("prod", true), ("a", true)] {
        let replaces = format!(
            "replaces every node of 1 NodePool (default in {name}): spec.template.metadata.labels.team"
        );
        for (old, new, expected) in [
            (&link, &link, none),
            (&link, &same, none),
            (&same, &link, none),
            (&link, &other, replaces.as_str()),
            (&other, &link, replaces.as_str()),
        ] {
            let folder = Folder::with(&[("nodes/pool.yaml", POOL)]);
            if has_kustomization {
                for name in ["nodes", name] {
                    folder.write(&format!("{name}/kustomization.yaml"), b"resources: [pool.yaml]\n");
                }
            }
            git(&folder, &["init", "-q", "-b", "main"]);
            let file = format!("{name}/pool.yaml");
            let write = |text: &Option<String>| {
                if let Some(text) = text {
                    folder.write(&file, text.as_bytes());
                } else {
                    std::fs::create_dir_all(folder.path(name)).unwrap();
                    std::os::unix::fs::symlink("../nodes/pool.yaml", folder.path(&file)).unwrap();
                }
            };
            write(old);
            git(&folder, &["add", "-A"]);
            git(&folder, &["commit", "-q", "-m", "a"]);
            std::fs::remove_file(folder.path(&file)).unwrap();
            write(new);
            let answer = json_of(&folder, &["--base=HEAD"]);
            assert_eq!(answer["verdict"], expected, "{name} {has_kustomization} {old:?} {new:?}: {answer}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_new_link_does_not_hide_the_change_of_its_target() {
    let folder = repository();
    std::fs::create_dir_all(folder.path("a")).unwrap();
    std::os::unix::fs::symlink("../nodes/pool.yaml", folder.path("a/pool.yaml")).unwrap();
    folder.write("nodes/pool.yaml", POOL.replace("team: a", "team: b").as_bytes());
    let answer = json_of(&folder, &["--base=HEAD"]);
    assert_eq!(
        answer["verdict"],
        "replaces every node of 1 NodePool (default in nodes): spec.template.metadata.labels.team"
    );
}

#[cfg(unix)]
#[test]
fn a_file_behind_links_has_the_names_that_kustomizations_use() {
    let folder = repository();
    for name in ["dev", "prod"] {
        std::fs::create_dir_all(folder.path(name)).unwrap();
        folder.write(&format!("{name}/kustomization.yaml"), b"resources: [pool.yaml]\nnamePrefix: x-\n");
        std::os::unix::fs::symlink("../nodes/pool.yaml", folder.path(&format!("{name}/pool.yaml"))).unwrap();
    }
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "b"]);
    folder.write("nodes/pool.yaml", POOL.replace("team: a", "team: b").as_bytes());
    let answer = json_of(&folder, &["--base=HEAD"]);
    assert_eq!(
        answer["verdict"],
        "replaces every node of 2 NodePools (x-default in dev, x-default in prod): spec.template.metadata.labels.team"
    );
}

#[test]
fn an_unreadable_file_is_named_although_the_commit_could_read_it() {
    const BROKEN: &[u8] = b"apiVersion: karpenter.sh/v1\nkind: NodePool\nspec: [\n";
    let folder = repository();
    for new_only in [true, false] {
        folder.write("nodes/pool.yaml", BROKEN);
        if !new_only {
            git(&folder, &["commit", "-q", "-a", "-m", "b"]);
        }
        let run = plan(&folder, &["--base=HEAD"]);
        assert_eq!(run.status, 4, "{run:?}");
        assert_eq!(folder.run(&["check", "nodes"]).status, 4);
        assert_eq!(run.stderr.matches("error: `nodes/pool.yaml`: ").count(), 1, "{run:?}");
    }
    // A file that is readable again.
    folder.write("nodes/pool.yaml", POOL.as_bytes());
    let run = plan(&folder, &["--base=HEAD"]);
    assert_eq!(run.status, 4, "{run:?}");
    assert!(run.stderr.contains("error: `nodes/pool.yaml` in commit "), "{run:?}");
}

#[test]
fn errors_name_what_is_missing() {
    let folder = Folder::with(&[("pool.yaml", POOL)]);
    let run = plan(&folder, &["--base"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("`.` is not in the working tree of a git repository"), "{run:?}");
    let folder = repository();
    let run = plan(&folder, &["--base=HEAD", "nodse"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("has manifests in `nodse`"), "{run:?}");
    let run = plan(&folder, &["--base", "missing"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("the repository has no commit or branch `missing`"), "{run:?}");
    let origin = repository();
    origin.write("nodes/pool.yaml", POOL.replace("team: a", "team: b").as_bytes());
    git(&origin, &["commit", "-q", "-a", "-m", "b"]);
    let clone = Folder::with(&[]);
    let url = format!("file://{}", origin.path("").display());
    git(&clone, &["clone", "-q", "--depth", "1", &url, "."]);
    let run = plan(&clone, &["--base", "HEAD~1"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("the clone is shallow: fetch the history"), "{run:?}");
}
