// Types that the page exchanges with its workers. The types of answers are generated from Rust.

import type {
  About,
  CheckedSettings,
  DescribedField,
  DisruptionOverview,
  Finding,
  FixedFiles,
  Json,
  ListedObject,
  LogSummary,
  PlanAnswer,
  Refusal,
  Report,
  Rule,
  ScheduleWeek,
  Settings,
  SourceFile,
  Story,
  StoryKind,
  TypesOfPool,
} from '../../package/answers';

export type {
  About,
  CheckedSettings,
  DescribedField,
  DisruptedNode,
  DisruptionOverview,
  Edit,
  Effect,
  Evidence,
  Exception,
  FieldPlace,
  Finding,
  Fix,
  FixedFiles,
  IgnoredPodField,
  Json,
  Level,
  Lifeline,
  ListedObject,
  LogSummary,
  NewNode,
  Override,
  PageData,
  PagePart,
  PlacedPod,
  PlacedProblem,
  PlanAnswer,
  PlannedChange,
  PlannedField,
  PlannedNode,
  PlannedPool,
  PlannedRollout,
  PoolObjection,
  PoolWeeks,
  Refusal,
  Related,
  Report,
  Rule,
  ScheduleWeek,
  Settings,
  SimulationAnswer,
  SourceFile,
  Story,
  StoryKind,
  StoryStep,
  TypesOfPool,
  WeekInterval,
  WeekOfReasons,
} from '../../package/answers';

/** Finding of `karpwarden diagnose`. */
export type Diagnosis = Finding & Required<Pick<Finding, 'confidence' | 'evidence'>>;

/** Report of `karpwarden diagnose`. */
export type Diagnosed = Omit<Report, 'findings' | 'logs'> & { findings: Diagnosis[]; logs: LogSummary[] };

/** A text in the editor, or a file too large for the editor, which the worker reads in chunks. */
export type SymptomFile = SourceFile | { name: string; file: File };

/** Files of one cluster. The name is empty if there is only one cluster. */
export interface FilesOfCluster {
  name: string;
  files: SymptomFile[];
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
    result: FixedFiles;
  };
  /** The effect of a change of the field at an offset of the one file; null if there is no field of Karpenter. */
  field: { args: [files: SourceFile[], offset: number]; result: DescribedField | null };
  documents: { args: [files: SourceFile[], whole: boolean]; result: ListedObject[] };
  settings: { args: [text: string]; result: CheckedSettings };
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
  requirements: { args: [files: SourceFile[], release: string | undefined]; result: TypesOfPool[] };
  /** Judges disruption at a time. */
  disruption: {
    args: [files: SourceFile[], release: string | undefined, at: string];
    result: { result: DisruptionOverview; ms: number };
  };
  /** The result of consolidation if Karpenter looked at a node first; null if something is in the way. */
  alone: { args: [files: SourceFile[], release: string | undefined, at: string, node: string]; result: string | null };
  /** The week of each budget with a schedule. */
  schedules: { args: [files: SourceFile[], release: string | undefined, at: string]; result: ScheduleWeek[] };
  /** Plans the change from some files to others at a time. */
  plan: {
    args: [before: SourceFile[], files: SourceFile[], release: string | undefined, at: string];
    result: { answer: PlanAnswer; ms: number };
  };
}

/** Methods of the symptoms worker. */
export interface SymptomMethods {
  diagnose: { args: [clusters: FilesOfCluster[], settings: Settings]; result: { json: string; ms: number } };
  /** The stories of an object, one for each cluster that mentions it. */
  story: { args: [clusters: FilesOfCluster[], settings: Settings, kind: StoryKind, name: string]; result: Story[] };
  /** Lines of a large file around a given line. */
  excerpt: { args: [file: File, line: number, around: number]; result: { first: number; lines: string[] } };
}
