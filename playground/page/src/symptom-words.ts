// Words of diagnoses and logs.

import { count, h } from './dom.ts';
import type { LogSummary } from './types.ts';

/** The contents of the input, and how much of them was understood. */
export function statistics(log: LogSummary): HTMLElement {
  const number = (value: number) => value.toLocaleString('en');
  const list = h('ul', { class: 'notes', 'aria-label': log.cluster ? `Input of ${log.cluster}` : 'Input' });
  const add = (...text: (string | Node)[]) => list.append(h('li', {}, ...text));
  if (!log.isOfKarpenter && log.lines > 0) {
    add(
      'None of these lines is known to come from Karpenter. Its log is ',
      h('code', {}, 'kubectl logs -n kube-system -l app.kubernetes.io/name=karpenter --prefix --tail=-1'),
      '.',
    );
  }
  add(
    log.cluster && h('strong', {}, `${log.cluster}: `),
    `${count(log.lines, 'line')} with ${count(log.entries, 'entry', 'entries')}: ${number(log.understood)} understood, ${number(log.unknown)} not.`,
  );
  if (log.auditReports > 0) {
    const errors = log.auditErrors > 0 ? `with ${count(log.auditErrors, 'error')}` : 'without an error';
    add(`${count(log.auditReports, 'report')} of the audit scanner ${errors} of Karpwarden's policy.`);
  }
  if (log.level) {
    const missing = log.level === 'DEBUG' ? '' : ' The input contains no DEBUG messages.';
    add(
      `The lowest log level is ${log.level}.${missing}${log.releases ? ` Written by Karpenter ${log.releases}.` : ''}`,
    );
  }
  for (const line of log.settling) add('This DEBUG message would confirm a diagnosis: ', h('code', {}, line));
  if (log.truncated > 0) add(`${count(log.truncated, 'line is', 'lines are')} truncated.`);
  if (log.notUtf8 > 0) add(`${count(log.notUtf8, 'line is', 'lines are')} not UTF-8.`);
  if (log.forgotten > 0) add(`The history of ${count(log.forgotten, 'NodeClaim')} was dropped to limit memory.`);
  for (const { reason, count: lines } of log.skipped) add(`${count(lines, 'line')} skipped: ${reason}`);
  return list;
}

export interface Seen {
  count: number;
  atLeast?: boolean;
  first: string | null;
  last: string | null;
}

/** Number of times that something was seen; empty if it was seen once. */
export function times({ count: number, atLeast }: Seen): string {
  if (atLeast) return `at least ${count(number, 'time')}`;
  return number > 1 ? count(number, 'time') : '';
}

export function period({ first, last }: Seen): string {
  return first && last && first !== last ? `${first} to ${last}` : (first ?? '');
}
