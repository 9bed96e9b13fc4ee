// Preview and application of fixes.

import { type App, LIMIT } from './app.ts';
import { count, h } from './dom.ts';
import type { Edit, Finding, Fix } from './types.ts';

/** A run of changed lines. */
interface Hunk {
  line: number;
  before: string[];
  after: string[];
}

/** Returns the lines that edits change in a text. */
export function hunks(text: string, edits: readonly Edit[]): Hunk[] {
  const found: Hunk[] = [];
  const ordered = [...edits].sort((one, other) => one.offset - other.offset);
  let index = 0;
  while (index < ordered.length) {
    const first = ordered[index] as Edit;
    const start = text.lastIndexOf('\n', first.offset - 1) + 1;
    let end = endOfLine(text, first.endOffset);
    const together = [first];
    // Edits on the same lines form one hunk.
    for (index++; index < ordered.length; index++) {
      const next = ordered[index] as Edit;
      if (next.offset > end) break;
      together.push(next);
      end = Math.max(end, endOfLine(text, next.endOffset));
    }
    let after = '';
    let at = start;
    for (const edit of together) {
      after += text.slice(at, edit.offset) + edit.text;
      at = edit.endOffset;
    }
    after += text.slice(at, end);
    const lines = (stretch: string) => stretch.split('\n').map((line) => line.replace(/\r$/, ''));
    let [before, behind] = [lines(text.slice(start, end)), lines(after)];
    let line = text.slice(0, start).split('\n').length;
    // Unchanged lines at both ends are not part of the hunk.
    while (before.length > 0 && before[0] === behind[0]) {
      [before, behind] = [before.slice(1), behind.slice(1)];
      line++;
    }
    while (before.length > 0 && before.at(-1) === behind.at(-1))
      [before, behind] = [before.slice(0, -1), behind.slice(0, -1)];
    found.push({ line, before, after: behind });
  }
  return found;
}

function endOfLine(text: string, offset: number): number {
  // An edit that ends after a line break does not touch the next line.
  if (offset > 0 && text[offset - 1] === '\n') return offset;
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end;
}

/** Shows the change of a fix, with buttons to apply or cancel it. */
export function preview(app: App, finding: Finding, fix: Fix, close: () => void): HTMLElement {
  // The fix of a pair of objects can change several files; the file of the finding comes first.
  const names = [...new Set([finding.file, ...fix.edits.map((edit) => edit.file)])];
  const changed = names.map((name) => ({
    name,
    text: app.state.files.find((file) => file.name === name)?.text ?? '',
    edits: fix.edits.filter((edit) => edit.file === name),
  }));
  const row = (kind: 'removed' | 'added', line: number, content: string) =>
    h(
      'span',
      { class: `row ${kind}` },
      h('span', { class: 'line' }, `${kind === 'removed' ? '−' : '+'} ${line}`),
      h('span', { class: 'hidden' }, kind),
      ` ${content}`,
    );
  const rows = changed.flatMap(({ name, text, edits }) => [
    ...(name === finding.file ? [] : [h('span', { class: 'row' }, name)]),
    ...hunks(text, edits).flatMap(({ line, before, after }) => [
      ...before.map((content, index) => row('removed', line + index, content)),
      ...after.map((content, index) => row('added', line + index, content)),
    ]),
  ]);
  const apply = () => {
    close();
    app.apply([fix]);
    app.announce(`Fixed: ${fix.title}`);
    app.editor.focus();
  };
  const note = fix.safe
    ? null
    : h('span', { class: 'help' }, 'Unsafe fix: review the change first, because it may alter the meaning.');
  const make = h('button', { type: 'button', class: 'primary small', onclick: apply }, 'Apply the fix');
  const view = h(
    'div',
    { class: 'preview', role: 'group', 'aria-label': `Change: ${fix.title}` },
    h('pre', { tabindex: 0 }, ...rows),
    h(
      'div',
      { class: 'actions' },
      make,
      h('button', { type: 'button', class: 'small', onclick: close }, 'Cancel'),
      note,
    ),
  );
  requestAnimationFrame(() => make.focus());
  return view;
}

/** Applies all safe fixes, like `karpwarden check --fix`. */
export async function fixAll(app: App): Promise<void> {
  const { active } = app.state;
  const files = app.manifests;
  const fixed = await app.engine.call('fix', [files, app.state.settings], LIMIT);
  for (const { name, text } of fixed.files) {
    const index = app.state.files.findIndex((file) => file.name === name);
    const stale = app.state.files[index]?.text !== files.find((file) => file.name === name)?.text;
    if (index < 0 || stale) continue;
    if (index !== app.state.active) app.open(index);
    app.editor.replace(text);
  }
  if (app.state.active !== active) app.open(active);
  app.announce(fixed.applied > 0 ? `${count(fixed.applied, 'fix', 'fixes')} applied` : 'No safe fix could be applied');
  if (fixed.skipped.length > 0) {
    const reasons = fixed.skipped.slice(0, 5).map(({ rule, line, reason }) => `${rule}, line ${line}: ${reason}`);
    app.notice('fix', `${count(fixed.skipped.length, 'fix was', 'fixes were')} not applied. ${reasons.join('; ')}`);
  }
}
