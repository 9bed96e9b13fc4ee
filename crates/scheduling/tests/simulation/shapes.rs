//! Inputs of many equal parts that make the scheduler compare everything with everything. The number of steps says how much work a
//! simulation is; it is the same on every machine.

use std::fmt::Write as _;

use karpenter::release::Release;
use karpwarden_scheduling::simulation::{Placement, Simulation, SimulationResult, SimulationSettings};
use manifest::File;
use manifest::limits::Limits;
use objects::object::Object;
use serde_json::{Value, json};

use crate::tree;

/// Steps of work for each pod that a simulation of a shape may take, reasons and changes included.
const MOST_PER_POD: u64 = 38_000;

fn node_class() -> Value {
    json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
        "spec": {"amiSelectorTerms": [{"alias": "al2023@latest"}]},
    })
}

/// NodePool with a template `{metadata, spec}` in which the node class is added.
fn pool(name: &str, mut template: Value) -> Value {
    template["spec"]["nodeClassRef"] =
        json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name},
        "spec": {"template": template},
    })
}

fn requiring(key: &str, values: &[String]) -> Value {
    json!({"spec": {"requirements": [{"key": key, "operator": "In", "values": values}]}})
}

/// NodePool with any instance type.
fn any_pool() -> Value {
    pool("default", json!({"spec": {"requirements": []}}))
}

/// Deployment whose pods have the label `app` with its name.
fn deployment(name: &str, replicas: usize, cpu: &str, mut spec: Value) -> Value {
    spec["containers"] = json!([{"name": "app", "resources": {"requests": {"cpu": cpu, "memory": "128Mi"}}}]);
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "template": {"metadata": {"labels": {"app": name, "all": "yes"}}, "spec": spec},
        },
    })
}

fn node(number: usize) -> Value {
    let name = format!("n{number}");
    let zone = ["us-east-1a", "us-east-1b", "us-east-1c"].get(number % 3);
    let amounts = json!({"cpu": "2", "memory": "8Gi", "pods": "58"});
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {
            "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone,
            "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "example.com/rack": format!("r{number}"),
        }},
        "status": {"capacity": amounts, "allocatable": amounts},
    })
}

fn numbered(count: usize, prefix: &str) -> Vec<String> {
    (0..count).map(|number| format!("{prefix}{number}")).collect()
}

fn spread(label: (&str, &str), key: &str) -> Value {
    json!({
        "maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {label.0: label.1}},
    })
}

fn repelling(label: (&str, &str), key: &str) -> Value {
    json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": key, "labelSelector": {"matchLabels": {label.0: label.1}}},
    ]}})
}

const HOST: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";
const RACK: &str = "example.com/rack";
const FAMILY: &str = "karpenter.k8s.aws/instance-family";

/// Preferred node affinities for zones that do not exist.
fn node_preferences(count: usize) -> Value {
    let term = |number: usize| {
        json!({"weight": 1 + number % 100, "preference": {"matchExpressions": [
            {"key": ZONE, "operator": "In", "values": [format!("z{number}")]},
        ]}})
    };
    json!({"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": (0..count).map(term).collect::<Vec<_>>()}})
}

/// Preferred pod affinities to pods that do not exist.
fn pod_preferences(of: usize, count: usize) -> Value {
    let term = |number: usize| {
        json!({"weight": 1 + number % 100, "podAffinityTerm": {
            "topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": format!("x{of}-{number}")}},
        }})
    };
    json!({"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": (0..count).map(term).collect::<Vec<_>>()}})
}

/// Deployments of one pod, each with its own requests.
fn deployments(count: usize, spec: impl Fn(usize) -> Value) -> Vec<Value> {
    (0..count)
        .map(|number| deployment(&format!("d{number}"), 1, &format!("{}m", 100 + number), spec(number)))
        .collect()
}

/// Simulates objects, and asks the result.
fn simulate<T>(objects: &[Vec<Value>], question: impl FnOnce(&SimulationResult<'_>) -> T) -> T {
    let mut text = String::new();
    for object in objects.iter().flatten() {
        writeln!(text, "---\n{object}").unwrap();
    }
    let file = File::read("-", text, &Limits::DEFAULT);
    let objects: Vec<Object<'_>> = file.documents.iter().filter_map(tree).flat_map(Object::all).collect();
    let mut settings = SimulationSettings::new(Release::parse("1.14.1").unwrap());
    settings.binds = true;
    settings.rounds = None;
    let simulation = Simulation::new(settings, &objects).unwrap();
    let result = simulation.run_with_remedies();
    question(&result)
}

/// The numbers of pods that have a place, that have none, and that were not tried.
fn totals(result: &SimulationResult<'_>) -> [usize; 3] {
    let count = |is: fn(&Placement<'_>) -> bool| result.pods.iter().filter(|pod| is(&pod.placement)).count();
    [
        count(|placement| matches!(placement, Placement::New(_) | Placement::Existing(_))),
        count(|placement| matches!(placement, Placement::Unplaced(_))),
        count(|placement| matches!(placement, Placement::Untried)),
    ]
}

/// Asserts the places of the pods of a shape at a size, and that the work stays in proportion to the pods.
fn assert_work(shape: &str, objects: &[Vec<Value>], expected: [usize; 3]) {
    simulate(objects, |result| {
        println!("{shape}: {} pods, {} + {} steps", result.pods.len(), result.steps, result.steps_of_reasons);
        assert_eq!(totals(result), expected, "{shape}");
        let pods = u64::try_from(result.pods.len()).unwrap();
        let most = pods * MOST_PER_POD;
        let steps = result.steps + result.steps_of_reasons;
        assert!(steps <= most, "{shape}: {steps} steps for {pods} pods");
    });
}

#[test]
fn compares_many_node_pools_with_many_deployments() {
    let n = 400;
    let labelled = |number: usize| {
        let team = format!("t{number}");
        pool(
            &format!("p{number}"),
            json!({"metadata": {"labels": {"team": team}}, "spec": {"requirements": []}}),
        )
    };
    let tainted = |number: usize| {
        let taint = json!({"key": format!("k{number}"), "effect": "NoSchedule"});
        pool(&format!("p{number}"), json!({"spec": {"requirements": [], "taints": [taint]}}))
    };
    let arm = |number: usize| pool(&format!("p{number}"), requiring(FAMILY, &["c7g".to_owned()]));
    let none = [0, n, 0];
    let pools = |make: &dyn Fn(usize) -> Value| (0..n).map(make).collect::<Vec<_>>();
    let selecting = deployments(n, |number| json!({"nodeSelector": {"team": format!("x{number}")}}));
    assert_work("label", &[vec![node_class()], pools(&labelled), selecting], none);
    assert_work("taint", &[vec![node_class()], pools(&tainted), deployments(n, |_| json!({}))], none);
    let large =
        (0..n).map(|number| deployment(&format!("d{number}"), 1, &format!("{}", 1000 + number), json!({})));
    assert_work("resources", &[vec![node_class()], pools(&arm), large.collect()], none);
    let selecting = deployments(
        n,
        |_| json!({"nodeSelector": {"kubernetes.io/arch": "amd64", "karpenter.k8s.aws/instance-size": "metal"}}),
    );
    assert_work("types", &[vec![node_class()], pools(&arm), selecting], none);
}

#[test]
fn spreads_pods_that_repel_each_other() {
    let n = 600;
    let both = |app: &str| {
        let mut spec = json!({"topologySpreadConstraints": [spread(("app", app), ZONE)]});
        spec["affinity"] = repelling(("app", app), HOST);
        spec
    };
    let one = vec![deployment("a", n, "100m", both("a"))];
    assert_work("equal pods", &[vec![node_class(), any_pool()], one], [n, 0, 0]);
    let of_all = |_| {
        let mut spec = json!({"topologySpreadConstraints": [spread(("all", "yes"), ZONE)]});
        spec["affinity"] = repelling(("all", "yes"), HOST);
        spec
    };
    assert_work("different pods", &[vec![node_class(), any_pool()], deployments(n, of_all)], [n, 0, 0]);
    let groups = (0..n / 10).map(|number| {
        let app = format!("a{number}");
        deployment(&app, 10, "100m", both(&app))
    });
    assert_work("groups", &[vec![node_class(), any_pool()], groups.collect()], [n, 0, 0]);
    let zonal = (0..n / 6).map(|number| {
        let app = format!("a{number}");
        deployment(&app, 6, "100m", json!({"affinity": repelling(("app", &app), ZONE)}))
    });
    assert_work("zones", &[vec![node_class(), any_pool()], zonal.collect()], [n / 2, n / 2, 0]);
}

#[test]
fn knows_many_domains() {
    let n = 400;
    let racks = pool("default", requiring(RACK, &numbered(n, "r")));
    let one =
        vec![deployment("a", n, "100m", json!({"topologySpreadConstraints": [spread(("app", "a"), RACK)]}))];
    assert_work("one spread", &[vec![node_class(), racks.clone()], one], [n, 0, 0]);
    let own = deployments(
        n,
        |number| json!({"topologySpreadConstraints": [spread(("app", &format!("d{number}")), RACK)]}),
    );
    assert_work("own spreads", &[vec![node_class(), racks.clone()], own], [n, 0, 0]);
    let repelling = vec![deployment("a", n, "100m", json!({"affinity": repelling(("app", "a"), RACK)}))];
    simulate(&[vec![node_class(), racks], repelling], |result| {
        let pods = u64::try_from(n).unwrap();
        assert!(result.steps <= pods * MOST_PER_POD, "{}", result.steps);
        // Each round commits a few racks, and there are no more than a hundred rounds.
        let [placed, unplaced, untried] = totals(result);
        assert_eq!((placed + unplaced, untried), (n, 0));
        assert!(placed > 0);
    });
    let nodes: Vec<Value> = (0..n).map(node).collect();
    let spreads =
        json!({"topologySpreadConstraints": [spread(("app", "a"), RACK), spread(("app", "a"), HOST)]});
    let spreading = vec![deployment("a", n, "100m", spreads)];
    assert_work("nodes", &[vec![node_class(), any_pool()], nodes, spreading], [n, 0, 0]);
}

#[test]
fn relaxes_many_preferences() {
    let n = 200;
    let equal = vec![deployment("a", n, "100m", json!({"affinity": node_preferences(100)}))];
    assert_work("equal pods", &[vec![node_class(), any_pool()], equal], [n, 0, 0]);
    let own = deployments(n, |_| json!({"affinity": node_preferences(100)}));
    assert_work("own node preferences", &[vec![node_class(), any_pool()], own], [n, 0, 0]);
    let own = deployments(n, |number| json!({"affinity": pod_preferences(number, 100)}));
    assert_work("own pod preferences", &[vec![node_class(), any_pool()], own], [n, 0, 0]);
    let nowhere = deployments(
        n,
        |number| json!({"affinity": node_preferences(100), "nodeSelector": {"team": format!("x{number}")}}),
    );
    assert_work("nowhere", &[vec![node_class(), any_pool()], nowhere], [0, n, 0]);
}

#[test]
fn compares_many_nodes_with_many_pods() {
    let n = 400;
    let nodes = || (0..n).map(node).collect::<Vec<Value>>();
    let arm = || pool("default", requiring(FAMILY, &["c7g".to_owned()]));
    let large =
        (0..n).map(|number| deployment(&format!("d{number}"), 1, &format!("{}", 1000 + number), json!({})));
    assert_work("resources", &[vec![node_class(), arm()], nodes(), large.collect()], [0, n, 0]);
    let selecting = deployments(n, |_| json!({"nodeSelector": {"team": "x"}}));
    assert_work("labels", &[vec![node_class(), arm()], nodes(), selecting], [0, n, 0]);
    // Equal pods ask about the nodes once.
    let term = json!({"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "none"}}});
    let affinity = json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}});
    let lonely = vec![deployment("a", n, "100m", json!({"affinity": affinity}))];
    simulate(&[vec![node_class(), arm()], nodes(), lonely], |result| {
        assert_eq!(totals(result), [0, n, 0]);
        assert!(result.steps < u64::try_from(100 * n).unwrap(), "{} steps", result.steps);
    });
}

#[test]
fn explains_many_groups_without_a_place() {
    let n = 400;
    let tainted =
        pool("b", json!({"spec": {"requirements": [], "taints": [{"key": "k", "effect": "NoSchedule"}]}}));
    let arm = pool("a", requiring(FAMILY, &["c7g".to_owned()]));
    let large = (0..n).map(|number| {
        let spec = json!({"nodeSelector": {"kubernetes.io/arch": "arm64"}});
        deployment(&format!("d{number}"), 2, &format!("{}", 200 + number), spec)
    });
    assert_work("groups", &[vec![node_class(), arm, tainted], large.collect()], [0, 2 * n, 0]);
}

#[test]
fn shares_the_reasons_of_equal_pods() {
    use std::rc::Rc;

    let pods = vec![deployment("a", 50, "2000", json!({}))];
    simulate(&[vec![node_class(), any_pool()], pods], |result| {
        let mut all = result.pods.iter().map(|pod| match &pod.placement {
            Placement::Unplaced(unplaced) => Rc::clone(unplaced),
            other => panic!("{other:?}"),
        });
        let first = all.next().unwrap();
        assert!(!first.reasons.first().unwrap().unmet.is_empty());
        assert!(all.all(|other| Rc::ptr_eq(&first, &other)));
    });
}

#[test]
fn tells_the_pods_that_the_work_does_not_suffice_for() {
    let pools = (0..300).map(|number| {
        let taint = json!({"key": format!("k{number}"), "effect": "NoSchedule"});
        pool(&format!("p{number}"), json!({"spec": {"requirements": [], "taints": [taint]}}))
    });
    let pods = deployments(
        300,
        |number| json!({"affinity": pod_preferences(number, 200), "nodeSelector": {"team": format!("x{number}")}}),
    );
    let objects = [vec![node_class()], pools.collect(), pods];
    let run = || {
        simulate(&objects, |result| {
            let [placed, unplaced, untried] = totals(result);
            assert_eq!((placed, placed + unplaced + untried), (0, 300));
            assert!(untried > 0 && unplaced > 0, "{unplaced} of 300 pods were tried");
            assert!(result.steps + result.steps_of_reasons <= 300 * MOST_PER_POD, "{}", result.steps);
            (unplaced, result.steps)
        })
    };
    assert_eq!(run(), run());
    let nodes = (0..300).map(node);
    let pods = deployments(300, |number| json!({"affinity": pod_preferences(number, 200)}));
    simulate(&[vec![node_class(), any_pool()], nodes.collect(), pods], |result| {
        let [placed, _, untried] = totals(result);
        assert!(placed > 0 && placed + untried == 300, "{placed} of 300 pods have a place");
    });
}
