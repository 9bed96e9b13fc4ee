// Builds the extension into build/, as `vsce package` packs it: the bundles, the engine, the page's views, and a manifest with the version
// of the workspace. The page's modules are built before (`make vscode`).

import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const page = join(root, 'playground');
const out = join(here, 'build');
const dist = join(out, 'dist');
// The page's packages have the tools, so each has one version.
const { build } = createRequire(join(page, 'package.json'))('esbuild');

rmSync(out, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });

const options = { bundle: true, minify: true, target: 'es2022', legalComments: 'none', logLevel: 'warning' };
const bundle = (entry, outfile, more) =>
  build({ ...options, entryPoints: [join(here, entry)], outfile: join(dist, outfile), ...more });
const inNode = { platform: 'node', format: 'cjs', external: ['vscode'], mainFields: ['module', 'main'] };
// The worker in which a browser runs extensions loads scripts, not modules.
const inWeb = { platform: 'browser', format: 'cjs', external: ['vscode'] };

/**
 * The page fetches several small modules one after the other. The extension is on the disk already, so its workers share one module with
 * the functions of all.
 */
const oneModule = {
  name: 'one-module',
  setup({ onResolve, onLoad }) {
    const glue = './editor/karpwarden.js';
    const filter = /[/\\]build[/\\](checker|engine|placement)[/\\]karpwarden\.js$/;
    onResolve({ filter }, ({ path }) => ({ path: filter.exec(path)[1], namespace: 'one-module' }));
    onLoad({ filter: /^checker$/, namespace: 'one-module' }, () => ({
      contents: `export { default, about, settings } from '${glue}'; export const checkKarpenterObjects = () => undefined;`,
      resolveDir: join(page, 'build'),
    }));
    onLoad({ filter: /^(engine|placement)$/, namespace: 'one-module' }, () => ({
      contents: `export * from '${glue}'; export { default } from '${glue}';`,
      resolveDir: join(page, 'build'),
    }));
  },
};
const module_ = (name) => `self.MODULES.${name}`;
const worker = (name) => [`../../playground/page/src/${name}-worker.ts`, `${name}-worker.js`];
const workers = {
  format: 'esm',
  plugins: [oneModule],
  define: {
    CHECKER: module_('engine'),
    ENGINE: module_('engine'),
    RULES: module_('rules'),
    PLACEMENT: module_('engine'),
    POLICY: module_('policy'),
  },
};

// The modules' glue names its module relative to itself, which a worker that is no module cannot; the extension passes the bytes.
const classicWorker = { define: { 'import.meta.url': '""' } };

await Promise.all([
  bundle('src/desktop.ts', 'desktop.cjs', inNode),
  bundle('src/web.ts', 'web.js', inWeb),
  bundle('server/node.ts', 'server-node.cjs', { ...inNode, ...classicWorker }),
  bundle('server/browser.ts', 'server-web.js', { platform: 'browser', format: 'iife', ...classicWorker }),
  bundle(...worker('engine'), workers),
  bundle(...worker('placement'), workers),
  bundle(...worker('admission'), workers),
  bundle('webview/main.ts', 'view.js', {
    format: 'esm',
    loader: { '.css': 'text' },
    define: { PLACEMENT_WORKER: 'globalThis.WORKERS.placement' },
  }),
]);

const read = (...path) => readFileSync(join(...path), 'utf8');
copyFileSync(join(page, 'build/editor/karpwarden_bg.wasm'), join(dist, 'engine.wasm'));
copyFileSync(join(root, 'policies/karpenter/annotated-policy.wasm'), join(dist, 'policy.wasm'));
copyFileSync(join(page, 'build/rules.json'), join(dist, 'rules.json'));
copyFileSync(join(page, 'page/style.css'), join(dist, 'page.css'));
copyFileSync(join(page, 'page/icon.svg'), join(dist, 'icon.svg'));
copyFileSync(join(here, 'webview/view.css'), join(dist, 'view.css'));
const [sprite] = /<svg id="sprite"[\s\S]*?<\/svg>\n/.exec(read(page, 'page/index.html'));
writeFileSync(join(dist, 'sprite.svg'), sprite.trim());

cpSync(join(here, 'walkthrough'), join(out, 'walkthrough'), { recursive: true });
for (const name of ['README.md', 'icon.png']) copyFileSync(join(here, name), join(out, name));
for (const name of ['LICENSE', 'CHANGELOG.md']) copyFileSync(join(root, name), join(out, name));
mkdirSync(join(out, 'schemas'));
copyFileSync(join(root, 'schemas/settings.schema.json'), join(out, 'schemas/settings.schema.json'));

// The version of the workspace. Scripts and packages are for building.
const [, version] = /\[workspace\.package\][^[]*?^version = "(.*)"$/m.exec(read(root, 'Cargo.toml'));
const manifest = { ...JSON.parse(read(here, 'package.json')), version };
for (const key of ['private', 'scripts', 'devDependencies', 'type']) delete manifest[key];
delete manifest.engines.node;
writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
