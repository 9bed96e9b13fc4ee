//! Tests of the objects that an object in an environment sees.

use super::*;
use karpenter::kind::Kind;
use manifest::Document;
use objects::embedded::READ_OPTIONS;

const POD: &str = r"apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: []}
";

fn pool(name: &str) -> String {
    format!(
        r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
"
    )
}

/// Calls `then` with the environments of some files.
fn with<T>(files: &[(&str, &str)], then: impl FnOnce(Environments<'_>) -> T) -> T {
    let read: Vec<File> = files.iter().map(|(name, text)| File::read(*name, *text, READ_OPTIONS)).collect();
    let mut objects = Vec::new();
    for (id, file) in files_of(ClusterId::FIRST, &read) {
        for (index, document) in file.documents.iter().enumerate() {
            let Document::Read(tree) = document else { panic!("{document:?}") };
            let of_document = Object::all(tree).into_iter();
            objects.extend(of_document.map(|object| InputObject::unbuilt(object, id.document(index))));
        }
    }
    then(Environments::of(ClusterId::FIRST, &read, &objects, false))
}

/// The names of the NodePools that each file sees; `whole input` without environments.
fn seen(files: &[(&str, &str)]) -> Vec<String> {
    with(files, |environments| {
        let of_file = |index: usize| match environments.inventory(FileId { cluster: ClusterId::FIRST, index })
        {
            Some(inventory) => {
                inventory.objects_of(Kind::NODE_POOL).map(Object::name).collect::<Vec<_>>().join(" ")
            }
            None => "whole input".to_owned(),
        };
        (0..files.len()).map(of_file).collect()
    })
}

#[test]
fn environment_sees_itself_and_the_outside() {
    let pools = ["dev", "prod", "shared"].map(pool);
    let files = [
        ("envs/dev/pool.yaml", pools[0].as_str()),
        ("envs/prod/pool.yaml", &pools[1]),
        ("base/pool.yaml", &pools[2]),
        ("envs/dev/apps/pod.yaml", POD),
        ("apps/pod.yaml", POD),
    ];
    assert_eq!(seen(&files), ["dev shared", "prod shared", "shared", "dev shared", "shared"]);
}

#[test]
fn environments_within_an_environment_see_the_objects_around_them() {
    let pools = ["dev", "eu", "us", "prod"].map(pool);
    let files = [
        ("dev/pool.yaml", pools[0].as_str()),
        ("prod/eu-west-1/pool.yaml", &pools[1]),
        ("prod/us-east-1/pool.yaml", &pools[2]),
        ("prod/common/pool.yaml", &pools[3]),
    ];
    assert_eq!(seen(&files), ["dev", "eu prod", "us prod", "prod"]);
    let folders: Vec<_> =
        with(&files, |environments| environments.groups().iter().map(|group| group.join(" ")).collect());
    assert_eq!(folders, ["dev prod", "prod/eu-west-1 prod/us-east-1"]);
}

#[test]
fn folders_without_objects_to_compare_are_no_environments() {
    let pool = pool("a");
    for files in [
        &[("dev/pool.yaml", pool.as_str()), ("prod/config.yaml", "apiVersion: v1\nkind: ConfigMap\n")][..],
        &[("dev/pod.yaml", POD), ("prod/pod.yaml", POD), ("pool.yaml", &pool)],
        &[("a/pool.yaml", &pool), ("b/pool.yaml", &pool)],
        &[("dev/pool.yaml", &pool), ("dev/pod.yaml", POD)],
    ] {
        assert_eq!(seen(files)[0], "whole input", "{files:?}");
    }
    let files = [("dev/pod.yaml", POD), ("prod/pool.yaml", pool.as_str())];
    assert_eq!(seen(&files), ["", "a"]);
}

#[test]
fn many_environments_do_not_copy_the_objects_outside() {
    let outside: Vec<(String, String)> =
        (0..50).map(|number| (format!("base/{number}.yaml"), pool(&format!("base-{number}")))).collect();
    let inside: Vec<(String, String)> =
        (0..50).map(|number| (format!("clusters/c{number}/pool.yaml"), pool("own"))).collect();
    let all: Vec<(&str, &str)> =
        inside.iter().chain(&outside).map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let seen = seen(&all);
    assert_eq!(seen[0], "own");
    assert!(seen[50].starts_with("base-0 base-1 "));
}

#[test]
fn few_large_environments_see_the_objects_outside() {
    let pools = |folder: &str| {
        let pools: Vec<String> = (0..40).map(|number| pool(&format!("{folder}-{number}"))).collect();
        pools.join("---\n")
    };
    let (dev, prod, base) = (pools("dev"), pools("prod"), pools("base"));
    let seen = seen(&[("dev/a.yaml", dev.as_str()), ("prod/a.yaml", &prod), ("base/a.yaml", &base)]);
    assert!(seen[0].starts_with("dev-0 ") && seen[0].ends_with(" base-39"), "{seen:?}");
    assert!(seen[1].starts_with("prod-0 ") && seen[1].ends_with(" base-39"), "{seen:?}");
}

#[test]
fn any_object_of_a_cluster_makes_a_folder_look_like_one() {
    let beside = |text: &str| seen(&[("dev/pod.yaml", POD), ("prod/a.yaml", text)]).swap_remove(0);
    for text in [
        &pool("a"),
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\n",
        r"apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
spec: {chart: {spec: {chart: karpenter}}, values: {}}
",
        r"apiVersion: apps/v1
kind: Deployment
spec: {template: {spec: {containers: [{image: 'public.ecr.aws/karpenter/controller:1.8.0'}]}}}
",
        "Version: '2012-10-17'\nStatement: [{Effect: Allow, Action: 'ec2:RunInstances', Resource: '*'}]\n",
    ] {
        assert_eq!(beside(text), "", "{text}");
    }
    assert_eq!(beside(POD), "whole input");
}

#[test]
fn objects_outside_know_that_environments_see_them() {
    let pool = pool("a");
    let files =
        [("envs/dev/pool.yaml", pool.as_str()), ("envs/prod/pool.yaml", &pool), ("base/pool.yaml", &pool)];
    let known: Vec<bool> = with(&files, |environments| {
        let of_file = |index| {
            let file = FileId { cluster: ClusterId::FIRST, index };
            environments.inventory(file).is_some_and(Inventory::has_environments)
        };
        (0..files.len()).map(of_file).collect()
    });
    assert_eq!(known, [false, false, true]);
}
