//! `karpwarden plan` about what applies objects: kustomizations, Flux, Argo CD and Helm.

use serde_json::Value;

use crate::folder::Folder;
use crate::plan::{CLASS, POOL};

const NONE: &str = "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes";

/// A file of a change: its name, and its text before and after; an empty text is no file.
type Change<'t> = (&'t str, &'t str, &'t str);

fn plan(files: &[(&str, &str)], changes: &[Change<'_>]) -> Value {
    let folder = Folder::with(&[("old/README.md", "a"), ("new/README.md", "a")]);
    let both = files.iter().map(|(name, text)| (*name, *text, *text)).chain(changes.iter().copied());
    for (name, old, new) in both {
        for (side, text) in [("old", old), ("new", new)] {
            if !text.is_empty() {
                folder.write(&format!("{side}/{name}"), text.as_bytes());
            }
        }
    }
    let arguments =
        ["plan", "--at", "2026-03-11T10:30:00Z", "--karpenter-version", "1.14", "--format", "json"];
    let answer = folder.run(&[&arguments[..], &["old", "new"]].concat()).json();
    crate::answers::assert_valid("plan", &answer);
    answer
}

fn verdict(files: &[(&str, &str)], changes: &[Change<'_>]) -> String {
    plan(files, changes)["verdict"].as_str().unwrap().to_owned()
}

/// A NodePool with a name.
fn pool(name: &str) -> String {
    POOL.replacen("{name: default}", &format!("{{name: {name}}}"), 1)
}

fn flux(path: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: nodes, namespace: flux-system}}\n\
         spec:\n  path: ./{path}\n  prune: true\n  interval: 10m\n  sourceRef: {{kind: GitRepository, name: a}}\n"
    )
}

fn argo(path: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\n\
         metadata: {{name: nodes, finalizers: [resources-finalizer.argocd.argoproj.io]}}\n\
         spec:\n  source: {{repoURL: 'https://example.com/a', path: {path}}}\n"
    )
}

#[test]
fn a_file_that_a_kustomization_no_longer_lists_is_removed_unless_something_else_applies_it() {
    let (one, extra) = (pool("one"), pool("extra"));
    let flat = [("class.yaml", CLASS), ("one.yaml", one.as_str()), ("extra.yaml", &extra)];
    let removed = "removes the nodes of 1 NodePool (extra)";
    let (all, less) = ("resources: [class.yaml, one.yaml, extra.yaml]", "resources: [class.yaml, one.yaml]");
    assert_eq!(verdict(&flat, &[("kustomization.yaml", all, less)]), removed);
    assert_eq!(
        verdict(&flat, &[("kustomization.yaml", all, "resources: [extra.yaml, class.yaml, one.yaml]")]),
        NONE
    );
    // Without a kustomization, all files of a folder may be applied.
    assert_eq!(verdict(&flat, &[("kustomization.yaml", all, "")]), NONE);
    // The object is in another file.
    let moved = format!("{one}---\n{extra}");
    assert_eq!(verdict(&flat, &[("kustomization.yaml", all, less), ("one.yaml", &one, &moved)]), NONE);
    // A folder with its own kustomization, and one without.
    let extra_in = |name: &'static str| (name, extra.as_str());
    let base = [("prod/class.yaml", CLASS), ("prod/one.yaml", one.as_str())];
    for (own, list, applied_by, expected) in [
        (true, "nodes", "", removed),
        (true, "nodes", "nodes", NONE),
        (true, "nodes", "prod", removed),
        (false, "nodes/extra.yaml", "", removed),
        (false, "nodes/extra.yaml", "nodes", NONE),
        (false, "nodes/extra.yaml", "prod", removed),
    ] {
        for apply in [&flux as &dyn Fn(&str) -> String, &argo] {
            let applied = match applied_by {
                "nodes" => apply("prod/nodes"),
                "prod" => apply("prod"),
                _ => String::new(),
            };
            let mut files = base.to_vec();
            files.push(extra_in("prod/nodes/extra.yaml"));
            files.push(("apps/nodes.yaml", &applied));
            files.extend(own.then_some(("prod/nodes/kustomization.yaml", "resources: [extra.yaml]")));
            let list = format!("resources: [class.yaml, one.yaml, {list}]");
            let change = ("prod/kustomization.yaml", list.as_str(), less);
            let answer = plan(&files, &[change]);
            let shown = answer["verdict"].as_str().unwrap().replace(" in prod)", ")");
            assert_eq!(shown, expected, "{own} {list} {applied_by}: {answer}");
        }
    }
}
