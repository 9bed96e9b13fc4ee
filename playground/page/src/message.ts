// Messages of the engine as elements.

import { h } from './dom.ts';

/** Renders a message: text between back-ticks comes from the user's input and is shown as code. */
export function message(text: string): (Node | string)[] {
  return text.split(/`([^`]*)`/).map((part, index) => (index % 2 ? h('code', {}, part) : part));
}
