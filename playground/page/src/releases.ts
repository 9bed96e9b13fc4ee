// Which releases accept each document, what changes between two, and what an upgrade brings.

import type { App } from './app.ts';
import { count, h } from './dom.ts';
import { message } from './markdown.ts';
import type { About, Finding, KubeObject, Report } from './types.ts';

/** Returns the first and the last release of a range such as `since 1.7`, `until 1.8`, `1.3 to 1.6`, `1.0 since 1.0.9` or `1.8`. An open end is empty. */
function ends(range: string): [string, string] {
  if (range === 'all') return ['', ''];
  const since = /^(?:(\S+) )?since (\S+)$/.exec(range);
  if (since) return [since[2] ?? '', since[1] ?? ''];
  const until = /^until (\S+)$/.exec(range);
  if (until) return ['', until[1] ?? ''];
  const [first = '', last = first] = range.split(' to ');
  return [first, last];
}

/** Returns the minors whose newest patch release is in a set such as `until 1.0.8, since 1.2`. */
export function minorsOf(releases: string, about: About): Set<string> {
  const parts = (text: string) => text.split('.').map(Number);
  const newest = about.releases.map(({ name, newest }) => ({ name, parts: [...parts(newest), 0, 0].slice(0, 3) }));
  const below = (one: number[], other: number[]) => {
    for (let index = 0; index < 3; index++) {
      const by = (one[index] ?? 0) - (other[index] ?? 0);
      if (by !== 0) return by < 0;
    }
    return false;
  };
  const held = new Set<string>();
  for (const run of releases.split(', ').filter(Boolean)) {
    const [first, last] = ends(run);
    const from = first ? [...parts(first), 0].slice(0, 3) : [0];
    // A minor stands for all its patches.
    const to = !last ? [Infinity] : parts(last).length === 2 ? [...parts(last), Infinity] : parts(last);
    for (const release of newest) {
      if (!below(release.parts, from) && !below(to, release.parts)) held.add(release.name);
    }
  }
  return held;
}

interface Placed {
  finding: Finding;
  at: Set<string>;
}

export class ReleasesView {
  #from = '';
  #to = '';
  #turn: 'from' | 'to' = 'from';
  #asked = 0;

  constructor(private readonly app: App) {}

  async render(view: HTMLElement): Promise<void> {
    const { app } = this;
    const { about } = app;
    if (!about) return;
    const names = about.releases.map((release) => release.name);
    const [oldest = '', newest = ''] = [names[0], names.at(-1)];
    this.#to ||= newest;
    this.#from ||= names.includes(app.report?.karpenterVersion ?? '') && app.report?.karpenterVersion !== newest ? (app.report?.karpenterVersion ?? oldest) : oldest;
    const asked = ++this.#asked;
    const files = app.manifests;
    let report: Report;
    let objects: KubeObject[];
    try {
      const [checked, found] = await Promise.all([
        app.engine.call('check', [files, app.state.settings, `${oldest}..${newest}`], 20_000),
        app.engine.call('documents', [files, false], 20_000),
      ]);
      report = JSON.parse(checked.json) as Report;
      objects = found;
    } catch (error) {
      if (asked === this.#asked) view.replaceChildren(h('div', { class: 'calm' }, h('strong', {}, 'Not compared'), (error as Error).message));
      return;
    }
    if (asked !== this.#asked || app.state.tab !== 'releases') return;
    const placed = report.findings.map((finding) => ({ finding, at: minorsOf(finding.releases, about) }));
    const again = () => this.#draw(view, report, objects, placed, names, about, again);
    again();
  }

  #draw(view: HTMLElement, report: Report, objects: KubeObject[], placed: Placed[], names: string[], about: About, again: () => void): void {
    const scroll = view.scrollTop;
    const focused = (document.activeElement as HTMLElement | null)?.dataset.release;
    view.replaceChildren(
      this.#choice(names, again),
      this.#strips(report, objects, names, about, again),
      this.#upgrade(placed, names),
      this.#boundaries(placed, names),
    );
    view.scrollTop = scroll;
    if (focused) view.querySelector<HTMLElement>(`[data-release="${focused}"]`)?.focus({ preventScroll: true });
  }

  #choice(names: string[], again: () => void): HTMLElement {
    const select = (label: string, value: string, change: (value: string) => void) => {
      const box = h('select', { onchange: () => (change(box.value), again()) }, ...names.map((name) => h('option', { value: name }, name)));
      box.value = value;
      return h('label', {}, label, box);
    };
    return h(
      'div',
      { class: 'tools' },
      select('Upgrade from', this.#from, (value) => (this.#from = value)),
      select('to', this.#to, (value) => (this.#to = value)),
      h('span', {}, 'or choose two cells'),
    );
  }

  #choose(name: string, again: () => void): void {
    if (this.#turn === 'from') [this.#from, this.#turn] = [name, 'to'];
    else [this.#to, this.#turn] = [name, 'from'];
    this.app.announce(`Upgrade from ${this.#from} to ${this.#to}`);
    again();
  }

  #strips(report: Report, objects: KubeObject[], names: string[], about: About, again: () => void): HTMLElement {
    const chosen = (name: string) => String(name === this.#from || name === this.#to);
    const head = names.map((name) =>
      h('th', { scope: 'col' }, h('button', { type: 'button', class: 'cell', 'data-release': name, 'aria-pressed': chosen(name), 'aria-label': `Karpenter ${name}`, onclick: () => this.#choose(name, again) }, name)),
    );
    const table = h('table', { class: 'strip' }, h('thead', {}, h('tr', {}, ...head)));
    for (const { file, document: index, releases } of (report.accepted ?? []).slice(0, 200)) {
      const at = minorsOf(releases, about);
      const inside = objects.filter((object) => object.file === file && object.document === index);
      const many = this.app.state.files.length > 1;
      const title = inside.slice(0, 3).map((object) => `${object.kind}/${object.name}`).join(', ') || `document ${index + 1}`;
      const more = inside.length > 3 ? ` and ${inside.length - 3} more` : '';
      const sum = at.size === names.length ? 'accepted by all' : at.size === 0 ? 'accepted by none' : `accepted by ${releases}`;
      const cells = names.map((name) => {
        const yes = at.has(name);
        return h('td', {}, h('button', { type: 'button', tabindex: -1, class: `cell ${yes ? 'yes' : 'no'}`, 'aria-pressed': chosen(name), 'aria-label': `${name}: ${yes ? 'accepted' : 'refused'}`, title: `${name}: ${yes ? 'accepted' : 'refused'}`, onclick: () => this.#choose(name, again) }, yes ? '✓' : '✕'));
      });
      table.append(h('tbody', {}, h('tr', {}, h('th', { colspan: names.length, scope: 'rowgroup' }, `${title}${more}${many ? ` · ${file}` : ''}: ${sum}`)), h('tr', {}, ...cells)));
    }
    const none = (report.accepted ?? []).length === 0;
    return none
      ? h('div', { class: 'calm' }, h('strong', {}, 'No Karpenter object in here'), 'Releases differ in what they accept of NodePools, NodeClaims, node classes and overlays.')
      : h('div', { class: 'strips', role: 'region', 'aria-label': 'Accepted by release', tabindex: 0 }, table);
  }

  #upgrade(placed: Placed[], names: string[]): HTMLElement {
    const [from, to] = [names.indexOf(this.#from), names.indexOf(this.#to)];
    const heading = h('h3', {}, `From ${this.#from} to ${this.#to}`);
    if (from === to) return h('div', { class: 'part' }, heading, h('p', {}, 'Choose two different releases to see what an upgrade between them changes.'));
    const way = from < to ? names.slice(from + 1, to + 1) : names.slice(to, from).reverse();
    const list = h('ul', { class: 'changes' });
    for (const { finding, at } of placed) {
      const bites = way.find((name) => at.has(name));
      if (!at.has(this.#from) && bites) list.append(h('li', {}, this.#change('comes', finding, `from ${bites} on`)));
      else if (at.has(this.#from) && !at.has(this.#to)) {
        const gone = way.find((name) => !at.has(name));
        list.append(h('li', {}, this.#change('goes', finding, `gone in ${gone}`)));
      }
    }
    const stay = placed.filter(({ at }) => at.has(this.#from) && at.has(this.#to)).length;
    return h(
      'div',
      { class: 'part', id: 'upgrade' },
      heading,
      list.childElementCount > 0 ? list : h('p', {}, 'Nothing changes for these documents.'),
      stay > 0 && h('p', { class: 'digest' }, `${count(stay, 'finding holds', 'findings hold')} before and after.`),
    );
  }

  #boundaries(placed: Placed[], names: string[]): HTMLElement {
    const list = h('ul', { class: 'changes' });
    for (let index = 1; index < names.length; index++) {
      const [before = '', after = ''] = [names[index - 1], names[index]];
      const comes = placed.filter(({ at }) => !at.has(before) && at.has(after));
      const goes = placed.filter(({ at }) => at.has(before) && !at.has(after));
      if (comes.length + goes.length === 0) continue;
      list.append(
        h(
          'li',
          {},
          h('strong', {}, `${before} → ${after}`),
          ...comes.slice(0, 50).map(({ finding }) => this.#change('comes', finding, '')),
          ...goes.slice(0, 50).map(({ finding }) => this.#change('goes', finding, '')),
        ),
      );
    }
    return h('div', { class: 'part' }, h('h3', {}, 'What changes at each release'), list.childElementCount > 0 ? list : h('p', {}, 'Nothing: all releases say the same of these documents.'));
  }

  #change(kind: 'comes' | 'goes', finding: Finding, when: string): HTMLElement {
    const jump = () => this.app.goTo(finding.file, finding.offset ?? 0, finding.endOffset ?? 0, true);
    return h(
      'div',
      { class: `change ${kind}` },
      h('span', { class: 'sign', 'aria-hidden': 'true' }, kind === 'comes' ? '+' : '−'),
      h(
        'div',
        {},
        h('button', { type: 'button', class: 'link mono', onclick: jump }, finding.rule),
        ` ${kind === 'comes' ? 'new' : 'no longer'}${when ? `, ${when}` : ''} · ${finding.kind}/${finding.name}, line ${finding.line}`,
        h('div', {}, ...message(finding.message)),
      ),
    );
  }
}
