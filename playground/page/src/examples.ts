// Examples menu. The build collects its content from the examples folder of the repository.

import type { App } from './app.ts';
import { h } from './dom.ts';
import { once } from './once.ts';
import type { Tab } from './state.ts';
import type { SourceFile } from './types.ts';

declare const EXAMPLES_JSON: string;

interface Example {
  name: string;
  title: string;
  /** The tab that shows the result. */
  tab: Tab;
  files: SourceFile[];
}

const GROUPS = { findings: 'Manifests', symptoms: 'Logs, events and status' };

const fetchExamples = once(async () => {
  const response = await fetch(new URL(EXAMPLES_JSON, document.baseURI));
  return (await response.json()) as Example[];
});

export function examplesMenu(app: App, button: HTMLButtonElement): void {
  const menu = h('div', { class: 'menu', popover: 'auto', role: 'menu', 'aria-label': 'Examples' });
  // The menu belongs to the landmark of its button.
  button.after(menu);
  const items = () => [...menu.querySelectorAll('button')];
  const choose = (example: Example) => {
    menu.hidePopover();
    const before = app.state.files;
    const { active } = app.state;
    app.large = [];
    app.show(example.tab);
    app.replaceFiles(example.files.map(({ name, text }) => ({ name, text })));
    const replacedOwnText = before.some(
      (file) => file.text.trim() && !example.files.some(({ text }) => text === file.text),
    );
    if (replacedOwnText)
      app.notice('example', `Showing the example ${example.name}.`, [
        ['Restore my text', () => app.replaceFiles(before, active)],
      ]);
    app.announce(`Example ${example.name} opened`);
    app.editor.focus();
  };
  button.addEventListener('click', async () => {
    try {
      const all = await fetchExamples();
      menu.replaceChildren(
        ...(['findings', 'symptoms'] as const).map((tab) =>
          h(
            'div',
            { role: 'group', 'aria-label': GROUPS[tab] },
            h('div', { class: 'group', 'aria-hidden': 'true' }, GROUPS[tab]),
            ...all
              .filter((example) => example.tab === tab)
              .map((example) =>
                h(
                  'button',
                  { type: 'button', role: 'menuitem', tabindex: -1, onclick: () => choose(example) },
                  h('span', { class: 'mono' }, example.name),
                  h('span', { class: 'help' }, example.title),
                ),
              ),
          ),
        ),
      );
    } catch {
      app.notice('example', 'The examples could not be fetched. Check the connection and try again.', [], true);
      return;
    }
    const { left, bottom } = button.getBoundingClientRect();
    menu.style.left = `${Math.max(8, Math.min(left, innerWidth - 444))}px`;
    menu.style.top = `${bottom + 4}px`;
    menu.togglePopover();
    items()[0]?.focus();
  });
  menu.addEventListener('toggle', (event) => {
    const open = (event as ToggleEvent).newState === 'open';
    button.setAttribute('aria-expanded', String(open));
    if (!open && menu.contains(document.activeElement)) button.focus();
  });
  menu.addEventListener('keydown', (event) => {
    const all = items();
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      all[(to + all.length) % all.length]?.focus();
    } else if (event.key === 'Tab') menu.hidePopover();
  });
}
