// The page of `karpwarden report`: draws the answers that its data contains. `karpwarden open` serves the same page.

import { byId, count, h, icon } from './dom.ts';
import { findingsSection } from './report-findings.ts';
import { followChanges } from './report-live.ts';
import { nodesSection, placementSection, weeksSection } from './report-nodes.ts';
import type { ReportSection } from './report-section.ts';
import { symptomsSection } from './report-symptoms.ts';
import { utcTime } from './times.ts';
import type { PageData } from './types.ts';

const THEMES = ['system', 'light', 'dark'] as const;

const text = byId('data').textContent ?? '';
const data = JSON.parse(text) as PageData;

function tile({ id, title, icon: name, value, remark }: ReportSection): HTMLElement {
  return h(
    'li',
    {},
    h(
      'a',
      { class: 'tile', href: `#${id}` },
      h('span', { class: 'name' }, title),
      h('span', { class: 'value' }, icon(name), value),
      remark && h('span', { class: 'remark' }, remark),
    ),
  );
}

function section({ id, title, content }: ReportSection): HTMLElement {
  return h('section', { 'aria-labelledby': id }, h('h2', { id, tabindex: -1 }, title), ...content);
}

function footer(): HTMLElement[] {
  const bytes = new TextEncoder().encode(text).length;
  const parts = [
    `Karpwarden ${data.version}`,
    `${Math.ceil(bytes / 1000).toLocaleString('en')} kB of answers`,
    'no text of the input but the quoted lines',
    data.redacted > 0 && `${count(data.redacted, 'value')} redacted`,
    'this page asks nothing of the network',
  ];
  return parts.filter((part) => part !== false).map((part) => h('span', {}, part));
}

/** The button that changes between the system's colours, light and dark. */
function chooseTheme(): void {
  const button = byId('theme');
  let chosen = 0;
  button.addEventListener('click', () => {
    chosen = (chosen + 1) % THEMES.length;
    const name = THEMES[chosen] ?? 'system';
    if (name === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    button.textContent = `Theme: ${name}`;
  });
}

const sections = [
  findingsSection(data),
  placementSection(data),
  weeksSection(data),
  nodesSection(data),
  symptomsSection(data),
];
const release = data.findings?.karpenterVersion ?? data.placement?.karpenterVersion ?? '';
document.title = `${data.title}: Karpwarden report`;
byId('main').replaceChildren(
  h(
    'div',
    {},
    h('h1', {}, data.title),
    h('p', { class: 'about' }, `Karpenter ${release} · ${utcTime(Date.parse(data.at))} UTC`),
  ),
  h('nav', { 'aria-label': 'Parts of the report' }, h('ul', { class: 'tiles' }, ...sections.map(tile))),
  ...sections.map(section),
);
byId('foot').replaceChildren(...footer());
chooseTheme();
if (data.mark !== null) followChanges(data.mark);
