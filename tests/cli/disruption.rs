//! `karpwarden disruption`.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::costly::costly;
use crate::folder::Folder;

const POOL: &str = include_str!("disruption/pool.yaml");
const CLUSTER: &str = include_str!("disruption/cluster.yaml");

const AT: [&str; 5] = ["disruption", "--karpenter-version", "1.14", "--at", "2026-03-11T10:30:00Z"];

fn folder() -> Folder {
    Folder::with(&[("pool.yaml", POOL), ("cluster.yaml", CLUSTER)])
}

fn arguments<'a>(further: &[&'a str]) -> Vec<&'a str> {
    AT.iter().copied().chain(further.iter().copied()).collect()
}

fn json_of(further: &[&str]) -> Value {
    let run = folder().run(&arguments(&[&["--format", "json"], further].concat()));
    assert_eq!(run.status, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn shows_the_week_and_the_nodes() {
    let run = folder().run(&arguments(&["pool.yaml", "cluster.yaml"]));
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    assert_snapshot!(run.stdout, @"
    Karpenter 1.14 at Wed 2026-03-11 10:30 UTC: Emptiness deletes n2

    NodePool default: 2 nodes
      Empty: 1 now
        Wed  │Thu     │Fri     │Sat     │Sun     │Mon     │Tue     │Wed
        ▓▓▓▓▓│▓▓▓▓▓▓▓▓│▓▓▓▓▓▓▓▓│▓▓▓▓▓▓▓▓│▓▓▓▓▓▓▓▓│▓▓▓▓▓▓▓▓│▓▓▓▓▓▓▓▓│▓▓▓▓
        all week                1         budgets[0] (10%)
      Drifted, Underutilized: 0 now
        Wed  │Thu     │Fri     │Sat     │Sun     │Mon     │Tue     │Wed
        ··+▓▓│▓▓▓··+▓▓│▓▓▓··+▓▓│▓▓▓▓▓▓▓▓│▓▓▓▓▓▓▓▓│▓▓▓··+▓▓│▓▓▓··+▓▓│▓▓▓·
        Wed 10:30 to Wed 17:00  0         budgets[1] (0)
        Wed 17:00 to Thu 09:00  1         budgets[0] (10%)
        Thu 09:00 to Thu 17:00  0         budgets[1] (0)
        Thu 17:00 to Fri 09:00  1         budgets[0] (10%)
        Fri 09:00 to Fri 17:00  0         budgets[1] (0)
        Fri 17:00 to Mon 09:00  1         budgets[0] (10%)
        and 5 more changes (--all)

      one mark is 3 hours: · no node, ░ some, ▒ a fifth, ▓ half, █ all nodes, + changes between none and some; times in UTC

      node  NodePool  drain       disruption
      n1    default   never ends  pdb: pdb prevents pod evictions (PodDisruptionBudget=[shop/web])
      n2    default   at most 5s  Emptiness

    assumed
      the subnets are in us-east-1a, us-east-1b, us-east-1c (`--zones`)
      on-demand prices are the list prices of us-east-1 (`--prices`)
      spot capacity costs 40 % of the on-demand price in every zone (`--spot-discount`)
      the cluster has no other NodePool, node or pod than the input
      every instance type has capacity in every zone
      webhooks change no pod
    ");
}

#[test]
fn shows_the_calendar_of_a_pool_alone_in_another_time_zone() {
    let run =
        folder().run(&arguments(&["--timezone", "Asia/Kolkata", "--node-count", "default=33", "pool.yaml"]));
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    assert_snapshot!(run.stdout, @"
    Karpenter 1.14 at Wed 2026-03-11 16:00 Asia/Kolkata: the input has no nodes

    NodePool default: 33 nodes
      Empty: 4 now
        Wed│Thu     │Fri     │Sat     │Sun     │Mon     │Tue     │Wed
        ░░░│░░░░░░░░│░░░░░░░░│░░░░░░░░│░░░░░░░░│░░░░░░░░│░░░░░░░░│░░░░░░
        all week                4         budgets[0] (10%)
      Drifted, Underutilized: 0 now
        Wed│Thu     │Fri     │Sat     │Sun     │Mon     │Tue     │Wed
        ··+│░░░░+··+│░░░░+··+│░░░░░░░░│░░░░░░░░│░░░░+··+│░░░░+··+│░░░░+·
        Wed 16:00 to Wed 22:30  0         budgets[1] (0)
        Wed 22:30 to Thu 14:30  4         budgets[0] (10%)
        Thu 14:30 to Thu 22:30  0         budgets[1] (0)
        Thu 22:30 to Fri 14:30  4         budgets[0] (10%)
        Fri 14:30 to Fri 22:30  0         budgets[1] (0)
        Fri 22:30 to Mon 14:30  4         budgets[0] (10%)
        and 5 more changes (--all)

      one mark is 3 hours: · no node, ░ some, ▒ a fifth, ▓ half, █ all nodes, + changes between none and some; times in Asia/Kolkata
    ");
}

#[test]
fn tells_the_story_of_a_node() {
    let run = folder().run(&arguments(&["--pod", "shop/web-0", "pool.yaml", "cluster.yaml"]));
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    assert_snapshot!(run.stdout, @"
    pod shop/web-0: no karpenter.sh/do-not-disrupt

    node n1 of NodePool default, 1 pod, at Wed 2026-03-11 10:30
      condition  the Node's Ready is True
      condition  Initialized is True since Wed 2026-03-11 00:02
      condition  Consolidatable is True since Wed 2026-03-11 00:03
      condition  Drifted is True (NodePoolDrifted) since Wed 2026-03-11 09:00
      expires    Fri 2026-04-10 00:00, whatever is in the way

    in the way: pdb prevents pod evictions (PodDisruptionBudget=[shop/web])
      let the PodDisruptionBudget allow an eviction: more replicas, or a smaller minAvailable
      cluster.yaml:75

      Emptiness                stopped by what is in the way
      StaticDrift              stopped by what is in the way
      Drift                    stopped by what is in the way
      MultiNodeConsolidation   stopped by what is in the way
      SingleNodeConsolidation  stopped by what is in the way

    drain: never ends
      PodDisruptionBudget shop/web never allows the eviction of pod shop/web-0
      the NodeClaim expires at Fri 2026-04-10 00:00; from then on Karpenter runs a replacement beside this node
    ");
    let run = folder().run(&arguments(&["--node", "n2", "pool.yaml", "cluster.yaml"]));
    assert!(run.stdout.starts_with("node n2 of NodePool default, 0 pods"), "{run:?}");
    assert!(run.stdout.contains("drain: at most 5s"), "{run:?}");
}

#[test]
fn prints_json_with_every_key() {
    let json = json_of(&["pool.yaml", "cluster.yaml"]);
    assert_eq!(json["schema"], 1);
    assert_eq!((&json["at"], &json["acts"]), (&json!("2026-03-11T10:30:00Z"), &json!("Emptiness")));
    let budgets = &json["nodePools"][0]["budgets"];
    assert_eq!(
        budgets[0],
        json!({"reason": "Empty", "allowed": 1, "unlimited": false, "active": [true, true], "error": "", "until": ""})
    );
    assert_eq!((&budgets[1]["allowed"], &budgets[1]["until"]), (&json!(0), &json!("2026-03-11T17:00:00Z")));
    let node = &json["nodes"][0];
    assert_eq!(
        (&node["name"], &node["candidate"], &node["blockedBy"]),
        (&json!("n1"), &json!(false), &json!("pdb"))
    );
    assert_eq!(node["message"], "pdb prevents pod evictions (PodDisruptionBudget=[shop/web])");
    let place = &node["related"][0];
    assert_eq!(
        (&place["file"], &place["path"]),
        (&json!("cluster.yaml"), &json!("status.disruptionsAllowed"))
    );
    assert_eq!((&place["document"], &place["line"]), (&json!(5), &json!(75)));
    assert_eq!((&json["nodes"][1]["candidate"], &json["nodes"][1]["blockedBy"]), (&json!(true), &json!("")));
    assert_eq!(json["methods"][0]["commands"][0]["candidates"], json!(["n2"]));
    assert_eq!(
        (&json["drain"][0]["longestSeconds"], &json["drain"][0]["never"]),
        (&Value::Null, &json!(true))
    );
    assert_eq!(json["drain"][1], json!({"node": "n2", "longestSeconds": 5, "never": false, "because": []}));
}

#[test]
fn counts_nodes_by_flag_for_percentages() {
    let json = json_of(&["--node-count", "default=33", "pool.yaml"]);
    assert_eq!(
        (&json["nodePools"][0]["nodes"], &json["nodePools"][0]["budgets"][0]["allowed"]),
        (&json!(33), &json!(4))
    );
    assert_eq!(json["nodes"], json!([]));
}

#[test]
fn prints_the_findings_of_check_in_json() {
    let folder = folder();
    let class = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: other}
spec:
  instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes
  amiSelectorTerms: [{alias: al2023@latest}]
";
    folder.write("class.yaml", class.as_bytes());
    let run = folder.run(&arguments(&["--format", "json", "pool.yaml", "class.yaml"]));
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let rules: Vec<&Value> =
        json["findings"].as_array().unwrap().iter().map(|finding| &finding["rule"]).collect();
    assert!(rules.contains(&&json!("instance-profile-is-arn")), "{rules:?}");
    assert_eq!(run.status, 0);
}

#[test]
fn nodes_in_the_memory_of_the_controller_are_blocked() {
    let json = json_of(&["--nominated", "n2", "--marked-for-deletion", "n1", "pool.yaml", "cluster.yaml"]);
    let blocked: Vec<&Value> =
        json["nodes"].as_array().unwrap().iter().map(|node| &node["blockedBy"]).collect();
    assert_eq!(blocked, ["deleting", "nominated"]);
    // The node that goes uses up the budget of one node.
    assert_eq!(json["nodePools"][0]["budgets"][0]["allowed"], 0);
}

/// The name and the end of the first obstacle of n1 in a changed cluster without the PodDisruptionBudget.
fn obstacle(change: impl Fn(&str) -> String) -> (String, String) {
    let (cluster, _) = CLUSTER.split_once("---\napiVersion: policy/v1").unwrap();
    let folder = Folder::with(&[("pool.yaml", &change(POOL)), ("cluster.yaml", &change(cluster))]);
    let run = folder.run(&arguments(&["--format", "json", "pool.yaml", "cluster.yaml"]));
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let node = &json["nodes"][0];
    assert_eq!((&node["name"], &node["candidate"]), (&json!("n1"), &json!(true)), "{run:?}");
    (node["blockedBy"].as_str().unwrap().to_owned(), node["until"].as_str().unwrap().to_owned())
}

#[test]
fn names_the_first_obstacle_of_a_candidate() {
    let is = |name: &str, until: &str| (name.to_owned(), until.to_owned());
    assert_eq!(obstacle(str::to_owned), is("budget", "2026-03-11T17:00:00Z"));
    let not_drifted =
        |text: &str| text.replace("type: Drifted, status: 'True'", "type: Drifted, status: 'False'");
    let policy = |text: &str| {
        let fields = "consolidationPolicy: WhenEmpty\n    consolidateAfter: 0s";
        not_drifted(text).replace("consolidateAfter: 0s", fields)
    };
    assert_eq!(obstacle(policy), is("policy", ""));
    let waiting = |text: &str| {
        let text = not_drifted(text).replace("consolidateAfter: 0s", "consolidateAfter: 12h");
        text.replace("type: Consolidatable, status: 'True'", "type: Consolidatable, status: 'False'")
    };
    assert_eq!(obstacle(waiting), is("consolidate-after", "2026-03-11T12:02:00Z"));
}

#[test]
fn tells_what_consolidation_would_do_with_a_node_alone() {
    let (cluster, _) = CLUSTER.split_once("---\napiVersion: policy/v1").unwrap();
    let folder = Folder::with(&[("pool.yaml", POOL), ("cluster.yaml", cluster)]);
    let run = folder.run(&arguments(&["--node", "n1", "pool.yaml", "cluster.yaml"]));
    let line = run.stdout.lines().find(|line| line.contains("this node alone")).unwrap_or_default();
    assert_snapshot!(line, @"  this node alone          would delete the node; saves $0.0960 per hour");
}

#[test]
fn a_budget_with_an_error_allows_nothing() {
    let folder = folder();
    folder.write("pool.yaml", POOL.replace("mon-fri", "1-7").as_bytes());
    let run = folder.run(&arguments(&["--format", "json", "--node-count", "default=33", "pool.yaml"]));
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let budget = &json["nodePools"][0]["budgets"][0];
    assert_eq!((&budget["allowed"], &budget["active"]), (&json!(0), &json!([true, "error"])));
    assert_eq!(
        budget["error"],
        "invariant violated, invalid cron, end of range (7) above maximum (6): 1-7 (cron=<nil>)"
    );
    assert_eq!(run.status, 0);
}

#[test]
fn refuses_flags_that_do_not_parse() {
    for (flag, value, expected) in [
        ("--at", "yesterday", "is not a time"),
        ("--timezone", "Europe/Nowhere", "is not a time zone"),
        ("--node-count", "default", "has no `=`"),
        ("--node-count", "default=many", "is not a number"),
        (
            "--node-count",
            "defualt=10",
            "`--node-count`: the input has no NodePool `defualt` (did you mean `default`?)",
        ),
        ("--nominated", "nx", "`--nominated`: the input has no node `nx` (did you mean `n1`?)"),
        ("--marked-for-deletion", "n1,other", "`--marked-for-deletion`: the input has no node `other`"),
        ("--region", "us-esat-1", "is not the name of a region"),
        ("--node", "n9", "has no node, NodeClaim or instance `n9` (did you mean `n1`?)"),
        ("--pod", "shop/none", "runs a pod `shop/none`"),
        ("--feature-gates", "NodeOverlay=on", "is neither `true` nor `false`"),
    ] {
        let run = folder().run(&["disruption", flag, value, "pool.yaml", "cluster.yaml"]);
        assert_eq!(run.status, 2, "{flag}: {run:?}");
        assert!(run.stderr.contains(expected), "{flag}: {run:?}");
    }
    assert_eq!(folder().run(&["disruption"]).status, 3);
}

#[test]
fn names_the_nodes_whose_simulation_takes_too_much_work() {
    const UNKNOWN: &str = "unknown: the simulation takes too much work";

    let folder = folder();
    folder
        .write("cluster.yaml", CLUSTER.replace("disruptionsAllowed: 0", "disruptionsAllowed: 1").as_bytes());
    folder.write("costly.yaml", costly().as_bytes());
    let run = |further: &[&str]| {
        let evening = ["disruption", "--karpenter-version", "1.14", "--at", "2026-03-11T18:00:00Z"];
        folder.run(&[&evening, further].concat())
    };
    let decided = run(&["--format", "json", "pool.yaml", "cluster.yaml"]);
    assert_eq!(decided.status, 0, "{decided:?}");
    let undecided = |json: &Value| {
        let methods = json["methods"].as_array().unwrap();
        let of_method = |method: &Value| (method["method"].clone(), method["undecided"].clone());
        methods.iter().map(of_method).filter(|(_, nodes)| *nodes != json!([])).collect::<Vec<_>>()
    };
    assert_eq!(undecided(&decided.json()), []);
    let cut = run(&["--format", "json", "."]);
    assert_eq!(cut.status, 4, "{}", cut.stderr);
    let json = cut.json();
    let unknown = ["Drift", "SingleNodeConsolidation"].map(|method| (json!(method), json!(["n1"])));
    assert_eq!(undecided(&json), unknown);
    assert_eq!((&json["acts"], &json["nodes"][0]["message"]), (&json!("Emptiness"), &json!(UNKNOWN)));
    let text = run(&["--node", "n1", "."]);
    assert_eq!(text.status, 4, "{}", text.stderr);
    let alone = format!("\n  this node alone          {UNKNOWN}; judge fewer pods or NodePools at a time\n");
    assert!(text.stdout.contains(&alone), "{}", text.stdout);
    // The calendar needs no simulation.
    assert_eq!(run(&["--format", "ics", "."]).status, 0);
}

#[test]
fn reports_input_that_cannot_be_read() {
    let folder = folder();
    folder.write("broken.yaml", b"a: [");
    let run = folder.run(&arguments(&["pool.yaml", "broken.yaml"]));
    assert_eq!(run.status, 4, "{run:?}");
    assert!(run.stdout.contains("NodePool default"), "{run:?}");
    assert!(run.stderr.contains("`broken.yaml`"), "{run:?}");
}

#[test]
fn takes_other_names_of_a_node_and_tells_of_that_node_alone_in_json() {
    let whole = json_of(&["pool.yaml", "cluster.yaml"]);
    let one = json_of(&["--node", "n1", "pool.yaml", "cluster.yaml"]);
    assert_ne!(whole, one);
    assert_eq!(one["nodes"].as_array().unwrap().len(), 1);
    assert_eq!((&one["nodes"][0]["name"], &one["drain"][0]["node"]), (&json!("n1"), &json!("n1")));
    for name in ["c1", "i-1"] {
        assert_eq!(json_of(&["--node", name, "pool.yaml", "cluster.yaml"]), one, "{name}");
    }
    assert_eq!(json_of(&["--pod", "web", "pool.yaml", "cluster.yaml"]), one);
}

#[test]
fn lists_every_change_and_writes_a_calendar_file() {
    let run = folder().run(&arguments(&["--all", "--node-count", "default=33", "pool.yaml"]));
    assert!(!run.stdout.contains("more changes"), "{run:?}");
    let run = folder().run(&arguments(&["--format", "ics", "--node-count", "default=33", "pool.yaml"]));
    assert_eq!(run.status, 0);
    assert!(run.stdout.starts_with("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"), "{run:?}");
    assert!(run.stdout.ends_with("END:VEVENT\r\nEND:VCALENDAR\r\n"), "{run:?}");
    let first: Vec<&str> = run.stdout.lines().skip(4).take(9).collect();
    assert_snapshot!(first.join("\n"), @"
    BEGIN:VEVENT
    UID:default-Empty-20260311T103000Z@karpwarden
    DTSTAMP:20260311T103000Z
    DTSTART:20260311T103000Z
    DTEND:20260318T103000Z
    SUMMARY:NodePool default: 4 nodes at a time
    DESCRIPTION:Empty: budgets[0] (10%)
    TRANSP:TRANSPARENT
    END:VEVENT
    ");
}

#[test]
fn says_which_pace_a_note_assumes() {
    let pool = POOL.replace("      nodeClassRef", "      terminationGracePeriod: 8h\n      nodeClassRef");
    let folder = Folder::with(&[("pool.yaml", &pool)]);
    let run = folder.run(&arguments(&["--node-count", "default=33", "pool.yaml"]));
    let note = run.stdout.lines().find(|line| line.contains("too short")).unwrap_or_default();
    assert!(note.contains("if one node goes after the other and each takes 8h"), "{run:?}");
}

#[test]
fn shows_whether_the_node_is_ready_and_not_the_nodeclaim() {
    let dead = CLUSTER.replacen(
        "{type: Ready, status: 'True'}",
        "{type: Ready, status: Unknown, reason: NodeStatusUnknown, message: Kubelet stopped posting node status., lastTransitionTime: '2026-03-11T09:00:00Z'}",
        1,
    );
    let folder = Folder::with(&[("pool.yaml", POOL), ("cluster.yaml", &dead)]);
    let run = folder.run(&arguments(&["--node", "n1", "pool.yaml", "cluster.yaml"]));
    assert!(run.stdout.contains("the Node's Ready is Unknown (NodeStatusUnknown) since Wed 2026-03-11 09:00: Kubelet stopped posting node status"), "{run:?}");
    assert!(!run.stdout.contains("condition  Ready is"), "{run:?}");
}
