import { start } from './karpwarden.js';

let loaded;

/** Loads the engine, once. */
export function load(source) {
  const rules = async () => (await fetch(new URL('./rules.json', import.meta.url))).text();
  loaded ??= start(source ?? new URL('./engine/karpwarden_bg.wasm', import.meta.url), rules);
  return loaded;
}
