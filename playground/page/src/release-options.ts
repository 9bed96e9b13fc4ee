// Options of the list of Karpenter releases.

import type { App } from './app.ts';
import { h } from './dom.ts';

/** The releases, after an option for no choice, which names the release that the check then uses. */
export function releaseOptions({ about, report, state }: App): HTMLOptionElement[] {
  const names = about?.releases.map(({ name }) => name) ?? [];
  const chosen = state.settings.karpenterVersion;
  const all = chosen === undefined || names.includes(chosen) ? names : [...names, chosen];
  const pinned = new Set(report?.pins.filter(({ version }) => version).map(({ checkedAs }) => checkedAs));
  // With a release in the settings, the check reads no pins.
  const other =
    chosen !== undefined
      ? 'automatic'
      : pinned.size === 1
        ? `${[...pinned].join()} (pinned)`
        : pinned.size > 1
          ? 'as pinned'
          : `${names.at(-1) ?? ''} (newest)`;
  return [h('option', { value: '' }, other), ...all.map((name) => h('option', { value: name }, name))];
}
