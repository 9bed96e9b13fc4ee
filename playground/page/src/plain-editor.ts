// What stands in the editor's place until that has come: a text area. It takes text and tells of it, and no more.

import { h } from './dom.ts';
import { withoutMark } from './state.ts';

/** What the page asks of an editor. */
export interface TextEditor {
  open(name: string, text: string): void;
  focus(): void;
  /** Selects a range and scrolls to it; the focus moves only where that is wanted. */
  select(from: number, to: number, focus: boolean): void;
  /** Makes edits as one step. */
  apply(edits: readonly { offset: number; endOffset: number; text: string }[]): void;
  /** Makes the text another one, as one step. */
  replace(text: string): void;
}

export class PlainEditor implements TextEditor {
  readonly area = h('textarea', {
    class: 'plain',
    'aria-label': 'Manifest',
    'aria-describedby': 'editor-hint',
    spellcheck: 'false',
    autocapitalize: 'off',
    autocomplete: 'off',
    wrap: 'off',
  });
  #text = '';

  constructor(
    host: HTMLElement,
    private readonly edited: (text: string) => void,
  ) {
    host.append(this.area);
    this.area.addEventListener('input', () => this.#tell(withoutMark(this.area.value)));
  }

  #tell(text: string): void {
    this.#text = text;
    this.edited(text);
  }

  open(_: string, text: string): void {
    this.#text = text;
    this.area.value = text;
  }

  focus(): void {
    this.area.focus();
  }

  select(from: number, to: number, focus: boolean): void {
    if (focus) this.area.focus();
    this.area.setSelectionRange(from, to);
  }

  apply(edits: readonly { offset: number; endOffset: number; text: string }[]): void {
    let text = this.#text;
    for (const edit of [...edits].sort((one, other) => other.offset - one.offset)) {
      text = text.slice(0, edit.offset) + edit.text + text.slice(edit.endOffset);
    }
    this.replace(text);
  }

  replace(text: string): void {
    this.area.value = text;
    this.#tell(text);
  }
}
