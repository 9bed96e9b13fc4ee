// The lives of NodeClaims on one time axis, and the story of one of them. Loaded when the timeline opens.

import style from '../timeline.css';
import { count, h, svg } from './dom.ts';
import { message } from './message.ts';
import { utcPeriod, utcTime } from './times.ts';
import type { Lifeline, Story, StoryStep } from './types.ts';

/** NodeClaims and steps shown. */
const MOST = 200;
/** Width and height of a bar in units of its drawing. */
const [WIDTH, HEIGHT] = [1000, 16];
/** Smallest width of a phase, so that a short one can be seen. */
const NARROW = 3;

const sheet = new CSSStyleSheet();
sheet.replaceSync(style);
document.adoptedStyleSheets.push(sheet);

/** Moments of a NodeClaim, in the order in which they happen. */
const MOMENTS = [
  'created',
  'launched',
  'registered',
  'initialized',
  'disrupted',
  'draining',
  'drained',
  'terminated',
] as const;
type Moment = (typeof MOMENTS)[number];

/** The phase that starts with a moment. Each has its own height, so that phases differ in more than colour. */
const PHASES: Record<Moment, 'starting' | 'used' | 'leaving' | ''> = {
  created: 'starting',
  launched: 'starting',
  registered: 'starting',
  initialized: 'used',
  disrupted: 'leaving',
  draining: 'leaving',
  drained: 'leaving',
  terminated: '',
};
const HEIGHTS = { starting: 6, used: HEIGHT, leaving: 10 };

interface Axis {
  from: number;
  to: number;
}

/** The timeline of stories. `until` is the end of the input, where NodeClaims without an end are still alive. */
export function timelineOf(
  stories: Story[],
  until: number,
  tell: (lifeline: Lifeline, cluster: string) => void,
): HTMLElement[] {
  const rows = stories.flatMap(({ cluster, lifelines }) => lifelines.map((lifeline) => ({ cluster, lifeline })));
  const times = rows.flatMap(({ lifeline }) => momentsOf(lifeline).map(({ time }) => time));
  if (times.length === 0) return [h('p', { class: 'digest' }, 'The input shows no time in the life of a NodeClaim.')];
  // A loop, because a spread has a limited number of arguments.
  const axis = times.reduce(({ from, to }, time) => ({ from: Math.min(from, time), to: Math.max(to, time) }), {
    from: Infinity,
    to: Number.isNaN(until) ? -Infinity : until,
  });
  const items = rows
    .slice(0, MOST)
    .map(({ cluster, lifeline }) => row(lifeline, cluster, axis, () => tell(lifeline, cluster)));
  return [
    h(
      'p',
      { class: 'digest' },
      `${utcPeriod(axis.from, axis.to)} UTC. A low bar is a node that starts, a high one a node in use, a hatched one a node that goes.`,
    ),
    h('ol', { class: 'lives', 'aria-label': 'NodeClaims in the order of their creation' }, ...items),
    ...(rows.length > MOST ? [h('p', { class: 'digest' }, `${count(rows.length - MOST, 'more NodeClaim')}.`)] : []),
  ];
}

/** The moments whose time the input shows. */
function momentsOf(lifeline: Lifeline): { moment: Moment; time: number }[] {
  return MOMENTS.map((moment) => ({ moment, time: Date.parse(lifeline[moment] ?? '') })).filter(
    ({ time }) => !Number.isNaN(time),
  );
}

function row(lifeline: Lifeline, cluster: string, axis: Axis, tell: () => void): HTMLElement {
  const { nodeClaim, nodePool, instance, node, pods } = lifeline;
  const facts = [cluster, nodePool && `NodePool ${nodePool}`, instance, pods.length > 0 && count(pods.length, 'pod')]
    .filter(Boolean)
    .join(' · ');
  return h(
    'li',
    {},
    h(
      'div',
      { class: 'life' },
      h(
        'button',
        { type: 'button', class: 'link mono', 'data-keep': `life ${cluster} ${nodeClaim || node}`, onclick: tell },
        nodeClaim || node,
      ),
      h('span', { class: 'digest' }, facts),
    ),
    bar(momentsOf(lifeline), axis),
    h('p', { class: 'digest moments' }, sentence(lifeline)),
  );
}

/** The drawing of a life, without a description: the sentence below it says the same. */
function bar(moments: { moment: Moment; time: number }[], { from, to }: Axis): SVGSVGElement {
  const at = (time: number) => ((time - from) / Math.max(to - from, 1)) * WIDTH;
  const shapes: SVGElement[] = [];
  for (const [index, { moment, time }] of moments.entries()) {
    const phase = PHASES[moment];
    if (!phase) continue;
    const left = Math.min(at(time), WIDTH - NARROW);
    const width = Math.max(at(moments[index + 1]?.time ?? to) - left, NARROW);
    const height = HEIGHTS[phase];
    shapes.push(svg('rect', { class: phase, x: left.toFixed(1), width: width.toFixed(1), y: HEIGHT - height, height }));
    if (phase === 'leaving') shapes.push(svg('path', { class: 'hatch', d: hatch(left, width, height) }));
  }
  return svg(
    'svg',
    { class: 'life-bar', 'aria-hidden': 'true', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none' },
    svg('rect', { class: 'ground', width: WIDTH, height: HEIGHT }),
    ...shapes,
  );
}

function hatch(left: number, width: number, height: number): string {
  let path = '';
  for (let x = left + 4; x < left + width; x += 8) path += `M${x.toFixed(1)} ${HEIGHT - height}V${HEIGHT}`;
  return path;
}

/** The life in words: the first time in full, the others with the time since it. */
function sentence(lifeline: Lifeline): string {
  const moments = momentsOf(lifeline);
  const first = moments[0]?.time ?? 0;
  const texts = moments.map(({ moment, time }, index) => {
    const why = moment === 'disrupted' && lifeline.reason ? ` (${lifeline.reason})` : '';
    return `${moment}${why} ${index === 0 ? `${utcTime(time)} UTC` : `after ${duration(time - first)}`}`;
  });
  return texts.join(', ');
}

/** `45 s`, `3 min 20 s`, `26 h 5 min`. */
function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  const minutes = Math.round(seconds / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60).toLocaleString('en')} h ${minutes % 60} min`;
  return seconds >= 60 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s` : `${seconds} s`;
}

/** The steps of one story, each with the line that shows it. */
export function storyOf(story: Story, evidence: (step: StoryStep) => HTMLElement): HTMLElement {
  const steps = story.steps.slice(0, MOST).map((step) => {
    const times =
      step.count > 1 ? ` ×${step.count.toLocaleString('en')}${step.last ? ` until ${stepTime(step.last)}` : ''}` : '';
    return h(
      'li',
      {},
      h('span', { class: 'when' }, step.time ? stepTime(step.time) : step.age),
      h(
        'div',
        {},
        h('strong', {}, `${eventName(step.event)}${times}`),
        ' ',
        [step.reason, step.message, step.pod].filter(Boolean).join(' · '),
        step.meaning && h('p', { class: 'digest' }, ...message(step.meaning)),
        h('div', {}, evidence(step)),
      ),
    );
  });
  const left = story.steps.length - steps.length + story.forgotten;
  return h(
    'div',
    { class: 'story' },
    h('h4', { tabindex: -1 }, `${story.kind} ${story.name}`),
    h('ol', { class: 'steps', 'aria-label': `What happened to ${story.name}, times in UTC` }, ...steps),
    left > 0 && h('p', { class: 'digest' }, `${count(left, 'more step')}.`),
  );
}

/** A time as `Tue 21 Oct 12:00:04`; a log may have another form, which is shown as it is. */
function stepTime(text: string): string {
  const time = Date.parse(text);
  return Number.isNaN(time) ? text : `${utcTime(time)}${text.slice(16, 19)}`;
}

/** `podNotScheduled` as `pod not scheduled`. */
function eventName(event: string): string {
  return event.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
