// Redraws an answer while the visitor looks at it.

/** Replaces the content of an element in the panel, and keeps the scroll position, the focus and what is open. Elements keep their state by `data-keep`. */
export function redraw(view: HTMLElement, element: HTMLElement, parts: Node[]): void {
  const scroll = view.scrollTop;
  const focused = (document.activeElement as HTMLElement | null)?.dataset.keep;
  const open = new Set(
    [...element.querySelectorAll<HTMLElement>('details[open] > summary')].map((one) => one.dataset.keep),
  );
  element.replaceChildren(...parts);
  for (const summary of element.querySelectorAll<HTMLElement>('details > summary')) {
    if (open.has(summary.dataset.keep)) summary.parentElement?.setAttribute('open', '');
  }
  view.scrollTop = scroll;
  if (focused)
    element.querySelector<HTMLElement>(`[data-keep="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}
