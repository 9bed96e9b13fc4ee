// The rollout of a change: the week of each NodePool, its nodes as a timeline, and the nodes that stay.

import { count, h, icon, svg } from './dom.ts';
import { message } from './message.ts';
import { localPeriod, utcPeriod, utcTime } from './times.ts';
import type { PlanAnswer, PlannedNode, PlannedRollout } from './types.ts';
import { type WeekPart, weekSlider } from './week-slider.ts';

const WEEK = 7 * 24 * 3_600_000;
/** Nodes in a list. */
const LISTED = 50;

const LIMITS: Readonly<Record<string, string>> = {
  budget: 'the number of nodes that the budgets allow',
  schedule: 'the windows of the budgets',
  drain: 'the drain of the nodes',
  capacity: 'capacity, because pods find no place, or only on a node that still starts',
};

export function rolloutList(answer: PlanAnswer): HTMLElement[] {
  return answer.rollouts.map((rollout) => {
    const nodes = answer.nodes.filter(
      ({ nodePool, cluster, start }) => start && nodePool === rollout.nodePool && cluster === rollout.cluster,
    );
    const limit = LIMITS[rollout.limitedBy];
    const extra = rollout.extraNodes;
    return h(
      'div',
      { class: 'part week rollout' },
      h('h3', {}, `Rollout of NodePool ${rollout.nodePool}`),
      h('p', {}, `${when(rollout)}.`),
      limit && h('p', { class: 'digest' }, `What limits the pace: ${limit}.`),
      extra > 0 &&
        h(
          'p',
          { class: 'digest' },
          `At the peak there ${extra === 1 ? 'is' : 'are'} ${count(extra, 'more node')} than now.`,
        ),
      nodes.length > 0 &&
        weekSlider(
          parts(nodes, Date.parse(answer.at)),
          `Nodes of ${rollout.nodePool} that are replaced`,
          `rollout ${rollout.nodePool}`,
        ),
      nodes.length > 0 && timeline(rollout.nodePool, nodes),
    );
  });
}

function when({ nodes, start, end }: PlannedRollout): string {
  const counted = count(nodes, 'node');
  if (!start) return `The replacement of ${counted} does not start within the forecast`;
  if (!end) {
    return `The replacement of ${counted} starts at ${utcTime(Date.parse(start))} UTC and does not end within the forecast`;
  }
  return `${counted}: ${utcPeriod(Date.parse(start), Date.parse(end))} UTC`;
}

/** The intervals of the week with an equal number of nodes that are being replaced. */
function parts(nodes: PlannedNode[], from: number): WeekPart[] {
  const to = from + WEEK;
  const changes = new Map<number, number>([[from, 0]]);
  const add = (time: number, by: number) => {
    const at = Math.min(Math.max(time, from), to);
    changes.set(at, (changes.get(at) ?? 0) + by);
  };
  for (const { start, end } of nodes) {
    add(Date.parse(start), 1);
    add(end ? Date.parse(end) : to, -1);
  }
  changes.delete(to);
  const times = [...changes.keys()].sort((one, other) => one - other);
  const intervals: { start: number; end: number; number: number }[] = [];
  let number = 0;
  for (const [index, start] of times.entries()) {
    number += changes.get(start) ?? 0;
    const last = intervals.at(-1);
    const end = times[index + 1] ?? to;
    if (last?.number === number) last.end = end;
    else intervals.push({ start, end, number });
  }
  const most = Math.max(...intervals.map((one) => one.number), 1);
  return intervals.map(({ start, end, number }) => {
    const words = number === 0 ? 'no node is replaced' : `${count(number, 'node')} at a time`;
    const period = end - start >= WEEK ? 'all week' : `${utcPeriod(start, end)} UTC`;
    const local = end - start >= WEEK ? '' : localPeriod(start, end);
    return {
      start,
      end,
      level: number / most,
      label: String(number),
      text: `${period}: ${words}.`,
      describe: () =>
        h(
          'div',
          { class: 'interval' },
          h('span', { class: 'allowed' }, words),
          h('span', { class: 'when' }, period),
          local && h('span', { class: 'local' }, local),
        ),
      go: undefined,
    };
  });
}

/** A row for each node, from the first start to the last end. */
function timeline(pool: string, nodes: PlannedNode[]): HTMLElement {
  const from = Math.min(...nodes.map(({ start }) => Date.parse(start)));
  const ends = nodes.map(({ end }) => (end ? Date.parse(end) : 0));
  const to = Math.max(...ends, from + 60_000);
  const title = `Timeline: ${utcPeriod(from, to)} UTC`;
  const more = nodes.length - LISTED;
  return h(
    'details',
    { class: 'timeline', open: true },
    h('summary', { 'data-keep': `timeline ${pool}` }, title),
    h(
      'ul',
      { 'aria-label': `Nodes of ${pool} in the order of their start` },
      ...nodes.slice(0, LISTED).map((node) => row(node, from, to)),
    ),
    more > 0 &&
      h('p', { class: 'digest' }, `${count(more, 'more node')}. `, h('code', {}, 'karpwarden plan'), ' lists all.'),
  );
}

function row(node: PlannedNode, from: number, to: number): HTMLElement {
  const start = Date.parse(node.start);
  const end = node.end ? Date.parse(node.end) : to;
  const percent = (part: number) => `${(part * 100).toFixed(3)}%`;
  const bar = svg(
    'svg',
    { class: 'bar', 'aria-hidden': 'true', width: '100%', height: 12 },
    svg('rect', { class: 'ground', width: '100%', height: 12 }),
    svg('rect', {
      class: node.end ? 'open' : 'unended',
      x: percent((start - from) / (to - from)),
      width: percent(Math.max((end - start) / (to - from), 0.005)),
      height: 12,
    }),
  );
  const period = node.end ? utcPeriod(start, end) : `from ${utcTime(start)}, no end within the forecast`;
  return h(
    'li',
    {},
    h('span', { class: 'mono' }, node.node || node.nodeClaim),
    h('span', { class: 'when' }, period),
    bar,
    ...node.because.map((text) => h('span', { class: 'digest because' }, ...message(text))),
  );
}

/** The nodes that never go, that wait, that may go, and that are removed or replaced without a forecast. */
export function nodeGroups({ nodes, rollouts }: PlanAnswer): HTMLElement[] {
  const hasForecast = rollouts.length > 0;
  const groups: [title: string, severity: string, is: (node: PlannedNode) => boolean][] = [
    ['never replaced', 'error', ({ never }) => never],
    ['waiting', 'warning', ({ never, uncertain, start }) => hasForecast && !never && !uncertain && !start],
    ['may be replaced', 'warning', ({ never, uncertain }) => !never && uncertain],
    ['replaced', 'info', ({ never, uncertain, drifted }) => !hasForecast && !never && !uncertain && drifted],
    ['removed', 'error', ({ never, uncertain, drifted }) => !never && !uncertain && !drifted],
  ];
  return groups.flatMap(([title, severity, is]) => {
    const found = nodes.filter(is);
    if (found.length === 0) return [];
    const more = found.length - LISTED;
    return h(
      'div',
      { class: 'part' },
      h('h3', {}, `${count(found.length, 'node')} ${title}`),
      h(
        'ul',
        { class: 'node-group', 'aria-label': `Nodes ${title}` },
        ...found.slice(0, LISTED).map((node) => staying(node, severity)),
      ),
      more > 0 &&
        h('p', { class: 'digest' }, `${count(more, 'more node')}. `, h('code', {}, 'karpwarden plan'), ' lists all.'),
    );
  });
}

function staying(node: PlannedNode, severity: string): HTMLElement {
  const facts = [
    node.nodePool && `NodePool ${node.nodePool}`,
    node.reason,
    node.driftedBefore && 'drifted before the change',
  ];
  return h(
    'li',
    { class: 'blocked' },
    icon(severity),
    h('strong', { class: 'mono' }, node.node || node.nodeClaim),
    h('span', { class: 'severity' }, ` ${facts.filter(Boolean).join(', ')}`),
    ...node.because.map((text) => h('p', { class: 'digest' }, ...message(text))),
  );
}

/** Cost and pods. */
export function consequences({ cost, nodes, pods }: PlanAnswer): HTMLElement | null {
  const lists: [title: string, texts: string[]][] = [
    ['without a place after the change', pods.pending],
    ['lose their place', pods.lost],
    ['gain a place', pods.gained],
  ];
  const items = lists
    .filter(([, texts]) => texts.length > 0)
    .map(([title, texts]) => {
      const more = texts.length > 10 ? `, and ${texts.length - 10} more` : '';
      return h(
        'li',
        {},
        h('strong', {}, `${count(texts.length, 'pod')} ${title}: `),
        `${texts.slice(0, 10).join(', ')}${more}`,
      );
    });
  items.push(...pods.holding.slice(0, 10).map((text) => h('li', {}, ...message(text))));
  if (nodes.length > 0) {
    const dollars = (price: number) => `$${price.toFixed(2)}`;
    items.unshift(
      h(
        'li',
        {},
        `${dollars(cost.before)} per hour before, ${dollars(cost.after)} after, at most ${dollars(cost.peak)} meanwhile. ${count(pods.moved, 'pod moves', 'pods move')}.`,
      ),
    );
  }
  return items.length === 0
    ? null
    : h('div', { class: 'part' }, h('h3', {}, 'Cost and pods'), h('ul', { class: 'consequences' }, ...items));
}
