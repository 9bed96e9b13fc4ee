// Placement, calendar and nodes of a report.

import placementStyle from '../placement.css';
import './week-style.ts';
import { assumedList } from './assumed.ts';
import { nodeList } from './disruption-nodes.ts';
import { weekOf } from './disruption-week.ts';
import { count, h, icon } from './dom.ts';
import { nodeCards } from './placement-nodes.ts';
import { unplacedList } from './placement-unplaced.ts';
import { place } from './report-findings.ts';
import { type ReportSection, absentSection, calm } from './report-section.ts';
import { utcTime } from './times.ts';
import type { DisruptedNode, PageData } from './types.ts';

/** Nodes in a list without a search. */
const MANY = 10;

const sheet = new CSSStyleSheet();
sheet.replaceSync(placementStyle);
document.adoptedStyleSheets.push(sheet);

export function placementSection(data: PageData): ReportSection {
  const [id, title] = ['placement', 'Placement and cost'];
  const answer = data.placement;
  if (!answer) return absentSection(data, 'placement', id, title);
  const { summary } = answer;
  if (summary.pods === 0) {
    const text = 'Every pod of the input has a node, or the input has no pods.';
    return {
      id,
      title,
      icon: 'clean',
      value: 'No pods to place',
      remark: '',
      content: [calm('No pods to place', text)],
    };
  }
  const left = summary.unplaced + summary.ignored + summary.untried;
  const price = summary.pricePerHour > 0 ? `$${summary.pricePerHour.toFixed(2)}/h, ` : '';
  return {
    id,
    title,
    icon: left > 0 ? 'error' : 'clean',
    value: left > 0 ? `${count(left, 'pod')} without a node` : `${count(summary.pods, 'pod')} placed`,
    remark: `${price}${count(summary.nodeClaims, 'new node')}`,
    content: [
      h('p', { class: 'verdict placement-verdict' }, icon(left > 0 ? 'error' : 'clean'), h('span', {}, answer.verdict)),
      ...unplacedList(answer.pods, (where) => h('span', {}, place(where))),
      ...nodeCards(answer),
      assumed(answer.assumptions),
    ],
  };
}

export function weeksSection(data: PageData): ReportSection {
  const [id, title] = ['calendar', 'Disruption calendar'];
  const answer = data.disruption;
  if (!answer) return absentSection(data, 'disruption', id, title);
  if (answer.pools.length === 0) {
    const content = [calm('No NodePool', 'The input has no NodePool, so there is no budget.')];
    return { id, title, icon: 'info', value: 'No NodePool', remark: '', content };
  }
  const remarks = answer.pools.reduce((sum, pool) => sum + pool.remarks.length, 0);
  const refused = answer.pools.filter(({ error }) => error).length;
  const legend =
    'The higher a bar, the more nodes may be disrupted at once; a thin line means no node. Karpenter reads schedules in UTC. ';
  return {
    id,
    title,
    icon: refused > 0 ? 'error' : remarks > 0 ? 'warning' : 'clean',
    value: count(answer.pools.length + answer.morePools, 'NodePool'),
    remark: remarks > 0 ? count(remarks, 'remark on budgets', 'remarks on budgets') : 'the coming week',
    content: [
      ...answer.pools.map((pool) => weekOf(pool, undefined)),
      ...(answer.morePools > 0
        ? [h('p', { class: 'part digest' }, `${count(answer.morePools, 'more NodePool')}.`)]
        : []),
      h('p', { class: 'part digest' }, legend, h('span', { id: 'week-keys' }, 'Arrow keys move along a week.')),
      h('p', { class: 'part digest' }, `The week starts at ${utcTime(Date.parse(answer.at))} UTC.`),
    ],
  };
}

export function nodesSection(data: PageData): ReportSection {
  const [id, title] = ['nodes', 'Nodes'];
  const answer = data.disruption;
  if (!answer) return absentSection(data, 'disruption', id, title);
  if (answer.nodes.length === 0) {
    const text = 'A snapshot of `karpwarden collect` has the nodes, and shows what blocks each.';
    return { id, title, icon: 'info', value: 'None', remark: '', content: [calm('The input has no nodes', text)] };
  }
  const blocked = answer.nodes.filter(({ blockedBy }) => blockedBy).length;
  const list = nodeList(answer, undefined, undefined);
  const items = [...list.querySelectorAll<HTMLElement>('.blocked')];
  return {
    id,
    title,
    icon: blocked > 0 ? 'warning' : 'clean',
    value: `${blocked.toLocaleString('en')} of ${count(answer.nodes.length, 'node')} blocked`,
    remark: answer.moreNodes > 0 ? `${count(answer.moreNodes, 'more node')} not shown` : '',
    content: [
      h('p', { class: 'verdict disruption-verdict' }, icon('info'), h('span', {}, `Now: ${answer.verdict}`)),
      ...(items.length > MANY ? [search(answer.nodes, items)] : []),
      list,
      assumed(answer.assumptions),
    ],
  };
}

/** The search in the list of nodes, with the number of nodes that each obstacle blocks. */
function search(nodes: DisruptedNode[], items: HTMLElement[]): HTMLElement {
  const words = h('input', { type: 'search', placeholder: 'words' });
  const found = h('output', {});
  const texts = items.map((item, index) => `${item.textContent} ${nodes[index]?.blockedBy ?? ''}`.toLowerCase());
  const show = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const [index, item] of items.entries()) item.hidden = !wanted.every((word) => texts[index]?.includes(word));
    found.textContent = wanted.length > 0 ? count(items.filter(({ hidden }) => !hidden).length, 'node') : '';
  };
  words.addEventListener('input', show);
  const numbers = new Map<string, number>();
  for (const { blockedBy } of nodes) if (blockedBy) numbers.set(blockedBy, (numbers.get(blockedBy) ?? 0) + 1);
  const choose = (word: string) => {
    words.value = words.value === word ? '' : word;
    show();
  };
  const obstacles = [...numbers]
    .sort(([, one], [, other]) => other - one)
    .map(([name, number]) =>
      h(
        'button',
        { type: 'button', class: 'small', onclick: () => choose(name) },
        `${name} ${number.toLocaleString('en')}`,
      ),
    );
  return h('div', { class: 'tools' }, h('label', {}, 'Search', words), ...obstacles, found);
}

function assumed(assumptions: string[]): HTMLElement {
  return h('div', { class: 'part' }, h('h3', {}, 'Assumed'), assumedList(assumptions));
}
