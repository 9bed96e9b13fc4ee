// Tip of a field in the editor: what changing it does to the nodes.

import { EFFECTS } from './change-effects.ts';
import { h, icon } from './dom.ts';
import { message } from './message.ts';
import type { ViewHost } from './view-host.ts';

/** Time limit in milliseconds without progress; the first tip loads the engine. */
const LIMIT = 20_000;

/** Describes the effect of the field at an offset of a file; null if there is no field of Karpenter. */
export async function fieldTip(
  { engine }: Pick<ViewHost, 'engine'>,
  name: string,
  text: string,
  offset: number,
): Promise<HTMLElement | null> {
  const field = await engine.call('field', [[{ name, text }], offset], LIMIT);
  if (!field) return null;
  return h(
    'div',
    { class: `tip tip-field tip-${EFFECTS[field.effect].severity}` },
    h(
      'div',
      { class: 'tip-head' },
      icon(EFFECTS[field.effect].severity),
      h('span', {}, ...message(`a change of \`${field.path}\` ${field.words}`)),
    ),
    h('div', {}, ...message(field.message)),
  );
}
