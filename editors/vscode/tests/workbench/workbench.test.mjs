// The packed extension in VS Code for browsers, in Chromium. Screenshots of each state are written to screenshots/, for people to look at.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { launch } from '../../../../playground/tests/visit.mjs';
import { DESKTOP, FILES, command, engine, open, quickInput, shot, viewOf, vsix } from '../driver.mjs';
import { serveWorkbench } from './serve.mjs';

let browser;

before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** Runs a test in a workbench with its own settings and size. */
async function inWorkbench(settings, viewport, run) {
  const server = await serveWorkbench(vsix, FILES, settings);
  const page = await browser.newPage({ viewport });
  page.setDefaultTimeout(30_000);
  const errors = [];
  page.on('pageerror', (error) => errors.push(error.message));
  // A refusal by the content policy is an error of the console.
  page.on('console', (line) => /Refused to|Content Security Policy/.test(line.text()) && errors.push(line.text()));
  const requests = [];
  page.on('request', (request) => requests.push(new URL(request.url())));
  try {
    await page.goto(server.address);
    await page.locator('.explorer-folders-view .monaco-list-row').first().waitFor();
    await run(page);
    const elsewhere = requests.filter(
      ({ protocol, hostname }) => protocol.startsWith('http') && !hostname.endsWith('localhost'),
    );
    const resources = elsewhere.filter(({ hostname }) => !hostname.endsWith('.vscode-resource.vscode-cdn.net'));
    assert.deepEqual(resources.map(String), [], 'requests to other hosts');
    assert.deepEqual(errors, []);
  } finally {
    await page.close();
    server.close();
  }
}

test('shows a finding, its rule, and applies the fix', async () => {
  await inWorkbench({}, DESKTOP, async (page) => {
    await open(page, 'class.yaml');
    await engine(page);
    const squiggle = page.locator('.squiggly-error');
    await squiggle.waitFor();
    await page.getByText('arn:aws:iam::111122223333', { exact: false }).first().hover();
    const hover = page.locator('.monaco-hover:visible').first();
    await hover.getByText('A change of').first().waitFor();
    assert.match(await hover.innerText(), /instance-profile-is-arn/);
    await shot(page, 'finding');
    await page.keyboard.press('Escape');
    await quickInput(page, 'Control+g', ':7:25');
    await page.keyboard.press('Control+.');
    await page.locator('.action-widget').getByText('Fix: ').first().waitFor();
    await shot(page, 'fix');
    await page.keyboard.press('Enter');
    await squiggle.waitFor({ state: 'detached' });
    const lines = await page.locator('.view-lines').first().innerText();
    assert.match(lines.replaceAll('\u00a0', ' '), /instanceProfile: KarpenterNodeProfile-prod/);
  });
});

test('completes, counts instance types and goes to the node class', async () => {
  await inWorkbench({}, DESKTOP, async (page) => {
    await open(page, 'pool.yaml');
    await engine(page);
    await page.locator('.codelens-decoration', { hasText: / instance types · 1 workload · from \$/ }).waitFor();
    await quickInput(page, 'Control+g', ':11:16');
    await page.keyboard.press('F12');
    await page.locator('.tab.active', { hasText: 'class.yaml' }).waitFor();
    await shot(page, 'definition');
    await open(page, 'pool.yaml');
    await quickInput(page, 'Control+g', ':5:6');
    await page.keyboard.press('Enter');
    await page.keyboard.type('  dis');
    await page.keyboard.press('Control+Space');
    const suggested = page.locator('.suggest-widget .monaco-list-row', { hasText: 'disruption' }).first();
    await suggested.waitFor();
    await shot(page, 'completion');
    await page.keyboard.press('Enter');
    await page.locator('.editor-instance .view-line', { hasText: 'disruption:' }).waitFor();
  });
});

test('goes from the name of a rule to its page', async () => {
  await inWorkbench({}, DESKTOP, async (page) => {
    await open(page, 'karpwarden.yaml');
    await engine(page);
    await quickInput(page, 'Control+g', ':3:10');
    await page.keyboard.press('F12');
    await page.locator('.tab.active', { hasText: 'storageclass-immediate.md' }).waitFor();
    await page.locator('.view-line', { hasText: '## What it does' }).first().waitFor();
    await shot(page, 'rule-page');
  });
});

test('lists the findings of files that are not open', async () => {
  await inWorkbench({}, DESKTOP, async (page) => {
    await open(page, 'web.yaml');
    await engine(page);
    await command(page, 'Check Workspace');
    const problems = page.locator('.markers-panel');
    await problems.getByText('instance-profile-is-arn').first().waitFor();
    await page.locator('.notification-list-item', { hasText: /1 error.* in 3 documents/ }).waitFor();
    await shot(page, 'problems');
  });
});

test('simulates beside the file, and follows the text', async () => {
  await inWorkbench({}, DESKTOP, async (page) => {
    await open(page, 'web.yaml');
    await engine(page);
    await command(page, 'Simulate Here');
    const view = viewOf(page);
    await view.locator('#placement-verdict', { hasText: '6 of 6 pods placed' }).waitFor();
    await view.locator('#new-nodes .node').first().waitFor();
    await page.locator('.tab', { hasText: 'Placement: prod' }).waitFor();
    await shot(page, 'placement');
    await page.locator('.editor-instance .view-line', { hasText: 'replicas' }).first().click();
    await page.keyboard.press('End');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('2');
    await view.locator('#placement-verdict', { hasText: '2 of 2 pods placed' }).waitFor();

    await view.locator('#tab-change').click();
    await view.locator('#base', { hasText: 'compared with the files at the start' }).waitFor();
    await view.locator('#change-verdict').waitFor();
    await shot(page, 'change');

    await view.locator('#tab-disruption').click();
    await view.locator('#view .part').first().waitFor();
    await shot(page, 'disruption');
  });
});

test('shows what a change of a NodePool does, against the files at the start', async () => {
  await inWorkbench({}, DESKTOP, async (page) => {
    await open(page, 'pool.yaml');
    await engine(page);
    await page.locator('.editor-instance .view-line', { hasText: '"4"' }).first().click();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.type(', "8"');
    await command(page, 'Plan Against Git');
    const view = viewOf(page);
    await view.locator('.changed, .fields').first().waitFor();
    assert.match(await view.locator('#change').innerText(), /requirements/);
    await shot(page, 'plan');
  });
});

test('shows what the cluster would answer', async () => {
  await inWorkbench({}, DESKTOP, async (page) => {
    await open(page, 'class.yaml');
    await engine(page);
    await command(page, 'Show What the Cluster');
    const view = viewOf(page);
    await view.locator('#verdict', { hasText: 'Denied' }).waitFor();
    assert.match(await view.locator('.terminal').innerText(), /instance-profile-is-arn at spec\.instanceProfile/);
    await shot(page, 'admission');
  });
});

for (const { name, theme, width } of [
  { name: 'narrow', theme: 'Default Light Modern', width: 760 },
  { name: 'dark', theme: 'Default Dark Modern', width: 1400 },
  { name: 'contrast', theme: 'Default High Contrast', width: 1400 },
  { name: 'contrast-light', theme: 'Default High Contrast Light', width: 1400 },
]) {
  test(`looks right: ${name}`, async () => {
    await inWorkbench({ 'workbench.colorTheme': theme }, { width, height: 850 }, async (page) => {
      await open(page, 'class.yaml');
      await engine(page);
      await page.locator('.squiggly-error').waitFor();
      await page.getByText('arn:aws:iam::111122223333', { exact: false }).first().hover();
      await page.locator('.monaco-hover:visible').getByText('A change of').first().waitFor();
      await shot(page, `finding-${name}`);
      await command(page, 'Simulate Here');
      const view = viewOf(page);
      await view.locator('#new-nodes .node').first().waitFor();
      const [needed, room] = await view.locator('#view').evaluate((one) => [one.scrollWidth, one.clientWidth]);
      assert.ok(needed <= room, `${needed} px in ${room} px`);
      await shot(page, `placement-${name}`);
      await view.locator('#tab-admission').click();
      await view.locator('#verdict').waitFor();
      await shot(page, `admission-${name}`);
    });
  });
}
