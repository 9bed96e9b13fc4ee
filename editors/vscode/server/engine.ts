// The engine as WebAssembly, with the types of its answers.

import init, * as engine from '../../../playground/build/engine/karpwarden.js';
import type {
  About,
  CheckedSettings,
  DescribedField,
  ListedObject,
  Report,
  Settings,
  SourceFile,
} from '../../../playground/package/answers';

/** The first message of the extension: the module and the pages of the rules as JSON. */
export interface EngineParts {
  module: Uint8Array<ArrayBuffer>;
  rules: string;
}

export interface Engine {
  readonly version: string;
  check(files: readonly SourceFile[], settings: Settings): Report;
  /** The mistakes in a `karpwarden.yaml`, or the settings. */
  settings(text: string): CheckedSettings;
  /** The effect on nodes of changing the field at an offset of the file; null if it is no field of Karpenter. */
  field(file: SourceFile, offset: number): DescribedField | null;
  documents(file: SourceFile): ListedObject[];
  /** The page of a rule as Markdown; undefined if the rule is unknown. */
  explain(rule: string): string | undefined;
}

/** Today's date; the engine reads no clock. */
const today = () => new Date().toISOString().slice(0, 10);

export async function loadEngine({ module, rules }: EngineParts): Promise<Engine> {
  await init({ module_or_path: module });
  const { version } = JSON.parse(engine.about()) as About;
  const pages = new Map(Object.entries(JSON.parse(rules) as Record<string, string>));
  return {
    version,
    check: (files, settings) =>
      JSON.parse(engine.check(JSON.stringify(files), JSON.stringify(settings), undefined, today())) as Report,
    settings: (text) => JSON.parse(engine.settings(text)) as CheckedSettings,
    field(file, offset) {
      const described = engine.field(JSON.stringify([file]), offset);
      return described === undefined ? null : (JSON.parse(described) as DescribedField);
    },
    documents: (file) => JSON.parse(engine.documents(JSON.stringify([file]), false)) as ListedObject[],
    explain: (rule) => pages.get(rule),
  };
}
