// The week of a NodePool: a strip for the reasons that share it, the same intervals as a list, and remarks on the budgets.

import { count, h, icon } from './dom.ts';
import { message } from './message.ts';
import { localPeriod, utcPeriod } from './times.ts';
import type { FieldPlace, PoolWeeks, WeekInterval, WeekOfReasons } from './types.ts';
import { type WeekPart, weekSlider } from './week-slider.ts';

/** Intervals in the list. */
const LISTED = 200;
const WEEK = 7 * 24 * 3_600_000;

/** Shows a place; undefined where there is no editor. */
type Go = ((place: FieldPlace) => void) | undefined;

export function weekOf(pool: PoolWeeks, go: Go): HTMLElement {
  const unavailable = pool.unavailable > 0 && `, ${pool.unavailable} of them not ready or going`;
  const assumed = pool.assumed && ' assumed, because the input shows none';
  const nodes = h('p', { class: 'digest' }, count(pool.nodes, 'node'), assumed, unavailable);
  const refused =
    pool.error &&
    h('p', { class: 'refused' }, `Karpenter cannot read this NodePool and disrupts nothing: ${pool.error}`);
  const remarks = pool.remarks.map(({ text, budget }) =>
    h(
      'li',
      {},
      icon('warning'),
      h(
        'span',
        {},
        ...message(`${text.charAt(0).toUpperCase()}${text.slice(1)}. `),
        link(pool, budget, `${pool.name} remark ${text}`, go, 'Show'),
      ),
    ),
  );
  return h(
    'div',
    { class: 'part week' },
    h('h3', {}, `NodePool ${pool.name}`),
    nodes,
    refused,
    ...pool.weeks.map((week) => row(pool, week, go)),
    remarks.length > 0 &&
      h('ul', { class: 'remarks', 'aria-label': `Remarks on the budgets of ${pool.name}` }, ...remarks),
  );
}

function row(pool: PoolWeeks, week: WeekOfReasons, go: Go): HTMLElement {
  const reasons = week.reasons.join(', ');
  const keep = `${pool.name} ${reasons}`;
  const parts = week.intervals.map((one, index) => part(pool, week, one, index, go));
  const items = parts.slice(0, LISTED).map(({ describe }) => h('li', {}, describe()));
  const more = parts.length > LISTED && h('li', {}, `and ${count(parts.length - LISTED, 'more interval')}`);
  const list = h(
    'details',
    {},
    h('summary', { 'data-keep': `${keep} list` }, `As a list: ${count(parts.length, 'interval')}`),
    h('ul', { class: 'intervals' }, ...items, more),
  );
  return h(
    'div',
    { class: 'reason' },
    h('h4', {}, reasons),
    weekSlider(parts, `Week of ${pool.name} for ${reasons}`, keep),
    list,
  );
}

function part(pool: PoolWeeks, week: WeekOfReasons, one: WeekInterval, index: number, go: Go): WeekPart {
  const [start, end] = [Date.parse(one.start), Date.parse(one.end)];
  const used = index === 0 && !one.unlimited && week.left !== one.allowed ? `, ${week.left} of them left now` : '';
  const period = end - start >= WEEK ? 'all week' : `${utcPeriod(start, end)} UTC`;
  const local = end - start >= WEEK ? '' : localPeriod(start, end);
  const budget = one.budget === null ? null : pool.budgets[one.budget];
  const by = budget ? budget.text : 'no budget is active';
  const place = budget?.place;
  const describe = () =>
    h(
      'div',
      { class: 'interval' },
      h('span', { class: 'allowed' }, `${allowed(one)}${used}`),
      h('span', { class: 'when', 'data-start': one.start }, period),
      place ? link(pool, one.budget, `${pool.name} ${week.reasons.join()} ${index}`, go) : h('span', {}, by),
      local && h('span', { class: 'local' }, local),
      one.error && h('span', { class: 'refused' }, one.error),
    );
  return {
    start,
    end,
    // The root makes small numbers visible.
    level: one.unlimited ? 1 : Math.sqrt(Math.max(0, Math.min(one.allowed / Math.max(pool.nodes, 1), 1))) * 0.85,
    label: one.unlimited ? 'all' : String(one.allowed),
    text: `${period}: ${allowed(one)}${used}. ${by}${place ? `, line ${place.line}` : ''}. ${one.error}`,
    describe,
    go: place && go ? () => go(place) : undefined,
  };
}

/** A button that shows a budget in the editor, or its place as a text; null if the budget is not written. */
function link(pool: PoolWeeks, index: number | null, keep: string, go: Go, verb = ''): HTMLElement | null {
  const budget = index === null ? undefined : pool.budgets[index];
  const place = budget?.place;
  if (!budget || !place) return null;
  if (!go) return h('span', {}, `${budget.text}, ${place.file}, line ${place.line}`);
  return h(
    'button',
    { type: 'button', class: 'link', 'data-keep': keep, onclick: () => go(place) },
    `${verb ? `${verb} ` : ''}${budget.text}, line ${place.line}`,
  );
}

/** The allowed number of nodes in words. */
function allowed({ allowed, unlimited }: WeekInterval): string {
  if (unlimited) return 'no limit';
  return allowed <= 0 ? 'no node' : count(allowed, 'node');
}
