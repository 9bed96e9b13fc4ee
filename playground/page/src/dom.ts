// Elements without markup: whatever comes from a manifest, a link or a file name only ever becomes text.

type Child = Node | string | null | undefined | false;
type Props = Record<string, string | number | boolean | undefined | ((event: never) => void)>;

/** An element with attributes, listeners (`onclick`) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((child): child is Node | string => !!child || child === ''));
  return element;
}

/** The element of the page with this id. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element as T;
}

/** An icon of the sprite in the page. */
export function icon(name: string): SVGSVGElement {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  const use = document.createElementNS(space, 'use');
  svg.setAttribute('class', `icon icon-${name}`);
  svg.setAttribute('aria-hidden', 'true');
  use.setAttribute('href', `#icon-${name}`);
  svg.append(use);
  return svg;
}

/** `1 error`, `2 errors`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}

/** Saves a text as a file. */
export function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Copies a text and says so on the button that asked for it. */
export async function copy(text: string, button: HTMLElement, announce: (text: string) => void): Promise<void> {
  const label = button.querySelector('.label') ?? button;
  const before = label.textContent;
  try {
    await navigator.clipboard.writeText(text);
    label.textContent = 'Copied';
    announce('Copied');
  } catch {
    label.textContent = 'Not copied: the browser refused';
    announce('Not copied: the browser refused');
  }
  setTimeout(() => (label.textContent = before), 2000);
}
