// Assumptions of an answer about the cluster.

import { h } from './dom.ts';
import { message } from './message.ts';

/** A list of assumptions. The end of an assumption names the flag of the command line that settles it, which the page leaves out. */
export function assumedList(assumptions: string[]): HTMLElement {
  const texts = assumptions.map((text) => text.replace(/ \(`--[^)]*\)$/, ''));
  return h(
    'ul',
    { class: 'assumed' },
    ...texts.map((text) => h('li', {}, ...message(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`))),
  );
}
