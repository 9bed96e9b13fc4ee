// The symptoms of a report: diagnoses of logs, events and status, with their evidence.

import { count, h, icon } from './dom.ts';
import { sentence } from './finding-words.ts';
import { message } from './message.ts';
import { place, relatedPlaces, ruleName } from './report-findings.ts';
import { type ReportSection, absentSection, calm } from './report-section.ts';
import { period, statistics, times } from './symptom-words.ts';
import type { Evidence, Finding, LogSummary, PageData } from './types.ts';

/** Lines of evidence outside of the fold. */
const FEW = 3;

export function symptomsSection(data: PageData): ReportSection {
  const [id, title] = ['symptoms', 'Symptoms'];
  const report = data.symptoms;
  if (!report) return absentSection(data, 'symptoms', id, title);
  const logs = report.logs ?? [];
  const entries = logs.reduce((sum, log) => sum + log.entries, 0);
  const audited = logs.reduce((sum, log) => sum + log.auditReports, 0);
  const isRead = entries + audited > 0;
  const found = report.findings;
  const severe = found.find(({ severity }) => severity === 'error') ?? found[0];
  const reports = audited > 0 ? [`${count(audited, 'report')} of the audit scanner`] : [];
  const read = [...(entries > 0 || audited === 0 ? [count(entries, 'entry', 'entries')] : []), ...reports].join(
    ' and ',
  );
  return {
    id,
    title,
    icon: severe ? severe.severity : isRead ? 'clean' : 'info',
    value: found.length > 0 ? count(found.length, 'symptom') : isRead ? 'None' : 'No logs',
    remark: audited > 0 ? read : `${read} of logs, events and status`,
    content: [
      ...(found.length > 0 ? [h('ul', { 'aria-label': 'Diagnoses' }, ...found.map(diagnosis))] : []),
      ...(found.length === 0 && isRead ? [calm('No symptom found', `${read} read; none points to a fault.`)] : []),
      ...(isRead ? [] : [calm('No log, event or status', 'The input has none.')]),
      ...logs.filter((log) => log.notRecognised.length > 0).map(notRecognised),
      ...logs.filter((log) => log.lines > 0).map(statistics),
    ],
  };
}

function diagnosis(one: Finding): HTMLElement {
  const object = [one.kind, one.namespace, one.name].filter(Boolean).join('/');
  const { seen } = one;
  const evidence = one.evidence ?? [];
  const first = evidence.find(({ line }) => line !== null);
  // A diagnosis points to the manifest at fault, or else to its first evidence.
  const isInManifest = one.offset !== null && !(one.file === first?.file && one.line === first.line);
  const rest = seen ? seen.objectsInAll - seen.objects.length : 0;
  const more = evidence.slice(FEW);
  return h(
    'li',
    { class: 'finding diagnosis' },
    icon(one.severity),
    h('p', {}, ruleName(one), h('span', { class: 'severity' }, ` ${one.severity}, ${one.confidence ?? ''}`)),
    h('p', { class: 'where' }, [object, seen ? times(seen) : '', seen ? period(seen) : ''].filter(Boolean).join(' · ')),
    h('p', { class: 'message' }, ...message(one.message)),
    h(
      'div',
      { class: 'more' },
      one.help && h('p', {}, ...message(sentence(one.help))),
      isInManifest && h('p', {}, `Line to change: ${place(one)}`),
      ...relatedPlaces(one.related),
      seen &&
        seen.objects.length > 1 &&
        h('p', {}, `Affected: ${seen.objects.join(', ')}${rest > 0 ? ` and ${rest.toLocaleString('en')} more` : ''}.`),
    ),
    evidence.length > 0 &&
      h('ol', { class: 'evidence', 'aria-label': 'Evidence' }, ...evidence.slice(0, FEW).map(line)),
    more.length > 0 &&
      h(
        'details',
        {},
        h('summary', {}, count(more.length, 'more line')),
        h('ol', { class: 'evidence', 'aria-label': 'More evidence' }, ...more.map(line)),
      ),
  );
}

function line(one: Pick<Evidence, 'file' | 'line' | 'text'>): HTMLElement {
  return h('li', {}, h('span', { class: 'line' }, place(one)), h('code', {}, one.text));
}

/** Errors in a log that Karpwarden does not know, each with its first line. */
function notRecognised(log: LogSummary): HTMLElement {
  const rows = log.notRecognised.slice(0, 10).map((one) => {
    const row = line({ file: one.file, line: one.line, text: one.message });
    row.append(h('span', { class: 'line' }, [times(one), period(one)].filter(Boolean).join(' · ')));
    return row;
  });
  const rest = log.notRecognised.slice(10).reduce((sum, one) => sum + one.count, log.notRecognisedMore);
  return h(
    'div',
    { class: 'part' },
    h('h3', {}, 'Errors that are not recognised'),
    h('ol', { class: 'evidence', 'aria-label': 'Errors that are not recognised' }, ...rows),
    rest > 0 && h('p', { class: 'digest' }, `${count(rest, 'more error')} of other kinds.`),
  );
}
