// The little Markdown that rules are documented in, as elements: headings, paragraphs, lists, code, emphasis, links.

import { h } from './dom.ts';

/** Where a link may lead. Anything else stays text. */
const LINK = /^https:\/\/[^\s]+$/;

export function markdown(text: string, code: (text: string, language: string) => HTMLElement): HTMLElement[] {
  const blocks: HTMLElement[] = [];
  const lines = text.split('\n');
  let index = 0;
  const peek = () => lines[index] ?? '';
  while (index < lines.length) {
    const line = peek();
    const fence = /^```(\S*)/.exec(line);
    const heading = /^#{1,4} (.*)/.exec(line);
    const item = /^([-*]|\d+\.) /.exec(line);
    if (fence) {
      const body: string[] = [];
      for (index++; index < lines.length && !peek().startsWith('```'); index++) body.push(peek());
      index++;
      blocks.push(code(body.join('\n'), fence[1] ?? ''));
    } else if (heading) {
      blocks.push(h('h3', {}, ...inline(heading[1] ?? '')));
      index++;
    } else if (item) {
      const list = h(/\d/.test(item[1] ?? '') ? 'ol' : 'ul');
      while (index < lines.length && /^([-*]|\d+\.) /.test(peek())) {
        const words = [peek().replace(/^([-*]|\d+\.) /, '')];
        for (index++; index < lines.length && /^\s+\S/.test(peek()); index++) words.push(peek().trim());
        list.append(h('li', {}, ...inline(words.join(' '))));
      }
      blocks.push(list);
    } else if (line.trim().startsWith('|')) {
      const rows: string[] = [];
      for (; index < lines.length && peek().trim().startsWith('|'); index++) rows.push(peek());
      blocks.push(table(rows));
    } else if (line.trim()) {
      const words: string[] = [];
      for (; index < lines.length && peek().trim() && !/^(```|#{1,4} |[-*] |\d+\. |\|)/.test(peek()); index++) words.push(peek());
      blocks.push(h('p', {}, ...inline(words.join(' '))));
    } else index++;
  }
  return blocks;
}

function table(rows: string[]): HTMLElement {
  const cells = (row: string) =>
    row.trim().replace(/^\||\|$/g, '').split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
  const body = rows.filter((row) => !/^[\s|:-]+$/.test(row));
  const [head = '', ...rest] = body;
  return h(
    'div',
    { class: 'block wrap' },
    h(
      'table',
      {},
      h('thead', {}, h('tr', {}, ...cells(head).map((cell) => h('th', {}, ...inline(cell))))),
      h('tbody', {}, ...rest.map((row) => h('tr', {}, ...cells(row).map((cell) => h('td', {}, ...inline(cell)))))),
    ),
  );
}

/** Text with `code`, **strong**, *emphasis* and [links](https://…). */
export function inline(text: string): (Node | string)[] {
  const parts: (Node | string)[] = [];
  const pattern = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)|(https:\/\/[^\s)>\]]*[^\s)>\].,;:])/g;
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > at) parts.push(text.slice(at, match.index));
    at = match.index + match[0].length;
    const [whole, code, strong, emphasis, label, target, bare] = match;
    if (code !== undefined) parts.push(h('code', {}, code));
    else if (strong !== undefined) parts.push(h('strong', {}, strong));
    else if (emphasis !== undefined) parts.push(h('em', {}, emphasis));
    else if (label !== undefined && target !== undefined && LINK.test(target)) parts.push(outside(target, label));
    else if (bare !== undefined) parts.push(outside(bare, bare));
    else parts.push(whole);
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

function outside(href: string, label: string): HTMLElement {
  return h('a', { href, target: '_blank', rel: 'noopener noreferrer' }, label);
}

/** A message of the engine: only its back-ticks mean something, and what is between them is the user's. */
export function message(text: string): (Node | string)[] {
  return text.split(/`([^`]*)`/).map((part, index) => (index % 2 ? h('code', {}, part) : part));
}
