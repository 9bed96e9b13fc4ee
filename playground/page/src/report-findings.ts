// The findings of a report.

import { count, h, icon } from './dom.ts';
import { CAUGHT_BY, releases, sentence } from './finding-words.ts';
import { message } from './message.ts';
import { type ReportSection, absentSection, calm } from './report-section.ts';
import type { Finding, PageData, Related, Report } from './types.ts';

/** Findings shown at a time. */
const PAGE = 200;
const RANK = { error: 0, warning: 1, info: 2 };

export function findingsSection(data: PageData): ReportSection {
  const [id, title] = ['findings', 'Findings'];
  const report = data.findings;
  if (!report) return absentSection(data, 'findings', id, title);
  const { errors, warnings, infos, checked } = report.summary;
  const other = [warnings > 0 && count(warnings, 'warning'), infos > 0 && count(infos, 'info')].filter(Boolean);
  const all = [errors > 0 && count(errors, 'error'), ...other].filter(Boolean);
  return {
    id,
    title,
    icon: errors > 0 ? 'error' : warnings > 0 ? 'warning' : infos > 0 ? 'info' : 'clean',
    value: String(all[0] ?? 'None'),
    remark: all.length > 1 ? all.slice(1).join(', ') : `${count(checked, 'document')} checked`,
    content: [...list(report), ...notes(report)],
  };
}

function list(report: Report): HTMLElement[] {
  if (report.findings.length === 0) {
    const { checked, suppressed } = report.summary;
    const accepted = suppressed > 0 ? ` ${count(suppressed, 'finding')} suppressed by settings or annotations.` : '';
    return [calm('Nothing to report', `${count(checked, 'document')} checked against ${releases(report)}.${accepted}`)];
  }
  // The sort is stable, so findings of the same severity stay in document order.
  const findings = [...report.findings].sort((one, other) => RANK[one.severity] - RANK[other.severity]);
  const items = h('ul', { 'aria-label': 'Findings' });
  const more = h('button', { type: 'button', id: 'more-findings' });
  const fill = () => {
    const from = items.children.length;
    items.append(...findings.slice(from, from + PAGE).map(findingItem));
    const rest = findings.length - items.children.length;
    more.hidden = rest === 0;
    more.textContent = `Show ${Math.min(PAGE, rest)} of ${count(rest, 'more finding')}`;
  };
  more.addEventListener('click', fill);
  fill();
  return [items, more];
}

function findingItem(finding: Finding): HTMLElement {
  const object = [finding.kind, finding.namespace, finding.name].filter(Boolean).join('/');
  const where = [object, place(finding), finding.path].filter(Boolean).join(' · ');
  const held = finding.releases && finding.releases !== 'all' ? ` Karpenter ${finding.releases}.` : '';
  return h(
    'li',
    { class: 'finding' },
    icon(finding.severity),
    h('p', {}, ruleName(finding), h('span', { class: 'severity' }, ` ${finding.severity}`)),
    h('p', { class: 'where' }, where),
    h('p', { class: 'message' }, ...message(finding.message)),
    h(
      'div',
      { class: 'more' },
      finding.help && h('p', {}, ...message(sentence(finding.help))),
      finding.fix && h('p', {}, 'Fix: ', ...message(sentence(finding.fix.title))),
      ...relatedPlaces(finding.related),
      h('p', {}, `${CAUGHT_BY[finding.caughtBy]}${held}`),
    ),
  );
}

/** The name of a rule, with a link to its page if the build has an address for it. */
export function ruleName({ rule, url }: Finding): HTMLElement {
  return url ? h('a', { class: 'rule', href: url, rel: 'noreferrer' }, rule) : h('span', { class: 'rule' }, rule);
}

/** The file and line of a finding; the file if it has no text. */
export function place({ file, line }: { file: string; line: number | null }): string {
  return line === null ? file : `${file}, line ${line.toLocaleString('en')}`;
}

export function relatedPlaces(related: Related[]): HTMLElement[] {
  return related.map((one) => h('p', {}, `${place(one)}: `, ...message(one.message)));
}

/** The parts that were not checked, and why. */
function notes(report: Report): HTMLElement[] {
  const items: HTMLElement[] = [];
  for (const { file, line, message: reason } of report.unreadable)
    items.push(h('li', {}, h('strong', {}, 'Unreadable: '), `${place({ file, line })}: `, ...message(reason)));
  for (const { folder, version, note } of report.pins) {
    const pinned = version ? `pins Karpenter ${version}` : 'pins several versions of Karpenter';
    items.push(h('li', {}, `${folder || 'The input'} ${pinned}${note ? `: ${note}` : ''}`));
  }
  for (const { folders } of report.environments)
    items.push(h('li', {}, `${folders.join(', ')} look like separate clusters, so their objects are not compared`));
  for (const note of report.notes) items.push(h('li', {}, ...message(note)));
  const reasons = new Map<string, number>();
  for (const { reason } of report.skipped) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  for (const [reason, number] of reasons)
    items.push(h('li', {}, `${count(number, 'document')} skipped: `, ...message(reason)));
  const shown = report.findings.length;
  const all = report.summary.errors + report.summary.warnings + report.summary.infos;
  if (all > shown) items.push(h('li', {}, `${count(all - shown, 'more finding')} left out; raise --max-findings`));
  return items.length > 0 ? [h('ul', { class: 'notes', 'aria-label': 'Notes on the input' }, ...items)] : [];
}
