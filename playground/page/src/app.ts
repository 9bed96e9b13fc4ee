// What all parts of the page share: the state, the engine, the last report, and who is told of changes.

import type { AdmissionMethods } from './admission-worker.ts';
import type { Editor, Listener } from './editor.ts';
import { byId, count, h } from './dom.ts';
import { PlainEditor, type TextEditor } from './plain-editor.ts';
import { Remote, Stopped } from './remote.ts';
import { type State, type Tab, isLog, save, uniqueName, withoutMark } from './state.ts';
import type { About, Diagnosed, EngineMethods, Finding, Fix, Report, Rule, Settings, SourceFile, SymptomFile, SymptomMethods } from './types.ts';

declare const FIRST_EXAMPLE: SourceFile;
declare const ENGINE_WORKER: string;
declare const SYMPTOMS_WORKER: string;
declare const ADMISSION_WORKER: string;

/** How long a check may take, and how long it may take when somebody asks for more. */
export const LIMIT = 10_000;
export const PATIENT = 60_000;

/** What the page opens with. */
export const FIRST: Readonly<SourceFile> = FIRST_EXAMPLE;

export interface LargeFile {
  name: string;
  file: File;
}

type Topic = 'files' | 'report' | 'settings' | 'tab' | 'selection' | 'diagnosis';

export class App {
  readonly engine = new Remote<EngineMethods>(ENGINE_WORKER);
  readonly reader = new Remote<SymptomMethods>(SYMPTOMS_WORKER);
  readonly admission = new Remote<AdmissionMethods>(ADMISSION_WORKER);
  editor: TextEditor;
  about: About | undefined;
  rules: Rule[] = [];
  report: Report | undefined;
  /** The report as the engine wrote it. */
  reportJson = '';
  /** Files that are too large for the editor: read piece by piece, for symptoms only. */
  large: LargeFile[] = [];
  diagnosis: Diagnosed | undefined;
  selected: Finding | undefined;
  /** Whether what is shown may be kept on this device: not in an embedded page, not what a link brought until it is edited. */
  keeping = true;

  /** The editor itself, once it has come. */
  #rich: Editor | undefined;
  #listeners: [Topic, () => void][] = [];
  #checking = false;
  #again = false;
  #took = 0;
  #timer = 0;
  #saver = 0;
  #speaker = 0;
  #limit = LIMIT;

  constructor(
    readonly state: State,
    readonly embedded: boolean,
    private readonly edits: Pick<Listener, 'fix' | 'explain'>,
  ) {
    this.editor = new PlainEditor(byId('editor'), (text) => this.#edited(text));
  }

  /** Puts the editor in the place of the text area, with what was typed and selected there. */
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
    this.#mark();
  }

  /** The findings at the cursor. */
  atCursor(): Finding[] {
    return this.#rich?.atCursor() ?? [];
  }

  on(topic: Topic, listener: () => void): void {
    this.#listeners.push([topic, listener]);
  }

  tell(topic: Topic): void {
    for (const [wanted, listener] of this.#listeners) if (wanted === topic) listener();
  }

  /** Reads a text aloud where a screen reader listens; the last one within a second wins. */
  announce(text: string, delay = 200): void {
    clearTimeout(this.#speaker);
    this.#speaker = window.setTimeout(() => (byId('live').textContent = text), delay);
  }

  /** A line above the panes, until it is closed. A new one of the same kind takes the place of the old. */
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

  unnotice(kind: string): void {
    document.querySelector(`.notice[data-kind="${kind}"]`)?.remove();
  }

  get file(): SourceFile {
    return this.state.files[this.state.active] ?? { name: 'manifest.yaml', text: '' };
  }

  /** The files that may hold manifests. */
  get manifests(): SourceFile[] {
    return this.state.files.filter(({ name }) => !isLog(name)).map(({ name, text }) => ({ name, text }));
  }

  // Files

  open(index: number): void {
    this.state.active = Math.max(0, Math.min(index, this.state.files.length - 1));
    this.editor.open(this.file.name, this.file.text);
    if (this.report) this.#rich?.show(this.report, this.file.name);
    this.#mark();
    this.tell('files');
    this.keep();
  }

  /** Puts other files in the place of all. */
  replaceFiles(files: SourceFile[], active = 0): void {
    this.state.files = files.length > 0 ? files : [{ name: 'manifest.yaml', text: '' }];
    this.#rich?.keep([]);
    this.#forget();
    this.open(active);
    this.check();
  }

  /** Adds files; those of a known name take its place. An only file without text makes room, and so does the first example. */
  addFiles(files: SourceFile[]): void {
    const { state } = this;
    if ((state.files.length === 1 && !this.file.text.trim()) || this.isUntouched()) state.files = [];
    for (const file of files) {
      const known = state.files.findIndex((other) => other.name === file.name);
      if (known >= 0) state.files[known] = file;
      else state.files.push(file);
    }
    const last = files.at(0);
    this.#rich?.keep(state.files.map((file) => file.name));
    this.#forget();
    this.open(state.files.findIndex((file) => file.name === last?.name));
    this.check();
  }

  /** Whether all there is is the first example, untouched. */
  isUntouched(): boolean {
    const [only, ...more] = this.state.files;
    return more.length === 0 && only?.name === FIRST.name && only.text === FIRST.text;
  }

  /** Puts what was pasted in the place of the file that is shown. */
  replaceExample(text: string, name = 'manifest.yaml'): void {
    this.renameFile(this.state.active, name);
    this.editor.replace(withoutMark(text));
    this.editor.focus();
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
    state.files.splice(index, 1);
    if (state.files.length === 0) state.files.push({ name: 'manifest.yaml', text: '' });
    this.#rich?.keep(state.files.map((file) => file.name));
    this.#forget();
    this.open(index <= state.active ? state.active - 1 : state.active);
    this.check();
  }

  renameFile(index: number, wanted: string): void {
    const file = this.state.files[index];
    if (!file || !wanted.trim() || wanted === file.name) return;
    const others = this.state.files.filter((other) => other !== file);
    const before = file.name;
    file.name = uniqueName(others, wanted);
    this.#rich?.renamed(before, file.name);
    this.tell('files');
    this.keep();
    this.check();
  }

  #forget(): void {
    this.selected = undefined;
  }

  #edited(text: string): void {
    this.file.text = text;
    this.keeping = !this.embedded;
    this.keep();
    this.check();
  }

  /** Keeps the state on this device, soon. */
  keep(): void {
    if (!this.keeping) return;
    clearTimeout(this.#saver);
    this.#saver = window.setTimeout(() => this.keepNow(), 400);
  }

  keepNow(): void {
    clearTimeout(this.#saver);
    if (this.keeping && !save(this.state)) {
      this.notice('storage', 'The browser would not keep this text: it is too large or storage is off. It is lost when the page is closed.');
    }
  }

  // Settings

  change(settings: Settings): void {
    this.state.settings = settings;
    this.keeping = !this.embedded;
    this.tell('settings');
    this.keep();
    this.check();
  }

  // Tabs

  show(tab: Tab): void {
    this.state.tab = tab;
    this.#mark();
    this.tell('tab');
    this.keep();
  }

  // Symptoms

  symptomFiles(): SymptomFile[] {
    return [...this.state.files.map(({ name, text }) => ({ name, text })), ...this.large];
  }

  /** Takes files that are too large for the editor; those of a known name take its place. */
  takeLarge(files: LargeFile[]): void {
    this.large = [...this.large.filter((one) => !files.some((other) => other.name === one.name)), ...files];
    if (files.length === 0) return;
    if (this.isUntouched()) this.replaceFiles([]);
    this.show('symptoms');
  }

  leaveOut(one: LargeFile): void {
    this.large = this.large.filter((other) => other !== one);
    this.tell('report');
  }

  /** What was diagnosed, or that nothing was. */
  diagnosed(report: Diagnosed | undefined, ms: number): void {
    this.diagnosis = report;
    this.#mark();
    this.tell('diagnosis');
    if (!report) return;
    const found = report.findings.filter((one) => one.evidence.length > 0).length;
    const time = ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
    byId('timing').textContent = `read ${count(report.logs.reduce((sum, log) => sum + log.lines, 0), 'line')} in ${time}`;
    this.announce(found > 0 ? count(found, 'diagnosis', 'diagnoses') : 'No symptom');
  }

  /** Marks the lines that a diagnosis rests on, while the diagnoses are shown. */
  #mark(): void {
    const shown = this.state.tab === 'symptoms' ? (this.diagnosis?.findings ?? []) : [];
    const lines = shown.flatMap(({ evidence }) => evidence).filter(({ file }) => file === this.file.name);
    this.#rich?.evidence(lines.flatMap(({ line }) => line ?? []));
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

  /** Checks soon. The pause grows with what the last check took, so that a small manifest is answered at once. */
  check(): void {
    clearTimeout(this.#timer);
    const pause = this.#took < 60 ? 5 : Math.min(500, this.#took);
    this.#timer = window.setTimeout(() => void this.#check(), pause);
  }

  /** Checks again with a longer limit, until the page is left. */
  checkPatiently(): void {
    this.#limit = PATIENT;
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
      this.unnotice('check');
      const same = files.every((file) => file.name !== this.file.name || file.text === this.file.text);
      if (same) this.#rich?.show(this.report, this.file.name);
      this.tell('report');
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
    if (error instanceof Stopped && error.why === 'cancelled') {
      this.notice('check', 'The check was cancelled. The next change starts a new one.', [again()]);
    } else if (error instanceof Stopped && error.why === 'time') {
      const seconds = Math.round(this.#limit / 1000);
      this.notice(
        'check',
        `The check took longer than ${seconds} s and was ended; the page works on. Check fewer documents at once, or let it take a minute.`,
        [['Allow a minute', () => this.checkPatiently()]],
        true,
      );
    } else if (error instanceof Stopped) {
      this.notice(
        'check',
        `The engine stopped: ${error.message}. It was started again. Please report the manifest that did it.`,
        [again()],
        true,
      );
    } else {
      this.notice('check', `Nothing was checked. ${error.message}`, [], true);
    }
    this.tell('report');
  }

  cancel(): void {
    this.engine.stop(new Stopped('cancelled', 'cancelled'));
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
      this.tell('selection');
    }
  }

  /** Selects a finding: shows its file and its place. */
  jump(finding: Finding, focus: boolean): void {
    this.selected = finding;
    this.goTo(finding.file, finding.offset ?? 0, finding.endOffset ?? 0, focus);
    this.tell('selection');
  }

  goTo(file: string, from: number, to: number, focus: boolean): void {
    const index = this.state.files.findIndex((other) => other.name === file);
    if (index < 0) return;
    if (index !== this.state.active) this.open(index);
    this.editor.select(from, to, focus);
    if (focus) document.body.dataset.pane = 'editor';
  }

  /** The next or the previous finding, from the selected one or from the cursor on. */
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
    this.announce(`${number} of ${findings.length}: ${next.severity}, ${next.rule}, line ${next.line}. ${next.message}. ${next.help}`);
  }

  /** Makes the edits of a fix in the files they are for. */
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
