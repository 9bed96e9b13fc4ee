// Builds the page of `karpwarden report`, without its data, into one file that the command line contains. `make generate` runs it.
//
// A file from disk cannot load modules, so everything is inline. The content security policy names the style and the script by their
// hashes; the data is no script.

import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const read = (name) => readFileSync(join(here, 'page', name), 'utf8');
const bundled = { bundle: true, target: 'es2022', legalComments: 'none', write: false, absWorkingDir: here };
const source = (hashed) => `'sha256-${createHash('sha256').update(hashed).digest('base64')}'`;

/** Path of the built page. */
export const path = join(here, '../cli/src/report/page.html');

/** Returns the page. `%DATA%` and `%CONNECT%` stay for the program that writes it. */
export async function reportPage() {
  const [script, style] = await Promise.all([
    build({
      ...bundled,
      entryPoints: ['page/src/report.ts'],
      format: 'esm',
      minify: true,
      // Styles of a view, as a text in its script.
      loader: { '.css': 'text' },
    }),
    build({
      ...bundled,
      stdin: { contents: read('style.css') + read('report.css'), loader: 'css', resolveDir: here },
      minify: true,
    }),
  ]);
  const [code] = script.outputFiles;
  const [sheet] = style.outputFiles;
  const SCRIPT = code.text.trim();
  const STYLE = sheet.text.trim();
  if (/<\/script|<!--/i.test(SCRIPT)) throw new Error('the script would end its element');
  const CSP = [
    "default-src 'none'",
    `script-src ${source(SCRIPT)}`,
    `style-src ${source(STYLE)}`,
    'img-src data:',
    'connect-src %CONNECT%',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  // The icons of the playground.
  const SPRITE = /<svg id="sprite"[\s\S]*?\n {4}<\/svg>/.exec(read('index.html'))[0];
  const values = { CSP, STYLE, SCRIPT, SPRITE };
  return read('report.html').replace(/%([A-Z]+)%/g, (placeholder, name) => values[name] ?? placeholder);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(path, await reportPage());
