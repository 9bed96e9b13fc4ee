/** A file. Names that end in `.json` or `.jsonl` are JSON; all other files are YAML. */
export interface SourceFile {
  name: string;
  text: string;
}

export type Severity = 'error' | 'warning' | 'info';
export type Level = 'deny' | 'warn' | 'info' | 'off';

/** The keys of `karpwarden.yaml` and of the policy's settings. */
export interface Settings {
  /** Release or range, such as `"1.8"`, `"1.8.3"` or `"1.0..1.14"`. Default: the newest known release. */
  karpenterVersion?: string;
  kubernetesVersion?: string;
  clusterName?: string;
  completeInventory?: boolean;
  /** Rule or family → level. */
  rules?: Record<string, Level>;
  allowIgnoreAnnotation?: boolean;
  fix?: boolean;
  announceErrors?: boolean | 'auto';
  strictUpdates?: boolean;
  context?: 'all' | 'pools' | 'none';
  exceptions?: { rule: string; kind?: string; namespace?: string; name?: string; reason: string; until?: string }[];
}

/** Lines and columns count from 1, columns in code points; offsets are UTF-16 code units from the start of the file. */
export interface Range {
  line: number | null;
  column: number | null;
  endLine: number | null;
  endColumn: number | null;
  offset: number | null;
  endOffset: number | null;
}

export interface Edit {
  file: string;
  offset: number;
  endOffset: number;
  text: string;
}

export interface Finding extends Range {
  rule: string;
  family: string;
  severity: Severity;
  /** Component that would otherwise report the problem. */
  caughtBy: 'api-server' | 'controller' | 'nobody';
  /** Releases in which the finding occurs. */
  releases: string;
  cluster: string;
  file: string;
  document: number;
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  /** Field path in the API server's notation. It is empty for the whole object. */
  path: string;
  message: string;
  help: string;
  url: string;
  related: {
    file: string;
    document: number;
    path: string;
    line: number | null;
    column: number | null;
    offset: number | null;
    endOffset: number | null;
    message: string;
  }[];
  fix: { title: string; safe: boolean; edits: Edit[] } | null;
}

/** Output of `karpwarden check --format json`. */
export interface Report {
  schema: 1;
  version: string;
  karpenterVersion: string;
  /** Remarks on the settings, such as a release that is not known, and the release that is checked instead. */
  notes: string[];
  summary: {
    documents: number;
    checked: number;
    skipped: number;
    errors: number;
    warnings: number;
    infos: number;
    suppressed: number;
  };
  /** Number of findings of each rule; present with `--statistics`. */
  statistics?: { rule: string; family: string; errors: number; warnings: number; infos: number; fixable: number }[];
  findings: Finding[];
  /** Releases that accept each document; present if a range of releases was checked. */
  accepted?: { file: string; document: number; releases: string }[];
  /** Versions of Karpenter that the input pins. `version` is empty if the pins contradict each other. */
  pins: {
    cluster: string;
    folder: string;
    version: string;
    checkedAs: string;
    file: string;
    line: number;
    note: string;
  }[];
  /** Folders that look like separate clusters, whose objects are not compared with each other. */
  environments: { folders: string[] }[];
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
  caughtBy: 'api-server' | 'controller' | 'nobody';
  since: string;
  until: string;
  fix: 'none' | 'safe' | 'unsafe';
  summary: string;
  url: string;
}

export interface CheckOptions {
  /** Release or range such as `1.0..1.14`; overrides `karpenterVersion` of the settings. */
  range?: string;
  /** Date such as `2027-03-31`, which decides which exceptions have expired. Default: the current date. */
  today?: string;
}

export interface Karpwarden {
  readonly version: string;
  /** Known minor releases, oldest first, each with its newest patch release. */
  readonly releases: { name: string; newest: string }[];
  /** The keys of the settings. */
  readonly keys: string[];
  /** Checks files, or one text. Throws an error that names every mistake in the settings. */
  check(files: readonly SourceFile[] | string, settings?: Settings | string, options?: CheckOptions): Report;
  /** Returns the report as text, byte for byte as the command line prints it. */
  checkJson(files: readonly SourceFile[] | string, settings?: Settings | string, options?: CheckOptions): string;
  /** Returns the findings as SARIF 2.1.0, byte for byte as the command line prints them. */
  sarif(files: readonly SourceFile[] | string, settings?: Settings | string, options?: CheckOptions): Promise<string>;
  /** Applies the safe fixes and returns the changed files. */
  fix(
    files: readonly SourceFile[] | string,
    settings?: Settings | string,
    options?: { today?: string },
  ): { files: SourceFile[]; applied: number; skipped: { rule: string; file: string; line: number; reason: string }[] };
  /** Lists the objects in the files. Lists are unpacked and AdmissionReviews unwrapped. */
  documents(files: readonly SourceFile[] | string): {
    file: string;
    document: number;
    apiVersion: string;
    kind: string;
    namespace: string;
    name: string;
    operation: '' | 'CREATE' | 'UPDATE';
    line: number;
    offset: number;
    object: unknown;
    oldObject: unknown;
  }[];
  rules(): Rule[];
  /** Returns the documentation of a rule as Markdown. */
  explain(rule: string): Promise<string>;
  /** Validates settings written as YAML or JSON. Returns mistakes with positions, or the parsed settings. */
  settings(text: string | Settings): {
    problems: { path: string; message: string; line: number; column: number; offset: number; endOffset: number }[];
    settings: Settings | null;
  };
  /** Renders the manifests that install the policies with these settings as YAML. The mode is `monitor` by default. */
  policy(settings?: Settings | string, mode?: 'monitor' | 'protect'): string;
}

/**
 * Loads the engine once. By default it reads the module from the package: from disk in Node, with fetch in a browser.
 */
export function load(source?: BufferSource | WebAssembly.Module | Response | URL | string): Promise<Karpwarden>;
