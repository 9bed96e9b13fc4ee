// Assumptions of an answer about the cluster.

import { h } from './dom.ts';
import { message } from './message.ts';

/** A list of assumptions. */
export function assumedList(assumptions: string[]): HTMLElement {
  return h(
    'ul',
    { class: 'assumed' },
    ...assumptions.map((text) => h('li', {}, ...message(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`))),
  );
}
