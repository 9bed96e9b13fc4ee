// The Symptoms tab: diagnoses of logs, events and status, their evidence, and how much of the input was understood.

import { type App, LONG_LIMIT } from './app.ts';
import { byFolder, foldersOf } from './clusters.ts';
import { count, download, h, icon } from './dom.ts';
import { preview } from './fixes.ts';
import { message } from './message.ts';
import { period, statistics, times } from './symptom-words.ts';
import { TimelineView } from './symptoms-timeline.ts';
import type { Diagnosed, Diagnosis, Evidence, FilesOfCluster, LogSummary } from './types.ts';
import { WorkerStopped } from './worker-client.ts';

/** Lines of evidence shown at first. */
const FEW = 3;
/** Lines shown before and after a line of a large file. */
const AROUND = 4;
const MEGABYTE = 1 << 20;

export class SymptomsView {
  #view: HTMLElement | undefined;
  /** Input of the last diagnosis: names, texts and settings. */
  #inputs: unknown[] = [];
  #json = '';
  #report: Diagnosed | undefined;
  #running = false;
  #problem = '';
  #open = new Set<string>();
  /** Whether each folder is a separate cluster. */
  #apart = false;
  #timeline: TimelineView;

  constructor(
    private readonly app: App,
    private readonly explain: (rule: string) => void,
  ) {
    this.#timeline = new TimelineView(
      app,
      () => this.#clusters(),
      (line) => this.#lineLink(line),
    );
  }

  async render(view: HTMLElement): Promise<void> {
    this.#view = view;
    const { app } = this;
    const inputs = [
      ...app.symptomFiles().flatMap((file) => [file.name, 'text' in file ? file.text : file.file]),
      JSON.stringify(app.state.settings),
      this.#apart,
    ];
    const same = inputs.length === this.#inputs.length && inputs.every((input, index) => input === this.#inputs[index]);
    if (same || this.#running) {
      if (!this.#running) this.#draw();
      return;
    }
    // Large files are not read again on every keystroke.
    const costly =
      app.large.length > 0 && this.#report !== undefined && app.large.every(({ file }) => this.#inputs.includes(file));
    if (costly) this.#draw(true);
    else await this.#run(inputs);
  }

  async #run(inputs: unknown[]): Promise<void> {
    const { app } = this;
    this.#inputs = inputs;
    this.#running = true;
    this.#problem = '';
    const clusters = this.#clusters();
    const all = app.large.reduce((sum, { file }) => sum + file.size, 0);
    const bar = h('progress', { max: Math.max(all, 1), 'aria-label': 'Progress' });
    const status = h('span', {}, 'Reading');
    const box = h(
      'div',
      { class: 'reading', id: 'reading' },
      bar,
      status,
      h(
        'button',
        {
          type: 'button',
          class: 'small',
          id: 'symptoms-cancel',
          onclick: () => app.reader.stop(new WorkerStopped('cancelled', 'cancelled')),
        },
        'Cancel',
      ),
    );
    if (!this.#report) this.#view?.replaceChildren(this.#tools());
    const late = setTimeout(() => this.#view?.prepend(box), 200);
    try {
      const { json, ms } = await app.reader.call('diagnose', [clusters, app.state.settings], LONG_LIMIT, (done) => {
        bar.value = Math.min(done, all);
        status.textContent = `${Math.round(Math.min(done, all) / MEGABYTE).toLocaleString('en')} of ${Math.ceil(all / MEGABYTE).toLocaleString('en')} MiB read`;
      });
      this.#json = json;
      this.#report = JSON.parse(json) as Diagnosed;
      this.#timeline.update(this.#report);
      app.setDiagnosis(this.#report, ms);
    } catch (error) {
      this.#report = undefined;
      const why = error instanceof WorkerStopped ? error.why : '';
      this.#problem =
        why === 'cancelled'
          ? 'The diagnosis was cancelled.'
          : why === 'time'
            ? `There was no progress for ${LONG_LIMIT / 1000} s, so the diagnosis was cancelled.`
            : `The diagnosis failed: ${(error as Error).message}.`;
      app.setDiagnosis(undefined, 0);
    } finally {
      clearTimeout(late);
      this.#running = false;
    }
    // Input that changed meanwhile is read next, unless the diagnosis failed or was cancelled.
    if (this.#view && app.state.tab === 'symptoms') {
      if (this.#problem) this.#draw();
      else await this.render(this.#view);
    }
  }

  #clusters(): FilesOfCluster[] {
    const files = this.app.symptomFiles();
    return this.#apart && foldersOf(files).length > 0 ? byFolder(files) : [{ name: '', files }];
  }

  #again(): void {
    this.#inputs = [];
    if (this.#view) void this.render(this.#view);
  }

  #draw(stale = false): void {
    const { app } = this;
    const view = this.#view;
    if (!view || app.state.tab !== 'symptoms') return;
    const report = this.#report;
    const scroll = view.scrollTop;
    const focused = (document.activeElement as HTMLElement | null)?.dataset.keep;
    const again = (label: string) =>
      h('button', { type: 'button', class: 'small', id: 'symptoms-again', onclick: () => this.#again() }, label);
    view.replaceChildren(
      this.#tools(),
      ...(stale
        ? [
            h(
              'div',
              { class: 'stale' },
              'The text or the settings have changed since this diagnosis.',
              again('Diagnose again'),
            ),
          ]
        : []),
      ...(this.#problem
        ? [h('div', { class: 'calm' }, h('strong', {}, 'Not diagnosed'), this.#problem, again('Diagnose again'))]
        : []),
      ...(report ? this.#answer(report) : []),
    );
    view.scrollTop = scroll;
    if (focused)
      view.querySelector<HTMLElement>(`[data-keep="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  #tools(): HTMLElement {
    const { app } = this;
    const large = app.large.map((one) =>
      h(
        'span',
        { class: 'chip' },
        h('span', { class: 'mono' }, one.name),
        ` ${Math.ceil(one.file.size / MEGABYTE).toLocaleString('en')} MiB, read in chunks`,
        h(
          'button',
          {
            type: 'button',
            class: 'quiet icon-only small',
            'aria-label': `Remove ${one.name}`,
            onclick: () => app.removeLarge(one),
          },
          icon('close'),
        ),
      ),
    );
    const folders = foldersOf(app.symptomFiles());
    const apart = h('input', { type: 'checkbox', id: 'apart', 'data-keep': 'apart' });
    apart.checked = this.#apart;
    apart.addEventListener('change', () => {
      this.#apart = apart.checked;
      this.#again();
    });
    return h(
      'div',
      { class: 'tools' },
      h('button', { type: 'button', class: 'small', onclick: () => app.newFile('controller.log') }, 'Paste a log'),
      h(
        'button',
        { type: 'button', class: 'small', onclick: () => document.getElementById('picker')?.click() },
        'Open files',
      ),
      ...large,
      folders.length > 0 && h('label', {}, apart, h('span', {}, `Each folder is a cluster: ${folders.join(', ')}`)),
      h('span', { class: 'grow' }),
      this.#report &&
        h(
          'button',
          {
            type: 'button',
            class: 'small quiet',
            'aria-label': 'Download JSON',
            title: 'Download JSON',
            onclick: () => download('karpwarden.json', `${this.#json}\n`, 'application/json'),
          },
          'JSON',
        ),
    );
  }

  #answer(report: Diagnosed): HTMLElement[] {
    const diagnoses = report.findings.filter((one) => one.evidence.length > 0 || one.family === 'symptoms');
    const others = report.findings.filter((one) => !diagnoses.includes(one));
    const entries = report.logs.reduce((sum, log) => sum + log.entries, 0);
    const audited = report.logs.reduce((sum, log) => sum + log.auditReports, 0);
    const parts: HTMLElement[] = [];
    if (diagnoses.length > 0) {
      parts.push(
        h(
          'ul',
          { 'aria-label': 'Diagnoses', id: 'diagnoses' },
          ...diagnoses.slice(0, 200).map((one) => this.#item(one)),
        ),
      );
    } else if (entries + audited > 0) {
      const reports = audited > 0 ? ` and ${count(audited, 'report')} of the audit scanner` : '';
      parts.push(
        h(
          'div',
          { class: 'calm' },
          icon('clean'),
          h('strong', {}, 'No symptom found'),
          `${count(entries, 'entry', 'entries')}${reports} read; none of them points to a fault.`,
        ),
      );
    } else {
      parts.push(
        h(
          'div',
          { class: 'calm' },
          h('strong', {}, 'No log, event or status yet'),
          h(
            'span',
            {},
            'Paste or drop controller logs, events, or the output of ',
            h('code', {}, 'kubectl get nodeclaims,nodes,ec2nodeclasses -o yaml'),
            '. Add your manifests to see the line to change.',
          ),
          h('span', {}, 'Large files are read in chunks and stay on this device. The Examples menu has examples.'),
        ),
      );
    }
    if (entries > 0) parts.push(this.#timeline.element);
    if (others.length > 0) parts.push(this.#others(others));
    parts.push(...report.logs.filter((log) => log.notRecognised.length > 0).map((log) => this.#notRecognised(log)));
    parts.push(...report.logs.filter((log) => log.lines > 0).map((log) => statistics(log)));
    const unread = report.unreadable.map(({ file, line, message: text }) =>
      h('li', {}, h('strong', {}, 'Unreadable: '), `${file}, line ${line}: `, ...message(text)),
    );
    const skipped = report.skipped
      .filter(({ reason }) => reason.startsWith('a binary'))
      .map(({ file, reason }) => h('li', {}, `${file}: ${reason}`));
    if (unread.length + skipped.length > 0)
      parts.push(h('ul', { class: 'notes', 'aria-label': 'Unreadable' }, ...unread.slice(0, 50), ...skipped));
    return parts;
  }

  #item(one: Diagnosis): HTMLElement {
    const { app } = this;
    const object = [one.kind, one.namespace, one.name].filter(Boolean).join('/');
    const cluster = one.cluster && `cluster ${one.cluster}`;
    const { seen } = one;
    const when = seen ? period(seen) : '';
    const first = one.evidence.find((line) => line.line !== null);
    // A diagnosis points to the manifest at fault, or else to its first evidence.
    const isInManifest = one.offset !== null && !(one.file === first?.file && one.line === first.line);
    const showCause = () => app.goTo(one.file, one.offset ?? 0, one.endOffset ?? 0, true);
    const key = `${one.rule}\n${one.cluster}\n${one.file}\n${one.line}`;
    const jump = h(
      'button',
      {
        type: 'button',
        class: 'jump',
        'data-keep': key,
        onclick: () => (isInManifest ? showCause() : first && this.#show(first, jump)),
      },
      icon(one.severity),
      h('span', { class: 'rule' }, one.rule),
      h('span', { class: 'severity' }, ` ${one.severity}, ${one.confidence}`),
      h('span', { class: 'where' }, [cluster, object, seen ? times(seen) : '', when].filter(Boolean).join(' · ')),
      h('span', { class: 'message' }, ...message(one.message)),
    );
    const more = h(
      'div',
      { class: 'more' },
      one.help &&
        h('p', {}, ...message(`${one.help.charAt(0).toUpperCase()}${one.help.slice(1)}.`.replace(/\.\.$/, '.'))),
    );
    if (isInManifest) {
      const label = `${one.file}, line ${one.line ?? '?'}`;
      more.append(
        h('p', {}, 'Line to change: ', h('button', { type: 'button', class: 'link cause', onclick: showCause }, label)),
      );
    }
    for (const related of one.related) {
      const label = related.line ? `${related.file}, line ${related.line}` : related.file;
      const go = () => app.goTo(related.file, related.offset ?? 0, related.endOffset ?? 0, true);
      more.append(
        h(
          'p',
          { class: 'related' },
          h('button', { type: 'button', class: 'link', onclick: go }, label),
          ': ',
          ...message(related.message),
        ),
      );
    }
    if (seen && seen.objects.length > 1) {
      const rest = seen.objectsInAll - seen.objects.length;
      more.append(
        h('p', {}, `Affected: ${seen.objects.join(', ')}${rest > 0 ? ` and ${rest.toLocaleString('en')} more` : ''}.`),
      );
    }
    const whole = this.#open.has(key);
    const lines = whole ? one.evidence : one.evidence.slice(0, FEW);
    const rows = lines.map((line) => this.#evidence(line));
    const { fix } = one;
    const change = h('div', {});
    const show = () =>
      change.replaceChildren(
        ...(fix && change.childElementCount === 0 ? [preview(app, one, fix, () => change.replaceChildren())] : []),
      );
    const rest = one.evidence.length - lines.length;
    const all = () => {
      this.#open.add(key);
      this.#draw();
    };
    return h(
      'li',
      { class: 'finding diagnosis' },
      jump,
      more,
      rows.length > 0 && h('ol', { class: 'evidence', 'aria-label': 'Evidence' }, ...rows),
      h(
        'div',
        { class: 'actions' },
        fix &&
          h(
            'button',
            { type: 'button', class: 'small fix', onclick: show },
            h('span', {}, 'Fix: ', ...message(fix.title)),
          ),
        rest > 0 && h('button', { type: 'button', class: 'small', onclick: all }, `Show ${count(rest, 'more line')}`),
        h(
          'button',
          { type: 'button', class: 'small quiet why', onclick: () => this.explain(one.rule) },
          'Why',
          h('span', { class: 'hidden' }, ` ${one.rule}`),
        ),
      ),
      change,
    );
  }

  #evidence(line: Evidence): HTMLElement {
    if (line.line === null) return h('li', {}, h('span', { class: 'line' }, line.file), h('code', {}, line.text));
    return h('li', {}, this.#lineLink(line), h('code', {}, line.text));
  }

  /** A button that shows a line. */
  #lineLink(line: Evidence): HTMLElement {
    const label = `${line.file}, line ${line.line?.toLocaleString('en') ?? '?'}`;
    const go: HTMLButtonElement = h(
      'button',
      { type: 'button', class: 'link', onclick: () => this.#show(line, go) },
      label,
    );
    return go;
  }

  /** Shows a line in the editor. For a large file, shows the lines around it below the button. */
  #show({ file, line }: Evidence, button: HTMLElement): void {
    const { app } = this;
    if (line === null) return;
    const large = app.large.find((one) => one.name === file);
    if (!large) {
      app.goToLine(file, line);
      return;
    }
    const item = button.closest('li');
    const before = item?.querySelector(':scope > .excerpt');
    if (before) {
      before.remove();
      return;
    }
    const excerpt = h(
      'pre',
      { class: 'excerpt', tabindex: 0, 'aria-label': `Lines around line ${line} of ${file}` },
      'Loading',
    );
    item?.append(excerpt);
    app.reader.call('excerpt', [large.file, line, AROUND], LONG_LIMIT).then(
      ({ first, lines }) =>
        excerpt.replaceChildren(
          ...lines.map((text, index) =>
            h(
              'span',
              { class: first + index === line ? 'row here' : 'row' },
              h('span', { class: 'line' }, `${first + index === line ? '▸ ' : ''}${first + index}`),
              ` ${text}\n`,
            ),
          ),
        ),
      (error: Error) => excerpt.replaceChildren(`The file could not be read: ${error.message}`),
    );
  }

  /** Findings in the manifests among the input. */
  #others(others: Diagnosis[]): HTMLElement {
    const jump = (one: Diagnosis) => this.app.goTo(one.file, one.offset ?? 0, one.endOffset ?? 0, true);
    return h(
      'div',
      { class: 'part' },
      h('h3', {}, `In the manifests: ${count(others.length, 'finding')}`),
      h(
        'ul',
        { class: 'changes' },
        ...others
          .slice(0, 20)
          .map((one) =>
            h(
              'li',
              {},
              h(
                'div',
                { class: 'change' },
                icon(one.severity),
                h(
                  'div',
                  {},
                  h('button', { type: 'button', class: 'link mono', onclick: () => jump(one) }, one.rule),
                  ` ${one.severity} · ${one.kind}/${one.name}, line ${one.line ?? '?'}`,
                  h('div', {}, ...message(one.message)),
                ),
              ),
            ),
          ),
      ),
      others.length > 20 && h('p', { class: 'digest' }, `The Findings tab shows all ${others.length}.`),
    );
  }

  /** Errors in a log that Karpwarden does not know, each with its first line. */
  #notRecognised(log: LogSummary): HTMLElement {
    const shown = log.notRecognised.slice(0, 10);
    const rest = log.notRecognised.slice(10).reduce((sum, { count }) => sum + count, log.notRecognisedMore);
    const rows = shown.map((one) => {
      const seen = [times(one), period(one)].filter(Boolean).join(' · ');
      const row = this.#evidence({ file: one.file, line: one.line, text: one.message });
      row.append(h('span', { class: 'line' }, seen));
      return row;
    });
    return h(
      'div',
      { class: 'part' },
      h('h3', {}, `Errors that are not recognised${log.cluster ? ` in ${log.cluster}` : ''}`),
      h('ol', { class: 'evidence', 'aria-label': 'Errors that are not recognised' }, ...rows),
      rest > 0 && h('p', { class: 'digest' }, `${count(rest, 'more error')} of other kinds.`),
    );
  }
}
