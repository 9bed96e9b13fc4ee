// Log lines in a pasted text, and among the lines of a manifest.

const ENTRY = /\{"level":|"logger":|"time":"\d{4}-|\d{4}-\d\d-\d\dT[\d:.]+\S*\s/;
/** The start of Karpenter's own log lines, also behind other text of the line. */
const KARPENTER_ENTRY = /\{"level":"\w+","time":"\d{4}-|\d{4}-\d\d-\d\dT[\d:.]+Z\t[A-Z]+\t/;
const EVENTS = /^(NAMESPACE\s+)?LAST SEEN\s/;
/** A row of an event table. kubectl separates columns with three spaces or more. */
const EVENT = /^[^\s#].* {3}\S/;
/** Text before a value in YAML: an indentation, a key or the mark of a list item, and perhaps a quotation mark. */
const BEFORE_VALUE = /^\s+$|(^|\s)-\s+["']?$|:\s+["']?$/;
const DOCUMENT = /^(---|apiVersion:|kind:)/;

/** Whether the first lines look like a log or an event table. */
export function looksLikeLog(text: string): boolean {
  const lines = text
    .slice(0, 20_000)
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .slice(0, 20);
  return EVENTS.test(lines[0] ?? '') || areMostlyEntries(lines);
}

function areMostlyEntries(lines: string[]): boolean {
  return lines.filter((line) => ENTRY.test(line) || EVENTS.test(line)).length * 2 > lines.length;
}

/** Lines of a manifest that look like a log: offsets in the text, and numbers of the first and the last line. */
export interface LogLines {
  from: number;
  to: number;
  first: number;
  last: number;
}

/** Finds the first log in the text of a manifest. It ends with its last entry before the next document. */
export function logLines(text: string): LogLines | null {
  const lines = text.split('\n');
  let offset = 0;
  for (const [index, line] of lines.entries()) {
    const column = startOfEntry(line);
    if (
      column >= 0 &&
      looksLikeLog([line.slice(column), ...lines.slice(index + 1, endOf(lines, index, 40))].join('\n'))
    ) {
      const log = withoutRest([line.slice(column), ...lines.slice(index + 1, endOf(lines, index, Infinity))])
        .join('\n')
        .trimEnd();
      const from = offset + column;
      const to = from + log.length;
      // Behind other text of a line, the line break belongs to that text.
      const lineBreak = column === 0 && text[to] === '\n' ? 1 : 0;
      return { from, to: to + lineBreak, first: index + 1, last: index + log.split('\n').length };
    }
    offset += line.length + 1;
  }
  return null;
}

/** Index of the next document, at most `most` lines further on. */
function endOf(lines: string[], start: number, most: number): number {
  let end = start + 1;
  while (end < Math.min(lines.length, start + most) && !DOCUMENT.test(lines[end] ?? '')) end++;
  return end;
}

/** Drops the lines after the last entry. They belong to the manifest. */
function withoutRest(lines: string[]): string[] {
  const isTable = EVENTS.test(lines[0] ?? '');
  const last = lines.findLastIndex(
    (line, index) => index === 0 || startOfEntry(line) >= 0 || (isTable && EVENT.test(line)),
  );
  return lines.slice(0, last + 1);
}

/** Column at which a log entry starts, or -1. An indented or commented line and a value belong to the manifest. */
function startOfEntry(line: string): number {
  const column = line.search(KARPENTER_ENTRY);
  if (column >= 0 && !/^\s*#/.test(line) && !BEFORE_VALUE.test(line.slice(0, column))) return column;
  return /^[^\s#]/.test(line) && (ENTRY.test(line) || EVENTS.test(line)) ? 0 : -1;
}
