// Hint at a log in a manifest, with a button that moves the log to the Symptoms tab.

import type { App } from './app.ts';
import { logLines } from './log-lines.ts';

const KIND = 'log';

export function logHint(app: App): void {
  /** File and first line of the log of the last hint. The hint does not return after the visitor has dismissed it. */
  let log = '';
  /** The text of the last hint. It names lines, which move while the visitor edits. */
  let shown = '';
  app.on('report', () => {
    for (const { name, text } of app.manifests) {
      const found = logLines(text);
      if (!found) continue;
      const lines =
        found.first === found.last ? `line ${found.first} looks` : `lines ${found.first} to ${found.last} look`;
      const hint = `${name}: ${lines} like a log. A log is diagnosed, not checked.`;
      const before = log;
      log = `${name}\n${text.slice(found.from, found.to).split('\n', 1)[0]}`;
      if (log === before && (hint === shown || !app.isNoticed(KIND))) return;
      shown = hint;
      app.notice(KIND, hint, [['Show its symptoms', () => diagnose(app, name)]]);
      return;
    }
    log = '';
    app.dismiss(KIND);
  });
}

function diagnose(app: App, name: string): void {
  // The text may have changed since the check.
  const log = logLines(app.state.files.find((one) => one.name === name)?.text ?? '');
  if (log) app.moveToLog(name, log.from, log.to);
}
