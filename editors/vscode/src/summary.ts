// Reports in a sentence.

import type { Report } from '../../../playground/package/answers';

export const count = (number: number, one: string): string =>
  `${number.toLocaleString('en')} ${one}${number === 1 ? '' : 's'}`;

/** Counts the findings of some folders. A folder without a report does not mention Karpenter, or its settings have mistakes. */
export function summaryOf(reports: readonly (Report | null)[]): string {
  const known = reports.filter((report) => report !== null);
  if (known.length === 0)
    return 'Nothing was checked: no manifest mentions Karpenter, or karpwarden.yaml has a mistake.';
  const sum = (key: 'errors' | 'warnings' | 'infos' | 'checked') =>
    known.reduce((total, { summary }) => total + summary[key], 0);
  const counts = [
    [sum('errors'), 'error'],
    [sum('warnings'), 'warning'],
    [sum('infos'), 'info'],
  ] as const;
  const found = counts.filter(([number]) => number > 0).map(([number, one]) => count(number, one));
  return `${found.join(', ') || 'No findings'} in ${count(sum('checked'), 'document')}.`;
}
