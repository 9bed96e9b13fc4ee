// Messages between the extension and its view.

import type { SourceFile } from '../../../playground/package/answers';
import type { Tab } from '../../../playground/page/src/state.ts';

/** The page's tabs that the view has. */
export const VIEWS = ['placement', 'disruption', 'change', 'admission'] as const satisfies readonly Tab[];
export type ViewName = (typeof VIEWS)[number];

/** From the extension. */
export type ToView =
  | { type: 'show'; view: ViewName }
  | { type: 'files'; files: SourceFile[]; config: string }
  /** The files before a change, and what they are. */
  | { type: 'base'; title: string; files: SourceFile[] };

/** From the view. */
export type FromView =
  | { type: 'ready' }
  | { type: 'chosen'; view: ViewName }
  | { type: 'goTo'; file: string; from: number; to: number }
  | { type: 'goToLine'; file: string; line: number }
  | { type: 'newFiles'; files: SourceFile[] }
  | { type: 'failed'; message: string };
