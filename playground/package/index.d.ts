/** A file: its name tells the language where it ends in `.json` or `.jsonl`; anything else is YAML. */
export interface SourceFile {
  name: string;
  text: string;
}

export type Severity = 'error' | 'warning' | 'info';
export type Level = 'deny' | 'warn' | 'info' | 'off';

/** The keys of `karpwarden.yaml` and of the policy's settings. */
export interface Settings {
  /** Such as `"1.8"`, `"1.8.3"` or `"1.0..1.14"`; the newest known release where absent. */
  karpenterVersion?: string;
  kubernetesVersion?: string;
  clusterName?: string;
  completeInventory?: boolean;
  /** Rule or family → level. */
  rules?: Record<string, Level>;
  allowIgnoreAnnotation?: boolean;
  fix?: boolean;
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
  /** Who else would have told. */
  caughtBy: 'api-server' | 'controller' | 'nobody';
  /** The releases with the problem, such as `all`, `since 1.7` or `1.3 to 1.6`. */
  releases: string;
  cluster: string;
  file: string;
  document: number;
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  /** In the API server's notation; empty for the whole object. */
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

/** What `karpwarden check --format json` prints. */
export interface Report {
  schema: 1;
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
  /** With a range of releases: which of them accept each document. */
  accepted?: { file: string; document: number; releases: string }[];
  skipped: { file: string; document: number; reason: string }[];
  unreadable: { file: string; document: number; line: number; column: number; message: string }[];
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
  /** A release or a range such as `1.0..1.14`, in the place of the settings' `karpenterVersion`. */
  range?: string;
  /** For exceptions that end: a day such as `2027-03-31`; the day of the clock where absent. */
  today?: string;
}

export interface Karpwarden {
  readonly version: string;
  /** The minor releases that this build knows, oldest first, each with its newest patch. */
  readonly releases: { name: string; newest: string }[];
  /** The keys of the settings. */
  readonly keys: string[];
  /** Checks files, or one text. Throws where the settings have mistakes, and names them all. */
  check(files: readonly SourceFile[] | string, settings?: Settings | string, options?: CheckOptions): Report;
  /** The same report as text, with the bytes of the command line. */
  checkJson(files: readonly SourceFile[] | string, settings?: Settings | string, options?: CheckOptions): string;
  /** The same findings as SARIF 2.1.0, with the bytes of the command line. */
  sarif(files: readonly SourceFile[] | string, settings?: Settings | string, options?: CheckOptions): Promise<string>;
  /** Makes the safe fixes; gives the files that changed. */
  fix(
    files: readonly SourceFile[] | string,
    settings?: Settings | string,
    options?: { today?: string },
  ): { files: SourceFile[]; applied: number; refused: { rule: string; file: string; line: number; reason: string }[] };
  /** The objects in the files, lists unpacked and reviews unwrapped. */
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
  /** A rule's documentation as Markdown. */
  explain(rule: string): Promise<string>;
  /** What is wrong with settings written as YAML or JSON, with places; and what they say where nothing is. */
  settings(text: string | Settings): {
    problems: { path: string; message: string; line: number; column: number; offset: number; endOffset: number }[];
    settings: Settings | null;
  };
  /** The Kubewarden ClusterAdmissionPolicy with these settings, as YAML. */
  policy(settings?: Settings | string, mode?: 'protect' | 'monitor'): string;
}

/**
 * Loads the engine, once. Without a source the module is taken from the package: read in Node, fetched in a browser.
 */
export function load(source?: BufferSource | WebAssembly.Module | Response | URL | string): Promise<Karpwarden>;
