// The parts of the page that the Admission, Placement, Disruption and Change tabs need. The page is an `App`; the VS Code extension
// shows the same tabs beside a file.

import type { AdmissionMethods } from './admission-worker.ts';
import type { DatedFile } from './app.ts';
import type { LineEffect } from './editor.ts';
import type { State } from './state.ts';
import type { About, EngineMethods, Report, SourceFile } from './types.ts';
import type { WorkerClient } from './worker-client.ts';

export interface ViewHost {
  readonly state: Pick<State, 'files' | 'settings' | 'tab'>;
  readonly engine: WorkerClient<EngineMethods>;
  readonly admission: WorkerClient<AdmissionMethods>;
  readonly about: About | undefined;
  readonly report: Pick<Report, 'pins'> | undefined;
  /** Files that may contain manifests. */
  readonly manifests: SourceFile[];
  /** The files before a change, unless the visitor chooses others. */
  readonly opened: SourceFile[];
  /** Takes dropped or chosen files instead of `addFiles`; returns false if it does not. */
  taking: ((files: DatedFile[], target: EventTarget | null) => boolean) | undefined;
  /** Announces a text to screen readers. A later text within `delay` milliseconds replaces it. */
  announce(text: string, delay?: number): void;
  addFiles(files: SourceFile[]): void;
  replaceFiles(files: SourceFile[]): void;
  /** Selects a part of a file. */
  goTo(file: string, from: number, to: number, focus: boolean): void;
  /** Selects a whole line of a file. */
  goToLine(file: string, line: number): void;
  /** Replaces the marks of changed lines. */
  setEffects(effects: readonly (LineEffect & { file: string })[]): void;
}
