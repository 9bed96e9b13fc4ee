// Runs the engine in a worker, so that a long check never blocks typing and can be cancelled.

import initChecker, * as checker from '../../build/checker/karpwarden.js';
import initEngine, * as engine from '../../build/engine/karpwarden.js';
import { type Handlers, type Progress, serve } from './worker-server.ts';
import { once } from './once.ts';
import type {
  About,
  DescribedField,
  EngineMethods,
  ListedObject,
  Refusal,
  Rule,
  Settings,
  SourceFile,
} from './types.ts';

declare const CHECKER: string;
declare const ENGINE: string;
declare const RULES: string;

/** The module of a first check. It is smaller than the whole engine, which loads when it is used. */
const ready = initChecker({ module_or_path: new URL(CHECKER, self.location.href) });

/** Calls that wait for a download. Each part that arrives is progress of theirs, so a slow connection does not exceed their limit. */
const waiting = new Set<Progress>();

async function download(address: string, subject: string): Promise<Response> {
  const response = await fetch(new URL(address, self.location.href)).catch(() => undefined);
  if (!response?.ok || !response.body) throw `${subject} could not be fetched`;
  let bytes = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      bytes += part.length;
      for (const progress of waiting) progress(bytes);
      controller.enqueue(part);
    },
  });
  return new Response(response.body.pipeThrough(count), { headers: response.headers });
}

const loadEngine = once(async () => {
  await initEngine({ module_or_path: await download(ENGINE, 'the engine') });
  return engine;
});

/** Documentation of the rules as JSON. Only SARIF contains it, so it loads when used. */
const loadDocumentation = once(async () => (await download(RULES, 'the documentation of the rules')).text());

/** Waits for a download and reports its progress. */
async function during<T>(load: () => Promise<T>, progress: Progress): Promise<T> {
  waiting.add(progress);
  try {
    return await load();
  } finally {
    waiting.delete(progress);
  }
}

const whole = (progress: Progress) => during(loadEngine, progress);

/** Today's date; the engine reads no clock. */
const today = () => new Date().toISOString().slice(0, 10);

const methods: Handlers<EngineMethods> = {
  start: () => JSON.parse(checker.about()) as About,
  rules: async (progress) => JSON.parse((await whole(progress)).rules()) as Rule[],
  async check(files: SourceFile[], settings: Settings, range: string | null, progress: Progress) {
    const args = [JSON.stringify(files), JSON.stringify(settings), range ?? undefined, today()] as const;
    let before = performance.now();
    let json = checker.checkKarpenterObjects(...args);
    if (json === undefined) {
      const { check } = await whole(progress);
      before = performance.now();
      json = check(...args);
    }
    return { json, ms: performance.now() - before };
  },
  async sarif(files, settings, progress) {
    const { sarif } = await whole(progress);
    return sarif(
      JSON.stringify(files),
      JSON.stringify(settings),
      undefined,
      today(),
      await during(loadDocumentation, progress),
    );
  },
  fix: async (files, settings, progress) =>
    JSON.parse(
      (await whole(progress)).fix(JSON.stringify(files), JSON.stringify(settings), today()),
    ) as EngineMethods['fix']['result'],
  documents: async (files, withObjects, progress) =>
    JSON.parse((await whole(progress)).documents(JSON.stringify(files), withObjects)) as ListedObject[],
  async field(files, offset, progress) {
    const field = (await whole(progress)).field(JSON.stringify(files), offset);
    return field === undefined ? null : (JSON.parse(field) as DescribedField);
  },
  settings: (text) => JSON.parse(checker.settings(text)) as EngineMethods['settings']['result'],
  async refusal(object, release, file, action, progress) {
    const refusal = (await whole(progress)).refusal(JSON.stringify(object), release, file, action);
    return refusal === undefined ? null : (JSON.parse(refusal) as Refusal);
  },
  settingsAsYaml: async (settings, progress) => (await whole(progress)).settings_as_yaml(JSON.stringify(settings)),
  policy: async (settings, mode, progress) => (await whole(progress)).policy(JSON.stringify(settings), mode),
};

serve(ready, methods);
