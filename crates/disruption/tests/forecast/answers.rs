//! Answers of forecasts about small clusters. Each node has room for one of its pods alone, so that each needs a new node.

use std::collections::BTreeMap;

use karpenter::release::Release;
use karpwarden_disruption::drain::DrainReason;
use karpwarden_disruption::forecast::{
    Forecast, ForecastSettings, LimitedBy, RollReason, RolledNode, forecast,
};
use karpwarden_disruption::settings::DisruptionSettings;
use manifest::File;
use manifest::limits::Limits;
use serde_json::{Value as Json, json};
use values::duration::Duration;
use values::timestamp::Timestamp;

/// A Wednesday.
const NOW: &str = "2026-03-11T10:30:00Z";

/// A cluster of some nodes with one pod each, under budgets.
struct Small {
    budgets: Json,
    items: Vec<Json>,
    nodes: usize,
    release: Release,
    /// Change of the NodePool.
    pool: fn(&mut Json),
    /// The time at which the nodes drift.
    since: Timestamp,
}

impl Small {
    fn new(nodes: usize, budgets: Json) -> Self {
        let mut items = Vec::new();
        for number in 1..=nodes {
            items.extend(node(number));
        }
        Self { budgets, items, nodes, release: Release::NEWEST, pool: |_| {}, since: time(NOW) }
    }

    /// The same cluster in a release, with empty nodes.
    fn empty_in(mut self, release: &str) -> Self {
        self.items.retain(|item| item["kind"] != "Pod");
        self.release = Release::parse(release).unwrap();
        self
    }

    /// Changes the objects of a kind and a name.
    fn with(mut self, kind: &str, name: &str, change: impl Fn(&mut Json)) -> Self {
        let is_it = |item: &&mut Json| item["kind"] == kind && item["metadata"]["name"] == name;
        self.items.iter_mut().filter(is_it).for_each(change);
        self
    }

    /// Changes all objects of a kind.
    fn with_all(mut self, kind: &str, change: impl Fn(&mut Json)) -> Self {
        self.items.iter_mut().filter(|item| item["kind"] == kind).for_each(change);
        self
    }

    fn and(mut self, item: Json) -> Self {
        self.items.push(item);
        self
    }

    /// Asks about the forecast in which all nodes drift.
    fn ask(self, ask: impl FnOnce(&Forecast<'_>)) {
        self.ask_with(&ForecastSettings::default(), ask);
    }

    fn ask_with(self, how: &ForecastSettings, ask: impl FnOnce(&Forecast<'_>)) {
        let Self { budgets, mut items, nodes, release, pool, since } = self;
        items.push(json!({
            "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
            "spec": {"amiSelectorTerms": [{"alias": "al2023@latest"}]},
        }));
        items.push(json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"},
            "spec": {
                "disruption": {"budgets": budgets},
                "template": {"spec": {
                    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                    "requirements": [
                        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m5.xlarge"]},
                        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
                    ],
                }},
            },
        }));
        items.last_mut().map(pool);
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
        let file = File::read("small.json", list.to_string(), &Limits::DEFAULT);
        let objects = crate::objects(&file);
        let now = time(NOW);
        let names: Vec<String> = (1..=nodes).map(|number| format!("n{number}")).collect();
        let drifted: BTreeMap<&str, Timestamp> = names.iter().map(|name| (name.as_str(), since)).collect();
        let settings = DisruptionSettings::new(release, now);
        ask(&forecast(&objects, &settings, &drifted, how));
    }
}

fn time(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn node(number: usize) -> [Json; 3] {
    let name = format!("n{number}");
    let labels = json!({
        "kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
        "karpenter.sh/nodepool": "default", "karpenter.sh/capacity-type": "on-demand",
        "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true",
        "node.kubernetes.io/instance-type": "m5.xlarge", "topology.kubernetes.io/zone": "us-east-1a",
    });
    let status = json!({
        "providerID": format!("aws:///us-east-1a/{name}"), "nodeName": name,
        "capacity": {"cpu": "4", "memory": "15Gi", "pods": "58"},
        "allocatable": {"cpu": "3900m", "memory": "14Gi", "pods": "58"},
        "conditions": [{"type": "Ready", "status": "True"}],
    });
    [
        json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "spec": {"providerID": status["providerID"]}, "status": status,
        }),
        json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
            "metadata": {"name": format!("default-{number}"), "labels": labels, "creationTimestamp": "2026-03-01T00:00:00Z"},
            "spec": {"expireAfter": "720h"}, "status": status,
        }),
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": format!("web-{number}"), "namespace": "shop", "labels": {"app": "web", "number": format!("{number}")}},
            "spec": {
                "nodeName": name, "terminationGracePeriodSeconds": 30,
                "containers": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}],
            },
            "status": {"phase": "Running", "startTime": "2026-03-01T00:00:00Z"},
        }),
    ]
}

/// A budget that never lets the pod of a node go.
fn pod_budget(number: usize) -> Json {
    json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "all", "namespace": "shop"},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"number": format!("{number}")}}},
        "status": {"disruptionsAllowed": 0},
    })
}

/// The times at which the nodes start and end, with `-` for never.
fn times(forecast: &Forecast<'_>) -> Vec<String> {
    let clock = |time: Option<Timestamp>| time.map_or_else(|| "-".to_owned(), |time| time.to_string());
    let line = |node: &RolledNode<'_>| format!("{} {} {}", node.name, clock(node.start), clock(node.end));
    forecast.nodes.iter().map(line).collect()
}

fn limited_by(forecast: &Forecast<'_>) -> LimitedBy {
    assert_eq!(forecast.rollouts.len(), 1);
    forecast.rollouts[0].limited_by
}

#[test]
fn replaces_one_node_after_the_other_under_a_budget_of_one() {
    Small::new(3, json!([{"nodes": "1"}])).ask(|forecast| {
        // Two minutes until the new node has started, and half a minute for the drain.
        assert_eq!(
            times(forecast),
            [
                "n1 2026-03-11T10:30:00Z 2026-03-11T10:32:30Z",
                "n2 2026-03-11T10:32:30Z 2026-03-11T10:35:00Z",
                "n3 2026-03-11T10:35:00Z 2026-03-11T10:37:30Z",
            ]
        );
        let rollout = &forecast.rollouts[0];
        assert_eq!((rollout.nodes, rollout.extra_nodes, rollout.limited_by), (3, 1, LimitedBy::Budget));
        assert_eq!(rollout.end, Some(time("2026-03-11T10:37:30Z")));
        assert_eq!((forecast.moved_pods, forecast.peak_extra_nodes, forecast.is_cut), (3, 1, false));
        assert_eq!(forecast.pending_pods, []);
        let cost = forecast.cost;
        assert!(cost.before > 0.0 && (cost.before - cost.after).abs() < 1e-9, "{cost:?}");
        assert!((cost.peak - cost.before * 4.0 / 3.0).abs() < 1e-9, "{cost:?}");
    });
}

#[test]
fn replaces_all_nodes_at_once_without_a_limit() {
    Small::new(3, json!([{"nodes": "100%"}])).ask(|forecast| {
        assert_eq!((limited_by(forecast), forecast.peak_extra_nodes), (LimitedBy::None, 3));
        assert!(forecast.nodes.iter().all(|node| node.end == Some(time("2026-03-11T10:32:30Z"))));
    });
}

#[test]
fn waits_for_the_window_of_a_schedule() {
    // Disruption is allowed from Saturday 22:00 to Sunday 06:00.
    let budgets = json!([{"nodes": "1"}, {"nodes": "0", "schedule": "0 6 * * 0", "duration": "160h"}]);
    Small::new(2, budgets).ask(|forecast| {
        assert_eq!(
            times(forecast),
            ["n1 2026-03-14T22:00:00Z 2026-03-14T22:02:30Z", "n2 2026-03-14T22:02:30Z 2026-03-14T22:05:00Z",]
        );
        assert_eq!(limited_by(forecast), LimitedBy::Schedule);
    });
}

#[test]
fn starts_no_node_after_the_end_of_a_window() {
    // 15 minutes from Saturday 22:00 are enough for six nodes in turn; the other one waits for a week.
    let budgets = json!([{"nodes": "1"}, {"nodes": "0", "schedule": "15 22 * * 6", "duration": "167h45m"}]);
    Small::new(7, budgets).ask(|forecast| {
        let times = times(forecast);
        assert_eq!(times[5], "n6 2026-03-14T22:12:30Z 2026-03-14T22:15:00Z");
        assert_eq!(times[6], "n7 2026-03-21T22:00:00Z 2026-03-21T22:02:30Z");
    });
}

#[test]
fn never_replaces_a_node_under_a_budget_of_zero() {
    Small::new(2, json!([{"nodes": "0"}])).ask(|forecast| {
        assert_eq!(times(forecast), ["n1 - -", "n2 - -"]);
        assert_eq!(limited_by(forecast), LimitedBy::Budget);
        let first = &forecast.nodes[0];
        assert!(first.never);
        assert!(
            matches!(first.because.as_slice(), [RollReason::Budget(0), RollReason::Expires(_)]),
            "{first:?}"
        );
    });
}

#[test]
fn long_drains_limit_a_rollout() {
    let slow = |pod: &mut Json| pod["spec"]["terminationGracePeriodSeconds"] = json!(3600);
    Small::new(2, json!([{"nodes": "1"}])).with_all("Pod", slow).ask(|forecast| {
        assert_eq!(limited_by(forecast), LimitedBy::Drain);
        assert_eq!(times(forecast)[0], "n1 2026-03-11T10:30:00Z 2026-03-11T11:32:00Z");
    });
}

#[test]
fn pods_without_a_place_keep_their_node() {
    let special = |pod: &mut Json| pod["spec"]["nodeSelector"] = json!({"disk": "local"});
    Small::new(2, json!([{"nodes": "1"}])).with("Pod", "web-1", special).ask(|forecast| {
        assert_eq!(times(forecast), ["n1 - -", "n2 2026-03-11T10:30:00Z 2026-03-11T10:32:30Z"]);
        assert_eq!(limited_by(forecast), LimitedBy::Capacity);
        let RollReason::NoPlace(message) = &forecast.nodes[0].because[0] else { panic!("{forecast:?}") };
        assert!(message.starts_with("Not all pods would schedule, shop/web-1 => "), "{message}");
    });
}

/// Ends by itself, as the pod of a Job.
fn not_restarted(pod: &mut Json) {
    pod["spec"]["restartPolicy"] = json!("Never");
}

/// A NodePool that launches no node beside a number of others. The node that is replaced does not count.
fn limited(nodes: u32) -> impl Fn(&mut Json) {
    move |pool| pool["spec"]["limits"] = json!({"cpu": format!("{}", nodes * 4)})
}

#[test]
fn pods_that_end_by_themselves_make_room() {
    let waits = |node: &RolledNode<'_>, pods: &[&str]| {
        let RollReason::NoPlaceYet { ending, message } = &node.because[0] else { panic!("{node:?}") };
        assert_eq!(ending, pods);
        assert!(message.starts_with("Not all pods would schedule, shop/"), "{message}");
        assert!(!node.never && node.start.is_none(), "{node:?}");
    };
    // The pod of a Job on another node, and on the node itself.
    let full = || Small { pool: |pool| limited(1)(pool), ..Small::new(2, json!([{"nodes": "1"}])) };
    full().with("Pod", "web-2", not_restarted).ask(|forecast| {
        waits(&forecast.nodes[0], &["shop/web-2"]);
        waits(&forecast.nodes[1], &["shop/web-2"]);
    });
    // Without such pods, only a change of the objects makes room.
    full().ask(|forecast| {
        for node in &forecast.nodes {
            assert!(node.never && matches!(node.because[0], RollReason::NoPlace(_)), "{node:?}");
        }
    });
    // A pod that asks for what no NodePool offers finds no place, whatever ends.
    let special = |pod: &mut Json| pod["spec"]["nodeSelector"] = json!({"disk": "local"});
    full().with("Pod", "web-1", special).with("Pod", "web-2", not_restarted).ask(|forecast| {
        assert!(forecast.nodes[0].never, "{forecast:?}");
        assert!(matches!(forecast.nodes[0].because[0], RollReason::NoPlace(_)), "{forecast:?}");
        waits(&forecast.nodes[1], &["shop/web-2"]);
    });
}

#[test]
fn nodes_that_are_empty_after_a_job_give_their_limits_back() {
    let elsewhere =
        |pod: &mut Json| pod["spec"]["nodeSelector"] = json!({"topology.kubernetes.io/zone": "us-east-1b"});
    for (after, never) in [("0s", false), ("Never", true)] {
        let pool: fn(&mut Json) = if never {
            |pool| {
                limited(1)(pool);
                pool["spec"]["disruption"]["consolidateAfter"] = json!("Never");
            }
        } else {
            |pool| limited(1)(pool)
        };
        let small = Small { pool, ..Small::new(2, json!([{"nodes": "1"}])) };
        small.with("Pod", "web-1", elsewhere).with("Pod", "web-2", not_restarted).ask(|forecast| {
            assert_eq!(forecast.nodes[0].never, never, "{after}: {forecast:?}");
        });
    }
}

#[test]
fn a_pod_budget_keeps_the_pod_of_a_job_only_until_it_ends() {
    Small::new(1, json!([{"nodes": "1"}])).and(pod_budget(1)).with("Pod", "web-1", not_restarted).ask(
        |forecast| {
            let node = &forecast.nodes[0];
            assert!(!node.never && node.start.is_none(), "{node:?}");
            assert!(matches!(node.because[0], RollReason::Blocked(_)), "{node:?}");
        },
    );
}

#[test]
fn a_pod_budget_that_allows_nothing_keeps_a_node_but_not_the_others() {
    Small::new(3, json!([{"nodes": "1"}])).and(pod_budget(1)).ask(|forecast| {
        let node = &forecast.nodes[0];
        assert!(node.never && node.start.is_none(), "{node:?}");
        let [RollReason::Blocked(blocker), RollReason::Expires(end)] = node.because.as_slice() else {
            panic!("{node:?}")
        };
        let message = blocker.message(Release::NEWEST);
        assert_eq!(message, "pdb prevents pod evictions (PodDisruptionBudget=[shop/all])");
        assert_eq!(*end, time("2026-03-31T00:00:00Z"));
        assert!(forecast.nodes[1..].iter().all(|node| node.end.is_some() && !node.never));
        assert_eq!(forecast.rollouts[0].end, None);
    });
}

#[test]
fn a_drain_that_never_ends_uses_up_the_budget() {
    let deleted = |claim: &mut Json| claim["metadata"]["deletionTimestamp"] = json!("2026-03-11T10:00:00Z");
    let small = || Small::new(3, json!([{"nodes": "1"}])).with("NodeClaim", "default-1", deleted);
    small().and(pod_budget(1)).ask(|forecast| {
        assert_eq!(times(forecast), ["n1 2026-03-11T10:30:00Z -", "n2 - -", "n3 - -"]);
        assert_eq!(limited_by(forecast), LimitedBy::Drain);
        let node = &forecast.nodes[0];
        let reason = &node.because[0];
        assert!(node.never, "{node:?}");
        assert!(matches!(reason, RollReason::Drain(DrainReason::BudgetAllowsNone(..))), "{reason:?}");
        assert!(!forecast.nodes[1].never);
    });
    small().ask(|forecast| assert!(forecast.nodes.iter().all(|node| node.end.is_some())));
}

#[test]
fn a_termination_grace_period_ends_the_drain_of_protected_pods() {
    let limited = |claim: &mut Json| claim["spec"]["terminationGracePeriod"] = json!("1h");
    let small = Small::new(1, json!([{"nodes": "1"}])).with_all("NodeClaim", limited);
    small.and(pod_budget(1)).ask(|forecast| {
        // Karpenter cannot evict the pod, so it does not simulate it and launches no replacement first.
        assert_eq!(times(forecast), ["n1 2026-03-11T10:30:00Z 2026-03-11T11:30:00Z"]);
        assert!(!forecast.nodes[0].never);
        assert_eq!((forecast.moved_pods, forecast.pending_pods.len()), (1, 0));
    });
}

#[test]
fn a_protection_with_an_end_delays_a_node() {
    let protect = |pod: &mut Json| {
        pod["metadata"]["annotations"] = json!({"karpenter.sh/do-not-disrupt": "2h"});
        pod["status"]["startTime"] = json!("2026-03-11T09:00:05Z");
    };
    Small::new(2, json!([{"nodes": "1"}])).with("Pod", "web-1", protect).ask(|forecast| {
        // The controller polls every 10 seconds after a pass without a command.
        assert_eq!(times(forecast)[0], "n1 2026-03-11T11:00:10Z 2026-03-11T11:02:40Z");
        assert_eq!(times(forecast)[1], "n2 2026-03-11T10:30:00Z 2026-03-11T10:32:30Z");
    });
}

#[test]
fn ends_at_the_horizon() {
    let how = ForecastSettings { horizon: Duration::from_minutes(3), ..ForecastSettings::default() };
    Small::new(3, json!([{"nodes": "1"}])).ask_with(&how, |forecast| {
        assert_eq!(
            times(forecast),
            ["n1 2026-03-11T10:30:00Z 2026-03-11T10:32:30Z", "n2 2026-03-11T10:32:30Z -", "n3 - -"]
        );
        assert!(matches!(forecast.nodes[2].because[0], RollReason::Budget(_)));
    });
}

#[test]
fn the_controller_polls_between_drains_that_take_no_time() {
    Small::new(3, json!([{"nodes": "1"}])).empty_in("1.8.0").ask(|forecast| {
        assert_eq!(
            times(forecast),
            [
                "n1 2026-03-11T10:30:00Z 2026-03-11T10:30:00Z",
                "n2 2026-03-11T10:30:10Z 2026-03-11T10:30:10Z",
                "n3 2026-03-11T10:30:20Z 2026-03-11T10:30:20Z",
            ]
        );
    });
}

#[test]
fn tells_the_obstacle_of_a_node_whose_budgets_allow_nothing() {
    let protect =
        |node: &mut Json| node["metadata"]["annotations"] = json!({"karpenter.sh/do-not-disrupt": "true"});
    for (budgets, is_closed) in [
        (json!([{"nodes": "0", "schedule": "@daily", "duration": "24h"}]), false),
        (json!([{"nodes": "0%"}]), true),
    ] {
        Small::new(2, budgets).with("Node", "n1", protect).ask(|forecast| {
            let [first, second] = forecast.nodes.as_slice() else { panic!("{forecast:?}") };
            assert!(matches!(first.because[0], RollReason::Blocked(_)), "{first:?}");
            assert_eq!(matches!(first.because[1], RollReason::Budget(_)), is_closed, "{first:?}");
            assert!(matches!(second.because[0], RollReason::Budget(_)), "{second:?}");
            assert_eq!((first.never, second.never), (true, is_closed));
        });
    }
}

#[test]
fn tells_that_a_node_drifts_only_after_the_horizon() {
    let late = Small { since: time("2026-05-11T10:30:00Z"), ..Small::new(1, json!([{"nodes": "1"}])) };
    late.ask(|forecast| {
        let reason = &forecast.nodes[0].because[0];
        assert!(matches!(reason, RollReason::NotYetDrifted(_)), "{reason:?}");
    });
}

#[test]
fn tells_why_a_static_pool_replaces_no_node() {
    let asked = |pool: fn(&mut Json), ask: fn(&RolledNode<'_>) -> bool| {
        let small = Small { pool, ..Small::new(2, json!([{"nodes": "1"}])) };
        small.ask(|forecast| assert!(ask(&forecast.nodes[0]), "{:?}", forecast.nodes[0]));
    };
    asked(
        |pool| {
            pool["spec"]["replicas"] = json!(2);
            pool["spec"]["limits"] = json!({"nodes": "2"});
        },
        |node| node.never && matches!(node.because[0], RollReason::NodeLimit),
    );
    asked(
        |pool| pool["spec"]["replicas"] = json!(1),
        |node| !node.never && matches!(node.because[0], RollReason::TooManyNodes),
    );
    asked(|pool| pool["spec"]["replicas"] = json!(2), |node| node.end.is_some() && node.because.is_empty());
}

#[test]
fn tells_that_drift_leaves_empty_nodes_alone() {
    Small::new(1, json!([{"nodes": "1"}])).empty_in("1.5.0").ask(|forecast| {
        assert!(matches!(forecast.nodes[0].because[0], RollReason::Empty), "{forecast:?}");
    });
    Small::new(1, json!([{"nodes": "1"}])).empty_in("1.5.4").ask(|forecast| {
        assert!(forecast.nodes[0].end.is_some(), "{forecast:?}");
    });
}

#[test]
fn negative_settings_count_as_zero() {
    let minus = Duration::from_minutes(-5);
    let how = ForecastSettings { node_start: minus, ..ForecastSettings::default() };
    Small::new(1, json!([{"nodes": "1"}])).ask_with(&how, |forecast| {
        assert_eq!(times(forecast), ["n1 2026-03-11T10:30:00Z 2026-03-11T10:30:30Z"]);
    });
    let how = ForecastSettings { horizon: minus, ..ForecastSettings::default() };
    Small::new(1, json!([{"nodes": "1"}])).ask_with(&how, |forecast| {
        assert_eq!(times(forecast), ["n1 2026-03-11T10:30:00Z -"]);
    });
}

#[test]
fn pods_that_moved_count_for_spreads() {
    let spread = json!([{
        "maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }]);
    let small = |pod: &mut Json| {
        pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("100m");
        pod["spec"]["topologySpreadConstraints"] = spread.clone();
    };
    Small::new(4, json!([{"nodes": "1"}])).with_all("Pod", small).ask(|forecast| {
        // Every node has room, but takes one pod.
        let added: Vec<usize> = forecast.steps.iter().map(|step| step.added.len()).collect();
        assert_eq!(added, [1, 1, 1, 1]);
    });
}

#[test]
fn a_forecast_that_takes_too_much_work_ends_early_and_says_so() {
    let how = ForecastSettings { steps_per_part: 0, ..ForecastSettings::default() };
    Small::new(3, json!([{"nodes": "100%"}])).ask_with(&how, |forecast| {
        assert!(forecast.is_cut);
        assert!(times(forecast)[0].starts_with("n1 2026-03-11T10:30:00Z"), "the first one takes no work yet");
        for node in &forecast.nodes[1..] {
            assert!(node.start.is_none() && !node.never, "{node:?}");
            assert!(matches!(node.because[0], RollReason::Untried), "{node:?}");
        }
    });
}

/// The window closes while a drain goes on, and nothing else changes.
#[test]
fn a_window_that_closes_during_a_drain_becomes_the_cause() {
    let slow = |pod: &mut Json| pod["spec"]["terminationGracePeriodSeconds"] = json!(3 * 3600);
    let budgets = json!([{"nodes": "1"}, {"nodes": "0", "schedule": "45 10 * * 3", "duration": "167h"}]);
    let how = ForecastSettings { horizon: Duration::from_minutes(120), ..ForecastSettings::default() };
    Small::new(2, budgets).with_all("Pod", slow).ask_with(&how, |forecast| {
        assert_eq!(times(forecast), ["n1 2026-03-11T10:30:00Z -", "n2 - -"]);
        assert_eq!(limited_by(forecast), LimitedBy::Schedule);
    });
}

#[test]
fn tries_again_at_each_edge_of_a_window() {
    // Each even minute is closed.
    let budgets = json!([{"nodes": "1"}, {"nodes": "0", "schedule": "*/2 * * * *", "duration": "1m"}]);
    Small::new(3, budgets).ask(|forecast| {
        assert_eq!(
            times(forecast),
            [
                "n1 2026-03-11T10:31:00Z 2026-03-11T10:33:30Z",
                "n2 2026-03-11T10:33:30Z 2026-03-11T10:36:00Z",
                "n3 2026-03-11T10:37:00Z 2026-03-11T10:39:30Z",
            ]
        );
    });
}

#[test]
fn a_static_pool_replaces_as_many_nodes_as_its_budgets_allow() {
    let pool = |pool: &mut Json| pool["spec"]["replicas"] = json!(5);
    let small = Small { pool, ..Small::new(5, json!([{"nodes": "2"}])) };
    small.ask(|forecast| {
        assert_eq!(
            times(forecast),
            [
                "n1 2026-03-11T10:30:00Z 2026-03-11T10:32:30Z",
                "n2 2026-03-11T10:30:00Z 2026-03-11T10:32:30Z",
                "n3 2026-03-11T10:32:30Z 2026-03-11T10:35:00Z",
                "n4 2026-03-11T10:32:30Z 2026-03-11T10:35:00Z",
                "n5 2026-03-11T10:35:00Z 2026-03-11T10:37:30Z",
            ]
        );
        assert_eq!((forecast.rollouts[0].extra_nodes, limited_by(forecast)), (2, LimitedBy::Budget));
    });
}
