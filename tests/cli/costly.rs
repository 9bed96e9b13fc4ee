//! An input whose simulation takes too much work.

use std::fmt::Write as _;

/// A hundred NodePools, and pods with preferences that no NodePool meets.
pub(crate) fn costly() -> String {
    let mut text = String::from("kind: List\napiVersion: v1\nitems:\n");
    for number in 0..100 {
        write!(
            text,
            r"- apiVersion: karpenter.sh/v1
  kind: NodePool
  metadata: {{name: p{number}}}
  spec:
    template:
      spec:
        nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}
        taints: [{{key: k{number}, effect: NoSchedule}}]
        requirements: []
"
        )
        .unwrap();
    }
    let term = |number: usize| {
        format!(
            "{{weight: 1, preference: {{matchExpressions: [{{key: zone, operator: In, values: [z{number}]}}]}}}}"
        )
    };
    let terms: Vec<String> = (0..250).map(term).collect();
    let preferred = format!("{{preferredDuringSchedulingIgnoredDuringExecution: [{}]}}", terms.join(", "));
    for number in 0..80 {
        let affinity = if number == 0 { format!("&preferred {preferred}") } else { "*preferred".to_owned() };
        write!(
            text,
            r"- apiVersion: v1
  kind: Pod
  metadata: {{name: pod-{number}}}
  spec:
    affinity: {{nodeAffinity: {affinity}}}
    containers: [{{name: a, resources: {{requests: {{cpu: {}m}}}}}}]
",
            100 + number
        )
        .unwrap();
    }
    text
}
