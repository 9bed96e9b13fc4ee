// Loads a module of the extension's source for a test.

import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const { build } = createRequire(new URL('../../../playground/package.json', import.meta.url))('esbuild');

/** Returns the exports of a module without `vscode`, relative to the folder of the extension. */
export async function load(path) {
  const entry = fileURLToPath(new URL(`../${path}`, import.meta.url));
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: 'esm', write: false });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
