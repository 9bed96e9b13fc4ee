//! A controller that stops: panics, too little memory, lost leadership.

use super::message::{Detail, Message, MessagePattern, Text, When, anywhere, condition, event, line, panic};
use crate::conditions::TERMINATED;
use crate::entry::LogLevel;
use crate::symptom::Symptom;
use answers::report::Confidence;
use karpenter::release::Releases;
use rule::finding::Severity;

/// A line with an error about the lease, as client-go words it before and after structured logging.
const fn lease(message: Text, error: Text) -> MessagePattern {
    line(LogLevel::Error, message, error)
}

/// The symptoms of this file.
pub(super) const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "controller-panicked",
        severity: Severity::Error,
        summary: "the controller panics",
        says: "the controller panicked: {a Go panic or fatal error}",
        remedy: "look up the text and the function in the issues of aws/karpenter-provider-aws and kubernetes-sigs/karpenter, and upgrade to a patch that fixes it; `kubectl logs --previous` has the goroutine dump",
        cause: "
A panic is a mistake in the program, often triggered by an unusual object, such as a NodePool without a template or a
quantity that cannot be parsed. Go prints `panic:` or `fatal error:` and the functions that led to it, and the process
ends. Within a reconciliation the panic becomes an error instead (`[recovered]`), and the object is never reconciled.

The first function of Karpenter in the dump is part of the evidence. Without such a function, the line may belong to
another program whose log is in the input, and the diagnosis is only likely.
",
        rules: &[],
        messages: &[
            Message {
                pattern: panic(),
                releases: Releases::ALL,
                detail: Detail::Message,
                example: "panic: runtime error: invalid memory address or nil pointer dereference",
                source: "golang/go src/runtime/panic.go, `printpanics` and `fatalthrow`",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::HasBut(&["panic: ", " [recovered]"], &["quantities must match"])),
                releases: Releases::ALL,
                detail: Detail::Between("panic: ", " [recovered]"),
                example: r#"{"level":"ERROR","time":"2025-06-11T10:44:56.264Z","logger":"controller","message":"Reconciler error","commit":"9458bb5","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"namespace":"","name":"default","reconcileID":"5a22fafb-3c5e-4b7a-9d21-7e4c00204345","error":"panic: runtime error: invalid memory address or nil pointer dereference [recovered]"}"#,
                source: "sigs.k8s.io/controller-runtime pkg/internal/controller/controller.go, `Reconcile`",
            },
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["src/runtime/panic.go of golang/go", "pkg/internal/controller/controller.go of sigs.k8s.io/controller-runtime", "aws/karpenter-provider-aws#5699"],
    },
    Symptom {
        name: "controller-out-of-memory",
        severity: Severity::Error,
        summary: "the controller is killed because it needs more memory than its limit",
        says: "the controller was killed because it needs more memory than its limit",
        remedy: "raise `controller.resources.limits.memory` and the request in the chart's values; memory grows with the number of nodes, pods and instance types",
        cause: "
The kernel kills a container that reaches its memory limit; its pod then shows `OOMKilled` and exit code 137. The
controller writes nothing when it is killed: the log just ends and begins again. While it restarts, no pod gets a node.
`diagnose` reads the status of the pod, its description, and, if the pod has one container, its row of `kubectl get pods`.
",
        rules: &[],
        messages: &[
            Message {
                pattern: condition("Pod", TERMINATED, "", "OOMKilled", Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"kind":"Pod","name":"karpenter-5d8f7c9b6-x2x4z","type":"ContainerTerminated","reason":"OOMKilled"}"#,
                source: "kubernetes/kubernetes v1.33.0 staging/src/k8s.io/api/core/v1/types.go, `ContainerStateTerminated`",
            },
            Message {
                pattern: anywhere(Text::Has(&["fatal error: runtime: out of memory"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "fatal error: runtime: out of memory",
                source: "golang/go src/runtime/mem_linux.go, `sysMapOS`",
            },
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["staging/src/k8s.io/api/core/v1/types.go of kubernetes/kubernetes at v1.33.0", "charts/karpenter/values.yaml of aws/karpenter-provider-aws at v1.14.0"],
    },
    Symptom {
        name: "node-killed-controller",
        severity: Severity::Warning,
        summary: "a node without memory killed a process with the name of Karpenter's",
        says: "a node killed a process named `controller`, as Karpenter's is, because it had no memory left",
        remedy: "compare the node with the nodes of Karpenter's pods; if it is one of them, raise `controller.resources` in the chart's values",
        cause: "
The kubelet and the node problem detector report what the kernel kills by the name of the process. Karpenter's is
`controller`, but other programs have the same name.
",
        rules: &[],
        messages: &[
            Message {
                pattern: event("SystemOOM", Text::Has(&["System OOM encountered, victim process: controller, pid: "])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s   Warning   SystemOOM   node/ip-10-0-37-12   System OOM encountered, victim process: controller, pid: 4127",
                source: "kubernetes/kubernetes v1.33.0 pkg/kubelet/oom/oom_watcher_linux.go",
            },
            Message {
                pattern: event("OOMKilling", Text::Has(&["Killed process ", " (controller)"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s   Warning   OOMKilling   node/ip-10-0-37-12   Memory cgroup out of memory: Killed process 4127 (controller) total-vm:1312340kB, anon-rss:1047212kB, file-rss:21340kB",
                source: "kubernetes/node-problem-detector config/kernel-monitor.json",
            },
        ],
        when: When::Always,
        confidence: Confidence::Possible,
        references: &["pkg/kubelet/oom/oom_watcher_linux.go of kubernetes/kubernetes at v1.33.0", "config/kernel-monitor.json of kubernetes/node-problem-detector"],
    },
    Symptom {
        name: "leader-lost",
        severity: Severity::Warning,
        summary: "the controller loses its leadership",
        says: "the controller lost its leadership and restarted",
        remedy: "give the controller more CPU and memory, and check how fast the API server answers",
        cause: "
The leader renews a lease every two seconds, and stops with a panic if it cannot renew it for ten seconds. With a low
CPU limit or a busy API server this happens whenever many pods arrive. Until another process leads, no pod gets a node.
A controller that shuts down, as during an upgrade, also writes `leader election lost`, but as an error after
`Stopping and waiting for`; that is normal.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("leader election lost"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-06-11T10:44:56.264Z","logger":"controller","message":"leader election lost","commit":"9458bb5"}"#,
                source: "sigs.k8s.io/controller-runtime pkg/manager/internal.go, `initLeaderElector`, in the panic of `lo.Must0` in pkg/operator/operator.go of kubernetes-sigs/karpenter at v1.8.0",
            },
            Message {
                pattern: line(LogLevel::Info, Text::Has(&["failed to renew lease ", "context deadline exceeded"]), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"INFO","time":"2025-06-11T10:44:56.264Z","logger":"controller","message":"failed to renew lease kube-system/karpenter-leader-election: context deadline exceeded","commit":"9458bb5"}"#,
                source: "k8s.io/client-go tools/leaderelection/leaderelection.go, `renew`",
            },
            Message {
                pattern: line(LogLevel::Info, Text::Starts("Failed to renew lease"), Text::Has(&["context deadline exceeded"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"INFO","time":"2025-10-21T15:55:25.085Z","logger":"controller","message":"Failed to renew lease","commit":"31fa2ea","lock":"kube-system/karpenter-leader-election","err":"context deadline exceeded"}"#,
                source: "k8s.io/client-go tools/leaderelection/leaderelection.go, `renew`",
            },
        ],
        when: When::Always,
        confidence: Confidence::Likely,
        references: &["tools/leaderelection/leaderelection.go of k8s.io/client-go", "pkg/operator/operator.go of kubernetes-sigs/karpenter at v1.0.2 and v1.8.3"],
    },
    Symptom {
        name: "lease-forbidden",
        severity: Severity::Error,
        summary: "the controller may not use its lease",
        says: "the controller may not use its lease, and never becomes the leader",
        remedy: "allow the controller's service account `get`, `create`, `update` and `patch` on leases in its namespace: the chart's Role `karpenter` does; compare `LEADER_ELECTION_NAME` with the name in the Role",
        cause: "
Only the leader reconciles anything, and the leader is who holds the lease `karpenter-leader-election` in the
controller's namespace. Without permission for it, the controller starts, is healthy, and does nothing.
",
        rules: &[],
        messages: &[
            Message {
                pattern: lease(Text::Has(&["error retrieving resource lock ", " is forbidden: User "]), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-03-20T14:48:12.948Z","logger":"controller","message":"error retrieving resource lock kube-system/karpenter-leader-election: leases.coordination.k8s.io \"karpenter-leader-election\" is forbidden: User \"system:serviceaccount:kube-system:karpenter\" cannot get resource \"leases\" in API group \"coordination.k8s.io\" in the namespace \"kube-system\"","commit":"ad71530"}"#,
                source: "k8s.io/client-go tools/leaderelection/leaderelection.go, `tryAcquireOrRenew`",
            },
            Message {
                pattern: lease(Text::Is("Error retrieving lease lock"), Text::Has(&[" is forbidden: User "])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-10-21T15:55:25.085Z","logger":"controller","message":"Error retrieving lease lock","commit":"31fa2ea","lock":"kube-system/karpenter-leader-election","error":"leases.coordination.k8s.io \"karpenter-leader-election\" is forbidden: User \"system:serviceaccount:kube-system:karpenter\" cannot get resource \"leases\" in API group \"coordination.k8s.io\" in the namespace \"kube-system\""}"#,
                source: "k8s.io/client-go tools/leaderelection/leaderelection.go, `tryAcquireOrRenew`",
            },
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["tools/leaderelection/leaderelection.go of k8s.io/client-go", "charts/karpenter/templates/role.yaml of aws/karpenter-provider-aws at v1.14.0", "pkg/operator/options/options.go of kubernetes-sigs/karpenter at v1.8.0"],
    },
    Symptom {
        name: "lease-not-renewed",
        severity: Severity::Warning,
        summary: "the API server does not answer in time when the controller renews its lease",
        says: "the controller repeatedly cannot read or renew its lease, because the API server does not answer in time",
        remedy: "check the latency of the API server and the CPU limit of the controller",
        cause: "
The controller reads or renews its lease every two seconds. One failure is harmless; after ten seconds without success
the leader stops.
",
        rules: &[],
        messages: &[
            Message {
                pattern: lease(Text::HasBut(&["error retrieving resource lock "], &[" is forbidden: User "]), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-03-20T14:48:12.948Z","logger":"controller","message":"error retrieving resource lock kube-system/karpenter-leader-election: Get \"https://172.20.0.1:443/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/karpenter-leader-election?timeout=5s\": context deadline exceeded","commit":"ad71530"}"#,
                source: "k8s.io/client-go tools/leaderelection/leaderelection.go, `tryAcquireOrRenew`",
            },
            Message {
                pattern: lease(Text::Is("Error retrieving lease lock"), Text::HasBut(&["leases/karpenter-leader-election"], &[" is forbidden: User "])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-10-21T15:55:25.085Z","logger":"controller","message":"Error retrieving lease lock","commit":"31fa2ea","lock":"kube-system/karpenter-leader-election","error":"Get \"https://172.20.0.1:443/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/karpenter-leader-election?timeout=5s\": context deadline exceeded"}"#,
                source: "k8s.io/client-go tools/leaderelection/leaderelection.go, `tryAcquireOrRenew`",
            },
            Message {
                pattern: lease(Text::Starts("Failed to update lock"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-03-20T14:48:12.948Z","logger":"controller","message":"Failed to update lock: Put \"https://172.20.0.1:443/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/karpenter-leader-election?timeout=5s\": context deadline exceeded","commit":"ad71530"}"#,
                source: "k8s.io/client-go tools/leaderelection/leaderelection.go, `tryAcquireOrRenew`",
            },
            Message {
                pattern: lease(Text::Starts("Failed to update lease"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-10-21T15:55:25.085Z","logger":"controller","message":"Failed to update lease","commit":"31fa2ea","lock":"kube-system/karpenter-leader-election","error":"etcdserver: request timed out"}"#,
                source: "k8s.io/client-go tools/leaderelection/leaderelection.go, `tryAcquireOrRenew`",
            },
        ],
        when: When::Often { count: 5, minutes: 5 },
        confidence: Confidence::Likely,
        references: &["tools/leaderelection/leaderelection.go of k8s.io/client-go"],
    },
];
