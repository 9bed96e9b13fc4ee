// Drawing of a week: a shape for each interval, the days above and the numbers below.

import { svg } from './dom.ts';
import { utcDay } from './times.ts';

/** Interval of a drawing, in milliseconds. */
export interface StripInterval {
  start: number;
  end: number;
  /** Height of its shape, from 0 to 1. */
  level: number;
  /** Written below the shape, if there is space. */
  label: string;
}

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
/** Heights in pixels: days, shapes, numbers. */
const [ABOVE, SHAPES, BELOW] = [16, 30, 16];
/** Height of the line for closed times, which differ from open ones in more than colour. */
const LINE = 3;
/** Width of a character of a label, as a part of the narrowest strip. */
const CHARACTER = 0.022;
/** Part of a day that its name needs. */
const NAMED = 0.7 * DAY;

const percent = (part: number) => `${(part * 100).toFixed(3)}%`;

/** The strip of a week, without a description for screen readers. */
export function weekStrip(intervals: StripInterval[]): SVGSVGElement {
  const from = intervals[0]?.start ?? 0;
  const to = intervals.at(-1)?.end ?? from + 7 * DAY;
  const at = (time: number) => (time - from) / (to - from);
  const minutes = (time: number) => ((time - from) / MINUTE).toFixed(1);
  let [open, closed, midnights] = ['', '', ''];
  const texts: SVGElement[] = [];
  for (const { start, end, level, label } of intervals) {
    const height = level > 0 ? LINE + 4 + level * (SHAPES - LINE - 4) : LINE;
    const shape = `M${minutes(start)} ${SHAPES}V${(SHAPES - height).toFixed(1)}H${minutes(end)}V${SHAPES}z`;
    if (level > 0) open += shape;
    else closed += shape;
    if (at(end) - at(start) > CHARACTER * label.length)
      texts.push(
        svg('text', { class: 'number', x: percent((at(start) + at(end)) / 2), y: ABOVE + SHAPES + BELOW - 4 }, label),
      );
  }
  for (let day = Math.floor(from / DAY) * DAY; day < to; day += DAY) {
    if (day > from) midnights += `M${minutes(day)} 0V${SHAPES}`;
    const start = Math.max(day, from);
    if (Math.min(day + DAY, to) - start >= NAMED)
      texts.push(svg('text', { class: 'day', x: percent(at(start)), dx: 3, y: ABOVE - 5 }, utcDay(day)));
  }
  const shapes = svg(
    'svg',
    {
      y: ABOVE,
      width: '100%',
      height: SHAPES,
      viewBox: `0 0 ${((to - from) / MINUTE).toFixed(1)} ${SHAPES}`,
      preserveAspectRatio: 'none',
    },
    svg('path', { class: 'open', d: open }),
    svg('path', { class: 'closed', d: closed }),
    svg('path', { class: 'midnight', d: midnights }),
  );
  const below = intervals.some(({ label }) => label) ? BELOW : 0;
  return svg(
    'svg',
    { class: 'week-strip', 'aria-hidden': 'true', height: ABOVE + SHAPES + below },
    svg('rect', { class: 'ground', y: ABOVE, width: '100%', height: SHAPES }),
    shapes,
    ...texts,
  );
}

/** A frame around an interval of a strip. */
export function stripFrame(intervals: StripInterval[], { start, end }: StripInterval): SVGElement {
  const from = intervals[0]?.start ?? 0;
  const whole = (intervals.at(-1)?.end ?? 0) - from;
  return svg('rect', {
    class: 'here',
    x: percent((start - from) / whole),
    width: percent((end - start) / whole),
    y: ABOVE,
    height: SHAPES,
  });
}
