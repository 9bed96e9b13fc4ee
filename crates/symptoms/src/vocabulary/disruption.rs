//! Disruption that does not start or does not finish.

use super::blocker::Blocker;
use super::id::MessageId;
use super::message::{Detail, Message, Text, When, condition, event, line};
use crate::entry::LogLevel;
use crate::symptom::Symptom;
use answers::report::Confidence;
use karpenter::release::Releases;
use rule::finding::Severity;

/// The symptoms of this file.
pub(super) const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "budget-unreadable",
        severity: Severity::Error,
        summary: "the schedule of a disruption budget is invalid",
        says: "a disruption budget of the NodePool {here} is invalid, so that Karpenter disrupts none of its nodes",
        remedy: "write `schedule` as five cron fields in UTC without a time zone: weekdays are 0 to 6, and ranges ascend",
        cause: "
An invalid budget counts as a budget of 0 for every reason of the NodePool: no consolidation, no drift. The API server
checks the schedule only roughly.
",
        rules: &["budget-cron-unparseable", "budget-schedule-never-runs"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("detected disruption budget errors"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::Between("invalid disruption budgets in nodepool ", ","),
                example: r#"{"level":"ERROR","time":"2025-03-20T13:50:50.510Z","logger":"controller","message":"detected disruption budget errors","commit":"ad71530","controller":"disruption","namespace":"","name":"","reconcileID":"5a226dc6-3c5e-4b7a-9d21-7e4c001bcaba","error":"invalid disruption budgets in nodepool default, invariant violated, invalid cron, end of range (0) before beginning of range (6): sat-sun (cron=0 9 * * sat-sun)"}"#,
                source: "kubernetes-sigs/karpenter v1.3.2 pkg/controllers/disruption/controller.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["kubernetes-sigs/karpenter#1866; aws/karpenter-provider-aws#7562", "pkg/controllers/disruption/controller.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "budget-blocks",
        severity: Severity::Warning,
        summary: "disruption budgets allow no disruption for hours",
        says: "the disruption budgets of the NodePool {here} have allowed no disruption for hours",
        remedy: "check `spec.disruption.budgets`: `nodes: \"0\"` without a schedule, or with a schedule that is nearly always active, blocks permanently; schedules are in UTC",
        cause: "
The strictest active budget counts. A budget without a schedule is always active, and a budget of 0 blocks
consolidation and drift. While Karpenter replaces nodes, budgets are used up for some minutes; that is their purpose.
",
        rules: &["budget-blocks-always", "budget-window-inverted"],
        messages: &[
            Message {
                pattern: event("DisruptionBlocked", Text::Starts("No allowed disruptions ")).id(MessageId::Blocked(Blocker::Budget)),
                releases: Releases::ALL,
                detail: Detail::Object,
                example: "32s (x512 over 9h)   Normal   DisruptionBlocked   nodepool/default   No allowed disruptions for disruption reason Drifted due to blocking budget",
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/disruption/events/events.go",
            }
        ],
        when: When::Repeated { count: 60 },
        confidence: Confidence::Likely,
        references: &["aws/karpenter-provider-aws#6472", "pkg/controllers/disruption/events/events.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "pdb-blocks-disruption",
        severity: Severity::Warning,
        summary: "a PodDisruptionBudget prevents the disruption of a node",
        says: "the PodDisruptionBudget {of pods on a node} has prevented the disruption of nodes for hours",
        remedy: "let the PodDisruptionBudget allow at least one eviction (`maxUnavailable: 1`, or more replicas than `minAvailable`), and check whether its pods are ready",
        cause: "
A PodDisruptionBudget allows no eviction if it requires all replicas, or if some pods are not ready. Karpenter does
not disrupt a node with such a pod, unless the node drifts and has a `terminationGracePeriod`.
",
        rules: &[],
        messages: &[
            Message {
                pattern: event("DisruptionBlocked", Text::Has(&["db \"", "\" prevents pod evictions"])).id(MessageId::Blocked(Blocker::Pdb)),
                releases: Releases::until(4),
                detail: Detail::Between("db \"", "\""),
                example: r#"4m (x31 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Cannot disrupt Node: pdb "shop/api" prevents pod evictions"#,
                source: "kubernetes-sigs/karpenter v1.1.1 pkg/controllers/state/statenode.go",
            },
            Message {
                pattern: event("DisruptionBlocked", Text::Has(&["db prevents pod evictions"])).id(MessageId::Blocked(Blocker::Pdb)),
                releases: Releases::since(5),
                detail: Detail::First(&[Detail::Between("PodDisruptionBudget=[", "]"), Detail::Between("PodDisruptionBudget=", ")"), Detail::Between("db \"", "\"")]),
                example: "4m (x31 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Pdb prevents pod evictions (PodDisruptionBudget=[shop/api])",
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/state/statenode.go",
            }
        ],
        when: When::Repeated { count: 10 },
        confidence: Confidence::Likely,
        references: &["aws/karpenter-provider-aws#3854, #8164; kubernetes-sigs/karpenter#2802", "pkg/controllers/state/statenode.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "several-pdbs-on-one-pod",
        severity: Severity::Error,
        summary: "two PodDisruptionBudgets select the same pod",
        says: "more than one PodDisruptionBudget selects the same pod, which therefore can never be evicted",
        remedy: "keep one PodDisruptionBudget for each pod: narrow the selector of one of them, or delete it",
        cause: "
The eviction API refuses a pod that two PodDisruptionBudgets select, whatever they allow. Karpenter neither disrupts
nor drains a node with such a pod.
",
        rules: &[],
        messages: &[
            Message {
                pattern: event("DisruptionBlocked", Text::Has(&["viction does not support multiple PDBs"])).id(MessageId::Blocked(Blocker::SeveralPdbs)),
                releases: Releases::since(7),
                detail: Detail::None,
                example: "4m (x31 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Eviction does not support multiple PDBs (PodDisruptionBudget(s)=[shop/api shop/all])",
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/state/statenode.go",
            },
            Message {
                pattern: event("FailedDraining", Text::Has(&["eviction does not support multiple PDBs"])).id(MessageId::Blocked(Blocker::SeveralPdbs)),
                releases: Releases::since(7),
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   FailedDraining   node/ip-10-0-37-12   Failed to drain node, eviction does not support multiple PDBs (Pod=shop/api-6d5f7c9b8-qk2vx)",
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/node/termination/terminator/eviction.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("Reconciler error"), Text::Has(&["This pod has more than one PodDisruptionBudget, which the eviction subresource does not support"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-07-22T14:57:03.647Z","logger":"controller","message":"Reconciler error","commit":"c8c45c1","controller":"eviction-queue","controllerGroup":"","controllerKind":"Pod","Pod":{"name":"api-6d5f7c9b8-qk2vx"},"namespace":"","name":"api-6d5f7c9b8-qk2vx","reconcileID":"5a227197-3c5e-4b7a-9d21-7e4c001be9a9","error":"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."}"#,
                source: "kubernetes-sigs/karpenter v1.6.0 pkg/controllers/node/termination/terminator/eviction.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed evicting pod"), Text::Has(&["This pod has more than one PodDisruptionBudget"])),
                releases: Releases::until(5),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-03-20T15:04:16.784Z","logger":"controller","message":"failed evicting pod","commit":"ad71530","Pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."}"#,
                source: "kubernetes-sigs/karpenter v1.3.2 pkg/controllers/node/termination/terminator/eviction.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["kubernetes-sigs/karpenter#2361; aws/karpenter-provider-aws#1414", "pkg/controllers/node/termination/terminator/eviction.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "do-not-disrupt-blocks",
        severity: Severity::Warning,
        summary: "the annotation `karpenter.sh/do-not-disrupt` prevents the disruption of a node",
        says: "the annotation `karpenter.sh/do-not-disrupt` has prevented the disruption of a node for hours",
        remedy: "remove the annotation from pods or nodes that no longer need it (DaemonSets and static pods count too), and set `terminationGracePeriod` on the NodePool to limit how long a deleted node may drain",
        cause: "
A running pod with the annotation prevents consolidation and drift of its node as long as it runs; on a Node or
NodeClaim the annotation prevents them permanently. With `expireAfter` but no `terminationGracePeriod` the node starts
to drain and never finishes.
",
        rules: &["expiry-ignores-budgets", "do-not-disrupt-duration"],
        messages: &[
            Message {
                pattern: event("DisruptionBlocked", Text::Has(&["has \"karpenter.sh/do-not-disrupt\" annotation"])).id(MessageId::Blocked(Blocker::PodDoNotDisrupt)),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"4m (x31 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=shop/api-6d5f7c9b8-qk2vx)"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/state/statenode.go",
            },
            Message {
                pattern: event("DisruptionBlocked", Text::Has(&["isruption is blocked through the \""])).id(MessageId::Blocked(Blocker::DoNotDisrupt)),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"4m (x31 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Disruption is blocked through the "karpenter.sh/do-not-disrupt" annotation"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/state/statenode.go",
            }
        ],
        when: When::Repeated { count: 10 },
        confidence: Confidence::Likely,
        references: &["kubernetes-sigs/karpenter#2855, #1167", "pkg/controllers/state/statenode.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "do-not-disrupt-unreadable",
        severity: Severity::Warning,
        summary: "the value of `karpenter.sh/do-not-disrupt` is invalid",
        says: "the value of `karpenter.sh/do-not-disrupt` on a pod is neither `true` nor a duration, so that the pod is not protected",
        remedy: "write `\"true\"`, or from 1.12 on a duration such as `\"4h\"`",
        cause: "
Up to 1.11 only `true` counts, and Karpenter silently ignores other values. From 1.12 on a positive duration counts
too, and an event reports invalid values.
",
        rules: &["do-not-disrupt-duration"],
        messages: &[
            Message {
                pattern: event("InvalidDoNotDisruptAnnotation", Text::Any),
                releases: Releases::since(12),
                detail: Detail::None,
                example: r#"2m14s (x6 over 21m)   Warning   InvalidDoNotDisruptAnnotation   pod/api-6d5f7c9b8-qk2vx   Invalid karpenter.sh/do-not-disrupt annotation: failed to parse "yes" as a duration: time: invalid duration "yes", ignoring annotation"#,
                source: "kubernetes-sigs/karpenter v1.12.0 pkg/utils/pod/events.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/utils/pod/events.go of kubernetes-sigs/karpenter at v1.12.0"],
    },
    Symptom {
        name: "node-cannot-be-judged",
        severity: Severity::Warning,
        summary: "a node is excluded from disruption because its NodePool or its state is unknown",
        says: "nodes are excluded from disruption: their NodePool does not exist, or they are not initialized",
        remedy: "delete NodeClaims whose NodePool no longer exists, and look at the condition `Initialized` of the others",
        cause: "
Karpenter disrupts only initialized nodes of existing NodePools. It never consolidates, replaces for drift or repairs
a node that stays uninitialized.
",
        rules: &["startup-taint-never-removed"],
        messages: &[
            Message {
                pattern: event("DisruptionBlocked", Text::Has(&["NodePool \"", "\" not found"])).id(MessageId::Blocked(Blocker::NoPool)),
                releases: Releases::until(4),
                detail: Detail::None,
                example: r#"4m (x31 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Cannot disrupt Node: NodePool "old" not found"#,
                source: "kubernetes-sigs/karpenter v1.1.1 pkg/controllers/disruption/types.go",
            },
            Message {
                pattern: event("DisruptionBlocked", Text::Has(&["NodePool not found (NodePool="])).id(MessageId::Blocked(Blocker::NoPool)),
                releases: Releases::since(5),
                detail: Detail::None,
                example: "4m (x31 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   NodePool not found (NodePool=old)",
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/disruption/types.go",
            },
            Message {
                pattern: event("DisruptionBlocked", Text::Has(&["isn't initialized"])).id(MessageId::Blocked(Blocker::NotInitialized)),
                releases: Releases::until(1),
                detail: Detail::None,
                example: "4m (x31 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Cannot disrupt Node: state node isn't initialized",
                source: "kubernetes-sigs/karpenter v1.1.1 pkg/controllers/state/statenode.go",
            },
            Message {
                pattern: event("DisruptionBlocked", Text::Is("Node isn't initialized")).id(MessageId::Blocked(Blocker::NotInitialized)),
                releases: Releases::since(2),
                detail: Detail::None,
                example: "4m (x31 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Node isn't initialized",
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/state/statenode.go",
            }
        ],
        when: When::Repeated { count: 20 },
        confidence: Confidence::Possible,
        references: &["pkg/controllers/disruption/types.go of kubernetes-sigs/karpenter at v1.14.0", "pkg/controllers/state/statenode.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "spot-consolidation-held-back",
        severity: Severity::Warning,
        summary: "spot nodes are not replaced by cheaper spot nodes",
        says: "spot nodes are not replaced by cheaper spot nodes: the feature gate is off, or fewer than 15 cheaper types are allowed",
        remedy: "set `settings.featureGates.spotToSpotConsolidation: true`, and allow enough families and sizes that 15 cheaper types remain",
        cause: "
Spot-to-spot consolidation is off by default, and requires 15 cheaper types, so that many replacements do not exhaust
the cheapest capacity pool. This is a choice, not a failure: the node stays as it is.
",
        rules: &["feature-gate-needed"],
        messages: &[
            Message {
                pattern: event("Unconsolidatable", Text::Has(&["SpotToSpotConsolidation is disabled"])).id(MessageId::Blocked(Blocker::SpotToSpotOff)),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Normal   Unconsolidatable   node/ip-10-0-37-12   SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/disruption/consolidation.go",
            },
            Message {
                pattern: event("Unconsolidatable", Text::Has(&["SpotToSpotConsolidation requires "])).id(MessageId::Blocked(Blocker::SpotToSpotTooFewTypes)),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Normal   Unconsolidatable   node/ip-10-0-37-12   SpotToSpotConsolidation requires 15 cheaper instance type options than the current candidate to consolidate, got 4",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/disruption/consolidation.go",
            }
        ],
        when: When::Correlated,
        confidence: Confidence::Certain,
        references: &["kubernetes-sigs/karpenter#1653, #1124", "pkg/controllers/disruption/consolidation.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "replacement-fails",
        severity: Severity::Warning,
        summary: "replacement nodes do not become ready",
        says: "replacement nodes do not become ready, and Karpenter gives up the replacement",
        remedy: "look at the replacement NodeClaims (`created nodeclaim` of the controller `disruption`): their conditions show why they are not initialized, and the log shows who deletes them",
        cause: "
Karpenter drains a node only after its replacement is initialized. If the replacement takes too long, or its NodeClaim
is deleted because capacity is missing, Karpenter cancels the command and keeps the old node; the next attempt fails
in the same way. Once in a while this is normal.
",
        rules: &["startup-taint-never-removed", "registration-taint-missing"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed terminating nodes while executing a disruption command"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-10-21T16:11:29.921Z","logger":"controller","message":"failed terminating nodes while executing a disruption command","commit":"31fa2ea","controller":"disruption.queue","namespace":"","name":"","reconcileID":"5a227939-3c5e-4b7a-9d21-7e4c001c2787","command-id":"9b0e7f0a-1f0e-4c55-8c0e-0d5b7a5f8a11","error":"replacement was deleted, NodeClaim.karpenter.sh \"default-7xk2p\" not found"}"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/disruption/queue.go",
            }
        ],
        when: When::Often { count: 3, minutes: 120 },
        confidence: Confidence::Likely,
        references: &["pkg/controllers/disruption/queue.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "consolidation-times-out",
        severity: Severity::Warning,
        summary: "consolidation does not finish in time",
        says: "consolidation repeatedly does not finish in time",
        remedy: "give the controller more CPU, and look for what makes simulations slow: affinities over very many pods, many NodePools, preferences (from 1.4 on `settings.preferencePolicy: Ignore` ignores them)",
        cause: "
Each pass has one minute for multi-node consolidation and three minutes for single-node consolidation. The remaining
nodes wait for the next pass; from 1.4 on they come first. In clusters of many hundred nodes this happens now and
then.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Debug, Text::Starts("abandoning single-node consolidation due to timeout after evaluating "), Text::Any),
                releases: Releases::until(9),
                detail: Detail::None,
                example: r#"{"level":"DEBUG","time":"2025-07-22T08:18:42.058Z","logger":"controller","message":"abandoning single-node consolidation due to timeout after evaluating 41 candidates","commit":"c8c45c1","controller":"disruption","namespace":"","name":"","reconcileID":"5a227d0a-3c5e-4b7a-9d21-7e4c001c4676"}"#,
                source: "kubernetes-sigs/karpenter v1.6.0 pkg/controllers/disruption/singlenodeconsolidation.go",
            },
            Message {
                pattern: line(LogLevel::Debug, Text::Is("abandoning single-node consolidation due to timeout"), Text::Any),
                releases: Releases::since(10),
                detail: Detail::None,
                example: r#"{"level":"DEBUG","time":"2026-04-21T09:25:55.195Z","logger":"controller","message":"abandoning single-node consolidation due to timeout","commit":"537b01a","controller":"disruption","namespace":"","name":"","reconcileID":"5a2280db-3c5e-4b7a-9d21-7e4c001c6565","candidates_evaluated":41}"#,
                source: "kubernetes-sigs/karpenter v1.11.0 pkg/controllers/disruption/singlenodeconsolidation.go",
            },
            Message {
                pattern: line(LogLevel::Debug, Text::Starts("failed to find a multi-node consolidation after timeout, last considered batch had "), Text::Any),
                releases: Releases::until(9),
                detail: Detail::None,
                example: r#"{"level":"DEBUG","time":"2025-03-20T10:32:08.332Z","logger":"controller","message":"failed to find a multi-node consolidation after timeout, last considered batch had 50","commit":"ad71530","controller":"disruption","namespace":"","name":"","reconcileID":"5a2284ac-3c5e-4b7a-9d21-7e4c001c8454"}"#,
                source: "kubernetes-sigs/karpenter v1.3.2 pkg/controllers/disruption/multinodeconsolidation.go",
            },
            Message {
                pattern: line(LogLevel::Debug, Text::Is("failed to find a multi-node consolidation after timeout"), Text::Any),
                releases: Releases::since(10),
                detail: Detail::None,
                example: r#"{"level":"DEBUG","time":"2026-05-19T11:39:21.469Z","logger":"controller","message":"failed to find a multi-node consolidation after timeout","commit":"7ff7943","controller":"disruption","namespace":"","name":"","reconcileID":"5a22887d-3c5e-4b7a-9d21-7e4c001ca343","last_batch_size":50}"#,
                source: "kubernetes-sigs/karpenter v1.12.0 pkg/controllers/disruption/multinodeconsolidation.go",
            }
        ],
        when: When::Often { count: 10, minutes: 60 },
        confidence: Confidence::Likely,
        references: &["pkg/controllers/disruption/multinodeconsolidation.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "controller-starved",
        severity: Severity::Warning,
        summary: "the controller's loops run too rarely",
        says: "the controller's loops run too rarely",
        remedy: "give the controller more CPU and memory (`controller.resources`), and check whether its calls to the API server are throttled",
        cause: "
The disruption loop should run every ten seconds. Minutes between two runs show that the controller gets too little
CPU, or that its simulations take too long.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Debug, Text::Starts("abnormal time between runs of "), Text::Any),
                releases: Releases::until(9),
                detail: Detail::None,
                example: r#"{"level":"DEBUG","time":"2025-10-21T12:46:34.606Z","logger":"controller","message":"abnormal time between runs of singlenodeconsolidation = 17m3.412s","commit":"31fa2ea","controller":"disruption","namespace":"","name":"","reconcileID":"5a228c4e-3c5e-4b7a-9d21-7e4c001cc232"}"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/disruption/controller.go",
            },
            Message {
                pattern: line(LogLevel::Debug, Text::Is("abnormal time between runs"), Text::Any),
                releases: Releases::since(10),
                detail: Detail::None,
                example: r#"{"level":"DEBUG","time":"2026-03-24T13:53:47.743Z","logger":"controller","message":"abnormal time between runs","commit":"d80cb86","controller":"disruption","namespace":"","name":"single","reconcileID":"5a22901f-3c5e-4b7a-9d21-7e4c001ce121","time_since":"17m3.412s"}"#,
                source: "kubernetes-sigs/karpenter v1.10.0 pkg/controllers/disruption/controller.go",
            }
        ],
        when: When::Often { count: 3, minutes: 60 },
        confidence: Confidence::Likely,
        references: &["pkg/controllers/disruption/controller.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "disruption-fails",
        severity: Severity::Warning,
        summary: "Karpenter cannot compute consolidation",
        says: "Karpenter cannot compute consolidation or the NodePools",
        remedy: "read the field `error` in the same line; most often an object that pods refer to does not exist, or the API server does not answer in time",
        cause: "
An error in one simulation ends the pass; Karpenter tries again ten seconds later. A few errors during a restart of
the API server are normal.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed computing consolidation"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-06-11T14:00:00.880Z","logger":"controller","message":"failed computing consolidation","commit":"9458bb5","controller":"disruption","namespace":"","name":"","reconcileID":"5a2293f0-3c5e-4b7a-9d21-7e4c001d0010","error":"getting pods from deleting nodes, context deadline exceeded"}"#,
                source: "kubernetes-sigs/karpenter v1.5.0 pkg/controllers/disruption/singlenodeconsolidation.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed listing nodepools"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-06-11T15:07:13.017Z","logger":"controller","message":"failed listing nodepools","commit":"9458bb5","controller":"disruption","namespace":"","name":"","reconcileID":"5a2297c1-3c5e-4b7a-9d21-7e4c001d1eff","error":"context deadline exceeded"}"#,
                source: "kubernetes-sigs/karpenter v1.5.0 pkg/controllers/disruption/controller.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Starts("failed listing instance types for "), Text::Any),
                releases: Releases::until(9),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-06-11T16:14:26.154Z","logger":"controller","message":"failed listing instance types for default","commit":"9458bb5","controller":"disruption","namespace":"","name":"","reconcileID":"5a229b92-3c5e-4b7a-9d21-7e4c001d3dee","error":"no subnets found"}"#,
                source: "kubernetes-sigs/karpenter v1.5.0 pkg/controllers/disruption/helpers.go",
            },
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed listing instance types"), Text::Any),
                releases: Releases::since(10),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-03-24T08:21:39.291Z","logger":"controller","message":"failed listing instance types","commit":"d80cb86","controller":"disruption","namespace":"","name":"","reconcileID":"5a229f63-3c5e-4b7a-9d21-7e4c001d5cdd","nodepool":"default","error":"no subnets found"}"#,
                source: "kubernetes-sigs/karpenter v1.10.0 pkg/controllers/disruption/helpers.go",
            }
        ],
        when: When::Often { count: 10, minutes: 15 },
        confidence: Confidence::Possible,
        references: &["pkg/controllers/disruption/singlenodeconsolidation.go of kubernetes-sigs/karpenter at v1.14.0"],
    },
    Symptom {
        name: "unhealthy-nodes-replaced",
        severity: Severity::Warning,
        summary: "Karpenter replaces unhealthy nodes",
        says: "Karpenter replaces nodes because a condition reports them as unhealthy",
        remedy: "look at the conditions of the Nodes before they were deleted (`Ready`, and the conditions of the node monitoring agent): find what the nodes have in common",
        cause: "
With the feature gate `NodeRepair` Karpenter deletes a node whose condition has been bad for its time (mostly 10 to 30
minutes). Until 1.14, and with `settings.legacyNodeRepair`, it does so regardless of budgets. One node is normal; several within an hour point to an image, a driver or a network
that fails.
",
        rules: &[],
        messages: &[
            Message {
                pattern: line(LogLevel::Debug, Text::Is("deleting unhealthy node"), Text::Any).id(MessageId::NodeUnhealthy),
                releases: Releases::between(1, 6),
                detail: Detail::None,
                example: r#"{"level":"DEBUG","time":"2025-06-11T09:28:52.428Z","logger":"controller","message":"deleting unhealthy node","commit":"9458bb5","controller":"node.health","controllerGroup":"","controllerKind":"Node","Node":{"name":"ip-10-0-37-12.eu-west-1.compute.internal"},"namespace":"","name":"ip-10-0-37-12.eu-west-1.compute.internal","reconcileID":"5a22a334-3c5e-4b7a-9d21-7e4c001d7bcc"}"#,
                source: "kubernetes-sigs/karpenter v1.6.0 pkg/controllers/node/health/controller.go",
            },
            Message {
                pattern: line(LogLevel::Info, Text::Is("deleting unhealthy node"), Text::Any).id(MessageId::NodeUnhealthy),
                releases: Releases::since(7),
                detail: Detail::None,
                example: r#"{"level":"INFO","time":"2025-10-21T10:35:05.565Z","logger":"controller","message":"deleting unhealthy node","commit":"31fa2ea","controller":"node.health","controllerGroup":"","controllerKind":"Node","Node":{"name":"ip-10-0-37-12.eu-west-1.compute.internal"},"namespace":"","name":"ip-10-0-37-12.eu-west-1.compute.internal","reconcileID":"5a22a705-3c5e-4b7a-9d21-7e4c001d9abb"}"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/node/health/controller.go",
            }
        ],
        when: When::Often { count: 3, minutes: 60 },
        confidence: Confidence::Likely,
        references: &["pkg/controllers/node/health/controller.go of kubernetes-sigs/karpenter at v1.8.0"],
    },
    Symptom {
        name: "node-repair-blocked",
        severity: Severity::Error,
        summary: "too many nodes are unhealthy for node repair",
        says: "so many nodes are unhealthy that Karpenter replaces none",
        remedy: "find what the nodes have in common: the image, the zone, the network, a DaemonSet; node repair continues when less than a fifth of the nodes are unhealthy",
        cause: "
If more than a fifth of a NodePool is unhealthy (or of the cluster, for NodeClaims without a NodePool), Karpenter
assumes another cause and replaces no nodes.
",
        rules: &[],
        messages: &[
            Message {
                pattern: event("NodeRepairBlocked", Text::Has(&[" nodes are unhealthy in the "])),
                releases: Releases::since(1),
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   NodeRepairBlocked   node/ip-10-0-37-12   more then 20% nodes are unhealthy in the cluster",
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/node/health/controller.go",
            },
            Message {
                pattern: event("NodeRepairBlocked", Text::Has(&[" of nodes in nodepool ", " are unhealthy"])),
                releases: Releases::since(15),
                detail: Detail::None,
                example: r#"2m14s (x6 over 21m)   Warning   NodeRepairBlocked   node/ip-10-0-37-12   more than 20% of nodes in nodepool "default" are unhealthy"#,
                source: "kubernetes-sigs/karpenter 120c77e pkg/controllers/disruption/repair.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/controllers/node/health/controller.go of kubernetes-sigs/karpenter at v1.8.0"],
    },
    Symptom {
        name: "node-repair-held-back",
        severity: Severity::Warning,
        summary: "an unhealthy node is not repaired",
        says: "an unhealthy node is not repaired: {see the event}",
        remedy: "remove the annotation `karpenter.sh/do-not-repair` once the node may be replaced; set `terminationGracePeriod` in the NodePool, so that pods cannot block the repair for ever; raise `limits.nodes` of a static NodePool by one, or turn on the feature gate `TerminateFirstRepair`",
        cause: "
Since 1.15 node repair starts a replacement before it deletes a node. It leaves a node alone if the node or its
NodeClaim has the annotation `karpenter.sh/do-not-repair`, if pods block the drain and nothing bounds its time, or if a
static NodePool has no room for the replacement. The texts are those of the main branch shortly before 1.15.
",
        rules: &[],
        messages: &[
            Message {
                pattern: event("NodeRepairBlocked", Text::Has(&["repair is blocked through the ", "do-not-repair"])),
                releases: Releases::since(15),
                detail: Detail::Object,
                example: r#"2m14s (x6 over 21m)   Warning   NodeRepairBlocked   node/ip-10-0-37-12   repair is blocked through the "karpenter.sh/do-not-repair" annotation"#,
                source: "kubernetes-sigs/karpenter 120c77e pkg/controllers/disruption/repair.go",
            },
            Message {
                pattern: event("NodeRepairBlocked", Text::Has(&["repair requires a termination grace period"])),
                releases: Releases::since(15),
                detail: Detail::Object,
                example: "2m14s (x6 over 21m)   Warning   NodeRepairBlocked   node/ip-10-0-37-12   repair requires a termination grace period to bypass blocking pods",
                source: "kubernetes-sigs/karpenter 120c77e pkg/controllers/disruption/repair.go",
            },
            Message {
                pattern: event("NodeRepairBlocked", Text::Has(&["cannot stage a replacement"])),
                releases: Releases::since(15),
                detail: Detail::Object,
                example: "2m14s (x6 over 21m)   Warning   NodeRepairBlocked   node/ip-10-0-37-12   static NodePool is at its node limit and cannot stage a replacement",
                source: "kubernetes-sigs/karpenter 120c77e pkg/controllers/disruption/repair.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["kubernetes-sigs/karpenter#3311", "website/content/en/v1.15/reference/annotations.md of aws/karpenter-provider-aws"],
    },
    Symptom {
        name: "disruption-cost-unreadable",
        severity: Severity::Warning,
        summary: "the disruption cost of a pod is not a number",
        says: "the annotation `karpenter.sh/disruption-cost` of a pod is not a whole number, so Karpenter ignores it",
        remedy: "write a whole number from -2147483648 to 2147483647 in quotes, such as `\"100\"`",
        cause: "
Since 1.15 the annotation orders pods when Karpenter chooses which nodes to disrupt. A value that is not a 32-bit number
counts as absent.
",
        rules: &["disruption-cost-ignored"],
        messages: &[
            Message {
                pattern: line(LogLevel::Error, Text::Is("failed parsing disruption cost"), Text::Any),
                releases: Releases::since(15),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2026-10-21T08:21:39.291Z","logger":"controller","message":"failed parsing disruption cost","controller":"disruption","namespace":"","name":"","reconcileID":"5a229f63-3c5e-4b7a-9d21-7e4c001d5cdd","annotation":"karpenter.sh/disruption-cost","value":"high","pod":{"name":"api-6d5f7c9b8-qk2vx","namespace":"shop"},"error":"strconv.ParseInt: parsing \"high\": invalid syntax"}"#,
                source: "kubernetes-sigs/karpenter main before v1.15.0 pkg/utils/disruption/disruption.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["website/content/en/v1.15/reference/annotations.md of aws/karpenter-provider-aws"],
    },
];

/// Nodes that drifted: the correlation `drift-loop`.
pub(super) const DRIFT: &[Message] = &[
    Message {
        pattern: line(LogLevel::Debug, Text::Is("marking drifted"), Text::Any)
            .id(MessageId::NodeClaimDrifted),
        releases: Releases::ALL,
        detail: Detail::Field("reason"),
        example: r#"{"level":"DEBUG","time":"2025-10-21T12:43:37.373Z","logger":"controller","message":"marking drifted","commit":"31fa2ea","controller":"nodeclaim.disruption","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a2269f5-3c5e-4b7a-9d21-7e4c001babcb","reason":"SecurityGroupDrift"}"#,
        source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/nodeclaim/disruption/drift.go",
    },
    Message {
        pattern: condition("NodeClaim", "Drifted", "True", "", Text::Any).id(MessageId::NodeClaimDrifted),
        releases: Releases::ALL,
        detail: Detail::Object,
        example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Drifted","status":"True","reason":"AMIDrift","message":"AMIDrift"}"#,
        source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodeclaim/disruption/drift.go",
    },
];
