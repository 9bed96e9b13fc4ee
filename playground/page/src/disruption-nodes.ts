// The nodes of a cluster: what Karpenter does with each, or what is in the way.

import { count, h, icon } from './dom.ts';
import { message } from './message.ts';
import { utcTime } from './times.ts';
import type { DisruptedNode, Disruption, FieldPlace } from './types.ts';

type Go = (place: FieldPlace) => void;

export function nodeList({ nodes, moreNodes, unevaluated }: Disruption, go: Go): HTMLElement {
  const more = moreNodes > 0 && h('p', { class: 'digest' }, `${count(moreNodes, 'more node')} in the input. `, h('code', {}, 'karpwarden disruption'), ' lists all.');
  const bound = unevaluated > 0 && h('p', { class: 'digest' }, `${count(unevaluated, 'node')} not looked at one by one, as Karpenter stops after three minutes.`);
  return h(
    'div',
    { class: 'part' },
    h('h3', { id: 'blocked-title' }, count(nodes.length + moreNodes, 'node')),
    h('ul', { id: 'blocked', 'aria-labelledby': 'blocked-title' }, ...nodes.map((node) => item(node, go))),
    more,
    bound,
  );
}

function item(node: DisruptedNode, go: Go): HTMLElement {
  const { name, nodePool, blockedBy, disrupted, state, advice, until } = node;
  const places = node.places.map((place, index) => h('button', { type: 'button', class: 'link', 'data-keep': `node ${name} ${index}`, onclick: () => go(place) }, `${place.file}, line ${place.line}`));
  return h(
    'li',
    { class: 'blocked' },
    icon(blockedBy ? 'warning' : disrupted ? 'info' : 'clean'),
    h('div', {}, h('strong', { class: 'mono' }, name), nodePool && h('span', { class: 'severity' }, ` NodePool ${nodePool}`)),
    h('p', {}, disrupted ? `Karpenter disrupts it: ${state}` : state),
    advice && h('p', { class: 'digest' }, ...message(`${advice.charAt(0).toUpperCase()}${advice.slice(1)}.`)),
    until && h('p', { class: 'digest' }, `Until ${utcTime(Date.parse(until))} UTC.`),
    places.length > 0 && h('p', { class: 'node-places' }, ...places),
    story(node),
  );
}

/** The decisions of the methods, the drain and the conditions. */
function story({ name, conditions, methods, drain, drainReasons }: DisruptedNode): HTMLElement {
  const isSame = methods.every(({ text }) => text === methods[0]?.text);
  const decisions = isSame ? methods.slice(0, 1).map(({ text }) => entry('Every method', [text])) : methods.map(({ method, text }) => entry(method, [text]));
  const rows = [...decisions, entry('Drain', drain ? [drain, ...drainReasons] : []), entry('Conditions', conditions)];
  return h('details', {}, h('summary', { 'data-keep': `node ${name}` }, 'What each method decides, and the drain'), h('dl', { class: 'node-story' }, ...rows.flat()));
}

function entry(name: string, texts: string[]): HTMLElement[] {
  return texts.length === 0 ? [] : [h('dt', {}, name), ...texts.map((text) => h('dd', {}, text))];
}
