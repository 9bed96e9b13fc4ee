// For the tests: packs the package, and installs the tarball in an empty project as a user does.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, '../..');

/** Installs the package in a new folder. Returns the folder, what npm says about the tarball, and a function that removes the folder. */
export function install() {
  const folder = mkdtempSync(join(tmpdir(), 'karpwarden-package-'));
  const npm = (args, cwd) => execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const [packed] = JSON.parse(npm(['pack', '--json', '--pack-destination', folder], here));
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
  npm(['install', '--offline', '--no-audit', '--no-fund', join(folder, packed.filename)], folder);
  return { folder, packed, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
