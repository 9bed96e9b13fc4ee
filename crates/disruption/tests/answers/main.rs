//! Answers about small clusters that the recorded cases do not ask for: older releases, places, bounds, single nodes.

#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};

use karpenter::release::Release;
use karpwarden_disruption::judgement::{JudgedNode, Judgement, judge};
use karpwarden_disruption::methods::{Alone, Method};
use karpwarden_disruption::settings::DisruptionSettings;
use manifest::File;
use manifest::limits::Limits;
use objects::object::Object;
use scheduling::simulation::Prices;
use values::timestamp::Timestamp;

const NOW: &str = "2026-03-11T10:30:00Z";

const POOL: &str = "
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec: {role: r, amiSelectorTerms: [{alias: al2023@latest}]}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.xlarge, m5.2xlarge]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 5m, budgets: [{nodes: '100%'}]}
---
";

/// A node of the type m5.xlarge with its NodeClaim. `extra` is added to the metadata of the Node.
fn node(name: &str, extra: &str) -> String {
    let labels = format!(
        "karpenter.sh/nodepool: default, karpenter.sh/capacity-type: on-demand, kubernetes.io/hostname: {name}, \
         topology.kubernetes.io/zone: us-east-1a, node.kubernetes.io/instance-type: m5.xlarge, \
         kubernetes.io/arch: amd64, kubernetes.io/os: linux"
    );
    let resources = "cpu: 3920m, memory: 14162Mi, pods: '58', ephemeral-storage: 17Gi";
    let true_since =
        |kind: &str| format!("{{type: {kind}, status: 'True', lastTransitionTime: '2026-03-11T09:00:00Z'}}");
    format!(
        r"apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{{labels}, karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true'}}{extra}}}
spec: {{providerID: aws:///{name}}}
status: {{capacity: {{{resources}}}, allocatable: {{{resources}}}, conditions: [{{type: Ready, status: 'True'}}]}}
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {{name: nc-{name}, labels: {{{labels}}}, creationTimestamp: '2026-03-11T09:00:00Z'}}
spec: {{expireAfter: Never}}
status: {{providerID: aws:///{name}, nodeName: {name}, lastPodEventTime: '2026-03-11T10:27:00Z', conditions: [{}, {}]}}
---
",
        true_since("Initialized"),
        true_since("Consolidatable")
    )
}

/// A running pod. `extra` is added to its metadata.
fn pod(name: &str, on: &str, cpu: &str, extra: &str) -> String {
    format!(
        r"apiVersion: v1
kind: Pod
metadata: {{name: {name}, labels: {{app: {name}}}, ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: a}}]{extra}}}
spec: {{nodeName: {on}, containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]}}
status: {{phase: Running, startTime: '2026-03-11T10:00:00Z'}}
---
"
    )
}

/// Judges the objects of a text at a release, after a change of the options, and asks the result.
fn ask<T>(
    text: &str,
    release: &str,
    change: impl FnOnce(&mut DisruptionSettings),
    question: impl FnOnce(&Judgement<'_>) -> T,
) -> T {
    let file = File::read("cluster.yaml", format!("{POOL}{text}"), &Limits::DEFAULT);
    let trees = file.trees();
    let objects: Vec<Object<'_>> = trees.flat_map(Object::all).collect();
    let mut options =
        DisruptionSettings::new(Release::parse(release).unwrap(), Timestamp::parse(NOW).unwrap());
    change(&mut options);
    question(&judge(&objects, &options, None))
}

fn message(judged: &JudgedNode<'_>, release: &str) -> String {
    let blocker = judged.blocker.as_ref().unwrap();
    format!("{}: {}", blocker.kind().name(), blocker.message(Release::parse(release).unwrap()))
}

#[test]
fn tries_drift_before_emptiness_until_1_4() {
    let order = |release: &str| {
        let methods = Method::of_release(Release::parse(release).unwrap());
        methods.iter().map(|method| method.name()).collect::<Vec<_>>().join(" ")
    };
    let consolidation = "MultiNodeConsolidation SingleNodeConsolidation";
    assert_eq!(order("1.0.0"), format!("Drift Emptiness {consolidation}"));
    assert_eq!(order("1.4.1"), format!("Drift Emptiness {consolidation}"));
    assert_eq!(order("1.5.0"), format!("Emptiness Drift {consolidation}"));
    assert_eq!(order("1.7.0"), format!("Emptiness Drift {consolidation}"));
    assert_eq!(order("1.8.0"), format!("Emptiness StaticDrift Drift {consolidation}"));
}

#[test]
fn words_a_blocker_as_each_release_does() {
    let budget = r"apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: p}
spec: {selector: {}}
status: {disruptionsAllowed: 0}
---
";
    let text = format!("{}{}{budget}", node("n1", ""), pod("a", "n1", "1", ""));
    for (release, expected) in [
        ("1.0.0", "pdb: pdb \"default/p\" prevents pod evictions"),
        ("1.4.1", "pdb: pdb \"default/p\" prevents pod evictions"),
        ("1.5.0", "pdb: pdb prevents pod evictions (PodDisruptionBudget=default/p)"),
        ("1.7.0", "pdb: pdb prevents pod evictions (PodDisruptionBudget=[default/p])"),
    ] {
        ask(
            &text,
            release,
            |_| {},
            |judgement| {
                assert_eq!(message(&judgement.nodes[0], release), expected, "{release}");
            },
        );
    }
}

#[test]
fn several_budgets_on_a_pod_block_since_1_7() {
    let budget = |name: &str| {
        format!(
            r"apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: {name}}}
spec: {{selector: {{}}}}
status: {{disruptionsAllowed: 1}}
---
"
        )
    };
    let text = format!("{}{}{}{}", node("n1", ""), pod("a", "n1", "1", ""), budget("p"), budget("q"));
    ask(&text, "1.6.0", |_| {}, |judgement| assert!(judgement.nodes[0].blocker.is_none()));
    ask(
        &text,
        "1.7.0",
        |_| {},
        |judgement| {
            let expected = "several-pdbs: eviction does not support multiple PDBs \
                        (PodDisruptionBudget(s)=[default/p default/q])";
            assert_eq!(message(&judgement.nodes[0], "1.7.0"), expected);
            let places = judgement.nodes[0].blocker.as_ref().unwrap().places();
            assert_eq!(places.len(), 2);
        },
    );
}

#[test]
fn an_unknown_instance_type_blocks_everything_in_1_0_only() {
    let text = node("n1", "").replace("instance-type: m5.xlarge", "instance-type: x99.large");
    ask(
        &text,
        "1.0.0",
        |_| {},
        |judgement| {
            assert_eq!(
                message(&judgement.nodes[0], "1.0.0"),
                "no-instance-type: instance type \"x99.large\" can't be resolved"
            );
            assert_eq!(judgement.acts, None);
        },
    );
    ask(
        &text,
        "1.1.0",
        |_| {},
        |judgement| {
            assert!(judgement.nodes[0].blocker.is_none());
            assert_eq!(judgement.acts, Some(Method::Emptiness));
        },
    );
}

#[test]
fn says_until_when_a_pod_protects_its_node() {
    let annotation = ", annotations: {karpenter.sh/do-not-disrupt: 45m}";
    let text = format!("{}{}", node("n1", ""), pod("a", "n1", "1", annotation));
    ask(
        &text,
        "1.12.0",
        |_| {},
        |judgement| {
            let blocker = judgement.nodes[0].blocker.as_ref().unwrap();
            assert_eq!(blocker.until().unwrap().to_string(), "2026-03-11T10:45:00Z");
            assert_eq!(blocker.pod().unwrap().full_name(), "default/a");
            let pod = blocker.pod().unwrap().object();
            let paths: Vec<String> = blocker.places().iter().map(|place| place.path(pod.root())).collect();
            assert_eq!(paths, ["metadata.annotations"]);
        },
    );
    // Before, only the value `true` counts.
    ask(&text, "1.11.0", |_| {}, |judgement| assert!(judgement.nodes[0].blocker.is_none()));
}

#[test]
fn a_nomination_is_over_at_its_end() {
    let text = node("n1", "");
    let nominated = |seconds: &str| {
        let at = Timestamp::parse(&format!("2026-03-11T10:29:{seconds}Z")).unwrap();
        ask(
            &text,
            "1.14.1",
            |options| {
                options.nominated.insert("n1".to_owned(), at);
            },
            |judgement| {
                judgement.nodes[0].blocker.as_ref().map(|blocker| blocker.until().unwrap().to_string())
            },
        )
    };
    assert_eq!(nominated("40"), None);
    assert_eq!(nominated("41").as_deref(), Some("2026-03-11T10:30:01Z"));
}

#[test]
fn a_node_that_still_waits_takes_no_pods_since_1_14() {
    let text = format!("{}{}{}", node("n1", ""), node("n2", ""), pod("a", "n1", "3500m", ""));
    let text = text.replacen("'2026-03-11T10:27:00Z'", "'2026-03-11T10:00:00Z'", 1);
    let asked = |options: &mut DisruptionSettings| {
        options.alone.insert("n1".to_owned());
    };
    let alone = |judgement: &Judgement<'_>| match judgement.nodes[0].alone.as_ref().unwrap() {
        Alone::Possible(command) => format!("{:?}", command.decision),
        other => format!("{other:?}"),
    };
    assert_eq!(ask(&text, "1.13.0", asked, alone), "Delete");
    assert_eq!(ask(&text, "1.14.1", asked, alone), "Impossible(Some(\"Can't replace with a cheaper node\"))");
    ask(&text, "1.14.1", asked, |judgement| {
        let end = judgement.nodes[1].waits_until.unwrap();
        assert_eq!(end.to_string(), "2026-03-11T10:32:00Z");
        assert_eq!(judgement.nodes[0].waits_until, None);
    });
}

#[test]
fn single_node_consolidation_is_bounded() {
    let text = format!(
        "{}{}{}{}",
        node("n1", ""),
        node("n2", ""),
        pod("a", "n1", "3500m", ""),
        pod("b", "n2", "3500m", "")
    );
    let single = |most: usize| {
        ask(
            &text,
            "1.13.0",
            |options| options.max_single_nodes = most,
            |judgement| {
                let single = judgement.methods.last().unwrap();
                (single.compute_events.len(), single.unevaluated)
            },
        )
    };
    assert_eq!(single(2), (2, 0));
    assert_eq!(single(1), (1, 1));
}

#[test]
fn all_simulations_share_a_bound_on_work() {
    let names: Vec<String> = (0..40).map(|number| format!("n{number:02}")).collect();
    let text: String = names.iter().flat_map(|name| [node(name, ""), pod(name, name, "3500m", "")]).collect();
    let judged = |steps: u64| {
        ask(
            &text,
            "1.14.0",
            |options| options.steps_per_part = steps,
            |judgement| {
                let single = judgement.methods.last().unwrap();
                let events = single.compute_events.iter().filter_map(|event| event.on.strip_prefix("Node/"));
                (events.map(str::to_owned).collect::<BTreeSet<_>>(), single.undecided.clone())
            },
        )
    };
    let (all, none) = judged(
        DisruptionSettings::new(Release::parse("1.14.0").unwrap(), Timestamp::parse(NOW).unwrap())
            .steps_per_part,
    );
    assert_eq!((all.len(), none.len()), (40, 0));
    let (decided, undecided) = judged(16);
    assert!(!decided.is_empty() && !undecided.is_empty(), "{decided:?} {undecided:?}");
    assert!(decided.is_disjoint(&undecided), "{decided:?} {undecided:?}");
    assert_eq!(decided.union(&undecided).count(), 40);
}

fn alone(judgement: &Judgement<'_>) -> String {
    match judgement.nodes[0].alone.as_ref().unwrap() {
        Alone::Possible(command) => format!("{:?}, saves {:.3}", command.decision, command.savings),
        other => format!("{other:?}"),
    }
}

/// Asks about the node `n1` alone.
fn ask_alone(text: &str, release: &str) -> (Option<f64>, String) {
    let asked = |options: &mut DisruptionSettings| {
        options.alone.insert("n1".to_owned());
    };
    ask(text, release, asked, |judgement| {
        (judgement.nodes[0].costs.and_then(|costs| costs.price), alone(judgement))
    })
}

/// `resolveNodePrice` in helpers.go at v1.14.1 has no price then, which counts as zero; `getCandidatePrices` in consolidation.go
/// at v1.8.2 returns an error, which ends the method, and at v1.13.0 zero.
#[test]
fn a_node_without_an_offering_in_its_zone_is_not_replaced() {
    let cheaper = format!("{}{}", node("n1", ""), pod("a", "n1", "1", ""));
    assert_eq!(ask_alone(&cheaper, "1.14.1"), (Some(0.192), "Replace, saves 0.096".to_owned()));
    let elsewhere = cheaper.replace("us-east-1a", "us-east-1f");
    for release in ["1.0.9", "1.4.1", "1.8.2"] {
        assert_eq!(ask_alone(&elsewhere, release), (None, "Impossible(None)".to_owned()), "{release}");
    }
    for release in ["1.13.0", "1.14.1"] {
        let expected = "Impossible(Some(\"Can't replace with a cheaper node\"))";
        assert_eq!(ask_alone(&elsewhere, release), (None, expected.to_owned()), "{release}");
    }
    // An empty node needs no price.
    let empty = node("n1", "").replace("us-east-1a", "us-east-1f");
    ask(&empty, "1.14.1", |_| {}, |judgement| assert_eq!(judgement.acts, Some(Method::Emptiness)));
}

/// The provider has an offering without a price: `ResolveOfferings` in `base_resolver.go` of aws/karpenter-provider-aws at v1.14.1.
#[test]
fn a_type_without_a_price_costs_nothing() {
    let text = format!("{}{}", node("n1", ""), pod("a", "n1", "1", ""));
    let change = |options: &mut DisruptionSettings| {
        let prices = BTreeMap::from([("m5.large".to_owned(), 0.096), ("m5.2xlarge".to_owned(), 0.384)]);
        options.simulation.prices = Prices::Listed(prices);
        options.alone.insert("n1".to_owned());
    };
    for release in ["1.4.1", "1.14.1"] {
        let expected = "Impossible(Some(\"Can't replace with a cheaper node\"))";
        ask(&text, release, change, |judgement| {
            assert_eq!(judgement.nodes[0].costs.unwrap().price, Some(0.0));
            assert_eq!(alone(judgement), expected, "{release}");
        });
    }
}

/// Two nodes that cannot go together, as their pods need different hosts. The first one of the input goes first.
#[test]
fn equal_nodes_go_in_the_order_of_the_input() {
    let affinity = "spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: \
                    [{topologyKey: kubernetes.io/hostname, labelSelector: {}}]}}, ";
    let replaced = |first: &str, second: &str, release: &str| {
        let pods = format!("{}{}", pod("a", "n1", "1", ""), pod("b", "n2", "1", ""));
        let text = format!("{}{}{}", node(first, ""), node(second, ""), pods.replace("spec: {", affinity));
        ask(
            &text,
            release,
            |_| {},
            |judgement| {
                assert_eq!(judgement.acts, Some(Method::SingleNodeConsolidation), "{release}");
                judgement.methods.last().unwrap().commands[0].candidates.clone()
            },
        )
    };
    for release in ["1.0.9", "1.4.1", "1.8.2", "1.14.1"] {
        assert_eq!(replaced("n1", "n2", release), ["n1"], "{release}");
        assert_eq!(replaced("n2", "n1", release), ["n2"], "{release}");
    }
}

/// `SortCandidates` in singlenodeconsolidation.go takes a node of each NodePool in turn since 1.4.
#[test]
fn node_pools_take_turns_since_1_4() {
    let pools = POOL.replace("name: default}\nspec:\n  template", "name: other}\nspec:\n  template");
    let other = |text: String| text.replace("karpenter.sh/nodepool: default", "karpenter.sh/nodepool: other");
    let nodes = [node("n1", ""), node("n2", ""), other(node("n3", ""))];
    let pods = ["n1", "n2", "n3"].map(|name| pod(name, name, "3500m", ""));
    let text = format!("{}---\n{}{}", pools.trim_end().trim_end_matches('-'), nodes.concat(), pods.concat());
    let tried = |release: &str| {
        let two = |options: &mut DisruptionSettings| options.max_single_nodes = 2;
        ask(&text, release, two, |judgement| {
            let events = &judgement.methods.last().unwrap().compute_events;
            let nodes = events.iter().filter_map(|event| event.on.strip_prefix("Node/"));
            nodes.map(str::to_owned).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
        })
    };
    assert_eq!(tried("1.3.0"), ["n1", "n2"]);
    assert!(tried("1.4.1").contains(&"n3".to_owned()));
    assert!(tried("1.14.1").contains(&"n3".to_owned()));
}

/// `IsReschedulable` in pkg/utils/pod/scheduling.go at v1.0.7 has pods with `do-not-disrupt`, which `SimulateScheduling` leaves out
/// since #2033; 1.0.10 of the provider is the first patch of 1.0 that is built with it.
#[test]
fn pods_that_cannot_be_evicted_now_are_left_out_since_some_patch() {
    let text = format!(
        "{}{}",
        node("n1", "").replace("expireAfter: Never", "expireAfter: Never, terminationGracePeriod: 1h").replace(
            "conditions: [{type: Initialized",
            "conditions: [{type: Drifted, status: 'True', lastTransitionTime: '2026-03-11T09:00:00Z'}, {type: Initialized"
        ),
        pod("a", "n1", "1", ", annotations: {karpenter.sh/do-not-disrupt: 'true'}")
    );
    let replacements = |release: &str| {
        ask(
            &text,
            release,
            |_| {},
            |judgement| {
                assert_eq!(judgement.acts, Some(Method::Drift), "{release}");
                let drift = judgement.methods.iter().find(|judged| judged.method == Method::Drift).unwrap();
                drift.commands[0].replacements.len()
            },
        )
    };
    for (before, since) in [("1.0.9", "1.0.10"), ("1.1.5", "1.1.6"), ("1.2.3", "1.2.4"), ("1.3.3", "1.3.4")] {
        assert_eq!((replacements(before), replacements(since)), (1, 0), "{before}, {since}");
    }
    assert_eq!(replacements("1.14.1"), 0);
}

/// `ValidateNodeDisruptable` in statenode.go and `Blocked` in events.go: 1.1 and 1.2 differ.
#[test]
fn words_an_event_as_each_release_does() {
    let text = node("n1", ", annotations: {karpenter.sh/do-not-disrupt: 'true'}");
    let event = |release: &str| {
        ask(&text, release, |_| {}, |judgement| judgement.methods[0].events[0].message.clone())
    };
    assert!(event("1.1.0").starts_with("Cannot disrupt Node: "), "{}", event("1.1.0"));
    assert!(event("1.2.0").starts_with("Disruption is blocked"), "{}", event("1.2.0"));
}
