// The engine, away from the page's own thread: a check can take as long as it likes, and be ended.

import init, * as engine from '../../build/engine/karpwarden.js';
import { type Handlers, answer } from './answer.ts';
import { fetchModule } from './unpack.ts';
import type { About, EngineMethods, KubeObject, Rule, Settings, SourceFile } from './types.ts';

declare const ENGINE: string;

const ready = fetchModule(ENGINE).then((bytes) => init({ module_or_path: bytes }));

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
  sarif: (files, settings, documentation) =>
    engine.sarif(JSON.stringify(files), JSON.stringify(settings), undefined, today(), JSON.stringify(documentation)),
  fix: (files, settings) =>
    JSON.parse(engine.fix(JSON.stringify(files), JSON.stringify(settings), today())) as EngineMethods['fix']['result'],
  documents: (files, whole) => JSON.parse(engine.documents(JSON.stringify(files), whole)) as KubeObject[],
  settings: (text) => JSON.parse(engine.settings(text)) as EngineMethods['settings']['result'],
  policy: (settings, mode) => engine.policy(JSON.stringify(settings), mode),
};

answer(ready, methods);
