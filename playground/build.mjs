// Builds the page into dist/: one call of the bundler, names that change with their content, and nothing copied by hand.
//
// The glue of the modules, the rules' texts and what is packed (build/*.lzma) have been made before; see `make
// playground-dist`.

import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { CSP } from './policy.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..');
const dist = join(here, 'dist');
const assets = join(dist, 'assets');
const read = (...path) => readFileSync(join(...path));
const hash = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 10);

rmSync(dist, { recursive: true, force: true });
mkdirSync(assets, { recursive: true });

/** Writes a file under a name that changes with its content; gives the name relative to the page. */
function put(name, bytes) {
  const end = extname(name);
  const hashed = `${basename(name, end)}-${hash(bytes)}${end}`;
  writeFileSync(join(assets, hashed), bytes);
  return `assets/${hashed}`;
}

const firstSentence = (text) => /^.*?\.(?= |$)|^.*/.exec(text.split('\n\n')[0].replaceAll('\n', ' ').replaceAll('`', ''))[0];
const folder = (...path) =>
  readdirSync(join(root, ...path), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => ({ name, text: read(root, ...path, name).toString() }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
const manifests = folder('examples')
  .filter(({ name }) => /\.ya?ml$/.test(name))
  .map(({ name, text }) => {
    const comment = /^(?:# .*\n)*/.exec(text)[0].replace(/^# /gm, '').replaceAll('\n', ' ').trim();
    return { name, title: firstSentence(comment), tab: 'findings', files: [{ name, text }] };
  });
// A folder each, by the name of the diagnosis, which says what it is about.
const texts = { ...JSON.parse(read(here, 'build/rules.json')), ...JSON.parse(read(here, 'build/symptoms.json')) };
const told = readdirSync(join(root, 'examples/symptoms'))
  .sort()
  .map((name) => ({ name, title: firstSentence(texts[name].replace(/^#.*\n\n/, '')), tab: 'symptoms', files: folder('examples/symptoms', name) }));
const examples = [...manifests, ...told];
const [first] = (manifests.find(({ name }) => name === 'nodeclass-bad.yaml') ?? manifests[0]).files;

const engine = put('engine.lzma', read(here, 'build/engine.lzma'));
const reader = put('symptoms.lzma', read(here, 'build/symptoms.lzma'));
const policy = put('policy.lzma', read(here, 'build/policy.lzma'));
const rules = put('rules.lzma', read(here, 'build/rules.lzma'));
const menu = put('examples.json', JSON.stringify(examples));
const style = put('style.css', read(here, 'page/style.css'));
const icon = put('icon.svg', read(here, 'page/icon.svg'));

const source = (name) => join(here, 'page/src', name);
const fromAsset = (path) => JSON.stringify(`./${basename(path)}`);
const shared = {
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  legalComments: 'none',
  metafile: true,
  write: true,
  outdir: assets,
  entryNames: '[name]-[hash]',
  chunkNames: 'part-[hash]',
};
const named = (result, entry) => {
  const [path] = Object.entries(result.metafile.outputs).find(([, output]) => output.entryPoint?.endsWith(entry));
  return `assets/${basename(path)}`;
};
const workers = await build({
  ...shared,
  entryPoints: [source('engine-worker.ts'), source('symptoms-worker.ts'), source('admission-worker.ts')],
  define: { ENGINE: fromAsset(engine), RULES: fromAsset(rules), SYMPTOMS: fromAsset(reader), POLICY: fromAsset(policy) },
});
const engineWorker = named(workers, 'engine-worker.ts');
const page = await build({
  ...shared,
  entryPoints: [source('main.ts')],
  splitting: true,
  define: {
    ENGINE_WORKER: JSON.stringify(engineWorker),
    SYMPTOMS_WORKER: JSON.stringify(named(workers, 'symptoms-worker.ts')),
    ADMISSION_WORKER: JSON.stringify(named(workers, 'admission-worker.ts')),
    EXAMPLES_JSON: JSON.stringify(menu),
    FIRST_EXAMPLE: JSON.stringify(first),
  },
});
const main = named(page, 'main.ts');

let html = read(here, 'page/index.html').toString();
// What the first script imports comes beside it, not after it; so does the worker.
const [, entry] = Object.entries(page.metafile.outputs).find(([path]) => path.endsWith(basename(main)));
const pieces = entry.imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => `assets/${basename(path)}`);
const EARLY = [main, ...pieces].map((path) => `<link rel="modulepreload" href="${path}">`).join('\n    ');
const fill = { CSP, STYLE: style, EARLY, MAIN: main, ENGINE: engine, ICON: icon };
for (const [name, value] of Object.entries(fill)) html = html.replaceAll(`%${name}%`, value);
writeFileSync(join(dist, 'index.html'), html);

// The address that every finding names: a page for each rule and symptom, which leads to its documentation; and the list.
const escape = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
const list = [];
mkdirSync(join(dist, 'rules'));
const leaf = (name, title, head, body) =>
  writeFileSync(
    join(dist, 'rules', `${name}.html`),
    `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${CSP}">
${head}<title>${title} · Karpwarden</title>
<link rel="icon" href="../${icon}" type="image/svg+xml">
<link rel="stylesheet" href="../${style}">
<main class="doc">
<h2>${title}</h2>
${body}
</main>
</html>
`,
  );
for (const [name, text] of Object.entries(texts)) {
  const does = escape(/(?:## What it does|^# .*)\n\n([^\n]+(?:\n[^\n]+)*)/.exec(text)?.[1] ?? '');
  const head = `<meta http-equiv="refresh" content="0; url=../?rule=${name}">
<meta name="description" content="${does.replaceAll('\n', ' ')}">
`;
  leaf(name, name, head, `<p>${does}</p>\n<p><a href="../?rule=${name}">The documentation, in the playground</a></p>`);
  list.push(`<dt><a href="../?rule=${name}">${name}</a></dt>\n<dd>${does}</dd>`);
}
leaf('index', 'Rules and symptoms', '', `<dl>\n${list.join('\n')}\n</dl>`);

// The addresses that config files and reports name.
mkdirSync(join(dist, 'schemas'));
for (const name of readdirSync(join(root, 'schemas'))) {
  writeFileSync(join(dist, 'schemas', name), read(root, 'schemas', name));
}

const shell = ['./', style, icon, engine, engineWorker, rules, ...Object.keys(page.metafile.outputs).map((path) => `assets/${basename(path)}`)];
await build({
  ...shared,
  entryPoints: [source('sw.ts')],
  outdir: dist,
  entryNames: '[name]',
  define: { BUILD: JSON.stringify(hash(html + shell.join() + reader + policy + rules + menu)), SHELL: JSON.stringify(shell) },
});
// GitHub Pages would leave out what begins with an underscore, and looks at every file for templates.
writeFileSync(join(dist, '.nojekyll'), '');
