import type {
  CheckedSettings,
  FixedFiles,
  Finding,
  KnownRelease,
  ListedObject,
  Report,
  Rule,
  Settings,
  SourceFile,
} from './answers.js';

export type * from './answers.js';

/** Lines and columns count from 1, columns in code points; offsets are UTF-16 code units from the start of the file. */
export type Range = Pick<Finding, 'line' | 'column' | 'endLine' | 'endColumn' | 'offset' | 'endOffset'>;

export interface CheckOptions {
  /** Release or range such as `1.0..1.14`; overrides `karpenterVersion` of the settings. */
  range?: string;
  /** Date such as `2027-03-31`, which decides which exceptions have expired. Default: the current date. */
  today?: string;
}

export interface Karpwarden {
  readonly version: string;
  /** Known minor releases, oldest first, each with its newest patch release. */
  readonly releases: KnownRelease[];
  /** The keys of the settings. */
  readonly keys: string[];
  /** Checks files, or one text. Throws an error that names every mistake in the settings. */
  check(files: readonly SourceFile[] | string, settings?: Settings | string, options?: CheckOptions): Report;
  /** Returns the report as text, byte for byte as the command line prints it. */
  checkJson(files: readonly SourceFile[] | string, settings?: Settings | string, options?: CheckOptions): string;
  /** Returns the findings as SARIF 2.1.0, byte for byte as the command line prints them. */
  sarif(files: readonly SourceFile[] | string, settings?: Settings | string, options?: CheckOptions): Promise<string>;
  /** Applies the safe fixes and returns the changed files. */
  fix(files: readonly SourceFile[] | string, settings?: Settings | string, options?: { today?: string }): FixedFiles;
  /** Lists the objects in the files. Lists are unpacked and AdmissionReviews unwrapped. */
  documents(files: readonly SourceFile[] | string): Required<ListedObject>[];
  rules(): Rule[];
  /** Returns the documentation of a rule as Markdown. */
  explain(rule: string): Promise<string>;
  /** Validates settings written as YAML or JSON. Returns mistakes with positions, or the parsed settings. */
  settings(text: string | Settings): CheckedSettings;
  /** Renders the manifests that install the policies with these settings as YAML. The mode is `monitor` by default. */
  policy(settings?: Settings | string, mode?: 'monitor' | 'protect'): string;
}

/**
 * Loads the engine once. By default it reads the module from the package: from disk in Node, with fetch in a browser.
 */
export function load(source?: BufferSource | WebAssembly.Module | Response | URL | string): Promise<Karpwarden>;
