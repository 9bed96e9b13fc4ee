// Text area that takes input until the full editor has loaded.

import { h } from './dom.ts';
import { withoutMark } from './state.ts';

/** Operations that both editors support. */
export interface TextEditor {
  open(name: string, text: string): void;
  focus(): void;
  /** Selects a range and scrolls to it; moves the focus only if `focus` is set. */
  select(from: number, to: number, focus: boolean): void;
  /** Applies edits as one step. */
  apply(edits: readonly { offset: number; endOffset: number; text: string }[]): void;
  /** Replaces the whole text with a text from elsewhere. No part of it is selected afterwards. */
  arrive(text: string): void;
  /** Replaces the text as one step. */
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
    this.area.addEventListener('input', () => this.#changed(withoutMark(this.area.value)));
  }

  #changed(text: string): void {
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

  arrive(text: string): void {
    this.replace(text);
    this.area.setSelectionRange(text.length, text.length);
    this.area.scrollTo(0, 0);
  }

  replace(text: string): void {
    this.area.value = text;
    this.#changed(text);
  }
}
