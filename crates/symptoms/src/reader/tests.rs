//! Inputs of the reader, with every wrapper and cut, and the entries that it emits.

use std::fmt::Write as _;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::{LineCounts, ReadFile, Reader};
use crate::entry::{Entry, Origin};
use manifest::limits::Limits;
use manifest::{Document, File};

/// Entries, one line each, then the documents and the counts.
fn read_pieces(name: &str, pieces: &[&[u8]]) -> (String, LineCounts) {
    read_within(name, pieces, Limits::DEFAULT)
}

fn read_within(name: &str, pieces: &[&[u8]], limits: Limits) -> (String, LineCounts) {
    let mut text = String::new();
    let mut emit = |entry: &Entry<'_>| {
        let Entry { at, level, controller, pod, message, error, object, count, .. } = entry;
        let _ = write!(text, "{}: {:?} {level:?}", at.line, entry.origin);
        for (name, value) in
            [("by", controller), ("in", pod), ("of", &object.name), ("reason", &entry.reason)]
        {
            if !value.is_empty() {
                let _ = write!(text, " {name} {value}");
            }
        }
        if let Some(time) = entry.time {
            let _ = write!(text, " at {time}");
        }
        if let Some(first) = entry.first {
            let _ = write!(text, " since {first}");
        }
        if entry.origin == Origin::Condition {
            let _ = write!(text, " {}={}", entry.condition.kind, entry.condition.status);
        }
        let times = if *count > 1 { format!(" x{count}") } else { String::new() };
        let error = if error.is_empty() { String::new() } else { format!(" <- {error}") };
        let _ = writeln!(text, ": {message}{error}{times}");
    };
    let mut reader = Reader::new(name, 0, limits);
    for piece in pieces {
        reader.feed(piece, &mut emit);
    }
    let ReadFile { file, counts, is_binary } = reader.finish(&mut emit);
    if is_binary {
        text.push_str("binary\n");
    }
    for document in file.iter().flat_map(|file| &file.documents) {
        let source = &file.as_ref().unwrap().source;
        let place = source.position(document.start());
        let _ = match document {
            Document::Read(tree) => {
                writeln!(
                    text,
                    "document at {}, offset {}: {}",
                    place.line,
                    place.offset,
                    tree.root().to_json()
                )
            }
            Document::Template(_) => writeln!(text, "template at {}", place.line),
            Document::Unreadable { message, .. } => writeln!(text, "unreadable at {}: {message}", place.line),
        };
    }
    (text, counts)
}

fn entries_of(text: &str) -> String {
    read_pieces("-", &[text.as_bytes()]).0
}

/// A line of the controller, from 1.0 on.
const LINE: &str = r#"{"level":"ERROR","time":"2026-04-23T18:04:55.550Z","logger":"controller","message":"could not schedule pod","commit":"1072d3b","controller":"provisioner","namespace":"","name":"","reconcileID":"8f1c7a0e","Pod":{"name":"web-1","namespace":"shop"},"error":"did not tolerate \"a\"=b"}"#;

const ENTRIES: &str = "1: Log Error by provisioner of web-1 at 2026-04-23T18:04:55Z: could not schedule pod <- did not tolerate \"a\"=b\n";

#[test]
fn reads_lines_in_every_wrapper() {
    let quoted = serde_json::to_string(LINE).unwrap();
    let broken = serde_json::to_string(&format!("{LINE}\n")).unwrap();
    for wrapped in [
        LINE.to_owned(),
        format!("{LINE}\r"),
        format!("\u{feff}{LINE}"),
        format!("\u{1b}[31m{LINE}\u{1b}[0m"),
        format!("2026-04-23T18:04:56.123456789Z {LINE}"),
        format!("2026-04-23T18:04:56.123456789Z stdout F {LINE}"),
        format!("Apr 23 18:04:56 ip-10-0-0-1 karpenter[1]: {LINE}"),
        format!("2026-04-23T18:04:56Z {{app=\"karpenter\"}} {LINE}"),
        format!("{LINE},"),
        format!("{{\"log\":{broken},\"stream\":\"stdout\",\"time\":\"2026-04-23T18:04:56.1Z\"}}"),
        format!("{{\"message\":{quoted}}}"),
        format!("{{\"@timestamp\":\"2026-04-23 18:04:56.000\",\"@message\":{quoted}}}"),
        format!("{{\"line\":{quoted},\"timestamp\":\"2026-04-23T18:04:56Z\",\"fields\":{{}}}}"),
        format!("{{\"severity\":\"ERROR\",\"jsonPayload\":{LINE},\"message\":{LINE}}}"),
    ] {
        assert_eq!(entries_of(&wrapped), ENTRIES, "{wrapped}");
    }
}

#[test]
fn reads_the_pod_from_the_prefix() {
    let in_pod = ENTRIES.replace(" of ", " in karpenter-5d8f7c9b6-x2x4z of ");
    let quoted = serde_json::to_string(LINE).unwrap();
    for prefixed in [
        format!("[pod/karpenter-5d8f7c9b6-x2x4z/controller] {LINE}"),
        format!("[pod/karpenter-5d8f7c9b6-x2x4z/controller] 2026-04-23T18:04:56Z {LINE}"),
        format!("karpenter-5d8f7c9b6-x2x4z controller {LINE}"),
        format!("\u{1b}[32mkarpenter-5d8f7c9b6-x2x4z\u{1b}[m \u{1b}[32mcontroller\u{1b}[m {LINE}"),
        format!("kube-system karpenter-5d8f7c9b6-x2x4z controller {LINE}"),
        format!("2026-04-23T18:04:56.000000+00:00 karpenter-5d8f7c9b6-x2x4z {LINE}"),
        format!("{{\"log\":{quoted},\"kubernetes\":{{\"pod_name\":\"karpenter-5d8f7c9b6-x2x4z\"}}}}"),
    ] {
        assert_eq!(entries_of(&prefixed), in_pod, "{prefixed}");
    }
}

#[test]
fn reads_other_encoders() {
    let text = "\
2023-06-01T12:00:00.000Z\tINFO\tcontroller.provisioner\tfound provisionable pod(s)\t{\"commit\": \"abc1234\", \"pods\": \"a/b\"}
2023-06-01T12:00:01.000Z\tDEBUG\tcontroller\tprovisioning/provisioner.go:12\tignoring pod\t{\"controller\": \"provisioner\", \"Pod\": {\"name\":\"x\"}}
karpenter-a controller 2023-06-01T12:00:02.000Z\tERROR\tcontroller.interruption\tReconciler error\t{\"error\": \"no queue\"}
2023-06-01T12:00:03.000Z  INFO  controller.provisioner  computed new nodeclaim(s) to fit pod(s)  {\"nodeclaims\": 1}
I0423 18:04:55.123456       1 leaderelection.go:250] attempting to acquire leader lease kube-system/karpenter-leader-election...
2026-04-23T18:04:56Z stderr F E0423 18:04:55.123456       1 reflector.go:150] \"Unhandled Error\" err=\"connection refused\" logger=\"x\"
{\"level\":\"INFO\",\"time\":\"2023-01-01T00:00:00Z\",\"logger\":\"controller.nodeclaim.lifecycle\",\"message\":\"launched\",\"nodeclaim\":\"default-x\"}
panic: validating options, missing field, cluster-name

goroutine 1 [running]:
sigs.k8s.io/karpenter/pkg/operator.NewOperator(0x1)
\t/go/pkg/mod/sigs.k8s.io/karpenter@v1.8.0/pkg/operator/operator.go:12 +0x1d
Error from server (Forbidden): pods is forbidden
";
    assert_snapshot!(entries_of(text), @"
    1: Log Info by provisioner at 2023-06-01T12:00:00Z: found provisionable pod(s)
    2: Log Debug by provisioner of x at 2023-06-01T12:00:01Z: ignoring pod
    3: Log Error by interruption in karpenter-a at 2023-06-01T12:00:02Z: Reconciler error <- no queue
    4: Log Info by provisioner at 2023-06-01T12:00:03Z: computed new nodeclaim(s) to fit pod(s)
    5: Log Info at 2023-04-23T18:04:55Z: attempting to acquire leader lease kube-system/karpenter-leader-election...
    6: Log Error at 2026-04-23T18:04:56Z: Unhandled Error <- connection refused
    7: Log Info by nodeclaim.lifecycle at 2023-01-01T00:00:00Z: launched
    8: Log Panic: validating options, missing field, cluster-name
    13: Text Info: Error from server (Forbidden): pods is forbidden
    ");
}

#[test]
fn takes_a_missing_year_from_nearby_lines() {
    let text = format!(
        "\
I1231 23:59:58.000001       1 leaderelection.go:250] attempting to acquire leader lease a/b
W0101 00:00:03.500000       1 reflector.go:561] failed to list *v1.NodePool
{}
E0101 00:00:05.000001       1 leaderelection.go:436] error retrieving resource lock a/b
",
        LINE.replace("2026-04-23T18:04:55", "2026-01-01T00:00:04"),
    );
    assert_snapshot!(entries_of(&text), @r#"
    3: Log Error by provisioner of web-1 at 2026-01-01T00:00:04Z: could not schedule pod <- did not tolerate "a"=b
    1: Log Info at 2025-12-31T23:59:58Z: attempting to acquire leader lease a/b
    2: Log Warn at 2026-01-01T00:00:03Z: failed to list *v1.NodePool
    4: Log Error at 2026-01-01T00:00:05Z: error retrieving resource lock a/b
    "#);
    let alone = "I0423 18:04:55.123456       1 a.go:1] b\nI0423 18:04:56.123456       1 a.go:1] c\n";
    assert_snapshot!(entries_of(alone), @"
    1: Log Info: b
    2: Log Info: c
    ");
    // The number of waiting lines is bounded.
    let many = format!("I0423 18:04:55.123456       1 a.go:1] {}\n", "b".repeat(1000)).repeat(2000);
    let (text, counts) = read_pieces("-", &[format!("{many}{LINE}\n").as_bytes()]);
    assert_eq!((counts.entries, counts.lines, text.contains(" at ")), (2001, 2001, true));
    assert!(text.starts_with("1: ") && text.lines().last().unwrap().starts_with("2001: "));
}

#[test]
fn counts_truncated_lines() {
    let start = LINE.get(..150).unwrap();
    let end = LINE.get(100..).unwrap();
    let (text, counts) = read_pieces("-", &[format!("{end}\n{LINE}\n{start}").as_bytes()]);
    assert_eq!(text, ENTRIES.replace("1:", "2:"));
    assert_eq!(counts, LineCounts { lines: 3, entries: 1, truncated: 2, ..LineCounts::default() });
}

/// Lines of a container runtime with a line of the controller, cut after this number of bytes.
fn cut_up(line: &str, stream: &str, size: usize) -> Vec<String> {
    let parts: Vec<_> =
        line.as_bytes().chunks(size).map(|part| String::from_utf8(part.to_vec()).unwrap()).collect();
    let tagged = parts.iter().enumerate().map(|(at, part)| {
        let tag = if at + 1 == parts.len() { "F" } else { "P" };
        format!("2026-04-23T18:04:56.12345678{at}Z {stream} {tag} {part}")
    });
    tagged.collect()
}

#[test]
fn joins_lines_of_a_container_runtime() {
    let cut = cut_up(LINE, "stdout", 80);
    assert_eq!(cut.len(), 4);
    let (text, counts) = read_pieces("-", &[cut.join("\n").as_bytes()]);
    assert_eq!(
        (text, counts),
        (ENTRIES.to_owned(), LineCounts { lines: 4, entries: 1, ..LineCounts::default() })
    );

    // Lines of another stream are between its parts: whole lines and a line in parts.
    let [one, two, three, four] = cut.as_slice() else { panic!("{cut:?}") };
    let other = cut_up(&LINE.replace("web-1", "web-2"), "stderr", 160);
    let [first, second] = other.as_slice() else { panic!("{other:?}") };
    let whole = format!("2026-04-23T18:04:56.2Z stderr F {}", LINE.replace("web-1", "web-3"));
    let text =
        entries_of(&[&whole, one, first, two, second, three, four, &whole].map(String::as_str).join("\n"));
    let said_of: Vec<_> =
        text.lines().map(|line| (line.split(':').next().unwrap(), line.contains("<- did not"))).collect();
    assert_eq!(said_of, [("1", true), ("3", true), ("2", true), ("8", true)]);
    assert!(
        text.contains("2: Log Error by provisioner of web-1 ")
            && text.contains("3: Log Error by provisioner of web-2 ")
    );

    // Further tags may follow the tag; the document after it keeps its position.
    let tagged = format!("{}\napiVersion: v1\nkind: A\n", cut.join("\n").replace(" P ", " P:x "));
    let offset = tagged.find("apiVersion").unwrap();
    assert!(entries_of(&tagged).contains(&format!("{ENTRIES}document at 5, offset {offset}:")));
}

#[test]
fn counts_lines_without_their_last_part_as_truncated() {
    let cut = cut_up(LINE, "stdout", 200);
    let (start, end) = (cut.first().unwrap(), cut.last().unwrap());
    let (text, counts) = read_pieces("-", &[format!("{LINE}\n{start}").as_bytes()]);
    assert_eq!(
        (text, counts),
        (ENTRIES.to_owned(), LineCounts { lines: 2, entries: 1, truncated: 1, ..LineCounts::default() })
    );
    assert_eq!(read_pieces("-", &[format!("{end}\n{LINE}\n").as_bytes()]).1.truncated, 1);
}

#[test]
fn joins_parts_up_to_the_maximum_length() {
    let long = LINE.replace("did not", &"did not ".repeat(1 << 17));
    let text = format!(
        "{}\n{}\n",
        cut_up(&long, "stdout", 1 << 14).join("\n"),
        cut_up(LINE, "stdout", 200).join("\n")
    );
    let (entries_of, counts) = read_pieces("-", &[text.as_bytes()]);
    let lines = counts.lines;
    assert_eq!(entries_of, ENTRIES.replace("1:", &format!("{}:", lines - 1)));
    assert_eq!(counts, LineCounts { lines, entries: 1, too_long: 1, ..LineCounts::default() });
    let at_the_end = format!(
        "{LINE}\n2026-04-23T18:04:56Z stdout P {}\n2026-04-23T18:04:56Z stdout F {0}\n{LINE}",
        "x".repeat(600_000)
    );
    assert_eq!(
        read_pieces("-", &[at_the_end.as_bytes()]).1,
        LineCounts { lines: 4, entries: 2, too_long: 1, ..LineCounts::default() }
    );
}

#[test]
fn documents_keep_their_positions() {
    let text = format!(
        "{LINE}\nkind: NodePool\napiVersion: karpenter.sh/v1\nmetadata: {{name: é😀}}\n{LINE}\n# 😀\napiVersion: v1\nkind: A\n\
         apiVersion: v1\nkind: B\n---\napiVersion: v1\nkind: C\n{{\"apiVersion\":\"v1\",\"kind\":\"D\"}}\n{{\n  \"kind\": \"E\",\n  \
         \"apiVersion\": \"v1\"\n}}\n{LINE}\n"
    );
    let shown = entries_of(&text);
    assert_snapshot!(shown, @r#"
    1: Log Error by provisioner of web-1 at 2026-04-23T18:04:55Z: could not schedule pod <- did not tolerate "a"=b
    5: Log Error by provisioner of web-1 at 2026-04-23T18:04:55Z: could not schedule pod <- did not tolerate "a"=b
    6: Text Info: # 😀
    19: Log Error by provisioner of web-1 at 2026-04-23T18:04:55Z: could not schedule pod <- did not tolerate "a"=b
    document at 2, offset 282: {"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"é😀"}}
    document at 7, offset 634: {"apiVersion":"v1","kind":"A"}
    document at 9, offset 657: {"apiVersion":"v1","kind":"B"}
    document at 12, offset 684: {"apiVersion":"v1","kind":"C"}
    document at 14, offset 707: {"apiVersion":"v1","kind":"D"}
    document at 15, offset 738: {"apiVersion":"v1","kind":"E"}
    "#);
    let units = text.get(..text.find("kind: NodePool").unwrap()).unwrap().encode_utf16().count();
    assert!(shown.contains(&format!("document at 2, offset {units}:")));
    let units = text.get(..text.find("apiVersion: v1\nkind: B").unwrap()).unwrap().encode_utf16().count();
    assert!(shown.contains(&format!("document at 9, offset {units}:")));
}

#[test]
fn reads_a_manifest_as_documents() {
    for (name, text) in [
        ("values.yaml", "# the chart's\nsettings:\n  clusterName: a\n"),
        ("policy.json", "{\n  \"Version\": \"2012-10-17\",\n  \"Statement\": []\n}\n"),
        ("stack.json", "{ \"Resources\": {\n} }\n"),
        ("a.yaml", "{a: b}\n"),
    ] {
        let (_, counts) = read_pieces(name, &[text.as_bytes()]);
        assert_eq!(counts.documents, 1, "{name}");
    }
    let (text, counts) = read_pieces("export.json", &[format!("{LINE}\n{LINE}\n").as_bytes()]);
    assert_eq!((text.lines().count(), counts.entries, counts.documents), (2, 2, 0));
}

#[test]
fn reads_pretty_printed_lines() {
    let pretty =
        serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(LINE).unwrap()).unwrap();
    let (text, counts) = read_pieces("-", &[format!("[\n{pretty},\n{pretty}\n]\n").as_bytes()]);
    assert_eq!(text.matches("could not schedule pod <- did not").count(), 2, "{text}");
    assert_eq!(counts.documents, 0);
    let cut = pretty.get(..pretty.len() - 20).unwrap();
    assert_eq!(read_pieces("-", &[cut.as_bytes()]).1.truncated, 1);
}

#[test]
fn reads_tables_of_events() {
    let text = "\
$ kubectl get events -A
NAMESPACE   LAST SEEN   TYPE      REASON             OBJECT                      MESSAGE
default     5m32s       Warning   FailedScheduling   pod/web-1                   Failed to schedule pod, incompatible with nodepool \"default\"
default     2m          Normal    Launched           nodeclaim/default-x7k2p     Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched
<unknown>   <unknown>   Normal    Nominated          pod/web-2                   Pod should schedule on: nodeclaim/default-x7k2p

LAST SEEN           TYPE      REASON                    OBJECT           MESSAGE
3m (x12 over 1h)    Warning   InsufficientCapacityError nodeclaim/a-b2   NodeClaim default event: insufficient capacity
LAST SEEN   TYPE      REASON      OBJECT          SUBOBJECT   SOURCE      MESSAGE                                      FIRST SEEN   COUNT   NAME
7h59m       Normal    Nominated   pod/web-3                   karpenter   Pod should schedule on: nodeclaim/default-q   2y101d       7       web-3.17f
LAST SEEN TYPE REASON OBJECT MESSAGE
10s Warning DisruptionBlocked node/ip-10-0-0-1 Cannot disrupt Node: pdb prevents pod evictions
17s   Warning   FailedScheduling   pod/x   0/3 nodes are available
30s (x5 over 10m)   Warning   FailedScheduling   pod/y   0/3 nodes are available
two words Warning FailedScheduling pod/z and no age
";
    assert_snapshot!(entries_of(text), @r#"
    1: Text Info: $ kubectl get events -A
    3: Event Warn of web-1 reason FailedScheduling at 332s ago: Failed to schedule pod, incompatible with nodepool "default"
    4: Event Info of default-x7k2p reason Launched at 120s ago: Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched
    4: Condition Info of default-x7k2p reason Launched at 120s ago Launched=True: 
    5: Event Info of web-2 reason Nominated: Pod should schedule on: nodeclaim/default-x7k2p
    8: Event Warn of a-b2 reason InsufficientCapacityError at 180s ago since 3600s ago: NodeClaim default event: insufficient capacity x12
    10: Event Info by karpenter of web-3 reason Nominated at 28740s ago since 71798400s ago: Pod should schedule on: nodeclaim/default-q x7
    12: Event Warn of ip-10-0-0-1 reason DisruptionBlocked at 10s ago: Cannot disrupt Node: pdb prevents pod evictions
    13: Event Warn of x reason FailedScheduling at 17s ago: 0/3 nodes are available
    14: Event Warn of y reason FailedScheduling at 30s ago since 600s ago: 0/3 nodes are available x5
    15: Text Info: two words Warning FailedScheduling pod/z and no age
    "#);
}

#[test]
fn reads_descriptions() {
    let text = "\
Name:         default-x7k2p
Namespace:    
Labels:       karpenter.sh/nodepool=default
API Version:  karpenter.sh/v1
Kind:         NodeClaim
Metadata:
  Creation Timestamp:  2026-04-23T18:00:00Z
Spec:
  Expire After:  720h
Status:
  Conditions:
    Last Transition Time:  2026-04-23T18:00:10Z
    Message:               Node not registered with cluster
    Observed Generation:   1
    Reason:                NodeNotFound
    Status:                Unknown
    Type:                  Registered
  Image ID:                ami-1
Events:
  Type     Reason            Age                From               Message
  ----     ------            ----               ----               -------
  Normal   Launched          14m                karpenter          Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched
  Warning  FailedScheduling  2m (x3 over 5m)    default-scheduler  0/1 nodes are available: 1 node(s) had volume node affinity conflict.
";
    assert_snapshot!(entries_of(text), @"
    17: Condition Info of default-x7k2p reason NodeNotFound at 2026-04-23T18:00:10Z Registered=Unknown: Node not registered with cluster
    22: Event Info by karpenter of default-x7k2p reason Launched at 840s ago: Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched
    22: Condition Info of default-x7k2p reason Launched at 840s ago Launched=True: 
    23: Event Warn by default-scheduler of default-x7k2p reason FailedScheduling at 120s ago since 300s ago: 0/1 nodes are available: 1 node(s) had volume node affinity conflict. x3
    ");
}

#[test]
fn reads_tables_of_nodeclaims() {
    let text = "\
NAME            TYPE        CAPACITY    ZONE         NODE                                     READY     AGE
default-2xk8v   m5.large    on-demand   eu-west-1a   ip-10-0-1-5.eu-west-1.compute.internal   True      3d4h
default-9wq4m   c5.xlarge   spot        eu-west-1b                                            Unknown   12m
default-abcde                                                                                 False     14s

NAME                                   TYPE       ZONE         NODE   READY     AGE     ID                      NODEPOOL   NODECLASS
nodeclaim.karpenter.sh/default-7c4nv   m5.large   eu-west-1a          Unknown   2m30s   aws:///eu-west-1a/i-1   web        custom
no row of it
";
    assert_snapshot!(entries_of(text), @"
    2: Condition Info of default-2xk8v at 0s ago Ready=True: 
    3: Condition Info of default-9wq4m at 0s ago Ready=Unknown: 
    4: Condition Info of default-abcde at 0s ago Ready=False: 
    7: Condition Info of default-7c4nv at 0s ago Ready=Unknown: 
    8: Text Info: no row of it
    ");
}

#[test]
fn reads_descriptions_of_built_in_kinds() {
    let text = "\
Name:               ip-10-0-9-2.eu-west-1.compute.internal
Roles:              <none>
Labels:             karpenter.sh/nodepool=default
Taints:             node.kubernetes.io/not-ready:NoSchedule
Conditions:
  Type             Status  LastHeartbeatTime                 LastTransitionTime                Reason                       Message
  ----             ------  -----------------                 ------------------                ------                       -------
  MemoryPressure   False   Thu, 23 Apr 2026 18:14:55 +0000   Thu, 23 Apr 2026 18:04:55 +0000   KubeletHasSufficientMemory   kubelet has sufficient memory available
  Ready            False   Thu, 23 Apr 2026 18:14:55 +0000   Thu, 23 Apr 2026 18:04:55 +0000   KubeletNotReady              container runtime network not ready: NetworkReady=false
  Ready            False   Thu, 23 Apr 2026 18:05:55 +0000   Thu, 23 Apr 2026 18:04:55 +0000   KubeletNotReady              only a minute ago
Addresses:
  InternalIP:  10.0.9.2
System Info:
  Kernel Version:  6.1
Events:
  Type     Reason             Age                  From       Message
  ----     ------             ----                 ----       -------
  Normal   DisruptionBlocked  2m41s (x5 over 12m)  karpenter  Node isn't initialized

Name:             web-1
Namespace:        shop
Node:             <none>
Conditions:
  Type           Status
  PodScheduled   False 
Volumes:
  data:
    Type:  EmptyDir (a temporary directory that shares a pod's lifetime)
Events:
  Type     Reason            Age                 From               Message
  ----     ------            ----                ----               -------
  Warning  FailedScheduling  13m                 default-scheduler  0/5 nodes are available: 5 Insufficient cpu.
  Warning  FailedScheduling  3m (x3 over 13m)    karpenter          Failed to schedule pod, no instance type has enough resources
";
    assert_snapshot!(entries_of(text), @"
    8: Condition Info of ip-10-0-9-2.eu-west-1.compute.internal reason KubeletHasSufficientMemory at 2026-04-23T18:04:55Z MemoryPressure=False: kubelet has sufficient memory available
    9: Condition Info of ip-10-0-9-2.eu-west-1.compute.internal reason KubeletNotReady at 2026-04-23T18:04:55Z Ready=False: container runtime network not ready: NetworkReady=false
    18: Event Info by karpenter of ip-10-0-9-2.eu-west-1.compute.internal reason DisruptionBlocked at 161s ago since 720s ago: Node isn't initialized x5
    25: Condition Info of web-1 PodScheduled=False: 
    32: Event Warn by default-scheduler of web-1 reason FailedScheduling at 780s ago: 0/5 nodes are available: 5 Insufficient cpu.
    33: Event Warn by karpenter of web-1 reason FailedScheduling at 180s ago since 780s ago: Failed to schedule pod, no instance type has enough resources x3
    ");
}

#[test]
fn reads_status_and_events_of_objects() {
    let text = "\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Event
  involvedObject: {kind: Pod, namespace: shop, name: web-1}
  reason: FailedScheduling
  message: no node
  type: Warning
  count: 7
  lastTimestamp: \"2026-04-23T18:00:00Z\"
- apiVersion: events.k8s.io/v1
  kind: Event
  regarding: {kind: NodeClaim, name: default-x}
  reason: Registered
  note: 'Status condition transitioned, Type: Registered, Status: Unknown -> False, Reason: UnregisteredTaintNotFound, Message: a, b'
  reportingController: karpenter
  eventTime: \"2026-04-23T18:00:01.123456Z\"
  series: {count: 3, lastObservedTime: \"2026-04-23T18:00:02.123456Z\"}
- apiVersion: karpenter.sh/v1
  kind: NodeClaim
  metadata: {name: default-x}
  status:
    conditions:
    - type: Launched
      status: \"True\"
      reason: Launched
      lastTransitionTime: \"2026-04-23T18:00:00Z\"
- apiVersion: v1
  kind: Service
  status: {conditions: [{type: A, status: B}]}
";
    assert_snapshot!(entries_of(text), @r#"
    4: Event Warn of web-1 reason FailedScheduling at 2026-04-23T18:00:00Z: no node x7
    12: Event Info by karpenter of default-x reason Registered at 2026-04-23T18:00:02Z since 2026-04-23T18:00:01Z: Status condition transitioned, Type: Registered, Status: Unknown -> False, Reason: UnregisteredTaintNotFound, Message: a, b x3
    12: Condition Info of default-x reason UnregisteredTaintNotFound at 2026-04-23T18:00:02Z since 2026-04-23T18:00:01Z Registered=False: a, b x3
    25: Condition Info of default-x reason Launched at 2026-04-23T18:00:00Z Launched=True: 
    document at 1, offset 0: {"apiVersion":"v1","items":[{"apiVersion":"v1","count":7,"involvedObject":{"kind":"Pod","name":"web-1","namespace":"shop"},"kind":"Event","lastTimestamp":"2026-04-23T18:00:00Z","message":"no node","reason":"FailedScheduling","type":"Warning"},{"apiVersion":"events.k8s.io/v1","eventTime":"2026-04-23T18:00:01.123456Z","kind":"Event","note":"Status condition transitioned, Type: Registered, Status: Unknown -> False, Reason: UnregisteredTaintNotFound, Message: a, b","reason":"Registered","regarding":{"kind":"NodeClaim","name":"default-x"},"reportingController":"karpenter","series":{"count":3,"lastObservedTime":"2026-04-23T18:00:02.123456Z"}},{"apiVersion":"karpenter.sh/v1","kind":"NodeClaim","metadata":{"name":"default-x"},"status":{"conditions":[{"lastTransitionTime":"2026-04-23T18:00:00Z","reason":"Launched","status":"True","type":"Launched"}]}},{"apiVersion":"v1","kind":"Service","status":{"conditions":[{"status":"B","type":"A"}]}}],"kind":"List"}
    "#);
}

#[test]
fn reports_binary_files() {
    let (text, counts) = read_pieces("a.png", &[b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x02\nabc\n"]);
    assert_eq!((text.as_str(), counts.entries), ("binary\n", 0));
    let zeros = [vec![0; 2000], format!("{LINE}\n{LINE}\n").into_bytes()].concat();
    let (text, counts) = read_pieces("-", &[&zeros]);
    assert_eq!((text.lines().count(), counts.binary), (1, 1), "{text}");
    let latin = [b"caf\xe9 ".to_vec(), LINE.as_bytes().to_vec()].concat();
    let (text, counts) = read_pieces("-", &[&latin]);
    assert_eq!((text.as_str(), counts.not_utf8), (ENTRIES, 1));
}

#[test]
fn reads_utf16_with_and_without_byte_order_mark() {
    let text = format!("{LINE}\r\napiVersion: v1\r\nkind: 😀\r\n");
    let units: Vec<u16> = text.encode_utf16().collect();
    let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    let expected = entries_of(&text);
    for bytes in
        [little.clone(), big.clone(), [vec![0xff, 0xfe], little].concat(), [vec![0xfe, 0xff], big].concat()]
    {
        assert_eq!(read_pieces("-", &[&bytes]).0, expected);
    }
}

#[test]
fn skips_and_counts_a_line_of_fifty_megabytes() {
    let long = format!(
        "{{\"level\":\"INFO\",\"message\":\"{}\"}}\n{LINE}\napiVersion: v1\nkind: A\n",
        "x".repeat(50 << 20)
    );
    let pieces: Vec<&[u8]> = long.as_bytes().chunks(1 << 18).collect();
    let (text, counts) = read_pieces("-", &pieces);
    assert_eq!(
        counts,
        LineCounts { lines: 4, entries: 1, too_long: 1, documents: 1, ..LineCounts::default() }
    );
    let offset = long.find("apiVersion").unwrap();
    assert_eq!(
        text,
        format!(
            "{}document at 3, offset {offset}: {{\"apiVersion\":\"v1\",\"kind\":\"A\"}}\n",
            ENTRIES.replace("1:", "2:")
        )
    );
}

#[test]
fn counts_documents_beyond_the_bound() {
    let limits = Limits { file_bytes: 600, ..Limits::DEFAULT };
    let text = format!("{LINE}\napiVersion: v1\nkind: A\n{LINE}\n{LINE}\napiVersion: v1\nkind: B\n");
    let (text, counts) = read_within("-", &[text.as_bytes()], limits);
    assert_eq!((counts.documents, counts.beyond, counts.entries), (1, 2, 3), "{text}");
}

/// Texts of pieces that the reader knows, and any other pieces.
fn mixed() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&'static str> = vec![
        LINE,
        "\n",
        "\r\n",
        "{",
        "}",
        "[",
        "\"",
        "apiVersion: v1",
        "kind: A",
        "---",
        "- ",
        "{\n",
        "\n}\n",
        "  ",
        "é😀",
        "{\"apiVersion\":\"v1\",\"kind\":\"A\"}",
        "Name:         x",
        "Events:",
        "LAST SEEN   TYPE   REASON   OBJECT   MESSAGE",
        "5m  Warning  A  pod/b  c",
        "30s (x5 over 10m)  Warning  A  pod/b  c",
        "NAME   TYPE   ZONE   NODE   READY   AGE",
        "a-1    b      c             True    3d4h",
        "Conditions:",
        "  Type   Status",
        "  A      True",
        "panic: x",
        "goroutine 1",
        "\u{1b}[31m",
        "\0",
        "2026-04-23T18:04:56Z ",
        "2026-04-23T18:04:56Z stdout P ",
        "2026-04-23T18:04:56Z stderr F ",
        "I0423 1 a.go:1] b",
        "{\"log\":\"{",
        "a: b",
        "\u{feff}",
    ];
    let piece = prop_oneof![
        4 => proptest::sample::select(pieces).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..20),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn pieces_of_any_size_tell_the_same_as_the_whole(bytes in mixed(), size in 1_usize..50, name in "(-|a\\.yaml|a\\.json)") {
        let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
        prop_assert_eq!(read_pieces(&name, &pieces), read_pieces(&name, &[&bytes]));
    }

    #[test]
    fn a_document_is_found_where_it_would_be_in_a_file_of_its_own_lines(lines in 0_usize..5, text in "[ -~é😀]{0,30}") {
        let before = format!("x{text}\n").repeat(lines);
        let document = "apiVersion: v1\nkind: A\nmetadata:\n  name: é😀\n  labels: {a: b}\n";
        let all = format!("{before}{document}");
        let mut reader = Reader::new("-", 0, Limits::DEFAULT);
        reader.feed(all.as_bytes(), &mut |_| {});
        let found = reader.finish(&mut |_| {}).file.unwrap();
        let alone = File::read("-", document, &Limits::DEFAULT);
        let (Document::Read(found_tree), Document::Read(tree)) = (&found.documents[0], &alone.documents[0]) else {
            panic!("not read")
        };
        let (there, here) = (
            found.source.position(found_tree.root().at_path(&["metadata", "labels", "a"]).unwrap().span().start),
            alone.source.position(tree.root().at_path(&["metadata", "labels", "a"]).unwrap().span().start),
        );
        prop_assert_eq!(there.line, here.line + lines);
        prop_assert_eq!(there.column, here.column);
        prop_assert_eq!(there.offset, here.offset + before.encode_utf16().count());
    }
}
