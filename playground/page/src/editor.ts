// Full editor: CodeMirror in a shadow root. There its styles are constructed sheets, which the content policy allows.

import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import {
  HighlightStyle,
  bracketMatching,
  codeFolding,
  foldGutter,
  foldKeymap,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
  syntaxTree,
} from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorSelection, EditorState, RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  MatchDecorator,
  type Tooltip,
  ViewPlugin,
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
import { tags } from '@lezer/highlight';

import { icon, h } from './dom.ts';
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
  /** Describes the week of the budget whose schedule is at an offset; null if no budget has it. */
  week(offset: number): Promise<HTMLElement | null>;
}

// Lines end at "\n" only, so that editor positions equal the engine's UTF-16 offsets. A "\r" is a hidden character.
const lineEnds = EditorState.lineSeparator.of('\n');

const hiddenReturn = Decoration.replace({});
const returns = new MatchDecorator({ regexp: /\r$/g, decoration: hiddenReturn });

const windowsLineEnds = ViewPlugin.fromClass(
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
const windowsEnter = {
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

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--code-key)' },
  { tag: [tags.string, tags.content], color: 'var(--code-text)' },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
  { tag: [tags.keyword, tags.labelName, tags.typeName, tags.attributeValue], color: 'var(--code-mark)' },
  { tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace, tags.meta], color: 'var(--text-2)' },
  { tag: tags.invalid, color: 'var(--error)' },
]);

const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--paper)', fontSize: 'var(--code-size)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', overscrollBehavior: 'contain' },
  '.cm-content': { padding: '10px 0 40vh', caretColor: 'var(--accent)' },
  '.cm-line': { padding: '0 16px 0 6px' },
  '.cm-gutters': { backgroundColor: 'var(--paper)', color: 'var(--text-3)', border: 'none', paddingLeft: '2px' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '34px', padding: '0 6px 0 4px' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--text)' },
  '.cm-activeLine': { backgroundColor: 'var(--line-active)' },
  '.cm-evidence': { backgroundColor: 'var(--match)', boxShadow: 'inset 3px 0 var(--warning)' },
  '.cm-changed': { backgroundColor: 'var(--chrome)', boxShadow: 'inset 3px 0 var(--accent)' },
  '.cm-effect': {
    display: 'inline-flex',
    alignItems: 'center',
    gap: '5px',
    marginLeft: '14px',
    padding: '0 8px 0 5px',
    border: '1px solid var(--border-strong)',
    borderRadius: '10px',
    backgroundColor: 'var(--paper)',
    color: 'var(--text)',
    fontFamily: 'var(--sans)',
    fontSize: '12.5px',
    lineHeight: '1.45',
    whiteSpace: 'nowrap',
    userSelect: 'none',
  },
  '.cm-effect .icon': { width: '13px', height: '13px', flex: 'none' },
  '.cm-effect-error .icon': { color: 'var(--error)' },
  '.cm-effect-warning .icon': { color: 'var(--warning)' },
  '.cm-effect-info .icon': { color: 'var(--info)' },
  '.cm-effect-clean .icon': { color: 'var(--good)' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selection)',
  },
  '.cm-content ::selection': { backgroundColor: 'var(--selection)' },
  '.cm-selectionMatch': { backgroundColor: 'var(--match)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--match)', outline: 'none' },
  '.cm-searchMatch': { backgroundColor: 'var(--match)', outline: '1px solid var(--border-strong)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--selection)', outline: '2px solid var(--accent)' },
  '.cm-foldGutter .cm-gutterElement': { width: '16px', cursor: 'pointer', color: 'var(--text-3)', textAlign: 'center' },
  '.cm-foldPlaceholder': {
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--border)',
    color: 'var(--text-2)',
    padding: '0 6px',
  },
  '.cm-gutter-lint': { width: '22px' },
  '.cm-gutter-lint .cm-gutterElement': {
    padding: '0',
    display: 'flex',
    alignItems: 'center',
    justifyContent: 'center',
  },
  '.cm-lint-marker': { width: '14px', height: '14px', cursor: 'pointer' },
  '.cm-lint-marker-error, .cm-lint-marker-warning, .cm-lint-marker-info': {
    content: 'normal',
    forcedColorAdjust: 'none',
  },
  '.cm-lint-marker-error': { backgroundColor: 'var(--error)', clipPath: 'circle(50%)' },
  '.cm-lint-marker-warning': { backgroundColor: 'var(--warning)', clipPath: 'polygon(50% 4%, 100% 96%, 0 96%)' },
  '.cm-lint-marker-info': { backgroundColor: 'var(--info)', clipPath: 'inset(8% round 3px)' },
  '.cm-lintRange': {
    backgroundImage: 'none',
    paddingBottom: '0',
    textUnderlineOffset: '4px',
    textDecorationSkipInk: 'none',
  },
  '.cm-lintRange-error': { textDecoration: 'underline wavy var(--error) 1.5px' },
  '.cm-lintRange-warning': { textDecoration: 'underline wavy var(--warning) 1.5px' },
  '.cm-lintRange-info': { textDecoration: 'underline dotted var(--info) 2px' },
  '.cm-lintRange-active': { backgroundColor: 'var(--match)' },
  '.cm-lintPoint:after': { borderBottomColor: 'var(--error)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    border: '1px solid var(--border-strong)',
    borderRadius: '8px',
    boxShadow: 'var(--shadow)',
    maxWidth: 'min(560px, calc(100vw - 24px))',
    overflow: 'hidden',
  },
  '.cm-diagnostic': { padding: '10px 12px', borderLeft: 'none', whiteSpace: 'normal' },
  '.cm-diagnostic + .cm-diagnostic': { borderTop: '1px solid var(--border)' },
  '.tip': { fontFamily: 'var(--sans)', fontSize: '14px', lineHeight: '1.45', display: 'grid', gap: '4px' },
  '.tip-head': { display: 'flex', gap: '6px', alignItems: 'center', fontFamily: 'var(--mono)', fontSize: '13px' },
  '.tip code': {
    fontFamily: 'var(--mono)',
    fontSize: '13px',
    backgroundColor: 'var(--chrome)',
    borderRadius: '3px',
    padding: '0 3px',
  },
  '.tip button code': { backgroundColor: 'transparent', padding: '0', fontSize: '12px' },
  '.tip-week': { width: 'min(460px, calc(100vw - 60px))' },
  '.tip-week ul': { margin: '0', padding: '0', listStyle: 'none', fontSize: '13px' },
  '.week-strip': { width: '100%', display: 'block', fontSize: '12px' },
  '.week-strip .ground': { fill: 'var(--chrome)', stroke: 'var(--border)' },
  '.week-strip .open': { fill: 'var(--accent)' },
  '.week-strip .closed': { fill: 'var(--border-strong)' },
  '.week-strip .midnight': {
    stroke: 'var(--text-2)',
    strokeDasharray: '2 3',
    vectorEffect: 'non-scaling-stroke',
    fill: 'none',
  },
  '.week-strip text': { fill: 'var(--text-2)' },
  '.week-strip .number': { textAnchor: 'middle' },
  '.tip-help': { color: 'var(--text-2)' },
  '.tip .icon': { width: '14px', height: '14px', flex: 'none' },
  '.tip-error .icon': { color: 'var(--error)' },
  '.tip-warning .icon': { color: 'var(--warning)' },
  '.tip-info .icon': { color: 'var(--info)' },
  '.tip-actions': { display: 'flex', gap: '8px', marginTop: '4px', flexWrap: 'wrap' },
  '.tip button': {
    font: 'inherit',
    fontSize: '13px',
    color: 'var(--text)',
    backgroundColor: 'var(--paper)',
    border: '1px solid var(--border-strong)',
    borderRadius: '6px',
    padding: '3px 10px',
    cursor: 'pointer',
  },
  '.tip button:hover': { backgroundColor: 'var(--hover)' },
  '.tip button.primary': { backgroundColor: 'var(--accent)', borderColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.tip button:focus-visible': { outline: '2px solid var(--focus)', outlineOffset: '2px' },
  '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--text)', borderColor: 'var(--border)' },
  '.cm-panels.cm-panels-top': { borderBottom: '1px solid var(--border)' },
  '.cm-panel.cm-search': { padding: '8px 36px 8px 10px', fontFamily: 'var(--sans)', fontSize: '14px' },
  '.cm-panel.cm-search label': { fontSize: '13px', marginRight: '8px' },
  '.cm-panel.cm-search [name=close]': {
    color: 'var(--text)',
    fontSize: '20px',
    top: '6px',
    right: '10px',
    cursor: 'pointer',
  },
  '.cm-textfield': {
    backgroundColor: 'var(--paper)',
    color: 'var(--text)',
    border: '1px solid var(--border-strong)',
    borderRadius: '6px',
    padding: '4px 8px',
    fontSize: '14px',
  },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--paper)',
    color: 'var(--text)',
    border: '1px solid var(--border-strong)',
    borderRadius: '6px',
    padding: '3px 10px',
    fontSize: '13px',
    cursor: 'pointer',
  },
  '.cm-button:hover': { backgroundColor: 'var(--hover)' },
  '.cm-button:active': { backgroundImage: 'none' },
  '@media (forced-colors: active)': {
    '.cm-lintRange-error, .cm-lintRange-warning, .cm-lintRange-info': { textDecorationColor: 'CanvasText' },
    '.cm-lintRange-warning': { textDecorationStyle: 'dashed' },
  },
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
        windowsLineEnds,
        beforeReturns,
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
        hoverTooltip((view, at) => this.#describe(view, at)),
        syntaxHighlighting(colours),
        theme,
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

  /** Tooltip of a requirement or a schedule. The text decides whether to load the answer. */
  async #describe({ state }: EditorView, at: number): Promise<Tooltip | null> {
    const requirements = fieldAround(state, at, 'requirements');
    // CronJobs have schedules too.
    const schedule = fieldAround(state, at, 'budgets') && fieldAround(state, at, 'schedule');
    const asked =
      requirements && at > requirements.keyEnd
        ? this.listener
            .typesLeft(at)
            .then((text) => text && h('div', { class: 'tip tip-types' }, h('div', {}, ...message(text))))
        : schedule && this.listener.week(schedule.value);
    const tip = await asked?.catch(() => null);
    if (!tip) return null;
    return { pos: at, above: true, create: () => ({ dom: h('div', { class: 'cm-diagnostic' }, tip) }) };
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
