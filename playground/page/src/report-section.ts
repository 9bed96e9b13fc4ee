// A part of the report: a tile at the top, and a section.

import { h } from './dom.ts';
import { message } from './message.ts';
import type { PageData, PagePart } from './types.ts';

export interface ReportSection {
  id: string;
  title: string;
  /** Icon of the tile. */
  icon: 'error' | 'warning' | 'info' | 'clean';
  /** The answer in a few words. */
  value: string;
  /** More about it. */
  remark: string;
  content: Node[];
}

/** The section of a part without an answer. */
export function absentSection(data: PageData, part: PagePart, id: string, title: string): ReportSection {
  const reason = data.absent.find((one) => one.part === part)?.reason ?? '';
  const text = `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
  return { id, title, icon: 'info', value: 'No answer', remark: '', content: [calm('No answer', text)] };
}

/** The text in the place of an empty answer. */
export function calm(title: string, text: string): HTMLElement {
  return h('div', { class: 'calm' }, h('strong', {}, title), h('span', {}, ...message(text)));
}
