// Builds the page into dist/. `make playground-dist` first builds what it reads from build/: the modules with their
// JavaScript glue, the documentation of the rules and the reference.
//
// Asset names contain a hash of the content, so browsers can cache assets without a time limit.

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

/** Writes an asset and returns its address relative to the page. */
function put(name, bytes) {
  const end = extname(name);
  const hashed = `${basename(name, end)}-${hash(bytes)}${end}`;
  writeFileSync(join(assets, hashed), bytes);
  return `assets/${hashed}`;
}

// Examples: the manifests in examples/, and one folder for each example of a symptom, named after it

const articles = JSON.parse(read(here, 'build/reference/articles.json'));
const filesIn = (...path) =>
  readdirSync(join(root, ...path), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => ({ name, text: read(root, ...path, name).toString() }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
/** The first sentence of the comment at the top of a manifest. */
const titleOf = (text) => {
  const comment = /^(?:# .*\n)*/.exec(text)[0].replace(/^# /gm, '').replaceAll('\n', ' ').trim();
  return /^.*?\.(?= |$)|^.*/.exec(comment)[0].replaceAll('`', '');
};
const manifests = filesIn('examples')
  .filter(({ name }) => /\.ya?ml$/.test(name))
  .map(({ name, text }) => ({ name, title: titleOf(text), tab: 'findings', files: [{ name, text }] }));
const symptoms = readdirSync(join(root, 'examples/symptoms'))
  .sort()
  .map((name) => ({
    name,
    title: articles[name].summary.replaceAll('`', ''),
    tab: 'symptoms',
    files: filesIn('examples/symptoms', name),
  }));
const [first] = manifests.find(({ name }) => name === 'nodeclass-bad.yaml').files;

// Assets

const checker = put('checker.wasm', read(here, 'build/checker/karpwarden_bg.wasm'));
const engine = put('engine.wasm', read(here, 'build/engine/karpwarden_bg.wasm'));
const symptomsModule = put('symptoms.wasm', read(here, 'build/symptoms/karpwarden_bg.wasm'));
const placementModule = put('placement.wasm', read(here, 'build/placement/karpwarden_bg.wasm'));
const policy = put('policy.wasm', read(root, 'policies/karpenter/annotated-policy.wasm'));
const rules = put('rules.json', read(here, 'build/rules.json'));
const articlesJson = put('articles.json', JSON.stringify(articles));
const examples = put('examples.json', JSON.stringify([...manifests, ...symptoms]));
const style = put('style.css', read(here, 'page/style.css'));
const icon = put('icon.svg', read(here, 'page/icon.svg'));

// Scripts

const source = (name) => join(here, 'page/src', name);
const besideWorker = (path) => JSON.stringify(`./${basename(path)}`);
const options = {
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
const outputOf = (result, entry) => {
  const [path] = Object.entries(result.metafile.outputs).find(([, output]) => output.entryPoint?.endsWith(entry));
  return `assets/${basename(path)}`;
};
const workers = await build({
  ...options,
  entryPoints: [
    source('engine-worker.ts'),
    source('symptoms-worker.ts'),
    source('placement-worker.ts'),
    source('admission-worker.ts'),
  ],
  define: {
    CHECKER: besideWorker(checker),
    ENGINE: besideWorker(engine),
    RULES: besideWorker(rules),
    SYMPTOMS: besideWorker(symptomsModule),
    PLACEMENT: besideWorker(placementModule),
    POLICY: besideWorker(policy),
  },
});
const engineWorker = outputOf(workers, 'engine-worker.ts');
const page = await build({
  ...options,
  entryPoints: [source('main.ts')],
  splitting: true,
  // Styles of a tab, as a text in its script.
  loader: { '.css': 'text' },
  define: {
    ENGINE_WORKER: JSON.stringify(engineWorker),
    SYMPTOMS_WORKER: JSON.stringify(outputOf(workers, 'symptoms-worker.ts')),
    PLACEMENT_WORKER: JSON.stringify(outputOf(workers, 'placement-worker.ts')),
    ADMISSION_WORKER: JSON.stringify(outputOf(workers, 'admission-worker.ts')),
    ARTICLES_JSON: JSON.stringify(articlesJson),
    EXAMPLES_JSON: JSON.stringify(examples),
    FIRST_EXAMPLE: JSON.stringify(first),
  },
});
const main = outputOf(page, 'main.ts');

// Pages

// The browser preloads the static imports of the first script instead of discovering them after it.
const [, entry] = Object.entries(page.metafile.outputs).find(([path]) => path.endsWith(basename(main)));
const imports = entry.imports
  .filter(({ kind }) => kind === 'import-statement')
  .map(({ path }) => `assets/${basename(path)}`);
const PRELOADS = [main, ...imports].map((path) => `<link rel="modulepreload" href="${path}">`).join('\n    ');
const values = { CSP, STYLE: style, ICON: icon, CHECKER: checker, MAIN: main, PRELOADS };
const fill = (html) => html.replace(/%([A-Z]+)%/g, (placeholder, name) => values[name] ?? placeholder);
const html = fill(read(here, 'page/index.html').toString());
writeFileSync(join(dist, 'index.html'), html);

mkdirSync(join(dist, 'rules'));
for (const name of readdirSync(join(here, 'build/reference'))) {
  if (name.endsWith('.html'))
    writeFileSync(join(dist, 'rules', name), fill(read(here, 'build/reference', name).toString()));
}

// Config files and reports name the addresses of the schemas.
mkdirSync(join(dist, 'schemas'));
for (const name of readdirSync(join(root, 'schemas'))) {
  writeFileSync(join(dist, 'schemas', name), read(root, 'schemas', name));
}

// Offline: the service worker, which the page registers when it is idle, keeps every asset, so that every tab opens.
const scripts = [page, workers]
  .flatMap(({ metafile }) => Object.keys(metafile.outputs))
  .map((path) => `assets/${basename(path)}`);
const modules = [checker, engine, symptomsModule, placementModule, policy];
const kept = ['./', style, icon, ...modules, rules, articlesJson, examples, ...scripts];
await build({
  ...options,
  entryPoints: [source('sw.ts')],
  outdir: dist,
  entryNames: '[name]',
  define: {
    BUILD: JSON.stringify(hash(html + kept.join())),
    KEPT: JSON.stringify(kept),
  },
});
// Without this file GitHub Pages runs Jekyll on every file.
writeFileSync(join(dist, '.nojekyll'), '');
