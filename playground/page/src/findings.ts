// The Findings tab: list of findings with help, fixes and documentation.

import type { App } from './app.ts';
import { count, copy, download, h, icon } from './dom.ts';
import { CAUGHT_BY, releases, sentence } from './finding-words.ts';
import { fixAll, preview } from './fixes.ts';
import { asMarkdown } from './issue.ts';
import { message } from './message.ts';
import { downloadSarif } from './sarif.ts';
import type { Finding, Report } from './types.ts';

/** Number of findings shown at a time. */
const PAGE = 200;

type Order = 'position' | 'severity' | 'rule' | 'object';
const RANK = { error: 0, warning: 1, info: 2 };

export class FindingsView {
  #order: Order = 'position';
  #shown = PAGE;
  #printing = false;
  #previewed: Finding | undefined;
  #items = new Map<Finding, HTMLElement>();
  #view: HTMLElement | undefined;

  constructor(
    private readonly app: App,
    private readonly explain: (rule: string) => void,
  ) {
    app.on('report', () => (this.#shown = Math.max(PAGE, this.#shown > PAGE ? this.#shown : PAGE)));
  }

  /** Shows every finding, or the first ones again. */
  showAll(all: boolean): void {
    this.#printing = all;
    if (this.#view && this.app.state.tab === 'findings') this.render(this.#view);
  }

  render(view: HTMLElement): void {
    this.#view = view;
    this.#items.clear();
    const { report } = this.app;
    if (!report) {
      view.replaceChildren(h('p', { class: 'calm' }, 'Loading the rules'));
      return;
    }
    const scroll = view.scrollTop;
    const focused = document.activeElement?.closest('.finding');
    const index = focused ? [...view.querySelectorAll('.finding')].indexOf(focused) : -1;
    const again = this.#previewed;
    this.#previewed = again && report.findings.find((finding) => finding === again);
    const parts: (Node | null)[] = [this.#tools(report), this.#list(report), this.#calm(report), this.#notes(report)];
    view.replaceChildren(...parts.filter((part) => part !== null));
    view.scrollTop = scroll;
    if (index >= 0 && !this.#previewed) {
      view.querySelectorAll<HTMLElement>('.finding > .jump').item(index)?.focus({ preventScroll: true });
    }
  }

  #tools(report: Report): HTMLElement | null {
    if (report.findings.length === 0) return null;
    const select = h('select', {
      'aria-label': 'Order of the findings',
      onchange: () => {
        this.#order = select.value as Order;
        if (this.#view) this.render(this.#view);
      },
    });
    for (const [value, label] of [
      ['position', 'by position'],
      ['severity', 'by severity'],
      ['rule', 'by rule'],
      ['object', 'by object'],
    ]) {
      const option = h('option', { value }, label);
      option.selected = value === this.#order;
      select.append(option);
    }
    const fixable = report.findings.filter((finding) => finding.fix?.safe).length;
    return h(
      'div',
      { class: 'tools' },
      h('label', {}, 'Order', select),
      h('span', { class: 'grow' }),
      fixable > 0 &&
        h(
          'button',
          { type: 'button', class: 'small', id: 'fix-all', onclick: () => void fixAll(this.app) },
          `Apply safe fixes (${fixable})`,
        ),
      h(
        'button',
        {
          type: 'button',
          class: 'small quiet',
          onclick: (event: Event) =>
            void copy(asMarkdown(this.app), event.currentTarget as HTMLElement, (text) => this.app.announce(text)),
        },
        'Copy as Markdown',
      ),
      h(
        'button',
        {
          type: 'button',
          class: 'small quiet',
          'aria-label': 'Download JSON',
          title: 'Download JSON',
          onclick: () => download('karpwarden.json', `${this.app.reportJson}\n`, 'application/json'),
        },
        'JSON',
      ),
      h(
        'button',
        {
          type: 'button',
          class: 'small quiet',
          'aria-label': 'Download SARIF',
          title: 'Download SARIF, for code scanning',
          onclick: () => void downloadSarif(this.app),
        },
        'SARIF',
      ),
    );
  }

  #sorted(report: Report): Finding[] {
    const key = (finding: Finding): string => {
      if (this.#order === 'severity') return String(RANK[finding.severity]);
      if (this.#order === 'rule') return finding.rule;
      return `${finding.kind}/${finding.namespace}/${finding.name}`;
    };
    if (this.#order === 'position') return report.findings;
    // The sort is stable, so findings with the same key stay in document order.
    return [...report.findings].sort((one, other) => (key(one) < key(other) ? -1 : key(one) > key(other) ? 1 : 0));
  }

  #list(report: Report): HTMLElement | null {
    const findings = this.#sorted(report);
    if (findings.length === 0) return null;
    const list = h('ul', { 'aria-label': 'Findings' });
    const fill = () => {
      const from = list.children.length;
      list.append(
        ...findings.slice(from, this.#printing ? undefined : this.#shown).map((finding) => this.#item(finding, report)),
      );
      const rest = this.#printing ? 0 : findings.length - list.children.length;
      more.hidden = rest === 0;
      more.textContent = rest > 0 ? `Show ${Math.min(PAGE, rest)} of ${count(rest, 'more finding')}` : '';
    };
    const more = h('button', {
      type: 'button',
      onclick: () => {
        this.#shown += PAGE;
        fill();
      },
    });
    fill();
    return h('div', {}, list, h('div', { class: 'part' }, more));
  }

  #item(finding: Finding, report: Report): HTMLElement {
    const object = [finding.kind, finding.namespace, finding.name].filter(Boolean).join('/');
    const many = this.app.state.files.length > 1;
    const where = [object, `${many ? `${finding.file}, ` : ''}line ${finding.line ?? '?'}`, finding.path];
    const jump = h(
      'button',
      {
        type: 'button',
        class: 'jump',
        onclick: () => this.app.jump(finding, matchMedia('(max-width: 820px)').matches),
      },
      icon(finding.severity),
      h('span', { class: 'rule' }, finding.rule),
      h('span', { class: 'severity' }, ` ${finding.severity}`),
      h('span', { class: 'where' }, where.filter(Boolean).join(' · ')),
      h('span', { class: 'message' }, ...message(finding.message)),
    );
    const item = h('li', { class: 'finding' }, jump);
    this.#items.set(finding, item);
    this.#fill(item, finding, report.findings.length <= 4);
    return item;
  }

  /** Fills the part below the message: help and fix for every finding, details for the selected one. */
  #fill(item: HTMLElement, finding: Finding, open: boolean): void {
    const selected = finding === this.app.selected;
    item.classList.toggle('selected', selected);
    item.querySelector('.jump')?.setAttribute('aria-current', String(selected));
    for (const old of [...item.children].slice(1)) old.remove();
    const whole = selected || open;
    const more = h('div', { class: 'more' });
    if (finding.help) more.append(h('p', {}, ...message(sentence(finding.help))));
    if (whole) {
      for (const related of finding.related) {
        const label = related.line
          ? `${related.file === finding.file ? '' : `${related.file}, `}line ${related.line}`
          : related.path;
        const go = () => this.app.goTo(related.file, related.offset ?? 0, related.endOffset ?? 0, true);
        more.append(
          h(
            'p',
            { class: 'related' },
            h('button', { type: 'button', class: 'link', onclick: go }, label),
            `: ${related.message}`,
          ),
        );
      }
      more.append(
        h(
          'p',
          {},
          CAUGHT_BY[finding.caughtBy],
          finding.releases && finding.releases !== 'all' ? ` Karpenter ${finding.releases}.` : '',
        ),
      );
    }
    if (more.childElementCount > 0) item.append(more);
    const why =
      whole &&
      h(
        'button',
        { type: 'button', class: 'small quiet why', onclick: () => this.explain(finding.rule) },
        'Why',
        h('span', { class: 'hidden' }, ` ${finding.rule}`),
      );
    const { fix } = finding;
    const button =
      fix &&
      h(
        'button',
        { type: 'button', class: 'small fix', onclick: () => this.preview(finding) },
        h('span', {}, 'Fix: ', ...message(fix.title)),
      );
    if (button || why) item.append(h('div', { class: 'actions' }, button, why));
    if (fix && this.#previewed === finding) {
      item.append(
        preview(this.app, finding, fix, () => {
          this.#previewed = undefined;
          this.#refresh(finding);
          item.querySelector<HTMLElement>('.fix')?.focus();
        }),
      );
    }
  }

  #refresh(finding: Finding | undefined): void {
    const item = finding && this.#items.get(finding);
    if (finding && item) this.#fill(item, finding, (this.app.report?.findings.length ?? 0) <= 4);
  }

  /** Shows the change that a fix makes. */
  preview(finding: Finding): void {
    const before = this.#previewed;
    this.#previewed = finding;
    this.#refresh(before);
    this.#refresh(finding);
    this.#items.get(finding)?.scrollIntoView({ block: 'nearest' });
  }

  /** Updates the list after a selection in the editor or by key. */
  select(): void {
    for (const [finding, item] of this.#items) {
      if (item.classList.contains('selected') !== (finding === this.app.selected)) this.#refresh(finding);
    }
    const item = this.app.selected && this.#items.get(this.app.selected);
    item?.scrollIntoView({ block: 'nearest' });
  }

  #calm(report: Report): HTMLElement | null {
    if (report.findings.length > 0 || report.unreadable.length > 0) return null;
    const { documents, checked, suppressed } = report.summary;
    if (documents === 0) {
      return h(
        'div',
        { class: 'calm' },
        h('strong', {}, 'Nothing to check yet'),
        'Paste a manifest, or drop files and folders on the page.',
      );
    }
    if (checked === 0) {
      const isSkipped = (why: string) => report.skipped.some(({ reason }) => reason.startsWith(why));
      const advice = isSkipped('template')
        ? h(
            'span',
            {},
            'This is a template. Render it first, for example with ',
            h('code', {}, 'helm template'),
            ', and paste the output.',
          )
        : isSkipped('script')
          ? 'Only manifests and Helm values in the heredoc strings of a Terraform file or a script are checked, and there is none. Paste the manifests themselves.'
          : 'None of the documents is a kind that Karpwarden checks.';
      return h('div', { class: 'calm' }, h('strong', {}, 'Nothing was checked'), advice);
    }
    const accepted =
      suppressed > 0
        ? ` ${count(suppressed, 'finding is', 'findings are')} suppressed by settings or annotations.`
        : '';
    return h(
      'div',
      { class: 'calm' },
      icon('clean'),
      h('strong', {}, 'Nothing to report'),
      `${count(checked, 'document')} checked against ${releases(report)}.${accepted}`,
    );
  }

  #notes(report: Report): HTMLElement | null {
    const { unreadable, skipped, summary } = report;
    const many = this.app.state.files.length > 1;
    const list = h('ul', { class: 'notes', 'aria-label': 'Notes on the input' });
    for (const { file, line, message: reason } of unreadable.slice(0, PAGE)) {
      const editor = () => {
        const text = this.app.state.files.find((one) => one.name === file)?.text ?? '';
        const before = text
          .split('\n')
          .slice(0, line - 1)
          .join('\n').length;
        this.app.goTo(file, before === 0 ? 0 : before + 1, before === 0 ? 0 : before + 1, true);
      };
      list.append(
        h(
          'li',
          { class: 'unread' },
          icon('error'),
          h(
            'span',
            {},
            h('strong', {}, 'Unreadable: '),
            ...message(reason),
            ' · ',
            h('button', { type: 'button', class: 'link', onclick: editor }, `${many ? `${file}, ` : ''}line ${line}`),
          ),
        ),
      );
    }
    const reasons = new Map<string, number>();
    for (const { reason } of skipped) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    for (const { folder, version, note } of report.pins) {
      const pinned = version ? `pins Karpenter ${version}` : 'pins several versions of Karpenter';
      list.append(h('li', {}, `${folder || 'The input'} ${pinned}${note ? `: ${note}` : ''}`));
    }
    for (const { folders } of report.environments) {
      list.append(h('li', {}, `${folders.join(', ')} look like separate clusters, so their objects are not compared`));
    }
    for (const note of report.notes) list.append(h('li', {}, ...message(note)));
    for (const [reason, number] of reasons) list.append(h('li', {}, `${count(number, 'document')} skipped: ${reason}`));
    if (summary.suppressed > 0 && report.findings.length > 0) {
      list.append(h('li', {}, `${count(summary.suppressed, 'finding')} suppressed by settings or annotations`));
    }
    return list.childElementCount > 0 ? list : null;
  }
}
