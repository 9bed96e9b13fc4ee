//! Properties of builds of any text: no panic, bounded work, and built documents whose places are in the texts.
use karpwarden_kustomize::{BuildOutcome, Builds};
use manifest::File;
use manifest::limits::Limits;
use manifest::tree::Node;
use proptest::prelude::*;

const POOL: &str = r"apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  x: [1, {name: b}]
  template: {spec: {containers: [{name: c, image: d}]}}
";

/// Parts of kustomizations, whole and broken.
fn part() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "resources: [a.yaml, ../base]",
        "resources: [.]",
        "components: [part]",
        "bases: [../base, https://example.com]",
        "namespace: x",
        "namePrefix: p-",
        "nameSuffix: [s]",
        "labels: [{pairs: {a: b}, includeSelectors: true}, {fields: [{path: spec/x/name, create: true}], pairs: {c: d}}]",
        "commonLabels: {a: 1}",
        "commonAnnotations: x",
        "images: [{name: d, newTag: v1}, {name: '(', newName: x}]",
        "replicas: [{name: a, count: 3}]",
        "patches: [{target: {kind: .*}, patch: '[{\"op\": \"remove\", \"path\": \"/spec/x/0\"}]'}]",
        "patches: [{target: {name: '['}, path: a.yaml}, {path: b.yaml}]",
        r"patches:
- patch: |-
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: a}
    spec: {x: null, y: {$patch: delete}, template: {spec: {containers: [{name: c, $patch: replace}]}}}",
        "patchesStrategicMerge: [b.yaml, \"{kind: Deployment, apiVersion: apps/v1, metadata: {name: a}, spec: 1}\"]",
        "patchesJson6902: [{target: {kind: Deployment, name: a}, patch: '- {op: move, from: /spec/x, path: /spec/x/0}'}]",
        "replacements: [{source: {kind: Deployment}, targets: [{select: {}, fieldPaths: [spec.x.*.name, 'spec.[a=']}]}]",
        "replacements: [{path: a.yaml}]",
        "vars: [a]",
        "kind: Component",
    ]);
    prop_oneof![8 => known.prop_map(str::to_owned), 1 => "[a-zA-Z]{1,9}: \\PC{0,20}"]
}

fn kustomization() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::collection::vec(part(), 0..6).prop_map(|parts| parts.join("\n")),
        1 => "\\PC{0,60}",
    ]
}

fn assert_places(node: Node<'_>) {
    let text = node.source().text();
    for span in [node.span(), node.key_span()] {
        assert!(text.get(span.start..span.end).is_some(), "{span:?} in {text:?}");
    }
    node.children().for_each(assert_places);
}

proptest! {
    #[test]
    fn any_text_is_built_without_a_panic(
        top in kustomization(),
        base in kustomization(),
        part in kustomization(),
        patch in prop_oneof![Just(POOL.to_owned()), kustomization()],
    ) {
        let read = |name: &str, text: &str| File::read(name, text, &Limits::DEFAULT);
        let files = [
            read("top/kustomization.yaml", &top),
            read("top/a.yaml", POOL),
            read("top/b.yaml", &patch),
            read("top/part/kustomization.yaml", &part),
            read("base/kustomization.yaml", &base),
            read("base/a.yaml", POOL),
        ];
        for overlay in Builds::of(&files, &Limits::DEFAULT).overlays {
            for object in overlay.objects {
                if let BuildOutcome::Changed(tree) = object.outcome {
                    assert_places(tree.root());
                }
            }
        }
    }
}

#[test]
fn work_is_bounded_if_every_level_includes_the_level_below_twice() {
    const LEVELS: usize = 40;
    let mut files = vec![File::read("l0/kustomization.yaml", "resources: [a.yaml]", &Limits::DEFAULT)];
    files.push(File::read("l0/a.yaml", POOL, &Limits::DEFAULT));
    for level in 1..LEVELS {
        let below = level - 1;
        let text = format!("namePrefix: x\nresources: [../l{below}, ../l{below}]\n");
        files.push(File::read(format!("l{level}/kustomization.yaml"), text, &Limits::DEFAULT));
    }
    let limits = Limits { nodes: 10_000, ..Limits::DEFAULT };
    let nodes =
        Builds::of(&files, &limits).overlays.iter().map(|overlay| overlay.objects.len()).sum::<usize>();
    assert!(nodes <= limits.nodes, "{nodes}");
}

/// The kustomizations that are not built, in a build of some files.
fn unfinished(files: &[(String, String)]) -> (Vec<usize>, usize) {
    let read = |(name, text): &(String, String)| File::read(name.clone(), text.clone(), &Limits::DEFAULT);
    let files: Vec<File> = files.iter().map(read).collect();
    let builds = Builds::of(&files, &Limits { nodes: 10_000, ..Limits::DEFAULT });
    (builds.unfinished.iter().map(|file| file.get()).collect(), builds.overlays.len())
}

#[test]
fn a_patch_that_copies_its_copies_is_not_built_and_others_are() {
    let operations =
        (0..64).map(|number| format!("      - {{op: copy, from: /spec, path: /spec/x{number}}}\n"));
    let patch: String = operations.collect();
    let doubling =
        format!("resources: [a.yaml]\npatches:\n  - target: {{kind: Deployment}}\n    patch: |-\n{patch}");
    let files = [
        ("a/kustomization.yaml".to_owned(), doubling),
        ("a/a.yaml".to_owned(), POOL.to_owned()),
        ("b/kustomization.yaml".to_owned(), "resources: [a.yaml]\nnamePrefix: x\n".to_owned()),
        ("b/a.yaml".to_owned(), POOL.to_owned()),
    ];
    assert_eq!(unfinished(&files), (vec![0], 1));
}

#[test]
fn a_replacement_that_copies_its_copies_is_not_built() {
    let entry = |number: usize| {
        format!(
            r"  - source: {{kind: Deployment, fieldPath: spec}}
    targets:
      - {{select: {{kind: Deployment}}, fieldPaths: [spec.x{number}], options: {{create: true}}}}
"
        )
    };
    let entries: String = (0..64).map(entry).collect();
    let files = [
        ("kustomization.yaml".to_owned(), format!("resources: [a.yaml]\nreplacements:\n{entries}")),
        ("a.yaml".to_owned(), POOL.to_owned()),
    ];
    assert_eq!(unfinished(&files), (vec![0], 0));
}

#[test]
fn a_folder_without_objects_is_built_once_however_many_paths_lead_to_it() {
    const LEVELS: usize = 64;
    let level = |level: usize| {
        let below = level + 1;
        let text =
            if below < LEVELS { format!("resources: [../l{below}, ../l{below}]\n") } else { String::new() };
        (format!("l{level}/kustomization.yaml"), text + "commonLabels: {a: b}\n")
    };
    let files: Vec<_> = (0..LEVELS).map(level).collect();
    assert_eq!(unfinished(&files), (Vec::new(), 1));
}

#[test]
fn kustomizations_that_include_each_other_are_built_once() {
    let read = |name: &str, text: &str| File::read(name, text, &Limits::DEFAULT);
    let files = [
        read("a/kustomization.yaml", "resources: [../b, a.yaml]\nnamespace: x\n"),
        read("b/kustomization.yaml", "resources: [../a]\n"),
        read("top/kustomization.yaml", "resources: [../a]\n"),
        read("a/a.yaml", POOL),
    ];
    let builds = Builds::of(&files, &Limits::DEFAULT);
    let names: Vec<_> = builds.overlays.iter().map(|overlay| overlay.name.as_str()).collect();
    assert_eq!(names, ["top"]);
    let object = &builds.overlays[0].objects[0];
    assert_eq!(object.unresolved.as_deref(), Some("`b` includes itself through `../a`"));
}

#[test]
fn objects_that_the_input_does_not_determine_have_a_reason() {
    let read = |name: &str, text: &str| File::read(name, text, &Limits::DEFAULT);
    let reason = |kustomization: &str| {
        let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
        let files = [
            read(
                "kustomization.yaml",
                &format!("resources: [a.yaml, c.yaml, https://example.com/base]\n{kustomization}"),
            ),
            read("a.yaml", POOL),
            read("c.yaml", config),
        ];
        let builds = Builds::of(&files, &Limits::DEFAULT);
        let objects = builds.overlays.iter().flat_map(|overlay| &overlay.objects);
        objects.map(|object| object.unresolved.clone().unwrap_or_default()).collect::<Vec<_>>()
    };
    for (kustomization, deployment, config) in [
        // Remote bases and charts add objects that the input does not show, and change none of it.
        ("helmCharts: [{name: x}]\nconfigMapGenerator: [{name: new}]", "", ""),
        ("patches: [{target: {name: absent}, path: missing.yaml}]", "", ""),
        ("configMapGenerator: [{name: c, behavior: merge, literals: [a=b]}]", "", ""),
        (
            "configMapGenerator: [{name: c, behavior: merge, envs: [missing.env]}]",
            "",
            "a `configMapGenerator` changes it",
        ),
        (
            "patches: [{target: {kind: Deployment}, path: missing.yaml}]",
            "a patch that is not in the input or cannot be read",
            "",
        ),
        (
            "patches: [{target: {kind: Deployment}, patch: '[{\"op\": \"remove\", \"path\": \"/spec/y\"}]'}]",
            "a patch of it cannot be applied: it names a path that the object does not have",
            "",
        ),
        ("transformers: [t.yaml]", "`.` uses `transformers`", "`.` uses `transformers`"),
        ("vars: []", "", ""),
        ("newField: x", "`.` uses `newField`", "`.` uses `newField`"),
    ] {
        assert_eq!(reason(kustomization), [deployment, config], "{kustomization}");
    }
}

#[test]
fn replacements_copy_from_generated_config_maps() {
    let read = |name: &str, text: &str| File::read(name, text, &Limits::DEFAULT);
    let replicas = |generator: &str, overlay: &str| {
        let base = format!(
            "resources: [a.yaml]\n{generator}\nreplacements:\n- source: {{kind: ConfigMap, name: c, fieldPath: data.image}}\n  targets: [{{select: {{kind: Deployment}}, fieldPaths: [metadata.annotations.image], options: {{create: true}}}}]\n"
        );
        let mut files = vec![
            read("base/kustomization.yaml", &base),
            read("base/a.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n"),
            read("base/c.env", "# comment\nimage=two=2\n"),
        ];
        if !overlay.is_empty() {
            files.push(read("prod/kustomization.yaml", overlay));
        }
        let builds = Builds::of(&files, &Limits::DEFAULT);
        let object = &builds.overlays[0].objects[0];
        assert_eq!(builds.overlays[0].objects.len(), 1, "a generated object is none of the input");
        let BuildOutcome::Changed(tree) = &object.outcome else {
            return (object.unresolved.clone(), None, builds.generated);
        };
        let image = tree.root().str_at(&["metadata", "annotations", "image"]).map(str::to_owned);
        (object.unresolved.clone(), image, builds.generated)
    };
    let (unresolved, image, generated) =
        replicas("configMapGenerator: [{name: c, literals: ['image=\"one\"']}]", "");
    assert_eq!((unresolved, image.as_deref()), (None, Some("one")));
    assert_eq!((generated[0].name.as_str(), generated[0].folder.as_str()), ("c", "base"));
    let (unresolved, image, _) = replicas("configMapGenerator: [{name: c, envs: [c.env]}]", "");
    assert_eq!((unresolved, image.as_deref()), (None, Some("two=2")));
    // The overlay changes the map after the base has copied its entry.
    let overlay = "resources: [../base]\nnamespace: x\nconfigMapGenerator: [{name: c, behavior: merge, literals: [image=three]}]\n";
    let (unresolved, image, generated) = replicas("configMapGenerator: [{name: c, envs: [c.env]}]", overlay);
    assert_eq!((unresolved, image.as_deref()), (None, Some("two=2")));
    assert_eq!(generated[0].namespace.as_deref(), Some("x"));
    assert_eq!(generated[0].entries.get("image").map(String::as_str), Some("three"));
    for missing in
        ["configMapGenerator: [{name: c, envs: [absent.env]}]", "secretGenerator: [{name: c, envs: [c.env]}]"]
    {
        assert!(replicas(missing, "").0.is_some(), "{missing}");
    }
}
