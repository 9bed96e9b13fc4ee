// Modal dialog with a title and a close button.

import { h, icon } from './dom.ts';

export function dialog(title: string, ...body: Node[]): HTMLDialogElement {
  const before = document.activeElement as HTMLElement | null;
  const heading = h('h2', { id: 'dialog-title' }, title);
  const close = h(
    'button',
    { type: 'button', class: 'quiet icon-only', 'aria-label': 'Close', onclick: () => box.close() },
    icon('close'),
  );
  const box = h(
    'dialog',
    { 'aria-labelledby': 'dialog-title' },
    h('div', { class: 'dialog-head' }, heading, close),
    h('div', { class: 'dialog-body', tabindex: -1 }, ...body),
  );
  box.addEventListener('close', () => {
    box.remove();
    before?.focus();
  });
  // A click on the backdrop targets the dialog element but lies outside its box.
  box.addEventListener('pointerdown', (event) => {
    const { left, right, top, bottom } = box.getBoundingClientRect();
    const outside = event.clientX < left || event.clientX > right || event.clientY < top || event.clientY > bottom;
    if (event.target === box && outside) box.close();
  });
  document.body.append(box);
  box.showModal();
  return box;
}
