// Runs the engine in a worker, so that a long check never blocks typing and can be cancelled.

import init, * as engine from '../../build/engine/karpwarden.js';
import { type Handlers, serve } from './worker-server.ts';
import { once } from './once.ts';
import type { About, EngineMethods, KubeObject, Rule, Settings, SourceFile } from './types.ts';

declare const ENGINE: string;
declare const RULES: string;

const ready = init({ module_or_path: new URL(ENGINE, self.location.href) });

/** Documentation of the rules as JSON. Only SARIF contains it, so it loads when used. */
const documentation = once(async () => {
  const response = await fetch(new URL(RULES, self.location.href)).catch(() => undefined);
  if (!response?.ok) throw 'the documentation of the rules could not be fetched';
  return response.text();
});

/** Today's date; the engine reads no clock. */
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
  sarif: async (files, settings) =>
    engine.sarif(JSON.stringify(files), JSON.stringify(settings), undefined, today(), await documentation()),
  fix: (files, settings) =>
    JSON.parse(engine.fix(JSON.stringify(files), JSON.stringify(settings), today())) as EngineMethods['fix']['result'],
  documents: (files, whole) => JSON.parse(engine.documents(JSON.stringify(files), whole)) as KubeObject[],
  settings: (text) => JSON.parse(engine.settings(text)) as EngineMethods['settings']['result'],
  policy: (settings, mode) => engine.policy(JSON.stringify(settings), mode),
};

serve(ready, methods);
