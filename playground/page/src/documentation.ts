// The article of a rule or symptom, shown in the panel. The same article is a page with its own address (rules/NAME).

import type { App } from './app.ts';
import { h, icon } from './dom.ts';
import { once } from './once.ts';

declare const ARTICLES_JSON: string;

interface Article {
  summary: string;
  /** HTML that `playground/assemble` renders when the page is built. */
  html: string;
  /** Whether the article is about a symptom, which the Symptoms tab shows. */
  symptom: boolean;
}

export const fetchArticles = once(async () => {
  const response = await fetch(new URL(ARTICLES_JSON, document.baseURI));
  if (!response.ok) throw new Error(`HTTP status ${response.status}`);
  return (await response.json()) as Record<string, Article>;
});

/** Shows the article of `name`. `explain` shows another article, `back` closes this one. */
export async function showArticle(
  app: App,
  name: string,
  view: HTMLElement,
  explain: (name: string) => void,
  back: () => void,
): Promise<void> {
  const title = h('h2', { tabindex: -1 }, name);
  const origin = app.state.tab === 'symptoms' ? 'Symptoms' : 'Findings';
  const page = h(
    'article',
    { class: 'doc', 'aria-label': `Documentation of ${name}` },
    h(
      'div',
      { class: 'doc-bar' },
      h('button', { type: 'button', class: 'quiet small back', onclick: back }, icon('back'), origin),
      h('a', { class: 'quiet small', href: address(name), target: '_blank', rel: 'noopener' }, 'Open as a page'),
    ),
    title,
  );
  view.replaceChildren(page);
  view.scrollTop = 0;
  title.focus({ preventScroll: true });
  try {
    const article = (await fetchArticles())[name];
    if (!article) throw new Error(`no article named ${name}`);
    page.append(...connect(app, name, article.html, explain));
  } catch {
    page.append(
      h(
        'p',
        {},
        'The documentation could not be fetched. Check the connection and choose "Why" again, or run ',
        h('code', {}, `karpwarden explain ${name}`),
      ),
    );
  }
}

const address = (name: string) => `rules/${name}.html`;

/** Parses the HTML of an article and connects its examples to the editor and its links to the panel. */
function connect(app: App, name: string, html: string, explain: (name: string) => void): ChildNode[] {
  const { body } = new DOMParser().parseFromString(html, 'text/html');
  for (const button of body.querySelectorAll('button')) {
    const text = button.previousElementSibling?.textContent ?? '';
    const extension = text.startsWith('{"') ? 'log' : 'yaml';
    button.addEventListener('click', () => app.addFiles([{ name: `${name}.${extension}`, text }]));
  }
  for (const link of body.querySelectorAll('a')) {
    const rule = /^([\w-]+)\.html$/.exec(link.getAttribute('href') ?? '')?.[1];
    if (rule) {
      link.href = address(rule);
      link.addEventListener('click', (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        explain(rule);
      });
    } else {
      link.target = '_blank';
      link.rel = 'noopener noreferrer';
    }
  }
  return [...body.childNodes];
}
