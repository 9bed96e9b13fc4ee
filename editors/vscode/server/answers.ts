// Findings as diagnostics, fixes as code actions, pages as hovers, objects as symbols: as `karpwarden lsp` gives them
// (crates/language-server).

import type {
  CodeAction,
  Diagnostic,
  DiagnosticRelatedInformation,
  DocumentSymbol,
  Hover,
  Position,
  Range,
  TextDocumentEdit,
} from 'vscode-languageserver-protocol';

import type { Edit, Finding, ListedObject, Unreadable } from '../../../playground/package/answers';
import type { Engine } from './engine.ts';
import { type Checked, CONFIG, type Folder } from './folder.ts';
import { Lines, overlap } from './lines.ts';

/** Numbers of the protocol; its types have them only as values, which would add the protocol to the bundle. */
const [ERROR, WARNING, INFORMATION] = [1, 2, 3] as const;
const SEVERITY = { error: ERROR, warning: WARNING, info: INFORMATION } as const;
const OBJECT = 19;

/** A document of a folder, with the result of the folder's check. */
export interface Checkable {
  folder: Folder;
  name: string;
  text: string;
  checked: Checked;
}

const rangeOf = (finding: Finding, lines: Lines): Range =>
  lines.range(finding.offset ?? 0, finding.endOffset ?? finding.offset ?? 0);

const findingsIn = ({ checked, name }: Checkable): Finding[] =>
  checked.report?.findings.filter(({ file }) => file === name) ?? [];

/** The diagnostics of a document. */
export function diagnostics(document: Checkable): Diagnostic[] {
  const { checked, name, text } = document;
  const lines = new Lines(text);
  if (name === CONFIG) {
    return checked.problems.map(({ line, column, message }) => {
      const offset = lines.at(line, column);
      return { range: lines.range(offset, offset), severity: ERROR, source: 'karpwarden', message };
    });
  }
  // The engine takes every file for one that a user named, and each of its mistakes for one about Karpenter.
  const concerns = /karpenter/i.test(text);
  const unreadable = checked.report?.unreadable.filter(({ file }) => file === name && concerns) ?? [];
  return [
    ...findingsIn(document).map((finding) => diagnostic(document, finding, lines)),
    ...unreadable.map((one) => cannotBeRead(one, lines)),
  ];
}

function diagnostic({ folder, checked }: Checkable, finding: Finding, lines: Lines): Diagnostic {
  const { rule, severity, message, help, url } = finding;
  const related = finding.related.flatMap((place): DiagnosticRelatedInformation[] => {
    const text = checked.texts.get(place.file);
    if (text === undefined || place.offset === null) return [];
    const range = new Lines(text).range(place.offset, place.endOffset ?? place.offset);
    return [{ location: { uri: folder.uriOf(place.file), range }, message: place.message }];
  });
  return {
    range: rangeOf(finding, lines),
    severity: SEVERITY[severity],
    code: rule,
    source: 'karpwarden',
    message: help ? `${message}\n${help}` : message,
    ...(url ? { codeDescription: { href: url } } : {}),
    ...(related.length > 0 ? { relatedInformation: related } : {}),
  };
}

function cannotBeRead({ line, column, message }: Unreadable, lines: Lines): Diagnostic {
  const offset = lines.at(line, column);
  const text = `this document is not checked: ${message}`;
  return { range: lines.range(offset, offset), severity: ERROR, source: 'karpwarden', message: text };
}

/** The fix of each finding in a range. `versionOf` gives the version of an open document. */
export function codeActions(
  document: Checkable,
  range: Range,
  versionOf: (uri: string) => number | null,
): CodeAction[] {
  const lines = new Lines(document.text);
  return findingsIn(document)
    .filter((finding) => overlap(rangeOf(finding, lines), range))
    .flatMap((finding) => {
      const { fix, rule } = finding;
      if (!fix) return [];
      const action: CodeAction = {
        title: `${fix.safe ? 'Fix' : 'Unsafe fix'}: ${fix.title} (${rule})`,
        kind: 'quickfix',
        diagnostics: [diagnostic(document, finding, lines)],
        edit: { documentChanges: documentEdits(document, fix.edits, versionOf) },
        isPreferred: fix.safe,
      };
      return [action];
    });
}

function documentEdits(
  { folder, checked }: Checkable,
  edits: readonly Edit[],
  versionOf: (uri: string) => number | null,
): TextDocumentEdit[] {
  return [...new Set(edits.map(({ file }) => file))].map((file) => {
    const uri = folder.uriOf(file);
    const lines = new Lines(checked.texts.get(file) ?? '');
    const own = edits.filter((edit) => edit.file === file);
    return {
      textDocument: { uri, version: versionOf(uri) },
      edits: own.map(({ offset, endOffset, text }) => ({ range: lines.range(offset, endOffset), newText: text })),
    };
  });
}

/** The effect on nodes of changing the field at a position, and the pages of the rules with findings there. */
export function hover(document: Checkable, position: Position, engine: Engine): Hover | null {
  const { name, text } = document;
  const lines = new Lines(text);
  const there = findingsIn(document).filter((finding) =>
    overlap(rangeOf(finding, lines), { start: position, end: position }),
  );
  const field = engine.field({ name, text }, lines.offset(position));
  const rules = [...new Set(there.map(({ rule }) => rule))];
  const pages = rules.flatMap((rule) => engine.explain(rule) ?? []);
  const parts = [
    ...(field ? [`**A change of \`${field.path}\` ${field.words}**\n\n${field.message}\n`] : []),
    ...pages,
  ];
  if (parts.length === 0) return null;
  const [first] = there;
  return {
    contents: { kind: 'markdown', value: parts.join('\n---\n\n') },
    ...(first ? { range: rangeOf(first, lines) } : {}),
  };
}

/** The objects of a document. */
export function symbols(objects: readonly ListedObject[], text: string): DocumentSymbol[] {
  const lines = new Lines(text);
  return objects.map(({ kind, namespace, name, offset }, index) => {
    const next = objects[index + 1]?.offset ?? text.length;
    const range = lines.range(offset, Math.max(offset, next));
    return {
      name: [namespace, name].filter(Boolean).join('/') || '(no name)',
      detail: kind,
      kind: OBJECT,
      range,
      selectionRange: { start: range.start, end: range.start },
    };
  });
}
