// Packs build/ into a .vsix: `node pack.mjs [--target PLATFORM --binary FILE] [--out FILE]`. With a binary, the package is for one platform and
// has the command line in bin/; without, it is for every platform, and for browsers.

import { createVSIX } from '@vscode/vsce';
import { chmodSync, copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const text = { type: 'string' };
const {
  target,
  binary,
  out = join(here, 'karpwarden.vsix'),
} = parseArgs({
  options: { target: text, binary: text, out: text },
}).values;
if (!target !== !binary) throw new Error('a platform and its command line belong together: --target and --binary');

const bin = join(here, 'build/bin');
rmSync(bin, { recursive: true, force: true });
if (binary) {
  mkdirSync(bin);
  copyFileSync(binary, join(bin, basename(binary)));
  chmodSync(join(bin, basename(binary)), 0o755);
}
const platform = target ? { target } : {};
await createVSIX({ cwd: join(here, 'build'), packagePath: resolve(out), dependencies: false, ...platform });
