//! Changes of whole objects.

use ::objects::object::Object;
use karpenter::kind::Kind;
use karpenter::release::Release;
use karpwarden_drift::{Effect, HashOptions, ObjectChangeKind, changes};
use manifest::File;
use manifest::limits::Limits;
use manifest::tree::Tree;

const POOL: &str = "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: {spec: {requirements: [], \
                    nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: b}}}}}";
const CLASS: &str = "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: b}, spec: {role: r, amiSelectorTerms: [{alias: \
                     al2023@v20250101}], subnetSelectorTerms: [{id: subnet-1}], securityGroupSelectorTerms: [{id: sg-1}]}}";

fn file(documents: &[&str]) -> File {
    File::read("a.yaml", documents.join("\n---\n"), &Limits::DEFAULT)
}

fn objects(file: &File) -> Vec<Object<'_>> {
    let roots = file.trees().map(Tree::root);
    let kind = |name| if name == Some("NodePool") { Kind::NODE_POOL } else { Kind::NODE_CLASS };
    roots.map(|root| Object::of_kind(root, kind(root.str_at(&["kind"])))).collect()
}

/// Each change: the name, how it changes, the effect, and the NodePools that it concerns.
fn changed(old: &[&str], new: &[&str]) -> Vec<(String, ObjectChangeKind, Effect, Vec<String>)> {
    let (old, new) = (file(old), file(new));
    let options = HashOptions::new(Release::parse("1.14").unwrap());
    let all = changes(&objects(&old), &objects(&new), &options);
    let row = |change: &karpwarden_drift::ObjectChange<'_>| {
        let name = change.object().unwrap().name().to_owned();
        (
            name,
            change.change,
            change.effect,
            change.node_pools.iter().map(|pool| (*pool).to_owned()).collect(),
        )
    };
    all.iter().map(row).collect()
}

#[test]
fn a_removed_pool_takes_its_nodes_and_a_class_concerns_the_pools_that_use_it() {
    use ObjectChangeKind::{Added, Changed, Removed};
    let pools = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let row = |name: &str, change, effect| (name.to_owned(), change, effect, pools(&["a"]));
    assert_eq!(changed(&[POOL, CLASS], &[CLASS, POOL]), []);
    assert_eq!(changed(&[POOL], &[POOL, CLASS]), [row("b", Added, Effect::NewNodes)]);
    assert_eq!(changed(&[POOL, CLASS], &[CLASS]), [row("a", Removed, Effect::RemovesNodes)]);
    assert_eq!(changed(&[POOL, CLASS], &[POOL]), [row("b", Removed, Effect::ActsAtOnce)]);
    let tagged = CLASS.replace("role: r", "role: r, tags: {a: b}");
    assert_eq!(changed(&[POOL, CLASS], &[POOL, &tagged]), [row("b", Changed, Effect::ReplacesAll)]);
    let newer = CLASS.replace("v20250101", "v20250202");
    assert_eq!(changed(&[POOL, CLASS], &[POOL, &newer]), [row("b", Changed, Effect::ReplacesAll)]);
    let written_out = POOL.replace("requirements: []", "requirements: [], expireAfter: 43200m");
    assert_eq!(changed(&[POOL], &[&written_out]), [row("a", Changed, Effect::None)]);
    let narrow = POOL.replace(
        "requirements: []",
        "requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]",
    );
    assert_eq!(changed(&[POOL], &[&narrow]), [row("a", Changed, Effect::ReplacesSome)]);
    assert_eq!(changed(&[&narrow], &[POOL]), [row("a", Changed, Effect::NewNodes)]);
}

#[test]
fn narrower_requirements_replace_nodes_and_wider_ones_do_not() {
    let with = |requirement: &str| {
        POOL.replace("requirements: []", &format!("requirements: [{{key: team, {requirement}}}]"))
    };
    let gt = |bound: &str| format!("operator: Gt, values: ['{bound}']");
    let (exists, not_x) = ("operator: Exists", "operator: NotIn, values: [x]");
    let (a, a_b) = ("operator: In, values: [a]", "operator: In, values: [a, b]");
    for (old, new, expected) in [
        (gt("2"), gt("5"), Effect::ReplacesSome),
        (gt("5"), gt("2"), Effect::NewNodes),
        (exists.to_owned(), gt("5"), Effect::ReplacesSome),
        (gt("5"), exists.to_owned(), Effect::NewNodes),
        // A node without the label was accepted before.
        (not_x.to_owned(), exists.to_owned(), Effect::ReplacesSome),
        (a.to_owned(), not_x.to_owned(), Effect::NewNodes),
        (a.to_owned(), a_b.to_owned(), Effect::NewNodes),
        (a_b.to_owned(), a.to_owned(), Effect::ReplacesSome),
        (a_b.to_owned(), format!("{a_b}, minValues: 2"), Effect::NewNodes),
        (a_b.to_owned(), "operator: In, values: [b, a]".to_owned(), Effect::None),
    ] {
        let found = changed(&[&with(&old)], &[&with(&new)]);
        assert_eq!(found.first().map(|row| row.2), Some(expected), "{old} -> {new}");
    }
}

#[test]
fn a_value_that_karpenter_cannot_decode_hides_no_other_change() {
    let class = |role: &str, alias: &str| {
        CLASS.replace("role: r", &format!("role: {role}")).replace("al2023@v20250101", alias)
    };
    let paths = |old: &str, new: &str| {
        let (old, new) = (file(&[old]), file(&[new]));
        let all = changes(&objects(&old), &objects(&new), &HashOptions::new(Release::parse("1.14").unwrap()));
        all.into_iter().flat_map(|change| change.fields).map(|field| field.path).collect::<Vec<_>>()
    };
    assert_eq!(paths(&class("a", "'${AMI}'"), &class("b", "'${AMI}'")), ["spec.role"]);
    assert_eq!(
        paths(&class("a", "'${AMI}'"), &class("a", "al2023@latest")),
        ["spec.amiFamily", "spec.amiSelectorTerms"]
    );
    let reordered =
        CLASS.replace("[{alias: al2023@v20250101}]", "[{id: ami-1}, {id: ami-2}], amiFamily: AL2023");
    let other = reordered.replace("[{id: ami-1}, {id: ami-2}]", "[{id: ami-2}, {id: ami-1}]");
    assert_eq!(paths(&reordered, &other), [""; 0]);
}
