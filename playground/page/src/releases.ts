// The Releases tab: releases that accept each document, and the changes between two releases.

import type { App } from './app.ts';
import { count, h } from './dom.ts';
import { message } from './message.ts';
import type { About, Finding, ListedObject, Report } from './types.ts';

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
    // A minor includes all its patch releases.
    const to = !last ? [Infinity] : parts(last).length === 2 ? [...parts(last), Infinity] : parts(last);
    for (const release of newest) {
      if (!below(release.parts, from) && !below(to, release.parts)) held.add(release.name);
    }
  }
  return held;
}

/** A finding with the minors it occurs in. */
interface FindingByRelease {
  finding: Finding;
  minors: Set<string>;
}

export class ReleasesView {
  #from = '';
  #to = '';
  #turn: 'from' | 'to' = 'from';
  #latest = 0;

  constructor(private readonly app: App) {}

  async render(view: HTMLElement): Promise<void> {
    const { app } = this;
    const { about } = app;
    if (!about) return;
    const names = about.releases.map((release) => release.name);
    const [oldest = '', newest = ''] = [names[0], names.at(-1)];
    this.#to ||= newest;
    this.#from ||=
      names.includes(app.report?.karpenterVersion ?? '') && app.report?.karpenterVersion !== newest
        ? (app.report?.karpenterVersion ?? oldest)
        : oldest;
    const request = ++this.#latest;
    const files = app.manifests;
    let report: Report;
    let objects: ListedObject[];
    try {
      const [checked, found] = await Promise.all([
        app.engine.call('check', [files, app.state.settings, `${oldest}..${newest}`], 20_000),
        app.engine.call('documents', [files, false], 20_000),
      ]);
      report = JSON.parse(checked.json) as Report;
      objects = found;
    } catch (error) {
      if (request === this.#latest)
        view.replaceChildren(h('div', { class: 'calm' }, h('strong', {}, 'Not compared'), (error as Error).message));
      return;
    }
    if (request !== this.#latest || app.state.tab !== 'releases') return;
    const placed = report.findings.map((finding) => ({ finding, minors: minorsOf(finding.releases, about) }));
    const again = () => this.#draw(view, report, objects, placed, names, about, again);
    again();
  }

  #draw(
    view: HTMLElement,
    report: Report,
    objects: ListedObject[],
    placed: FindingByRelease[],
    names: string[],
    about: About,
    again: () => void,
  ): void {
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
      const box = h(
        'select',
        { onchange: () => (change(box.value), again()) },
        ...names.map((name) => h('option', { value: name }, name)),
      );
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

  #strips(report: Report, objects: ListedObject[], names: string[], about: About, again: () => void): HTMLElement {
    const chosen = (name: string) => String(name === this.#from || name === this.#to);
    const head = names.map((name) =>
      h(
        'th',
        { scope: 'col' },
        h(
          'button',
          {
            type: 'button',
            class: 'cell',
            'data-release': name,
            'aria-pressed': chosen(name),
            'aria-label': `Karpenter ${name}`,
            onclick: () => this.#choose(name, again),
          },
          name,
        ),
      ),
    );
    const table = h('table', { class: 'strip' }, h('thead', {}, h('tr', {}, ...head)));
    for (const { file, document: index, releases } of (report.accepted ?? []).slice(0, 200)) {
      const at = minorsOf(releases, about);
      const inside = objects.filter((object) => object.file === file && object.document === index);
      const many = this.app.state.files.length > 1;
      const title =
        inside
          .slice(0, 3)
          .map((object) => `${object.kind}/${object.name}`)
          .join(', ') || `document ${index + 1}`;
      const more = inside.length > 3 ? ` and ${inside.length - 3} more` : '';
      const sum =
        at.size === names.length
          ? 'accepted by every release'
          : at.size === 0
            ? 'rejected by every release'
            : `accepted by ${releases}`;
      const cells = names.map((name) => {
        const yes = at.has(name);
        return h(
          'td',
          {},
          h(
            'button',
            {
              type: 'button',
              tabindex: -1,
              class: `cell ${yes ? 'yes' : 'no'}`,
              'aria-pressed': chosen(name),
              'aria-label': `${name}: ${yes ? 'accepted' : 'rejected'}`,
              title: `${name}: ${yes ? 'accepted' : 'rejected'}`,
              onclick: () => this.#choose(name, again),
            },
            yes ? '✓' : '✕',
          ),
        );
      });
      table.append(
        h(
          'tbody',
          {},
          h(
            'tr',
            {},
            h('th', { colspan: names.length, scope: 'rowgroup' }, `${title}${more}${many ? ` · ${file}` : ''}: ${sum}`),
          ),
          h('tr', {}, ...cells),
        ),
      );
    }
    const none = (report.accepted ?? []).length === 0;
    return none
      ? h(
          'div',
          { class: 'calm' },
          h('strong', {}, 'No Karpenter object found'),
          'Releases differ in which NodePools, NodeClaims, node classes and overlays they accept.',
        )
      : h('div', { class: 'strips', role: 'region', 'aria-label': 'Accepted by release', tabindex: 0 }, table);
  }

  #upgrade(placed: FindingByRelease[], names: string[]): HTMLElement {
    const [from, to] = [names.indexOf(this.#from), names.indexOf(this.#to)];
    const heading = h('h3', {}, `From ${this.#from} to ${this.#to}`);
    if (from === to)
      return h(
        'div',
        { class: 'part' },
        heading,
        h('p', {}, 'Choose two different releases to see what an upgrade between them changes.'),
      );
    const path = from < to ? names.slice(from + 1, to + 1) : names.slice(to, from).reverse();
    const list = h('ul', { class: 'changes' });
    for (const { finding, minors } of placed) {
      const since = path.find((name) => minors.has(name));
      if (!minors.has(this.#from) && since) list.append(h('li', {}, this.#change('comes', finding, since)));
      else if (minors.has(this.#from) && !minors.has(this.#to)) {
        const until = path.find((name) => !minors.has(name));
        list.append(h('li', {}, this.#change('goes', finding, until ?? '')));
      }
    }
    const stay = placed.filter(({ minors }) => minors.has(this.#from) && minors.has(this.#to)).length;
    return h(
      'div',
      { class: 'part', id: 'upgrade' },
      heading,
      list.childElementCount > 0 ? list : h('p', {}, 'Nothing changes for these documents.'),
      stay > 0 && h('p', { class: 'digest' }, `${count(stay, 'finding occurs', 'findings occur')} before and after.`),
    );
  }

  #boundaries(placed: FindingByRelease[], names: string[]): HTMLElement {
    const list = h('ul', { class: 'changes' });
    for (let index = 1; index < names.length; index++) {
      const [before = '', after = ''] = [names[index - 1], names[index]];
      const comes = placed.filter(({ minors }) => !minors.has(before) && minors.has(after));
      const goes = placed.filter(({ minors }) => minors.has(before) && !minors.has(after));
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
    return h(
      'div',
      { class: 'part' },
      h('h3', {}, 'Changes at each release'),
      list.childElementCount > 0 ? list : h('p', {}, 'The findings are the same for every release.'),
    );
  }

  #change(kind: 'comes' | 'goes', finding: Finding, since: string): HTMLElement {
    const jump = () => this.app.goTo(finding.file, finding.offset ?? 0, finding.endOffset ?? 0, true);
    return h(
      'div',
      { class: `change ${kind}` },
      h('span', { class: 'sign', 'aria-hidden': 'true' }, kind === 'comes' ? '+' : '−'),
      h(
        'div',
        {},
        h('button', { type: 'button', class: 'link mono', onclick: jump }, finding.rule),
        ` ${kind === 'comes' ? 'new' : 'gone'}${since ? ` since ${since}` : ''} · ${finding.kind}/${finding.name}, line ${finding.line}`,
        h('div', {}, ...message(finding.message)),
      ),
    );
  }
}
