// Nodes of a simulation as cards, each with a bar for CPU, memory and pods in which the pods are stacked.

import { count, h, svg } from './dom.ts';
import { type Group, byWorkload } from './placement-pods.ts';
import type { NewNode, PlacedPod, SimulationAnswer } from './types.ts';

/** Cards and pods shown. */
const MOST_CARDS = 60;
const MOST_PODS = 200;
/** Instance types named on a card. */
const TYPES = 2;
/** Workloads named on a card. */
const WORKLOADS = 6;
/** Shades that tell workloads apart. */
const SHADES = 4;
/** Width of a bar, and the gap between pods, in units of its drawing. */
const [WIDTH, GAP] = [1000, 3];

const RESOURCES = [
  ['cpu', 'CPU'],
  ['memory', 'Memory'],
  ['pods', 'Pods'],
] as const;

type Resource = (typeof RESOURCES)[number][0];

/** Nodes that differ in nothing but their number. */
interface Card {
  first: number;
  number: number;
  node: NewNode;
  pods: PlacedPod[];
  workloads: Group[];
}

/** The new nodes and the existing ones that take pods. */
export function nodeCards(result: SimulationAnswer): HTMLElement[] {
  const cards = cardsOf(result);
  const parts: HTMLElement[] = [];
  if (cards.length > 0) {
    parts.push(part(count(result.nodeClaims.length, 'new node'), 'new-nodes', cards.slice(0, MOST_CARDS).map(card)));
    if (cards.length > MOST_CARDS)
      parts.push(h('p', { class: 'part digest' }, `${count(cards.length - MOST_CARDS, 'more kind')} of nodes.`));
  }
  const existing = podsBy(result.pods, 'existing', ({ node }) => node);
  if (existing.size > 0) {
    const items = [...existing]
      .slice(0, MOST_CARDS)
      .map(([node, pods]) => h('li', { class: 'node' }, h('h4', {}, node), podList(`node ${node}`, pods)));
    parts.push(part(count(existing.size, 'existing node'), 'existing-nodes', items));
  }
  return parts;
}

function part(title: string, id: string, items: HTMLElement[]): HTMLElement {
  return h(
    'div',
    { class: 'part' },
    h('h3', { id: `${id}-title` }, title),
    h('ul', { class: 'nodes', id, 'aria-labelledby': `${id}-title` }, ...items),
  );
}

/** The pods with a kind of place, by their node. */
function podsBy<K>(pods: PlacedPod[], placed: PlacedPod['placed'], nodeOf: (pod: PlacedPod) => K): Map<K, PlacedPod[]> {
  const all = new Map<K, PlacedPod[]>();
  for (const pod of pods) {
    if (pod.placed !== placed) continue;
    const own = all.get(nodeOf(pod));
    if (own) own.push(pod);
    else all.set(nodeOf(pod), [pod]);
  }
  return all;
}

/** Cards in the order of their first node; equal nodes share one. */
function cardsOf({ nodeClaims, pods }: SimulationAnswer): Card[] {
  const inside = podsBy(pods, 'new', ({ nodeClaim }) => nodeClaim ?? 0);
  const cards = new Map<string, Card>();
  for (const [index, node] of nodeClaims.entries()) {
    const own = inside.get(index) ?? [];
    const workloads = byWorkload(own);
    const runs = workloads.map(({ namespace, workload, number }) => [namespace, workload, number]);
    const key = JSON.stringify([
      node.nodePool,
      node.cheapest,
      node.instanceTypes,
      node.zones,
      node.capacityTypes,
      node.requests,
      runs,
    ]);
    const same = cards.get(key);
    if (same) same.number++;
    else cards.set(key, { first: index + 1, number: 1, node, pods: own, workloads });
  }
  return [...cards.values()];
}

function card({ first, number, node, pods, workloads }: Card): HTMLElement {
  const key = `node ${first}`;
  const names = node.cheapest.slice(0, TYPES).map(({ name }) => name);
  const rest = node.instanceTypes - names.length;
  const price = node.cheapest[0]?.price;
  const types = `${names.join(', ') || 'no instance type'}${rest > 0 ? ` and ${rest.toLocaleString('en')} more` : ''}`;
  return h(
    'li',
    { class: 'node' },
    h(
      'h4',
      {},
      h('span', {}, `NodePool ${node.nodePool}`),
      number > 1 && h('span', { class: 'times' }, `×${number}`),
      price !== undefined && h('span', { class: 'price' }, `$${price.toFixed(4)}/h`),
    ),
    h('p', { class: 'mono' }, types),
    h(
      'p',
      { class: 'digest' },
      `${node.zones.join(', ')} · `,
      h('span', { class: 'whole-word' }, node.capacityTypes.join(', ')),
    ),
    h('div', { class: 'bars' }, ...RESOURCES.flatMap(([name, label]) => bar(name, label, node, workloads))),
    podList(key, pods, workloads),
  );
}

/** The pods of a node by workload, with each pod on request. */
function podList(key: string, pods: PlacedPod[], workloads = byWorkload(pods)): HTMLElement {
  const legend = workloads
    .slice(0, WORKLOADS)
    .map(({ namespace, workload, number }, index) =>
      h(
        'span',
        { class: 'workload' },
        drawing('swatch', '0 0 10 10', shape(`shade-${index % SHADES}`, 'M0 0h10v10h-10z')),
        `${namespace}/${workload.split('/')[1]}${number > 1 ? ` ×${number}` : ''}`,
      ),
    );
  const others = workloads.length - WORKLOADS;
  const items = pods.slice(0, MOST_PODS).map((pod) => {
    const asked = Object.entries(pod.requests)
      .filter(([name]) => name !== 'pods')
      .map(([name, amount]) => `${amount} ${name}`);
    return h(
      'li',
      {},
      h('span', { class: 'mono' }, `${pod.namespace}/${pod.name}`),
      ` ${asked.join(', ') || 'requests nothing'}`,
    );
  });
  const more = pods.length > MOST_PODS && h('li', {}, `and ${pods.length - MOST_PODS} more`);
  return h(
    'details',
    {},
    h('summary', { 'data-keep': `${key} pods` }, ...legend, others > 0 && `and ${count(others, 'more workload')}`),
    h('ul', { class: 'pods' }, ...items, more),
  );
}

/** A bar for the requests of a resource on the cheapest type: label, drawing and text. */
function bar(name: Resource, label: string, node: NewNode, workloads: Group[]): Element[] {
  const whole = node.usage[name];
  if (whole === undefined) return [];
  const paths: SVGElement[] = [];
  let at = 0;
  for (const [index, { number, pod }] of workloads.entries()) {
    const share = (pod.usage[name] ?? 0) * WIDTH;
    paths.push(shape(`shade-${index % SHADES}`, stacked(at, share, number)));
    at += share * number;
  }
  // DaemonSets request the rest.
  const daemons = whole * WIDTH - at;
  if (daemons > 1) paths.push(shape('daemons', stacked(at, daemons, 1)));
  const text = `${node.requests[name] ?? '0'} of ${node.allocatable[name] ?? '?'}`;
  const image = drawing('gauge', `0 0 ${WIDTH} 10`, ...paths);
  image.setAttribute('preserveAspectRatio', 'none');
  image.removeAttribute('aria-hidden');
  image.setAttribute('role', 'img');
  const inside = workloads.map(({ workload, number }) => `${count(number, 'pod')} of ${workload.split('/')[1]}`);
  if (daemons > 1) inside.push('DaemonSets');
  image.setAttribute('aria-label', `${label}: ${text}, ${Math.round(whole * 100)} %: ${inside.join(', ')}`);
  return [
    h('span', { class: 'bar-label', 'aria-hidden': 'true' }, label),
    h('span', { class: 'bar-text', 'aria-hidden': 'true' }, text),
    image,
  ];
}

/** The path of equal pods side by side. */
function stacked(from: number, width: number, number: number): string {
  const gap = width > 4 * GAP ? GAP : 0;
  let path = '';
  for (let index = 0; index < number; index++) {
    path += `M${(from + index * width).toFixed(1)} 0h${Math.max(width - gap, 0).toFixed(1)}v10h-${Math.max(width - gap, 0).toFixed(1)}z`;
  }
  return path;
}

function drawing(name: string, box: string, ...shapes: SVGElement[]): SVGSVGElement {
  return svg('svg', { class: name, viewBox: box, 'aria-hidden': 'true' }, ...shapes);
}

function shape(name: string, path: string): SVGElement {
  return svg('path', { class: name, d: path });
}
