// A week to read with the pointer, a finger or the keyboard: a slider along its intervals, with a line that describes the current one.

import { h } from './dom.ts';
import { type StripInterval, stripFrame, weekStrip } from './week-strip.ts';

/** Interval with its description. */
export interface WeekPart extends StripInterval {
  /** All about it, for screen readers. */
  text: string;
  /** The same for the line below the strip. */
  describe(): HTMLElement;
  /** Shows the field that decides. */
  go: (() => void) | undefined;
}

/** Creates the strip and its line. `keep` identifies the slider when the answer is drawn again. */
export function weekSlider(parts: WeekPart[], label: string, keep: string): HTMLElement {
  const strip = weekStrip(parts);
  const line = h('div', { class: 'readout' });
  const slider = h('div', {
    class: 'week-slider',
    role: 'slider',
    tabindex: 0,
    'aria-label': label,
    'aria-describedby': 'week-keys',
    'aria-valuemin': 1,
    'aria-valuemax': parts.length,
    'data-keep': keep,
  });
  slider.append(strip);
  let current = 0;
  const show = (index: number) => {
    const part = parts[index];
    if (!part) return;
    strip.querySelector('.here')?.remove();
    strip.append(stripFrame(parts, part));
    line.replaceChildren(part.describe());
  };
  const choose = (index: number) => {
    current = Math.max(0, Math.min(index, parts.length - 1));
    slider.setAttribute('aria-valuenow', String(current + 1));
    slider.setAttribute('aria-valuetext', parts[current]?.text ?? '');
    show(current);
  };
  const under = ({ clientX }: MouseEvent) => {
    const { left, width } = strip.getBoundingClientRect();
    const [from, to] = [parts[0]?.start ?? 0, parts.at(-1)?.end ?? 0];
    const time = from + ((clientX - left) / width) * (to - from);
    return Math.max(
      0,
      parts.findIndex(({ end }) => time < end),
    );
  };
  slider.addEventListener('keydown', (event) => {
    const to = {
      ArrowRight: current + 1,
      ArrowUp: current + 1,
      ArrowLeft: current - 1,
      ArrowDown: current - 1,
      Home: 0,
      End: parts.length - 1,
    }[event.key];
    if (to !== undefined) choose(to);
    else if (event.key === 'Enter') parts[current]?.go?.();
    else return;
    event.preventDefault();
  });
  slider.addEventListener('pointermove', (event) => event.pointerType === 'mouse' && show(under(event)));
  slider.addEventListener('pointerleave', () => show(current));
  slider.addEventListener('click', (event) => {
    choose(under(event));
    // A finger has nothing to point with, so a tap only describes the interval.
    if ((event as PointerEvent).pointerType !== 'touch') parts[current]?.go?.();
  });
  choose(0);
  return h('div', { class: 'week-box' }, slider, line);
}
