// Runs the engine in a worker, so that a long check never blocks typing and can be cancelled.

import initChecker, * as checker from '../../build/checker/karpwarden.js';
import initEngine, * as engine from '../../build/engine/karpwarden.js';
import { type Handlers, serve } from './worker-server.ts';
import { once } from './once.ts';
import type { About, EngineMethods, KubeObject, Refusal, Rule, Settings, SourceFile } from './types.ts';

declare const CHECKER: string;
declare const ENGINE: string;
declare const RULES: string;

/** The module of a first check. It is smaller than the whole engine, which loads when it is used. */
const ready = initChecker({ module_or_path: new URL(CHECKER, self.location.href) });

const whole = once(async () => {
  const response = await fetch(new URL(ENGINE, self.location.href)).catch(() => undefined);
  if (!response?.ok) throw 'the engine could not be fetched';
  await initEngine({ module_or_path: response });
  return engine;
});

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
    about: JSON.parse(checker.about()) as About,
    rules: JSON.parse(checker.rules()) as Rule[],
  }),
  async check(files: SourceFile[], settings: Settings, range: string | null) {
    const args = [JSON.stringify(files), JSON.stringify(settings), range ?? undefined, today()] as const;
    let before = performance.now();
    let json = checker.checkWithoutKustomization(...args);
    if (json === undefined) {
      const { check } = await whole();
      before = performance.now();
      json = check(...args);
    }
    return { json, ms: performance.now() - before };
  },
  sarif: async (files, settings) =>
    (await whole()).sarif(JSON.stringify(files), JSON.stringify(settings), undefined, today(), await documentation()),
  fix: async (files, settings) =>
    JSON.parse((await whole()).fix(JSON.stringify(files), JSON.stringify(settings), today())) as EngineMethods['fix']['result'],
  documents: async (files, withObjects) => JSON.parse((await whole()).documents(JSON.stringify(files), withObjects)) as KubeObject[],
  settings: (text) => JSON.parse(checker.settings(text)) as EngineMethods['settings']['result'],
  async refusal(object, release, file, action) {
    const refusal = (await whole()).refusal(JSON.stringify(object), release, file, action);
    return refusal === undefined ? null : (JSON.parse(refusal) as Refusal);
  },
  settingsAsYaml: async (settings) => (await whole()).settings_as_yaml(JSON.stringify(settings)),
  policy: async (settings, mode) => (await whole()).policy(JSON.stringify(settings), mode),
};

serve(ready, methods);
