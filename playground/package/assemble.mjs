// Copies the built engine and command line (playground/build) into the npm package before `npm pack`.

import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
mkdirSync(join(here, 'engine'), { recursive: true });
for (const name of ['karpwarden.js', 'karpwarden_bg.wasm']) {
  cpSync(join(here, '../build/engine', name), join(here, 'engine', name));
}
cpSync(join(here, '../build/command.wasm'), join(here, 'engine/command.wasm'));
cpSync(join(here, '../build/rules.json'), join(here, 'rules.json'));
cpSync(join(here, '../../LICENSE'), join(here, 'LICENSE'));
