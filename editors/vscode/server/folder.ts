// A folder of the editor: its files, with the texts of the open documents, and the report of the engine about them.

import ignore from 'ignore';

import type { CheckedSettings, Report, Settings, SourceFile } from '../../../playground/package/answers';
import type { Engine } from './engine.ts';

/** The file with the settings, at the top of a folder. */
export const CONFIG = 'karpwarden.yaml';
/** Files with patterns of files that are not checked. */
const IGNORE = ['.gitignore', '.ignore'];

/** Result of a check. */
export interface Checked {
  /** Null if the settings have mistakes, and in a folder that does not mention Karpenter. */
  report: Report | null;
  problems: CheckedSettings['problems'];
  /** The checked texts by name. */
  texts: Map<string, string>;
}

export class Folder {
  /** Texts on disk by name, relative to the folder. */
  readonly files = new Map<string, string>();
  readonly #open = new Map<string, string>();
  #checked: Checked | undefined;

  /** `uri` has no slash at its end. */
  constructor(readonly uri: string) {}

  /** The name of a document in this folder; undefined if it is elsewhere. */
  nameOf(uri: string): string | undefined {
    return uri.startsWith(`${this.uri}/`) ? decodeURIComponent(uri.slice(this.uri.length + 1)) : undefined;
  }

  uriOf(name: string): string {
    return `${this.uri}/${name.split('/').map(encodeURIComponent).join('/')}`;
  }

  /** Sets the text of an open document; undefined when it is closed. */
  edit(name: string, text: string | undefined): void {
    if (text === undefined) this.#open.delete(name);
    else this.#open.set(name, text);
    this.#checked = undefined;
  }

  /** Takes texts from disk. */
  update(files: readonly SourceFile[], removed: readonly string[]): void {
    for (const { name, text } of files) this.files.set(name, text);
    for (const name of removed) this.files.delete(name);
    this.#checked = undefined;
  }

  check(engine: Engine): Checked {
    this.#checked ??= this.#check(engine);
    return this.#checked;
  }

  #check(engine: Engine): Checked {
    const all = new Map([...this.files, ...this.#open]);
    const config = all.get(CONFIG);
    const { problems, settings } = config ? engine.settings(config) : { problems: [], settings: {} };
    const texts = new Map(members(all, settings));
    if (config !== undefined) texts.set(CONFIG, config);
    if (problems.length > 0) return { report: null, problems, texts };
    const files = [...texts].filter(([name]) => name !== CONFIG).map(([name, text]) => ({ name, text }));
    if (!files.some(({ text }) => /karpenter/i.test(text))) return { report: null, problems, texts };
    return { report: engine.check(files, settings ?? {}), problems, texts };
  }
}

/** The files that are checked: neither excluded nor listed in an ignore file at the top of the folder. */
function* members(all: Map<string, string>, settings: Settings | null): Generator<[string, string]> {
  const excluded = ignore({ allowRelativePaths: true }).add(settings?.exclude ?? []);
  for (const name of IGNORE) excluded.add(all.get(name) ?? '');
  for (const [name, text] of [...all].sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (name !== CONFIG && !IGNORE.includes(name) && !excluded.ignores(name)) yield [name, text];
  }
}
