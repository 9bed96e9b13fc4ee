// Hint at a log in a manifest, with a button that moves the log to the Symptoms tab.

import type { App } from './app.ts';
import { type LogLines, logLines } from './log-lines.ts';

const KIND = 'log';

export function logHint(app: App): void {
  /** The text of the last hint. It is not shown again after the visitor has dismissed it. */
  let shown = '';
  app.on('report', () => {
    for (const { name, text } of app.manifests) {
      const log = logLines(text);
      if (!log) continue;
      const lines = log.first === log.last ? `line ${log.first} looks` : `lines ${log.first} to ${log.last} look`;
      const hint = `${name}: ${lines} like a log. A log is diagnosed, not checked.`;
      if (hint === shown) return;
      shown = hint;
      app.notice(KIND, hint, [['Show its symptoms', () => diagnose(app, name, log)]]);
      return;
    }
    shown = '';
    app.dismiss(KIND);
  });
}

function diagnose(app: App, name: string, seen: LogLines): void {
  const file = app.state.files.find((one) => one.name === name);
  // The text may have changed since the check.
  const log = file && (logLines(file.text) ?? seen);
  if (log) app.moveToLog(name, log.from, log.to);
}
