// State that all parts of the page share: files, settings, workers, the last report, and listeners for changes.

import type { AdmissionMethods } from './admission-worker.ts';
import type { Editor, EditorListener, LineEffect } from './editor.ts';
import { byId, count, h } from './dom.ts';
import { PlainEditor, type TextEditor } from './plain-editor.ts';
import type { ViewHost } from './view-host.ts';
import { WorkerClient, WorkerStopped } from './worker-client.ts';
import { type State, type Tab, isLog, save, uniqueName, withoutMark } from './state.ts';
import type {
  About,
  Diagnosed,
  EngineMethods,
  Finding,
  Fix,
  Report,
  Settings,
  SourceFile,
  SymptomFile,
  SymptomMethods,
} from './types.ts';

declare const FIRST_EXAMPLE: SourceFile;
declare const ENGINE_WORKER: string;
declare const SYMPTOMS_WORKER: string;
declare const ADMISSION_WORKER: string;

/** Time limits of a check in milliseconds: by default, and after "Allow a minute". */
export const LIMIT = 10_000;
export const LONG_LIMIT = 60_000;

/** The example that a first visit opens with. */
export const FIRST: Readonly<SourceFile> = FIRST_EXAMPLE;

/** File with the time of its last change, in milliseconds. */
export interface DatedFile extends SourceFile {
  modified: number;
}

export interface LargeFile {
  name: string;
  file: File;
}

/** Kinds of change that listeners subscribe to. */
type Topic = 'files' | 'report' | 'settings' | 'tab' | 'selection' | 'diagnosis';

const copies = (files: readonly SourceFile[]): SourceFile[] => files.map(({ name, text }) => ({ name, text }));

export class App implements ViewHost {
  readonly engine = new WorkerClient<EngineMethods>(ENGINE_WORKER);
  readonly reader = new WorkerClient<SymptomMethods>(SYMPTOMS_WORKER);
  readonly admission = new WorkerClient<AdmissionMethods>(ADMISSION_WORKER);
  editor: TextEditor;
  about: About | undefined;
  report: Report | undefined;
  /** The report, byte for byte as the engine wrote it. */
  reportJson = '';
  /** Files too large for the editor. They are read in chunks, for symptoms only. */
  large: LargeFile[] = [];
  diagnosis: Diagnosed | undefined;
  /** The files with the texts that they had when they were opened. */
  opened: SourceFile[];
  /** Takes dropped or chosen files instead of `addFiles`; returns false if it does not. */
  taking: ((files: DatedFile[], target: EventTarget | null) => boolean) | undefined;
  selected: Finding | undefined;
  /** Whether to store the state on this device. False in an embedded page, and for a shared link until its first edit. */
  keeping = true;

  /** The full editor, once it has loaded. */
  #rich: Editor | undefined;
  #effects: readonly (LineEffect & { file: string })[] = [];
  #listeners: [Topic, () => void][] = [];
  #checking = false;
  #again = false;
  #took = 0;
  #timer: number | undefined;
  #saver = 0;
  #speaker = 0;
  #limit = LIMIT;

  constructor(
    readonly state: State,
    readonly embedded: boolean,
    private readonly edits: Pick<EditorListener, 'fix' | 'explain' | 'field' | 'typesLeft' | 'week'>,
  ) {
    this.editor = new PlainEditor(byId('editor'), (text) => this.#edited(text));
    this.opened = copies(state.files);
  }

  /** Replaces the text area with the full editor and keeps text, selection and focus. */
  async upgrade(): Promise<void> {
    const { Editor } = await import('./editor.ts');
    const plain = this.editor;
    if (!(plain instanceof PlainEditor)) return;
    const { selectionStart, selectionEnd } = plain.area;
    const focused = document.activeElement === plain.area;
    this.#rich = new Editor(byId('editor'), {
      edited: (text) => this.#edited(text),
      moved: () => this.#followCursor(),
      ...this.edits,
    });
    plain.area.remove();
    this.editor = this.#rich;
    this.#rich.open(this.file.name, this.file.text);
    if (focused) this.#rich.select(selectionStart, selectionEnd, true);
    if (this.report) this.#rich.show(this.report, this.file.name);
    this.#markEvidence();
    this.#markEffects();
  }

  /** Returns the findings at the cursor. */
  atCursor(): Finding[] {
    return this.#rich?.atCursor() ?? [];
  }

  on(topic: Topic, listener: () => void): void {
    this.#listeners.push([topic, listener]);
  }

  emit(topic: Topic): void {
    for (const [wanted, listener] of this.#listeners) if (wanted === topic) listener();
  }

  /** Announces a text to screen readers. A later text within `delay` milliseconds replaces it. */
  announce(text: string, delay = 200): void {
    clearTimeout(this.#speaker);
    this.#speaker = window.setTimeout(() => (byId('live').textContent = text), delay);
  }

  /** Shows a notice above the panes until it is dismissed. It replaces an earlier notice of the same kind. */
  notice(kind: string, text: string, actions: [label: string, run: () => void][] = [], bad = false): void {
    document.querySelector(`.notice[data-kind="${kind}"]`)?.remove();
    const close = () => line.remove();
    const buttons = actions.map(([label, run]) =>
      h('button', { type: 'button', class: 'small', onclick: () => (close(), run()) }, label),
    );
    const line = h(
      'div',
      { class: bad ? 'notice bad' : 'notice', role: bad ? 'alert' : 'status', 'data-kind': kind },
      h('span', {}, text),
      ...buttons,
      h('button', { type: 'button', class: 'small', onclick: close }, 'Dismiss'),
    );
    byId('notices').append(line);
  }

  /** Whether a notice of this kind is shown. */
  isNoticed(kind: string): boolean {
    return document.querySelector(`.notice[data-kind="${kind}"]`) !== null;
  }

  dismiss(kind: string): void {
    document.querySelector(`.notice[data-kind="${kind}"]`)?.remove();
  }

  get file(): SourceFile {
    return this.state.files[this.state.active] ?? { name: 'manifest.yaml', text: '' };
  }

  /** Files that may contain manifests. */
  get manifests(): SourceFile[] {
    return this.state.files.filter(({ name }) => !isLog(name)).map(({ name, text }) => ({ name, text }));
  }

  // Files

  open(index: number): void {
    this.state.active = Math.max(0, Math.min(index, this.state.files.length - 1));
    this.editor.open(this.file.name, this.file.text);
    if (this.report) this.#rich?.show(this.report, this.file.name);
    this.#markEvidence();
    this.#markEffects();
    this.emit('files');
    this.keep();
  }

  /** Replaces all files. */
  replaceFiles(files: SourceFile[], active = 0): void {
    this.state.files = files.length > 0 ? files : [{ name: 'manifest.yaml', text: '' }];
    this.opened = copies(this.state.files);
    this.#rich?.keep([]);
    this.#deselect();
    this.open(active);
    this.check();
  }

  /** Adds files; a file replaces another of the same name. A single empty file or the unedited example is dropped. */
  addFiles(files: SourceFile[]): void {
    const { state } = this;
    if ((state.files.length === 1 && !this.file.text.trim()) || this.isUntouched()) state.files = [];
    for (const file of files) {
      const known = state.files.findIndex((other) => other.name === file.name);
      if (known >= 0) state.files[known] = file;
      else state.files.push(file);
    }
    const kept = this.opened.filter(({ name }) => state.files.some((file) => file.name === name));
    this.opened = [...kept.filter(({ name }) => files.every((file) => file.name !== name)), ...copies(files)];
    const last = files.at(0);
    // A new text starts without the selection and the history of a former file of that name.
    this.#rich?.keep(state.files.filter((file) => !files.includes(file)).map((file) => file.name));
    this.#deselect();
    this.open(state.files.findIndex((file) => file.name === last?.name));
    this.check();
  }

  /** Whether the only file is the unedited first example. */
  isUntouched(): boolean {
    const [only, ...more] = this.state.files;
    return more.length === 0 && only?.name === FIRST.name && only.text === FIRST.text;
  }

  /** Replaces the text and name of the active file with a pasted text. */
  replaceExample(text: string, name = 'manifest.yaml'): void {
    this.renameFile(this.state.active, name);
    this.opened = [{ name: this.file.name, text: withoutMark(text) }];
    this.editor.focus();
    this.editor.arrive(withoutMark(text));
  }

  /** Moves a log out of a manifest into a separate file, and diagnoses it. */
  moveToLog(name: string, from: number, to: number): void {
    const { files } = this.state;
    const index = files.findIndex((file) => file.name === name);
    const text = files[index]?.text ?? '';
    const rest = text.slice(0, from) + text.slice(to);
    const log = { name: uniqueName(files, 'controller.log'), text: text.slice(from, to) };
    if (rest.trim()) {
      this.open(index);
      this.editor.apply([{ offset: from, endOffset: to, text: '' }]);
      files.push(log);
    } else files[index] = log;
    this.#rich?.keep(files.filter((file) => file !== log).map((file) => file.name));
    this.open(files.indexOf(log));
    this.show('symptoms');
    this.check();
  }

  newFile(wanted = 'manifest.yaml'): void {
    const name = uniqueName(this.state.files, wanted);
    this.state.files.push({ name, text: '' });
    this.open(this.state.files.length - 1);
    this.editor.focus();
    this.check();
  }

  closeFile(index: number): void {
    const { state } = this;
    const closed = state.files.splice(index, 1);
    this.opened = this.opened.filter(({ name }) => closed.every((file) => file.name !== name));
    if (state.files.length === 0) state.files.push({ name: 'manifest.yaml', text: '' });
    this.#rich?.keep(state.files.map((file) => file.name));
    this.#deselect();
    this.open(index <= state.active ? state.active - 1 : state.active);
    this.check();
  }

  renameFile(index: number, wanted: string): void {
    const file = this.state.files[index];
    if (!file || !wanted.trim() || wanted === file.name) return;
    const others = this.state.files.filter((other) => other !== file);
    const before = file.name;
    file.name = uniqueName(others, wanted);
    for (const one of this.opened) if (one.name === before) one.name = file.name;
    this.#rich?.renamed(before, file.name);
    this.emit('files');
    this.keep();
    this.check();
  }

  #deselect(): void {
    this.selected = undefined;
  }

  #edited(text: string): void {
    this.file.text = text;
    this.keeping = !this.embedded;
    this.keep();
    this.check();
  }

  /** Stores the state on this device after a short delay. */
  keep(): void {
    if (!this.keeping) return;
    clearTimeout(this.#saver);
    this.#saver = window.setTimeout(() => this.keepNow(), 400);
  }

  keepNow(): void {
    clearTimeout(this.#saver);
    if (this.keeping && !save(this.state)) {
      this.notice(
        'storage',
        'The browser did not store this text because it is too large or storage is disabled. Closing the page loses it.',
      );
    }
  }

  // Settings

  change(settings: Settings): void {
    this.state.settings = settings;
    this.keeping = !this.embedded;
    this.emit('settings');
    this.keep();
    this.check();
  }

  // Tabs

  show(tab: Tab): void {
    this.state.tab = tab;
    this.#markEvidence();
    this.#markEffects();
    this.emit('tab');
    this.keep();
  }

  // Symptoms

  symptomFiles(): SymptomFile[] {
    return [...this.state.files.map(({ name, text }) => ({ name, text })), ...this.large];
  }

  /** Adds files that are too large for the editor; a file replaces another of the same name. */
  addLarge(files: LargeFile[]): void {
    this.large = [...this.large.filter((one) => !files.some((other) => other.name === one.name)), ...files];
    if (files.length === 0) return;
    if (this.isUntouched()) this.replaceFiles([]);
    this.show('symptoms');
  }

  removeLarge(file: LargeFile): void {
    this.large = this.large.filter((other) => other !== file);
    this.emit('report');
  }

  /** Stores the result of a diagnosis; undefined if it failed. */
  setDiagnosis(report: Diagnosed | undefined, ms: number): void {
    this.diagnosis = report;
    this.#markEvidence();
    this.emit('diagnosis');
    if (!report) return;
    const found = report.findings.filter((one) => one.evidence.length > 0).length;
    const time = ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
    byId('timing').textContent = `read ${count(
      report.logs.reduce((sum, log) => sum + log.lines, 0),
      'line',
    )} in ${time}`;
    this.announce(found > 0 ? count(found, 'diagnosis', 'diagnoses') : 'No symptom found');
  }

  /** Marks the lines of evidence while the Symptoms tab is open. */
  #markEvidence(): void {
    const shown = this.state.tab === 'symptoms' ? (this.diagnosis?.findings ?? []) : [];
    const lines = shown.flatMap(({ evidence }) => evidence).filter(({ file }) => file === this.file.name);
    this.#rich?.evidence(lines.flatMap(({ line }) => line ?? []));
  }

  /** Replaces the marks of changed lines. */
  setEffects(effects: readonly (LineEffect & { file: string })[]): void {
    this.#effects = effects;
    this.#markEffects();
  }

  #markEffects(): void {
    const shown = this.state.tab === 'change' ? this.#effects : [];
    this.#rich?.effects(shown.filter(({ file }) => file === this.file.name));
  }

  /** Selects a whole line of a file. */
  goToLine(file: string, line: number): void {
    const text = this.state.files.find((one) => one.name === file)?.text ?? '';
    let from = 0;
    for (let number = 1; number < line; number++) from = text.indexOf('\n', from) + 1 || text.length;
    const end = text.indexOf('\n', from);
    this.goTo(file, from, end < 0 ? text.length : end, true);
  }

  // Checking

  /** Schedules a check. The delay grows with the duration of the last check, so a small manifest is checked at once. */
  check(): void {
    clearTimeout(this.#timer);
    const delay = this.#took < 60 ? 5 : Math.min(500, this.#took);
    byId('view').ariaBusy = 'true';
    this.#timer = window.setTimeout(() => {
      this.#timer = undefined;
      void this.#check();
    }, delay);
  }

  /** Checks again and raises the time limit until the page is closed. */
  checkWithLongLimit(): void {
    this.#limit = LONG_LIMIT;
    this.check();
  }

  async #check(): Promise<void> {
    if (this.#checking) {
      this.#again = true;
      return;
    }
    this.#checking = true;
    const files = this.manifests;
    const bar = window.setTimeout(() => (byId('busy').hidden = false), 200);
    try {
      const { json, ms } = await this.engine.call('check', [files, this.state.settings, null], this.#limit);
      this.#took = ms;
      this.reportJson = json;
      this.report = JSON.parse(json) as Report;
      this.#keepSelection();
      byId('timing').textContent = this.#summary(ms);
      this.dismiss('check');
      const same = files.every((file) => file.name !== this.file.name || file.text === this.file.text);
      if (same) this.#rich?.show(this.report, this.file.name);
      this.emit('report');
    } catch (error) {
      this.#failed(error as Error);
    } finally {
      clearTimeout(bar);
      byId('busy').hidden = true;
      this.#checking = false;
      if (this.#again) {
        this.#again = false;
        this.check();
      }
      if (this.#timer === undefined) byId('view').ariaBusy = 'false';
    }
  }

  #summary(ms: number): string {
    const { documents } = this.report?.summary ?? { documents: 0 };
    const time = ms < 10 ? ms.toFixed(1) : Math.round(ms).toLocaleString('en');
    return `checked ${documents} ${documents === 1 ? 'document' : 'documents'} in ${time} ms`;
  }

  #failed(error: Error): void {
    byId('timing').textContent = 'not checked';
    const again = (): [string, () => void] => ['Check again', () => this.check()];
    if (error instanceof WorkerStopped && error.why === 'cancelled') {
      this.notice('check', 'The check was cancelled. The next change starts a new one.', [again()]);
    } else if (error instanceof WorkerStopped && error.why === 'time') {
      const seconds = Math.round(this.#limit / 1000);
      this.notice(
        'check',
        `The check took longer than ${seconds} s and was cancelled. Check fewer documents at a time, or allow a minute.`,
        [['Allow a minute', () => this.checkWithLongLimit()]],
        true,
      );
    } else if (error instanceof WorkerStopped) {
      this.notice(
        'check',
        `The engine stopped: ${error.message}. It has been restarted. Please report the manifest that caused this.`,
        [again()],
        true,
      );
    } else {
      this.notice('check', `The check failed: ${error.message}`, [], true);
    }
    this.emit('report');
  }

  cancel(): void {
    this.engine.stop(new WorkerStopped('cancelled', 'cancelled'));
  }

  // Findings

  #keepSelection(): void {
    const key = (finding: Finding) => `${finding.rule}\n${finding.file}\n${finding.document}\n${finding.path}`;
    const before = this.selected && key(this.selected);
    this.selected = this.report?.findings.find((finding) => key(finding) === before);
  }

  #followCursor(): void {
    const here = this.atCursor()[0];
    if (here && here !== this.selected) {
      this.selected = here;
      this.emit('selection');
    }
  }

  /** Selects a finding and shows its location in the editor. */
  jump(finding: Finding, focus: boolean): void {
    this.selected = finding;
    this.goTo(finding.file, finding.offset ?? 0, finding.endOffset ?? 0, focus);
    this.emit('selection');
  }

  goTo(file: string, from: number, to: number, focus: boolean): void {
    const index = this.state.files.findIndex((other) => other.name === file);
    if (index < 0) return;
    if (index !== this.state.active) this.open(index);
    this.editor.select(from, to, focus);
    if (focus) document.body.dataset.pane = 'editor';
  }

  /** Selects the next or previous finding, starting from the selected finding or the cursor. */
  step(by: 1 | -1): void {
    const findings = this.report?.findings ?? [];
    if (findings.length === 0) {
      this.announce('No findings');
      return;
    }
    const at = this.selected ? findings.indexOf(this.selected) : by > 0 ? -1 : 0;
    const next = findings[(at + by + findings.length) % findings.length];
    if (!next) return;
    this.jump(next, true);
    const number = findings.indexOf(next) + 1;
    this.announce(
      `${number} of ${findings.length}: ${next.severity}, ${next.rule}, line ${next.line}. ${next.message}. ${next.help}`,
    );
  }

  /** Applies the edits of fixes to their files. */
  apply(fixes: readonly Fix[]): void {
    const { active } = this.state;
    const edits = fixes.flatMap((fix) => fix.edits);
    for (const name of new Set(edits.map((edit) => edit.file))) {
      const index = this.state.files.findIndex((file) => file.name === name);
      if (index < 0) continue;
      if (index !== this.state.active) this.open(index);
      this.editor.apply(edits.filter((edit) => edit.file === name));
    }
    if (this.state.active !== active) this.open(active);
  }
}
