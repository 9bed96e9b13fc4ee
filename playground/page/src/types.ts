// Data that the page exchanges with its workers. The report is the output of `karpwarden check --format json`.

export interface SourceFile {
  name: string;
  text: string;
}

export type Severity = 'error' | 'warning' | 'info';
export type Level = 'deny' | 'warn' | 'info' | 'off';

export interface Edit {
  file: string;
  offset: number;
  endOffset: number;
  text: string;
}

export interface Fix {
  title: string;
  safe: boolean;
  edits: Edit[];
}

export interface Related {
  file: string;
  document: number;
  path: string;
  line: number | null;
  column: number | null;
  offset: number | null;
  endOffset: number | null;
  message: string;
}

export interface Finding {
  rule: string;
  family: string;
  severity: Severity;
  caughtBy: 'api-server' | 'controller' | 'nobody';
  releases: string;
  cluster: string;
  file: string;
  document: number;
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  path: string;
  line: number | null;
  column: number | null;
  endLine: number | null;
  endColumn: number | null;
  offset: number | null;
  endOffset: number | null;
  message: string;
  help: string;
  url: string;
  related: Related[];
  fix: Fix | null;
}

/** A log line that supports a diagnosis. Evidence combined from several lines has no line number. */
export interface Evidence {
  file: string;
  line: number | null;
  text: string;
}

/** A finding of `karpwarden diagnose`. */
export interface Diagnosis extends Finding {
  confidence: 'certain' | 'likely' | 'possible';
  evidence: Evidence[];
  seen?: {
    count: number;
    atLeast: boolean;
    first: string | null;
    last: string | null;
    objects: string[];
    objectsInAll: number;
  };
}

/** Statistics of the logs, events and status of one cluster. */
/** Error lines that no release is known to write, grouped by message. */
export interface UnrecognisedError {
  message: string;
  count: number;
  first: string | null;
  last: string | null;
  file: string;
  line: number;
  text: string;
}

export interface Log {
  cluster: string;
  isOfKarpenter: boolean;
  notRecognised: UnrecognisedError[];
  notRecognisedMore: number;
  files: number;
  lines: number;
  entries: number;
  understood: number;
  unknown: number;
  truncated: number;
  notUtf8: number;
  skipped: { reason: string; count: number }[];
  forgotten: number;
  level: string | null;
  settling: string[];
  releases: string;
  first: string | null;
  last: string | null;
}

export interface Diagnosed extends Report {
  findings: Diagnosis[];
  logs: Log[];
}

export interface Report {
  schema: number;
  version: string;
  karpenterVersion: string;
  summary: {
    documents: number;
    checked: number;
    skipped: number;
    errors: number;
    warnings: number;
    infos: number;
    suppressed: number;
  };
  findings: Finding[];
  accepted?: { file: string; document: number; releases: string }[];
  pins: {
    cluster: string;
    folder: string;
    version: string;
    checkedAs: string;
    file: string;
    line: number;
    note: string;
  }[];
  environments: { folders: string[] }[];
  notes: string[];
  skipped: { file: string; document: number; reason: string }[];
  unreadable: {
    file: string;
    document: number;
    line: number;
    column: number;
    message: string;
    concernsKarpenter: boolean;
  }[];
}

export interface Rule {
  name: string;
  family: string;
  severity: Severity;
  caughtBy: string;
  since: string;
  until: string;
  enabled: 'default' | 'opt-in';
  fix: 'none' | 'safe' | 'unsafe';
  summary: string;
  url: string;
}

export interface KubeObject {
  file: string;
  document: number;
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  operation: '' | 'CREATE' | 'UPDATE';
  line: number;
  offset: number;
  object?: Json;
  oldObject?: Json;
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Exception {
  rule: string;
  kind?: string;
  namespace?: string;
  name?: string;
  reason: string;
  until?: string;
}

export interface Settings {
  karpenterVersion?: string;
  kubernetesVersion?: string;
  clusterName?: string;
  completeInventory?: boolean;
  rules?: Record<string, Level>;
  allowIgnoreAnnotation?: boolean;
  fix?: boolean;
  exceptions?: Exception[];
}

export interface Problem {
  path: string;
  message: string;
  line: number;
  column: number;
  offset: number;
  endOffset: number;
}

export interface About {
  version: string;
  keys: string[];
  releases: { name: string; newest: string }[];
}

/** A text in the editor, or a file too large for the editor, which the worker reads in chunks. */
export type SymptomFile = SourceFile | { name: string; file: File };

/** Files of one cluster. The name is empty if there is only one cluster. */
export interface FilesOfCluster {
  name: string;
  files: SymptomFile[];
}

/** Refusal of an object by the API server. */
export interface Refusal {
  /** Output of kubectl. */
  output: string;
  /** Whether the server could decode the object. It then calls mutating webhooks before it refuses the object. */
  isDecoded: boolean;
}

/** Methods of the engine worker. */
export interface EngineMethods {
  start: { args: []; result: About };
  rules: { args: []; result: Rule[] };
  check: {
    args: [files: SourceFile[], settings: Settings, range: string | null];
    result: { json: string; ms: number };
  };
  sarif: { args: [files: SourceFile[], settings: Settings]; result: string };
  fix: {
    args: [files: SourceFile[], settings: Settings];
    result: {
      files: SourceFile[];
      applied: number;
      skipped: { rule: string; file: string; line: number; reason: string }[];
    };
  };
  documents: { args: [files: SourceFile[], whole: boolean]; result: KubeObject[] };
  settings: { args: [text: string]; result: { problems: Problem[]; settings: Settings | null } };
  /** Output of kubectl where the API server refuses an object, or null if it accepts the object. */
  refusal: { args: [object: Json, release: string, file: string, action: string]; result: Refusal | null };
  /** The settings as the text of karpwarden.yaml. */
  settingsAsYaml: { args: [settings: Settings]; result: string };
  /** The manifests that install the policies with these settings. */
  policy: { args: [settings: Settings, mode: 'monitor' | 'protect']; result: string };
}

/** Methods of the placement worker. An absent release is the one that the files pin, or else the newest. */
export interface PlacementMethods {
  /** Simulates the pods; each line of `replicas` is a `KIND/NAME=N`. */
  simulate: {
    args: [files: SourceFile[], release: string | undefined, replicas: string];
    result: { json: string; ms: number };
  };
  requirements: { args: [files: SourceFile[], release: string | undefined]; result: PoolTypes[] };
  /** Judges disruption at a time. */
  disruption: {
    args: [files: SourceFile[], release: string | undefined, at: string];
    result: { result: Disruption; ms: number };
  };
  /** The result of consolidation if Karpenter looked at a node first; null if something is in the way. */
  alone: { args: [files: SourceFile[], release: string | undefined, at: string, node: string]; result: string | null };
  /** The week of each budget with a schedule. */
  schedules: { args: [files: SourceFile[], release: string | undefined, at: string]; result: ScheduleWeek[] };
}

/** Period of a week in which a NodePool allows the same number of disruptions. */
export interface WeekInterval {
  start: string;
  end: string;
  allowed: number;
  unlimited: boolean;
  error: string;
  /** Index of the budget that decides; null if no budget is active. */
  budget: number | null;
}

/** A week, with the reasons for disruption that have it. */
export interface WeekOfReasons {
  reasons: string[];
  /** The rest of the first number: nodes that are not ready use it up. */
  left: number;
  intervals: WeekInterval[];
}

/** The coming week of a NodePool. */
export interface PoolWeeks {
  name: string;
  nodes: number;
  unavailable: number;
  assumed: boolean;
  error: string;
  /** The budgets in words. The default budget has no place. */
  budgets: { text: string; place: FieldPlace | null }[];
  weeks: WeekOfReasons[];
  remarks: { text: string; budget: number | null }[];
}

export interface DisruptedNode {
  name: string;
  nodePool: string;
  blockedBy: string;
  disrupted: boolean;
  state: string;
  advice: string;
  until: string;
  places: FieldPlace[];
  conditions: string[];
  methods: { method: string; text: string }[];
  drain: string;
  drainReasons: string[];
}

/** Calendar of the NodePools, and the obstacles of the nodes. */
export interface Disruption {
  karpenterVersion: string;
  at: string;
  verdict: string;
  pools: PoolWeeks[];
  morePools: number;
  nodes: DisruptedNode[];
  moreNodes: number;
  unevaluated: number;
  assumptions: string[];
}

/** The week of one budget with a schedule, whatever the other budgets do. */
export interface ScheduleWeek {
  place: FieldPlace;
  nodePool: string;
  budget: string;
  nodes: string;
  /** The reasons that the budget limits; null for all. */
  reasons: string[] | null;
  /** Whether Karpenter cannot evaluate the schedule. */
  broken: boolean;
  start: string;
  end: string;
  openings: { start: string; end: string }[];
  /** The first run after the week. */
  next: string | null;
}

/** Instance types that the requirements of a NodePool leave. */
export interface PoolTypes {
  nodePool: string;
  all: number;
  left: number;
  requirements: { file: string; offset: number; endOffset: number; key: string; types: number | null }[];
}

/** Field in a file. */
export interface FieldPlace {
  file: string;
  line: number;
  column: number;
  offset: number;
  endOffset: number;
}

/** Reason for which a NodePool does not take a pod. */
export interface PoolReason {
  nodePool: string;
  reason: string;
  message: string;
  nearest: string;
  remedy: string;
  podPath: string;
  podPlace: FieldPlace | null;
  poolPath: string;
  poolPlace: FieldPlace | null;
}

export interface SimulatedPod {
  namespace: string;
  name: string;
  workload: string;
  requests: Record<string, string>;
  /** Parts of the allocatable resources of its new node. */
  usage: Record<string, number>;
  placed: 'new' | 'existing' | 'no' | 'ignored';
  nodeClaim: number | null;
  node: string;
  message: string;
  reasons: PoolReason[];
}

export interface SimulatedNode {
  nodePool: string;
  pods: string[];
  instanceTypes: number;
  cheapest: { name: string; price: number }[];
  zones: string[];
  capacityTypes: string[];
  requests: Record<string, string>;
  allocatable: Record<string, string>;
  usage: Record<string, number>;
}

/** Output of `karpwarden simulate --format json`. */
export interface Simulation {
  karpenterVersion: string;
  verdict: string;
  summary: {
    pods: number;
    new: number;
    existing: number;
    unplaced: number;
    ignored: number;
    nodeClaims: number;
    pricePerHour: number;
  };
  pods: SimulatedPod[];
  nodeClaims: SimulatedNode[];
  assumptions: string[];
}

/** Life of a NodeClaim. A time is null if the input does not show it. */
export interface Lifeline {
  nodeClaim: string;
  node: string;
  nodePool: string;
  instance: string;
  created: string | null;
  launched: string | null;
  registered: string | null;
  initialized: string | null;
  disrupted: string | null;
  reason: string;
  draining: string | null;
  drained: string | null;
  terminated: string | null;
  pods: string[];
}

export interface StoryStep {
  event: string;
  time: string | null;
  last: string | null;
  count: number;
  nodeClaim: string;
  node: string;
  pod: string;
  nodePool: string;
  reason: string;
  message: string;
  meaning: string;
  file: string;
  line: number;
}

/** Life of an object; `Cluster` has every NodeClaim and no steps. */
export interface Story {
  cluster: string;
  kind: StoryKind;
  name: string;
  steps: StoryStep[];
  lifelines: Lifeline[];
  forgotten: number;
}

export type StoryKind = 'Node' | 'Pod' | 'NodePool' | 'Cluster';

/** Methods of the symptoms worker. */
export interface SymptomMethods {
  diagnose: { args: [clusters: FilesOfCluster[], settings: Settings]; result: { json: string; ms: number } };
  /** The stories of an object, one for each cluster that mentions it. */
  story: { args: [clusters: FilesOfCluster[], settings: Settings, kind: StoryKind, name: string]; result: Story[] };
  /** Lines of a large file around a given line. */
  excerpt: { args: [file: File, line: number, around: number]; result: { first: number; lines: string[] } };
}
