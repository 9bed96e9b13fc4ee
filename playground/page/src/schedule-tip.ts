// Tip of a budget's schedule in the editor: the week of this budget alone.

import type { App } from './app.ts';
import { count, h } from './dom.ts';
import { message } from './message.ts';
import { placementWorker } from './placement-client.ts';
import { utcPeriod, utcTime } from './times.ts';
import type { ScheduleWeek } from './types.ts';
import { type StripInterval, weekStrip } from './week-strip.ts';

/** Time limit in milliseconds. */
const LIMIT = 20_000;
const MINUTE = 60_000;
/** Windows in words. */
const LISTED = 7;

let asked = '';
let answer: Promise<ScheduleWeek[]> = Promise.resolve([]);

/** The weeks of all schedules in the current files, from the current minute on. */
function schedulesOf(app: App): Promise<ScheduleWeek[]> {
  const release = app.state.settings.karpenterVersion;
  const at = new Date(Math.floor(Date.now() / MINUTE) * MINUTE).toISOString();
  const input = JSON.stringify([app.manifests, release, at]);
  if (input !== asked) {
    asked = input;
    answer = placementWorker.call('schedules', [app.manifests, release, at], LIMIT);
    answer.catch(() => (asked = ''));
  }
  return answer;
}

/** Describes the week of the budget whose schedule is at an offset of the open file; null if no budget has it. */
export async function scheduleTip(app: App, offset: number): Promise<HTMLElement | null> {
  const { name } = app.file;
  const week = (await schedulesOf(app)).find(
    ({ place }) => place.file === name && place.offset <= offset && offset <= place.endOffset,
  );
  if (!week) return null;
  const windows = week.openings.map(({ start, end }) => ({ start: Date.parse(start), end: Date.parse(end) }));
  const items = windows.slice(0, LISTED).map(({ start, end }) => h('li', {}, utcPeriod(start, end)));
  const more = windows.length > LISTED && h('li', {}, `and ${count(windows.length - LISTED, 'more window')}`);
  return h(
    'div',
    { class: 'tip tip-week' },
    h('div', {}, ...message(sentence(week, windows.length))),
    !week.broken && weekStrip(intervals(week, windows)),
    h('ul', {}, ...items, more),
    windows.length > 0 &&
      h('div', { class: 'tip-help' }, 'Times are in UTC. The Disruption tab shows all budgets together.'),
  );
}

function sentence({ nodePool, budget, nodes, reasons, broken, next }: ScheduleWeek, windows: number): string {
  if (broken) return `Karpenter cannot read this schedule, and disrupts nothing in NodePool \`${nodePool}\`.`;
  const why = reasons === null ? '' : ` for ${reasons.join(', ') || 'no reason'}`;
  const limit = `\`${budget}\` of NodePool \`${nodePool}\` allows at most ${nodes} ${nodes === '1' ? 'node' : 'nodes'} at a time${why} while its window is open`;
  if (windows > 0) return `${limit}.`;
  const opens =
    next === null
      ? 'The window never opens'
      : `The window stays closed all week, and opens on ${utcTime(Date.parse(next))} UTC`;
  return `${limit}. ${opens}.`;
}

/** The open and the closed intervals of a week. */
function intervals({ start, end }: ScheduleWeek, windows: { start: number; end: number }[]): StripInterval[] {
  const all: StripInterval[] = [];
  let at = Date.parse(start);
  for (const window of windows) {
    if (window.start > at) all.push({ start: at, end: window.start, level: 0, label: '' });
    all.push({ ...window, level: 1, label: '' });
    at = window.end;
  }
  if (at < Date.parse(end)) all.push({ start: at, end: Date.parse(end), level: 0, label: '' });
  return all;
}
