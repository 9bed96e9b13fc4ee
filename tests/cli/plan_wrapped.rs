//! `karpwarden plan` about NodePools within objects of other controllers: `ResourceSet` of Flux, Object of Crossplane, `ManifestWork`.

use crate::folder::Folder;
use crate::plan::{CLASS, POOL};
use crate::plan_appliers::{NONE, verdict};

/// A text, each line after some spaces.
pub(crate) fn indented(text: &str, spaces: usize) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("{}{line}\n", " ".repeat(spaces))).collect();
    lines.concat()
}

/// A NodePool with a name and a label.
fn pool(name: &str, team: &str) -> String {
    POOL.replacen("{name: default}", &format!("{{name: {name}}}"), 1)
        .replace("team: a", &format!("team: {team}"))
}

/// A `ResourceSet` with a NodePool.
fn set(inputs: &str, pool: &str) -> String {
    format!(
        "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {{name: pools}}\nspec:\n  {inputs}\n  resources:\n  -\n{}",
        indented(pool, 4)
    )
}

fn of(old: &str, new: &str) -> String {
    verdict(&[("class.yaml", CLASS)], &[("pools.yaml", old, new)])
}

#[test]
fn an_input_of_a_resource_set_that_a_name_reads_may_replace_nodes() {
    let named = pool("pool-<< inputs.name >>", "a");
    let read = |inputs: &str| set(&format!("inputs: [{inputs}]"), &named);
    let two = "{name: a, x: 1}, {name: b, x: 1}";
    let other = "may replace nodes: ResourceSet/pools has another input `name`, which its templates of objects of Karpenter read";
    assert_eq!(of(&read(two), &read("{name: a, x: 1}")), other);
    assert_eq!(of(&read(two), &read("{name: a, x: 1}, {name: c, x: 1}")), other);
    // Another order, a further input, and a key that nothing reads.
    for inputs in [
        "{name: b, x: 1}, {name: a, x: 1}",
        "{name: a, x: 1}, {name: b, x: 1}, {name: c, x: 1}",
        "{name: a, x: 2}, {name: b, x: 1}",
    ] {
        assert_eq!(of(&read(two), &read(inputs)), NONE, "{inputs}");
    }
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: << inputs.name >>}\n";
    let unrelated = |inputs: &str| set(&format!("inputs: [{inputs}]"), deployment);
    assert_eq!(of(&unrelated(two), &unrelated("{name: a, x: 1}")), NONE);
}

#[test]
fn the_text_of_a_resource_set_and_its_provider_may_replace_nodes() {
    let template = |name: &str, inputs: &str, team: &str| {
        format!(
            "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {{name: {name}}}\nspec:\n  inputs: [{inputs}]\n  resourcesTemplate: |\n{}---\n",
            indented(&pool(name, team), 4)
        )
    };
    let by_input = "<< inputs.team >>";
    let answer = of(&template("a", "{team: a}", by_input), &template("a", "{team: b}", by_input));
    assert!(answer.starts_with("may replace nodes: ResourceSet/a has another input `team`"), "{answer}");
    assert_eq!(of(&template("a", "{x: a}", by_input), &template("a", "{x: b}", by_input)), NONE);
    // The second one in a file.
    let two = |team: &str| template("a", "", "a") + &template("b", "", team);
    let answer = of(&two("a"), &two("b"));
    assert!(answer.starts_with("may replace nodes: new/pools.yaml has changed, a template"), "{answer}");
    let provided = |values: &str, filter: &str, team: &str| {
        let provider = format!(
            "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSetInputProvider\nmetadata: {{name: p}}\nspec: {{type: GitHubBranch, defaultValues: {values}, filter: {filter}}}\n---\n"
        );
        provider + &set("inputsFrom: [{kind: ResourceSetInputProvider, name: p}]", &pool("x", team))
    };
    let answer = of(&provided("{team: a}", "{}", by_input), &provided("{team: b}", "{}", by_input));
    assert_eq!(answer, "may replace nodes of 1 NodePool (x): spec.template.metadata.labels.team");
    let answer = of(&provided("{}", "{limit: 1}", by_input), &provided("{}", "{limit: 2}", by_input));
    assert!(
        answer.starts_with("may replace nodes: ResourceSet/pools gets inputs in another way"),
        "{answer}"
    );
    assert_eq!(
        of(&provided("{team: a}", "{limit: 1}", "a"), &provided("{team: b}", "{limit: 2}", "a")),
        NONE
    );
}

#[test]
fn the_placeholders_of_a_resource_set_are_not_refused() {
    let pools = ["<< inputs.team >>", "x<< if inputs.team >>y<< end >>"].map(|team| pool("x", team));
    let text = set("inputs: [{team: a}]", &pools[0]) + "---\n" + &set("inputs: [{team: a}]", &pools[1]);
    let run = |text: &str| {
        let folder = Folder::with(&[("pools.yaml", text), ("class.yaml", CLASS)]);
        folder.run(&["check", "--karpenter-version", "1.14", "--select", "api-pattern", "."]).stdout
    };
    assert!(!run(&text).contains("api-pattern"), "{}", run(&text));
    assert!(run(&pools[0]).contains("replace the placeholder `<< inputs.team >>`"), "{}", run(&pools[0]));
}

/// An Object of Crossplane with a NodePool.
fn crossplane(name: &str, provider: &str, pool: &str) -> String {
    format!(
        "apiVersion: kubernetes.crossplane.io/v1alpha2\nkind: Object\nmetadata: {{name: {name}}}\nspec:\n  providerConfigRef: {{name: {provider}}}\n  forProvider:\n    manifest:\n{}---\n",
        indented(pool, 6)
    )
}

/// A `ManifestWork` with a NodePool.
fn work(namespace: &str, pool: &str) -> String {
    format!(
        "apiVersion: work.open-cluster-management.io/v1\nkind: ManifestWork\nmetadata: {{name: w, namespace: {namespace}}}\nspec:\n  workload:\n    manifests:\n    -\n{}---\n",
        indented(pool, 6)
    )
}

#[test]
fn a_node_pool_that_gets_another_object_around_it_may_lose_its_nodes() {
    let x = pool("x", "a");
    let takes = |taker: &str, giver: &str| {
        format!(
            "may replace nodes: {taker} takes over NodePool x from {giver}, which removes it with the nodes if it comes first"
        )
    };
    let (one, two) = (crossplane("one", "c", &x), crossplane("two", "c", &x));
    assert_eq!(of(&one, &two), takes("Object/two", "Object/one"));
    assert_eq!(of(&one, &x), takes("pools.yaml", "Object/one"));
    assert_eq!(
        of(&x, &one),
        "may replace nodes: Object/one takes over NodePool x from pools.yaml, and what applies pools.yaml removes it with the nodes if it comes first"
    );
    assert_eq!(of(&work("c1", &x), &work("c2", &x)), takes("ManifestWork/w in c2", "ManifestWork/w in c1"));
    let (old, new) = (set("inputs: []", &x), set("inputs: []", &x).replace("{name: pools}", "{name: other}"));
    assert_eq!(of(&old, &new), takes("ResourceSet/other", "ResourceSet/pools"));
    // In another file, and what stays.
    let moved = verdict(&[("class.yaml", CLASS)], &[("a.yaml", &one, ""), ("b.yaml", "", &one)]);
    assert_eq!(moved, NONE);
    let orphaned = one.replace("spec:\n  provider", "spec:\n  deletionPolicy: Orphan\n  provider");
    assert_eq!(of(&orphaned, &two), NONE);
    let kept = |set: &str| {
        set.replacen(
            "spec:\n",
            "spec:\n  commonMetadata: {annotations: {fluxcd.controlplane.io/prune: disabled}}\n",
            1,
        )
    };
    assert_eq!(of(&kept(&old), &new), NONE);
}

#[test]
fn node_pools_of_several_clusters_in_one_file_are_told_apart() {
    const LABEL: &str = "spec.template.metadata.labels.team";
    let pools = ["a", "b"].map(|team| pool("x", team));
    let works = |first: usize, second: usize| work("c1", &pools[first]) + &work("c2", &pools[second]);
    let replaces = |cluster: &str| format!("replaces every node of 1 NodePool (x in {cluster}): {LABEL}");
    assert_eq!(of(&works(0, 0), &works(1, 0)), replaces("c1"));
    assert_eq!(of(&works(0, 0), &works(0, 1)), replaces("c2"));
    assert_eq!(of(&works(0, 0), &work("c1", &pools[0])), "removes the nodes of 1 NodePool (x in c2)");
    assert_eq!(of(&works(0, 1), &works(0, 1)), NONE);
    let objects =
        |second: usize| crossplane("one", "c1", &pools[0]) + &crossplane("two", "c2", &pools[second]);
    assert_eq!(of(&objects(0), &objects(1)), replaces("c2"));
    // One cluster has no name.
    assert_eq!(
        of(&work("c1", &pools[0]), &work("c1", &pools[1])),
        format!("replaces every node of 1 NodePool (x): {LABEL}")
    );
    // A NodePool that goes to another cluster.
    let other = |namespace: &str| work("c1", &pool("y", "a")) + &work(namespace, &pools[0]);
    assert_eq!(
        of(&(other("c1") + &work("c2", &pool("z", "a"))), &(other("c2") + &work("c2", &pool("z", "a")))),
        "removes the nodes of 1 NodePool (x in c1)"
    );
}

#[test]
fn kustomizations_change_the_objects_within_other_objects() {
    const LABEL: &str = "spec.template.metadata.labels.team";
    const DELETE: &str = "patches:\n- target: {kind: Object}\n  patch: '{$patch: delete, apiVersion: a, kind: Object, metadata: {name: one}}'\n";
    let base = "resources: [../base]\n";
    let patched = |kind: &str, path: &str| {
        format!(
            "{base}patches:\n- target: {{kind: {kind}}}\n  patch: |\n    - {{op: replace, path: {path}/spec/template/metadata/labels/team, value: z}}\n"
        )
    };
    let of = |text: &str, dev: [&str; 2], more: &[(&str, &str, &str)]| {
        let fixed = [("base/kustomization.yaml", "resources: [w.yaml]\n"), ("prod/kustomization.yaml", base)];
        let mut changes = vec![("dev/kustomization.yaml", dev[0], dev[1])];
        changes.extend(more);
        let text = [("base/w.yaml", text)];
        let own = if more.is_empty() { &text[..] } else { &[] };
        verdict(&[&fixed[..], own].concat(), &changes)
    };
    let (x, removes) = (pool("x", "a"), "removes the nodes of 1 NodePool (x in dev)");
    for (text, kind, path) in [
        (work("c", &x), "ManifestWork", "/spec/workload/manifests/0"),
        (crossplane("one", "c", &x), "Object", "/spec/forProvider/manifest"),
        (set("inputs: []", &x), "ResourceSet", "/spec/resources/0"),
    ] {
        let patched = patched(kind, path);
        let replaces = format!("replaces every node of 1 NodePool (x in dev): {LABEL}");
        assert_eq!(of(&text, [base, &patched], &[]), replaces, "{kind}");
        assert_eq!(of(&text, [base, "resources: []\n"], &[]), removes, "{kind}");
        let other = text.replace("team: a", "team: b");
        let of_base = of(&text, [&patched, &patched], &[("base/w.yaml", &text, &other)]);
        assert_eq!(of_base, format!("replaces every node of 1 NodePool (x in prod): {LABEL}"), "{kind}");
        let listed = ("kustomization.yaml", "resources: [w.yaml, ns.yaml]\n", "resources: [ns.yaml]\n");
        let unlisted = verdict(&[("w.yaml", &text), ("ns.yaml", crate::folder::OTHER)], &[listed]);
        assert_eq!(unlisted, "removes the nodes of 1 NodePool (x)", "{kind}");
    }
    assert_eq!(of(&crossplane("one", "c", &x), [base, &format!("{base}{DELETE}")], &[]), removes);
    // The names of the clusters are the ones that the overlays give.
    let place = |namespace: &str| {
        format!(
            "{base}patches:\n- target: {{kind: ManifestWork}}\n  patch: '[{{op: replace, path: /metadata/namespace, value: {namespace}}}]'\n"
        )
    };
    let (one, two) = (work("c", &x), work("c", &pool("x", "b")));
    assert_eq!(
        verdict(
            &[
                ("base/kustomization.yaml", "resources: [w.yaml]\n"),
                ("prod/kustomization.yaml", &place("prod")),
                ("dev/kustomization.yaml", &place("dev")),
            ],
            &[("base/w.yaml", &one, &two)]
        ),
        format!("replaces every node of 2 NodePools (x in dev, x in prod): {LABEL}")
    );
}

#[test]
fn an_object_of_crossplane_that_stays_deletes_nothing() {
    let x = |provider: &str, name: &str| crossplane("one", provider, &pool(name, "a"));
    let other = crossplane("two", "c3", &pool("x", "a"));
    assert_eq!(
        of(&(x("c1", "x") + &other), &(x("c2", "x") + &other)),
        "may replace nodes of 1 NodePool (x in c1): it may stay in the cluster: Object/one deletes it only when it is removed itself"
    );
    assert_eq!(
        of(&x("c1", "x"), &x("c1", "y")),
        "may replace nodes of 1 NodePool (x): it may stay in the cluster: Object/one deletes it only when it is removed itself"
    );
    let left = crossplane("two", "c1", &pool("z", "a"));
    assert_eq!(of(&(x("c1", "x") + &left), &left), "removes the nodes of 1 NodePool (x)");
}

#[test]
fn the_inputs_of_a_resource_set_are_its_own() {
    const MAY: &str =
        "may replace nodes of 1 NodePool (x-<< inputs.name >>): spec.template.metadata.labels.team";
    let named = pool("x-<< inputs.name >>", "<< inputs.team >>");
    let pools = |inputs: &str| set(&format!("inputs: [{inputs}]"), &named) + "---\n";
    let apps = |inputs: &str| {
        let app = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: << inputs.name >>, labels: {team: << inputs.team >>}}\n";
        set(&format!("inputs: [{inputs}]"), app).replace("{name: pools}", "{name: apps}")
    };
    let both = |own: &str, other: &str| pools(own) + &apps(other);
    let one = "{name: a, team: a, z: 1}";
    assert_eq!(of(&both(one, "{name: a, team: a}"), &both(one, "{name: a, team: b}")), NONE);
    assert_eq!(of(&both(one, one), &both(one, "")), NONE);
    assert_eq!(of(&pools(one), &pools("{name: a, team: b, z: 1}")), MAY);
    // A further input, what nothing reads, and inputs that exchange their values.
    assert_eq!(of(&pools(one), &pools(&format!("{one}, {{name: b, team: b}}"))), NONE);
    assert_eq!(of(&pools(one), &pools("{name: a, team: a, z: 2}")), NONE);
    let exchanged = ["a", "b"].map(|team| {
        let other = if team == "a" { "b" } else { "a" };
        pools(&format!("{{name: a, team: {team}}}, {{name: b, team: {other}}}"))
    });
    assert!(of(&exchanged[0], &exchanged[1]).starts_with("may replace nodes"));
    // Of two folders, only the one whose set changes.
    let folders = verdict(
        &[("dev/class.yaml", CLASS), ("prod/class.yaml", CLASS), ("dev/set.yaml", &pools(one))],
        &[("prod/set.yaml", &pools(one), &pools("{name: a, team: b}"))],
    );
    assert_eq!(folders, MAY.replace(">>)", ">> in prod)"));
    // A set that goes to another file and loses an input.
    let two = pools(&format!("{one}, {{name: b, team: a}}"));
    let moved = verdict(&[("class.yaml", CLASS)], &[("a.yaml", &two, ""), ("sets/b.yaml", "", &pools(one))]);
    assert!(moved.starts_with("may replace nodes"), "{moved}");
    // A variable with the name of an input.
    let map = |team: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\ndata: {{team: {team}}}\n")
    };
    assert_eq!(of(&(pools(one) + &map("a")), &(pools(one) + &map("b"))), NONE);
}

#[test]
fn a_further_provider_of_a_resource_set_makes_further_objects() {
    let provider = |name: &str| {
        format!(
            "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSetInputProvider\nmetadata: {{name: {name}, labels: {{app: k}}}}\nspec: {{type: Static, defaultValues: {{name: {name}}}}}\n---\n"
        )
    };
    let by_label = "inputsFrom: [{kind: ResourceSetInputProvider, selector: {matchLabels: {app: k}}}]";
    let read = |strategy: &str| set(&format!("{by_label}\n  {strategy}"), &pool("x-<< inputs.name >>", "a"));
    let [one, two] = [provider("a"), provider("a") + &provider("b")];
    assert_eq!(of(&(one.clone() + &read("")), &(two.clone() + &read(""))), NONE);
    for (old, new, strategy) in [(&two, &one, ""), (&one, &two, "inputStrategy: {name: Permute}")] {
        let answer = of(&(old.clone() + &read(strategy)), &(new.clone() + &read(strategy)));
        assert!(
            answer.starts_with("may replace nodes: ResourceSet/pools gets inputs in another way"),
            "{answer}"
        );
    }
}
