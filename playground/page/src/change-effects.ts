// Effects of a change in words, each with an icon.

import type { Effect } from './types.ts';

/** The severity names the icon. */
interface EffectWords {
  severity: 'error' | 'warning' | 'info' | 'clean';
  words: string;
}

export const EFFECTS: Readonly<Record<Effect, EffectWords>> = {
  'replaces-all': { severity: 'error', words: 'replaces every node' },
  'removes-nodes': { severity: 'error', words: 'removes nodes' },
  'replaces-some': { severity: 'warning', words: 'replaces some nodes' },
  unknown: { severity: 'warning', words: 'may replace nodes' },
  'acts-at-once': { severity: 'info', words: 'acts at once' },
  'new-nodes': { severity: 'info', words: 'new nodes only' },
  none: { severity: 'clean', words: 'no effect on nodes' },
};

/** Effects from the weakest to the strongest. */
const STRENGTH: Effect[] = [
  'none',
  'new-nodes',
  'acts-at-once',
  'unknown',
  'replaces-some',
  'removes-nodes',
  'replaces-all',
];

/** Whether an effect is stronger than another. */
export const isStronger = (one: Effect, other: Effect): boolean => STRENGTH.indexOf(one) > STRENGTH.indexOf(other);
