// Full editor: CodeMirror in a shadow root. There its styles are constructed sheets, which the content policy allows.

import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import {
  bracketMatching,
  codeFolding,
  foldGutter,
  foldKeymap,
  indentOnInput,
  indentUnit,
  syntaxTree,
} from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorSelection, EditorState, Prec, StateEffect, StateField } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  type Tooltip,
  type ViewUpdate,
  WidgetType,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  hoverTooltip,
  keymap,
  lineNumbers,
} from '@codemirror/view';

import { icon, h } from './dom.ts';
import { editorStyle } from './editor-style.ts';
import { lineEnds, windowsEnter } from './line-ends.ts';
import { message } from './message.ts';
import type { TextEditor } from './plain-editor.ts';
import { isLog, withoutMark } from './state.ts';
import type { Finding, Report } from './types.ts';

/** Events of the editor. */
export interface EditorListener {
  edited(text: string): void;
  moved(offset: number): void;
  fix(finding: Finding): void;
  explain(rule: string): void;
  /** Describes the instance types that the requirement at an offset leaves; null if there is no requirement. */
  typesLeft(offset: number): Promise<string | null>;
  /** Describes what changing the field at an offset does to nodes; null if there is no field of Karpenter. */
  field(name: string, text: string, offset: number): Promise<HTMLElement | null>;
  /** Describes the week of the budget whose schedule is at an offset; null if no budget has it. */
  week(offset: number): Promise<HTMLElement | null>;
}

/** Replaces selected text itself. Chromium would wrap the typed text in an inline style, which the content policy forbids. */
const typeOverSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { data, inputType, isComposing } = event;
    if (inputType !== 'insertText' || !data || isComposing || view.state.selection.main.empty) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(data), { scrollIntoView: true, userEvent: 'input.type' });
    return true;
  },
  compositionstart(_, view) {
    if (!view.state.selection.main.empty)
      view.dispatch(view.state.replaceSelection(''), { userEvent: 'input.type.compose' });
    return false;
  },
});

/** Scrolls to the first character, with the line numbers and the space above. */
const toStart = EditorView.scrollIntoView(0, { x: 'start', y: 'start', xMargin: 200, yMargin: 200 });

/** Highlights the lines of evidence of a diagnosis. */
const setEvidence = StateEffect.define<readonly number[]>();
const evidenceLine = Decoration.line({ class: 'cm-evidence' });
const evidence = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { changes, effects, newDoc }) {
    let now = marks.map(changes);
    for (const effect of effects) {
      if (!effect.is(setEvidence)) continue;
      const lines = [...new Set(effect.value)].filter((line) => line >= 1 && line <= newDoc.lines);
      now = Decoration.set(
        lines.map((line) => evidenceLine.range(newDoc.line(line).from)),
        true,
      );
    }
    return now;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Effect of a changed line. */
export interface LineEffect {
  /** From 1. */
  line: number;
  /** The name of the icon and of the colour. */
  severity: string;
  words: string;
}

class EffectNote extends WidgetType {
  constructor(
    private readonly severity: string,
    private readonly words: string,
  ) {
    super();
  }
  override eq(other: EffectNote): boolean {
    return other.severity === this.severity && other.words === this.words;
  }
  override toDOM(): HTMLElement {
    return h('span', { class: `cm-effect cm-effect-${this.severity}` }, icon(this.severity), this.words);
  }
}

/** Marks the changed lines with their effect. */
const setEffects = StateEffect.define<readonly LineEffect[]>();
const changedLine = Decoration.line({ class: 'cm-changed' });
const lineEffects = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { changes, effects, newDoc }) {
    let now = marks.map(changes);
    for (const effect of effects) {
      if (!effect.is(setEffects)) continue;
      const known = effect.value.filter(({ line }) => line >= 1 && line <= newDoc.lines);
      const ranges = known.flatMap(({ line, severity, words }) => {
        const { from, to } = newDoc.line(line);
        const note = Decoration.widget({ widget: new EffectNote(severity, words), side: 1 });
        return [changedLine.range(from), note.range(to)];
      });
      now = Decoration.set(ranges, true);
    }
    return now;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** The end of the key and the start of the value of the innermost field with a name around a position. */
function fieldAround(state: EditorState, at: number, name: string): { keyEnd: number; value: number } | null {
  const innermost = syntaxTree(state).resolveInner(at, 1);
  for (let node: typeof innermost | null = innermost; node; node = node.parent) {
    const key = node.name === 'Pair' ? node.getChild('Key') : null;
    if (key && state.sliceDoc(key.from, key.to) === name)
      return { keyEnd: key.to, value: node.lastChild?.from ?? key.to };
  }
  return null;
}

export class Editor implements TextEditor {
  readonly view: EditorView;
  #findings: Finding[] = [];
  #silent = false;
  #states = new Map<string, EditorState>();
  #name = '';

  constructor(
    host: HTMLElement,
    private readonly listener: EditorListener,
    private readonly label = 'Manifest',
  ) {
    const root = host.attachShadow({ mode: 'open' });
    const parent = h('div', { part: 'editor' });
    const sprite = document.getElementById('sprite')?.cloneNode(true);
    const base = new CSSStyleSheet();
    base.replaceSync(':host{display:block;min-height:0}div[part=editor]{height:100%}#sprite{position:absolute}');
    root.adoptedStyleSheets = [base];
    if (sprite) root.append(sprite);
    root.append(parent);
    this.view = new EditorView({ root, parent, state: this.#fresh('', '') });
  }

  #fresh(name: string, text: string): EditorState {
    return EditorState.create({
      doc: text,
      extensions: [
        lineEnds,
        typeOverSelection,
        EditorState.tabSize.of(2),
        indentUnit.of('  '),
        lintGutter({ tooltipFilter: () => [] }),
        lineNumbers(),
        highlightActiveLineGutter(),
        highlightActiveLine(),
        highlightSpecialChars({
          specialChars:
            // oxlint-disable-next-line no-control-regex -- Finds control characters.
            /[\0-\b\v\f\x0e-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffc]/g,
        }),
        history(),
        codeFolding(),
        foldGutter({ markerDOM: (open) => h('span', { 'aria-hidden': 'true' }, open ? '⌄' : '›') }),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightSelectionMatches(),
        search({ top: true }),
        isLog(name) ? [] : yaml(),
        evidence,
        lineEffects,
        // Below the findings at the same place.
        Prec.low(hoverTooltip((view, at) => this.#describe(view, at))),
        editorStyle,
        EditorView.contentAttributes.of({
          tabindex: '0',
          'aria-label': this.label,
          'aria-describedby': 'editor-hint',
          spellcheck: 'false',
          autocapitalize: 'off',
          autocorrect: 'off',
        }),
        EditorView.clipboardInputFilter.of(withoutMark),
        EditorView.updateListener.of((update) => this.#updated(update)),
        keymap.of([windowsEnter, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...defaultKeymap]),
      ],
    });
  }

  /** Tooltip of a field, with the instance types of a requirement or the week of a schedule. The text decides what to load. */
  async #describe({ state }: EditorView, at: number): Promise<Tooltip | null> {
    const isField = !isLog(this.#name) && fieldAround(state, at, 'spec');
    const none = Promise.resolve(null);
    const field = isField ? this.listener.field(this.#name, state.doc.toString(), at) : none;
    const requirements = fieldAround(state, at, 'requirements');
    // CronJobs have schedules too.
    const schedule = fieldAround(state, at, 'budgets') && fieldAround(state, at, 'schedule');
    const asked =
      requirements && at > requirements.keyEnd
        ? this.listener
            .typesLeft(at)
            .then((text) => text && h('div', { class: 'tip tip-types' }, h('div', {}, ...message(text))))
        : schedule && this.listener.week(schedule.value);
    const both = await Promise.all([field, asked ?? none].map((one) => one.catch(() => null)));
    const tips = both.filter((tip) => tip instanceof HTMLElement);
    if (tips.length === 0) return null;
    const dom = h('div', {}, ...tips.map((tip) => h('div', { class: 'cm-diagnostic' }, tip)));
    return { pos: at, above: true, create: () => ({ dom }) };
  }

  #updated(update: ViewUpdate): void {
    if (this.#silent) return;
    if (update.docChanged) this.listener.edited(this.view.state.doc.toString());
    if (update.selectionSet) this.listener.moved(this.view.state.selection.main.head);
  }

  /** Shows a file. Each file keeps its undo history, selection and folds. */
  open(name: string, text: string): void {
    if (this.#name) this.#states.set(this.#name, this.view.state);
    this.#name = name;
    const kept = this.#states.get(name);
    const state = kept && kept.doc.toString() === text ? kept : this.#fresh(name, text);
    this.#silent = true;
    this.view.setState(state);
    if (state !== kept) this.view.dispatch({ effects: toStart });
    this.#silent = false;
  }

  /** Drops the editor state of all other files. */
  keep(names: readonly string[]): void {
    for (const name of this.#states.keys()) {
      if (!names.includes(name)) this.#states.delete(name);
    }
    if (!names.includes(this.#name)) this.#name = '';
  }

  renamed(from: string, to: string): void {
    const state = this.#states.get(from);
    if (state) this.#states.set(to, state);
    this.#states.delete(from);
    if (this.#name === from) this.#name = to;
  }

  /** Marks the findings of the open file. */
  show(report: Report, name: string): void {
    const { doc } = this.view.state;
    this.#findings = report.findings.filter((finding) => finding.file === name && finding.offset !== null);
    const marks: Diagnostic[] = this.#findings.map((finding) => ({
      from: Math.min(finding.offset ?? 0, doc.length),
      to: Math.min(finding.endOffset ?? 0, doc.length),
      severity: finding.severity,
      message: `${finding.rule}: ${finding.message}`,
      renderMessage: () => this.#tip(finding),
    }));
    for (const unread of report.unreadable.filter((unread) => unread.file === name)) {
      const line = doc.line(Math.min(Math.max(unread.line, 1), doc.lines));
      const indent = line.text.length - line.text.trimStart().length;
      marks.push({
        from: line.from + indent,
        to: line.from + line.text.trimEnd().length,
        severity: 'error',
        message: `unreadable: ${unread.message}`,
        renderMessage: () => h('div', { class: 'tip tip-error' }, h('div', {}, `unreadable: ${unread.message}`)),
      });
    }
    this.view.dispatch(setDiagnostics(this.view.state, marks));
  }

  /** Replaces the highlighted lines of the open file. */
  evidence(lines: readonly number[]): void {
    this.view.dispatch({ effects: setEvidence.of(lines) });
  }

  /** Replaces the marks of changed lines in the open file. */
  effects(effects: readonly LineEffect[]): void {
    this.view.dispatch({ effects: setEffects.of(effects) });
  }

  /** Selects a whole line, counted from 1, and moves the focus there. */
  goToLine(number: number): void {
    const { doc } = this.view.state;
    const { from, to } = doc.line(Math.min(Math.max(number, 1), doc.lines));
    this.select(from, to, true);
  }

  #tip(finding: Finding): HTMLElement {
    return h(
      'div',
      { class: `tip tip-${finding.severity}` },
      h('div', { class: 'tip-head' }, icon(finding.severity), `${finding.severity}: ${finding.rule}`),
      h('div', {}, ...message(finding.message)),
      finding.help && h('div', { class: 'tip-help' }, ...message(finding.help)),
      h(
        'div',
        { class: 'tip-actions' },
        finding.fix &&
          h(
            'button',
            { class: 'primary', type: 'button', onclick: () => this.listener.fix(finding) },
            'Fix: ',
            ...message(finding.fix.title),
          ),
        h('button', { type: 'button', onclick: () => this.listener.explain(finding.rule) }, 'Why'),
      ),
    );
  }

  focus(): void {
    this.view.focus();
  }

  /** Returns the findings at the cursor. */
  atCursor(): Finding[] {
    const { head } = this.view.state.selection.main;
    return this.#findings.filter((finding) => (finding.offset ?? 0) <= head && head <= (finding.endOffset ?? 0));
  }

  /** Selects a range and scrolls to it; moves the focus only if `focus` is set. */
  select(from: number, to: number, focus: boolean): void {
    const end = this.view.state.doc.length;
    const range = EditorSelection.range(Math.min(from, end), Math.min(to, end));
    const effects: StateEffect<unknown> = EditorView.scrollIntoView(range, { y: 'center' });
    this.#silent = true;
    this.view.dispatch({ selection: EditorSelection.single(range.anchor, range.head), effects });
    this.#silent = false;
    if (focus) this.view.focus();
  }

  /** Applies edits as one undoable step. */
  apply(edits: readonly { offset: number; endOffset: number; text: string }[]): void {
    const changes = edits.map(({ offset, endOffset, text }) => ({ from: offset, to: endOffset, insert: text }));
    this.view.dispatch({ changes, userEvent: 'input.fix', scrollIntoView: false });
  }

  /** Replaces the whole text as one undoable step. The cursor goes to the end and the view to the start. */
  arrive(text: string): void {
    this.view.dispatch({
      changes: { from: 0, to: this.view.state.doc.length, insert: text },
      selection: EditorSelection.cursor(text.length),
      effects: toStart,
      userEvent: 'input.paste',
    });
  }

  /** Replaces the text as one undoable step. It changes only the part between the common start and end. */
  replace(text: string): void {
    const before = this.view.state.doc.toString();
    let from = 0;
    while (from < Math.min(before.length, text.length) && before[from] === text[from]) from++;
    let same = 0;
    const most = Math.min(before.length, text.length) - from;
    while (same < most && before[before.length - 1 - same] === text[text.length - 1 - same]) same++;
    const changes = { from, to: before.length - same, insert: text.slice(from, text.length - same) };
    this.view.dispatch({ changes, userEvent: 'input.fix' });
  }
}
