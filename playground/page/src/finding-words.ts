// Words of findings.

import { count, h, icon } from './dom.ts';
import type { Report } from './types.ts';

/** The component that would otherwise report a problem. */
export const CAUGHT_BY = {
  'api-server': 'The API server also refuses this when you apply it.',
  controller: 'The API server accepts this; the controller fails on it later.',
  nobody: 'Nothing else reports this: neither the API server nor the controller.',
};

/** The releases of the check: the release of the settings, or the versions that the input pins. */
export function releases({ pins, karpenterVersion }: Report): string {
  const pinned = pins.filter(({ version }) => version);
  const [first] = pinned;
  if (!first) return `Karpenter ${karpenterVersion}`;
  return pinned.length === 1 && !first.folder ? `Karpenter ${first.checkedAs}` : 'the pinned versions of Karpenter';
}

/** A text as a sentence. */
export function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?:]$/.test(first) ? first : `${first}.`;
}

/** Counts by severity, each with icon and word. */
export function counts(report: Report): HTMLElement[] {
  const { errors, warnings, infos } = report.summary;
  const parts: HTMLElement[] = [];
  const add = (name: string, number: number, word: string) => {
    if (number > 0) parts.push(h('span', {}, icon(name), count(number, word)));
  };
  add('error', errors, 'error');
  add('warning', warnings, 'warning');
  add('info', infos, 'info');
  if (report.unreadable.length > 0) parts.push(h('span', {}, icon('error'), `${report.unreadable.length} unreadable`));
  if (parts.length === 0) parts.push(h('span', {}, report.summary.checked > 0 ? icon('clean') : null, 'No findings'));
  return parts;
}
