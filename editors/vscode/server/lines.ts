// Offsets and positions of a text. Both count UTF-16 code units.

import type { Position, Range } from 'vscode-languageserver-protocol';

export class Lines {
  readonly #starts = [0];

  constructor(private readonly text: string) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1);
  }

  position(offset: number): Position {
    const within = Math.max(0, Math.min(offset, this.text.length));
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= within) low = middle;
      else high = middle - 1;
    }
    return { line: low, character: within - (this.#starts[low] ?? 0) };
  }

  offset({ line, character }: Position): number {
    const start = this.#starts[line] ?? this.text.length;
    const end = this.#starts[line + 1] ?? this.text.length;
    return Math.min(start + character, end);
  }

  range(from: number, to: number): Range {
    return { start: this.position(from), end: this.position(to) };
  }

  /** The offset of a line and a column, both from 1; columns count code points. */
  at(line: number, column: number): number {
    const start = this.#starts[line - 1] ?? this.text.length;
    const before = Array.from(this.text.slice(start, this.#starts[line] ?? this.text.length)).slice(0, column - 1);
    return start + before.join('').length;
  }
}

const isBefore = (one: Position, other: Position) =>
  one.line < other.line || (one.line === other.line && one.character < other.character);

/** Whether two ranges overlap or touch. */
export function overlap(one: Range, other: Range): boolean {
  return !isBefore(one.end, other.start) && !isBefore(other.end, one.start);
}
