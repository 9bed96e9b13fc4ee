// The engine, away from the page's own thread: a check can take as long as it likes, and be ended.

import init, * as engine from '../../build/engine/karpwarden.js';
import { type Handlers, answer } from './answer.ts';
import { fetchModule } from './unpack.ts';
import type { About, EngineMethods, KubeObject, Rule, Settings, SourceFile } from './types.ts';

declare const ENGINE: string;
declare const RULES: string;

const module = fetchModule(ENGINE);
const ready = module.then((bytes) => init({ module_or_path: bytes }));

let texts: Promise<string> | undefined;

/** The rules' documentation, as JSON: packed against the module, which has many of its words. */
function documentation(): Promise<string> {
  texts ??= module
    .then((before) => fetchModule(RULES, before))
    .then((bytes) => new TextDecoder().decode(bytes))
    .catch(() => {
      texts = undefined;
      throw 'the documentation could not be fetched';
    });
  return texts;
}

/** The engine reads no clock. */
const today = () => new Date().toISOString().slice(0, 10);

const methods: Handlers<EngineMethods> = {
  start: () => ({
    about: JSON.parse(engine.about()) as About,
    rules: JSON.parse(engine.rules()) as Rule[],
  }),
  check(files: SourceFile[], settings: Settings, range: string | null) {
    const before = performance.now();
    const json = engine.check(JSON.stringify(files), JSON.stringify(settings), range ?? undefined, today());
    return { json, ms: performance.now() - before };
  },
  documentation: async () => JSON.parse(await documentation()) as Record<string, string>,
  sarif: async (files, settings) =>
    engine.sarif(JSON.stringify(files), JSON.stringify(settings), undefined, today(), await documentation()),
  fix: (files, settings) =>
    JSON.parse(engine.fix(JSON.stringify(files), JSON.stringify(settings), today())) as EngineMethods['fix']['result'],
  documents: (files, whole) => JSON.parse(engine.documents(JSON.stringify(files), whole)) as KubeObject[],
  settings: (text) => JSON.parse(engine.settings(text)) as EngineMethods['settings']['result'],
  policy: (settings, mode) => engine.policy(JSON.stringify(settings), mode),
};

answer(ready, methods);
