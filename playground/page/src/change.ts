// The Change tab: what an edit does to the nodes. Loaded when the tab opens.

import style from '../change.css';
import type { DatedFile } from './app.ts';
import { assumedList } from './assumed.ts';
import { BEFORE, BeforeEditor } from './change-before.ts';
import { EFFECTS, isStronger } from './change-effects.ts';
import { changeList, controllerList, poolList } from './change-fields.ts';
import { consequences, nodeGroups, rolloutList } from './change-rollout.ts';
import { h, icon } from './dom.ts';
import type { LineEffect } from './editor.ts';
import { fieldTip } from './field-tip.ts';
import { message } from './message.ts';
import { placementWorker } from './placement-client.ts';
import { redraw } from './redraw.ts';
import { isLog } from './state.ts';
import { utcTime } from './times.ts';
import type { Effect, PlanAnswer } from './types.ts';
import type { ViewHost } from './view-host.ts';
import './week-style.ts';
import { WorkerStopped } from './worker-client.ts';

/** Time limit in milliseconds. */
const LIMIT = 30_000;
const MINUTE = 60_000;

const sheet = new CSSStyleSheet();
sheet.replaceSync(style);
document.adoptedStyleSheets.push(sheet);

type FileEffect = LineEffect & { file: string };

export class ChangeView {
  #view: HTMLElement | undefined;
  #verdict = h('p', { class: 'verdict change-verdict', id: 'change-verdict' });
  #answer = h('div', { id: 'change' });
  #tools = h('div', { class: 'tools' });
  #time = h('input', { type: 'datetime-local', id: 'change-at', required: true });
  #before: BeforeEditor;
  /** The time of the change that the visitor chose, in milliseconds; by default the current minute. */
  #chosen: number | undefined;
  /** Input of the last answer. */
  #input = '';
  #running = false;
  #result: PlanAnswer | undefined;
  #problem = '';
  #ms = 0;

  constructor(private readonly app: ViewHost) {
    this.#before = new BeforeEditor(
      () => app.opened,
      () => void this.#plan(),
      () => this.#swap(),
      (...place) => fieldTip(app, ...place),
    );
    const now = h('button', { type: 'button', class: 'small', id: 'change-now' }, 'Now');
    this.#tools.append(h('label', {}, 'Applied', this.#time, 'UTC'), now);
    this.#time.addEventListener('change', () => this.#choose(Date.parse(`${this.#time.value}Z`)));
    now.addEventListener('click', () => this.#choose(Number.NaN));
    app.taking = (files, target) => this.#take(files, target);
  }

  async render(view: HTMLElement): Promise<void> {
    this.#view = view;
    if (!this.#answer.isConnected) {
      view.replaceChildren(this.#verdict, this.#before.section, this.#tools, this.#answer);
      // Opening the tab tries again after an error. An answer may have come while another tab was open.
      if (this.#problem) this.#input = '';
      else this.#draw();
      await this.#before.show();
    }
    // The files may have been opened again, or renamed.
    this.#before.draw();
    await this.#plan();
  }

  #choose(time: number): void {
    this.#chosen = Number.isNaN(time) ? undefined : time;
    void this.#plan();
  }

  /** Takes dropped files: on the editor of the text before, or the older one of two files. */
  #take(files: DatedFile[], target: EventTarget | null): boolean {
    const { app } = this;
    if (app.state.tab !== 'change') return false;
    if (this.#before.holds(target)) {
      this.#before.set(files);
      return true;
    }
    const [one, other, ...more] = files;
    if (!one || !other || more.length > 0 || isLog(one.name) || isLog(other.name)) return false;
    const [old, latest] = one.modified <= other.modified ? [one, other] : [other, one];
    this.#before.set([old]);
    app.replaceFiles([{ name: latest.name, text: latest.text }]);
    return true;
  }

  #swap(): void {
    const after = this.app.manifests;
    const before = this.#before.files.map(({ name, text }) => ({ name, text }));
    this.#before.set(after);
    this.app.replaceFiles(before);
  }

  /** Plans the current change, and again if the input changes meanwhile. */
  async #plan(): Promise<void> {
    if (this.#running) return;
    const { app } = this;
    const read = () => [this.#before.files, app.manifests, app.state.settings.karpenterVersion, this.#chosen] as const;
    const [before, files, release] = read();
    const now = JSON.stringify(read());
    const at = this.#chosen ?? Math.floor(Date.now() / MINUTE) * MINUTE;
    const key = `${at} ${now}`;
    if (key === this.#input) return;
    this.#input = key;
    this.#running = true;
    const late = setTimeout(
      () => !this.#result && this.#answer.replaceChildren(h('p', { class: 'calm' }, 'Loading the instance types')),
      200,
    );
    try {
      const old = before.map(({ name, text }) => ({ name: `${BEFORE}${name}`, text }));
      const { answer, ms } = await placementWorker.call(
        'plan',
        [old, files, release, new Date(at).toISOString()],
        LIMIT,
      );
      this.#result = answer;
      this.#ms = ms;
      this.#problem = '';
    } catch (error) {
      this.#result = undefined;
      const isLate = error instanceof WorkerStopped && error.why === 'time';
      this.#problem = isLate
        ? `This took longer than ${LIMIT / 1000} s and was cancelled. Plan fewer nodes.`
        : (error as Error).message;
    } finally {
      clearTimeout(late);
      this.#running = false;
    }
    if (app.state.tab !== 'change') return;
    this.#draw();
    if (JSON.stringify(read()) !== now) await this.#plan();
  }

  #draw(): void {
    if (!this.#view || !(this.#result || this.#problem)) return;
    const result = this.#result;
    const effect: Effect = result?.effect ?? 'unknown';
    const verdict = result ? sentence(result.verdict) : `Not planned: ${this.#problem}`;
    this.#verdict.replaceChildren(icon(EFFECTS[effect].severity), h('span', {}, ...message(verdict)));
    if (result) this.app.announce(verdict, 1000);
    if (result && document.activeElement !== this.#time)
      this.#time.value = new Date(Date.parse(result.at)).toISOString().slice(0, 16);
    const effects = result ? marks(result) : [];
    this.app.setEffects(effects.filter(({ file }) => !file.startsWith(BEFORE)));
    this.#before.mark(
      effects
        .filter(({ file }) => file.startsWith(BEFORE))
        .map((one) => ({ ...one, file: one.file.slice(BEFORE.length) })),
    );
    redraw(this.#view, this.#answer, result ? this.#parts(result) : []);
  }

  #parts(result: PlanAnswer): Node[] {
    const isBefore = (file: string) => file.startsWith(BEFORE);
    const name = (file: string) => (isBefore(file) ? file.slice(BEFORE.length) : file);
    const label = (file: string, line: number) => `${isBefore(file) ? 'before, ' : ''}${name(file)}, line ${line}`;
    const go = (file: string, line: number) =>
      isBefore(file) ? this.#before.goToLine(name(file), line) : this.app.goToLine(file, line);
    const isEmpty = result.changes.length === 0 && result.controller.length === 0;
    const empty =
      isEmpty &&
      h(
        'p',
        { class: 'part digest' },
        'Edit the manifest, or put another text before the change, to see what Karpenter does with the nodes.',
      );
    const assumed =
      result.assumptions.length > 0 &&
      h('div', { class: 'part' }, h('h3', {}, 'Assumed'), assumedList(result.assumptions));
    const keys =
      result.rollouts.length > 0 &&
      h(
        'p',
        { class: 'part digest' },
        'The higher a bar, the more nodes are replaced at the same time; a thin line means no node. A forecast holds for a cluster in which nothing else changes. ',
        h('span', { id: 'week-keys' }, 'Arrow keys move along a week.'),
      );
    const { karpenterVersionBefore: old, karpenterVersion: release } = result;
    const time = `Planned for Karpenter ${old === release ? release : `${old} to ${release}`}, applied at ${utcTime(Date.parse(result.at))} UTC, in ${Math.max(1, Math.round(this.#ms))} ms.`;
    const parts = [
      empty,
      ...changeList(result, label, go),
      controllerList(result),
      ...rolloutList(result),
      keys,
      ...nodeGroups(result),
      consequences(result),
      poolList(result),
      assumed,
      h('p', { class: 'part digest', id: 'change-time', 'data-ms': this.#ms.toFixed(1) }, time),
    ];
    return parts.filter((part): part is HTMLElement => !!part);
  }
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** The strongest effect of each changed line, in the texts before and after. */
function marks({ changes }: PlanAnswer): FileEffect[] {
  const strongest = new Map<string, { file: string; line: number; effect: Effect }>();
  const add = (file: string, line: number, effect: Effect) => {
    const key = `${file}\n${line}`;
    const known = strongest.get(key);
    if (!known || isStronger(effect, known.effect)) strongest.set(key, { file, line, effect });
  };
  for (const { fields, file, line, effect } of changes) {
    for (const field of fields) {
      add(field.file, field.line, field.effect);
      if (field.oldFile) add(field.oldFile, field.oldLine, field.effect);
    }
    if (fields.length === 0) add(file, line, effect);
  }
  return [...strongest.values()].map(({ file, line, effect }) => ({ file, line, ...EFFECTS[effect] }));
}
