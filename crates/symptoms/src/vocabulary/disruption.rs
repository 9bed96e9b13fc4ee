//! Disruption that does not happen, or does not come to its end.

use super::{Detail, Message, Text, When, condition, event, line};
use lint::finding::Severity;
use karpenter::release::Releases;
use crate::entry::Level;
use lint::report::Confidence;
use crate::Symptom;

/// The symptoms of this part.
pub(super) const SYMPTOMS: &[Symptom] = &[
    Symptom {
        name: "budget-unreadable",
        severity: Severity::Error,
        summary: "the schedule of a disruption budget cannot be read",
        says: "a disruption budget of the NodePool {here} cannot be read, and nothing in it is disrupted",
        remedy: "write `schedule` as five cron fields in UTC without a time zone: days of the week count 0 to 6, and ranges ascend",
        cause: "
One budget that cannot be read counts as one that allows nothing, for every reason of the NodePool: no consolidation,
no drift. The API server checks the schedule only roughly.
",
        rules: &["budget-cron-unparseable", "budget-schedule-never-runs"],
        messages: &[
            Message {
                seen: line(Level::Error, Text::Is("detected disruption budget errors"), Text::Any),
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
        summary: "disruption budgets allow nothing for hours",
        says: "the disruption budgets of the NodePool {here} have allowed nothing for hours",
        remedy: "look at `spec.disruption.budgets`: `nodes: \"0\"` without a schedule, or with one that is nearly always active, blocks for good; hours are in UTC",
        cause: "
The tightest active budget counts. A budget without a schedule is always active, one of 0 blocks consolidation and
drift. While nodes are being replaced budgets are used up for some minutes, which is what they are for.
",
        rules: &["budget-blocks-always", "budget-window-inverted"],
        messages: &[
            Message {
                seen: event("DisruptionBlocked", Text::Starts("No allowed disruptions ")),
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
        summary: "a PodDisruptionBudget keeps a node from being disrupted",
        says: "the PodDisruptionBudget {of pods on a node} has kept nodes from being disrupted for hours",
        remedy: "let the budget allow at least one pod to go (`maxUnavailable: 1`, or more replicas than `minAvailable`), and look at whether its pods are ready",
        cause: "
A budget allows no eviction if as many pods are asked for as there are, or if some of them are not ready. Karpenter
does not begin to disrupt a node on which such a pod runs, unless a `terminationGracePeriod` makes an end of it for
drift.
",
        rules: &[],
        messages: &[
            Message {
                seen: event("DisruptionBlocked", Text::Has(&["db \"", "\" prevents pod evictions"])),
                releases: Releases::until(4),
                detail: Detail::Between("db \"", "\""),
                example: r#"4m (x31 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Cannot disrupt Node: pdb "shop/api" prevents pod evictions"#,
                source: "kubernetes-sigs/karpenter v1.1.1 pkg/controllers/state/statenode.go",
            },
            Message {
                seen: event("DisruptionBlocked", Text::Has(&["db prevents pod evictions"])),
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
        says: "more than one PodDisruptionBudget selects the same pod, which can then never be evicted",
        remedy: "leave one PodDisruptionBudget for each pod: narrow the selector of one of them, or delete it",
        cause: "
The eviction API does not serve a pod that two budgets select, whatever they allow. A node with such a pod is neither
disrupted nor drained.
",
        rules: &[],
        messages: &[
            Message {
                seen: event("DisruptionBlocked", Text::Has(&["viction does not support multiple PDBs"])),
                releases: Releases::since(7),
                detail: Detail::None,
                example: "4m (x31 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Eviction does not support multiple PDBs (PodDisruptionBudget(s)=[shop/api shop/all])",
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/state/statenode.go",
            },
            Message {
                seen: event("FailedDraining", Text::Has(&["eviction does not support multiple PDBs"])),
                releases: Releases::since(7),
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   FailedDraining   node/ip-10-0-37-12   Failed to drain node, eviction does not support multiple PDBs (Pod=shop/api-6d5f7c9b8-qk2vx)",
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/node/termination/terminator/eviction.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("Reconciler error"), Text::Has(&["This pod has more than one PodDisruptionBudget, which the eviction subresource does not support"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-07-22T14:57:03.647Z","logger":"controller","message":"Reconciler error","commit":"c8c45c1","controller":"eviction-queue","controllerGroup":"","controllerKind":"Pod","Pod":{"name":"api-6d5f7c9b8-qk2vx"},"namespace":"","name":"api-6d5f7c9b8-qk2vx","reconcileID":"5a227197-3c5e-4b7a-9d21-7e4c001be9a9","error":"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."}"#,
                source: "kubernetes-sigs/karpenter v1.6.0 pkg/controllers/node/termination/terminator/eviction.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("failed evicting pod"), Text::Has(&["This pod has more than one PodDisruptionBudget"])),
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
        summary: "the annotation `karpenter.sh/do-not-disrupt` keeps a node",
        says: "the annotation `karpenter.sh/do-not-disrupt` has kept a node from being disrupted for hours",
        remedy: "take the annotation off the pods or nodes that no longer need it (DaemonSets and static pods count too), and set `terminationGracePeriod` on the NodePool to bound how long a node that has to go may stay",
        cause: "
A running pod with the annotation keeps its node from consolidation and drift as long as it runs; on a node or
NodeClaim it does so for good. With `expireAfter` and no `terminationGracePeriod` the node starts to drain and never
ends.
",
        rules: &["expiry-ignores-budgets", "do-not-disrupt-duration"],
        messages: &[
            Message {
                seen: event("DisruptionBlocked", Text::Has(&["has \"karpenter.sh/do-not-disrupt\" annotation"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"4m (x31 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=shop/api-6d5f7c9b8-qk2vx)"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/state/statenode.go",
            },
            Message {
                seen: event("DisruptionBlocked", Text::Has(&["isruption is blocked through the \""])),
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
        summary: "the value of `karpenter.sh/do-not-disrupt` cannot be read",
        says: "a pod has a value of `karpenter.sh/do-not-disrupt` that is neither `true` nor a duration, and is not protected",
        remedy: "write `\"true\"`, or from 1.12 on a duration such as `\"4h\"`",
        cause: "
To 1.11 only `true` counts and anything else is passed over without a word. From 1.12 on a positive duration counts
too, and what cannot be read is said in an event.
",
        rules: &["do-not-disrupt-duration"],
        messages: &[
            Message {
                seen: event("InvalidDoNotDisruptAnnotation", Text::Any),
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
        summary: "a node is left out of disruption because something of it is unknown",
        says: "nodes are left out of disruption: their NodePool is gone, or they are not initialised",
        remedy: "delete NodeClaims whose NodePool no longer exists, and look at the condition `Initialized` of the others",
        cause: "
Only an initialised node of a NodePool that exists is considered. A node that stays uninitialised is never
consolidated, drifted or repaired.
",
        rules: &["startup-taint-never-removed"],
        messages: &[
            Message {
                seen: event("DisruptionBlocked", Text::Has(&["NodePool \"", "\" not found"])),
                releases: Releases::until(4),
                detail: Detail::None,
                example: r#"4m (x31 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Cannot disrupt Node: NodePool "old" not found"#,
                source: "kubernetes-sigs/karpenter v1.1.1 pkg/controllers/disruption/types.go",
            },
            Message {
                seen: event("DisruptionBlocked", Text::Has(&["NodePool not found (NodePool="])),
                releases: Releases::since(5),
                detail: Detail::None,
                example: "4m (x31 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   NodePool not found (NodePool=old)",
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/disruption/types.go",
            },
            Message {
                seen: event("DisruptionBlocked", Text::Has(&["isn't initialized"])),
                releases: Releases::until(1),
                detail: Detail::None,
                example: "4m (x31 over 9h)   Normal   DisruptionBlocked   node/ip-10-0-37-12   Cannot disrupt Node: state node isn't initialized",
                source: "kubernetes-sigs/karpenter v1.1.1 pkg/controllers/state/statenode.go",
            },
            Message {
                seen: event("DisruptionBlocked", Text::Is("Node isn't initialized")),
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
        says: "spot nodes are not replaced by cheaper ones: the gate is off, or fewer than 15 cheaper types are allowed",
        remedy: "set `settings.featureGates.spotToSpotConsolidation: true`, and allow so many families and sizes that 15 cheaper types are left",
        cause: "
Replacing spot by spot is off unless its gate is set, and asks for 15 cheaper types, so that the cheapest pool of
capacity is not drained. It is a choice and no failure: the node stays as it is.
",
        rules: &["feature-gate-needed"],
        messages: &[
            Message {
                seen: event("Unconsolidatable", Text::Has(&["SpotToSpotConsolidation is disabled"])),
                releases: Releases::ALL,
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Normal   Unconsolidatable   node/ip-10-0-37-12   SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node",
                source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/disruption/consolidation.go",
            },
            Message {
                seen: event("Unconsolidatable", Text::Has(&["SpotToSpotConsolidation requires "])),
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
        summary: "nodes that should replace others do not become ready",
        says: "nodes that should replace others do not become ready, and the replacement is given up",
        remedy: "look at the NodeClaims that are made for it (`created nodeclaim` of controller `disruption`): they say why they are not initialised, and the log who deletes them",
        cause: "
A node is drained only when what replaces it is initialised. If that does not come within the time, or its NodeClaim
is deleted for lack of capacity, the command is given up and the old node goes on; the next attempt does the same.
Once in a while it is normal.
",
        rules: &["startup-taint-never-removed", "registration-taint-missing"],
        messages: &[
            Message {
                seen: line(Level::Error, Text::Is("failed terminating nodes while executing a disruption command"), Text::Any),
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
        summary: "consolidation does not get through the nodes in its time",
        says: "consolidation does not get through the nodes in its time, again and again",
        remedy: "give the controller more CPU, and look for what makes simulations slow: affinities over very many pods, many NodePools, preferences (`settings.preferencePolicy: Ignore` from 1.4 on)",
        cause: "
Each pass has a minute for several nodes at once and three for one after the other. What it did not reach waits for
the next pass, from 1.4 on first. In clusters of many hundred nodes it happens now and then.
",
        rules: &[],
        messages: &[
            Message {
                seen: line(Level::Debug, Text::Starts("abandoning single-node consolidation due to timeout after evaluating "), Text::Any),
                releases: Releases::until(9),
                detail: Detail::None,
                example: r#"{"level":"DEBUG","time":"2025-07-22T08:18:42.058Z","logger":"controller","message":"abandoning single-node consolidation due to timeout after evaluating 41 candidates","commit":"c8c45c1","controller":"disruption","namespace":"","name":"","reconcileID":"5a227d0a-3c5e-4b7a-9d21-7e4c001c4676"}"#,
                source: "kubernetes-sigs/karpenter v1.6.0 pkg/controllers/disruption/singlenodeconsolidation.go",
            },
            Message {
                seen: line(Level::Debug, Text::Is("abandoning single-node consolidation due to timeout"), Text::Any),
                releases: Releases::since(10),
                detail: Detail::None,
                example: r#"{"level":"DEBUG","time":"2026-04-21T09:25:55.195Z","logger":"controller","message":"abandoning single-node consolidation due to timeout","commit":"537b01a","controller":"disruption","namespace":"","name":"","reconcileID":"5a2280db-3c5e-4b7a-9d21-7e4c001c6565","candidates_evaluated":41}"#,
                source: "kubernetes-sigs/karpenter v1.11.0 pkg/controllers/disruption/singlenodeconsolidation.go",
            },
            Message {
                seen: line(Level::Debug, Text::Starts("failed to find a multi-node consolidation after timeout, last considered batch had "), Text::Any),
                releases: Releases::until(9),
                detail: Detail::None,
                example: r#"{"level":"DEBUG","time":"2025-03-20T10:32:08.332Z","logger":"controller","message":"failed to find a multi-node consolidation after timeout, last considered batch had 50","commit":"ad71530","controller":"disruption","namespace":"","name":"","reconcileID":"5a2284ac-3c5e-4b7a-9d21-7e4c001c8454"}"#,
                source: "kubernetes-sigs/karpenter v1.3.2 pkg/controllers/disruption/multinodeconsolidation.go",
            },
            Message {
                seen: line(Level::Debug, Text::Is("failed to find a multi-node consolidation after timeout"), Text::Any),
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
        summary: "the loops of the controller run too seldom",
        says: "the loops of the controller run too seldom",
        remedy: "give the controller more CPU and memory (`controller.resources`), and look for throttling of its calls to the API server",
        cause: "
Disruption should be looked at every ten seconds. Minutes between two runs show a controller that gets no CPU, or
whose simulations take too long.
",
        rules: &[],
        messages: &[
            Message {
                seen: line(Level::Debug, Text::Starts("abnormal time between runs of "), Text::Any),
                releases: Releases::until(9),
                detail: Detail::None,
                example: r#"{"level":"DEBUG","time":"2025-10-21T12:46:34.606Z","logger":"controller","message":"abnormal time between runs of singlenodeconsolidation = 17m3.412s","commit":"31fa2ea","controller":"disruption","namespace":"","name":"","reconcileID":"5a228c4e-3c5e-4b7a-9d21-7e4c001cc232"}"#,
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/disruption/controller.go",
            },
            Message {
                seen: line(Level::Debug, Text::Is("abnormal time between runs"), Text::Any),
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
        summary: "consolidation cannot be worked out",
        says: "consolidation or the NodePools cannot be worked out",
        remedy: "read the field `error` beside it; most often an object that pods refer to is gone, or the API server does not answer in time",
        cause: "
A failure in one simulation stops the pass; it is tried again ten seconds later. A few in a restart of the API server
are normal.
",
        rules: &[],
        messages: &[
            Message {
                seen: line(Level::Error, Text::Is("failed computing consolidation"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-06-11T14:00:00.880Z","logger":"controller","message":"failed computing consolidation","commit":"9458bb5","controller":"disruption","namespace":"","name":"","reconcileID":"5a2293f0-3c5e-4b7a-9d21-7e4c001d0010","error":"getting pods from deleting nodes, context deadline exceeded"}"#,
                source: "kubernetes-sigs/karpenter v1.5.0 pkg/controllers/disruption/singlenodeconsolidation.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("failed listing nodepools"), Text::Any),
                releases: Releases::ALL,
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-06-11T15:07:13.017Z","logger":"controller","message":"failed listing nodepools","commit":"9458bb5","controller":"disruption","namespace":"","name":"","reconcileID":"5a2297c1-3c5e-4b7a-9d21-7e4c001d1eff","error":"context deadline exceeded"}"#,
                source: "kubernetes-sigs/karpenter v1.5.0 pkg/controllers/disruption/controller.go",
            },
            Message {
                seen: line(Level::Error, Text::Starts("failed listing instance types for "), Text::Any),
                releases: Releases::until(9),
                detail: Detail::None,
                example: r#"{"level":"ERROR","time":"2025-06-11T16:14:26.154Z","logger":"controller","message":"failed listing instance types for default","commit":"9458bb5","controller":"disruption","namespace":"","name":"","reconcileID":"5a229b92-3c5e-4b7a-9d21-7e4c001d3dee","error":"no subnets found"}"#,
                source: "kubernetes-sigs/karpenter v1.5.0 pkg/controllers/disruption/helpers.go",
            },
            Message {
                seen: line(Level::Error, Text::Is("failed listing instance types"), Text::Any),
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
        summary: "nodes are replaced because they are unhealthy",
        says: "nodes are replaced because a condition says that they are unhealthy",
        remedy: "look at the conditions of the Nodes before they went (`Ready`, and those of the node monitoring agent): what they have in common is the cause",
        cause: "
With the gate `NodeRepair` a node whose condition has been bad for its time (mostly 10 to 30 minutes) is deleted
without regard to budgets. One node is normal, several in an hour are an image, a driver or a network that fails.
",
        rules: &[],
        messages: &[
            Message {
                seen: line(Level::Debug, Text::Is("deleting unhealthy node"), Text::Any),
                releases: Releases::between(1, 6),
                detail: Detail::None,
                example: r#"{"level":"DEBUG","time":"2025-06-11T09:28:52.428Z","logger":"controller","message":"deleting unhealthy node","commit":"9458bb5","controller":"node.health","controllerGroup":"","controllerKind":"Node","Node":{"name":"ip-10-0-37-12.eu-west-1.compute.internal"},"namespace":"","name":"ip-10-0-37-12.eu-west-1.compute.internal","reconcileID":"5a22a334-3c5e-4b7a-9d21-7e4c001d7bcc"}"#,
                source: "kubernetes-sigs/karpenter v1.6.0 pkg/controllers/node/health/controller.go",
            },
            Message {
                seen: line(Level::Info, Text::Is("deleting unhealthy node"), Text::Any),
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
        summary: "too many nodes are unhealthy to be repaired",
        says: "so many nodes are unhealthy that none is replaced",
        remedy: "find what they have in common: the image, the zone, the network, a DaemonSet; node repair goes on once less than a fifth is unhealthy",
        cause: "
If more than a fifth of a NodePool (or of the cluster, for NodeClaims of none) is unhealthy, the cause is taken to be
elsewhere, and replacing nodes is held back.
",
        rules: &[],
        messages: &[
            Message {
                seen: event("NodeRepairBlocked", Text::Has(&[" nodes are unhealthy in the "])),
                releases: Releases::since(1),
                detail: Detail::None,
                example: "2m14s (x6 over 21m)   Warning   NodeRepairBlocked   node/ip-10-0-37-12   more then 20% nodes are unhealthy in the cluster",
                source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/node/health/controller.go",
            }
        ],
        when: When::Always,
        confidence: Confidence::Certain,
        references: &["pkg/controllers/node/health/controller.go of kubernetes-sigs/karpenter at v1.8.0"],
    },
];

/// Nodes that are replaced because they differ from what is asked for: the correlation `drift-loop`.
pub(super) const DRIFT: &[Message] = &[
    Message {
        seen: line(Level::Debug, Text::Is("marking drifted"), Text::Any),
        releases: Releases::ALL,
        detail: Detail::Field("reason"),
        example: r#"{"level":"DEBUG","time":"2025-10-21T12:43:37.373Z","logger":"controller","message":"marking drifted","commit":"31fa2ea","controller":"nodeclaim.disruption","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-7xk2p"},"namespace":"","name":"default-7xk2p","reconcileID":"5a2269f5-3c5e-4b7a-9d21-7e4c001babcb","reason":"SecurityGroupDrift"}"#,
        source: "kubernetes-sigs/karpenter v1.8.0 pkg/controllers/nodeclaim/disruption/drift.go",
    },
    Message {
        seen: condition("NodeClaim", "Drifted", "True", "", Text::Any),
        releases: Releases::ALL,
        detail: Detail::Object,
        example: r#"{"kind":"NodeClaim","name":"default-7xk2p","type":"Drifted","status":"True","reason":"AMIDrift","message":"AMIDrift"}"#,
        source: "kubernetes-sigs/karpenter v1.14.0 pkg/controllers/nodeclaim/disruption/drift.go",
    },
];
