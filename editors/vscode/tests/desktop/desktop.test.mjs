// The packed extension in VS Code with a file system, in Chromium, with the command line and without it: what a person sees on a desktop. Screenshots are
// written to screenshots/, for people to look at. The command line is the program in the variable KARPWARDEN, or a debug build.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { launch } from '../../../../playground/tests/visit.mjs';
import { DESKTOP, FILES, command, engine, open, quickInput, shot, viewOf, vsix } from '../driver.mjs';
import { serveDesktop } from './serve.mjs';

const built = fileURLToPath(new URL('../../../../target/debug/karpwarden', import.meta.url));
const karpwarden = process.env.KARPWARDEN ?? built;

let browser;

before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** Runs a test in a workbench with its own settings. `folder` is where the files are. */
async function onDesktop(settings, run) {
  const server = await serveDesktop(vsix, FILES, karpwarden, settings);
  const page = await browser.newPage({ viewport: DESKTOP });
  page.setDefaultTimeout(30_000);
  const errors = [];
  page.on('pageerror', (error) => errors.push(error.message));
  try {
    await page.goto(server.address);
    await page.locator('.explorer-folders-view .monaco-list-row').first().waitFor();
    await run(page, server.folder);
    assert.deepEqual(errors, []);
  } finally {
    await page.close();
    await server.close();
  }
}

/** Waits until the menu of the status bar names the engine: the menu does not follow an engine that starts again. */
async function engineIs(page, name) {
  const input = page.locator('.quick-input-widget input[type=text]');
  for (let shown = ''; !shown.includes(name);) {
    await engine(page);
    await page.locator('.statusbar-item', { hasText: 'Karpenter 1.14' }).locator('a').click();
    await input.waitFor();
    shown = (await input.getAttribute('placeholder')) ?? '';
    await page.keyboard.press('Escape');
    await input.waitFor({ state: 'hidden' });
  }
}

async function findsAndFixes(page, folder) {
  const squiggle = page.locator('.squiggly-error');
  await squiggle.waitFor();
  await page.getByText('arn:aws:iam::111122223333', { exact: false }).first().hover();
  const hover = page.locator('.monaco-hover:visible').first();
  await hover.getByText('A change of').first().waitFor();
  assert.match(await hover.innerText(), /instance-profile-is-arn/);
  await page.keyboard.press('Escape');
  await quickInput(page, 'Control+g', ':7:25');
  await page.keyboard.press('Control+.');
  await page.locator('.action-widget').getByText('Fix: ').first().waitFor();
  await page.keyboard.press('Enter');
  await squiggle.waitFor({ state: 'detached' });
  const file = join(folder, 'prod/class.yaml');
  const isSaved = () => readFileSync(file, 'utf8').includes('instanceProfile: KarpenterNodeProfile-prod\n');
  const watcher = watch(file);
  await page.keyboard.press('Control+s');
  while (!isSaved()) await once(watcher, 'change');
  watcher.close();
}

test('with the command line: finding, hover, fix, definition, completion, plan against Git, placement', async () => {
  await onDesktop({}, async (page, folder) => {
    await open(page, 'class.yaml');
    await engineIs(page, 'bin/karpwarden');
    await shot(page, 'desktop-finding');
    await findsAndFixes(page, folder);

    await open(page, 'pool.yaml');
    await page.locator('.codelens-decoration', { hasText: / instance types · 1 workload · from \$/ }).waitFor();
    await quickInput(page, 'Control+g', ':11:16');
    await page.keyboard.press('F12');
    await page.locator('.tab.active', { hasText: 'class.yaml' }).waitFor();
    await open(page, 'pool.yaml');
    await quickInput(page, 'Control+g', ':5:6');
    await page.keyboard.press('Enter');
    await page.keyboard.type('  dis');
    await page.keyboard.press('Control+Space');
    await page.locator('.suggest-widget .monaco-list-row', { hasText: 'disruption' }).first().waitFor();
    await shot(page, 'desktop-completion');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+z');
    await page.keyboard.press('Control+z');

    await page.locator('.editor-instance .view-line', { hasText: '"4"' }).first().click();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.type(', "8"');
    await command(page, 'Plan Against Git');
    // The suggested commit is HEAD.
    await page.locator('.quick-input-widget input[type=text]').waitFor();
    await page.keyboard.press('Enter');
    const view = viewOf(page);
    await view.locator('.changed, .fields').first().waitFor();
    assert.match(await view.locator('#change').innerText(), /requirements/);
    await shot(page, 'desktop-plan');

    await view.locator('#tab-placement').click();
    await view.locator('#placement-verdict', { hasText: '6 of 6 pods placed' }).waitFor();
    await shot(page, 'desktop-placement');
  });
});

test('without the command line: the engine as WebAssembly', async () => {
  await onDesktop({ 'karpwarden.engine': 'wasm' }, async (page, folder) => {
    await open(page, 'class.yaml');
    await engineIs(page, 'the engine in the extension');
    await findsAndFixes(page, folder);
  });
});

test('a path that is corrected starts the engine, although the message is still open', async () => {
  await onDesktop({ 'karpwarden.path': '/no/such/karpwarden' }, async (page, folder) => {
    await open(page, 'class.yaml');
    const message = page.locator('.notification-list-item', { hasText: 'Karpwarden did not start' });
    await message.waitFor();
    writeFileSync(join(folder, '../vscode/data/Machine/settings.json'), '{}');
    await engineIs(page, 'bin/karpwarden');
    assert.ok(await message.isVisible());
  });
});
