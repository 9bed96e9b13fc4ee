//! Documents, tables and descriptions between log lines.

use insta::assert_snapshot;

use super::{LINE, entries_of, read_pieces};

#[test]
fn documents_keep_their_positions() {
    let text = format!(
        r#"{LINE}
kind: NodePool
apiVersion: karpenter.sh/v1
metadata: {{name: é😀}}
{LINE}
# 😀
apiVersion: v1
kind: A
apiVersion: v1
kind: B
---
apiVersion: v1
kind: C
{{"apiVersion":"v1","kind":"D"}}
{{
  "kind": "E",
  "apiVersion": "v1"
}}
{LINE}
"#
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

/// kubectl prints the keys of an object in the order of the alphabet.
#[test]
fn reads_yaml_that_starts_with_any_key() {
    let text = format!(
        r"{LINE}
allowVolumeExpansion: true
allowedTopologies:
- matchLabelExpressions: []
apiVersion: storage.k8s.io/v1
kind: StorageClass
{LINE}
action: Scheduling
apiVersion: v1
kind: Event
message: a
action: Binding
apiVersion: v1
kind: Event
message: b
{LINE}
"
    );
    assert_snapshot!(entries_of(&text), @r#"
    1: Log Error by provisioner of web-1 at 2026-04-23T18:04:55Z: could not schedule pod <- did not tolerate "a"=b
    7: Log Error by provisioner of web-1 at 2026-04-23T18:04:55Z: could not schedule pod <- did not tolerate "a"=b
    16: Log Error by provisioner of web-1 at 2026-04-23T18:04:55Z: could not schedule pod <- did not tolerate "a"=b
    8: Event Info: a
    12: Event Info: b
    document at 2, offset 282: {"allowVolumeExpansion":true,"allowedTopologies":[{"matchLabelExpressions":[]}],"apiVersion":"storage.k8s.io/v1","kind":"StorageClass"}
    document at 8, offset 687: {"action":"Scheduling","apiVersion":"v1","kind":"Event","message":"a"}
    document at 12, offset 744: {"action":"Binding","apiVersion":"v1","kind":"Event","message":"b"}
    "#);
}

#[test]
fn text_with_colons_stays_text() {
    let text = format!(
        "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\nerror: a\n  b\nreason: c\n{LINE}\nlast: d\n"
    );
    let (shown, counts) = read_pieces("-", &[text.as_bytes()]);
    assert_snapshot!(shown, @r#"
    5: Text Info: error: a
    6: Text Info:   b
    7: Text Info: reason: c
    8: Log Error by provisioner of web-1 at 2026-04-23T18:04:55Z: could not schedule pod <- did not tolerate "a"=b
    1: Log Panic: boom
    9: Text Info: last: d
    "#);
    assert_eq!((counts.lines, counts.documents), (9, 0));
    let (shown, counts) = read_pieces("-", &[b"note: a\nmetadata:\n  name: b\nkind: C\n"]);
    assert_snapshot!(shown, @r#"
    1: Text Info: note: a
    document at 2, offset 8: {"kind":"C","metadata":{"name":"b"}}
    "#);
    assert_eq!((counts.text, counts.documents), (1, 1));
}

#[test]
fn reads_json_whose_first_member_is_on_the_line_of_the_bracket() {
    let object = "{ \"allowVolumeExpansion\": true,\n  \"kind\": \"A\",\n  \"apiVersion\": \"v1\"\n}\n";
    let (shown, counts) = read_pieces("-", &[format!("{object}{LINE}\n").as_bytes()]);
    assert_eq!((counts.documents, counts.entries), (1, 1), "{shown}");
    // A line that is cut off at the same place takes no line with it.
    let cut = r#"{"a":{"b":1},"#;
    let plain = r#"{"severity":"info","message":"x"}"#;
    let (shown, counts) = read_pieces("-", &[format!("{cut}\n{plain}\n{LINE}\n").as_bytes()]);
    assert_eq!((counts.truncated, counts.entries, counts.documents), (1, 2, 0), "{shown}");
}

/// The end of a file that is cut off is an object that cannot be read, not a log line, once the object is known as one.
#[test]
fn end_of_an_object_that_is_cut_off_is_reported_in_any_order_of_its_keys() {
    for object in [
        r#"{"apiVersion":"v1","kind":"Event","action":"Binding","message":"a"}"#,
        r#"{"action":"Binding","apiVersion":"v1","kind":"Event","message":"a"}"#,
        r#"{"message":"a","action":"Binding","kind":"Event","apiVersion":"v1"}"#,
    ] {
        let known = object.find("\"apiVersion\":\"v1\"").unwrap() + "\"apiVersion\":\"v1\"".len();
        for end in known..object.len() {
            let text = format!("{LINE}\n{}", object.get(..end).unwrap());
            let (shown, counts) = read_pieces("-", &[text.as_bytes()]);
            assert!(shown.contains("unreadable at 2"), "{text}: {shown}");
            assert_eq!((counts.truncated, counts.entries), (0, 1), "{text}");
        }
    }
}

#[test]
fn reads_a_policy_with_its_statements_last() {
    let policy = r#"{"Id":"a","Version":"2012-10-17","Statement":[]}"#;
    assert_eq!(read_pieces("-", &[policy.as_bytes()]).1.documents, 1);
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
    22: Condition Info by karpenter of default-x7k2p reason Launched at 840s ago Launched=True: 
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
fn reads_tables_of_nodepools_node_classes_and_nodes() {
    let text = "\
NAME   NODECLASS   NODES   READY   AGE   WEIGHT   CPU   MEMORY
web    default     3       False   12d   10       12    48Gi
NAME      READY     AGE   ROLE
default   Unknown   12d   nodes
NAME                                     READY   AGE
ec2nodeclass.karpenter.k8s.aws/default   False   12d
issuer.cert-manager.io/default           False   12d
NAME          STATUS                     ROLES    AGE     VERSION               INTERNAL-IP   EXTERNAL-IP   OS-IMAGE             KERNEL-VERSION   CONTAINER-RUNTIME
ip-10-0-1-5   Ready,SchedulingDisabled   <none>   3d4h    v1.33.1-eks-1a2b3c4   10.0.1.5      <none>        Amazon Linux 2023    6.1.1            containerd://2.0.1
ip-10-0-1-6   NotReady                   <none>   3d4h    v1.33.1-eks-1a2b3c4   10.0.1.6      <none>        Amazon Linux 2023    6.1.1            containerd://2.0.1
ip-10-0-1-7   NotReady                   <none>   14m     v1.33.1-eks-1a2b3c4   10.0.1.7      <none>        Amazon Linux 2023    6.1.1            containerd://2.0.1
";
    assert_snapshot!(entries_of(text), @"
    2: Condition Info of web at 0s ago Ready=False: 
    4: Condition Info of default at 0s ago Ready=Unknown: 
    6: Condition Info of default at 0s ago Ready=False: 
    7: Text Info: issuer.cert-manager.io/default           False   12d
    9: Condition Info of ip-10-0-1-5 Ready=True: 
    10: Condition Info of ip-10-0-1-6 Ready=NotReady: 
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
    12: Condition Info by karpenter of default-x reason UnregisteredTaintNotFound at 2026-04-23T18:00:02Z since 2026-04-23T18:00:01Z Registered=False: a, b x3
    25: Condition Info of default-x reason Launched at 2026-04-23T18:00:00Z Launched=True: 
    document at 1, offset 0: {"apiVersion":"v1","items":[{"apiVersion":"v1","count":7,"involvedObject":{"kind":"Pod","name":"web-1","namespace":"shop"},"kind":"Event","lastTimestamp":"2026-04-23T18:00:00Z","message":"no node","reason":"FailedScheduling","type":"Warning"},{"apiVersion":"events.k8s.io/v1","eventTime":"2026-04-23T18:00:01.123456Z","kind":"Event","note":"Status condition transitioned, Type: Registered, Status: Unknown -> False, Reason: UnregisteredTaintNotFound, Message: a, b","reason":"Registered","regarding":{"kind":"NodeClaim","name":"default-x"},"reportingController":"karpenter","series":{"count":3,"lastObservedTime":"2026-04-23T18:00:02.123456Z"}},{"apiVersion":"karpenter.sh/v1","kind":"NodeClaim","metadata":{"name":"default-x"},"status":{"conditions":[{"lastTransitionTime":"2026-04-23T18:00:00Z","reason":"Launched","status":"True","type":"Launched"}]}},{"apiVersion":"v1","kind":"Service","status":{"conditions":[{"status":"B","type":"A"}]}}],"kind":"List"}
    "#);
}

/// `helm get values karpenter` prints the values in the order of the alphabet.
#[test]
fn reads_the_values_of_the_chart_whatever_comes_before_them() {
    for (text, expected) in [
        (
            "USER-SUPPLIED VALUES:\nreplicas: 2\nsettings:\n  clusterName: a\n",
            "{\"settings\":{\"clusterName\":\"a\"}}",
        ),
        ("replicas: 2\n- apiVersion: v1\n  kind: A\n", "{\"apiVersion\":\"v1\",\"kind\":\"A\"}"),
    ] {
        let shown = entries_of(text);
        assert!(shown.contains("document at ") && shown.contains(expected), "{text}: {shown}");
    }
}
