// The nodes of a cluster: what Karpenter does with each, or what is in the way.

import { count, h, icon } from './dom.ts';
import { message } from './message.ts';
import { utcTime } from './times.ts';
import type { DisruptedNode, DisruptionOverview, FieldPlace } from './types.ts';

/** Shows a place; undefined where there is no editor. */
type Go = ((place: FieldPlace) => void) | undefined;
/**
 * Asks what consolidation would do with a node if Karpenter looked at it first; null if something is in the way. Undefined where there
 * is no engine to ask.
 */
type Alone = ((node: string) => Promise<string | null>) | undefined;

export function nodeList({ nodes, moreNodes, unevaluated }: DisruptionOverview, go: Go, alone: Alone): HTMLElement {
  const more =
    moreNodes > 0 &&
    h(
      'p',
      { class: 'digest' },
      `${count(moreNodes, 'more node')} in the input. `,
      h('code', {}, 'karpwarden disruption'),
      ' lists all.',
    );
  const bound =
    unevaluated > 0 &&
    h(
      'p',
      { class: 'digest' },
      `${count(unevaluated, 'node')} not looked at one by one, as Karpenter stops after three minutes.`,
    );
  return h(
    'div',
    { class: 'part' },
    h('h3', { id: 'blocked-title' }, count(nodes.length + moreNodes, 'node')),
    h('ul', { id: 'blocked', 'aria-labelledby': 'blocked-title' }, ...nodes.map((node) => item(node, go, alone))),
    more,
    bound,
  );
}

function item(node: DisruptedNode, go: Go, alone: Alone): HTMLElement {
  const { name, nodePool, blockedBy, disrupted, state, advice, until } = node;
  const places = node.places.map((place, index) => {
    const text = `${place.file}, line ${place.line}`;
    if (!go) return h('span', {}, text);
    return h(
      'button',
      { type: 'button', class: 'link', 'data-keep': `node ${name} ${index}`, onclick: () => go(place) },
      text,
    );
  });
  return h(
    'li',
    { class: 'blocked' },
    icon(blockedBy ? 'warning' : disrupted ? 'info' : 'clean'),
    h(
      'div',
      {},
      h('strong', { class: 'mono' }, name),
      nodePool && h('span', { class: 'severity' }, ` NodePool ${nodePool}`),
    ),
    h('p', {}, disrupted ? `Karpenter disrupts it: ${state}` : state),
    advice && h('p', { class: 'digest' }, ...message(`${advice.charAt(0).toUpperCase()}${advice.slice(1)}.`)),
    until && h('p', { class: 'digest' }, `Until ${utcTime(Date.parse(until))} UTC.`),
    places.length > 0 && h('p', { class: 'node-places' }, ...places),
    story(node, alone),
  );
}

/** The decisions of the methods, the drain and the conditions. The node alone is judged when the visitor opens its story. */
function story({ name, conditions, methods, drain, drainReasons }: DisruptedNode, alone: Alone): HTMLElement {
  const isSame = methods.every(({ text }) => text === methods[0]?.text);
  const decisions = isSame
    ? methods.slice(0, 1).map(({ text }) => entry('Every method', [text]))
    : methods.map(({ method, text }) => entry(method, [text]));
  const own = h('div', {});
  const rows = [
    ...decisions.flat(),
    own,
    ...entry('Drain', drain ? [drain, ...drainReasons] : []),
    ...entry('Conditions', conditions),
  ];
  const details = h(
    'details',
    {},
    h('summary', { 'data-keep': `node ${name}` }, 'What each method decides, and the drain'),
    h('dl', { class: 'node-story' }, ...rows),
  );
  const show = async () => {
    const text = await alone?.(name).catch((error: Error) => error.message);
    if (text) own.append(...entry('This node alone', [text]));
  };
  details.addEventListener('toggle', () => void show(), { once: true });
  return details;
}

function entry(name: string, texts: string[]): HTMLElement[] {
  return texts.length === 0 ? [] : [h('dt', {}, name), ...texts.map((text) => h('dd', {}, text))];
}
