// DOM helpers. They never parse markup, so text from a manifest, a link or a file name stays text.

type Child = Node | string | null | undefined | false;
type Props = Record<string, string | number | boolean | undefined | ((event: never) => void)>;

/** Creates an element with attributes, listeners (`onclick`) and children. */
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

/** Returns the element with this id. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element as T;
}

/** Creates an element of a drawing. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number> = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** Creates an icon from the sprite in index.html. */
export function icon(name: string): SVGSVGElement {
  return svg('svg', { class: `icon icon-${name}`, 'aria-hidden': 'true' }, svg('use', { href: `#icon-${name}` }));
}

/** `1 error`, `2 errors`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}

/** Downloads a text as a file. */
export function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Copies a text to the clipboard and shows the result on the button. */
export async function copy(text: string, button: HTMLElement, announce: (text: string) => void): Promise<void> {
  const label = button.querySelector('.label') ?? button;
  const before = label.textContent;
  try {
    await navigator.clipboard.writeText(text);
    label.textContent = 'Copied';
    announce('Copied');
  } catch {
    label.textContent = 'Not copied: the browser denied access';
    announce('Not copied: the browser denied access');
  }
  setTimeout(() => (label.textContent = before), 2000);
}
