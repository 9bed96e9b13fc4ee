// The editor of the text before a change. It starts with the files as they were opened.

import { h } from './dom.ts';
import type { Editor, EditorListener, LineEffect } from './editor.ts';
import { isLog, withoutMark } from './state.ts';
import type { SourceFile } from './types.ts';

/** Start of the names of these files in an answer. */
export const BEFORE = 'before/';

export class BeforeEditor {
  readonly section: HTMLElement;
  /** Files that the visitor wrote, pasted or chose; undefined for the files as they were opened. */
  #own: SourceFile[] | undefined;
  #shown = 0;
  #editor: Editor | undefined;
  #effects: readonly (LineEffect & { file: string })[] = [];
  #host = h('div', { class: 'before-editor', role: 'group', 'aria-label': 'Text before the change' });
  #name = h('span', { class: 'before-name' });
  #which = h('select', { 'aria-label': 'File before the change', hidden: true });
  #reset = h('button', { type: 'button', class: 'small', id: 'before-opened' }, 'As opened');

  constructor(
    private readonly opened: () => SourceFile[],
    private readonly changed: () => void,
    swap: () => void,
    private readonly field: EditorListener['field'],
  ) {
    const picker = h('input', { type: 'file', id: 'before-picker', multiple: true, hidden: true });
    picker.accept = '.yaml,.yml,.json,.jsonl';
    const open = h('button', { type: 'button', class: 'small', id: 'before-open' }, 'Open files');
    const swapped = h('button', { type: 'button', class: 'small', id: 'before-swap' }, 'Swap');
    swapped.title = 'Exchange the text before and the text after the change';
    open.addEventListener('click', () => picker.click());
    swapped.addEventListener('click', swap);
    picker.addEventListener('change', async () => {
      const files = [...(picker.files ?? [])].map(async (file) => ({ name: file.name, text: await file.text() }));
      if (files.length > 0) this.set(await Promise.all(files));
      picker.value = '';
    });
    this.#reset.addEventListener('click', () => {
      this.#own = undefined;
      this.#changed();
    });
    this.#which.addEventListener('change', () => {
      this.#shown = this.#which.selectedIndex;
      this.draw();
      this.#editor?.focus();
    });
    const hint = h(
      'p',
      { class: 'digest' },
      'After is the text in the editor of the page. Paste another text before the change here, drop a file on it, or drop two files anywhere: the older one is before.',
    );
    this.section = h(
      'section',
      { class: 'part before', 'aria-label': 'Before the change' },
      h(
        'div',
        { class: 'head' },
        h('h3', {}, 'Before'),
        this.#name,
        this.#which,
        h('span', { class: 'grow' }),
        this.#reset,
        open,
        swapped,
        picker,
      ),
      this.#host,
      hint,
    );
  }

  /** The files before the change. */
  get files(): SourceFile[] {
    return (this.#own ?? this.opened()).filter(({ name }) => !isLog(name));
  }

  /** Takes files that the visitor chose. */
  set(files: SourceFile[]): void {
    this.#own = files.map(({ name, text }) => ({ name, text: withoutMark(text) }));
    this.#shown = 0;
    this.#changed();
  }

  /** Whether an element is in this editor. */
  holds(target: EventTarget | null): boolean {
    return (
      target instanceof Node && (this.section.contains(target) || this.#host.shadowRoot?.contains(target) === true)
    );
  }

  #changed(): void {
    this.draw();
    this.changed();
  }

  /** Loads the editor on the first call, and shows the current text. */
  async show(): Promise<void> {
    if (!this.#editor) {
      const { Editor } = await import('./editor.ts');
      this.#editor ??= new Editor(
        this.#host,
        {
          edited: (text) => this.#edited(text),
          moved: () => undefined,
          fix: () => undefined,
          explain: () => undefined,
          field: this.field,
          typesLeft: () => Promise.resolve(null),
          week: () => Promise.resolve(null),
        },
        'Text before the change',
      );
    }
    this.draw();
  }

  draw(): void {
    const { files } = this;
    this.#shown = Math.min(this.#shown, Math.max(files.length - 1, 0));
    const file = files[this.#shown] ?? { name: 'manifest.yaml', text: '' };
    this.#name.textContent = `${file.name}${this.#own ? '' : ', as opened'}`;
    this.#name.hidden = files.length > 1;
    this.#which.hidden = files.length < 2;
    this.#which.replaceChildren(...files.map(({ name }) => h('option', {}, name)));
    this.#which.selectedIndex = this.#shown;
    this.#reset.disabled = !this.#own;
    const editor = this.#editor;
    if (!editor) return;
    if (editor.view.state.doc.toString() !== file.text) editor.open(file.name, file.text);
    editor.effects(this.#effects.filter((effect) => effect.file === file.name));
  }

  /** Replaces the marks of changed lines. */
  mark(effects: readonly (LineEffect & { file: string })[]): void {
    this.#effects = effects;
    this.draw();
  }

  /** Selects a line. */
  goToLine(file: string, line: number): void {
    const at = this.files.findIndex(({ name }) => name === file);
    if (at >= 0) this.#shown = at;
    this.draw();
    this.#editor?.goToLine(line);
  }

  #edited(text: string): void {
    const files = this.files.map(({ name, text: old }) => ({ name, text: old }));
    const file = files[this.#shown];
    if (file) file.text = text;
    else files.push({ name: 'manifest.yaml', text });
    this.#own = files;
    this.#name.textContent = files[this.#shown]?.name ?? '';
    this.#reset.disabled = false;
    this.changed();
  }
}
