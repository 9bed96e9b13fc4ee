// Windows line ends in the editor: the "\r" is hidden, and the cursor crosses "\r\n" in one step.

import { EditorSelection, EditorState, RangeSetBuilder } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';

// Lines end at "\n" only, so that editor positions equal the engine's UTF-16 offsets. A "\r" is a hidden character.
const onlyNewlines = EditorState.lineSeparator.of('\n');

const hiddenReturn = Decoration.replace({});
const returns = new MatchDecorator({ regexp: /\r$/g, decoration: hiddenReturn });

const hiddenReturns = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = returns.createDeco(view);
    }
    update(update: ViewUpdate) {
      this.decorations = returns.updateDeco(update, this.decorations);
    }
  },
  {
    decorations: (plugin) => plugin.decorations,
    // The cursor crosses "\r\n" in one step, and deletion removes both characters.
    provide: (plugin) =>
      EditorView.atomicRanges.of((view) => {
        const both = new RangeSetBuilder<Decoration>();
        const found = view.plugin(plugin)?.decorations.iter();
        for (; found?.value; found.next()) {
          both.add(found.from, Math.min(found.to + 1, view.state.doc.length), hiddenReturn);
        }
        return both.finish();
      }),
  },
);

/** Keeps the cursor out of the gap between "\r" and "\n". */
const beforeReturns = EditorState.transactionFilter.of((transaction) => {
  if (!transaction.selection) return transaction;
  const { newDoc, newSelection } = transaction;
  const out = (at: number) => (at > 0 && newDoc.sliceString(at - 1, at + 1) === '\r\n' ? at - 1 : at);
  const ranges = newSelection.ranges.map((range) => EditorSelection.range(out(range.anchor), out(range.head)));
  if (ranges.every((range, index) => range.eq(newSelection.ranges[index] ?? range))) return transaction;
  return [transaction, { selection: EditorSelection.create(ranges, newSelection.mainIndex), sequential: true }];
});

/** Enter inserts the line ending of the current line. */
export const windowsEnter = {
  key: 'Enter',
  run(view: EditorView): boolean {
    const { state } = view;
    const line = state.doc.lineAt(state.selection.main.head);
    if (!line.text.endsWith('\r')) return false;
    const indent = /^ */.exec(line.text)?.[0] ?? '';
    view.dispatch(state.replaceSelection(`\r\n${indent}`), { scrollIntoView: true, userEvent: 'input' });
    return true;
  },
};

export const lineEnds = [onlyNewlines, hiddenReturns, beforeReturns];
