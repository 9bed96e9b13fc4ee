//! Answers about small clusters that the recorded cases do not ask for: older releases, places, bounds, single nodes.

#![cfg(test)]

use karpenter::release::Release;
use karpwarden_disruption::judgement::{JudgedNode, Judgement, judge};
use karpwarden_disruption::methods::{Alone, Method};
use karpwarden_disruption::settings::DisruptionSettings;
use manifest::limits::Limits;
use manifest::{Document, File};
use objects::object::Object;
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
    let trees = file.documents.iter().filter_map(|document| match document {
        Document::Read(tree) => Some(tree),
        _ => None,
    });
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
