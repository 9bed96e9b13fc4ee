// Pods without a node, and why.

import { count, h, icon } from './dom.ts';
import { message } from './message.ts';
import { type Group, unplacedGroups } from './placement-pods.ts';
import type { FieldPlace, IgnoredPodField, PlacedPod, PoolObjection } from './types.ts';

/** Groups and reasons shown. */
const MOST = 50;

/** A link to a place, or its name. `keep` identifies the link when the answer is drawn again. */
type Link = (place: FieldPlace, keep: string) => Node;

/** The list of the pods without a node; empty if every pod has one. */
export function unplacedList(pods: PlacedPod[], link: Link): HTMLElement[] {
  const groups = unplacedGroups(pods);
  if (groups.length === 0) return [];
  const list = h(
    'ul',
    { 'aria-label': 'Pods without a node', id: 'unplaced' },
    ...groups.slice(0, MOST).map((group) => unplaced(group, link)),
  );
  const more = groups.length - MOST;
  return [
    list,
    ...(more > 0 ? [h('p', { class: 'part digest' }, `${count(more, 'more group')} of pods without a node.`)] : []),
  ];
}

/** Pods of a workload that have no node for the same reasons. */
function unplaced({ workload, namespace, number, pod }: Group, link: Link): HTMLElement {
  const name = `${namespace}/${workload.split('/')[1]}`;
  const why = { ignored: 'Karpenter ignores', untried: 'not tried' }[pod.placed as string] ?? 'no node for';
  return h(
    'li',
    { class: 'unplaced' },
    icon('error'),
    h(
      'div',
      {},
      h('span', { class: 'severity' }, `${why} `),
      h('span', { class: 'rule' }, name),
      number > 1 && ` ×${number}`,
    ),
    pod.ignored && ignored(pod.ignored, workload, link),
    !pod.ignored &&
      pod.reasons.length === 0 &&
      h('p', {}, ...message(pod.message || 'This release reports no reason.')),
    pod.reasons.length > 0 &&
      h(
        'ul',
        { class: 'reasons' },
        ...pod.reasons.slice(0, MOST).map((reason) => reasonOf(reason, `${workload} ${reason.nodePool}`, link)),
      ),
  );
}

/** The field for which Karpenter ignores a pod. */
function ignored({ message: problem, remedy, path, place }: IgnoredPodField, key: string, link: Link): HTMLElement {
  return h(
    'div',
    {},
    h('p', {}, ...message(`${upper(problem)}.`)),
    h('p', { class: 'remedy' }, h('strong', {}, 'To fix: '), ...message(`${remedy}.`)),
    h('ul', { class: 'places' }, h('li', {}, 'Pod ', link(place, `${key} ignored`), ' ', h('code', {}, path))),
  );
}

function reasonOf(reason: PoolObjection, key: string, link: Link): HTMLElement {
  // Messages end with all requirements and resources, which a nearest miss tells in fewer words.
  const short = reason.message.split(/, requirements=/)[0] ?? '';
  const isShort = short !== reason.message;
  const place = (label: string, path: string, at: FieldPlace | null, end: string) =>
    at && h('li', {}, `${label} `, link(at, `${key} ${end}`), ' ', h('code', {}, path));
  return h(
    'li',
    {},
    h('div', {}, h('strong', {}, `NodePool ${reason.nodePool}`), h('span', { class: 'severity' }, ` ${reason.reason}`)),
    h('p', {}, ...message(`${upper(reason.nearest || short)}.`)),
    reason.remedy && h('p', { class: 'remedy' }, h('strong', {}, 'To fit: '), ...message(`${reason.remedy}.`)),
    h(
      'ul',
      { class: 'places' },
      place('Pod', reason.podPath, reason.podPlace, 'pod'),
      place('NodePool', reason.poolPath, reason.poolPlace, 'pool'),
    ),
    (isShort || reason.nearest) &&
      h(
        'details',
        {},
        h('summary', { 'data-keep': `${key} message` }, 'Message of Karpenter'),
        h('p', { class: 'mono whole' }, reason.message),
      ),
  );
}

function upper(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replace(/\.$/, '');
}
