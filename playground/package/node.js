import { readFile } from 'node:fs/promises';

import { start } from './karpwarden.js';

let loaded;

/** Loads the engine, once. */
export function load(source) {
  const bytes = () => readFile(new URL('./engine/karpwarden_bg.wasm', import.meta.url));
  const rules = () => readFile(new URL('./rules.json', import.meta.url), 'utf8');
  loaded ??= (async () => start(source ?? (await bytes()), rules))();
  return loaded;
}
