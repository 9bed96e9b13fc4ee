//! `karpwarden simulate`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::costly::costly;
use crate::folder::Folder;

/// NodePool for one team, on demand, with at most 8 vCPUs.
const POOL: &str = "\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: team}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      taints:
        - {key: team, value: blue, effect: NoSchedule}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
        - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.xlarge]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: KarpenterNodeRole
  amiSelectorTerms: [{alias: al2023@latest}]
";

/// Workload that fits, and two pods that do not.
const PODS: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  template:
    spec:
      tolerations: [{key: team, operator: Exists}]
      containers:
        - {name: web, image: nginx, resources: {requests: {cpu: '1', memory: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: plain}
spec:
  containers: [{name: plain, image: nginx}]
---
apiVersion: v1
kind: Pod
metadata: {name: large}
spec:
  tolerations: [{key: team, operator: Exists}]
  containers:
    - {name: large, image: nginx, resources: {requests: {cpu: '4'}}}
";

fn folder() -> Folder {
    Folder::with(&[("pool.yaml", POOL), ("pods.yaml", PODS)])
}

#[test]
fn shows_the_nodes_and_the_reasons() {
    let run = folder().run(&["simulate", "--karpenter-version", "1.14", "pool.yaml", "pods.yaml"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert_eq!(run.stderr, "");
    assert_snapshot!(run.stdout, @"
    3 of 5 pods placed on 1 new node, about $0.19 per hour on demand; 2 pods fit nowhere
      cheapest  $0.19 per hour, $140.16 per month
      on demand $0.19 per hour, $140.16 per month
      spot      $0.08 per hour, $56.06 per month (60 % less)

    node 1 of NodePool team
      types     m5.xlarge $0.1920
      zones     us-east-1a, us-east-1b, us-east-1c
      capacity  on-demand
      cpu       ███████████████░░░░░ 3 of 3920m
      memory    ████░░░░░░░░░░░░░░░░ 3Gi of 14162Mi
      pods      █░░░░░░░░░░░░░░░░░░░ 3 of 58
      runs      default/web ×3

    no node for default/plain
      NodePool team (taint): did not tolerate taint (taint=team=blue:NoSchedule)
        pod pods.yaml:15 spec.tolerations
          spec:
          ^^^^
        NodePool pool.yaml:9 spec.template.spec.taints[0]
                  - {key: team, value: blue, effect: NoSchedule}
                     ^^^
        to fit: add a toleration for `team=blue:NoSchedule` to the pod

    no node for default/large
      NodePool team (resources): no instance type has enough resources
        the pod asks 4 cpu, the largest type left, `m5.xlarge`, allows 3920m after DaemonSets: 80m too much
        pod pods.yaml:24 spec.containers[0].resources.requests.cpu
              - {name: large, image: nginx, resources: {requests: {cpu: '4'}}}
                                                                        ^^^
        NodePool pool.yaml:10 spec.template.spec.requirements
                requirements:
                ^^^^^^^^^^^^
        to fit: request at most 3920m cpu, or allow `m5.2xlarge` of `node.kubernetes.io/instance-type` in the NodePool

    assumed
      the subnets are in us-east-1a, us-east-1b, us-east-1c (`--zones`)
      on-demand prices are the list prices of us-east-1 (`--prices`)
      spot capacity costs 40 % of the on-demand price in every zone (`--spot-discount`)
      the cluster has no other NodePool, node or pod than the input
      every instance type has capacity in every zone
      webhooks change no pod

    2 findings about this input: `karpwarden check` shows them
    ");
}

#[test]
fn prints_json_with_the_paths_of_both_sides() {
    let run = folder().run(&[
        "simulate",
        "--karpenter-version",
        "1.14",
        "--format",
        "json",
        "--replicas",
        "deploy/web=1",
        "pool.yaml",
        "pods.yaml",
    ]);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["summary"]["pods"], 3);
    assert_eq!(json["summary"]["nodeClaims"], 1);
    assert_eq!(json["nodeClaims"][0]["cheapest"][0]["name"], "m5.large");
    assert_eq!(
        json["verdict"],
        "1 of 3 pods placed on 1 new node, about $0.10 per hour on demand; 2 pods fit nowhere"
    );
    assert_eq!(json["pods"][0]["placed"], "new");
    assert_eq!(json["pods"][0]["workload"], "Deployment/web");
    assert_eq!(json["pods"][0]["requests"]["cpu"], "1");
    let (node, pod) = (&json["nodeClaims"][0], &json["pods"][0]["usage"]["cpu"]);
    assert_eq!((&node["allocatable"]["cpu"], &node["usage"]["cpu"]), (&"1930m".into(), pod));
    assert_eq!(pod.as_f64().map(|part| (part * 1000.0).floor()), Some(518.0));
    let reason = &json["pods"][1]["reasons"][0];
    assert_eq!((&reason["reason"], &reason["nodePool"]), (&"taint".into(), &"team".into()));
    assert_eq!(reason["podPath"], "spec.tolerations");
    assert_eq!(reason["poolPath"], "spec.template.spec.taints[0]");
    assert_eq!(reason["remedy"], "add a toleration for `team=blue:NoSchedule` to the pod");
    assert_eq!(
        (&reason["poolPlace"]["file"], &reason["poolPlace"]["line"]),
        (&"pool.yaml".into(), &9.into())
    );
    let end = reason["poolPlace"]["endOffset"].as_u64().and_then(|end| usize::try_from(end).ok()).unwrap();
    assert!(POOL.get(..end).is_some_and(|text| text.ends_with("key")), "{reason}");
    let reason = &json["pods"][2]["reasons"][0];
    assert_eq!(reason["reason"], "resources");
    assert_eq!(reason["podPath"], "spec.containers[0].resources.requests.cpu");
    assert_eq!(
        reason["nearest"],
        "the pod asks 4 cpu, the largest type left, `m5.xlarge`, allows 3920m after DaemonSets: 80m too much"
    );
    assert_eq!(
        reason["remedy"],
        "request at most 3920m cpu, or allow `m5.2xlarge` of `node.kubernetes.io/instance-type` in the NodePool"
    );
}

#[test]
fn assumes_node_classes_that_the_input_lacks() {
    let (pool, _) = POOL.split_once("---").unwrap();
    let folder = Folder::with(&[("pool.yaml", pool), ("pods.yaml", PODS)]);
    let run = folder.run(&["simulate", "pool.yaml", "pods.yaml"]);
    assert!(run.stdout.starts_with("3 of 5 pods placed on 1 new node"), "{run:?}");
    assert!(run.stdout.contains("EC2NodeClass `default`, which is not in the input"), "{run:?}");
}

#[test]
fn names_the_pools_that_take_no_pods() {
    let pool = POOL.replacen(
        "metadata: {name: team}",
        "metadata: {name: team}\nstatus: {conditions: [{type: Ready, status: 'False'}]}",
        1,
    );
    let folder = Folder::with(&[("pool.yaml", pool.as_str()), ("pods.yaml", PODS)]);
    let run = folder.run(&["simulate", "pool.yaml", "pods.yaml"]);
    assert!(run.stdout.contains("NodePool team (pool-not-ready): the NodePool is not Ready"), "{run:?}");
}

#[test]
fn succeeds_if_every_pod_has_a_node() {
    let run = folder().run(&["simulate", "pool.yaml"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stdout.starts_with("the input has no pods to place"), "{run:?}");
}

#[test]
fn refuses_flags_that_do_not_parse() {
    for (flag, value, expected) in [
        ("--replicas", "web=3", "is not written as KIND/NAME or KIND/NAMESPACE/NAME"),
        ("--zones", "somewhere", "is not the name of a zone of the region"),
        ("--feature-gates", "NodeOverlay=on", "is neither `true` nor `false`"),
        (
            "--feature-gates",
            "NodRepair=true",
            "`--feature-gates`: Karpenter has no feature gate `NodRepair` (did you mean `NodeRepair`?)",
        ),
        (
            "--reservation-capacity",
            "cr-1=2",
            "no EC2NodeClass of the input has a capacity reservation in its status with the ID `cr-1`",
        ),
        (
            "--region",
            "us-esat-1",
            "`--region`: `us-esat-1` is not the name of a region (did you mean `us-east-1`?)",
        ),
        ("--preference-policy", "Never", "is neither `Respect` nor `Ignore`"),
        ("--prices", "missing.json", "cannot read `missing.json`"),
    ] {
        let run = folder().run(&["simulate", flag, value, "pool.yaml"]);
        assert_eq!(run.status, 2, "{flag}: {run:?}");
        assert!(run.stderr.contains(expected), "{flag}: {run:?}");
    }
    assert_eq!(folder().run(&["simulate"]).status, 3);
    let run = folder().run(&["simulate", "--replicas", "deploy/web=9999999999", "pool.yaml", "pods.yaml"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("more than 50000 pods"), "{run:?}");
}

#[test]
fn reports_input_that_cannot_be_read() {
    let folder = folder();
    folder.write("broken.yaml", b"a: [");
    let run = folder.run(&["simulate", "pool.yaml", "broken.yaml"]);
    assert_eq!(run.status, 4, "{run:?}");
    assert!(run.stderr.contains("`broken.yaml`"), "{run:?}");
    assert_eq!(folder.run(&["simulate", "absent.yaml"]).status, 4);
}

#[test]
fn tells_what_check_finds_in_the_input() {
    let arguments = ["simulate", "--karpenter-version", "1.14", "pool.yaml", "pods.yaml"];
    let pool =
        POOL.replacen("role: KarpenterNodeRole", "instanceProfile: arn:aws:iam::1:instance-profile/x", 1);
    let folder = Folder::with(&[("pool.yaml", pool.as_str()), ("pods.yaml", PODS)]);
    let human = folder.run(&arguments);
    assert!(
        human.stdout.ends_with("findings about this input: `karpwarden check` shows them\n"),
        "{human:?}"
    );
    let json = folder.run(&[&arguments[..], &["--format", "json"]].concat());
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    let check = folder.run(&["check", "--karpenter-version", "1.14", "--format", "json", "."]);
    let checked: Value = serde_json::from_str(&check.stdout).unwrap();
    let rules = |report: &Value| -> Vec<String> {
        let all = report["findings"].as_array().unwrap().iter();
        all.map(|finding| format!("{} {}", finding["rule"], finding["path"])).collect()
    };
    let (mut found, mut expected) = (rules(&report), rules(&checked));
    found.sort();
    expected.sort();
    assert!(found.iter().any(|finding| finding.contains("instance-profile-is-arn")), "{found:?}");
    assert_eq!(found, expected);
}

/// Folder with a base, and with an overlay that changes the replicas.
fn kustomized() -> Folder {
    let patch = r"apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 7}
";
    let (web, _) = PODS.split_once("---").unwrap();
    Folder::with(&[
        ("pool.yaml", POOL),
        ("base/kustomization.yaml", "resources: [web.yaml]\n"),
        ("base/web.yaml", web),
        ("prod/kustomization.yaml", "resources: [../base]\npatches: [{path: replicas.yaml}]\n"),
        ("prod/replicas.yaml", patch),
    ])
}

#[test]
fn simulates_objects_as_kustomizations_build_them() {
    let run = kustomized().run(&["simulate", "."]);
    assert!(run.stdout.starts_with("7 of 7 pods placed"), "{run:?}");
}

/// Settings of the controller with a default topology spread over zones.
const SCHEDULER: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter, namespace: kube-system}
spec:
  replicas: 0
  template:
    spec:
      containers:
        - name: controller
          image: public.ecr.aws/karpenter/controller:1.15.0
          env:
            - name: CLUSTER_NAME
              value: test
            - name: SCHEDULER_CONFIG
              value: |
                podTopologySpread:
                  defaultConstraints:
                    - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
";

#[test]
fn spreads_pods_by_the_scheduler_config_since_1_15() {
    let web = PODS.split_once("---").unwrap().0;
    let selecting = web.replacen(
        "  template:\n",
        "  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n",
        1,
    );
    let nodes = |pods: &str, release: &str| {
        let folder = Folder::with(&[("pool.yaml", POOL), ("pods.yaml", pods), ("karpenter.yaml", SCHEDULER)]);
        let run = folder.run(&["simulate", "--karpenter-version", release, "--format", "json", "."]);
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        report["summary"]["nodeClaims"].as_u64()
    };
    assert_eq!(nodes(&selecting, "1.14"), Some(1));
    assert_eq!(nodes(&selecting, "1.15"), Some(3));
    // No object selects the pods.
    let bare = r"apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec: {tolerations: [{operator: Exists}], containers: [{name: c, image: x}]}
";
    let bare = ["---\n", &bare.replace("NAME", "one"), "---\n", &bare.replace("NAME", "two")].concat();
    assert_eq!(nodes(&bare, "1.15"), Some(1));
}

#[test]
fn tells_why_no_pool_takes_pods_once() {
    let folder = Folder::with(&[("pods.yaml", PODS)]);
    let run = folder.run(&["simulate", "--karpenter-version", "1.14", "pods.yaml"]);
    assert_eq!(run.stdout.matches("no dynamic nodepools found").count(), 1, "{run:?}");
    assert!(run.stdout.contains("the input has no NodePool of `karpenter.sh/v1`"), "{run:?}");
    let empty = Folder::with(&[("pool.yaml", POOL)]).run(&["simulate", "pool.yaml"]);
    assert!(empty.stdout.starts_with("the input has no pods to place\n"), "{empty:?}");
}

#[test]
fn finished_and_suspended_jobs_make_no_pods() {
    let job = |name: &str, kind: &str, fields: &str| {
        let template =
            "template: {spec: {tolerations: [{key: team}], containers: [{name: a, image: nginx}]}}";
        let spec = if kind == "CronJob" {
            format!("jobTemplate: {{spec: {{{template}}}}}")
        } else {
            template.to_owned()
        };
        format!(
            r"---
apiVersion: batch/v1
kind: {kind}
metadata: {{name: {name}}}
{fields}spec:
  {spec}
"
        )
    };
    let ended = |kind: &str, status: &str| {
        format!("status: {{conditions: [{{type: {kind}, status: '{status}'}}]}}\n")
    };
    let jobs = [
        job("complete", "Job", &ended("Complete", "True")),
        job("failed", "Job", &ended("Failed", "True")),
        job("stopped", "Job", "") + "  suspend: true\n",
        job("off", "CronJob", "") + "  suspend: true\n",
        job("running", "Job", &ended("Failed", "False")),
        job("daily", "CronJob", "") + "  suspend: false\n",
    ];
    let folder = Folder::with(&[("pool.yaml", POOL), ("jobs.yaml", &jobs.concat())]);
    let json = folder.run(&["simulate", "--format", "json", "pool.yaml", "jobs.yaml"]).json();
    let names: Vec<&str> =
        json["pods"].as_array().unwrap().iter().map(|pod| pod["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["running-0", "daily-0"]);
}

#[test]
fn equal_pods_share_their_reasons_in_json() {
    let large = PODS.replace("replicas: 3", "replicas: 4").replace("cpu: '1'", "cpu: '64'");
    let folder = Folder::with(&[("pool.yaml", POOL), ("pods.yaml", &large)]);
    let json = folder.run(&["simulate", "--format", "json", "."]).json();
    let reasons = |pod: usize| json["pods"][pod]["reasons"].as_array().unwrap().len();
    assert_eq!([0, 1, 2, 3].map(reasons), [1, 0, 0, 0]);
    assert_eq!(json["pods"][0]["sameReasonsAs"], Value::Null);
    assert_eq!(json["pods"][3]["sameReasonsAs"], 0);
    assert_eq!(json["pods"][3]["message"], json["pods"][0]["message"]);
    assert_eq!(json["pods"][5]["reasons"].as_array().unwrap().len(), 1);
}

#[test]
fn lists_the_pods_that_were_not_tried() {
    let folder = Folder::with(&[("all.yaml", &costly())]);
    let run = folder.run(&["simulate", "--format", "json", "all.yaml"]);
    assert_eq!(run.status, 4, "{}", run.stderr);
    let json = run.json();
    let untried = json["summary"]["untried"].as_u64().unwrap();
    let unplaced = json["summary"]["unplaced"].as_u64().unwrap();
    assert!(untried > 0 && unplaced > 0 && untried + unplaced == 80, "{untried} + {unplaced}");
    let pods = json["pods"].as_array().unwrap();
    let of_kind = |placed: &str| pods.iter().filter(|pod| pod["placed"] == placed).count() as u64;
    assert_eq!((of_kind("untried"), of_kind("no")), (untried, unplaced));
    assert!(json["verdict"].as_str().unwrap().ends_with("not tried, because the input takes too much work"));
    let text = folder.run(&["simulate", "all.yaml"]);
    assert_eq!(text.status, 4);
    assert!(text.stdout.contains("\nnot tried default/pod-"), "{}", text.stdout);
}

#[test]
fn takes_the_release_that_a_script_of_the_folder_pins() {
    let install =
        "helm upgrade --install karpenter oci://public.ecr.aws/karpenter/karpenter --version 1.6.2\n";
    let folder = Folder::with(&[("pool.yaml", POOL), ("pods.yaml", PODS), ("install.sh", install)]);
    for command in ["simulate", "disruption"] {
        let json = folder.run(&[command, "--format", "json", "."]).json();
        assert_eq!(json["karpenterVersion"], "1.6.2", "{command}");
        let json = folder.run(&[command, "--format", "json", "--karpenter-version", "1.14", "."]).json();
        assert_eq!(json["karpenterVersion"], "1.14", "{command}");
    }
    let text = folder.run(&["simulate", "."]).stdout;
    let assumed = "\n  Karpenter runs in release 1.6.2, pinned in install.sh:1 (`--karpenter-version`)\n";
    assert!(text.contains(assumed), "{text}");
}
