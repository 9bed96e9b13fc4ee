// The changed objects with the effect of each field, the changes of the controller, and the NodePools.

import { EFFECTS } from './change-effects.ts';
import { h, icon } from './dom.ts';
import { message } from './message.ts';
import type { Effect, PlanAnswer, PlannedChange, PlannedField, PlannedPool } from './types.ts';

/** Shows a line of a file. */
export type GoToLine = (file: string, line: number) => void;

const CHANGED = { added: 'added', removed: 'removed', changed: 'changed' } as const;

export function changeList(
  { changes }: PlanAnswer,
  label: (file: string, line: number) => string,
  go: GoToLine,
): HTMLElement[] {
  return changes.map((change) => object(change, label, go));
}

function object(change: PlannedChange, label: (file: string, line: number) => string, go: GoToLine): HTMLElement {
  const { kind, name, cluster, file, line } = change;
  const title = kind ? `${kind}/${name}` : file;
  const link = (keep: string, file: string, line: number) =>
    h('button', { type: 'button', class: 'link', 'data-keep': keep, onclick: () => go(file, line) }, label(file, line));
  const fields = change.fields.map((field, index) => item(field, link(`${title} ${index}`, field.file, field.line)));
  return h(
    'div',
    { class: 'part changed' },
    h('h3', {}, title, cluster && ` in ${cluster}`, ` ${CHANGED[change.change]}`),
    fields.length === 0 &&
      h('p', { class: 'effect-line' }, mark(change.effect, change.reason), ' ', link(title, file, line)),
    change.message && h('p', { class: 'digest' }, ...sentence(change.message)),
    fields.length > 0 && h('ul', { class: 'fields', 'aria-label': `Changed fields of ${title}` }, ...fields),
  );
}

function item(field: PlannedField, link: HTMLElement): HTMLElement {
  return h(
    'li',
    {},
    h('p', { class: 'effect-line' }, mark(field.effect, field.reason), ' ', link),
    h('code', { class: 'path' }, field.path),
    h(
      'div',
      { class: 'sides' },
      h('div', {}, h('span', { class: 'side' }, 'Before'), value(field.old)),
      h('div', {}, h('span', { class: 'side' }, 'After'), value(field.new)),
    ),
    h('p', { class: 'digest' }, ...sentence(field.message)),
  );
}

const value = (text: string) => (text ? h('code', {}, text) : h('span', { class: 'digest' }, 'not set'));

/** The effect with its icon, and the reason of drift in Karpenter's words. */
function mark(effect: Effect, reason: string): HTMLElement {
  const { severity, words } = EFFECTS[effect];
  return h(
    'span',
    { class: 'effect' },
    icon(severity),
    h('strong', {}, words),
    reason && h('span', { class: 'severity' }, ` ${reason}`),
  );
}

const sentence = (text: string) => message(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);

export function controllerList({ controller }: PlanAnswer): HTMLElement | null {
  if (controller.length === 0) return null;
  const items = controller.map(({ subject, old, new: now, effect, message: text, cluster }) =>
    h(
      'li',
      {},
      h(
        'p',
        { class: 'effect-line' },
        mark(effect, ''),
        ` ${subject}${cluster && ` in ${cluster}`}: ${old === now ? now : `${old || 'not set'} → ${now || 'not set'}`}`,
      ),
      h('p', { class: 'digest' }, ...sentence(text)),
    ),
  );
  return h('div', { class: 'part changed' }, h('h3', {}, 'Controller'), h('ul', { class: 'fields' }, ...items));
}

export function poolList({ nodePools }: PlanAnswer): HTMLElement | null {
  if (nodePools.length === 0) return null;
  const items = nodePools.map((pool) =>
    h(
      'li',
      {},
      h(
        'p',
        { class: 'effect-line' },
        mark(pool.effect, ''),
        ' ',
        h('strong', { class: 'mono' }, pool.name),
        pool.cluster && ` in ${pool.cluster}`,
      ),
      types(pool),
      ...pool.blocked.map((text) =>
        h('p', { class: 'blocked-now' }, icon('warning'), h('span', {}, ...sentence(text))),
      ),
    ),
  );
  return h('div', { class: 'part changed' }, h('h3', {}, 'NodePools'), h('ul', { class: 'fields' }, ...items));
}

/** The number of instance types and the cheapest, before and after. */
function types(pool: PlannedPool): HTMLElement | null {
  const side = (number: number | null, cheapest: PlannedPool['cheapestAfter']) => {
    if (number === null) return 'no NodePool';
    const [first] = cheapest;
    return `${number} instance types${first ? `, from ${first.name} for $${first.price.toFixed(4)} per hour` : ''}`;
  };
  const before = side(pool.instanceTypesBefore, pool.cheapestBefore);
  const after = side(pool.instanceTypesAfter, pool.cheapestAfter);
  return h('p', { class: 'digest' }, before === after ? after : `${before} before; ${after} after.`);
}
